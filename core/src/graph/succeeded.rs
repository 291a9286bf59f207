//! Pods whose name another one bears since: a name is free once its pod is gone, whether or not a record tells of that.

use std::collections::{HashMap, HashSet};

use whathappened_model::time::{Nanos, Stamp};

use super::EntityGraph;
use super::task::{Task, TaskKind};
use crate::symbols::Symbol;

/// Notes that pods are gone which are known from Events alone, and whose name another pod has borne since.
pub(super) fn note(graph: &mut EntityGraph) {
    let open = graph.pods.iter().filter(|pod| last_heard(pod).is_some());
    let names: HashSet<(Symbol, Symbol)> = open.map(|pod| (pod.namespace, pod.name)).collect();
    if names.is_empty() {
        return;
    }
    let mut made: HashMap<(Symbol, Symbol), Vec<(Stamp, Symbol)>> = HashMap::new();
    for pod in graph.pods.iter().filter(|pod| pod.kind == TaskKind::Pod) {
        let name = (pod.namespace, pod.name);
        let created = pod.created.filter(|_| pod.uid.is_some());
        if let Some(created) = created.filter(|_| names.contains(&name)) {
            made.entry(name).or_default().push((created, pod.uid));
        }
    }
    for pod in &mut graph.pods {
        let Some(last) = last_heard(pod) else {
            continue;
        };
        let of_name = made.get(&(pod.namespace, pod.name)).into_iter().flatten();
        let later = of_name.filter(|(made, uid)| *uid != pod.uid && made.lo >= last);
        if let Some((made, _)) = later.min() {
            pod.gone = Some(Stamp {
                lo: last,
                hi: made.hi,
            });
        }
    }
}

/// When a pod was last heard of that only Events tell of, where none tells that it is gone.
fn last_heard(pod: &Task) -> Option<Nanos> {
    let has_object = pod.kind == TaskKind::Pod && pod.uid.is_some();
    let is_open = pod.body.is_none() && pod.gone.is_none() && pod.first_asked().is_none();
    let (_, last) = pod.seen.filter(|_| has_object && is_open)?;
    Some(last)
}
