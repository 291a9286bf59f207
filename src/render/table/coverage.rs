//! What could not be seen, and what it would have shown.

use std::collections::BTreeMap;

use crate::answer::{Answer, CoverageRow, Incident, Level};
use whathappened_model::coverage::Status;

use super::super::clock::{Clock, duration};
use super::super::page::{Page, Spans, Tone};
use super::super::wording::{count, grouped, is_read_in_full, missing_evidence, source, urgency};
use super::gaps;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let reported: &[String] = main.map_or(&[], |incident| &incident.would_have_told);
    let unknown = main.is_some_and(|incident| incident.level == Level::Unknown);
    if unknown && !reported.is_empty() {
        page.section("Evidence that would settle it", Spans::new());
        for text in reported {
            page.prose(
                Spans::new().own(Tone::Warn, "  • "),
                Spans::new().data(Tone::Plain, &missing_evidence(text)),
            );
        }
    }
    if !page.style.explain {
        gaps::show(page, answer, main);
        return;
    }
    let short = groups(answer, fell_short_itself);
    let absent = groups(answer, |row| row.status == Status::NotConfigured);
    let reported = if unknown { &[] } else { reported };
    if short.is_empty() && absent.is_empty() && reported.is_empty() {
        page.section("Sources read", Spans::new());
    } else {
        page.section("Missing data", Spans::new());
    }
    for text in reported {
        page.prose(
            Spans::new().own(Tone::Dim, "  • "),
            Spans::new().data(Tone::Plain, &missing_evidence(text)),
        );
    }
    for group in &short {
        fell_short(page, group);
    }
    for group in &absent {
        let why = group.first().and_then(|row| row.detail.as_deref());
        let body = match why {
            Some(why) => name(group).say(": ").data(Tone::Plain, why),
            None => name(group).own(Tone::Dim, " not\u{a0}configured"),
        };
        let body = body.and(would_have(group));
        page.prose(Spans::new().own(Tone::Dim, "  ○ "), body);
    }
    healthy(page, answer);
}

/// Rows that say the same, of several namespaces or clusters.
type Group<'a> = Vec<&'a CoverageRow>;

fn groups<'a>(answer: &'a Answer, keep: impl Fn(&CoverageRow) -> bool) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<_, Group<'a>> = BTreeMap::new();
    for row in answer.coverage.iter().filter(|row| keep(row)) {
        // What failed for one reason is one line, whatever it would have shown.
        let failed = matches!(row.status, Status::Failed | Status::Denied) && row.detail.is_some();
        let (resource, shown) = if failed {
            (None, None)
        } else {
            (Some(&row.resource), row.would_have_shown.as_ref())
        };
        let key = (
            urgency(row.status),
            &row.source,
            resource,
            row.status,
            (&row.detail, shown),
        );
        groups.entry(key).or_default().push(row);
    }
    groups.into_values().collect()
}

/// Whether a source was there and did not give all.
fn fell_short_itself(row: &CoverageRow) -> bool {
    !matches!(row.status, Status::Complete | Status::NotConfigured)
}

fn fell_short(page: &mut Page<'_>, group: &Group<'_>) {
    let Some(row) = group.first() else {
        return;
    };
    let (sign, tone) = match row.status {
        Status::Failed | Status::Denied => ("✗", Tone::Bad),
        _ => ("!", Tone::Warn),
    };
    let body = shortfall(group, tone, Clock(page.style.tz));
    page.prose(Spans::new().say("  ").own(tone, sign).say(" "), body);
}

/// What fell short of what was asked for, what matters most first.
pub(crate) fn shortfalls(answer: &Answer, clock: Clock) -> Vec<Spans> {
    let short = groups(answer, fell_short_itself);
    let reported = short
        .iter()
        .map(|group| shortfall(group, Tone::Plain, clock));
    reported.collect()
}

