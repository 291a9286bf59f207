//! What each source could show: a lane a source, hatched where it could not be seen.

use super::super::super::wording;
use super::super::cells;
use super::super::coverage::{self, Group as Rows};
use super::super::page::Page;
use super::Group;
use super::bars::Bar;
use super::lanes::Lanes;
use super::scale::{Span, Times};
use crate::answer::CoverageRow;
use whathappened_model::coverage::Status;

/// Characters of what is said of a gap; the table of sources has more.
const CHARACTERS: usize = 160;

/// One lane: rows that say the same, and the gaps of the same source.
pub(super) struct Source<'a> {
    pub(super) rows: Rows<'a>,
    /// Stretches of which nothing was read.
    gaps: Vec<&'a CoverageRow>,
}

impl<'a> Source<'a> {
    /// A row that says what source this is.
    pub(super) fn first(&self) -> Option<&'a CoverageRow> {
        self.rows.first().or(self.gaps.first()).copied()
    }

    /// How it was read, in a few words, and how much it told: a lane that shows nothing may be whole.
    pub(super) fn note(&self) -> String {
        let mut how = self
            .first()
            .map_or_else(String::new, |row| row.status.as_str().replace('_', " "));
        let records = self.rows.iter().map(|row| row.rows);
        let records = records.fold(0, u64::saturating_add);
        if let Ok(records) = usize::try_from(records)
            && records > 0
        {
            how = format!("{how} · {}", wording::count(records, "record"));
        }
        match (self.rows.is_empty(), self.gaps.len()) {
            (_, 0) | (true, 1) => how,
            (_, 1) => format!("{how} · 1 gap"),
            (_, many) => format!("{how} · {many} gaps"),
        }
    }

    /// A gap belongs to the lane of what was read of the same thing in the same place.
    fn takes(&self, gap: &CoverageRow) -> bool {
        let of = |row: &CoverageRow| row.source == gap.source && row.resource == gap.resource;
        let near = |row: &CoverageRow| {
            row.cluster.is_none() || gap.cluster.is_none() || row.cluster == gap.cluster
        };
        let mut rows = self.rows.iter().chain(&self.gaps);
        rows.any(|row| of(row) && near(row))
    }
}

/// Whether a row says which stretch it is of, and that nothing of it was read.
fn is_gap(row: &CoverageRow) -> bool {
    let says_when = row.asked_from.is_some() || row.asked_to.is_some();
    row.status != Status::Complete && row.got_from.is_none() && says_when
}

/// The lanes, those that fell short first; at most as many as have room.
pub(super) fn of(rows: &[CoverageRow]) -> Vec<Source<'_>> {
    let (gaps, read): (Vec<Rows<'_>>, Vec<Rows<'_>>) = coverage::groups(rows)
        .into_iter()
        .partition(|group| group.iter().all(|row| is_gap(row)));
    let mut sources: Vec<Source<'_>> = Vec::new();
    for rows in read {
        sources.push(Source {
            rows,
            gaps: Vec::new(),
        });
    }
    // Each gap has words of its own, and is no source of its own.
    let mut alone: Vec<Source<'_>> = Vec::new();
    for gap in gaps.into_iter().flatten() {
        let whole = |source: &&mut Source<'_>| {
            let row = source.rows.first();
            source.takes(gap) && row.is_some_and(|row| row.status == Status::Complete)
        };
        let home = match sources.iter_mut().find(whole) {
            Some(source) => Some(source),
            None => sources
                .iter_mut()
                .chain(&mut alone)
                .find(|source| source.takes(gap)),
        };
        match home {
            Some(source) => source.gaps.push(gap),
            None => alone.push(Source {
                rows: Vec::new(),
                gaps: vec![gap],
            }),
        }
    }
    alone.extend(sources);
    // Stable: within each part they keep their order.
    alone.sort_by_key(|source| {
        let row = source.first();
        source.gaps.is_empty() && row.is_some_and(|row| row.status == Status::Complete)
    });
    alone.truncate(Group::Coverage.limit());
    alone
}

/// From its first to its last record, hatched where it fell short.
pub(super) fn bars(page: Page<'_>, times: Times, lanes: &Lanes, whole: Span) -> Vec<Bar> {
    let Some(begin) = lanes.first(Group::Coverage) else {
        return Vec::new();
    };
    // An open end reaches to the end of what can be shown.
    let far = whole.length().max(1.0) * 50.0;
    let shown = Span {
        from: whole.from - far,
        to: whole.to + far,
    };
    let mut bars = Vec::new();
    for (number, source) in of(&page.answer.coverage).iter().enumerate() {
        let pieces = unseen(source, times).into_iter().chain(read(source, times));
        bars.extend(pieces.filter_map(|(span, class, text)| {
            Some(Bar {
                lane: begin + number,
                member: None,
                span: span.within(shown)?,
                class,
                text,
            })
        }));
    }
    bars
}

