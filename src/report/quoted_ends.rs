//! Runs of whose end nothing but an error amid a text tells: a program may have printed that, and gone on.

use std::collections::BTreeSet;

use whathappened_core::graph::TaskKind;

use crate::case::Case;
use crate::explain::Verdict;
use crate::explain::candidate::Candidate;
use crate::explain::gang::Finding;

/// Their numbers.
pub(super) fn quoted_ends(case: &Case, verdict: &Verdict) -> BTreeSet<usize> {
    let own = verdict.findings.iter().filter(|one| !one.recovered);
    let (quoted, known): (Vec<&Finding>, Vec<&Finding>) =
        own.partition(|finding| is_quoted(case, verdict, finding));
    let known: BTreeSet<usize> = known.iter().map(|one| one.run).collect();
    let quoted = quoted.iter().map(|one| one.run);
    quoted.filter(|run| !known.contains(run)).collect()
}

/// Whether all deaths of a finding are ends of logs, and what is found of them stands in the middle of other lines.
fn is_quoted(case: &Case, verdict: &Verdict, finding: &Finding) -> bool {
    let root = finding.candidate.as_ref().map(Candidate::root);
    let root = root.and_then(|root| case.graph.facts.get(root));
    let of_log_alone = |death: usize| {
        let Some(death) = verdict.deaths.get(death) else {
            return false;
        };
        let task = case.graph.pods.get(death.pod);
        task.is_some_and(|task| task.kind == TaskKind::Log) && death.exit_code.is_none()
    };
    root.is_some_and(|root| root.is_amid_text) && finding.deaths().all(of_log_alone)
}
