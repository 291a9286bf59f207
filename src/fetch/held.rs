//! What a store holds beside the rows of a question: which sources were heard of at that time, and
//! until when those told that would have told of this. So a question over a store speaks from the
//! same moment, and of the same sources, as one over the files that were imported.

use std::collections::BTreeSet;

use whathappened_model::coverage::{Coverage, Mode, Status};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_store::{Heard, Root, ScopedRows, Snapshot};

use crate::case::StoreExtent;
use crate::error::Error;

/// A recording begins somewhat before a run, and goes on after it.
const BEFORE: Nanos = 3_600 * SECOND;
const AFTER: Nanos = 86_400 * SECOND;

/// Of a source that was silent for this long nobody knows that it would have told of a run of before.
const GAP: Nanos = 7 * 86_400 * SECOND;

/// What is held beside some rows.
pub(super) fn beside(found: &ScopedRows) -> StoreExtent {
    let clusters = found.clusters();
    let near = near(found.window);
    let sources = sources(&found.heard, &clusters, near);
    let own = own_sources(found);
    let relevant = found.heard.iter().filter(|one| {
        let is_near = own.contains(&one.source) || touches(one, near);
        one.is_dated && is_of(&clusters, one) && is_near
    });
    let last = last(found);
    let of_cluster = |one: &&Heard| {
        let is_own = match clusters.is_empty() {
            true => one.cluster.is_empty(),
            false => clusters.contains(&one.cluster),
        };
        one.source == SourceKind::Kubernetes && one.is_dated && is_own
    };
    StoreExtent {
        known_until: last.map(|last| until(last, relevant)),
        cluster_until: last.and_then(|last| {
            let mut heard = found.heard.iter().filter(of_cluster).peekable();
            heard.peek().is_some().then(|| until(last, heard))
        }),
        sources,
    }
}

/// When the pods of a run's cluster were listed last: that nothing of them is told since is known until then.
pub(super) fn listed(coverage: &[Coverage], found: &ScopedRows) -> Option<Nanos> {
    let clusters = found.clusters();
    let lists = coverage.iter().filter(|row| {
        let cluster = row.cluster.as_ref();
        row.resource == "pods"
            && (row.status, row.mode) == (Status::Complete, Mode::Snapshot)
            && cluster.is_some_and(|cluster| clusters.contains(cluster))
    });
    lists.filter_map(|row| row.got_to).max()
}

/// The sources and resources that were heard of in a window.
pub(super) fn sources(
    heard: &[Heard],
    clusters: &BTreeSet<String>,
    window: (Nanos, Nanos),
) -> BTreeSet<(&'static str, String)> {
    heard
        .iter()
        .filter(|one| one.resource != "objects" && touches(one, window) && is_of(clusters, one))
        .map(|one| (one.source.as_str(), one.resource.clone()))
        .collect()
}

/// What each source of a store told, as rows of coverage: imports, webhooks and collectors alike.
///
/// # Errors
/// When the store cannot be read.
pub fn held_sources(snapshot: &Snapshot<'_>) -> Result<Vec<Coverage>, Error> {
    let mut rows: Vec<Coverage> = Vec::new();
    let mut heard = snapshot.heard()?;
    heard.retain(|one| one.resource != "objects");
    heard.sort_by(|a, b| {
        let place = |one: &Heard| (one.source, one.resource.clone(), one.cluster.clone());
        place(a).cmp(&place(b))
    });
    for one in &heard {
        let cluster = Some(one.cluster.clone()).filter(|cluster| !cluster.is_empty());
        let known = rows.last_mut().filter(|row| {
            (&*row.source, &*row.resource, &row.cluster)
                == (one.source.as_str(), &*one.resource, &cluster)
        });
        match known {
            Some(row) => {
                row.got_from = row.got_from.min(Some(one.from));
                row.got_to = row.got_to.max(Some(one.to));
            }
            None => rows.push(Coverage {
                cluster,
                got_from: Some(one.from),
                got_to: Some(one.to),
                detail: Some("in the store; its records are not counted by source".to_owned()),
                ..Coverage::new(one.source.as_str(), &one.resource)
            }),
        }
    }
    Ok(rows)
}

/// Until when the clusters of a store told something of themselves, from each moment on without a long
/// silence: the end of what is known of a run that was there then.
#[derive(Clone, Debug, Default)]
pub struct ClusterHours {
    /// Stretches of time with long silences between, in order: a store has tens of thousands of runs, and
    /// each of them is looked up.
    spans: Vec<(Nanos, Nanos)>,
}

