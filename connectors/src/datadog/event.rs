//! Datadog's events to facts.
//!
//! Kubernetes Events as the cluster agent sends them are facts `k8s.event`, with
//! the limits of what it sends: whole seconds, the last time alone, no count
//! unless bundled. Others (deployments, alerts of monitors) are context:
//! `datadog.event`.

use serde_json::{Map, Value};

use super::bundle;
use super::decode::moment;
use super::page::Item;
use super::tags;
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::kind;
use crate::log_store::{Labels, Span};
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp, TimeKind};

/// An event in the words of either API.
#[derive(Clone, Debug)]
pub(super) struct DatadogEvent {
    pub(super) id: Option<String>,
    pub(super) at: Stamp,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) labels: Labels,
    pub(super) host: Option<String>,
    /// `info`, `warning`, `error`, …
    pub(super) status: Option<String>,
    /// What tells which object a Kubernetes Event is about.
    pub(super) key: Option<String>,
    pub(super) raw: String,
}

impl Item for DatadogEvent {
    fn read(json: &str) -> Result<Self, String> {
        let record: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let record = record.as_object().ok_or("no object")?;
        of_search(record)
    }

    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn at(&self) -> Nanos {
        self.at.lo
    }

    fn is_of(&self, span: Span) -> bool {
        self.at.lo < span.to && self.at.hi > span.from
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let text = fields.get(key).and_then(Value::as_str)?;
    (!text.is_empty() && text != "undefined").then(|| text.to_owned())
}

/// An event of API v2, whose attributes have attributes.
///
/// # Errors
/// Says what is missing.
pub(super) fn of_search(record: &Map<String, Value>) -> Result<DatadogEvent, String> {
    let empty = Map::new();
    let outer = record.get("attributes").and_then(Value::as_object);
    let outer = outer.ok_or("an event of Datadog without attributes")?;
    let inner = outer.get("attributes").and_then(Value::as_object);
    let inner = inner.unwrap_or(&empty);
    // The outer time has whole seconds, as the inner one has, in milliseconds.
    let at = outer.get("timestamp").and_then(moment);
    let at = at.or_else(|| inner.get("timestamp").and_then(moment));
    Ok(DatadogEvent {
        id: text(record, "id"),
        at: whole_second(at.ok_or("an event of Datadog without a time")?),
        title: text(inner, "title").unwrap_or_default(),
        text: text(outer, "message").unwrap_or_default(),
        labels: tags::labels(outer.get("tags")),
        host: text(inner, "hostname"),
        status: text(inner, "status"),
        key: text(inner, "aggregation_key"),
        raw: Value::Object(record.clone()).to_string(),
    })
}

/// An event of API v1.
///
/// # Errors
/// Says what is missing.
pub(super) fn of_stream(record: &Map<String, Value>) -> Result<DatadogEvent, String> {
    let at = record.get("date_happened").and_then(Value::as_i64);
    let at = at.and_then(|seconds| seconds.checked_mul(SECOND));
    let mut labels = tags::labels(record.get("tags"));
    if let Some(source) = text(record, "source") {
        labels.entry("source".to_owned()).or_insert(source);
    }
    // Its number has more digits than numbers in JSON may have.
    Ok(DatadogEvent {
        id: text(record, "id_str"),
        at: Stamp::second(at.ok_or("an event of Datadog without a time")?),
        title: text(record, "title").unwrap_or_default(),
        text: text(record, "text").unwrap_or_default(),
        labels,
        host: text(record, "host"),
        status: text(record, "alert_type"),
        key: text(record, "aggregation_key"),
        raw: Value::Object(record.clone()).to_string(),
    })
}

/// Milliseconds of an event are always zero: they mean a second.
fn whole_second(at: Stamp) -> Stamp {
    if at.lo % SECOND == 0 {
        Stamp::second(at.lo)
    } else {
        at
    }
}

impl DatadogEvent {
    /// Whether it is a Kubernetes Event, or several.
    pub(super) fn is_kubernetes(&self) -> bool {
        let label = |key: &str| self.labels.get(key).map(String::as_str);
        label("orchestrator") == Some("kubernetes")
            && (label("event_reason").is_some() || self.key_uid().is_some())
    }

