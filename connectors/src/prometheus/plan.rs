//! What is worth asking for: who, and around which times.

use std::collections::BTreeMap;

use super::emit::DeathTimes;
use crate::connector::{Entity, FetchRequest};
use crate::log_store::Span;
use crate::time::{Nanos, SECOND};

/// How long before a death its machine is looked at: a fault may show in a
/// collective's timeout, ten minutes later and more.
const BEFORE: Nanos = 1_200 * SECOND;

/// How long after a death its machine is looked at: it may start anew.
const AFTER: Nanos = 900 * SECOND;

/// The same for pods, whose series end with them.
const BEFORE_POD: Nanos = 660 * SECOND;
const AFTER_POD: Nanos = 120 * SECOND;

/// The longest stretch that is asked for at once.
const LONGEST: Nanos = 7_200 * SECOND;

/// Stretches of time that are looked at.
const MOST_SPANS: usize = 16;

/// Machines that are looked at.
const MOST_NODES: usize = 1_024;

/// Machines of which everything is asked: those where something died first.
pub(super) const IN_DETAIL: usize = 32;

/// Pods that are looked at.
const MOST_PODS: usize = 1_024;

/// Where nothing died, the end of the time is looked at.
const TAIL: Nanos = 3_600 * SECOND;

/// Names that are looked at together, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryWindow {
    pub(super) span: Span,
    /// By the first death, then by name.
    pub(super) names: Vec<String>,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) nodes: Vec<QueryWindow>,
    pub(super) pods: Vec<QueryWindow>,
    pub(super) moments: DeathTimes,
    /// Machines, pods and times that are left out.
    pub(super) left_out: Vec<String>,
}

/// Makes the plan of a question.
pub(super) fn plan(fetch_request: &FetchRequest) -> Plan {
    let mut plan = Plan::default();
    let to = fetch_request
        .window
        .to
        .unwrap_or(fetch_request.now)
        .min(fetch_request.now);
    let tail = Span {
        from: fetch_request
            .window
            .from
            .unwrap_or(Nanos::MIN)
            .max(to - TAIL)
            .min(to),
        to,
    };
    let mut nodes: BTreeMap<String, Vec<Nanos>> = BTreeMap::new();
    for node in &fetch_request.scope.nodes {
        nodes
            .entry(node.name.clone())
            .or_default()
            .extend(&node.moments);
    }
    for instance in &fetch_request.scope.instances {
        nodes
            .entry(instance.name.clone())
            .or_default()
            .extend(&instance.moments);
    }
    let mut pods: BTreeMap<String, Vec<Nanos>> = BTreeMap::new();
    for pod in &fetch_request.scope.pods {
        pods.entry(pod.name.clone())
            .or_default()
            .extend(&pod.moments);
        let own = plan.moments.pods.entry(key(pod)).or_default();
        own.extend(&pod.moments);
        settle(own);
    }
    nodes.values_mut().chain(pods.values_mut()).for_each(settle);
    plan.moments.nodes.clone_from(&nodes);
    // Where nothing died, the present state is of interest.
    let quiet = nodes.values().chain(pods.values()).all(Vec::is_empty);
    for (kind, all, most, around, out) in [
        (
            "machines",
            nodes,
            MOST_NODES,
            (BEFORE, AFTER),
            &mut plan.nodes,
        ),
        (
            "pods",
            pods,
            MOST_PODS,
            (BEFORE_POD, AFTER_POD),
            &mut plan.pods,
        ),
    ] {
        let (stretches, without, later) = stretches(all, most, around, quiet.then_some(tail));
        *out = stretches;
        if without > 0 {
            plan.left_out
                .push(format!("{without} more {kind} were not checked"));
        }
        if later > 0 {
            plan.left_out
                .push(format!("{later} later times of {kind} were not checked"));
        }
    }
    for stretch in plan.nodes.iter_mut().chain(&mut plan.pods) {
        stretch.span.to = stretch.span.to.min(fetch_request.now);
    }
    plan.nodes.retain(|one| one.span.from < one.span.to);
    plan.pods.retain(|one| one.span.from < one.span.to);
    plan
}

fn key(pod: &Entity) -> (String, String) {
    (pod.namespace.clone().unwrap_or_default(), pod.name.clone())
}

fn settle(moments: &mut Vec<Nanos>) {
    moments.sort_unstable();
    moments.dedup();
}

