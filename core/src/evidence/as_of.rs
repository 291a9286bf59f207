//! Evidence as it was known at an earlier moment.

use std::sync::Arc;

use whathappened_model::object::ObjectBody;
use whathappened_model::time::{Nanos, Stamp};

use super::{Evidence, Objects, SpillError, Version};

/// What an object says of itself once it is over.
const FINAL: [&str; 2] = ["Succeeded", "Failed"];

impl Evidence {
    /// What was known at a moment, and how many facts and versions came after it. A fact
    /// that began before and went on is cut there; an object of which only a later version
    /// is at hand counts as it was made.
    ///
    /// # Errors
    /// When facts cannot be read back or kept.
    pub fn as_of(&self, moment: Nanos) -> Result<(Self, u64), SpillError> {
        let mut known = Self::default();
        let mut later = 0;
        for (number, row) in self.rows.numbered() {
            // What has no beginning was there already.
            if row.time.lo > moment {
                later += 1;
                continue;
            }
            let mut event = self.event(number)?;
            if event.end.is_some_and(|end| end.lo > moment) {
                event.end = None;
                event.count = None;
            }
            let seen_by: Vec<_> = row.seen_by().collect();
            known.add_seen(&event, &seen_by)?;
        }
        later += self.objects.as_of(moment, &mut known.objects);
        Ok((known, later))
    }
}

impl Objects {
    /// Hands on the versions of a moment; gives how many are later.
    fn as_of(&self, moment: Nanos, known: &mut Self) -> u64 {
        let mut left_out = 0;
        for (key, versions) in &self.versions {
            let last = versions.iter().filter(|one| !one.deleted);
            let last = last.filter_map(|one| one.at).max();
            // A watch that was recorded does not say when an object went, if its end was not asked for
            // before: the object is as it was last changed.
            let is_undated = |one: &Version| {
                let asked = one.body.deletion_requested;
                one.deleted && one.at <= last && asked.is_none_or(|asked| asked.lo > moment)
            };
            let is_later = |version: &&Version| {
                version.at.is_some_and(|at| at.lo > moment) || is_undated(version)
            };
            let there: Vec<&Version> = versions.iter().filter(|one| !is_later(one)).collect();
            left_out += (versions.len() - there.len()) as u64;
            let mut kept: Vec<Version> = there.into_iter().map(|one| cut(one, moment)).collect();
            if kept.is_empty() {
                let made = versions.first().filter(|one| {
                    let created = one.body.created;
                    created.is_some_and(|created| created.lo <= moment)
                });
                kept.extend(made.map(|one| as_made(one, moment)));
            }
            if !kept.is_empty() {
                known.versions.insert(key.clone(), kept);
                known.read += 1;
            }
        }
        left_out
    }
}

/// A version without the times in it that were still to come.
fn cut(version: &Version, moment: Nanos) -> Version {
    let mut body = ObjectBody::clone(&version.body);
    let came = |stamp: &mut Option<Stamp>| {
        let is_later = stamp.is_some_and(|at| at.lo > moment);
        if is_later {
            *stamp = None;
        }
        is_later
    };
    came(&mut body.deletion_requested);
    let has_not_started = came(&mut body.started);
    let has_not_ended = came(&mut body.ended);
    if has_not_ended
        && body
            .phase
            .as_deref()
            .is_some_and(|phase| FINAL.contains(&phase))
    {
        let phase = if has_not_started {
            "Pending"
        } else {
            "Running"
        };
        body.phase = Some(phase.to_owned());
    }
    Version {
        body: Arc::new(body),
        ..version.clone()
    }
}

/// What a later version tells of how its object was made: nothing of how it went.
fn as_made(version: &Version, moment: Nanos) -> Version {
    let mut made = cut(version, moment);
    let mut body = ObjectBody::clone(&made.body);
    let begun = body.started.is_some();
    body.phase = body
        .phase
        .map(|_| if begun { "Running" } else { "Pending" }.to_owned());
    body.waits.clear();
    body.restarts.clear();
    body.boot_id = None;
    body.unschedulable = false;
    body.unschedulable_by = None;
    body.taints
        .retain(|taint| taint.added.is_some_and(|added| added.lo <= moment));
    made.at = body.created;
    made.deleted = false;
    made.body = Arc::new(body);
    made
}

#[cfg(test)]
mod tests {
    use whathappened_model::event::{Event, EventId, Origin, SourceKind};
    use whathappened_model::object::{ObjectKey, ObjectVersion};
    use whathappened_model::time::SECOND;

    use super::*;

    fn at(second: i64) -> Stamp {
        Stamp {
            lo: second * SECOND,
            hi: (second + 1) * SECOND,
        }
    }

    #[test]
    fn what_came_later_is_not_known() {
        let mut evidence = Evidence::default();
        for second in [10, 20, 30] {
            let event = Event {
                end: Some(at(40)),
                ..Event::new(
                    EventId::of(&[&second.to_string()]),
                    "k8s.event",
                    at(second),
                    SourceKind::Kubernetes,
                )
            };
            evidence.add(&event).unwrap();
        }
        let body = ObjectBody {
            created: Some(at(5)),
            started: Some(at(8)),
            ended: Some(at(30)),
            phase: Some("Failed".to_owned()),
            ..ObjectBody::default()
        };
        let key = ObjectKey {
            kind: "Pod".to_owned(),
            name: "a".to_owned(),
            ..ObjectKey::default()
        };
        evidence.objects.add(ObjectVersion {
            key,
            revision: None,
            at: Some(at(30)),
            deleted: false,
            by: None,
            body,
            source_kind: SourceKind::Kubernetes,
            origin: Origin::default(),
        });
        evidence.settle().unwrap();
        let (known, later) = evidence.as_of(20 * SECOND).unwrap();
        assert_eq!((known.rows().len(), later), (2, 2));
        assert!(known.rows().iter().all(|row| row.end.is_none()));
        let (_, versions) = known.objects.iter().next().unwrap();
        assert_eq!(versions[0].body.phase.as_deref(), Some("Running"));
        assert_eq!(versions[0].body.ended, None);
        let (known, _) = evidence.as_of(SECOND).unwrap();
        assert!(known.rows().is_empty() && known.objects.is_empty());
    }

    #[test]
    fn a_deletion_of_an_unknown_time_came_later() {
        let mut evidence = Evidence::default();
        for deleted in [false, true] {
            evidence.objects.add(ObjectVersion {
                key: ObjectKey {
                    kind: "Job".to_owned(),
                    name: "run-1".to_owned(),
                    ..ObjectKey::default()
                },
                revision: None,
                at: Some(at(10)),
                deleted,
                by: None,
                body: ObjectBody {
                    created: Some(at(5)),
                    ..ObjectBody::default()
                },
                source_kind: SourceKind::Kubernetes,
                origin: Origin::default(),
            });
        }
        evidence.settle().unwrap();
        let (known, later) = evidence.as_of(20 * SECOND).unwrap();
        let (_, versions) = known.objects.iter().next().unwrap();
        assert_eq!((versions.len(), later), (1, 1));
        assert!(!versions[0].deleted);
    }
}