impl ClusterHours {
    /// Of a store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(snapshot: &Snapshot<'_>) -> Result<Self, Error> {
        let mut heard = snapshot.heard()?;
        heard.retain(|one| one.source == SourceKind::Kubernetes && one.is_dated);
        Ok(Self::of_heard(&heard))
    }

    /// Where several clusters are known, nobody can say of which one something was, and it counts itself.
    fn of_heard(heard: &[Heard]) -> Self {
        let mut clusters: BTreeSet<&str> = heard.iter().map(|one| &*one.cluster).collect();
        // What objects say has no cluster, and is told by facts of one as well.
        if clusters.len() > 1 {
            clusters.remove("");
        }
        if clusters.len() > 1 {
            return Self::default();
        }
        let own = heard.iter().filter(|one| clusters.contains(&*one.cluster));
        let mut own: Vec<(Nanos, Nanos)> = own.map(|one| (one.from, one.to)).collect();
        own.sort_unstable();
        let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
        for (from, to) in own {
            match spans.last_mut() {
                Some(last) if from <= last.1.saturating_add(GAP) => last.1 = last.1.max(to),
                _ => spans.push((from, to)),
            }
        }
        Self { spans }
    }

    /// Until when it is known that a run of the store was there.
    #[must_use]
    pub fn of_run(&self, root: &Root) -> Nanos {
        // Nobody watches these as a cluster is watched.
        let is_elsewhere = matches!(
            root.kind.as_str(),
            "Experiment" | "Gang" | "Instance" | "InstanceGroup" | "Log" | "SlurmJob"
        );
        if is_elsewhere {
            return root.last;
        }
        self.until(root.last)
    }

    /// Until when what was heard of last at this moment was looked at.
    fn until(&self, last: Nanos) -> Nanos {
        self.spans.iter().fold(last, |until, (from, to)| {
            if *from <= until.saturating_add(GAP) {
                until.max(*to)
            } else {
                until
            }
        })
    }
}

/// The end of what is told from a moment on without a long silence. Days come in any order.
fn until<'a>(last: Nanos, heard: impl Iterator<Item = &'a Heard>) -> Nanos {
    let mut heard: Vec<&Heard> = heard.collect();
    heard.sort_by_key(|one| one.from);
    heard.into_iter().fold(last, |until, one| {
        if one.from <= until.saturating_add(GAP) {
            until.max(one.to)
        } else {
            until
        }
    })
}

/// When records of what lived may have been told.
fn near((first, last): (Nanos, Nanos)) -> (Nanos, Nanos) {
    (first.saturating_sub(BEFORE), last.saturating_add(AFTER))
}

fn touches(one: &Heard, (from, to): (Nanos, Nanos)) -> bool {
    one.from <= to && one.to >= from
}

/// Whether a source may have told of what is in some clusters.
fn is_of(clusters: &BTreeSet<String>, one: &Heard) -> bool {
    one.cluster.is_empty() || clusters.is_empty() || clusters.contains(&one.cluster)
}

/// The sources that told of this.
fn own_sources(found: &ScopedRows) -> BTreeSet<SourceKind> {
    let facts = found.facts.iter().flat_map(|fact| fact.seen_by.iter());
    let mut own: BTreeSet<SourceKind> = facts.copied().collect();
    own.extend(
        found
            .objects
            .iter()
            .map(|object| object.version.source_kind),
    );
    own
}

/// When this was told of last.
fn last(found: &ScopedRows) -> Option<Nanos> {
    let facts = found.facts.iter().map(|fact| &fact.event);
    let facts = facts
        .filter(|event| event.time.lo != Nanos::MIN && event.time.hi != Nanos::MAX)
        .filter(|event| {
            // A clock whose zone nobody knows may be hours wrong.
            let inferred = event.attribute("time_inferred");
            !(event.fact == "node.log" && matches!(inferred, Some("year" | "zone")))
        })
        .map(|event| event.time.lo);
    let objects = found
        .objects
        .iter()
        .filter_map(|object| object.version.at)
        .filter(|at| *at != Stamp::OPEN)
        .map(|at| at.lo);
    facts.chain(objects).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Nanos = 86_400 * SECOND;

    fn heard(cluster: &str, from: Nanos, to: Nanos) -> Heard {
        Heard {
            source: SourceKind::Kubernetes,
            resource: "pods".to_owned(),
            cluster: cluster.to_owned(),
            from: from * DAY,
            to: to * DAY,
            is_dated: true,
        }
    }

    #[test]
    fn a_cluster_is_known_of_until_it_fell_silent() {
        let all = [
            heard("a", 40, 41),
            heard("a", 0, 1),
            heard("", 5, 9),
            heard("a", 7, 8),
            heard("a", 100, 101),
        ];
        let hours = ClusterHours::of_heard(&all);
        let until = |day: Nanos| hours.until(day * DAY) / DAY;
        assert_eq!((until(0), until(3), until(20)), (8, 8, 20));
        // As by going through all of it for each.
        for day in 0..120 {
            let own = all.iter().filter(|one| one.cluster == "a");
            assert_eq!(
                hours.until(day * DAY),
                super::until(day * DAY, own),
                "{day}"
            );
        }
        let two = ClusterHours::of_heard(&[heard("a", 0, 1), heard("b", 1, 2)]);
        assert_eq!(two.until(0), 0);
        assert_eq!(ClusterHours::default().until(5), 5);
    }
}
