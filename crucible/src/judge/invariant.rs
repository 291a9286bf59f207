//! What must hold in every answer, whatever it says.

use std::collections::BTreeSet;

use super::answer::{Answer, Incident, Link};
use crate::time::{HOUR, SEC, Time};
use crate::truth::{Run, Truth};

/// An invariant that an answer breaks: its letter, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Broken {
    /// `a` to `k`, as in the README.
    pub which: char,
    /// How.
    pub how: String,
}

fn broken(which: char, how: impl Into<String>) -> Broken {
    Broken {
        which,
        how: how.into(),
    }
}

/// Looks for broken invariants in an answer about one run of a case. `skew` is how far
/// off a clock was.
#[must_use]
pub fn check(truth: &Truth, run: &Run, answer: &Answer, skew: i64) -> Vec<Broken> {
    let mut found = Vec::new();
    for incident in &answer.incidents {
        if run.died.is_some() {
            late(run, incident, skew, &mut found);
        }
        twice(run, incident, skew, &mut found);
        hops(incident, &mut found);
        others(truth, incident, &mut found);
    }
    if let Some(main) = answer.about(run) {
        leads(run, main, &mut found);
        fine(run, main, &mut found);
    }
    if answer.of_earlier(run).is_some() && answer.incidents.iter().any(|one| one.role != "earlier")
    {
        found.push(broken('d', "an incident of an earlier run goes first"));
    }
    found.sort();
    found.dedup();
    found
}

/// (a) No cause or mechanism after the death it explains.
fn late(run: &Run, incident: &Incident, skew: i64, found: &mut Vec<Broken>) {
    let Some(death) = incident
        .first_victim
        .as_ref()
        .and_then(|victim| victim.time_hi.as_deref().or(victim.time.as_deref()))
        .and_then(Time::parse)
    else {
        return;
    };
    for link in &incident.chain {
        let Some(time) = incident.earliest(link) else {
            continue;
        };
        let granted = skew + SEC + recorded_late(run, link);
        if matches!(link.role.as_str(), "cause" | "mechanism")
            && link.edge.as_deref() != Some("context")
            && time.since(death) > granted
        {
            found.push(broken(
                'a',
                format!(
                    "{} {}s after the death: {}",
                    link.role,
                    time.since(death) / SEC,
                    link.text
                ),
            ));
        }
    }
}

/// Words of a machine that is back, or that is found to be gone: they tell of what was before.
const BACK: &[&str] = &[
    "has been rebooted",
    "rebooted (boot ID",
    "Linux version",
    "does not exist in the cloud",
    "cloud-node-controller deleted Node",
    "node.cloudprovider.kubernetes.io/shutdown",
];

/// Ids of causes by which a machine goes down.
const DOWN: &[&str] = &[
    "node.reboot",
    "node.not_ready",
    "node.kernel_panic",
    "node.shutdown",
    "cloud.instance_terminated",
];

/// How much later than the act its witness may have been written, if it is one of that kind and
/// the act truly was.
fn recorded_late(run: &Run, link: &Link) -> i64 {
    let says = |words: &[&str]| words.iter().any(|word| link.text.contains(word));
    let chain = run.chain();
    let went_down = DOWN
        .iter()
        .any(|cause| chain.contains(cause) || run.history.iter().any(|one| one == cause));
    if says(BACK) && went_down {
        return HOUR;
    }
    // A cloud dates a fault of a host when it has seen it.
    if run.history.iter().any(|one| one == "cloud.host_error")
        && says(&[
            "hostError",
            "AUTO_RECOVERY",
            "healthevent",
            "Virtual Machine health",
        ])
    {
        return 90 * SEC;
    }
    // A node is found to be silent when it has been for a while.
    if went_down && says(&["stopped posting node status"]) {
        return 60 * SEC;
    }
    // A device plugin offers less when it has next looked at its GPUs.
    let lost_gpu = ["hw.gpu", "hw.gpu_memory", "hw.pcie"]
        .iter()
        .any(|cause| chain.contains(cause) || run.history.iter().any(|one| one == cause));
    if lost_gpu && says(&["allocatable"]) {
        return 30 * SEC;
    }
    // A Job says that it is past its deadline once its pods are gone.
    if chain.contains("code.deadline") && says(&["DeadlineExceeded"]) {
        return 120 * SEC;
    }
    // The kubelet tells of a cordon when it next looks at its node.
    if says(&["NodeNotSchedulable"]) {
        return 10 * SEC;
    }
    0
}

