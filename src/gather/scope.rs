//! What sources are asked about: the pods of a run, when they were there and
//! when they died.

use whathappened_connectors::connector::{Entity, Scope, Window};
use whathappened_connectors::time::{Nanos, SECOND};
use whathappened_core::death::deaths;
use whathappened_core::resolve::{Name, Root, Run, resolve};
use whathappened_core::world::NO;

use crate::case::Case;

/// What is said somewhat before and after a pod was there is of interest, too.
const MARGIN: Nanos = 120 * SECOND;

/// The newest run of a name: its pods in the order they died, their nodes, and
/// the time to look at. `None` where nothing bears the name.
pub(super) fn scope(case: &Case, name: &Name, now: Nanos) -> Option<(Scope, Window)> {
    let matched = resolve(&case.world, &case.runs, name);
    let number = *matched.runs.first()?;
    let run = case.runs.get(number)?;
    let world = &case.world;
    let found = deaths(world, &case.runs, &[number], &case.ends);
    let text = |sym| Some(world.name(sym).to_owned()).filter(|text| !text.is_empty());
    let mut scope = Scope {
        experiments: vec![run.experiment(world).0],
        workloads: workload(case, run).into_iter().collect(),
        ..Scope::default()
    };
    for number in &run.pods {
        let Some(pod) = world.pods.get(*number as usize) else {
            continue;
        };
        let ended = case
            .ends
            .get(*number as usize)
            .and_then(whathappened_core::life::End::final_time)
            .map(|time| time.hi)
            .filter(|time| *time != Nanos::MAX);
        let window = Window {
            from: pod.begin().map(|begin| begin.saturating_sub(MARGIN)),
            to: Some(ended.map_or(now, |ended| ended.saturating_add(MARGIN))),
        };
        let mut moments: Vec<Nanos> = found
            .iter()
            .filter(|death| death.pod == *number && death.time.lo != Nanos::MIN)
            .map(|death| death.time.lo)
            .collect();
        moments.sort_unstable();
        moments.dedup();
        if let Some(node) = text(pod.node) {
            scope.nodes.push(Entity {
                name: node,
                window,
                ..Entity::default()
            });
        }
        scope.pods.push(Entity {
            namespace: text(pod.namespace),
            name: world.name(pod.name).to_owned(),
            uid: text(pod.uid),
            window,
            moments,
        });
    }
    let from = scope.pods.iter().filter_map(|pod| pod.window.from).min();
    let to = scope.pods.iter().filter_map(|pod| pod.window.to).max();
    let from = from.or(run.begin.map(|begin| begin.saturating_sub(MARGIN)));
    Some((
        scope,
        Window {
            from,
            to: to.or(Some(now)),
        },
    ))
}

fn workload(case: &Case, run: &Run) -> Option<(String, Entity)> {
    if !matches!(run.root, Root::Workload(root) if root != NO) {
        return None;
    }
    let (uid, kind, namespace, name) = run.names(&case.world);
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let entity = Entity {
        namespace: text(namespace),
        name: name.to_owned(),
        uid: text(uid),
        ..Entity::default()
    };
    Some((kind.to_owned(), entity))
}