/// A stretch with its class and its words.
type Piece = (Span, &'static str, String);

const ALWAYS: Span = Span {
    from: f64::NEG_INFINITY,
    to: f64::INFINITY,
};

/// From the first to the last record of its rows.
fn got(source: &Source<'_>, times: Times) -> Option<Span> {
    let spans = source
        .rows
        .iter()
        .filter_map(|row| times.span(row.got_from.as_deref()?, row.got_to.as_deref()?));
    // One record alone is a stretch as well, or it would not be drawn.
    let seen = |span: Span| Span {
        to: span.to.max(span.from + 1.0),
        ..span
    };
    spans.reduce(Span::with).map(seen)
}

/// The stretch that a gap is of.
fn stretch(gap: &CoverageRow, times: Times) -> Span {
    let at = |time: &Option<String>| times.at(time.as_deref()?);
    Span {
        from: at(&gap.asked_from).unwrap_or(ALWAYS.from),
        to: at(&gap.asked_to).unwrap_or(ALWAYS.to),
    }
}

fn unseen(source: &Source<'_>, times: Times) -> Vec<Piece> {
    let piece = |span: Span, row: Option<&&CoverageRow>| {
        let why = row.and_then(|row| row.detail.as_deref());
        let text = match why {
            Some(why) => format!("could not be seen: {}", cells::cut(why, CHARACTERS)),
            None => "could not be seen".to_owned(),
        };
        (span, "unseen", text)
    };
    let first = source.rows.first();
    let short = first.filter(|row| row.status != Status::Complete);
    // Beyond its first and last record a source that was read in full has nothing to tell.
    let outside = match (short, got(source, times)) {
        (None, _) => Vec::new(),
        (Some(_), Some(got)) => ALWAYS.without(got),
        (Some(_), None) => vec![ALWAYS],
    };
    let outside = outside.into_iter().map(|span| piece(span, first));
    let gaps = source.gaps.iter();
    let gaps = gaps.map(|gap| piece(stretch(gap, times), Some(gap)));
    outside.chain(gaps).collect()
}

/// What was read, without the gaps in it.
fn read(source: &Source<'_>, times: Times) -> Vec<Piece> {
    let mut left: Vec<Span> = got(source, times).into_iter().collect();
    for gap in &source.gaps {
        let gap = stretch(gap, times);
        left = left
            .into_iter()
            .flat_map(|span| span.without(gap))
            .collect();
    }
    let text = match source.gaps.len() {
        0 => "read, from the first to the last record",
        _ => "read, but for what is hatched",
    };
    let piece = |span| (span, "read", text.to_owned());
    left.into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use whathappened_model::coverage::Mode;

    use super::*;

    fn row(resource: &str, status: Status) -> CoverageRow {
        CoverageRow {
            source: "kubernetes".to_owned(),
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
            rows: 1,
            detail: None,
            would_have_shown: None,
        }
    }

    fn at(second: i64) -> String {
        let at = chrono::DateTime::from_timestamp(second, 0).unwrap();
        at.to_rfc3339()
    }

    fn gap(resource: &str, from: i64, to: i64) -> CoverageRow {
        CoverageRow {
            asked_from: Some(at(from)),
            asked_to: Some(at(to)),
            detail: Some(format!("not watched from {from} to {to}")),
            ..row(resource, Status::Truncated)
        }
    }

    fn pieces(source: &Source<'_>) -> Vec<(f64, f64, &'static str)> {
        let times = Times { origin: 0 };
        let all = unseen(source, times).into_iter().chain(read(source, times));
        all.map(|(span, class, _)| (span.from / 1e3, span.to / 1e3, class))
            .collect()
    }

    #[test]
    fn gaps_are_hatched_when_they_were_on_the_lane_of_their_source() {
        let pods = CoverageRow {
            got_from: Some(at(100)),
            got_to: Some(at(500)),
            ..row("pods", Status::Complete)
        };
        let rows = [
            pods,
            gap("pods", 200, 250),
            gap("pods", 400, 600),
            row("events", Status::Denied),
            gap("running", 50, 90),
        ];
        let sources = of(&rows);
        let shown: Vec<_> = sources
            .iter()
            .map(|source| {
                let resource = source.first().unwrap().resource.as_str();
                (resource, source.note(), pieces(source))
            })
            .collect();
        let forever = (f64::NEG_INFINITY, f64::INFINITY, "unseen");
        assert_eq!(
            shown,
            [
                (
                    "running",
                    "truncated".to_owned(),
                    vec![(50.0, 90.0, "unseen")]
                ),
                ("events", "denied · 1\u{a0}record".to_owned(), vec![forever]),
                (
                    "pods",
                    "complete · 1\u{a0}record · 2 gaps".to_owned(),
                    vec![
                        (200.0, 250.0, "unseen"),
                        (400.0, 600.0, "unseen"),
                        (100.0, 200.0, "read"),
                        (250.0, 400.0, "read"),
                    ]
                ),
            ]
        );
    }

    #[test]
    fn a_gap_without_an_end_goes_on() {
        let mut open = gap("pods", 200, 0);
        open.asked_to = None;
        let rows = [open];
        assert_eq!(pieces(&of(&rows)[0]), [(200.0, f64::INFINITY, "unseen")]);
    }

    #[test]
    fn what_fell_short_at_both_ends_is_hatched_there() {
        let rows = [CoverageRow {
            got_from: Some(at(100)),
            got_to: Some(at(500)),
            ..row("pods", Status::Truncated)
        }];
        assert_eq!(
            pieces(&of(&rows)[0]),
            [
                (f64::NEG_INFINITY, 100.0, "unseen"),
                (500.0, f64::INFINITY, "unseen"),
                (100.0, 500.0, "read"),
            ]
        );
    }
}
