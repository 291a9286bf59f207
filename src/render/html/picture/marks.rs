//! What is marked on a lane: a record, several that are folded, or an end.

use std::collections::BTreeMap;
use whathappened_core::death::DeathState;
use whathappened_core::signals::named;

use crate::answer::Victim;

use super::super::super::select::VisibleRow;
use super::super::super::wording;
use super::super::cells;
use super::super::list::numbered;
use super::super::page::Page;
use super::Group;
use super::lanes::Lanes;
use super::scale::{Span, Times};

/// Characters of a record in the picture; the list has more.
const CHARACTERS: usize = 160;

/// Stretches that a folded lane is divided into, over the first window: each has room for a number.
const STRETCHES: f64 = 40.0;

/// One mark.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) lane: usize,
    /// Its place within a folded lane that is opened.
    pub(super) member: Option<usize>,
    /// From when to when it may have been.
    pub(super) span: Span,
    /// `error`, `warning`, `info` or `death`.
    pub(super) class: &'static str,
    /// Its row in the list; the first one's where several are folded.
    pub(super) row: Option<usize>,
    pub(super) text: String,
    /// How many it stands for.
    pub(super) count: usize,
    pub(super) in_chain: bool,
}

pub(super) fn of(page: Page<'_>, times: Times, lanes: &Lanes) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (at, part) in numbered(page) {
        let VisibleRow::Row(row) = part else { continue };
        let lane = lanes.find(Group::of(row), &row.entity);
        let (Some(span), Some(lane)) = (times.span(&row.time, &row.time_hi), lane) else {
            continue;
        };
        marks.push(Mark {
            lane,
            member: lanes.member(Group::of(row), &row.entity),
            span,
            class: row.weight.as_str(),
            row: Some(at),
            text: cells::cut(&row.text, CHARACTERS),
            count: 1,
            in_chain: row.in_chain,
        });
    }
    let Some(main) = page.main else {
        return marks;
    };
    let mut marked: Vec<&str> = Vec::new();
    let collateral = main.collateral.iter().take(10_000);
    for victim in main
        .first_victims
        .iter()
        .chain(&main.victims)
        .chain(collateral)
    {
        let is_own = lanes
            .find(Group::Pods, &victim.pod)
            .is_some_and(|lane| !lanes.is_folded(lane));
        if is_own && marked.contains(&victim.pod.as_str()) {
            continue;
        }
        if is_own {
            marked.push(&victim.pod);
        }
        marks.extend(end(victim, times, lanes));
    }
    marks
}

/// The end of a pod.
fn end(victim: &Victim, times: Times, lanes: &Lanes) -> Option<Mark> {
    let time = victim.time.as_deref()?;
    let how = if victim.how.is_empty() {
        "ended"
    } else {
        &victim.how
    };
    let is_death = matches!(
        victim.state,
        DeathState::Died | DeathState::Restarted | DeathState::CrashLoop | DeathState::NotRecorded
    );
    Some(Mark {
        lane: lanes.find(Group::Pods, &victim.pod)?,
        member: lanes.member(Group::Pods, &victim.pod),
        span: times.span(time, victim.time_hi.as_deref().unwrap_or(time))?,
        class: if is_death { "death" } else { "error" },
        row: None,
        text: cells::cut(&format!("{} {how}", victim.pod), CHARACTERS),
        count: 1,
        in_chain: false,
    })
}

/// When checkpoints were saved.
pub(super) fn saves(page: Page<'_>, times: Times) -> Vec<(f64, usize)> {
    let rows = numbered(page).filter_map(|(at, part)| {
        let VisibleRow::Row(row) = part else {
            return None;
        };
        let is_save = |signal: &String| signal == named::LOG_CHECKPOINT_SAVED;
        let saved = row.signals.iter().any(is_save);
        saved
            .then(|| times.at(&row.time))
            .flatten()
            .map(|time| (time, at))
    });
    rows.collect()
}

/// Marks of what folded lanes show one by one where they are opened.
pub(super) fn inner(marks: &[Mark]) -> Vec<Mark> {
    const MOST: usize = 1_500;
    let all = marks.iter().filter(|mark| mark.member.is_some());
    all.take(MOST).cloned().collect()
}

/// The same with the marks of folded lanes put together where they are near each other.
pub(super) fn folded(marks: Vec<Mark>, window: Span, lanes: &Lanes) -> Vec<Mark> {
    let wide = (window.length() / STRETCHES).max(1.0);
    let mut shown = Vec::with_capacity(marks.len());
    let mut together: BTreeMap<(usize, i64, &'static str), Mark> = BTreeMap::new();
    for mark in marks {
        if !lanes.is_folded(mark.lane) {
            shown.push(mark);
            continue;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let stretch = (mark.span.from / wide).floor() as i64;
        let key = (mark.lane, stretch, mark.class);
        match together.get_mut(&key) {
            Some(other) => {
                other.span = other.span.with(mark.span);
                other.count += 1;
                other.in_chain |= mark.in_chain;
                other.row = other.row.or(mark.row);
            }
            None => {
                // It stands for all of them, on the lane itself: the one that was first has a place within it.
                together.insert(
                    key,
                    Mark {
                        member: None,
                        ..mark
                    },
                );
            }
        }
    }
    shown.extend(together.into_values().map(|mut mark| {
        if mark.count > 1 {
            let noun = if mark.class == "death" {
                "pod"
            } else {
                "record"
            };
            mark.text = format!(
                "{}; the first: {}",
                wording::count(mark.count, noun),
                mark.text
            );
        }
        mark
    }));
    shown
}
