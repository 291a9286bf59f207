//! Runs that are still there and do not get on.

use crate::death::{Death, RunState, run_state};
use crate::life::{End, Mode};
use crate::resolve::{Root, Run};
use crate::symbols::Sym;
use crate::world::{Fact, NO, World};

/// The stall of a run: nobody writes any more, or lines go on without a step.
/// `None` where the run is over, or says that training is done.
pub(crate) fn stalled(world: &World, number: usize, run: &Run, ends: &[End]) -> Option<Death> {
    if run_state(world, run, ends) != RunState::Running {
        return None;
    }
    let attempt = run.attempts.last()?;
    let own = |fact: &&Fact| {
        let of_run = matches!(run.root, Root::Workload(root) if fact.workload == root);
        attempt.pods.contains(&fact.pod) || (fact.pod == NO && of_run)
    };
    let says = |signal: &str| {
        let signal = world.evidence.symbols.find(signal)?;
        // Facts are in time order, so that the last silence counts.
        let mut of_run = world.facts.iter().filter(own);
        of_run.rfind(|fact| fact.signal == signal)
    };
    if says("log.training_done").is_some() {
        return None;
    }
    let fact = says("log.silent").or_else(|| says("log.no_progress"))?;
    // Who stopped first may be who the others wait for.
    let first = attempt
        .pods
        .iter()
        .filter_map(|pod| {
            let progress = world.pods.get(*pod as usize)?.progress.as_ref()?;
            Some((progress.last, *pod))
        })
        .min()
        .map(|(_, pod)| pod);
    Some(Death {
        run: number,
        attempt: u32::try_from(run.attempts.len()).unwrap_or(1),
        pod: first.or(attempt.pods.first().copied()).unwrap_or(NO),
        state: "stalled",
        mode: Mode::None,
        time: fact.time,
        until: None,
        since: None,
        exit_code: None,
        reason: Sym::NONE,
        container: Sym::NONE,
    })
}
