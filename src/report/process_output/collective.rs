//! The collective that ranks waited in, and who did not come.

use std::collections::{BTreeMap, BTreeSet};
use whathappened_core::signals::named;

use whathappened_core::evidence::SpillError;
use whathappened_model::time::rfc3339;

use super::super::record::reported;
use super::{AttemptLogs, number, numbers};
use crate::answer::{Collective, MissingBy};

/// Records that an answer names.
const NAMED: usize = 8;

/// Signals whose records name ranks that others waited for.
const NAMES: [(&str, &str); 4] = [
    (named::NCCL_RANK_MISSING, "missing_rank"),
    (named::NCCL_RANK_MISSING, "rank"),
    (named::NCCL_NO_DUMP, "rank"),
    (named::JAX_BARRIER_TIMEOUT, "missing_rank"),
];

/// Watchdogs of one hang speak within this long of each other.
const ONE_HANG: i64 = 900_000_000_000;

/// What the watchdog of one rank wrote.
struct Report {
    rank: Option<i32>,
    time: Option<i64>,
    since: Option<i64>,
    op: Option<String>,
    seq: Option<i64>,
    group: Option<String>,
    id: String,
}

impl Report {
    /// Whether two ranks waited at one place: of one group, or in the same operation where no group is named.
    fn is_with(&self, other: &Self) -> bool {
        let same_group = match (&self.group, &other.group) {
            (Some(own), Some(others)) => own == others,
            _ => self.op == other.op,
        };
        self.seq == other.seq && same_group
    }
}

/// The process group that a watchdog names, `[PG ID 1 PG GUID 5(TP) Rank 0]`, by what is its alone.
fn group(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("PG GUID ")?;
    let end = rest.find([' ', '(', ']'])?;
    rest.get(..end).map(str::to_owned)
}

/// The ranks that waited in an earlier operation of the group in which more of them waited.
fn behind(reports: &[Report]) -> BTreeSet<i32> {
    let places = reports.iter().filter_map(|one| Some((one, one.seq?)));
    let Some((foremost, furthest)) = places.max_by_key(|(one, seq)| (*seq, one.rank)) else {
        return BTreeSet::new();
    };
    let same_group = |one: &&Report| match (&foremost.group, &one.group) {
        (Some(own), Some(others)) => own == others,
        _ => foremost.op.is_some() && foremost.op == one.op,
    };
    let ranks = |is_behind: bool| -> BTreeSet<i32> {
        let of_group = reports.iter().filter(same_group);
        let there = of_group.filter(|one| one.seq.is_some_and(|seq| (seq < furthest) == is_behind));
        there.filter_map(|one| one.rank).collect()
    };
    let (behind, ahead) = (ranks(true), ranks(false));
    match behind.len() < ahead.len() && behind.is_disjoint(&ahead) {
        true => behind,
        false => BTreeSet::new(),
    }
}

