//! The logs of pods in files that people named after them: `kubectl logs train-0 > train-0.log`.

use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

use super::identity::Pods;
use super::lone_log::Lines;
use super::parent;
use super::rows::was_long_before;
use super::task::TaskKind;
use crate::evidence::SpillError;
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// A pod that bears a name; of names alone nobody knows the pod.
pub(super) struct Bearer {
    pub(super) task: Option<TaskRow>,
    name: Symbol,
    namespace: Symbol,
    begin: Nanos,
}

/// Gives lines that name no pod, job or machine to the pod whose whole name stands in their file's
/// name, or in that of a folder on the way to it, the innermost first, or else the random end of its name
/// (`logs_x7k2p.txt`). Of several pods that bore
/// the name one after the other it is that of the line's time; where they were in several
/// namespaces, the path has to say in which.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let bearers = Bearers::of(all.pods, all.symbols);
    if bearers.named.is_empty() {
        return Ok(());
    }
    let mut owners: HashMap<Symbol, Vec<&Bearer>> = HashMap::new();
    all.give(|row, symbols| {
        let names_place = row.node.is_some() || row.host.is_some() || row.instance.is_some();
        let of_file = row.source_kind() == SourceKind::ContainerLog;
        if names_place || row.experiment.is_some() || !of_file {
            return None;
        }
        let named = owners
            .entry(row.file())
            .or_insert_with(|| bearers.of_path(symbols.name(row.file()), symbols));
        let begun = named.iter().rfind(|one| one.begin <= row.time.hi);
        let first = named.first().filter(|one| !was_long_before(one.begin, row));
        begun.or(first)?.task
    })
}

/// The names that pods bear.
pub(super) struct Names(Bearers);

impl Names {
    /// Of pods by name and namespace, each once.
    pub(super) fn of(pods: impl Iterator<Item = (Symbol, Symbol)>, symbols: &SymbolTable) -> Self {
        let bearer = |(name, namespace)| {
            let bearer = Bearer {
                task: None,
                name,
                namespace,
                begin: Nanos::MIN,
            };
            (name, vec![bearer])
        };
        Self(Bearers::named(pods.map(bearer).collect(), symbols))
    }

    /// The pod that a path names.
    pub(super) fn of_file(&self, path: &str, symbols: &SymbolTable) -> Option<Symbol> {
        let found = self.0.of_path(path, symbols);
        found.first().map(|one| one.name)
    }
}

/// The pods that bear each name, in the order in which they began.
pub(super) struct Bearers {
    named: HashMap<Symbol, Vec<Bearer>>,
    /// The names that end in a random word, by that word; none where several names do.
    by_suffix: HashMap<String, Option<Symbol>>,
}

impl Bearers {
    pub(super) fn of(pods: &Pods, symbols: &SymbolTable) -> Self {
        let mut found: HashMap<Symbol, Vec<Bearer>> = HashMap::new();
        for (task, pod) in pods.all.numbered() {
            if pod.kind == TaskKind::Pod && pod.name.is_some() {
                found.entry(pod.name).or_default().push(Bearer {
                    task: Some(task),
                    name: pod.name,
                    namespace: pod.namespace,
                    begin: pod.begin().unwrap_or(Nanos::MIN),
                });
            }
        }
        for bearers in found.values_mut() {
            bearers.sort_by_key(|one| (one.begin, one.task));
        }
        Self::named(found, symbols)
    }

    fn named(named: HashMap<Symbol, Vec<Bearer>>, symbols: &SymbolTable) -> Self {
        let mut by_suffix: HashMap<String, Option<Symbol>> = HashMap::new();
        for name in named.keys() {
            let whole = symbols.name(*name);
            if let Some(suffix) = parent::drawn(whole).and_then(|_| whole.rsplit('-').next()) {
                let slot = by_suffix.entry(suffix.to_owned());
                slot.and_modify(|other| *other = None)
                    .or_insert(Some(*name));
            }
        }
        Self { named, by_suffix }
    }

    /// The pods of one namespace that a path names.
    pub(super) fn of_path(&self, path: &str, symbols: &SymbolTable) -> Vec<&Bearer> {
        let parts = || path.rsplit(['/', '\\', '!']);
        let longest = |part| {
            let names = stretches(part).filter(|name| {
                let known = symbols.find(name);
                known.is_some_and(|name| self.named.contains_key(&name))
            });
            names.max_by_key(|name| name.len())
        };
        let whole = parts()
            .find_map(longest)
            .and_then(|name| symbols.find(name));
        let end = || {
            let file = parts().next()?;
            let mut words = file.split(|sign: char| !sign.is_ascii_alphanumeric());
            words.find_map(|word| *self.by_suffix.get(word)?)
        };
        let name = whole.or_else(end);
        let Some(named) = name.and_then(|name| self.named.get(&name)) else {
            return Vec::new();
        };
        let first = named.first().map(|one| one.namespace);
        if named.iter().all(|one| Some(one.namespace) == first) {
            return named.iter().collect();
        }
        let is_named = |one: &&Bearer| {
            let namespace = symbols.name(one.namespace);
            parts().any(|part| stretches(part).any(|word| word == namespace))
        };
        let matching: Vec<&Bearer> = named.iter().filter(is_named).collect();
        let first = matching.first().map(|one| one.namespace);
        if matching.iter().all(|one| Some(one.namespace) == first) {
            matching
        } else {
            Vec::new()
        }
    }
}

/// What stands between two signs that end a word, whole words together.
pub(super) fn stretches(part: &str) -> impl Iterator<Item = &str> {
    /// Words of a file's name; more are no name of a pod.
    const MOST: usize = 32;
    let is_end = |sign: char| !sign.is_ascii_alphanumeric();
    let starts =
        std::iter::once(0).chain(part.match_indices(is_end).map(|(at, sign)| at + sign.len()));
    let starts: Vec<usize> = starts.take(MOST).collect();
    let ends = part.match_indices(is_end).map(|(at, _)| at);
    let ends: Vec<usize> = ends.take(MOST).chain(std::iter::once(part.len())).collect();
    let pairs = starts
        .into_iter()
        .flat_map(move |start| ends.clone().into_iter().map(move |end| (start, end)));
    pairs
        .filter(|(start, end)| start < end)
        .filter_map(|(start, end)| part.get(start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_whole_words() {
        let all: Vec<&str> = stretches("lab_train-0.log").collect();
        for name in ["lab", "train-0", "train-0.log", "lab_train-0.log", "0"] {
            assert!(all.contains(&name), "{name}");
        }
        assert!(!all.contains(&"rain-0"));
        assert!(stretches("").next().is_none());
        assert!(stretches("é-7").any(|word| word == "7"));
    }
}
