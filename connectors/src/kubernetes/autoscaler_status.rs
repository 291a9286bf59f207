//! What Cluster Autoscaler last wrote of itself: the `ConfigMap`
//! `cluster-autoscaler-status`, as text and, since 1.30, as YAML.
//!
//! Only what keeps it from adding machines is a fact, `cloud.group_activity` of
//! the actor `cluster-autoscaler`, with the reason `backoff` or `unhealthy`, at
//! the time when that began. That it had nothing to do (`NoActivity`,
//! `NoCandidates`) means nothing.

use serde_json::Value;

use super::decode::Context;
use super::{field, meta};
use crate::contract::yaml_to_json;
use crate::event::{Event, EventId};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{SECOND, Stamp, rfc3339};

/// Whether it is that `ConfigMap`.
pub(super) fn is(object: &Value) -> bool {
    meta::name(object) == Some("cluster-autoscaler-status")
}

/// One thing that it says of a group, or of the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    group: Option<String>,
    /// `Health`, `ScaleUp`, `ScaleDown`
    part: String,
    status: String,
    detail: String,
    since: Option<Stamp>,
    probed: Option<Stamp>,
}

pub(super) fn decode(
    object: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let Some(status) = field::text(object, &["data", "status"]) else {
        return Err(Rejection::Irrelevant(
            "a status of Cluster Autoscaler that is empty".to_owned(),
        ));
    };
    let states = if status.trim_start().starts_with("Cluster-autoscaler status") {
        of_text(status)
    } else {
        let value = yaml_to_json(status).map_err(|why| {
            Rejection::Malformed(format!("a status of Cluster Autoscaler: {why}"))
        })?;
        of_yaml(&value)
    };
    let emitted = states.into_iter().filter_map(|state| emit(state, context));
    out.extend(emitted.map(|event| Observation::Event(Box::new(event))));
    Ok(())
}

fn emit(state: State, context: Context<'_>) -> Option<Event> {
    let reason = match (state.part.as_str(), state.status.as_str()) {
        ("ScaleUp", "Backoff") => "backoff",
        ("Health", "Unhealthy") => "unhealthy",
        _ => return None,
    };
    let time = state.since.or(state.probed).unwrap_or(Stamp::OPEN);
    let second = time.lo.div_euclid(SECOND).to_string();
    let group = state.group.as_deref().unwrap_or_default();
    let id = EventId::of(&["cluster-autoscaler-status", group, reason, &second]);
    let mut event = Event::new(id, "cloud.group_activity", time, context.source_kind);
    event.actor = Some("cluster-autoscaler".to_owned());
    event.reason = Some(reason.to_owned());
    let whose = state.group.as_deref().unwrap_or("the cluster");
    let message = format!("{}: {whose}: {} {}", state.part, state.status, state.detail);
    event.message = Some(redact(message.trim_end()).into_owned());
    event
        .raw
        .clone_from(event.message.as_ref().unwrap_or(&message));
    event.origin = context.origin.clone();
    event.set_attribute("group", state.group);
    event.set_attribute("last_probe", state.probed.map(|at| rfc3339(at.lo)));
    Some(event)
}

