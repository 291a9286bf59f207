//! Runs of a store and how each stands: what was explained before is looked up, and some
//! of the rest is explained on the way.

use std::collections::HashMap;
use std::sync::Arc;

use whathappened_core::death::RunState;
use whathappened_core::graph::TaskKind;
use whathappened_model::coverage::Coverage;
use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::{Root, Snapshot, Store};

use super::held::ClusterHours;
use super::incidents::{IncidentOfRun, nothing, store_incidents, visible_in_lists};
use super::stored::of_found;
use crate::answer::{Answer, IncidentRole, ListedRun, Run};
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::report::{self, Question};

/// What became of some runs.
#[derive(Debug, Default)]
pub struct Explained {
    /// Runs of the window.
    pub runs: usize,
    /// Those of them that are explained.
    pub explained: usize,
    /// When the first of the others was heard of.
    pub since: Option<Nanos>,
}

impl Explained {
    /// What is missing and how to get it, where something is.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let Self {
            runs,
            explained,
            since,
        } = self;
        if explained >= runs {
            return None;
        }
        let day = since.map(|since| rfc3339(since).chars().take(10).collect::<String>());
        let window = day.map_or_else(String::new, |day| format!(" --since {day}"));
        Some(format!(
            "{explained} of {runs} runs are explained; run `whathappened explain{window}` to explain the rest"
        ))
    }
}

