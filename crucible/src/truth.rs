//! What is true of each run at the moment at which it is looked at.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::time::{SEC, Time};
use crate::world::{ActId, Attribution, Death, Relation, State, Tag, World};

mod parts;
mod written;

pub use written::Written;

use parts::{fatal, flapping, history, is_well, names, of_load, others, restless, symptoms};

/// How much of an act the written records tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Seen {
    /// Nothing.
    Nothing,
    /// Only a component's word, or a trace.
    Claimed,
    /// A record names it.
    Named,
}

/// One act of the chain that ended a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Layer {
    /// What was done, in words.
    pub what: String,
    /// When.
    pub time: Time,
    /// Any of these names it rightly.
    pub causes: Vec<String>,
    /// What the written records tell of it.
    pub seen: Seen,
    /// The first files that tell of it; only in a case that is written out.
    #[serde(default)]
    pub told_by: Vec<String>,
    /// Its place in the graph.
    #[serde(skip)]
    pub act: Option<ActId>,
}

/// What is true of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its label, where it has one.
    pub label: Option<String>,
    /// `completed`, `failed`, `deleted`, `running`, `pending` or `stuck`.
    pub state: String,
    /// From the most upstream act to the one that killed. Empty where nothing did.
    pub layers: Vec<Layer>,
    /// What is right where nothing ended badly, and beside the layers where it recovered.
    pub fine: Vec<String>,
    /// Ids of symptoms that really showed: wrong as a cause, but not false.
    pub symptoms: Vec<String>,
    /// Names of whoever began it; none where nobody did.
    pub actors: Vec<String>,
    /// Whether any of these names stands in a written record.
    #[serde(default)]
    pub actor_written: bool,
    /// Pods that died first, as far as can be told apart.
    pub first: Vec<String>,
    /// Pods that were struck themselves.
    pub victims: Vec<String>,
    /// Pods that died because others had.
    pub collateral: Vec<String>,
    /// When the first of them died.
    pub died: Option<Time>,
    /// What the written records tell of that death.
    pub death_seen: Seen,
    /// Whether any written record is about this run at all.
    pub seen: bool,
    /// Pods of it, all there ever were.
    pub pods: Vec<String>,
    /// Uids of its pods and objects.
    pub uids: Vec<String>,
    /// Ids of everything that ever struck it; an earlier one is wrong as the main answer, but not false.
    pub history: Vec<String>,
    /// When each pod that is dead truly ended.
    pub ended: Vec<(String, Time)>,
    /// Ids of what ended it at last, where it was broken before: true, and not why.
    #[serde(default)]
    pub last: Vec<String>,
    /// Ids of what befell it within two seconds of the first death, which no record can tell apart from that.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Ids of what began only after that death, and struck others of the same attempt: no part of why it ended.
    #[serde(default)]
    pub later: Vec<String>,
    /// What the written records tell of its completion.
    #[serde(default = "nothing")]
    pub done_seen: Seen,
    /// Whether the name of the pod that died first stands in any record.
    #[serde(default)]
    pub pod_written: bool,
    /// Ids of all that is true of earlier runs of its name.
    #[serde(default)]
    pub before: Vec<String>,
}

fn nothing() -> Seen {
    Seen::Nothing
}

impl Run {
    /// The name to ask for.
    #[must_use]
    pub fn ask(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }

    /// Whether something ended it, or keeps it from its work.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        !self.layers.is_empty() && self.fine.is_empty()
    }

    /// All cause ids on the true chain.
    #[must_use]
    pub fn chain(&self) -> BTreeSet<&str> {
        self.layers
            .iter()
            .flat_map(|layer| layer.causes.iter().map(String::as_str))
            .collect()
    }

    /// The most upstream act of which something was written.
    fn first_written(&self) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.seen > Seen::Nothing)
    }

    /// How much is written of what is right as a first answer.
    #[must_use]
    pub fn evidence(&self) -> Seen {
        self.first_written()
            .map_or(Seen::Nothing, |layer| layer.seen)
    }

    /// Ids of all that is true of it, at whatever time.
    fn all_true(&self) -> impl Iterator<Item = &str> {
        let layers = self.layers.iter().flat_map(|layer| &layer.causes);
        let others = [&self.fine, &self.symptoms, &self.history, &self.last];
        layers
            .chain(others.into_iter().flatten())
            .map(String::as_str)
    }

    /// What is right as a first answer: the most upstream act of which something was written.
    #[must_use]
    pub fn right(&self) -> Vec<&str> {
        let mut right: Vec<&str> = self
            .first_written()
            .map(|layer| layer.causes.iter().map(String::as_str).collect())
            .unwrap_or_default();
        right.extend(self.beside.iter().map(String::as_str));
        right.extend(self.fine.iter().map(String::as_str));
        right
    }
}

/// What is true of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Truth {
    /// The seed.
    pub seed: u64,
    /// The moment at which it is looked at.
    pub now: Time,
    /// The fault that was planned for the first run, for tables.
    pub fault: String,
    /// The observers, for tables.
    pub observers: String,
    /// All runs; the first is the one that is asked for.
    pub runs: Vec<Run>,
    /// Uids of all objects, and whose they are, by place in `runs`.
    pub bystanders: usize,
}

