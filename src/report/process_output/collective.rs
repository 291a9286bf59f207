//! The collective that ranks waited in, and who did not come.

use std::collections::BTreeSet;

use whathappened_core::evidence::SpillError;
use whathappened_model::time::rfc3339;

use super::super::record::reported;
use super::{AttemptLogs, number, numbers};
use crate::answer::Collective;

/// Records that an answer names.
const NAMED: usize = 8;

/// Signals whose records name ranks that others waited for.
const NAMES: [(&str, &str); 4] = [
    ("nccl.rank_missing", "missing_rank"),
    ("nccl.rank_missing", "rank"),
    ("nccl.no_dump", "rank"),
    ("jax.barrier_timeout", "missing_rank"),
];

impl AttemptLogs<'_> {
    /// The collective, where any rank says that it waited in one.
    pub(super) fn collective(&self) -> Result<Option<Collective>, SpillError> {
        let mut waiting = BTreeSet::new();
        let mut ids = Vec::new();
        let mut since = None;
        let (mut op, mut seq) = (None, None);
        let mut ops = BTreeSet::new();
        for fact in self.facts("nccl.timeout") {
            let event = self.event(fact)?;
            let rank = event
                .rank
                .or_else(|| numbers(&event, "rank").first().copied())
                .or_else(|| self.rank_of(fact.pod));
            waiting.extend(rank);
            // The operation is that of the first report; later ones follow from it.
            if ids.is_empty() {
                op = event.attribute("op").map(str::to_owned);
                seq = number(&event, "seq");
            }
            if number(&event, "seq") == seq {
                ops.extend(event.attribute("op").map(str::to_owned));
            }
            let waited = number(&event, "ran_ms").or_else(|| number(&event, "timeout_ms"));
            if let (Some(waited), Some(time)) = (waited, reported(fact.time)) {
                let began = time.lo.saturating_sub(waited.saturating_mul(1_000_000));
                since = Some(since.map_or(began, |earlier: i64| earlier.min(began)));
            }
            ids.push(event.id.to_string());
        }
        // At one place of one group each was in another one.
        if self.facts("nccl.mismatch").next().is_some() && ops.len() > 1 {
            op = Some(ops.into_iter().collect::<Vec<_>>().join(" and "));
        }
        let (missing, by_content) = self.missing(&waiting)?;
        if waiting.is_empty() && missing.is_empty() {
            return Ok(None);
        }
        let by = if by_content { "content" } else { "elimination" };
        ids.truncate(NAMED);
        Ok(Some(Collective {
            op,
            seq,
            since: since.map(rfc3339),
            waiting: waiting.into_iter().collect(),
            missing_by: (!missing.is_empty()).then(|| by.to_owned()),
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
        let few = !waiting.is_empty() && absent.len() < waiting.len();
        Ok((if few { absent } else { BTreeSet::new() }, false))
    }
}