/// Explains the runs that lived in a window and were not explained since they were last
/// heard of, the latest first and at most so many; keeps what is found. `tick` hears how many of
/// how many are done, and says whether to go on.
///
/// # Errors
/// When the store cannot be used, or a rule fails.
pub async fn explain_rest(
    store: &mut Store,
    window: (Nanos, Nanos),
    most: usize,
    rules: &Arc<Rules>,
    now: Nanos,
    tick: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Explained, Error> {
    let roots = store.snapshot()?.roots(window.0, window.1)?;
    let known = store.explained_runs()?;
    let is_known = |root: &Root| {
        let at = known.get(&run_id(root));
        at.is_some_and(|at| *at >= root.last || *at >= now)
    };
    let mut rest: Vec<&Root> = roots.iter().filter(|root| !is_known(root)).collect();
    let mut sum = Explained {
        runs: roots.len(),
        explained: roots.len() - rest.len(),
        since: rest
            .iter()
            .filter(|root| root.first <= root.last)
            .map(|root| root.first)
            .min(),
    };
    if rest.is_empty() {
        return Ok(sum);
    }
    let coverage = store.coverage()?;
    rest.reverse();
    rest.truncate(most);
    let mut done: Vec<String> = Vec::new();
    for (number, root) in rest.iter().enumerate() {
        if !tick(number, rest.len()) {
            break;
        }
        read_ahead(store, number, &rest)?;
        // Runs of one name are explained together.
        if !done.contains(&run_id(root)) {
            let answer = explain_one(store, root, &coverage, rules, now).await?;
            let runs = answer.into_iter().flat_map(|answer| answer.runs);
            done.extend(runs.map(|run| run.id));
        }
        sum.explained += 1;
    }
    store.forget_places();
    tick(rest.len(), rest.len());
    Ok(sum)
}

/// Runs that are read together before each of them is explained.
const TOGETHER: usize = 64;

/// Reads some runs together when it is the first one's turn.
///
/// # Errors
/// When the store cannot be read.
pub fn read_ahead(store: &mut Store, number: usize, roots: &[&Root]) -> Result<(), Error> {
    if number.is_multiple_of(TOGETHER) {
        let next: Vec<&Root> = roots.iter().skip(number).take(TOGETHER).copied().collect();
        store.read_ahead(&next)?;
    }
    Ok(())
}

/// Explains the run of a kept incident anew, where that incident is damaged.
///
/// # Errors
/// When the store cannot be used, or a rule fails.
pub async fn explain_damaged(
    store: &mut Store,
    incident: &str,
    rules: &Arc<Rules>,
    now: Nanos,
) -> Result<(), Error> {
    let runs = store.runs_of_damaged(incident)?;
    if runs.is_empty() {
        return Ok(());
    }
    let roots = store.snapshot()?.roots(Nanos::MIN, Nanos::MAX)?;
    let coverage = store.coverage()?;
    for root in roots.iter().filter(|root| runs.contains(&run_id(root))) {
        explain_one(store, root, &coverage, rules, now).await?;
    }
    Ok(())
}

/// Explains one run and keeps its incidents.
///
/// # Errors
/// When the store cannot be used, or a rule fails.
pub async fn explain_one(
    store: &mut Store,
    root: &Root,
    coverage: &[Coverage],
    rules: &Arc<Rules>,
    now: Nanos,
) -> Result<Option<Answer>, Error> {
    // Another log may have told meanwhile that they are of one run.
    if !store.snapshot()?.is_root(root)? {
        return Ok(None);
    }
    let name = root.as_name();
    let Some(found) = store.snapshot()?.find(&name)? else {
        keep_none(store, root, None, rules, now)?;
        return Ok(None);
    };
    let case = of_found(found, coverage.to_vec(), Arc::clone(rules))?;
    let is_of_gang = keep_gangs(store, &case, root)? || keep_trackers(store, &case, root)?;
    let question = Question {
        name: name.to_string(),
        ..Question::default()
    };
    let answer = match report::answer(&case, &question).await {
        Ok(answer) => Some(answer),
        // The catalogue knows names of which no record is left.
        Err(Error::UnknownName { .. }) => None,
        Err(error) => return Err(error),
    };
    if let Some(answer) = &answer {
        store_incidents(store, &case, answer, now)?;
    }
    let runs = || answer.iter().flat_map(|answer| &answer.runs);
    if !is_of_gang && !runs().any(|run| run.id == run_id(root)) {
        let namesake = runs().find(|run| {
            let namespace = run.namespace.as_deref().unwrap_or_default();
            (run.kind.as_str(), namespace, run.name.as_str())
                == (&*root.kind, &*root.namespace, &*root.name)
        });
        keep_none(store, root, namesake, rules, now)?;
    }
    Ok(answer)
}

/// Keeps which logs are of one run, as only all of them together tell; says whether a root is
/// one of them.
fn keep_gangs(store: &mut Store, case: &Case, root: &Root) -> Result<bool, Error> {
    let mut is_of_gang = false;
    for run in &case.runs {
        let members = run.pods.iter().filter_map(|pod| case.graph.pods.get(*pod));
        let logs: Vec<String> = members
            .filter(|one| one.kind == TaskKind::Log)
            .map(|one| case.graph.name(one.name).to_owned())
            .collect();
        let (_, kind, _, name) = run.names(&case.graph);
        if kind == "Gang" && !logs.is_empty() {
            is_of_gang |= root.kind == "Log" && logs.contains(&root.name);
            store.keep_gang(name, &logs, (root.first, root.last))?;
        }
    }
    Ok(is_of_gang)
}

/// Keeps of which log's run a tracker's files are, where all of them together tell; says whether a root is such files.
fn keep_trackers(store: &mut Store, case: &Case, root: &Root) -> Result<bool, Error> {
    if root.kind != "Log" {
        return Ok(false);
    }
    let named = |symbols: &std::collections::BTreeSet<_>| {
        symbols.iter().any(|one| case.graph.name(*one) == root.name)
    };
    let logs = case
        .graph
        .pods
        .iter()
        .filter(|one| one.kind == TaskKind::Log);
    let mut bearers = logs
        .clone()
        .filter(|one| case.graph.name(one.name) == root.name);
    // It is a run of its own.
    if bearers.next().is_some() {
        return Ok(false);
    }
    let mut owners = logs.filter(|one| named(&one.called) || named(&one.folders));
    let (Some(owner), None) = (owners.next(), owners.next()) else {
        return Ok(false);
    };
    let owner = case.graph.name(owner.name);
    store.keep_of_log(owner, &root.name, (root.first, root.last))?;
    Ok(true)
}

/// Keeps that there was nothing to explain, so that nobody tries it again until something
/// new is told of it.
fn keep_none(
    store: &mut Store,
    root: &Root,
    run: Option<&Run>,
    rules: &Rules,
    now: Nanos,
) -> Result<(), Error> {
    let one = nothing(root, &run_id(root), run, &rules.version, now);
    let runs = [one.run_id.clone()];
    Ok(store.keep_incidents(&runs, &[one])?)
}

/// Every run of a window, the latest first, with what is known of how it stands.
///
/// # Errors
/// When the store cannot be read.
pub fn listed(snapshot: &Snapshot<'_>, window: (Nanos, Nanos)) -> Result<Vec<ListedRun>, Error> {
    let mut leading: HashMap<String, IncidentOfRun> = HashMap::new();
    for stored in visible_in_lists(snapshot, &snapshot.incidents()?) {
        let Some(id) = stored.incident.run_id.clone() else {
            continue;
        };
        let leads = |one: &IncidentOfRun| {
            let role = one.incident.role;
            (
                is_survived(one),
                role != IncidentRole::Main,
                one.incident.time.clone(),
            )
        };
        match leading.get(&id) {
            Some(known) if leads(known) <= leads(&stored) => {}
            _ => {
                leading.insert(id, stored);
            }
        }
    }
    let roots = snapshot.roots(window.0, window.1)?;
    let clusters = ClusterHours::of(snapshot)?;
    let list = roots.into_iter().rev().map(|root| {
        let stored = leading.get(&run_id(&root));
        let ended = stored.filter(|stored| !is_survived(stored));
        let incident = ended.map(|stored| &stored.incident);
        let run = stored.and_then(|stored| stored.run.as_ref());
        let heard = clusters.of_run(&root);
        let mut reported = of_root(root).reported(run, incident);
        reported.last_heard = reported.seen.map(|_| heard);
        // Explained, and no record is left of it.
        if stored.is_some() && reported.state.is_none() {
            reported.state = Some(RunState::Unknown);
        }
        reported
    });
    Ok(list.collect())
}

/// Whether the run went on after it.
fn is_survived(stored: &IncidentOfRun) -> bool {
    stored.incident.role.is_survived()
}

/// What the catalogue alone tells of a run.
fn of_root(root: Root) -> ListedRun {
    let known = root.first <= root.last;
    let id = run_id(&root);
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    ListedRun {
        label: root.experiment.clone(),
        seen: known.then_some((root.first, root.last)),
        experiment: root.experiment.unwrap_or_else(|| root.name.clone()),
        kind: root.kind,
        namespace: some(root.namespace),
        name: root.name,
        time: known.then(|| rfc3339(root.last)),
        started: known.then(|| rfc3339(root.first)),
        pods: root.pods,
        id: Some(id),
        ..ListedRun::default()
    }
}

/// The id that answers give the run of a root.
#[must_use]
pub fn run_id(root: &Root) -> String {
    if root.uid.is_empty() {
        format!("{}/{}/{}", root.kind, root.namespace, root.name)
    } else {
        root.uid.clone()
    }
}