/// Stretches around moments; those that overlap are one. Also how many names
/// and how many stretches were left out.
fn stretches(
    all: BTreeMap<String, Vec<Nanos>>,
    most: usize,
    (before, after): (Nanos, Nanos),
    tail: Option<Span>,
) -> (Vec<QueryWindow>, usize, usize) {
    let mut named: Vec<(Nanos, String, Vec<Nanos>)> = all
        .into_iter()
        .filter(|(_, moments)| tail.is_some() || !moments.is_empty())
        .map(|(name, moments)| {
            (
                moments.first().copied().unwrap_or(Nanos::MAX),
                name,
                moments,
            )
        })
        .collect();
    named.sort();
    let without = named.len().saturating_sub(most);
    named.truncate(most);
    if let Some(span) = tail {
        let names: Vec<String> = named.into_iter().map(|(_, name, _)| name).collect();
        let stretch = QueryWindow { span, names };
        let some = !stretch.names.is_empty();
        return (some.then_some(stretch).into_iter().collect(), without, 0);
    }
    let mut moments: Vec<(Nanos, &String)> = named
        .iter()
        .flat_map(|(_, name, moments)| moments.iter().map(move |at| (*at, name)))
        .collect();
    moments.sort();
    let mut found: Vec<QueryWindow> = Vec::new();
    for (at, name) in moments {
        let span = Span {
            from: at.saturating_sub(before),
            to: at.saturating_add(after),
        };
        match found.last_mut() {
            Some(last) if span.from <= last.span.to && span.to - last.span.from <= LONGEST => {
                last.span.to = span.to;
                if !last.names.contains(name) {
                    last.names.push(name.clone());
                }
            }
            _ => found.push(QueryWindow {
                span,
                names: vec![name.clone()],
            }),
        }
    }
    let later = found.len().saturating_sub(MOST_SPANS);
    // The latest ones are those that somebody asks about.
    found.drain(..later);
    (found, without, later)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::connector::{Scope, Window};

    fn fetch_request(scope: Scope, now: i64) -> FetchRequest {
        FetchRequest {
            scope,
            window: Window::default(),
            now: now * SECOND,
            deadline: Instant::now() + Duration::from_secs(1),
        }
    }

    fn entity(name: &str, moments: &[i64]) -> Entity {
        Entity {
            name: name.to_owned(),
            moments: moments.iter().map(|at| at * SECOND).collect(),
            ..Entity::default()
        }
    }

    #[test]
    fn deaths_near_one_another_are_looked_at_together() {
        let scope = Scope {
            nodes: vec![
                entity("b", &[10_000]),
                entity("a", &[10_060]),
                entity("a", &[40_000]),
                entity("idle", &[]),
            ],
            ..Scope::default()
        };
        let plan = plan(&fetch_request(scope, 100_000));
        let emitted: Vec<(i64, i64, Vec<String>)> = plan
            .nodes
            .iter()
            .map(|one| {
                (
                    one.span.from / SECOND,
                    one.span.to / SECOND,
                    one.names.clone(),
                )
            })
            .collect();
        assert_eq!(
            emitted,
            [
                (8_800, 10_960, vec!["b".to_owned(), "a".to_owned()]),
                (38_800, 40_900, vec!["a".to_owned()])
            ]
        );
        assert!(plan.left_out.is_empty());
    }

    #[test]
    fn where_nothing_died_the_end_is_looked_at_and_never_the_future() {
        let scope = Scope {
            nodes: vec![entity("a", &[])],
            ..Scope::default()
        };
        let quiet = plan(&fetch_request(scope, 50_000));
        assert_eq!(quiet.nodes[0].span.to, 50_000 * SECOND);
        assert_eq!(quiet.nodes[0].span.from, 46_400 * SECOND);
        let scope = Scope {
            nodes: vec![entity("a", &[49_990])],
            ..Scope::default()
        };
        assert_eq!(
            plan(&fetch_request(scope, 50_000)).nodes[0].span.to,
            50_000 * SECOND
        );
    }

    #[test]
    fn what_is_too_much_is_said() {
        let nodes = (0..1_030).map(|n| entity(&format!("n{n:04}"), &[10_000 + n]));
        let scope = Scope {
            nodes: nodes.collect(),
            ..Scope::default()
        };
        let plan = plan(&fetch_request(scope, 100_000));
        assert_eq!(plan.nodes[0].names.len(), 1_024);
        assert_eq!(plan.left_out, ["6 more machines were not checked"]);
    }
}