impl AttemptLogs<'_> {
    /// The collective, where any rank says that it waited in one.
    pub(super) fn collective(&self) -> Result<Option<Collective>, SpillError> {
        let steps: Vec<i64> = self
            .pods
            .iter()
            .filter_map(|pod| self.context.graph().pods.get(*pod)?.progress.as_ref())
            .map(|progress| progress.last.lo)
            .collect();
        // The group may stand in a line of its own.
        let mut groups: BTreeMap<(Option<i32>, Option<i64>), String> = BTreeMap::new();
        for fact in self.facts(named::NCCL_STATE_AT_TIMEOUT) {
            let event = self.event(fact)?;
            let rank = event.rank.or(numbers(&event, "rank").first().copied());
            let place = (rank, number(&event, "seq"));
            let group = event.attribute("pg").map(str::to_owned);
            groups.extend(group.map(|group| (place, group)));
        }
        let mut waited = BTreeSet::new();
        let mut reports: Vec<Report> = Vec::new();
        for fact in self.facts(named::NCCL_TIMEOUT) {
            let event = self.event(fact)?;
            let rank = event
                .rank
                .or_else(|| numbers(&event, "rank").first().copied())
                .or_else(|| self.rank_of(fact.pod));
            let time = reported(fact.time).map(|time| time.lo);
            // Where steps were made since, what was waited for long before was another hang.
            let last = reports.last().and_then(|last| last.time);
            let is_past = |(last, time): (i64, i64)| {
                let between = steps.iter().any(|step| *step > last && *step < time);
                between && time.saturating_sub(last) > ONE_HANG
            };
            if last.zip(time).is_some_and(is_past) {
                reports.clear();
                waited.clear();
            }
            waited.extend(rank);
            let ms = number(&event, "ran_ms").or_else(|| number(&event, "timeout_ms"));
            reports.push(Report {
                rank,
                time,
                since: ms
                    .zip(time)
                    .map(|(ms, time)| time.saturating_sub(ms.saturating_mul(1_000_000))),
                op: event.attribute("op").map(str::to_owned),
                seq: number(&event, "seq"),
                group: group(event.message.as_deref().unwrap_or_default())
                    .or_else(|| groups.get(&(rank, number(&event, "seq"))).cloned()),
                id: event.id.to_string(),
            });
        }
        // The operation is that of the first report: who was elsewhere then waited for something else, or for this one's ranks.
        // One of a group that has come less far than the others is whom they wait for.
        let behind = behind(&reports);
        let first = reports
            .iter()
            .find(|one| one.rank.is_none_or(|rank| !behind.contains(&rank)));
        let with_first: Vec<&Report> = reports
            .iter()
            .filter(|one| first.is_some_and(|first| one.is_with(first)))
            .collect();
        let waiting: BTreeSet<i32> = with_first.iter().filter_map(|one| one.rank).collect();
        let ops: BTreeSet<&str> = with_first
            .iter()
            .filter_map(|one| one.op.as_deref())
            .collect();
        let op = (!ops.is_empty()).then(|| ops.into_iter().collect::<Vec<_>>().join(" and "));
        let seq = first.and_then(|first| first.seq);
        let since = with_first.iter().filter_map(|one| one.since).min();
        let mut ids: Vec<String> = with_first.iter().map(|one| one.id.clone()).collect();
        let (missing, by_content) = match behind.is_empty() {
            true => self.missing(&waited)?,
            false => (behind, true),
        };
        if waiting.is_empty() && missing.is_empty() {
            return Ok(None);
        }
        let by = match by_content {
            true => MissingBy::Content,
            false => MissingBy::Elimination,
        };
        ids.truncate(NAMED);
        Ok(Some(Collective {
            op,
            seq,
            since: since.map(rfc3339),
            waiting: waiting.into_iter().collect(),
            missing_by: (!missing.is_empty()).then_some(by),
            missing: missing.into_iter().collect(),
            event_ids: ids,
        }))
    }

    /// Who did not come, and whether records name them.
    fn missing(&self, waiting: &BTreeSet<i32>) -> Result<(BTreeSet<i32>, bool), SpillError> {
        let mut named = BTreeSet::new();
        for (signal, key) in NAMES {
            for fact in self.facts(signal) {
                let event = self.event(fact)?;
                // A log line's own rank is that of the one who waited.
                if event.fact != "log.line" || key == "missing_rank" {
                    named.extend(numbers(&event, key));
                }
            }
        }
        if !named.is_empty() {
            return Ok((named, true));
        }
        let ranks: Option<BTreeSet<i32>> = self.pods.iter().map(|pod| self.rank_of(*pod)).collect();
        // Only where pods' ranks are those of the collective: one process a pod.
        let all = ranks.filter(|ranks| ranks.len() == self.pods.len() && waiting.is_subset(ranks));
        let absent: BTreeSet<i32> = all
            .map(|all| all.difference(waiting).copied().collect())
            .unwrap_or_default();
        // Where all members are known, the only one that is left is the one.
        let wanted = self.pods.first().and_then(|pod| {
            let graph = self.context.graph();
            graph.pods_wanted(graph.pods.get(*pod)?.root?)
        });
        let is_whole = i64::try_from(self.pods.len()).ok() == wanted;
        let few =
            !waiting.is_empty() && (absent.len() < waiting.len() || absent.len() == 1 && is_whole);
        Ok((if few { absent } else { BTreeSet::new() }, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rank: i32, seq: i64, group: Option<&str>) -> Report {
        Report {
            rank: Some(rank),
            time: None,
            since: None,
            op: Some("ALLREDUCE".to_owned()),
            seq: Some(seq),
            group: group.map(str::to_owned),
            id: String::new(),
        }
    }

    #[test]
    fn who_has_come_less_far_than_the_others_is_behind() {
        let of = |reports: &[(i32, i64, Option<&str>)]| -> Vec<i32> {
            let reports: Vec<Report> = reports
                .iter()
                .map(|(rank, seq, group)| report(*rank, *seq, *group))
                .collect();
            behind(&reports).into_iter().collect()
        };
        assert_eq!(of(&[(0, 90, None), (2, 89, None), (1, 90, None)]), [2]);
        assert_eq!(of(&[(0, 90, None), (1, 90, None)]), [0_i32; 0]);
        // Two of two: nobody knows which of them is ahead of the rest.
        assert_eq!(of(&[(0, 90, None), (1, 89, None)]), [0_i32; 0]);
        // Groups count for themselves.
        let groups = [(0, 90, Some("5")), (1, 90, Some("5")), (2, 7, Some("6"))];
        assert_eq!(of(&groups), [0_i32; 0]);
    }
}