fn shortfall(group: &Group<'_>, tone: Tone, clock: Clock) -> Spans {
    let Some(row) = group.first() else {
        return Spans::new();
    };
    let mut body = name(group)
        .say(" ")
        .data(tone, &row.status.as_str().replace('_', "\u{a0}"));
    body = body.and(place(group));
    if let Some(detail) = &row.detail {
        body = body.say(": ").data(Tone::Plain, detail);
    }
    body.and(window(row, clock)).and(would_have(group))
}

fn name(group: &Group<'_>) -> Spans {
    let mut names: Vec<String> = group
        .iter()
        .map(|row| source(&row.source, &row.resource))
        .collect();
    names.sort();
    names.dedup();
    Spans::new().data(Tone::Strong, &gaps::joined(&names))
}

fn place(group: &Group<'_>) -> Spans {
    match group.as_slice() {
        [row] => match (&row.namespace, &row.cluster) {
            (Some(namespace), _) => Spans::new().say(" in ").data(Tone::Plain, namespace),
            (None, Some(cluster)) => Spans::new().say(" on ").data(Tone::Plain, cluster),
            (None, None) => Spans::new(),
        },
        several => {
            let mut places: Vec<_> = several
                .iter()
                .map(|row| (&row.namespace, &row.cluster))
                .collect();
            places.sort();
            places.dedup();
            match places.len() {
                1 => place(&several.iter().take(1).copied().collect()),
                places => Spans::new().say(format!(" in {}", count(places, "place"))),
            }
        }
    }
}

/// The stretch that was obtained, where it is less than was asked for.
fn window(row: &CoverageRow, clock: Clock) -> Spans {
    let (Some(from), Some(to)) = (&row.got_from, &row.got_to) else {
        return match row.retention_s {
            Some(seconds) if row.status == Status::Expired => keeps(seconds),
            _ => Spans::new(),
        };
    };
    let whole = row.asked_from.as_ref().is_none_or(|asked| from <= asked)
        && row.asked_to.as_ref().is_none_or(|asked| to >= asked);
    if whole {
        return Spans::new();
    }
    let got = format!("; has only {} to {}", clock.time(from), clock.time(to));
    match row.retention_s {
        Some(seconds) => Spans::new().say(got).and(keeps(seconds)),
        None => Spans::new().say(got),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown to two units")]
fn keeps(seconds: i64) -> Spans {
    Spans::new().say(format!("; keeps {}", duration(seconds as f64)))
}

fn would_have(group: &Group<'_>) -> Spans {
    let mut shown: Vec<&str> = group
        .iter()
        .filter_map(|row| row.would_have_shown.as_deref())
        .collect();
    shown.dedup();
    if shown.is_empty() {
        return Spans::new();
    }
    Spans::new()
        .own(Tone::Dim, " · would have shown ")
        .data(Tone::Plain, &shown.join("; "))
}

fn healthy(page: &mut Page<'_>, answer: &Answer) {
    let mut sources: BTreeMap<String, u64> = BTreeMap::new();
    let whole = |row: &&CoverageRow| is_read_in_full(row, &answer.coverage);
    for row in answer.coverage.iter().filter(whole) {
        let rows = sources
            .entry(source(&row.source, &row.resource))
            .or_default();
        *rows = rows.saturating_add(row.rows);
    }
    if sources.is_empty() {
        let none = if answer.coverage.is_empty() {
            "No sources were queried."
        } else {
            "No source was read completely."
        };
        page.prose(Spans::new().say("  "), Spans::new().own(Tone::Warn, none));
        return;
    }
    let mut body = Spans::new().own(Tone::Dim, "read in full: ");
    for (at, (what, rows)) in sources.iter().enumerate() {
        body = body
            .own(Tone::Dim, if at > 0 { ", " } else { "" })
            .data(Tone::Dim, what);
        body = body.own(Tone::Dim, format!("\u{a0}({})", grouped(*rows)));
    }
    page.prose(Spans::new().own(Tone::Good, "  ✓ "), body);
}
