//! A run that was slow before it ended. What slows a training down need not be what ends it, so that it is told beside the cause of
//! the end and is never one.

use whathappened_core::death::{RunState, SLOW};
use whathappened_core::graph::Fact;
use whathappened_core::resolve::Run;
use whathappened_core::symbols::Symbol;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{SECOND, rfc3339};

use crate::case::Case;

/// Says so of a run that is over, with the time from which on and until which it was slow.
pub(super) fn note(case: &Case, run: &Run, state: RunState) -> Option<String> {
    if state == RunState::Running {
        // It is an incident of its own then.
        return None;
    }
    let graph = &case.graph;
    let attempt = run.attempts.last()?;
    let signals = SLOW.iter();
    let mut known = signals.filter_map(|(signal, _)| graph.evidence.symbols.find(signal));
    let fact = known.find_map(|signal: Symbol| {
        let own = |fact: &&Fact| attempt.pods.has(fact.pod);
        let mut facts = graph.facts.iter().filter(own);
        facts.find(|fact| fact.signal == signal)
    })?;
    let plain = |time: i64| rfc3339(time - time.rem_euclid(SECOND));
    let end = fact.end.unwrap_or(fact.time);
    let words = graph.name(fact.detail);
    let whose = graph.pods.get(fact.pod).map(|pod| pod.node);
    let on = whose
        .filter(|node| node.is_some() && fact.rank.is_some())
        .map_or_else(String::new, |node| format!(" on {}", graph.name(node)));
    Some(format!(
        "The run was slow{on} from {} to {}: {words}. That alone does not end a run.",
        plain(fact.time.lo),
        plain(end.lo)
    ))
}
