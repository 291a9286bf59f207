//! What could not be seen, a line a source; the whole is told with `--explain`.

use std::collections::BTreeMap;

use crate::answer::{Answer, CoverageRow, Incident};
use whathappened_model::coverage::Status;

use super::super::facts;
use super::super::page::{Page, Spans, Tone};
use super::super::text::clip;
use super::super::wording::{count, is_read_in_full, source as in_words, urgency};

/// Lines of sources that fell short before the rest is counted.
const LINES: usize = 6;

/// Characters of a reason before it is cut.
const REASON: usize = 160;

/// The title and the lines.
pub(super) fn show(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let own = of_run(answer, main);
    let short = short(&own);
    let absent = absent(&own);
    if short.is_empty() && absent.is_empty() {
        page.section("Sources read", Spans::new());
    } else {
        page.section("Missing data", Spans::new());
    }
    for gap in short.iter().take(LINES) {
        let prefix = Spans::new().say("  ").own(gap.tone, gap.sign).say(" ");
        page.prose(prefix, gap.body.clone());
    }
    if let Some(more) = short.len().checked_sub(LINES).filter(|more| *more > 0) {
        let more = format!("⋯ and {}: --explain", count(more, "more gap"));
        page.prose(Spans::new().say("  "), Spans::new().own(Tone::Dim, more));
    }
    if !absent.is_empty() {
        let body = Spans::new().own(Tone::Dim, "not read: ");
        let body = body.data(Tone::Plain, &absent.join(", "));
        page.prose(Spans::new().own(Tone::Dim, "  ○ "), body);
    }
    read(page, &own);
}

/// The rows that may have hidden something of this run: not those of other namespaces.
fn of_run<'a>(answer: &'a Answer, main: Option<&Incident>) -> Vec<&'a CoverageRow> {
    let run = facts::subject_run(answer, main).filter(|_| answer.experiment.is_some());
    let namespace = run.and_then(|run| run.namespace.as_deref());
    let is_own = |row: &&CoverageRow| match (&row.namespace, namespace) {
        (Some(of_row), Some(own)) => of_row == own,
        _ => true,
    };
    answer.coverage.iter().filter(is_own).collect()
}

struct Gap {
    sign: &'static str,
    tone: Tone,
    body: Spans,
}

/// A line for each source and resource that fell short, what matters most first.
fn short(rows: &[&CoverageRow]) -> Vec<Gap> {
    let mut groups: BTreeMap<(usize, String), Vec<&CoverageRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| fell_short(row)) {
        let key = (urgency(row.status), names(row, rows));
        groups.entry(key).or_default().push(row);
    }
    let reported = groups.into_iter().map(|((weight, what), rows)| {
        let mut reasons: Vec<&str> = Vec::new();
        for row in &rows {
            let reason = row.detail.as_deref().unwrap_or_default();
            if !reason.is_empty() && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let status = rows.first().map(|row| row.status);
        let (sign, tone) = match weight {
            0 | 1 => ("✗", Tone::Bad),
            _ => ("!", Tone::Warn),
        };
        let of_containers = rows.iter().all(|row| row.resource == "logs");
        let reason = reasons.first().filter(|_| of_containers);
        let folded = reason.and_then(|reason| folded(reason));
        let mut body = Spans::new().data(Tone::Strong, &what);
        if let Some((number, _)) = &folded {
            body = body.say(format!(" of {}", count(*number, "container")));
        }
        if let Some(status) = status.filter(|status| *status != Status::NotConfigured) {
            body = body.say(" ").data(tone, status.as_str());
        }
        let reason = folded.map(|(_, why)| why);
        let reason = reason.or(reasons.first().map(|reason| (*reason).to_owned()));
        if let Some(reason) = reason {
            body = body.say(": ").data(Tone::Plain, &clip(&reason, REASON));
        }
        if reasons.len() > 1 {
            let more = format!(" (and {})", count(reasons.len() - 1, "more reason"));
            body = body.own(Tone::Dim, more);
        }
        Gap { sign, tone, body }
    });
    reported.collect()
}

/// What a row is of; several resources of one source that fell short for one reason are named together.
fn names(row: &CoverageRow, rows: &[&CoverageRow]) -> String {
    let alike = |other: &&&CoverageRow| {
        (&other.source, &other.status, &other.detail) == (&row.source, &row.status, &row.detail)
            && (matches!(row.status, Status::Failed | Status::Denied) && row.detail.is_some()
                || other.resource == row.resource)
    };
    let alike = rows.iter().filter(alike);
    let mut names: Vec<String> = alike
        .map(|row| in_words(&row.source, &row.resource))
        .collect();
    names.sort();
    names.dedup();
    joined(&names)
}

