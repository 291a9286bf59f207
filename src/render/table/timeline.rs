//! The timeline: what happened, in order, repeats in one line.

use crate::answer::{Answer, Incident, TimelineRow};
use whathappened_core::timeline::Weight;

use super::super::clock::{Clock, offset, seconds_between};
use super::super::page::{Page, Spans, Tone};
use super::super::select::{VisibleRow, select};
use super::super::text::{ACTOR, clip, escape, middle, width};
use super::super::wording::{count, grouped};

/// Rows that are shown where nobody asked for any and nothing else tells of an error.
const LAST: usize = 5;

/// Columns that a text must have beside a column of names.
const TEXT: usize = 60;

/// Characters of a row's text that are shown; the whole is in the other formats.
const CHARACTERS: usize = 600;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let Some(first) = answer.timeline.first() else {
        return;
    };
    let limit = match page.style.timeline_limit {
        Some(0) if has_unexplained_error(answer, main) => Some(LAST),
        Some(0) => return,
        limit => limit,
    };
    let shown = select(&answer.timeline, limit);
    let rows: Vec<&TimelineRow> = shown.iter().filter_map(row_of).collect();
    let clock = Clock(page.style.tz);
    let remark = remark(answer, rows.len(), main.is_some());
    let day = rows.first().map_or(first, |row| row).time.as_str();
    let zone = clock.day_and_zone(day);
    page.section(
        "Timeline",
        Spans::new()
            .own(Tone::Dim, zone)
            .own(Tone::Dim, " · ")
            .and(remark),
    );
    let layout = Layout::of(&rows, page.columns(), clock);
    let mut day = None;
    for item in &shown {
        match item {
            VisibleRow::LeftOut(n) => {
                let text = format!("⋯ {} left out", count(*n, "row"));
                page.hang(Spans::new().say("  "), Spans::new().own(Tone::Dim, text));
            }
            VisibleRow::Row(row) => {
                let today = clock.day(&row.time);
                if day.is_some() && today.is_some() && day != today {
                    let text = Spans::new().own(Tone::Strong, today.clone().unwrap_or_default());
                    page.hang(Spans::new().say("  "), text);
                }
                day = today.or(day);
                layout.show(page, row);
            }
        }
    }
    legend(page, &rows);
}

/// Whether an error is on the timeline that no chain tells of.
fn has_unexplained_error(answer: &Answer, main: Option<&Incident>) -> bool {
    let no_chain = main.is_none_or(|incident| incident.chain.is_empty());
    no_chain
        && answer
            .timeline
            .iter()
            .any(|row| row.weight == Weight::Error)
}

fn row_of<'a>(shown: &VisibleRow<'a>) -> Option<&'a TimelineRow> {
    match shown {
        VisibleRow::Row(row) => Some(row),
        VisibleRow::LeftOut(_) => None,
    }
}

fn remark(answer: &Answer, shown: usize, explained: bool) -> Spans {
    let all = answer.timeline.len();
    if shown == all {
        return Spans::new().own(Tone::Dim, count(all, "row"));
    }
    let which = if explained {
        "the rows around the cause"
    } else {
        "the last rows"
    };
    let name = answer
        .experiment
        .as_deref()
        .unwrap_or("*")
        .replace('\'', "''");
    let (shown, all) = (grouped(shown as u64), grouped(all as u64));
    let all = format!(
        "{shown} of {all} rows, {which}; all of them: --format\u{a0}csv, or in SQL timeline('"
    );
    Spans::new()
        .own(Tone::Dim, all)
        .data(Tone::Dim, &name)
        .own(Tone::Dim, "')")
}

/// Where the columns are.
struct Layout {
    clock: Clock,
    time: usize,
    offset: usize,
    /// Columns of lane and entity, where there is room for them beside the text.
    names: Option<(usize, usize)>,
}

