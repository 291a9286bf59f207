//! Which questions are asked, what tells most first.

use std::collections::BTreeMap;

use super::contract::{Limits, LineFilter, LineQuery, LineSubject, PodRef, Span};
use super::depth::Depth;
use crate::connector::{Entity, Scope};
use crate::time::Nanos;

/// A pod of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchedPod {
    pub(super) pod: PodRef,
    /// When it can have said something.
    pub(super) span: Span,
    /// When it died, in order.
    pub(super) moments: Vec<Nanos>,
}

/// Why lines are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReadReason {
    Whole,
    Around,
    Machines,
    Tail,
    Significant,
    Head,
    Context,
}

impl ReadReason {
    /// For people, as what was or was not read.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Whole => "all lines",
            Self::Around => "lines around deaths",
            Self::Machines => "significant lines of machines",
            Self::Tail => "last lines of pods",
            Self::Significant => "significant lines",
            Self::Head => "first lines of pods",
            Self::Context => "lines around tracebacks",
        }
    }

    /// Whether reaching the limit leaves out what was wanted; the head and the
    /// tail of a log always end somewhere.
    pub(super) fn is_meant_whole(self) -> bool {
        matches!(
            self,
            Self::Whole | Self::Around | Self::Machines | Self::Significant
        )
    }
}

/// One question, and why it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedQuery {
    pub(super) why: ReadReason,
    pub(super) query: LineQuery,
}

/// The pods of a scope within a span, those that died first at the front.
pub(super) fn watched(scope: &Scope, whole: Span) -> Vec<WatchedPod> {
    let of = |pod: &Entity| {
        let span = Span {
            from: pod.window.from.unwrap_or(whole.from),
            to: pod.window.to.unwrap_or(whole.to),
        };
        let mut moments = pod.moments.clone();
        moments.sort_unstable();
        Some(WatchedPod {
            pod: PodRef {
                namespace: pod.namespace.clone(),
                name: pod.name.clone(),
            },
            span: span.cut(whole)?,
            moments,
        })
    };
    let mut pods: Vec<WatchedPod> = scope.pods.iter().filter_map(of).collect();
    pods.sort_by(|a, b| {
        let first = |one: &WatchedPod| one.moments.first().copied().unwrap_or(Nanos::MAX);
        (first(a), &a.pod, a.span).cmp(&(first(b), &b.pod, b.span))
    });
    pods.dedup();
    pods
}

/// Pods as one question may name them, each lot with the time it spans. Pods of
/// one namespace stay together: few stores can ask for pairs.
pub(super) fn lots(pods: &[WatchedPod], limits: &Limits) -> Vec<(Vec<PodRef>, Span)> {
    let mut by_namespace: BTreeMap<&Option<String>, Vec<&WatchedPod>> = BTreeMap::new();
    for pod in pods {
        by_namespace
            .entry(&pod.pod.namespace)
            .or_default()
            .push(pod);
    }
    let mut lots = Vec::new();
    for pods in by_namespace.into_values() {
        for lot in pods.chunks(limits.pods_at_once.max(1)) {
            let from = lot.iter().map(|pod| pod.span.from).min();
            let to = lot.iter().map(|pod| pod.span.to).max();
            if let (Some(from), Some(to)) = (from, to) {
                let mut names: Vec<PodRef> = lot.iter().map(|pod| pod.pod.clone()).collect();
                names.sort();
                names.dedup();
                lots.push((names, Span { from, to }));
            }
        }
    }
    lots
}

/// All lines of everything.
pub(super) fn whole(groups: &[(LineSubject, Span)], depth: &Depth) -> Vec<PlannedQuery> {
    groups
        .iter()
        .map(|(about, span)| PlannedQuery {
            why: ReadReason::Whole,
            query: LineQuery {
                about: about.clone(),
                span: *span,
                only: LineFilter::All,
                newest: true,
                limit: depth.most_lines,
            },
        })
        .collect()
}

