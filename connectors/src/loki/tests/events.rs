//! Kubernetes Events that agents sent to Loki.

use serde_json::{Value, json};

use super::paging::{BASE, about, loki, soon};
use super::server::{Entry, Rules, entry, serve};
use crate::coverage::Status;
use crate::event::{Event, Origin, SourceKind};
use crate::kubernetes;
use crate::log_store::{LineSubject, LogStore as _, Span};
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND, TimeKind};

#[derive(Default)]
struct Collected(Vec<Event>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        for one in observations {
            if let Observation::Event(event) = one {
                self.0.push(*event);
            }
        }
    }
}

const SPAN: Span = Span {
    from: BASE,
    to: BASE + 3_600 * SECOND,
};

fn killing() -> Value {
    json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": "run-0.18a2b3c4d5e6f7a8", "namespace": "n", "uid": "e1",
            "creationTimestamp": "2026-11-21T15:20:10Z"},
        "involvedObject": {"kind": "Pod", "namespace": "n", "name": "run-0", "uid": "u0",
            "apiVersion": "v1", "fieldPath": "spec.containers{trainer}"},
        "reason": "Killing",
        "message": "Stopping container trainer",
        "source": {"component": "kubelet", "host": "g-1"},
        "firstTimestamp": "2026-11-21T15:20:10Z",
        "lastTimestamp": "2026-11-21T15:20:10Z",
        "count": 1,
        "type": "Normal",
    })
}

fn of_api(event: &Value) -> Event {
    let mut out = Vec::new();
    let json = event.to_string();
    kubernetes::decode(json.as_bytes(), None, &Origin::default(), &mut out).unwrap();
    match out.remove(0) {
        Observation::Event(event) => *event,
        other => panic!("{other:?}"),
    }
}

async fn fetch_request(
    lines: Vec<Entry>,
    about: LineSubject,
) -> (Vec<Event>, Vec<crate::coverage::Coverage>) {
    let fake = serve(lines, Rules::default());
    let store = loki(&fake, |_| {});
    let mut emitted = Collected::default();
    let rows = store.others(&about, SPAN, soon(), &mut emitted).await;
    (emitted.0, rows)
}

#[tokio::test]
async fn whole_events_are_the_facts_that_the_api_tells() {
    let api = of_api(&killing());
    let exporter = [("app", "kubernetes-event-exporter")];
    let mut exported = killing();
    exported["clusterName"] = "lab".into();
    exported["involvedObject"]["labels"] = json!({"app": "x"});
    let router = [("namespace", "kube-system"), ("container", "eventrouter")];
    let otel = [("service_name", "k8s-events")];
    for (stream, line) in [
        (&exporter[..], exported),
        (&router, json!({"verb": "ADDED", "event": killing()})),
        (&otel, json!({"type": "ADDED", "object": killing()})),
    ] {
        let (events, rows) = fetch_request(
            vec![entry(BASE + SECOND, stream, &line.to_string())],
            about(&["run-0"]),
        )
        .await;
        assert_eq!(events.len(), 1, "{line}");
        let event = &events[0];
        assert_eq!(event.id, api.id);
        assert_eq!(event.source_kind, SourceKind::Loki);
        assert_eq!(
            (event.time, &event.reason, &event.actor),
            (api.time, &api.reason, &api.actor)
        );
        assert_eq!(event.entities.container.as_deref(), Some("trainer"));
        assert_eq!((rows[0].status, rows[0].rows), (Status::Complete, 1));
    }
}

#[tokio::test]
async fn alloys_lines_are_events_too() {
    let stream = [
        ("namespace", "n"),
        ("job", "loki.source.kubernetes_events"),
        ("cluster", "lab"),
    ];
    let at = |second: Nanos| BASE + second * SECOND;
    let back_off = |count: u32| {
        format!(
            r#"name=run-0 kind=Pod objectAPIversion=v1 objectRV=1 eventRV=2 reportingcontroller=kubelet sourcecomponent=kubelet sourcehost=g-1 reason=BackOff type=Warning count={count} msg="Back-off restarting failed container \"trainer\" in pod run-0""#
        )
    };
    let json = r#"{"name":"run-0","kind":"Pod","reason":"Scheduled","type":"Normal","action":"Binding","reportingcontroller":"default-scheduler","msg":"Successfully assigned n/run-0 to g-1"}"#;
    let other = r#"name=run-00 kind=Pod reason=Killing type=Normal msg="x" "#;
    let lines = vec![
        entry(at(1) + 5_000, &stream, json),
        entry(at(10), &stream, &back_off(1)),
        entry(at(20), &stream, &back_off(2)),
        entry(at(30), &stream, &back_off(7)),
        entry(at(31), &stream, other),
        entry(at(32), &stream, "run-0 is no event"),
    ];
    let (mut events, rows) = fetch_request(lines, about(&["run-0"])).await;
    events.sort_by_key(|event| event.time);
    assert_eq!(events.len(), 2, "{events:?}");
    let [scheduled, back_off] = &events[..] else {
        panic!()
    };
    assert_eq!(scheduled.reason.as_deref(), Some("Scheduled"));
    assert_eq!(scheduled.time.lo, at(1) + 5_000);
    assert_eq!(scheduled.actor.as_deref(), Some("default-scheduler"));
    assert_eq!(scheduled.entities.namespace.as_deref(), Some("n"));
    assert_eq!(scheduled.entities.cluster.as_deref(), Some("lab"));
    // One Event that grew, as the API shows it in the end.
    let mut api = killing();
    api["metadata"]["name"] = "by-hand".into();
    api["reason"] = "BackOff".into();
    api["message"] = r#"Back-off restarting failed container "trainer" in pod run-0"#.into();
    api["firstTimestamp"] = crate::time::rfc3339(at(10)).into();
    api["lastTimestamp"] = crate::time::rfc3339(at(30)).into();
    api["count"] = 7.into();
    let api = of_api(&api);
    assert_eq!((back_off.id, back_off.count), (api.id, Some(7)));
    assert_eq!((back_off.time, back_off.end), (api.time, api.end));
    assert_eq!(back_off.time_kind, TimeKind::FirstSeen);
    assert_eq!(back_off.entities.node.as_deref(), Some("g-1"));
    assert!(
        rows[0]
            .detail
            .as_deref()
            .unwrap()
            .contains("1 lines are not Events")
    );
}

#[tokio::test]
async fn where_nobody_sends_events_there_is_nothing_to_say() {
    let lines = vec![entry(
        BASE + 1,
        &[("pod", "run-0"), ("job", "n/x")],
        "run-0",
    )];
    let (events, rows) = fetch_request(lines, about(&["run-0"])).await;
    assert!(events.is_empty() && rows.is_empty());
    let node = json!({"name": "g-1", "kind": "Node", "reason": "NodeNotReady", "type": "Normal",
        "count": 1, "msg": "Node g-1 status is now: NodeNotReady"});
    let stream = [("job", "integrations/kubernetes/eventhandler")];
    let lines = vec![entry(BASE + SECOND, &stream, &node.to_string())];
    let (events, _) = fetch_request(lines, LineSubject::Nodes(vec!["g-1".to_owned()])).await;
    assert_eq!(events[0].entities.node.as_deref(), Some("g-1"));
    assert_eq!(events[0].object_kind.as_deref(), Some("Node"));
}
