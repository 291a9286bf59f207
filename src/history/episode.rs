//! Records of one fault are one episode.

use whathappened_model::event::EventId;
use whathappened_model::time::{Nanos, SECOND};

use super::fault_record::FaultRecord;
use crate::answer::Gpu;

/// Records of one fault come within this long of the one before.
pub(super) const ONE_FAULT: Nanos = 3_600 * SECOND;

/// A fault that nobody mended may be told again this long after.
const UNMENDED: Nanos = 86_400 * SECOND;

/// Records that are named.
const MOST_IDS: usize = 8;

/// One fault of one machine.
#[derive(Clone, Debug)]
pub(super) struct Episode {
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    pub(super) cause: String,
    pub(super) what: Option<String>,
    pub(super) gpu: Option<Gpu>,
    rank: i64,
    ids: Vec<EventId>,
    known: Vec<(String, Option<Gpu>)>,
}

impl Episode {
    fn new(mark: &FaultRecord) -> Self {
        Self {
            first: mark.time,
            last: mark.time,
            cause: mark.cause.clone(),
            what: mark.what.clone(),
            gpu: mark.gpu.clone(),
            rank: mark.rank,
            ids: mark.id.into_iter().collect(),
            known: vec![(mark.cause.clone(), mark.gpu.clone())],
        }
    }

    /// Soon after, or the same again while nobody has mended it.
    fn takes(&self, mark: &FaultRecord, mended: &[Nanos]) -> bool {
        let gap = mark.time.saturating_sub(self.last);
        if gap <= ONE_FAULT {
            return true;
        }
        let again = self.known.contains(&(mark.cause.clone(), mark.gpu.clone()));
        let between = |at: &Nanos| self.last <= *at && *at <= mark.time;
        again && gap <= UNMENDED && !mended.iter().any(between)
    }

    fn push(&mut self, mark: &FaultRecord) {
        self.last = self.last.max(mark.time);
        if mark.rank > self.rank {
            self.rank = mark.rank;
            self.cause.clone_from(&mark.cause);
            self.what = mark.what.clone().or(self.what.take());
            self.gpu = mark.gpu.clone().or(self.gpu.take());
        }
        self.what = self.what.take().or_else(|| mark.what.clone());
        self.gpu = self.gpu.take().or_else(|| mark.gpu.clone());
        self.ids.extend(mark.id.filter(|id| !self.ids.contains(id)));
        let known = (mark.cause.clone(), mark.gpu.clone());
        if !self.known.contains(&known) {
            self.known.push(known);
        }
    }

    /// How many records report it.
    pub(super) fn records(&self) -> usize {
        self.ids.len()
    }

    /// The first of them.
    pub(super) fn ids(&self) -> Vec<String> {
        let first = self.ids.iter().take(MOST_IDS);
        first.map(ToString::to_string).collect()
    }

    /// Whether a time belongs to it.
    pub(super) fn holds(&self, at: Nanos) -> bool {
        self.first.saturating_sub(ONE_FAULT) <= at && at <= self.last.saturating_add(ONE_FAULT)
    }
}

/// The episodes of one machine, of its records in order of time and of when it
/// was mended.
pub(super) fn episodes<'m>(
    marks: impl Iterator<Item = &'m FaultRecord>,
    mended: &[Nanos],
) -> Vec<Episode> {
    let mut found: Vec<Episode> = Vec::new();
    for mark in marks {
        match found.last_mut() {
            Some(last) if last.takes(mark, mended) => last.push(mark),
            _ => found.push(Episode::new(mark)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(hours: i64, cause: &str, pci: &str) -> FaultRecord {
        FaultRecord {
            time: hours * 3_600 * SECOND,
            id: Some(EventId::of(&[cause, pci, &hours.to_string()])),
            node: "gpu-1".to_owned(),
            instance: None,
            cause: cause.to_owned(),
            rank: 1,
            what: None,
            gpu: Some(Gpu {
                pci: Some(pci.to_owned()),
                ..Gpu::default()
            }),
        }
    }

    fn count(marks: &[FaultRecord], mended: &[i64]) -> usize {
        let mended: Vec<Nanos> = mended.iter().map(|hours| hours * 3_600 * SECOND).collect();
        episodes(marks.iter(), &mended).len()
    }

    #[test]
    fn records_of_one_fault_count_once() {
        let near = [mark(0, "hw.gpu", "a"), mark(1, "hw.nvlink_fabric", "b")];
        assert_eq!(count(&near, &[]), 1);
        let again = [mark(0, "hw.gpu", "a"), mark(20, "hw.gpu", "a")];
        assert_eq!(count(&again, &[]), 1, "the same GPU is still lost");
        assert_eq!(count(&again, &[10]), 2, "it was started anew between");
        let other = [mark(0, "hw.gpu", "a"), mark(20, "hw.gpu", "b")];
        assert_eq!(count(&other, &[]), 2, "another GPU");
        let later = [mark(0, "hw.gpu", "a"), mark(30, "hw.gpu", "a")];
        assert_eq!(count(&later, &[]), 2, "another day");
    }

    #[test]
    fn what_was_explained_names_the_episode() {
        let mut explained = mark(0, "node.not_ready", "a");
        (explained.rank, explained.gpu, explained.id) = (1_000, None, None);
        let records = [mark(0, "hw.gpu", "a"), explained];
        let found = episodes(records.iter(), &[]);
        assert_eq!(found[0].cause, "node.not_ready");
        assert_eq!((found[0].records(), found[0].gpu.is_some()), (1, true));
    }
}
