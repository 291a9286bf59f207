//! What a truth is made of: which deaths count, what showed, what had been before.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::LoadKind;
use crate::time::{MIN, SEC, Time};
use crate::world::{ActId, Death, World};

pub(super) fn of_load(w: &World, at: usize) -> Vec<&Death> {
    w.deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.load == at))
        .collect()
}

/// How far back the ends lie that count of what ends again and again, and of late: one of its ranks three times within half
/// an hour, or at regular intervals, however long.
pub(super) fn flapping(w: &World, all: &[&Death]) -> Option<i64> {
    let mut ranks: BTreeMap<u32, Vec<Time>> = BTreeMap::new();
    for death in all {
        if let Some(pod) = w.pods.get(death.pod) {
            ranks.entry(pod.rank).or_default().push(death.time);
        }
    }
    let often = |times: &Vec<Time>| {
        let within = |span| {
            times
                .iter()
                .filter(|time| w.now.since(**time) < span)
                .count()
        };
        (within(30 * MIN) > 2 && within(12 * MIN) > 0).then_some(12 * MIN)
    };
    ranks
        .values()
        .filter_map(|times| often(times).or_else(|| regular(w.now, times)))
        .max()
}

/// The last four ends came at nearly the same distance, and the next is not overdue.
fn regular(now: Time, times: &[Time]) -> Option<i64> {
    let mut times = times.to_vec();
    times.sort();
    let last = times.get(times.len().checked_sub(4)?..)?;
    let gaps: Vec<i64> = last.windows(2).map(|two| two[1].since(two[0])).collect();
    let (least, most) = (*gaps.iter().min()?, *gaps.iter().max()?);
    let span = most / 4 * 5;
    let is_due = now.since(*last.last()?) < span;
    (most / 4 * 3 <= least && is_due).then_some(span)
}

/// Deaths of containers that were started again where they are, so lately that the kubelet
/// still counts them: it forgives after ten minutes. So is a second end of one reason, wherever it was tried again; and
/// whoever is to be deleted and is not heard of, since nobody has told that it ended.
pub(super) fn restless<'a>(w: &World, all: &[&'a Death]) -> Vec<&'a Death> {
    let root = |death: &Death| w.graph.chain(death.act).first().copied();
    let again = |death: &Death| all.iter().filter(|one| root(one) == root(death)).count() > 1;
    let unheard = |death: &Death| {
        let pod = w.pods.get(death.pod).filter(|pod| pod.gone.is_none());
        pod.is_some_and(|pod| pod.deletion.is_some() && pod.alive)
    };
    all.iter()
        .filter(|death| {
            let is_late = w.now.since(death.time) < 10 * MIN;
            is_late && (!death.last || again(death)) || unheard(death)
        })
        .copied()
        .collect()
}

/// Ids of everything that ever struck it: what it died of, what kept it from its work, and
/// the silence of a machine that it stands on now.
pub(super) fn history(w: &World, at: usize, all: &[&Death]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let blocked = w.loads.get(at).and_then(|load| load.blocked);
    for act in all.iter().map(|death| death.act).chain(blocked) {
        let acts = w.graph.chain(act).into_iter();
        for act in acts.filter_map(|id| w.graph.get(id)) {
            found.extend(act.causes.iter().map(|&cause| cause.to_owned()));
        }
    }
    let mut stand = w
        .pods
        .iter()
        .filter(|pod| pod.load == at && pod.gone.is_none())
        .filter_map(|pod| w.nodes.get(pod.node?));
    if stand.any(|node| !node.heard) {
        found.insert("node.not_ready".to_owned());
    }
    let past = w.loads.get(at).map(|load| load.pace.past.iter());
    found.extend(past.into_iter().flatten().map(|&cause| cause.to_owned()));
    found.into_iter().collect()
}

/// Whether all that is wanted runs.
pub(super) fn is_well(w: &World, at: usize) -> bool {
    let Some(load) = w.loads.get(at) else {
        return false;
    };
    let running = w
        .pods
        .iter()
        .filter(|pod| pod.load == at && pod.gone.is_none() && pod.alive && pod.deletion.is_none())
        .count();
    running >= usize::try_from(load.wanted).unwrap_or(0)
}

/// Deaths that nothing came after: of each pod the last; of a workload that makes pods
/// anew, those since it last ran well.
pub(super) fn fatal<'a>(w: &World, at: usize, deaths: &[&'a Death]) -> Vec<&'a Death> {
    let serves = w
        .loads
        .get(at)
        .is_some_and(|load| !load.plan.gang && load.set.is_some());
    let last = deaths
        .iter()
        .map(|death| death.time)
        .max()
        .unwrap_or_default();
    deaths
        .iter()
        .filter(|death| !serves || last.since(death.time) < 10 * MIN)
        .copied()
        .collect()
}