/// What the tags of the written records say of an act.
fn seen(act: ActId, tags: &BTreeSet<Tag>) -> Seen {
    if tags.contains(&Tag {
        act,
        says: Attribution::Names,
    }) {
        Seen::Named
    } else if tags.contains(&Tag {
        act,
        says: Attribution::Claims,
    }) {
        Seen::Claimed
    } else {
        Seen::Nothing
    }
}

/// Works out what is true, and how much of it the written records tell.
#[must_use]
pub fn of(case: &Case, written: &Written<'_>, observers: String) -> Truth {
    let w = &case.world;
    let mut runs: Vec<Run> = (0..w.loads.len())
        .filter(|&at| w.loads.get(at).is_some_and(|load| load.created.is_some()))
        .map(|at| run(w, at, written))
        .collect();
    // A re-run under the same name is the newest, and is what a question for the name is about.
    if let Some(first) = runs.first().map(Run::ask)
        && let Some(newest) = runs.iter().rposition(|run| run.ask() == first)
        && newest > 0
    {
        let mut run = runs.remove(newest);
        let earlier = runs.iter().filter(|other| other.ask() == first);
        let before: BTreeSet<String> = earlier.flat_map(Run::all_true).map(str::to_owned).collect();
        run.before = before.into_iter().collect();
        runs.retain(|other| other.ask() != first);
        runs.insert(0, run);
    }
    let fault = w
        .plan
        .faults
        .iter()
        .find(|planned| planned.load == 0)
        .map_or_else(
            || "none".to_owned(),
            |planned| format!("{:?}", planned.fault),
        );
    Truth {
        seed: w.plan.seed,
        now: case.now,
        fault,
        observers,
        bystanders: runs.len().saturating_sub(1),
        runs,
    }
}

