//! Admission turns the pods of a workload away.

use crate::time::SEC;
use crate::world::{ActId, World};

/// What admission answers to a pod of this workload, where it refuses it.
pub(super) fn refused(w: &World, load: usize) -> Option<(String, ActId)> {
    let body = w.loads.get(load)?;
    let act = body.blocked?;
    let what = w.graph.get(act)?;
    let reason = what.what.strip_prefix("refuses: ")?;
    let is_there = |pod: &&crate::world::Pod| pod.load == load && pod.gone.is_none();
    let there = w.pods.iter().filter(is_there).count();
    if body.let_in.is_some_and(|most| there < most) {
        return None;
    }
    Some((reason.to_owned(), act))
}

/// How long a controller waits after a refusal; `None` where it waits already.
pub(super) fn wait_again(w: &mut World, load: usize) -> Option<i64> {
    let body = w.loads.get_mut(load)?;
    if body.refusals.1 {
        return None;
    }
    body.refusals = (body.refusals.0 + 1, true);
    Some((SEC << body.refusals.0.min(10)).min(1000 * SEC))
}
