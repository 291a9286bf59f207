//! What of Slurm a question is about.

use std::collections::BTreeSet;

use crate::connector::FetchRequest;
use crate::time::{Nanos, SECOND};

/// How far back a name is looked for where nothing says when it was.
const LOOK_BACK: Nanos = 30 * 86_400 * SECOND;

/// Jobs by name or number, nodes, and the time to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobScope {
    /// Names of jobs.
    pub(super) names: BTreeSet<String>,
    /// Numbers of jobs, those of whole arrays and heterogeneous jobs.
    pub(super) numbers: BTreeSet<String>,
    /// Nodes.
    pub(super) nodes: BTreeSet<String>,
    /// Nothing is left out.
    pub(super) all: bool,
    pub(super) from: Nanos,
    pub(super) to: Nanos,
}

impl JobScope {
    pub(super) fn of(fetch_request: &FetchRequest) -> Self {
        let scope = &fetch_request.scope;
        let mut wanted = Self {
            to: fetch_request
                .window
                .to
                .unwrap_or(fetch_request.now)
                .min(fetch_request.now),
            ..Self::default()
        };
        wanted.from = match fetch_request.window.from {
            Some(from) => from,
            None => wanted.to.saturating_sub(LOOK_BACK),
        };
        for name in &scope.experiments {
            match whole(name) {
                Some(number) => wanted.numbers.insert(number),
                None => wanted.names.insert(name.clone()),
            };
        }
        let jobs = scope
            .workloads
            .iter()
            .filter(|(kind, _)| kind == "SlurmJob");
        let jobs = jobs.map(|(_, job)| job);
        for job in jobs.chain(&scope.pods) {
            let uid = job.uid.as_deref().filter(|uid| uid.starts_with("slurm/"));
            let number = uid.and_then(|uid| uid.rsplit('/').next()).and_then(whole);
            wanted.numbers.extend(number);
        }
        wanted
            .nodes
            .extend(scope.nodes.iter().map(|node| node.name.clone()));
        wanted.all = wanted.names.is_empty()
            && wanted.numbers.is_empty()
            && wanted.nodes.is_empty()
            && scope.pods.is_empty()
            && scope.instances.is_empty();
        wanted
    }

    /// Whether a machine is asked about, and no job.
    pub(super) fn is_of_nodes(&self) -> bool {
        self.names.is_empty() && self.numbers.is_empty() && !self.nodes.is_empty()
    }

    /// Whether a job of the controller's list is meant.
    pub(super) fn holds(&self, name: &str, numbers: &[i64], nodes: &[String]) -> bool {
        self.all
            || self.names.contains(name)
            || numbers
                .iter()
                .any(|number| self.numbers.contains(&number.to_string()))
            || self.is_of_nodes() && nodes.iter().any(|node| self.nodes.contains(node))
    }
}

/// Of `1234`, `1234_7`, `1234+1`: 1234, by which all of it is found.
fn whole(name: &str) -> Option<String> {
    let (number, rest) = match name.find(['_', '+']) {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (name, "0"),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(number) && digits(rest)).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_names() {
        for (name, number) in [
            ("1234", Some("1234")),
            ("1234_7", Some("1234")),
            ("1234+1", Some("1234")),
            ("train-1234", None),
            ("1234_b", None),
            ("_7", None),
        ] {
            assert_eq!(whole(name).as_deref(), number, "{name}");
        }
    }
}
