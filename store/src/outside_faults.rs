//! What others saw at some time: counted, not named.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;

use whathappened_core::shared_fault::{OutsideFault, namespace_number};
use whathappened_model::event::Event;
use whathappened_model::time::Nanos;

use crate::error::StoreError;
use crate::record::Fact;
use crate::snapshot::Snapshot;

/// Others that are counted at most.
const MOST: usize = 20_000;

impl Snapshot<'_> {
    /// Troubles of dependencies that anybody told of in a window, but for the facts
    /// that are `known`. Whoever asks may not see those others: nothing of them
    /// comes out but that they are several, and which machine it was.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn troubles_elsewhere(
        &self,
        window: (Nanos, Nanos),
        is_trouble: &dyn Fn(&str) -> bool,
        known: &dyn Fn(&Fact) -> bool,
    ) -> Result<Vec<OutsideFault>, StoreError> {
        let mut found = Vec::new();
        self.unguarded::<Fact>(window, &[], &mut |fact| {
            let telling = fact.event.signals.iter().find(|signal| is_trouble(signal));
            if let Some(signal) = telling
                && !known(&fact)
            {
                found.push(elsewhere(&fact.event, signal));
            }
            if found.len() < MOST {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        found.sort();
        found.dedup();
        Ok(found)
    }
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
