//! What a machine's own tools wrote without naming it, in a file that was put under its name:
//! `gpu-r01-n03/ipmi-sel.txt`, or in one beside a program's log; and what an instance's own log calls by the
//! name that the instance has for itself.

use std::collections::{HashMap, HashSet};

use whathappened_model::event::SourceKind;
use whathappened_model::table::Table;

use super::fact::Fact;
use super::task::Task;
use super::{pod_log, vm_log};
use crate::evidence::{Evidence, Row};
use crate::symbols::{Symbol, SymbolTable};

/// Gives facts of machines' logs that name no machine to the known node that the path to their file names.
pub(super) fn claim(evidence: &Evidence, pods: &Table<Task>, facts: &mut [Fact]) {
    let of_pods = pods.iter().flat_map(Task::machines);
    let of_facts = facts.iter().map(|fact| fact.node);
    let nodes: HashSet<Symbol> = of_pods
        .chain(of_facts)
        .filter(|node| node.is_some())
        .collect();
    let is_of_nobody = |fact: &&mut Fact| {
        fact.source_kind == SourceKind::NodeLog
            && !fact.node.is_some()
            && !fact.instance.is_some()
            && fact.pod.is_none()
            && fact.workload.is_none()
    };
    let machines = Machines::of(nodes, &evidence.symbols);
    let mut known: HashMap<Symbol, Option<Symbol>> = HashMap::new();
    for fact in facts.iter_mut().filter(is_of_nobody) {
        let Some(row) = evidence.rows().get(fact.row) else {
            continue;
        };
        let file = row.file();
        let node = known
            .entry(file)
            .or_insert_with(|| machines.of_path(evidence.symbols.name(file)));
        if let Some(node) = *node {
            fact.node = node;
        }
    }
}

/// Machines by the names that paths may give them, in lower case: a whole name, or its first word.
pub(super) struct Machines {
    whole: HashMap<String, Option<Symbol>>,
    /// By the first word of a whole name, where one machine alone has it.
    short: HashMap<String, Option<Symbol>>,
}

impl Machines {
    pub(super) fn of(nodes: impl IntoIterator<Item = Symbol>, symbols: &SymbolTable) -> Self {
        let (mut whole, mut short) = (HashMap::new(), HashMap::new());
        let add = |to: &mut HashMap<String, Option<Symbol>>, name: String, node| {
            let known = to.entry(name).or_insert(Some(node));
            *known = known.filter(|known| *known == node);
        };
        for node in nodes {
            let name = symbols.name(node).to_ascii_lowercase();
            if let Some(first) = first_word(&name) {
                add(&mut short, first.to_owned(), node);
            }
            add(&mut whole, name, node);
        }
        Self { whole, short }
    }

    /// The machine of a name: the whole one, or where the one or the other has only the first word of it.
    fn named(&self, name: &str) -> Option<Symbol> {
        let name = name.to_ascii_lowercase();
        if let Some(node) = self.whole.get(&name).or_else(|| self.short.get(&name)) {
            return *node;
        }
        *self.whole.get(first_word(&name)?)?
    }

    /// The machine whose name a folder on the way to a file bears, the innermost first.
    pub(super) fn of_folder(&self, path: &str) -> Option<Symbol> {
        // The file's own name says what it is, not of what.
        let folders = path.rsplit(['/', '\\', '!']).skip(1);
        folders
            .filter(|name| !name.is_empty())
            .find_map(|name| self.named(name))
    }

    /// The machine that a path names: a folder, or else the file.
    pub(super) fn of_path(&self, path: &str) -> Option<Symbol> {
        let file = last_part(path);
        // A word of a file's name says as a rule what it is, and not of what.
        let is_name = |word: &&str| word.bytes().any(|sign| sign.is_ascii_digit());
        let of_file = || {
            let known = pod_log::stretches(file).filter(is_name);
            let known = known.filter_map(|word| Some((word.len(), self.named(word)?)));
            known
                .max_by_key(|(length, _)| *length)
                .map(|(_, node)| node)
        };
        self.of_folder(path).or_else(of_file)
    }
}

/// A machine's name up to its first dot; an address has none.
fn first_word(name: &str) -> Option<&str> {
    let (word, _) = name.split_once('.')?;
    let is_address = word.bytes().all(|byte| byte.is_ascii_digit());
    (!is_address).then_some(word)
}

/// The machines whose own logs name them, each with the folders that these lie in.
pub(super) fn places_of_logs(
    evidence: &Evidence,
    symbols: &SymbolTable,
) -> HashSet<(Symbol, String)> {
    let is_named = |row: &&Row| row.source_kind() == SourceKind::NodeLog && row.node.is_some();
    let rows = evidence.rows().iter().filter(is_named);
    let files: HashSet<(Symbol, Symbol)> = rows.map(|row| (row.node, row.file())).collect();
    let place = |file: Symbol| folder_of(symbols.name(file)).unwrap_or_default();
    files
        .into_iter()
        .map(|(node, file)| (node, place(file).to_owned()))
        .collect()
}

