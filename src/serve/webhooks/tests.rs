//! Bodies as they are pushed.

use serde_json::Value;
use whathappened_model::event::SourceKind;

use super::*;

const NOW: Nanos = 1_795_274_427_000_000_000;

/// What a body says, of cluster `c1`.
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        for mut observation in observations {
            label(&mut observation, NOW, Some("c1"));
            self.0.push(observation);
        }
    }
}

fn collected(kind: Kind, body: String) -> Result<(Vec<Observation>, Summary), BodyError> {
    let mut sink = Collected(Vec::new());
    let summary = read(kind, body.into(), NOW, &mut sink)?;
    Ok((sink.0, summary))
}

fn reported(kind: Kind, body: &Value) -> (Vec<Observation>, Summary) {
    collected(kind, body.to_string()).unwrap()
}

/// A list of audit records, as an API server's webhook backend sends it.
fn audit(names: &[&str]) -> Value {
    let items = names.iter().map(|name| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("a-{name}"),
               "stage": "ResponseComplete", "requestURI": format!("/api/v1/namespaces/research/pods/{name}"), "verb": "delete",
               "user": {"username": "alice"}, "objectRef": {"resource": "pods", "namespace": "research", "name": name, "apiVersion": "v1"},
               "responseStatus": {"code": 200}, "requestReceivedTimestamp": "2026-11-21T15:20:27.123456Z", "stageTimestamp": "2026-11-21T15:20:27.223456Z"})
    });
    json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": items.collect::<Vec<_>>()})
}

#[test]
fn an_audit_list_is_the_same_facts_however_often_it_comes() {
    let (first, summary) = reported(Kind::KubernetesAudit, &audit(&["a", "b"]));
    assert_eq!(summary.total.records, 2, "{summary:?}");
    let (again, _) = reported(Kind::KubernetesAudit, &audit(&["a", "b"]));
    assert_eq!(first, again);
    let Observation::Event(event) = &first[0] else {
        panic!("{first:?}");
    };
    assert_eq!(event.source_kind, SourceKind::KubernetesAudit);
    assert_eq!(event.actor.as_deref(), Some("alice"));
    assert_eq!(event.entities.cluster.as_deref(), Some("c1"));
    assert_eq!(event.observed, Some(NOW));
}

#[test]
fn what_is_partly_broken_is_partly_taken_and_told() {
    let good = r#"{"maintenance": "replace a switch", "hosts": ["r4n1"], "starts": "2026-11-21T15:00:00Z", "status": "done"}"#;
    let body =
        format!("{good}\n{{\"maintenance\": 7, \"hosts\": [\"r4n1\"], \"starts\": \"soon\"}}\n");
    let (observations, summary) = collected(Kind::Generic, body).unwrap();
    assert_eq!((observations.len(), summary.total.rejected), (1, 1));
    for nothing in ["", " \n", "{", "[]", "hello"] {
        let read = collected(Kind::Generic, nothing.to_owned());
        assert!(read.is_err(), "{nothing:?}: {read:?}");
    }
}

#[test]
fn a_notification_of_datadog_is_an_event() {
    let body = json!({"id": "7", "title": "GPU lost", "body": "x", "date": "1795274427000", "tags": "pod_name:p-0"});
    let (observations, _) = reported(Kind::Datadog, &body);
    let [Observation::Event(event)] = observations.as_slice() else {
        panic!("{observations:?}");
    };
    assert_eq!(event.source_kind, SourceKind::Datadog);
    assert_eq!(event.time.lo, NOW);
}

#[test]
fn hooks_that_do_not_exist_are_refused_at_the_start() {
    let config: Serve = toml::from_str("[hooks.slak]\ntoken = '0123456789abcdef'\n").unwrap();
    let error = Hooks::of(&config).unwrap_err();
    assert!(error.to_string().contains("slak"), "{error}");
    assert!(error.hints().concat().contains("alertmanager"));
    let config: Serve =
        toml::from_str("[hooks.generic]\n[hooks.datadog]\ntoken = '0123456789abcdef'\n").unwrap();
    let hooks = Hooks::of(&config).unwrap();
    assert_eq!(hooks.0.keys().collect::<Vec<_>>(), [&"datadog"]);
    assert_eq!(hooks.rows().len(), 1);
}

/// What stands behind the path was stored and shown as it came.
#[test]
fn a_cluster_behind_the_path_is_a_name_or_refused() {
    let asked = |query: &str| asked_cluster(&format!("/hooks/generic{query}").parse().unwrap());
    for (query, cluster) in [
        ("", None),
        ("?timeout=30s", None),
        ("?timeout=30s&cluster=prod-1", Some("prod-1")),
        (
            "?cluster=gke_lab_europe-west4_c1",
            Some("gke_lab_europe-west4_c1"),
        ),
        (
            "?cluster=arn%3Aaws%3Aeks%3Aeu-west-1%3A123456789012%3Acluster%2Flab",
            Some("arn:aws:eks:eu-west-1:123456789012:cluster/lab"),
        ),
    ] {
        assert_eq!(asked(query).unwrap().as_deref(), cluster, "{query}");
    }
    let long = format!("?cluster={}", "a".repeat(254));
    let token = format!(
        "?cluster={}_{}",
        "ghp", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    );
    for query in [
        "?cluster=",
        "?cluster=-x",
        "?cluster=a%20b",
        "?cluster=a%0Ab",
        "?cluster=a%1B%5B2J",
        "?cluster=%3Cscript%3E",
        "?cluster=a&cluster=b",
        "?cluster=%FF",
        &long,
        &token,
    ] {
        let why = asked(query).unwrap_err();
        assert!(why.contains("`cluster`"), "{query}: {why}");
        assert!(!why.contains("ghp"), "{why}");
    }
}