/// The last part of a name: groups of GCE are called by their whole address.
fn short(group: &str) -> Option<String> {
    let name = group.trim().rsplit('/').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// `2026-11-21 15:20:27.151651586 +0000 UTC m=+54.67`, as Go prints a time.
fn time(text: &str) -> Option<Stamp> {
    let mut words = text.split_whitespace();
    let (date, time, zone) = (words.next()?, words.next()?, words.next()?);
    let (hours, minutes) = zone.split_at_checked(3)?;
    Stamp::parse(&format!("{date}T{time}{hours}:{minutes}"))
}

fn of_text(status: &str) -> Vec<State> {
    let mut states: Vec<State> = Vec::new();
    let mut group = None;
    for line in status.lines() {
        let Some((key, value)) = line.trim().split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key {
            "Name" => group = short(value),
            "Health" | "ScaleUp" | "ScaleDown" => {
                let (word, detail) = value.split_once(' ').unwrap_or((value, ""));
                states.push(State {
                    group: group.clone(),
                    part: key.to_owned(),
                    status: word.to_owned(),
                    detail: detail.to_owned(),
                    ..State::default()
                });
            }
            "LastProbeTime" | "LastTransitionTime" => {
                if let Some(state) = states.last_mut() {
                    let slot = if key == "LastProbeTime" {
                        &mut state.probed
                    } else {
                        &mut state.since
                    };
                    *slot = time(value);
                }
            }
            _ => {}
        }
    }
    states
}

fn of_yaml(status: &Value) -> Vec<State> {
    let wide = status.get("clusterWide").map(|wide| (None, wide));
    let groups = field::items(status, &["nodeGroups"])
        .iter()
        .map(|group| (field::text(group, &["name"]).and_then(short), group));
    let mut states = Vec::new();
    for (group, value) in wide.into_iter().chain(groups) {
        for (key, part) in [("health", "Health"), ("scaleUp", "ScaleUp")] {
            let Some(emitted) = field::at(value, &[key]) else {
                continue;
            };
            let why = ["errorCode", "errorMessage"];
            let why = why
                .iter()
                .filter_map(|key| field::text(emitted, &["backoffInfo", key]));
            states.push(State {
                group: group.clone(),
                part: part.to_owned(),
                status: field::owned(emitted, &["status"]).unwrap_or_default(),
                detail: why.collect::<Vec<_>>().join(": "),
                since: field::time(emitted, &["lastTransitionTime"]),
                probed: field::time(emitted, &["lastProbeTime"]),
            });
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use crate::event::Origin;
    use crate::observation::Observation;
    use crate::time::rfc3339;

    fn emitted(status: &str) -> Vec<(String, String, String, String)> {
        let map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"status": status},
            "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system", "uid": "u1"}});
        let mut out = Vec::new();
        super::super::decode(
            map.to_string().as_bytes(),
            None,
            &Origin::default(),
            &mut out,
        )
        .unwrap();
        let events = out.into_iter().filter_map(|one| match one {
            Observation::Event(event) => Some(event),
            _ => None,
        });
        events
            .map(|event| {
                (
                    event.attribute("group").unwrap_or_default().to_owned(),
                    event.reason.clone().unwrap_or_default(),
                    rfc3339(event.time.lo),
                    event.message.clone().unwrap_or_default(),
                )
            })
            .collect()
    }

    #[test]
    fn groups_that_cannot_grow_are_told_at_the_time_it_began() {
        let text = "Cluster-autoscaler status at 2026-11-21 15:25:00.1 +0000 UTC:\nCluster-wide:\n  Health:      Healthy (ready=5 unready=0)\n               LastProbeTime:      2026-11-21 15:25:00.1 +0000 UTC m=+99.1\n               LastTransitionTime: 2026-11-21 12:00:00.5 +0000 UTC m=+9.1\n  ScaleDown:   NoCandidates (candidates=0)\n\nNodeGroups:\n  Name:        https://compute.example/projects/p/zones/z/instanceGroups/gpu-a100\n  Health:      Healthy (ready=3)\n  ScaleUp:     Backoff (ready=3 cloudProviderTarget=4)\n               LastProbeTime:      2026-11-21 15:25:00.1 +0000 UTC m=+99.1\n               LastTransitionTime: 2026-11-21 15:20:27 +0000 UTC m=+50.1\n  ScaleDown:   NoCandidates (candidates=0)\n";
        let want = |message: &str| {
            let (group, reason) = ("gpu-a100".to_owned(), "backoff".to_owned());
            let at = "2026-11-21T15:20:27Z".to_owned();
            vec![(group, reason, at, message.to_owned())]
        };
        assert_eq!(
            emitted(text),
            want("ScaleUp: gpu-a100: Backoff (ready=3 cloudProviderTarget=4)")
        );
        let yaml = "time: 2026-11-21 15:25:00.1 +0000 UTC\nautoscalerStatus: Running\nclusterWide:\n  health:\n    status: Healthy\n    lastTransitionTime: \"2026-11-21T12:00:00Z\"\n  scaleDown:\n    status: NoCandidates\nnodeGroups:\n- name: gpu-a100\n  health:\n    status: Healthy\n  scaleUp:\n    status: Backoff\n    backoffInfo:\n      errorCode: QUOTA_EXCEEDED\n      errorMessage: no more\n    lastProbeTime: \"2026-11-21T15:25:00Z\"\n    lastTransitionTime: \"2026-11-21T15:20:27Z\"\n";
        assert_eq!(
            emitted(yaml),
            want("ScaleUp: gpu-a100: Backoff QUOTA_EXCEEDED: no more")
        );
        assert_eq!(emitted("autoscalerStatus: Initializing\n"), []);
    }
}