/// The folders in which a machine's log that names no machine lies. Of several rings of a kernel nobody can say
/// whose they are.
pub(super) fn of_nameless_logs(evidence: &Evidence, symbols: &SymbolTable) -> HashSet<String> {
    let mut files: HashMap<Symbol, bool> = HashMap::new();
    for row in evidence.rows() {
        if row.source_kind() == SourceKind::NodeLog {
            let names_nobody = !row.node.is_some() && !row.instance.is_some();
            let known = files.entry(row.file()).or_insert(true);
            *known = *known && names_nobody;
        }
    }
    let mut rings: HashMap<String, (bool, usize)> = HashMap::new();
    for (file, is_nameless) in files {
        let path = symbols.name(file);
        let Some(folder) = folder_of(path) else {
            continue;
        };
        let name = last_part(path);
        let (nameless, of_kernel) = rings.entry(folder.to_owned()).or_insert((true, 0));
        *nameless = *nameless && is_nameless;
        *of_kernel += usize::from(name.starts_with("dmesg") || name.starts_with("kern"));
    }
    rings.retain(|_, (nameless, of_kernel)| *nameless && *of_kernel < 2);
    rings.into_keys().collect()
}

/// The path of the folder that a file lies in, where that has a name.
pub(super) fn folder_of(path: &str) -> Option<&str> {
    let (folder, _) = path.rsplit_once(['/', '\\', '!'])?;
    (!matches!(last_part(folder), "" | "." | "..")).then_some(folder)
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\', '!']).next().unwrap_or(path)
}

/// Gives facts of a machine's log to the instance whose name or id a folder on the way to the file bears, where
/// that log calls its machine by one name that is none of a known machine: on EC2 it is `ip-10-0-0-7`.
pub(super) fn rename(evidence: &Evidence, pods: &Table<Task>, facts: &mut [Fact]) {
    let instances = vm_log::instances(pods);
    if instances.is_empty() {
        return;
    }
    // Another source may know it by its whole name.
    let word = |name: Symbol| evidence.symbols.name(name).split('.').next();
    let known: HashSet<Option<&str>> = pods.iter().flat_map(Task::machines).map(word).collect();
    // What each file calls its machine, where that is one name.
    let mut called: HashMap<Symbol, Option<Symbol>> = HashMap::new();
    let of_machines = |row: &&Row| row.source_kind() == SourceKind::NodeLog && row.node.is_some();
    for row in evidence.rows().iter().filter(of_machines) {
        let name = called.entry(row.file()).or_insert(Some(row.node));
        *name = name.filter(|name| *name == row.node);
    }
    let by_name = Machines::of(instances.keys().copied(), &evidence.symbols);
    let owner = |file: Symbol| {
        let name = called.get(&file).copied().flatten()?;
        let folder = by_name.of_folder(evidence.symbols.name(file))?;
        let [one] = instances.get(&folder)?.as_slice() else {
            return None;
        };
        let node = pods.get(*one)?.node;
        (!known.contains(&word(name)) && node.is_some()).then_some(node)
    };
    let owners: HashMap<Symbol, Symbol> = called
        .keys()
        .filter_map(|file| Some((*file, owner(*file)?)))
        .collect();
    for fact in facts.iter_mut() {
        if fact.source_kind == SourceKind::NodeLog
            && fact.node.is_some()
            && let Some(row) = evidence.rows().get(fact.row)
            && let Some(node) = owners.get(&row.file())
        {
            fact.node = *node;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_machine_by_folder_or_file() {
        let mut symbols = SymbolTable::default();
        let (bare, whole) = (
            symbols.number("gpu-7"),
            symbols.number("gpu-12.lab.example"),
        );
        let machines = Machines::of(HashSet::from([bare, whole]), &symbols);
        let of = |path: &str| machines.of_path(path);
        for (path, node) in [
            ("in/gpu-7/ipmi-sel.txt", Some(bare)),
            ("in/gpu-12/ipmi-sel.txt", Some(whole)),
            ("in/GPU-7.lab.example/train.log", Some(bare)),
            ("in/gpu-12.other.example/train.log", None),
            ("in/gpu-7-ipmi-sel.txt", Some(bare)),
            ("in/dmesg_gpu-12.lab.example.txt", Some(whole)),
            ("in/gpu-77-ipmi-sel.txt", None),
            ("in/ipmi-sel.txt", None),
        ] {
            assert_eq!(of(path), node, "{path}");
        }
    }
}