/// `Loki logs`, `Loki kernel` as `Loki kernel, logs`.
pub(super) fn joined(names: &[String]) -> String {
    let first = names.first().and_then(|name| name.split_once(' '));
    let source = first.map_or("", |(source, _)| source).to_owned();
    let of_one = |name: &String| {
        name.strip_prefix(&source)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    if names.len() < 2 || source.is_empty() || !names.iter().all(of_one) {
        return names.join(", ");
    }
    let rest: Vec<&str> = names
        .iter()
        .filter_map(|name| name.get(source.len() + 1..))
        .collect();
    format!("{source} {}", rest.join(", "))
}

/// What a source says of many containers one by one, once, and of how many: `pod/container:
/// why; pod/container: why; and 3 more`.
fn folded(detail: &str) -> Option<(usize, String)> {
    let (mut number, mut common) = (0, None);
    for part in detail.split("; ") {
        if let Some(more) = part
            .strip_prefix("and ")
            .and_then(|rest| rest.strip_suffix(" more"))
        {
            number += more.parse::<usize>().ok()?;
            continue;
        }
        let (who, why) = part.split_once(": ")?;
        let why = plainly(why);
        if !who.contains('/') || common.get_or_insert_with(|| why.clone()) != &why {
            return None;
        }
        number += 1;
    }
    Some((number, common?))
}

/// A reason as a person would put it.
fn plainly(why: &str) -> String {
    if why.contains("no such host") {
        "the API server cannot resolve the nodes' host names".to_owned()
    } else {
        why.to_owned()
    }
}

/// Whether a source was there and did not give all, or it is known why it was not.
fn fell_short(row: &CoverageRow) -> bool {
    match row.status {
        Status::Complete => false,
        Status::NotConfigured => row.detail.is_some(),
        _ => true,
    }
}

/// What nobody asked for, in words.
fn absent(rows: &[&CoverageRow]) -> Vec<String> {
    let absent = rows
        .iter()
        .filter(|row| row.status == Status::NotConfigured);
    let absent = absent.filter(|row| row.detail.is_none());
    let mut names: Vec<String> = absent
        .map(|row| in_words(&row.source, &row.resource))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The sources that were read in full, on one line.
fn read(page: &mut Page<'_>, rows: &[&CoverageRow]) {
    let whole = rows
        .iter()
        .filter(|row| is_read_in_full(row, rows.iter().copied()));
    let mut names: Vec<String> = whole
        .map(|row| in_words(&row.source, &row.resource))
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        let none = if rows.is_empty() {
            "No sources were queried."
        } else {
            "No source was read completely."
        };
        page.prose(Spans::new().say("  "), Spans::new().own(Tone::Warn, none));
        return;
    }
    let body = Spans::new().own(Tone::Dim, "read in full: ");
    let body = body.data(Tone::Dim, &names.join(", "));
    page.prose(Spans::new().own(Tone::Good, "  ✓ "), body);
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::coverage::Mode;

    #[test]
    fn what_is_said_of_many_containers_is_said_once() {
        let lookup = "dial tcp: lookup node-1 on 10.0.0.2:53: no such host";
        let other = lookup.replace("node-1", "node-2");
        let detail = format!("a-0/main: {lookup}; a-1/main: {other}; and 3 more");
        let why = "the API server cannot resolve the nodes' host names";
        assert_eq!(folded(&detail), Some((5, why.to_owned())));
        assert_eq!(folded("a-0/main: denied; a-1/main: cut off"), None);
        assert_eq!(folded("the server is busy; ask later"), None);
    }

    #[test]
    fn what_failed_for_one_reason_is_one_line() {
        let why = Some("the connection to http://loki failed: refused");
        let rows = [
            row("loki", "events", Status::Failed, why),
            row("loki", "kernel", Status::Failed, why),
            row("loki", "logs", Status::Failed, why),
            row("prometheus", "metrics", Status::Failed, why),
        ];
        let rows: Vec<&CoverageRow> = rows.iter().collect();
        let gaps = short(&rows);
        assert_eq!(gaps.len(), 2);
        let text: String = gaps[0].body.0.iter().map(|span| &*span.text).collect();
        assert!(
            text.starts_with("Loki events, kernel, logs failed: "),
            "{text}"
        );
    }

    fn row(source: &str, resource: &str, status: Status, detail: Option<&str>) -> CoverageRow {
        CoverageRow {
            source: source.to_owned(),
            resource: resource.to_owned(),
            cluster: None,
            namespace: None,
            mode: Mode::Interval,
            asked_from: None,
            asked_to: None,
            got_from: None,
            got_to: None,
            retention_s: None,
            status,
            rows: 0,
            detail: detail.map(str::to_owned),
            would_have_shown: None,
        }
    }

    #[test]
    fn a_source_is_one_line_and_what_nobody_asked_for_is_one_together() {
        let rows = [
            row("kubernetes", "logs", Status::Failed, Some("no such host")),
            row("kubernetes", "logs", Status::Failed, Some("timed out")),
            row("cloud", "activity", Status::NotConfigured, None),
            row("node_logs", "kernel", Status::NotConfigured, None),
            row("kubernetes", "pods", Status::Complete, None),
        ];
        let rows: Vec<&CoverageRow> = rows.iter().collect();
        let gaps = short(&rows);
        assert_eq!(gaps.len(), 1);
        let text: String = gaps[0].body.0.iter().map(|span| &*span.text).collect();
        assert_eq!(text, "logs failed: no such host (and 1\u{a0}more reason)");
        assert_eq!(absent(&rows), ["machine logs", "the cloud activity log"]);
    }
}
