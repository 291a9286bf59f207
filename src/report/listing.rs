//! Every run of a case in a list.

use whathappened_connectors::time::rfc3339;
use whathappened_core::resolve::Run;

use super::answer::runs;
use super::context::ReportContext;
use super::everything::{has_unknown_end, of_all};
use crate::answer::{IncidentRole, ListedRun};
use crate::case::Case;
use crate::error::Error;

/// Every run, the newest first, with what ended it.
///
/// # Errors
/// When a rule fails.
pub async fn listing(case: &Case) -> Result<Vec<ListedRun>, Error> {
    let verdict = of_all(case).await?;
    let context = ReportContext::new(case, &verdict);
    let mut listed = Vec::with_capacity(case.runs.len());
    for (number, run) in case.runs.iter().enumerate().rev() {
        let reported = runs(case, &verdict, &[number]).pop();
        let mut own = verdict.findings.iter().filter(|one| one.run == number);
        let is_known = !has_unknown_end(case, &verdict, number);
        let ended = own.find(|finding| !finding.recovered && is_known);
        let incident = ended
            .map(|finding| context.incident_of(finding, IncidentRole::Main))
            .transpose()?;
        listed.push(known(case, run).reported(reported.as_ref(), incident.as_ref()));
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
