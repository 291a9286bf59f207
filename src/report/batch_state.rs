//! What is said of a batch job that neither works nor is over.

use whathappened_core::lifecycle::BatchState;
use whathappened_core::resolve::Run;
use whathappened_model::time::rfc3339;

use crate::answer::{Incident, IncidentRole, Level};
use crate::case::Case;

/// A state as an answer shows it.
struct Wording {
    title: &'static str,
    summary: String,
    level: Level,
    advice: Option<&'static str>,
}

/// The state of a run that is one batch job, where Slurm has a word of its own for it.
pub(super) fn of(case: &Case, run: &Run) -> Option<BatchState> {
    let pods = &run.attempts.last()?.pods;
    pods.iter().find_map(|pod| {
        let one = case.graph.pods.get(*pod)?;
        BatchState::of(one, case.ends.get(*pod)?)
    })
}

/// The incident that a run is in such a state.
pub(super) fn incident(case: &Case, run: &Run) -> Option<Incident> {
    let text = wording(of(case, run)?, run.names(&case.graph).3);
    Some(Incident {
        cause: "none.running".to_owned(),
        level: text.level,
        title: text.title.to_owned(),
        summary: text.summary,
        advice: text.advice.map(str::to_owned).into_iter().collect(),
        time: case.graph.now.map(rfc3339),
        run_id: Some(run.id(&case.graph)),
        attempt: u32::try_from(run.attempts.len()).ok(),
        role: IncidentRole::Main,
        ..Incident::default()
    })
}

fn wording(state: BatchState, name: &str) -> Wording {
    match state {
        BatchState::Configuring => Wording {
            title: "Nodes are being prepared",
            summary: format!(
                "{name} has been given nodes that are still being started or prepared; its tasks have not started."
            ),
            level: Level::Established,
            advice: None,
        },
        BatchState::Suspended => Wording {
            title: "Suspended",
            summary: format!("{name} is suspended: its processes are stopped, not ended."),
            level: Level::Established,
            advice: Some(
                "It goes on from where it stopped once it is resumed (scontrol resume), or once the job that Slurm runs in its place has ended.",
            ),
        },
        BatchState::Ending => Wording {
            title: "State unknown",
            summary: format!(
                "The processes of {name} have ended, and Slurm is cleaning up after them; no record shows yet how it ended."
            ),
            level: Level::Unknown,
            advice: Some("Ask again once the job is over; sacct then shows how it ended."),
        },
    }
}