/// (b) A pod that has ended is not killed later.
fn twice(run: &Run, incident: &Incident, skew: i64, found: &mut Vec<Broken>) {
    for victim in incident
        .victims
        .iter()
        .chain(&incident.collateral)
        .chain(&incident.first_victim)
    {
        let Some(stated) = victim.time.as_deref().and_then(Time::parse) else {
            continue;
        };
        // A name may be used again: the nearest of its ends counts.
        let Some(ended) = run
            .ended
            .iter()
            .filter(|(pod, _)| *pod == victim.pod)
            .map(|(_, time)| *time)
            .min_by_key(|time| stated.since(*time).abs())
        else {
            continue;
        };
        // What became of a lost machine's pods shows minutes later.
        let slack = if run.history.iter().any(|cause| cause.starts_with("node.")) {
            700
        } else {
            100
        };
        if stated.since(ended) > skew + slack * SEC {
            found.push(broken(
                'b',
                format!(
                    "{} is said to die {}s after it had ended",
                    victim.pod,
                    stated.since(ended) / SEC
                ),
            ));
        }
    }
}

/// (c) Established only if every hop is asserted.
fn hops(incident: &Incident, found: &mut Vec<Broken>) {
    if incident.level != "established" || incident.cause.starts_with("none.") {
        return;
    }
    for link in incident.chain.iter().skip(1) {
        if matches!(link.role.as_str(), "mechanism" | "death")
            && link.edge.as_deref() != Some("asserted")
        {
            found.push(broken(
                'c',
                format!(
                    "established over a hop that is {}: {}",
                    link.edge.as_deref().unwrap_or("not tied"),
                    link.text
                ),
            ));
        }
    }
}

/// (d) The run that was asked for leads.
fn leads(run: &Run, main: &Incident, found: &mut Vec<Broken>) {
    let Some(id) = &main.run_id else { return };
    let by_name = id.contains(&run.name) && id.contains(&run.namespace);
    if !(run.uids.contains(id) || by_name || run.pods.iter().any(|pod| id.contains(pod.as_str()))) {
        found.push(broken('d', format!("the main incident is of {id}")));
    }
}

/// (g) Facts of other runs are no evidence.
fn others(truth: &Truth, incident: &Incident, found: &mut Vec<Broken>) {
    // Only where nothing is shared, as a machine or a service is.
    if !incident.cause.starts_with("code.") {
        return;
    }
    let Some(run) = truth.runs.iter().find(|run| {
        incident
            .run_id
            .as_ref()
            .is_some_and(|id| run.uids.contains(id))
    }) else {
        return;
    };
    let own: BTreeSet<&str> = run.uids.iter().map(String::as_str).collect();
    for row in &incident.evidence {
        let Some(uid) = row.get("pod_uid").and_then(serde_json::Value::as_str) else {
            continue;
        };
        if !own.contains(uid)
            && truth
                .runs
                .iter()
                .any(|other| other.uids.iter().any(|one| one == uid))
        {
            found.push(broken(
                'g',
                format!(
                    "a record of pod {uid} of another run is evidence for {}",
                    incident.cause
                ),
            ));
        }
    }
}

/// (h) All is well only where nothing died.
fn fine(run: &Run, main: &Incident, found: &mut Vec<Broken>) {
    use crate::truth::Seen;
    let written = run.death_seen > Seen::Nothing
        || (run.died.is_none() && run.layers.iter().any(|layer| layer.seen > Seen::Nothing));
    if main.cause.starts_with("none.") && run.is_broken() && written && main.level == "established"
    {
        found.push(broken(
            'h',
            format!("{} although it is {}", main.cause, run.state),
        ));
    }
}