    fn key_uid(&self) -> Option<&str> {
        let uid = self.key.as_deref()?.strip_prefix("kubernetes_apiserver:")?;
        (!uid.is_empty()).then_some(uid)
    }

    /// The facts: one, or those of a bundle.
    pub(super) fn facts(&self, origin: &Origin, observed: Option<Nanos>) -> Vec<Event> {
        let mut facts = if self.is_kubernetes() {
            self.kubernetes()
        } else {
            vec![self.other()]
        };
        let raw = redact(&self.raw);
        for fact in &mut facts {
            fact.observed = observed;
            fact.raw = raw.clone().into_owned();
            fact.origin = origin.clone();
            let source = self.labels.get("source").cloned();
            fact.set_attribute("source", source);
            fact.set_attribute("datadog_id", self.id.clone());
        }
        facts
    }

    fn kubernetes(&self) -> Vec<Event> {
        let bundled = bundle::events(&self.text);
        if bundled.is_empty() {
            let reason = self.labels.get("event_reason").cloned();
            // The title has the reason as it was written; the tag is in lower case.
            let written = self
                .title
                .rsplit_once(": ")
                .map(|(_, reason)| reason.to_owned());
            let reason = match (written, reason) {
                (Some(written), Some(tag)) if written.eq_ignore_ascii_case(&tag) => Some(written),
                (written, None) => written,
                (_, tag) => tag,
            };
            return vec![self.one(reason, self.text.trim(), None)];
        }
        bundled
            .into_iter()
            .map(|one| self.one(Some(one.reason), &one.message, Some(one.count)))
            .collect()
    }

    fn one(&self, reason: Option<String>, message: &str, count: Option<u64>) -> Event {
        let label = |key: &str| self.labels.get(key).cloned();
        let (kind, namespace, name) = self.object();
        let seconds = self.at.lo.div_euclid(SECOND).to_string();
        let known = |text: &Option<String>| text.clone().unwrap_or_default();
        let id = EventId::of(&[
            "k8s.event",
            &known(&namespace),
            &known(&kind),
            &known(&name),
            &known(&reason),
            message,
            &seconds,
        ]);
        let mut event = Event::new(id, "k8s.event", self.at, SourceKind::Datadog);
        event.time_kind = TimeKind::LastSeen;
        event.severity = self.status.as_deref().map(|status| match status {
            "info" | "ok" | "success" => "Normal".to_owned(),
            "warning" | "warn" | "error" => "Warning".to_owned(),
            other => other.to_owned(),
        });
        event.reason = reason;
        event.message = Some(redact(message).into_owned()).filter(|text| !text.is_empty());
        event.count = count;
        event.actor = label("source_component")
            .or_else(|| label("reporting_controller"))
            .filter(|actor| !actor.is_empty());
        event.object_uid = self.key_uid().map(str::to_owned);
        let node = self.node();
        let entities = &mut event.entities;
        entities.cluster = label("kube_cluster_name");
        match kind.as_deref() {
            Some("Pod") => {
                entities.namespace = namespace;
                entities.pod = name;
                entities.pod_uid.clone_from(&event.object_uid);
                // Only the node's own agent writes the host that it runs on.
                entities.node = node.filter(|_| event.actor.as_deref() == Some("kubelet"));
                if entities.node.is_some() {
                    entities.instance = label("host_provider_id");
                }
            }
            Some("Node") => {
                entities.node = name;
                entities.instance = label("host_provider_id");
            }
            Some(kind) => {
                entities.namespace = namespace;
                entities.workload_kind = Some(kind.to_owned());
                entities.workload = name;
            }
            None => {}
        }
        event.object_kind = kind;
        event
    }