fn run(w: &World, at: usize, written: &Written<'_>) -> Run {
    let Some(load) = w.loads.get(at) else {
        return blank();
    };
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&pod| w.pods.get(pod).is_some_and(|pod| pod.load == at))
        .collect();
    let mut uids: Vec<String> = pods
        .iter()
        .filter_map(|&pod| w.pods.get(pod))
        .map(|pod| pod.uid.clone())
        .collect();
    uids.push(load.uid.clone());
    uids.extend(load.set.iter().map(|set| set.1.clone()));
    uids.extend(
        w.jobs
            .iter()
            .filter(|job| job.load == at)
            .map(|job| job.uid.clone()),
    );
    uids.sort();
    uids.dedup();
    let mut run = Run {
        kind: load.plan.kind.name().to_owned(),
        namespace: load.plan.namespace.clone(),
        name: load.plan.name.clone(),
        uid: load.uid.clone(),
        label: load.plan.label.clone(),
        pods: pods
            .iter()
            .filter_map(|&pod| w.pods.get(pod))
            .map(|pod| pod.name.clone())
            .collect(),
        seen: uids.iter().any(|uid| written.of.contains_key(uid)),
        uids,
        ended: w
            .deaths
            .iter()
            .filter_map(|death| w.pods.get(death.pod).map(|pod| (pod, death.time)))
            .filter(|(pod, _)| pod.load == at)
            .map(|(pod, time)| (pod.name.clone(), time))
            .collect(),
        ..blank()
    };
    let tags = &written.of_run(w, pods.last().copied(), &run.uids);
    run.state = match load.state {
        State::Completed => "completed",
        State::Failed => "failed",
        State::Deleted => "deleted",
        State::Running => "running",
        State::Planned | State::Pending => "pending",
    }
    .to_owned();
    if load.state == State::Completed {
        run.fine.push("none.completed".to_owned());
        run.done_seen = load.done.map_or(Seen::Nothing, |act| seen(act, tags));
        return run;
    }
    let ended = load.ended.is_some();
    // What counts is what came after all of it last ran.
    let all = of_load(w, at);
    let mut deaths: Vec<&Death> = all
        .iter()
        .filter(|death| load.well.is_none_or(|well| death.time >= well))
        .copied()
        .collect();
    let flaps = flapping(w, &all);
    if let Some(span) = flaps.filter(|_| deaths.is_empty() && !ended) {
        deaths = all
            .iter()
            .filter(|death| w.now.since(death.time) < span)
            .copied()
            .collect();
    }
    run.history = history(w, at, &all);
    if load.state == State::Deleted {
        run.last.push("ops.manual_delete".to_owned());
    }
    let past = load.blocked.filter(|_| ended);
    let waits = load.blocked.filter(|&act| {
        w.graph
            .get(act)
            .is_some_and(|act| act.what == crate::control::NO_ROOM)
    });
    let caused = deaths.iter().any(|death| {
        w.graph
            .chain(death.act)
            .iter()
            .filter_map(|&id| w.graph.get(id))
            .any(|act| !act.causes.is_empty())
    });
    if !caused {
        match load.blocked {
            Some(act) => {
                run.state = if ended { "deleted" } else { "stuck" }.to_owned();
                layers(w, &mut run, act, tags);
                if load.pace.slow.is_some() && seen(act, tags) == Seen::Nothing {
                    // That it is slow only its steps would tell; otherwise it runs.
                    run.fine.push("none.running".to_owned());
                }
                if past.is_some() {
                    // It never worked, and somebody cleared it away.
                    run.fine.push("ops.manual_delete".to_owned());
                }
            }
            None => {
                run.fine.push("none.running".to_owned());
                if let Some(last) = all.iter().max_by_key(|death| death.time) {
                    run.symptoms = symptoms(w, at, last.act);
                }
                // One that was started again where it is has not proven itself yet.
                let of_late = restless(w, &all);
                if let Some(last) = of_late.iter().max_by_key(|death| death.time) {
                    layers(w, &mut run, last.act, tags);
                }
                if ended {
                    run.fine
                        .extend(["unknown".to_owned(), "ops.manual_delete".to_owned()]);
                }
            }
        }
        return run;
    }
    if load.blocked.is_some() && waits.is_none() && !ended {
        let Some(act) = load.blocked else { return run };
        run.state = "stuck".to_owned();
        layers(w, &mut run, act, tags);
        return run;
    }
    let fatal = fatal(w, at, &deaths);
    let Some(first) = fatal.iter().min_by_key(|death| (death.time, death.pod)) else {
        run.fine.push("none.running".to_owned());
        return run;
    };
    let tags = &written.of_run(w, Some(first.pod), &run.uids);
    layers(w, &mut run, first.act, tags);
    if let Some(act) = waits.filter(|_| !ended) {
        // What was made in its place waits for room.
        layers(w, &mut run, act, tags);
    }
    if !ended && is_well(w, at) && flaps.is_none() {
        run.fine.extend(["none.running".to_owned()]);
    }
    // Nobody could stop it, and it works on.
    let works_on = w
        .pods
        .get(first.pod)
        .is_some_and(|pod| pod.alive && pod.gone.is_none() && !ended);
    if works_on && run.fine.is_empty() {
        run.fine.push("none.running".to_owned());
    }
    let root = w.graph.chain(first.act).first().copied();
    let of = |death: &&Death| w.pods.get(death.pod).map(|pod| pod.name.clone());
    let same_root = |death: &&&Death| w.graph.chain(death.act).first().copied() == root;
    let near = first.time.plus(2 * SEC);
    run.first = names(
        fatal
            .iter()
            .filter(|death| death.time <= near && death.tie == first.tie)
            .filter_map(&of),
    );
    run.victims = names(
        fatal
            .iter()
            .filter(|death| death.tie == Relation::Victim)
            .filter(same_root)
            .filter_map(&of),
    );
    run.collateral = names(
        fatal
            .iter()
            .filter(|death| death.tie == Relation::Collateral)
            .filter_map(of),
    );
    run.collateral.retain(|name| !run.victims.contains(name));
    run.died = Some(first.time);
    run.death_seen = seen(first.act, tags);
    run.actors = root
        .and_then(|root| w.graph.get(root))
        .map(|act| act.actors.clone())
        .unwrap_or_default();
    run.symptoms = symptoms(w, at, first.act);
    let acts_of = |death: &Death| written.written_acts(w, death, &run.uids);
    (run.beside, run.later) = others(w, first, &fatal, &acts_of);
    run.pod_written = run.first.first().is_some_and(|pod| written.mentions(pod));
    run
}

impl Run {
    /// A run of which nothing is known.
    #[must_use]
    pub fn blank() -> Self {
        blank()
    }
}

fn blank() -> Run {
    Run {
        kind: String::new(),
        namespace: String::new(),
        name: String::new(),
        uid: String::new(),
        label: None,
        state: String::new(),
        layers: Vec::new(),
        fine: Vec::new(),
        symptoms: Vec::new(),
        actors: Vec::new(),
        actor_written: false,
        first: Vec::new(),
        victims: Vec::new(),
        collateral: Vec::new(),
        died: None,
        death_seen: Seen::Nothing,
        seen: false,
        pods: Vec::new(),
        uids: Vec::new(),
        ended: Vec::new(),
        history: Vec::new(),
        last: Vec::new(),
        beside: Vec::new(),
        later: Vec::new(),
        done_seen: Seen::Nothing,
        pod_written: false,
        before: Vec::new(),
    }
}

fn layers(w: &World, run: &mut Run, act: ActId, tags: &BTreeSet<Tag>) {
    for id in w.graph.chain(act) {
        let Some(act) = w.graph.get(id) else { continue };
        if act.causes.is_empty() {
            continue;
        }
        run.layers.push(Layer {
            what: act.what.clone(),
            time: act.time,
            causes: act.causes.iter().map(|&cause| cause.to_owned()).collect(),
            seen: seen(id, tags),
            told_by: Vec::new(),
            act: Some(id),
        });
    }
}
