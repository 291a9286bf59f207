//! Containers beside the one that trains.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_model::object::Container;

/// The container that a death is of, where it is not the one that trains: one beside that, or one that prepares the pod.
pub(super) fn other_container(graph: &EntityGraph, end: &Death, pod: &Task) -> Option<String> {
    if let Some(name) = helper(graph, end, pod) {
        return Some(format!("container {name}"));
    }
    let mut exits = pod.exits.iter();
    let prepares = exits.any(|exit| exit.init && exit.container == end.container);
    let name = graph.name(end.container);
    (prepares && !name.is_empty()).then(|| format!("init container {name}"))
}

/// The container that a death is of, where the pod went on without it and has another that works, or that one
/// had done its work: it is one of those beside what trains.
fn helper<'a>(graph: &'a EntityGraph, end: &Death, pod: &Task) -> Option<&'a str> {
    let body = pod.body.as_ref()?;
    let name = graph.name(end.container);
    let wants_gpus = |container: &&Container| {
        let asked = container.limits.keys().chain(container.requests.keys());
        asked.into_iter().any(|one| one.ends_with("/gpu"))
    };
    let mut working = body.containers.iter().filter(wants_gpus);
    let is_there = body.containers.iter().any(|one| one.name == name);
    let is_other = match (working.next(), end.state) {
        (Some(one), DeathState::Restarted) => {
            one.name != name && working.all(|other| other.name != name)
        }
        // What trained had ended well.
        (Some(one), DeathState::Died) => {
            let mut all = std::iter::once(one).chain(working);
            all.all(|other| other.name != name && has_done(graph, pod, &other.name))
        }
        (None, DeathState::Died) => {
            let mut others = body.containers.iter().filter(|other| other.name != name);
            others.any(|other| has_done(graph, pod, &other.name))
        }
        _ => false,
    };
    (is_other && is_there && end.exit_code != Some(0)).then_some(name)
}

/// Whether the last end of a container is that it was done.
fn has_done(graph: &EntityGraph, pod: &Task, container: &str) -> bool {
    let own = pod.exits.iter();
    let own = own.filter(|exit| !exit.init && graph.name(exit.container) == container);
    let last = own.max_by_key(|exit| exit.time);
    last.is_some_and(|exit| exit.exit_code == Some(0))
}
