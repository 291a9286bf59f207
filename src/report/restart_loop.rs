//! A run that is begun anew from one checkpoint again and again. Where something ends it each time, that is its cause; that it
//! comes no further is told beside it.

use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::rfc3339;

use crate::case::Case;

/// Says so of a run.
pub(super) fn note(case: &Case, run: &Run) -> Option<String> {
    let graph = &case.graph;
    let signal = graph.evidence.symbols.find(named::LOG_RESTART_LOOP)?;
    let fact = graph
        .facts
        .iter()
        .find(|fact| fact.signal == signal && run.pods.has(fact.pod))?;
    Some(format!(
        "The run makes no progress: {}, first restarted at {}.",
        graph.name(fact.detail),
        rfc3339(fact.time.lo)
    ))
}
