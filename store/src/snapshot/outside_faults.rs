//! What others saw at some time: counted, not named.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ListArray, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use whathappened_core::shared_fault::{OutsideFault, namespace_number};
use whathappened_model::event::{Event, EventId};
use whathappened_model::time::Nanos;

use super::{Snapshot, rows};
use crate::columns::{self, Reader, id, list};
use crate::error::StoreError;
use crate::hot;
use crate::record::{Fact, Record as _, Table};
use crate::segment::{self, Segment};

/// Others that are counted at most.
const MOST: usize = 20_000;

impl Snapshot<'_> {
    /// Troubles of dependencies that anybody told of in a window, but for the facts
    /// that are `known`. Whoever asks may not see those others: nothing of them
    /// comes out but that they are several, and which machine it was.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn faults_elsewhere(
        &self,
        window: (Nanos, Nanos),
        is_trouble: &dyn Fn(&str) -> bool,
        known: &dyn Fn(EventId) -> bool,
    ) -> Result<Vec<OutsideFault>, StoreError> {
        let mut found = Vec::new();
        let mut take = |fact: &Fact| {
            let telling = fact.event.signals.iter().find(|signal| is_trouble(signal));
            if let Some(signal) = telling
                && rows::inside(fact, window)
                && !known(fact.event.id)
            {
                found.push(elsewhere(&fact.event, signal));
            }
            found.len() >= MOST
        };
        let replaced: HashSet<(i64, u128)> = self.replaced(Table::Events)?.into_iter().collect();
        'all: for segment in self.segments(Table::Events) {
            if !segment.touches(window) {
                continue;
            }
            for fact in self.troubles_of(segment, window, is_trouble, known)? {
                if !replaced.contains(&(segment.id, fact.place().id)) && take(&fact) {
                    break 'all;
                }
            }
        }
        for hot in hot::all::<Fact>(&self.tx).map_err(self.failed())? {
            if take(&hot.row) {
                break;
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Rows of a segment that tell of a trouble and are not known. Most rows of a day are neither, so
    /// which ones these are is found in a few columns, and only they are read whole.
    fn troubles_of(
        &self,
        segment: &Segment,
        (from, to): (Nanos, Nanos),
        is_trouble: &dyn Fn(&str) -> bool,
        known: &dyn Fn(EventId) -> bool,
    ) -> Result<Vec<Fact>, StoreError> {
        let (mut numbers, mut first, mut wrong) = (Vec::new(), 0, None);
        let mut look = |batch: &RecordBatch| -> Result<(), String> {
            let read = Reader(batch);
            let (ids, signals) = (read.text("id")?, read.column::<ListArray>("signals")?);
            let (lo, hi) = (read.times("time_lo")?, read.times("time_hi")?);
            let end = read.times("end_hi")?;
            for row in 0..batch.num_rows() {
                let begins = lo.get(row).is_none_or(|lo| lo <= to);
                let ends = hi.get(row).max(end.get(row)).is_none_or(|hi| hi >= from);
                if begins
                    && ends
                    && list(signals, row).iter().any(|signal| is_trouble(signal))
                    && !known(EventId(id(ids.get(row).unwrap_or_default())?))
                    && numbers.len() < MOST
                {
                    numbers.push(first + row);
                }
            }
            first += batch.num_rows();
            Ok(())
        };
        let mut take = |batch: RecordBatch| match look(&batch) {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                wrong = Some(why);
                ControlFlow::Break(())
            }
        };
        let read = self.store.open_segment(segment).and_then(|file| {
            segment::columns::<Fact>(file, &looked_at(), &[], &mut take).map(|_| ())
        });
        self.or_noted(segment, read)?;
        if let Some(why) = wrong {
            let path = self.path(segment);
            self.or_noted(segment, Err::<(), _>(StoreError::damaged(&path, why)))?;
        }
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let file = self.store.open_segment(segment);
        let rows = file.and_then(|file| segment::at::<Fact>(file, &numbers));
        self.or_noted(segment, rows)
    }
}

/// Columns that tell whether a row is worth reading.
fn looked_at() -> SchemaRef {
    let wanted = ["id", "time_lo", "time_hi", "end_hi", "signals"];
    let schema = columns::schema();
    let fields = schema.fields().iter();
    let fields = fields.filter(|field| wanted.contains(&field.name().as_str()));
    Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
}

fn elsewhere(event: &Event, signal: &str) -> OutsideFault {
    let of = &event.entities;
    let namespace = of.namespace.as_deref().unwrap_or_default();
    let pod = of.pod.as_deref();
    let stem = pod.map(stem).or(of.workload.as_deref()).unwrap_or_default();
    OutsideFault {
        time: event.time.lo,
        signal: signal.to_owned(),
        target: event.attribute("target").map(str::to_owned),
        pod: pod.map(|pod| number(&[namespace, pod])),
        run: number(&[namespace, stem]),
        namespace: namespace_number(namespace),
        node: of.node.clone(),
    }
}

/// A pod's name without what controllers appended, an index and a hash: the pods of one
/// run are to count as one, even if those of several then do.
fn stem(pod: &str) -> &str {
    let made =
        |part: &str| part.bytes().all(|b| b.is_ascii_digit()) || matches!(part.len(), 5 | 8..=10);
    let mut stem = pod;
    while let Some((before, last)) = stem.rsplit_once('-') {
        if !made(last) || before.is_empty() {
            break;
        }
        stem = before;
    }
    stem
}

fn number(names: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    names.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_of_one_workload_have_one_stem() {
        for (pod, workload) in [
            ("embed-3-0-x2k8f", "embed"),
            ("embed-3-1-p4k7d", "embed"),
            ("llama-worker-12", "llama-worker"),
            ("serve", "serve"),
        ] {
            assert_eq!(stem(pod), workload, "{pod}");
        }
    }
}