/// What showed as a consequence.
pub(super) fn symptoms(w: &World, at: usize, first: ActId) -> Vec<String> {
    let mut found = BTreeSet::new();
    let chain = w.graph.chain(first);
    let by_machine = chain.iter().filter_map(|&id| w.graph.get(id)).any(|act| {
        act.causes.iter().any(|cause| {
            cause.starts_with("hw.")
                || cause.starts_with("node.driver")
                || cause.starts_with("dep.")
        })
    });
    if chain
        .iter()
        .filter_map(|&id| w.graph.get(id))
        .any(|act| act.causes.contains(&"node.system_oom"))
    {
        found.insert("code.host_oom");
    }
    if chain
        .iter()
        .filter_map(|&id| w.graph.get(id))
        .any(|act| act.causes.contains(&"hw.gpu_memory"))
    {
        // A node that offers a GPU less does not say what of it broke.
        found.insert("hw.gpu");
    }
    let by_input = chain.iter().filter_map(|&id| w.graph.get(id)).any(|act| {
        act.causes
            .iter()
            .any(|cause| matches!(*cause, "code.config_or_input" | "code.divergence"))
    });
    if by_machine || by_input {
        // A program that is given what it cannot use raises.
        found.insert("code.exception");
    }
    let acts = || chain.iter().filter_map(|&id| w.graph.get(id));
    if acts().any(|act| act.causes.contains(&"node.shutdown")) {
        // A machine that is off does not answer.
        found.insert("node.not_ready");
    }
    if acts().any(|act| act.what == crate::control::NO_ROOM) || waits(w, at) {
        // There would be room if the cloud gave a machine.
        found.extend(w.refused.iter().copied());
    }
    for death in w
        .deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.load == at))
    {
        let Some(from) = w
            .graph
            .get(death.act)
            .and_then(|act| act.from)
            .and_then(|id| w.graph.get(id))
        else {
            continue;
        };
        if from.what.starts_with("a collective timed out") {
            found.insert("hang.collective_timeout");
        }
        if from.what.starts_with("a rank lost its connection") {
            found.insert("code.exception");
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Of the other ends of the first one's attempt: ids of what nobody can tell apart from it in time, and of what began
/// only after it. Pods that work by themselves do not end each other: each has its own reason, and any is right.
/// Of each, what is right is what `acts_of` gives.
pub(super) fn others(
    w: &World,
    first: &Death,
    fatal: &[&Death],
    acts_of: &dyn Fn(&Death) -> Vec<ActId>,
) -> (Vec<String>, Vec<String>) {
    let attempt = |death: &Death| w.pods.get(death.pod).map(|pod| pod.attempt);
    let root = |death: &Death| w.graph.chain(death.act).first().copied();
    let load = w.pods.get(first.pod).and_then(|pod| w.loads.get(pod.load));
    // A Job that tries again has not ended with the first, and whatever uses up its tries is as much why it failed.
    let is_final = load.is_some_and(|load| {
        load.plan.gang && (load.plan.kind != LoadKind::Job || load.plan.retries == 0)
    });
    let off = w.plan.observe.skew_s.abs();
    let near = first.time.plus((2 + off) * SEC);
    let (mut beside, mut near_ids, mut later) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // What was made anew until it might not any more, and did not work in between, failed of its last end as well. Whoever
    // deletes it meanwhile, or a time that is up, uses up no try.
    let is_over = w
        .pods
        .get(first.pod)
        .is_some_and(|pod| is_out_of_tries(w, pod.load));
    let last = fatal.iter().filter_map(|death| attempt(death)).max();
    let is_over = is_over && last != attempt(first);
    let of_last = fatal
        .iter()
        .filter(|death| is_over && attempt(death) == last);
    if let Some(straw) = of_last.min_by_key(|death| (death.time, death.pod)) {
        beside.extend(ids(w, acts_of(straw)));
        near_ids.extend(ids_of(w, straw.act));
    }
    for death in fatal {
        if root(death) == root(first) || attempt(death) != attempt(first) {
            continue;
        }
        let began = root(death).and_then(|root| w.graph.get(root));
        if death.time <= near || !is_final {
            beside.extend(ids(w, acts_of(death)));
            near_ids.extend(ids_of(w, death.act));
        } else if began.is_some_and(|act| act.time > near) {
            later.extend(ids_of(w, death.act));
        }
    }
    let own = ids_of(w, first.act);
    later.retain(|id| !own.contains(id) && !near_ids.contains(id));
    (beside.into_iter().collect(), later.into_iter().collect())
}

/// Whether what makes the pods of a workload anew has given it up for failing too often.
fn is_out_of_tries(w: &World, at: usize) -> bool {
    let of_job = w.jobs.iter().filter(|job| job.load == at);
    let mut of_job = of_job.flat_map(|job| &job.conditions);
    let kind = w.loads.get(at).map(|load| (load.plan.kind, load));
    match kind {
        // A set's own Job puts up with no failure.
        Some((LoadKind::JobSet, load)) => {
            let mut conditions = load.conditions.iter();
            conditions.any(|one| one.1 == "ReachedMaxRestarts")
        }
        Some(_) => of_job.any(|one| one.1 == "BackoffLimitExceeded"),
        None => false,
    }
}

/// Ids of all acts on the way to one.
fn ids_of(w: &World, act: ActId) -> BTreeSet<String> {
    ids(w, w.graph.chain(act))
}

fn ids(w: &World, acts: Vec<ActId>) -> BTreeSet<String> {
    acts.into_iter()
        .filter_map(|id| w.graph.get(id))
        .flat_map(|act| act.causes.iter().map(|&cause| cause.to_owned()))
        .collect()
}

pub(super) fn names(of: impl Iterator<Item = String>) -> Vec<String> {
    of.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether one of its pods waits for a node.
fn waits(w: &World, at: usize) -> bool {
    w.pods.iter().any(|pod| {
        pod.load == at && pod.gone.is_none() && pod.node.is_none() && !pod.phase.is_over()
    })
}