    /// The object: kind, namespace, name. By tags, else by the title, which is
    /// `Pod ns/name: Reason` or `Events from the Pod ns/name`.
    fn object(&self) -> (Option<String>, Option<String>, Option<String>) {
        let title = self.title.strip_prefix("Events from the ");
        let title = title.unwrap_or_else(|| {
            let whole = self.title.as_str();
            whole.rsplit_once(": ").map_or(whole, |(object, _)| object)
        });
        let (titled_kind, path) = match title.split_once(' ') {
            Some((kind, path)) if !path.contains(' ') => (Some(kind), Some(path)),
            _ => (None, None),
        };
        let (titled_place, titled_name) = match path.map(|path| path.split_once('/')) {
            Some(Some((place, name))) => (Some(place), Some(name)),
            Some(None) => (None, path),
            None => (None, None),
        };
        let label = |key: &str| self.labels.get(key).cloned();
        // Tags are in lower case, kinds are not.
        let kind = match (label("kube_kind"), titled_kind) {
            (Some(tag), Some(kind)) if tag.eq_ignore_ascii_case(kind) => Some(kind.to_owned()),
            (Some(tag), _) => Some(kind::of_word(&tag)),
            (None, kind) => kind.map(str::to_owned),
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        (
            kind,
            label("kube_namespace").or_else(|| owned(titled_place)),
            label("kube_name").or_else(|| owned(titled_name)),
        )
    }

    /// The node, without the cluster's name.
    fn node(&self) -> Option<String> {
        let host = self.host.as_deref()?;
        let cluster = self.labels.get("kube_cluster_name");
        let node = cluster.and_then(|cluster| tags::node(host, cluster));
        Some(node.unwrap_or(host).to_owned())
    }

    fn other(&self) -> Event {
        let parts = [self.title.trim(), self.text.trim()];
        let words: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let message = words.join("\n");
        let seconds = self.at.lo.div_euclid(SECOND).to_string();
        let id = self.id.as_deref().unwrap_or_default();
        let id = EventId::of(&["datadog.event", id, &message, &seconds]);
        let mut event = Event::new(id, "datadog.event", self.at, SourceKind::Datadog);
        event.severity.clone_from(&self.status);
        event.message = Some(redact(&message).into_owned()).filter(|text| !text.is_empty());
        let names = tags::names();
        event.entities = names.entities(&self.labels);
        let host = self.host.clone();
        event.entities.host = event.entities.host.take().or(host);
        let cluster = self.labels.contains_key("kube_cluster_name");
        if cluster && event.entities.node.is_none() && self.node() != self.host {
            event.entities.node = self.node();
        }
        let others = names.others(&self.labels);
        event.set_attribute("labels", (!others.is_empty()).then_some(others));
        event
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn emitted(record: &Value) -> Vec<Event> {
        let emitted = of_search(record.as_object().unwrap()).unwrap();
        emitted.facts(&Origin::default(), None)
    }

    fn kubernetes(title: &str, message: &str, extra: &[&str]) -> Value {
        let mut tags = vec!["orchestrator:kubernetes", "kube_cluster_name:prod"];
        tags.extend(extra);
        json!({"type": "event", "id": "E1", "attributes": {
            "timestamp": "2026-11-21T15:20:15Z", "message": message, "tags": tags,
            "attributes": {"title": title, "status": "warning", "hostname": "gpu-7-prod",
                "timestamp": 1_795_274_415_000_i64,
                "aggregation_key": "kubernetes_apiserver:0aa0-uid"}
        }})
    }

    #[test]
    fn an_event_of_a_pod_is_told_as_kubernetes_tells_it() {
        let facts = emitted(&kubernetes(
            "Pod research/llama-0: BackOff",
            "Back-off restarting failed container",
            &[
                "event_reason:backoff",
                "kube_kind:pod",
                "kube_name:llama-0",
                "kube_namespace:research",
                "source_component:kubelet",
                "host_provider_id:i-1",
            ],
        ));
        let [fact] = facts.as_slice() else {
            panic!("{facts:?}")
        };
        assert_eq!(
            (fact.fact.as_str(), fact.reason.as_deref()),
            ("k8s.event", Some("BackOff"))
        );
        assert_eq!(fact.object_kind.as_deref(), Some("Pod"));
        let entities = &fact.entities;
        for (emitted, is) in [
            (&entities.pod, "llama-0"),
            (&entities.namespace, "research"),
            (&entities.node, "gpu-7"),
            (&entities.instance, "i-1"),
            (&entities.pod_uid, "0aa0-uid"),
            (&fact.severity, "Warning"),
            (&fact.actor, "kubelet"),
        ] {
            assert_eq!(emitted.as_deref(), Some(is));
        }
        assert_eq!(
            (fact.time.width(), fact.time_kind),
            (SECOND, TimeKind::LastSeen)
        );
        // Who is not on the node does not tell it.
        let other = emitted(&kubernetes(
            "Pod research/llama-0: FailedScheduling",
            "0/9 nodes are available",
            &[
                "event_reason:failedscheduling",
                "source_component:default-scheduler",
            ],
        ));
        assert_eq!(
            (&other[0].entities.node, other[0].entities.pod.as_deref()),
            (&None, Some("llama-0"))
        );
    }

    #[test]
    fn a_bundle_is_several_facts_and_a_node_is_one() {
        let text = "%%% \n3 **BackOff**: b\n 1 **Failed**: f\n \n _Events emitted by the kubelet seen at x since y_ \n\n %%%";
        let facts = emitted(&kubernetes(
            "Events from the Pod research/llama-0",
            text,
            &[],
        ));
        let reasons: Vec<_> = facts
            .iter()
            .map(|fact| (fact.reason.as_deref(), fact.count))
            .collect();
        assert_eq!(
            reasons,
            [(Some("BackOff"), Some(3)), (Some("Failed"), Some(1))]
        );
        assert_ne!(facts[0].id, facts[1].id);
        assert_eq!(facts[0].entities.pod.as_deref(), Some("llama-0"));

        let node = &emitted(&kubernetes(
            "Node gpu-7: Rebooted",
            "rebooted",
            &["event_reason:rebooted", "kube_kind:node", "kube_name:gpu-7"],
        ))[0];
        assert_eq!(node.entities.node.as_deref(), Some("gpu-7"));
        assert_eq!(node.object_kind.as_deref(), Some("Node"));
        let job = &emitted(&kubernetes(
            "PyTorchJob research/llama: Failed",
            "x",
            &["event_reason:failed", "kube_kind:pytorchjob"],
        ))[0];
        assert_eq!(job.entities.workload_kind.as_deref(), Some("PyTorchJob"));
    }

    #[test]
    fn other_events_are_context() {
        let facts = emitted(&json!({"type": "event", "id": "E2", "attributes": {
            "timestamp": "2026-11-21T15:20:15Z", "message": "v2 is out, token=hunter2hunter2",
            "tags": ["source:github", "service:trainer", "kube_namespace:n"],
            "attributes": {"title": "Deployed", "status": "info", "service": "undefined"}
        }}));
        let fact = &facts[0];
        assert_eq!(fact.fact, "datadog.event");
        assert_eq!(fact.entities.namespace.as_deref(), Some("n"));
        let message = fact.message.as_deref().unwrap();
        assert!(message.starts_with("Deployed\nv2") && !message.contains("hunter2"));
        assert!(!fact.raw.contains("hunter2"));
        let stream = json!({"date_happened": 1_795_274_415, "title": "T", "text": "x", "tags": ["a:b"],
            "host": null, "alert_type": "error", "id": 1, "id_str": "6618108885455469409", "source": "My Apps"});
        let emitted = of_stream(stream.as_object().unwrap()).unwrap();
        assert_eq!(emitted.id.as_deref(), Some("6618108885455469409"));
        assert_eq!(
            emitted.facts(&Origin::default(), None)[0].attribute("source"),
            Some("My Apps")
        );
        assert!(of_stream(&Map::new()).is_err());
    }
}