/// What is worth reading of pods whose logs are long.
pub(super) fn pieces(
    pods: &[WatchedPod],
    groups: &[(LineSubject, Span)],
    depth: &Depth,
    limits: &Limits,
) -> Vec<PlannedQuery> {
    let mut pieces = around(pods, depth, limits);
    let ends = pods.iter().take(depth.pods);
    pieces.extend(ends.clone().map(|pod| end(pod, depth, true)));
    for (about, span) in groups {
        pieces.push(PlannedQuery {
            why: ReadReason::Significant,
            query: LineQuery {
                about: about.clone(),
                span: *span,
                only: LineFilter::Significant,
                newest: true,
                limit: depth.evidence,
            },
        });
    }
    // Without pods there is only the whole.
    if pods.is_empty() {
        for newest in [true, false] {
            pieces.extend(groups.iter().map(|(about, span)| PlannedQuery {
                why: if newest {
                    ReadReason::Tail
                } else {
                    ReadReason::Head
                },
                query: LineQuery {
                    about: about.clone(),
                    span: *span,
                    only: LineFilter::All,
                    newest,
                    limit: if newest { depth.tail } else { depth.head } * 4,
                },
            }));
        }
    }
    pieces.extend(ends.map(|pod| end(pod, depth, false)));
    pieces
}

/// The first or last lines of one pod.
fn end(pod: &WatchedPod, depth: &Depth, newest: bool) -> PlannedQuery {
    PlannedQuery {
        why: if newest {
            ReadReason::Tail
        } else {
            ReadReason::Head
        },
        query: LineQuery {
            about: LineSubject::Pods(vec![pod.pod.clone()]),
            span: pod.span,
            only: LineFilter::All,
            newest,
            limit: if newest { depth.tail } else { depth.head },
        },
    }
}

/// What surrounds the deaths: deaths close together are one question.
fn around(pods: &[WatchedPod], depth: &Depth, limits: &Limits) -> Vec<PlannedQuery> {
    let mut moments: Vec<(Nanos, &WatchedPod)> = pods
        .iter()
        .flat_map(|pod| pod.moments.iter().map(move |at| (*at, pod)))
        .collect();
    moments.sort_by(|a, b| (a.0, &a.1.pod).cmp(&(b.0, &b.1.pod)));
    let mut pieces = Vec::new();
    let mut rest = moments.as_slice();
    while let Some((first, _)) = rest.first() {
        let reach = first.saturating_add(depth.before);
        let together = rest.iter().take_while(|(at, _)| *at <= reach).count();
        let (group, later) = rest.split_at(together);
        rest = later;
        let span = Span {
            from: first.saturating_sub(depth.before),
            to: group
                .last()
                .map_or(*first, |(at, _)| *at)
                .saturating_add(depth.after),
        };
        let dead: Vec<WatchedPod> = group.iter().map(|(_, pod)| (*pod).clone()).collect();
        for (names, _) in lots(&dead, limits) {
            let limit = depth.around.saturating_mul(names.len());
            pieces.push(PlannedQuery {
                why: ReadReason::Around,
                query: LineQuery {
                    about: LineSubject::Pods(names),
                    span,
                    only: LineFilter::All,
                    newest: true,
                    limit: limit.min(depth.most_lines),
                },
            });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::Window;
    use crate::time::SECOND;

    fn scope(deaths: &[(&str, &[i64])]) -> Scope {
        Scope {
            pods: deaths
                .iter()
                .map(|(name, moments)| Entity {
                    namespace: Some("n".to_owned()),
                    name: (*name).to_owned(),
                    moments: moments.iter().map(|at| at * SECOND).collect(),
                    window: Window {
                        from: Some(0),
                        to: Some(10_000 * SECOND),
                    },
                    ..Entity::default()
                })
                .collect(),
            ..Scope::default()
        }
    }

    const LIMITS: Limits = Limits {
        pods_at_once: 2,
        questions_at_once: 1,
        metered: true,
        lag: 0,
    };

    const WHOLE: Span = Span {
        from: 0,
        to: 20_000 * SECOND,
    };

    #[test]
    fn who_died_first_is_asked_for_first() {
        let pods = watched(&scope(&[("c", &[900]), ("a", &[500]), ("b", &[])]), WHOLE);
        let names: Vec<&str> = pods.iter().map(|pod| pod.pod.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "b"]);
        assert_eq!(pods[0].span.to, 10_000 * SECOND);
    }

    #[test]
    fn deaths_close_together_are_one_question_and_lots_are_small() {
        let pods = watched(
            &scope(&[("a", &[500]), ("b", &[560, 5_000]), ("c", &[561])]),
            WHOLE,
        );
        let pieces = around(&pods, &Depth::default(), &LIMITS);
        let emitted: Vec<(usize, i64, i64)> = pieces
            .iter()
            .map(|piece| {
                let LineSubject::Pods(pods) = &piece.query.about else {
                    panic!()
                };
                let span = piece.query.span;
                (pods.len(), span.from / SECOND, span.to / SECOND)
            })
            .collect();
        assert_eq!(emitted, [(2, 320, 621), (1, 320, 621), (1, 4_820, 5_060)]);
    }
}
