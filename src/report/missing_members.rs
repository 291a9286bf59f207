//! Members of a gang that were never created: which they are.

use std::collections::BTreeSet;

use whathappened_core::death::DeathState;
use whathappened_core::graph::TaskRow;
use whathappened_core::lifecycle::State;

use super::context::ReportContext;
use crate::explain::gang::Finding;

/// Ranks that are told one by one.
const MOST_RANKS: usize = 6;

impl ReportContext<'_> {
    /// Says which members of a run that has others were never created, and which could not be created again.
    pub(super) fn never_created(&self, finding: &Finding) -> Option<String> {
        let death = self.death(*finding.first.first()?)?;
        let graph = self.graph();
        let run = self.case.runs.get(finding.run)?;
        let root = run.root.workload()?;
        if death.state != DeathState::NeverCreated || death.pod.is_some() || run.pods.is_empty() {
            return None;
        }
        let wanted = graph.workloads.get(root)?.body.as_ref()?.pods?;
        let last = run.attempts.last()?.pods.iter();
        let (ended, there): (Vec<TaskRow>, Vec<TaskRow>) =
            last.copied().partition(|pod| self.has_ended(*pod));
        let ranks = |pods: &[TaskRow]| -> Option<Vec<Option<i32>>> {
            let pods = pods.iter();
            pods.map(|pod| Some(graph.pods.get(*pod)?.rank)).collect()
        };
        let (there, ended) = (ranks(&there)?, ranks(&ended)?);
        let again = made_once(&there, &ended);
        // Those that had ended were created once.
        let made: Vec<Option<i32>> = there
            .iter()
            .copied()
            .chain(again.iter().map(|rank| i32::try_from(*rank).ok()))
            .collect();
        let never = sentence(wanted, &made);
        let again = (!again.is_empty()).then(|| {
            let who = listed(&again, again.len());
            format!(
                "{}{} had ended before, and could not be created again.",
                who.get(..1).unwrap_or_default().to_uppercase(),
                who.get(1..).unwrap_or_default()
            )
        });
        match (again, never) {
            (Some(again), Some(never)) => Some(format!("{again} {never}")),
            (again, never) => again.or(never),
        }
    }

    /// Whether what could not be created was to take the place of a pod that had ended.
    pub(super) fn is_for_another(&self, finding: &Finding) -> bool {
        let first = finding.first.first().and_then(|death| self.death(*death));
        let never = first
            .is_some_and(|death| death.state == DeathState::NeverCreated && death.pod.is_none());
        let run = self.case.runs.get(finding.run);
        let last = run.and_then(|run| run.attempts.last());
        let mut pods = last.into_iter().flat_map(|last| &last.pods);
        never && pods.any(|pod| self.has_ended(*pod))
    }

    fn has_ended(&self, pod: TaskRow) -> bool {
        let end = self.case.ends.get(pod);
        end.is_some_and(|end| end.state == State::Died)
    }
}

/// The ranks of those that ended and that nobody else bears, where all are known.
fn made_once(there: &[Option<i32>], ended: &[Option<i32>]) -> Vec<i64> {
    let all = |ranks: &[Option<i32>]| -> Option<BTreeSet<i64>> {
        ranks.iter().map(|rank| rank.map(i64::from)).collect()
    };
    match (all(there), all(ended)) {
        (Some(there), Some(ended)) => ended.difference(&there).copied().collect(),
        _ => Vec::new(),
    }
}

/// Some ranks of so many, in words.
fn listed(ranks: &[i64], count: usize) -> String {
    let names: Vec<String> = ranks.iter().take(MOST_RANKS).map(i64::to_string).collect();
    match (names.split_last(), count.saturating_sub(names.len())) {
        (Some((last, [])), 0) => format!("rank {last}"),
        (Some((last, first)), 0) => format!("ranks {} and {last}", first.join(", ")),
        (_, more) => format!("ranks {} and {more} more", names.join(", ")),
    }
}

/// Ranks are numbered from 0, and of pods whose rank nobody knows only the number counts.
fn sentence(wanted: i64, there: &[Option<i32>]) -> Option<String> {
    let count = i64::try_from(there.len()).ok()?;
    let missing = wanted.checked_sub(count).filter(|missing| *missing > 0)?;
    let known: Option<BTreeSet<i64>> = there.iter().map(|rank| rank.map(i64::from)).collect();
    let absent = |known: &BTreeSet<i64>| -> Vec<i64> {
        (0..wanted)
            .filter(|rank| !known.contains(rank))
            .take(MOST_RANKS + 1)
            .collect()
    };
    let absent = known.as_ref().map(absent);
    // Other ranks than those from 0 on are of something else.
    let fits = known
        .is_some_and(|known| known.range(wanted..).next().is_none() && known.len() == there.len());
    let was = if missing == 1 { "was" } else { "were" };
    match absent.filter(|absent| fits && !absent.is_empty()) {
        Some(absent) => {
            let list = listed(&absent, usize::try_from(missing).ok()?);
            Some(format!(
                "Of its {wanted} members, {list} {was} never created."
            ))
        }
        None => Some(format!(
            "Of its {wanted} members, {missing} {was} never created."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_named() {
        assert_eq!(
            sentence(4, &[Some(0), Some(1)]).as_deref(),
            Some("Of its 4 members, ranks 2 and 3 were never created.")
        );
        assert_eq!(
            sentence(3, &[Some(0), Some(2)]).as_deref(),
            Some("Of its 3 members, rank 1 was never created.")
        );
        assert_eq!(
            sentence(64, &[Some(0)]).as_deref(),
            Some("Of its 64 members, ranks 1, 2, 3, 4, 5, 6 and 57 more were never created.")
        );
    }

    #[test]
    fn members_without_ranks_are_counted() {
        assert_eq!(
            sentence(4, &[Some(0), None]).as_deref(),
            Some("Of its 4 members, 2 were never created.")
        );
        assert_eq!(sentence(2, &[Some(0), Some(1)]), None);
    }

    #[test]
    fn who_had_ended_was_created_once() {
        assert_eq!(made_once(&[Some(1)], &[Some(0), Some(0)]), [0]);
        assert_eq!(
            made_once(&[Some(0), Some(1)], &[Some(0)]),
            Vec::<i64>::new()
        );
        assert_eq!(made_once(&[Some(1)], &[None]), Vec::<i64>::new());
        assert_eq!(sentence(2, &[Some(1), Some(0)]), None);
    }
}
