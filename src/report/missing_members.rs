//! Members of a gang that were never created: which they are.

use std::collections::BTreeSet;

use whathappened_core::death::DeathState;
use whathappened_core::graph::NO;
use whathappened_core::lifecycle::State;
use whathappened_core::resolve::Root;

use super::context::ReportContext;
use crate::explain::gang::Finding;

/// Ranks that are told one by one.
const TOLD: usize = 6;

impl ReportContext<'_> {
    /// Says which members of a run that has others were never created.
    pub(super) fn never_created(&self, finding: &Finding) -> Option<String> {
        let death = self.death(*finding.first.first()?)?;
        let graph = self.graph();
        let run = self.case.runs.get(finding.run)?;
        let Root::Workload(root) = run.root else {
            return None;
        };
        if death.state != DeathState::NeverCreated || death.pod != NO || run.pods.is_empty() {
            return None;
        }
        let wanted = graph.workloads.get(root as usize)?.body.as_ref()?.pods?;
        let there = run.attempts.last()?.pods.iter().filter(|pod| {
            let end = self.case.ends.get(**pod as usize);
            end.is_none_or(|end| end.state != State::Died)
        });
        let ranks = there.map(|pod| graph.pods.get(*pod as usize)?.rank);
        let ranks: Vec<Option<i32>> = ranks.collect();
        sentence(wanted, &ranks)
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
            .take(TOLD + 1)
            .collect()
    };
    let absent = known.as_ref().map(absent);
    // Other ranks than those from 0 on are of something else.
    let fits = known
        .is_some_and(|known| known.range(wanted..).next().is_none() && known.len() == there.len());
    let was = if missing == 1 { "was" } else { "were" };
    match absent.filter(|absent| fits && !absent.is_empty()) {
        Some(absent) => {
            let names: Vec<String> = absent.iter().take(TOLD).map(i64::to_string).collect();
            let more = missing - i64::try_from(names.len()).ok()?;
            let list = match (names.split_last(), more) {
                (Some((last, [])), 0) => format!("rank {last}"),
                (Some((last, first)), 0) => format!("ranks {} and {last}", first.join(", ")),
                _ => format!("ranks {} and {more} more", names.join(", ")),
            };
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
}
