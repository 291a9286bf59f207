//! Files that hold parts of one log: what was rotated away beside what is written now, the errors of a program beside its output,
//! and the journal of a service beside the file that the service writes itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::log_name::{self, Order, Rotated, Stamped};
use super::node_folder;
use super::task::Task;
use crate::evidence::{Evidence, EvidenceRow, Row, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// Between two files of one log, of which each bears a day in its name, no more than this passed.
const ROTATED_WITHIN: Nanos = 600 * SECOND;

/// Lines of the next file of a log are numbered from here.
const APART: u64 = 1 << 40;

/// What one file says of itself.
#[derive(Clone, Debug, Default)]
struct FileEvidence {
    first: Option<Nanos>,
    last: Option<Nanos>,
    unit: Option<String>,
    machine: Option<String>,
    is_journal: bool,
}

/// The files that lines of programs stand in.
#[derive(Debug, Default)]
pub(super) struct LogFiles(BTreeMap<Symbol, FileEvidence>);

/// The log that a file is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartOfLog {
    /// The file that the whole is named after.
    pub(super) log: Symbol,
    /// The service, where it is the journal of one.
    pub(super) unit: Option<String>,
    /// The machine that the journal is of.
    pub(super) machine: Option<String>,
    /// Where its lines begin, where the log has several files.
    place: Option<u64>,
    is_journal: bool,
}

impl PartOfLog {
    /// Says to a task where the lines of a file of its log stand, and how else it may be called.
    pub(super) fn note(&self, file: Symbol, task: &mut Task, symbols: &mut SymbolTable) {
        if let Some(place) = self.place {
            task.log_places.insert(file, place);
        }
        if !self.is_journal || !task.journals.insert(file) {
            return;
        }
        let name = node_folder::last_part(symbols.name(self.log)).to_owned();
        let stem = name.split('.').next().unwrap_or_default().to_owned();
        let unit = self.unit.as_ref().map(|unit| format!("{unit}.service"));
        let names = [Some(stem), Some(name), unit];
        for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
            task.called.insert(symbols.number(&name));
        }
    }
}

impl LogFiles {
    /// Takes notice of a line.
    ///
    /// # Errors
    /// When the line cannot be read back.
    pub(super) fn see(
        &mut self,
        (number, row): (EvidenceRow, &Row),
        evidence: &Evidence,
    ) -> Result<(), SpillError> {
        let seen = match self.0.entry(row.file()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                let event = evidence.event(number)?;
                let text = |key: &str| event.attribute(key).map(str::to_owned);
                new.insert(FileEvidence {
                    unit: text("unit"),
                    machine: text("machine"),
                    is_journal: event.attribute("journal").is_some(),
                    ..FileEvidence::default()
                })
            }
        };
        if row.time != Stamp::OPEN {
            let (first, last) = (row.time.lo, row.last());
            seen.first = Some(seen.first.map_or(first, |known| known.min(first)));
            seen.last = Some(seen.last.map_or(last, |known| known.max(last)));
        }
        Ok(())
    }

    /// Which log each file is of.
    pub(super) fn joined(self, symbols: &SymbolTable) -> HashMap<Symbol, PartOfLog> {
        let mut folders: BTreeMap<&str, BTreeMap<&str, (Symbol, &FileEvidence)>> = BTreeMap::new();
        for (file, seen) in &self.0 {
            let path = symbols.name(*file);
            let name = node_folder::last_part(path);
            let folder = path.get(..path.len() - name.len()).unwrap_or_default();
            let of_folder = folders.entry(folder).or_default();
            of_folder.insert(name, (*file, seen));
        }
        let mut found = HashMap::new();
        for files in folders.into_values() {
            for parts in logs(&files) {
                let whole = parts.iter().find_map(|name| files.get(name));
                let journal = parts.iter().filter_map(|name| files.get(name));
                let mut journal = journal.filter(|(_, seen)| seen.is_journal);
                let unit = journal.clone().find_map(|(_, seen)| seen.unit.clone());
                let machine = journal.find_map(|(_, seen)| seen.machine.clone());
                let order = in_order(&parts, &files);
                for (place, name) in (0..).zip(order) {
                    if let Some(((log, _), (file, seen))) = whole.zip(files.get(name)) {
                        let part = PartOfLog {
                            log: *log,
                            unit: unit.clone(),
                            machine: machine.clone(),
                            place: (parts.len() > 1).then(|| APART.saturating_mul(place)),
                            is_journal: seen.is_journal,
                        };
                        found.insert(*file, part);
                    }
                }
            }
        }
        found
    }
}

