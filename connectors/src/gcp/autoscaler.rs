//! GKE's cluster autoscaler, which tells its decisions in a log of its own.

use super::entry::Entry;
use crate::cloud::fact::{FactBuilder, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::event::Event;
use crate::observation::{Observation, Rejection};

const ACTOR: &str = "cluster-autoscaler";

pub(super) fn decode(
    entry: &Entry<'_>,
    payload: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let mut events = Vec::new();
    if let Some(decision) = field::object(payload, &["decision"]) {
        decided(entry, decision, facts, &mut events);
    }
    if let Some(refused) = field::object(payload, &["noDecisionStatus", "noScaleUp"]) {
        not_up(entry, refused, facts, &mut events);
    }
    if let Some(result) = field::object(payload, &["resultInfo"]) {
        for one in field::objects(result, &["results"]) {
            events.extend(failed(entry, one, facts));
        }
    }
    if events.is_empty() {
        return Err(Rejection::Irrelevant(
            "a record of the cluster autoscaler that it did nothing".to_owned(),
        ));
    }
    for mut event in events {
        entry.place(&mut event);
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}

/// The group that a `mig` names, with its zone and node pool.
fn in_group(event: &mut Event, mig: Option<&Fields>) {
    let Some(mig) = mig else { return };
    set_text(event, "group", field::text(mig, &["name"]));
    set_text(event, "node_pool", field::text(mig, &["nodepool"]));
    event.entities.zone = field::owned(mig, &["zone"]);
}

fn of_pod(event: &mut Event, pod: &Fields) {
    event.object_kind = Some("Pod".to_owned());
    event.entities.namespace = field::owned(pod, &["namespace"]);
    event.entities.pod = field::owned(pod, &["name"]);
}

fn path_of(pod: &Fields) -> String {
    let part = |key: &str| field::text(pod, &[key]).unwrap_or_default();
    format!("{}/{}", part("namespace"), part("name"))
}

fn decided(entry: &Entry<'_>, decision: &Fields, facts: &FactBuilder<'_>, events: &mut Vec<Event>) {
    let at = field::time(decision, &["decideTime"]).unwrap_or(entry.time);
    let id = field::text(decision, &["eventId"]).unwrap_or_default();
    for removed in field::objects(decision, &["scaleDown", "nodesToBeRemoved"]) {
        let name = field::text(removed, &["node", "name"]).unwrap_or_default();
        let mut event = facts.group_activity(at, ACTOR, "scale_down", id, name);
        event.object_kind = Some("Node".to_owned());
        event.entities.node = field::owned(removed, &["node", "name"]);
        in_group(&mut event, field::object(removed, &["node", "mig"]));
        let pods: Vec<String> = field::objects(removed, &["evictedPods"])
            .map(path_of)
            .collect();
        let count = field::int(removed, &["evictedPodsTotalCount"]).unwrap_or(0);
        set_message(
            &mut event,
            &format!(
                "removes node {name}, evicting {count} pods: {}",
                pods.join(", ")
            ),
        );
        event.set_attribute("evicted_pods", (!pods.is_empty()).then_some(pods));
        events.push(event);
    }
    let up = field::object(decision, &["scaleUp"]);
    let migs: Vec<&Fields> = up
        .into_iter()
        .flat_map(|up| field::objects(up, &["increasedMigs"]))
        .collect();
    let resizes: Vec<String> = migs
        .iter()
        .map(|one| {
            let name = field::text(one, &["mig", "name"]).unwrap_or_default();
            let count = field::int(one, &["requestedNodes"]).unwrap_or(0);
            format!("{name} by {count}")
        })
        .collect();
    let message = format!("increases {}", resizes.join(", "));
    let pods = up
        .into_iter()
        .flat_map(|up| field::objects(up, &["triggeringPods"]));
    let before = events.len();
    for pod in pods {
        let mut event = facts.group_activity(at, ACTOR, "scale_up", id, &path_of(pod));
        of_pod(&mut event, pod);
        in_group(
            &mut event,
            migs.first().and_then(|one| field::object(one, &["mig"])),
        );
        set_message(&mut event, &message);
        events.push(event);
    }
    if events.len() == before && !migs.is_empty() {
        let mut event = facts.group_activity(at, ACTOR, "scale_up", id, "");
        event.object_kind = Some("InstanceGroup".to_owned());
        in_group(
            &mut event,
            migs.first().and_then(|one| field::object(one, &["mig"])),
        );
        set_message(&mut event, &message);
        events.push(event);
    }
}

/// Pods that wait, and why no group could grow for them.
fn not_up(entry: &Entry<'_>, refused: &Fields, facts: &FactBuilder<'_>, events: &mut Vec<Event>) {
    let id = entry.event_id();
    for group in field::objects(refused, &["unhandledPodGroups"]) {
        let Some(pod) = field::object(group, &["podGroup", "samplePod"]) else {
            continue;
        };
        let mut reasons: Vec<String> = Vec::new();
        for rejected in field::objects(group, &["rejectedMigs"]) {
            let mig = field::text(rejected, &["mig", "name"]).unwrap_or_default();
            reasons.push(format!("{mig}: {}", message_at(rejected, "reason")));
        }
        for one in field::objects(group, &["napFailureReasons"]) {
            reasons.push(spoken(one));
        }
        let mut event = facts.group_activity(entry.time, ACTOR, "no_scale_up", id, &path_of(pod));
        of_pod(&mut event, pod);
        set_message(&mut event, &reasons.join("; "));
        let count = field::int(group, &["podGroup", "totalPodCount"]);
        event.set_attribute("pods", count);
        events.push(event);
    }
}

/// What a decision failed with; the decision has the same `event_id`.
fn failed(entry: &Entry<'_>, result: &Fields, facts: &FactBuilder<'_>) -> Option<Event> {
    let error = field::object(result, &["errorMsg"])?;
    let code = field::text(error, &["messageId"])?;
    let id = field::text(result, &["eventId"]).unwrap_or_default();
    let at = entry.time;
    let first = field::words(error, &["parameters"]).next();
    let mut event = facts.group_activity(at, ACTOR, code, id, first.unwrap_or_default());
    let of_node = code.starts_with("scale.down.");
    event.object_kind = Some(if of_node { "Node" } else { "InstanceGroup" }.to_owned());
    if of_node {
        event.entities.node = first.map(str::to_owned);
    } else {
        set_text(&mut event, "group", first);
    }
    set_message(&mut event, &spoken(error));
    Some(event)
}

fn message_at(fields: &Fields, key: &str) -> String {
    field::object(fields, &[key])
        .map(spoken)
        .unwrap_or_default()
}

/// A message id with its parameters.
fn spoken(message: &Fields) -> String {
    let id = field::text(message, &["messageId"]).unwrap_or_default();
    let parameters: Vec<&str> = field::words(message, &["parameters"]).collect();
    if parameters.is_empty() {
        return id.to_owned();
    }
    format!("{id} ({})", parameters.join(", "))
}
