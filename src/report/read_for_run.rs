//! Whether what was read is of the runs in question: an audit log that ends before one begins says nothing of it, nor
//! does a log store that was asked about an earlier one, nor measurements of other machines.

use whathappened_model::coverage::{Coverage, EvidenceKind, Status};
use whathappened_model::time::{CLOCKS, Nanos, rfc3339};

use crate::answer::{CoverageRow, Incident, IncidentRole};
use crate::case::Case;

/// The coverage of a case, as it is for some of its runs.
pub(super) fn coverage(case: &Case, runs: &[usize]) -> Vec<Coverage> {
    let mut coverage = case.coverage.clone();
    let namespaces: Option<Vec<&str>> = runs.iter().map(|run| namespace(case, *run)).collect();
    let namespaces = namespaces.unwrap_or_default();
    coverage.retain(|row| !is_of_others_logs(row, &namespaces));
    let begins = runs.iter().map(|run| case.runs.get(*run)?.begin);
    // Of a run whose begin nobody knows everything may tell.
    let begin = begins.min().flatten().unwrap_or(Nanos::MIN);
    for row in &mut coverage {
        if let Some(why) = not_of(row, begin) {
            row.status = Status::NotConfigured;
            row.detail = Some(why);
            continue;
        }
        let until = row
            .got_to
            .filter(|_| row.resource == "audit" && row.status == Status::Complete);
        if let Some(until) = until
            && until.saturating_add(CLOCKS) < begin
        {
            row.status = Status::Truncated;
            row.detail = Some(format!(
                "its records end at {}, before this run began",
                to_second(&rfc3339(until))
            ));
        }
    }
    coverage
}

/// Whether a row tells of logs of another namespace than those of the runs in question, whose pods it names; none where one
/// of them is not known.
fn is_of_others_logs(row: &Coverage, namespaces: &[&str]) -> bool {
    let is_own = |namespace: &String| namespaces.contains(&namespace.as_str());
    let of_others = row.namespace.as_ref().is_some_and(|one| !is_own(one));
    row.resource == "logs" && !namespaces.is_empty() && of_others
}

/// The namespace of a run, where it is known.
fn namespace(case: &Case, run: usize) -> Option<&str> {
    let (_, _, namespace, _) = case.runs.get(run)?.names(&case.graph);
    Some(namespace).filter(|namespace| !namespace.is_empty())
}

/// Why a row is not of runs that began then, although its source gave all that it was asked for.
fn not_of(row: &Coverage, begin: Nanos) -> Option<String> {
    let shows = row.shows();
    let is_asked_for_runs = matches!(
        shows,
        Some(EvidenceKind::Logs | EvidenceKind::Metrics | EvidenceKind::Activity)
    );
    if row.status != Status::Complete || row.resource == "file" || !is_asked_for_runs {
        return None;
    }
    let until = row
        .asked_to
        .filter(|until| until.saturating_add(CLOCKS) < begin);
    if let Some(until) = until {
        let until = to_second(&rfc3339(until));
        return Some(format!(
            "asked only about the time until {until}, before this run began"
        ));
    }
    // It says why it had nothing.
    let has_nothing = shows == Some(EvidenceKind::Metrics) && row.rows == 0;
    row.detail.clone().filter(|_| has_nothing)
}

/// An audit log in which the request is missing that ended a run was not of that time, or leaves such requests out: it is
/// not shown as if it had been there to tell.
pub(super) fn without_the_request(coverage: &mut [CoverageRow], incidents: &[Incident]) {
    let mut leading = incidents
        .iter()
        .filter(|one| one.role == IncidentRole::Main);
    // No request to a cluster ends a machine.
    let of_machine =
        |one: &Incident| one.cause.starts_with("cloud.") || one.cause.starts_with("hw.");
    let Some(unseen) = leading.find(|one| one.actor_unseen && !of_machine(one)) else {
        return;
    };
    for row in coverage {
        if row.resource != "audit" || row.status != Status::Complete {
            continue;
        }
        let until = row.got_to.as_deref();
        row.detail = Some(match until.filter(|until| unseen.time.as_deref() > Some(*until)) {
            Some(until) => format!("it does not have the request that ended this run; its records end at {}", to_second(until)),
            None => "it does not have the request that ended this run; its policy may leave such requests out".to_owned(),
        });
        row.status = Status::Truncated;
    }
}

/// A time to the second: what ends a log ends it no more exactly.
fn to_second(time: &str) -> String {
    let second = time.get(.."2026-11-24T10:20:00".len());
    second.map_or_else(|| time.to_owned(), |second| format!("{second}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::time::SECOND;

    #[test]
    fn what_was_asked_about_an_earlier_run_is_not_of_this_one() {
        let mut row = Coverage::new("loki", "logs");
        row.asked_to = Some(100 * SECOND);
        row.rows = 4;
        assert_eq!(not_of(&row, 90 * SECOND), None);
        let why = not_of(&row, 200 * SECOND);
        assert_eq!(
            why.as_deref(),
            Some("asked only about the time until 1970-01-01T00:01:40Z, before this run began")
        );
        row.resource = "pods".to_owned();
        assert_eq!(not_of(&row, 200 * SECOND), None);
    }

    #[test]
    fn logs_of_other_namespaces_are_not_of_this_run() {
        let mut row = Coverage::new("kubernetes", "logs");
        assert!(!is_of_others_logs(&row, &["lab"]));
        row.namespace = Some("others".to_owned());
        assert!(is_of_others_logs(&row, &["lab"]));
        assert!(!is_of_others_logs(&row, &["lab", "others"]));
        assert!(!is_of_others_logs(&row, &[]));
        row.resource = "pods".to_owned();
        assert!(!is_of_others_logs(&row, &["lab"]));
    }

    #[test]
    fn measurements_of_other_machines_are_none_of_these() {
        let mut row = Coverage::new("prometheus", "metrics");
        row.detail = Some("none of 4 machines and 4 pods is known there".to_owned());
        assert_eq!(not_of(&row, 0), row.detail);
        row.rows = 9;
        assert_eq!(not_of(&row, 0), None);
    }
}