type Files<'n, 's> = BTreeMap<&'n str, (Symbol, &'s FileEvidence)>;

/// The logs of one folder, each by its files; the one that it is named after comes first.
fn logs<'n>(files: &Files<'n, '_>) -> Vec<Vec<&'n str>> {
    let names: BTreeSet<&str> = files.keys().copied().collect();
    let mut of: BTreeMap<&str, &str> = names.iter().map(|name| (*name, *name)).collect();
    let rotated: BTreeMap<&str, Rotated> = names
        .iter()
        .filter_map(|name| Some((*name, log_name::rotated(name)?)))
        .collect();
    // Where nothing is written any more, what was rotated away last stands for all.
    let mut newest: BTreeMap<&str, (&Order, &str)> = BTreeMap::new();
    for (name, one) in rotated.iter().filter(|(_, one)| one.is_sure) {
        let last = newest.entry(&one.base).or_insert((&one.order, *name));
        *last = (&one.order, *name).max(*last);
    }
    for (name, one) in &rotated {
        // Numbers that begin at nought count members.
        let members = || names.contains(one.first_member.as_deref().unwrap_or_default());
        let live = names
            .get(one.base.as_str())
            .filter(|_| one.is_sure || !members());
        let last = || newest.get(one.base.as_str()).filter(|_| one.is_sure);
        if let Some(whole) = live.copied().or_else(|| last().map(|(_, name)| *name)) {
            of.insert(*name, whole);
        }
    }
    join_days(files, &mut of);
    let heads: BTreeSet<&str> = of.values().copied().collect();
    let errors: Vec<(&str, &str)> = heads
        .iter()
        .filter_map(|name| Some((*name, log_name::output_of(name, &heads)?)))
        .collect();
    for (errors, output) in errors {
        for whole in of.values_mut().filter(|whole| **whole == errors) {
            *whole = output;
        }
    }
    // The service writes its log itself, and what else it says is in its journal.
    for (name, (_, seen)) in files {
        let Some(unit) = seen.unit.as_deref() else {
            continue;
        };
        let is_own = |other: &&&str| {
            let stem = other.split('.').next().unwrap_or_default();
            stem == unit
                && files
                    .get(**other)
                    .is_some_and(|(_, other)| !other.is_journal)
        };
        if let Some(own) = names
            .iter()
            .find(is_own)
            .and_then(|own| of.get(own).copied())
        {
            of.insert(name, own);
        }
    }
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, whole) in of {
        let parts = found.entry(whole).or_default();
        // What it is named after leads.
        if name == whole {
            parts.insert(0, name);
        } else {
            parts.push(name);
        }
    }
    found.into_values().collect()
}

/// Joins files of which each bears a day in its name where one goes on just when another ends.
fn join_days<'n>(files: &Files<'n, '_>, of: &mut BTreeMap<&'n str, &'n str>) {
    let mut alike: BTreeMap<String, Vec<(Nanos, Nanos, &str)>> = BTreeMap::new();
    for (name, (_, seen)) in files {
        let is_alone = of.get(name) == Some(name);
        if let Some(Stamped { around }) = log_name::of_day(name).filter(|_| is_alone)
            && let Some((first, last)) = seen.first.zip(seen.last)
        {
            alike.entry(around).or_default().push((first, last, name));
        }
    }
    for mut days in alike.into_values() {
        days.sort_unstable();
        let mut whole: Option<(Nanos, Vec<&str>)> = None;
        let mut end = |parts: Vec<&'n str>| {
            if let Some(last) = parts.last().copied() {
                of.extend(parts.into_iter().map(|part| (part, last)));
            }
        };
        for (first, last, name) in days {
            let goes_on = |until: &Nanos| (0..=ROTATED_WITHIN).contains(&(first - until));
            match &mut whole {
                Some((until, parts)) if goes_on(until) => {
                    *until = last;
                    parts.push(name);
                }
                _ => {
                    if let Some((_, parts)) = whole.replace((last, vec![name])) {
                        end(parts);
                    }
                }
            }
        }
        if let Some((_, parts)) = whole {
            end(parts);
        }
    }
}

