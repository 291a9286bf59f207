//! Every run of a case in a list.

use std::collections::HashMap;

use whathappened_core::resolve::Run;
use whathappened_model::time::rfc3339;

use super::answer::numbered_runs;
use super::context::ReportContext;
use super::everything::{of_all, unknown_ends};
use crate::answer::{self, IncidentRole, ListedRun};
use crate::case::Case;
use crate::error::Error;
use crate::explain::gang::Finding;

/// Every run, the newest first, with what ended it.
///
/// # Errors
/// When a rule fails.
pub async fn listing(case: &Case) -> Result<Vec<ListedRun>, Error> {
    let verdict = of_all(case).await?;
    let context = ReportContext::new(case, &verdict);
    // Everything by the number of its run: an input may have as many runs as lines.
    let all: Vec<usize> = (0..case.runs.len()).collect();
    let reported: HashMap<usize, answer::Run> =
        numbered_runs(case, &verdict, &all).into_iter().collect();
    let unknown = unknown_ends(case, &verdict);
    let mut ended: HashMap<usize, &Finding> = HashMap::new();
    for finding in verdict.findings.iter().filter(|one| !one.recovered) {
        if !unknown.contains(&finding.run) {
            ended.entry(finding.run).or_insert(finding);
        }
    }
    let mut listed = Vec::with_capacity(case.runs.len());
    for (number, run) in case.runs.iter().enumerate().rev() {
        let incident = ended
            .get(&number)
            .map(|finding| context.incident_of(finding, IncidentRole::Main))
            .transpose()?;
        listed.push(known(case, run).reported(reported.get(&number), incident.as_ref()));
    }
    Ok(listed)
}

/// What the objects alone tell of a run.
fn known(case: &Case, run: &Run) -> ListedRun {
    let graph = &case.graph;
    let (_, kind, namespace, name) = run.names(graph);
    ListedRun {
        experiment: run.experiment(graph).0,
        kind: kind.to_owned(),
        namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
        name: name.to_owned(),
        started: run.begin.map(rfc3339),
        pods: run.pods.len() as u64,
        id: Some(run.id(graph)),
        ..ListedRun::default()
    }
}
