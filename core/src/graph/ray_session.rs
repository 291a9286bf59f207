//! The files that a Ray session keeps in one folder (`/tmp/ray/session_latest/logs`): its daemons are no runs, and what its
//! workers print stands in the log of their driver as well.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::node_folder::last_part;
use crate::symbols::{Symbol, SymbolTable};

/// What Ray's own processes write (`python/ray/_private/ray_constants.py` and `node.py` of ray-project/ray), up to the end of a word.
const DAEMONS: [&str; 9] = [
    "agent",
    "dashboard",
    "gcs_server",
    "io",
    "log_monitor",
    "monitor",
    "python",
    "raylet",
    "runtime_env",
];

/// What else is in the folder of a session, and in no other one.
const BESIDE: [&str; 4] = [
    "dashboard_agent.",
    "gcs_server.",
    "log_monitor.",
    "python-core-",
];

/// Files of logs that are no run: daemons of a session where a log of a program is left, and workers where one of their driver is.
pub(super) fn inner(files: &BTreeSet<Symbol>, symbols: &SymbolTable) -> HashSet<Symbol> {
    let mut folders: BTreeMap<&str, Vec<(Symbol, &str)>> = BTreeMap::new();
    for file in files {
        let path = symbols.name(*file);
        let name = last_part(path);
        let folder = path.strip_suffix(name).unwrap_or_default();
        folders.entry(folder).or_default().push((*file, name));
    }
    let (mut daemons, mut workers, mut others) = (HashSet::new(), HashSet::new(), 0);
    for names in folders.values() {
        let is_there = |start: &str| names.iter().any(|(_, name)| name.starts_with(start));
        let is_session = is_there("raylet.") && BESIDE.iter().any(|start| is_there(start));
        for (file, name) in names {
            match is_session {
                true if is_daemon(name) => daemons.insert(*file),
                true if is_worker(name) => workers.insert(*file),
                _ => {
                    others += 1;
                    false
                }
            };
        }
    }
    match (others, workers.is_empty()) {
        (0, true) => HashSet::new(),
        (0, false) => daemons,
        _ => daemons.into_iter().chain(workers).collect(),
    }
}

fn is_daemon(name: &str) -> bool {
    DAEMONS.iter().any(|daemon| {
        let rest = name.strip_prefix(daemon);
        rest.is_some_and(|rest| rest.starts_with(['.', '-', '_']))
    })
}

/// `worker-<id>-<job>-<pid>.out`
fn is_worker(name: &str) -> bool {
    let id = name
        .strip_prefix("worker-")
        .and_then(|rest| rest.split('-').next());
    id.is_some_and(|id| id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKER: &str =
        "s/worker-e183b6d7e759a908d876a36941f1fdab9411b8ab966344a385331712-01000000-14154.out";

    fn left(paths: &[&str]) -> Vec<String> {
        let mut symbols = SymbolTable::default();
        let files: BTreeSet<Symbol> = paths.iter().map(|path| symbols.number(path)).collect();
        let inner = inner(&files, &symbols);
        let left = files.iter().filter(|file| !inner.contains(*file));
        let mut left: Vec<String> = left.map(|file| symbols.name(*file).to_owned()).collect();
        left.sort();
        left
    }

    #[test]
    fn a_session_is_the_run_of_its_driver() {
        let session = ["s/raylet.out", "s/gcs_server.out", WORKER];
        let with = |path| left(&[&session[..], &[path]].concat());
        assert_eq!(with("train.log"), ["train.log"]);
        assert_eq!(
            with("s/job-driver-raysubmit_1.log"),
            ["s/job-driver-raysubmit_1.log"]
        );
        assert_eq!(
            with("s/dashboard.log"),
            [WORKER],
            "nothing else tells of it"
        );
        assert_eq!(left(&session[..2]), ["s/gcs_server.out", "s/raylet.out"]);
    }

    #[test]
    fn what_only_bears_such_a_name_is_a_run() {
        let paths = ["logs/monitor.log", "logs/raylet.out", "logs/worker-1.out"];
        assert_eq!(left(&paths), paths);
    }
}