/// The files of a log in the order in which they were written; errors, whose lines often have no times, come after the output.
fn in_order<'n>(parts: &[&'n str], files: &Files<'n, '_>) -> Vec<&'n str> {
    let heads: BTreeSet<&str> = parts.iter().copied().collect();
    let key = |name: &&'n str| {
        let rotated = log_name::rotated(name);
        let base = rotated.as_ref().map(|rotated| rotated.base.as_str());
        let is_error = log_name::output_of(base.unwrap_or(name), &heads).is_some();
        let first = files.get(name).and_then(|(_, seen)| seen.first);
        let order = rotated.map(|rotated| rotated.order);
        // What is written now comes after all that was rotated away.
        (is_error, order.is_none(), order, first, *name)
    };
    let mut order = parts.to_vec();
    order.sort_by_cached_key(key);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logs of a folder in which files were written from and until these minutes.
    fn of(names: &[(&'static str, Nanos, Nanos)]) -> Vec<Vec<&'static str>> {
        let minute = |at: Nanos| Some(at * 60 * SECOND);
        let seen: Vec<(&str, FileEvidence)> = names
            .iter()
            .map(|(name, first, last)| {
                let seen = FileEvidence {
                    first: minute(*first),
                    last: minute(*last),
                    ..FileEvidence::default()
                };
                (*name, seen)
            })
            .collect();
        let files: Files<'_, '_> = seen
            .iter()
            .map(|(name, seen)| (*name, (Symbol::NONE, seen)))
            .collect();
        let all = logs(&files);
        all.iter().map(|parts| in_order(parts, &files)).collect()
    }

    fn untimed(names: &[&'static str]) -> Vec<Vec<&'static str>> {
        let names: Vec<_> = names.iter().map(|name| (*name, 0, 0)).collect();
        of(&names)
    }

    #[test]
    fn what_was_rotated_away_stands_before_what_is_written_now() {
        assert_eq!(
            untimed(&[
                "train.log",
                "train.log.1",
                "train.log.2.gz",
                "train.log.10.gz"
            ]),
            [[
                "train.log.10.gz",
                "train.log.2.gz",
                "train.log.1",
                "train.log"
            ]]
        );
        assert_eq!(
            untimed(&["train.log", "train.log-20261127", "train.log-20261128"]),
            [["train.log-20261127", "train.log-20261128", "train.log"]]
        );
        assert_eq!(
            untimed(&["train.log.1", "train.log.2"]),
            [["train.log.2", "train.log.1"]]
        );
        assert_eq!(
            untimed(&["train.log", "train-20261128.log"]),
            [["train-20261128.log", "train.log"]]
        );
    }

    #[test]
    fn other_programs_stay_apart() {
        assert_eq!(
            untimed(&["eval.log", "train.log"]),
            [["eval.log"], ["train.log"]]
        );
        assert_eq!(
            untimed(&["eval.log.1", "train.log"]),
            [["eval.log.1"], ["train.log"]]
        );
        assert_eq!(
            untimed(&["eval.err", "train.log"]),
            [["eval.err"], ["train.log"]]
        );
        assert_eq!(
            untimed(&["rank0.log", "rank1.log"]),
            [["rank0.log"], ["rank1.log"]]
        );
        assert_eq!(
            untimed(&[".nfs0001.log", "train.log"]),
            [[".nfs0001.log"], ["train.log"]],
            "what is no service's has no file of its own name"
        );
        assert_eq!(
            untimed(&["train.0.log", "train.1.log", "train.log"]),
            [["train.0.log"], ["train.1.log"], ["train.log"]]
        );
    }

    #[test]
    fn errors_stand_beside_their_output() {
        for (output, errors) in [
            ("train.out", "train.err"),
            ("train.log", "train.err"),
            ("stdout.log", "stderr.log"),
            ("slurm-123.out", "slurm-123.err"),
            ("train.log", "train.log.err"),
            ("train.log", "train.stderr"),
            ("train.log", "stderr.log"),
            ("train.log", "train_err.log"),
        ] {
            assert_eq!(untimed(&[output, errors]), [[output, errors]]);
        }
        assert_eq!(
            untimed(&["rank0.err", "rank0.out", "rank1.err", "rank1.out"]),
            [["rank0.out", "rank0.err"], ["rank1.out", "rank1.err"]]
        );
        assert_eq!(
            untimed(&["eval.log", "stderr.log", "train.log"]),
            [["eval.log"], ["stderr.log"], ["train.log"]],
            "of two nobody knows whose errors they are"
        );
    }

    #[test]
    fn a_file_a_day_is_one_log_where_one_goes_on_as_another_ends() {
        assert_eq!(
            of(&[
                ("train-20261127.log", 0, 1439),
                ("train-20261128.log", 1440, 1500)
            ]),
            [["train-20261127.log", "train-20261128.log"]]
        );
        let apart = of(&[
            ("train-20261127.log", 0, 900),
            ("train-20261128.log", 1440, 1500),
        ]);
        assert_eq!(apart, [["train-20261127.log"], ["train-20261128.log"]]);
    }
}