impl Layout {
    fn of(rows: &[&TimelineRow], columns: usize, clock: Clock) -> Self {
        let widest =
            |of: &dyn Fn(&TimelineRow) -> usize| rows.iter().map(|row| of(row)).max().unwrap_or(0);
        let time = widest(&|row| width(&clock.time(&row.time)));
        let offset = widest(&|row| offset(row.offset_s).len());
        let lane = widest(&|row| width(&escape(row.lane.as_str())));
        let entity = widest(&|row| width(&escape(&row.entity)));
        let fits = 2 + time + 1 + offset + 2 + lane + 1 + entity + 2 + TEXT <= columns;
        Self {
            clock,
            time,
            offset,
            names: fits.then_some((lane, entity)),
        }
    }

    fn show(&self, page: &mut Page<'_>, row: &TimelineRow) {
        let tone = tone(row.weight);
        let mark = if row.in_chain { "▸" } else { " " };
        let vague = seconds_between(Some(&row.time), Some(&row.time_hi)).is_some_and(|s| s > 1.0);
        let (time, offset) = (self.clock.time(&row.time), offset(row.offset_s));
        let mut prefix = Spans::new()
            .own(Tone::Fatal, mark)
            .own(Tone::Dim, if vague { "~" } else { " " });
        prefix = prefix.own(Tone::Dim, time).pad(2 + self.time + 1);
        prefix = prefix.own(Tone::Dim, format!("{offset:>w$}  ", w = self.offset));
        let name = if row.in_chain {
            Tone::Strong
        } else {
            Tone::Name
        };
        let mut body = Spans::new();
        if let Some((lane, entity)) = self.names {
            let at = prefix.width();
            prefix = prefix.data(Tone::Dim, row.lane.as_str()).pad(at + lane + 1);
            prefix = prefix
                .data(name, &row.entity)
                .pad(at + lane + 1 + entity + 2);
        } else {
            let room = page
                .columns()
                .saturating_sub(prefix.width() + width(&escape(row.lane.as_str())) + 1);
            let entity = escape(&row.entity);
            body = body.data(Tone::Dim, row.lane.as_str()).own(Tone::Dim, "/");
            body = body.own(name, middle(&entity, room)).say("  ");
        }
        page.hang(prefix, body.and(self.text(row, tone)));
    }

    fn text(&self, row: &TimelineRow, tone: Tone) -> Spans {
        let mut text = Spans::new().data(tone, &clip(&row.text, CHARACTERS));
        if row.count > 1 {
            text = text.own(Tone::Strong, format!(" ×{}", grouped(row.count)));
        }
        let end = row.end.as_deref().map(|end| {
            if self.clock.day(end) == self.clock.day(&row.time) {
                self.clock.time(end)
            } else {
                self.clock.full(end)
            }
        });
        if let Some(end) = end.filter(|end| *end != self.clock.time(&row.time)) {
            text = text.own(Tone::Dim, format!(" until\u{a0}{end}"));
        }
        match &row.actor {
            Some(actor) if !row.text.contains(actor.as_str()) => text
                .own(Tone::Dim, " · by ")
                .data(Tone::Plain, &clip(actor, ACTOR)),
            _ => text,
        }
    }
}

fn tone(weight: Weight) -> Tone {
    match weight {
        Weight::Error => Tone::Bad,
        Weight::Warning => Tone::Warn,
        Weight::Info => Tone::Plain,
    }
}

fn legend(page: &mut Page<'_>, rows: &[&TimelineRow]) {
    let vague = |row: &&TimelineRow| {
        seconds_between(Some(&row.time), Some(&row.time_hi)).is_some_and(|s| s > 1.0)
    };
    let mut parts = Vec::new();
    if rows.iter().any(|row| row.in_chain) {
        parts.push("▸ part of the chain above");
    }
    if rows.iter().any(vague) {
        parts.push("~ not known to the second");
    }
    if !parts.is_empty() {
        page.hang(Spans::new(), Spans::new().own(Tone::Dim, parts.join("   ")));
    }
}
