//! The line of progress that says who was asked, and who could not be read.

use whathappened_model::coverage::{Coverage, Status};

use crate::fetch::{FetchOutcome, FetchTargets};

/// Who was asked, in a sentence. That a source has nothing new is news only where it could be read.
pub(super) fn reported(asked: &FetchTargets, live: &FetchOutcome) -> String {
    let mut who = Vec::new();
    if live.clusters > 0 {
        let s = if live.clusters == 1 { "" } else { "s" };
        who.push(format!("{} cluster{s}", live.clusters));
    }
    let usable = asked.sources.usable.iter();
    let mut names: Vec<&str> = usable.map(|source| source.name()).collect();
    who.extend(names.iter().map(|name| (*name).to_owned()));
    let broken = asked.sources.failed.iter();
    names.extend(broken.map(|row| row.source.as_str()));
    names.dedup();
    let problems: Vec<String> = names
        .iter()
        .filter_map(|name| problem(name, &live.coverage))
        .collect();
    let new = match live.new {
        1 => "1 new fact or version".to_owned(),
        new => format!("{new} new facts and versions"),
    };
    let who = match who.as_slice() {
        [] => "no source".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    match problems.as_slice() {
        [] => format!("Queried {who}: {new}."),
        problems => format!("Queried {who}: {new}; {}.", problems.join("; ")),
    }
}

/// What went wrong with one source, where something did.
fn problem(name: &str, rows: &[Coverage]) -> Option<String> {
    let own = || rows.iter().filter(|row| row.source == name);
    let is_lost = |row: &&Coverage| matches!(row.status, Status::Denied | Status::Failed);
    let lost = own().find(is_lost)?;
    let extent = if own().all(|row| is_lost(&row) || row.rows == 0) {
        "could not be read"
    } else {
        "could not be read in full"
    };
    let why = match &lost.detail {
        Some(detail) => brief(detail).to_owned(),
        None => lost.status.as_str().to_owned(),
    };
    Some(format!("{name} {extent} ({why})"))
}

/// How a server or the network refused, without what it was asked for and what helps: the answer says that.
fn brief(detail: &str) -> &str {
    const STARTS: [&str; 4] = [
        "the server returned",
        "no response",
        "the connection",
        "cannot establish",
    ];
    let starts = STARTS.iter().filter_map(|start| detail.find(start));
    let rest = &detail[starts.min().unwrap_or(0)..];
    let end = rest.find(';').unwrap_or(rest.len());
    // Behind the status come the words of the server, of any length.
    let rest = &rest[..end];
    match rest.strip_prefix("the server returned ") {
        Some(more) => {
            let code = more.find(':').unwrap_or(more.len());
            &rest[..rest.len() - more.len() + code]
        }
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: &str, status: Status, detail: &str) -> Coverage {
        Coverage {
            status,
            detail: Some(detail.to_owned()),
            ..Coverage::new("loki", resource)
        }
    }

    fn said(rows: Vec<Coverage>) -> String {
        let mut asked = FetchTargets::default();
        asked.sources.failed.push(Coverage::new("loki", "logs"));
        let live = FetchOutcome {
            coverage: rows,
            ..FetchOutcome::default()
        };
        reported(&asked, &live)
    }

    #[test]
    fn a_source_that_failed_is_named() {
        let refused = "lines around deaths: the server returned 401: nope; check the credentials";
        assert_eq!(
            said(vec![
                row("logs", Status::Denied, refused),
                row("events", Status::Complete, "")
            ]),
            "Queried no source: 0 new facts and versions; loki could not be read (the server returned 401)."
        );
        let slow = "no response within 3.0 s; request less data";
        let mut read = row("events", Status::Complete, "");
        read.rows = 7;
        assert!(
            said(vec![row("logs", Status::Failed, slow), read])
                .ends_with("loki could not be read in full (no response within 3.0 s).")
        );
        assert_eq!(
            said(vec![row("logs", Status::Complete, "")]),
            "Queried no source: 0 new facts and versions."
        );
    }
}
