//! Kubernetes Events and others that are kept beside the logs.

use serde_json::json;

use super::server::{Server, StoredRecord as Event, forbidden};
use super::*;
use crate::coverage::Status;
use crate::log_store::LogStore as _;

fn event(n: usize, at: i64, title: &str, tags: &[&str]) -> Event {
    let mut event = Event::line(n, 0, at, "what happened");
    event.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    event.attributes = json!({"title": title, "status": "warning",
        "aggregation_key": "kubernetes_apiserver:uid-1"});
    event
}

fn span() -> Span {
    all(pods(1), 1).span
}

#[tokio::test]
async fn events_of_pods_and_nodes_are_found() {
    let of_pod = [
        "orchestrator:kubernetes",
        "kube_kind:pod",
        "kube_name:llama-ft-7-0",
        "kube_namespace:research",
        "event_reason:failed",
        "source_component:kubelet",
        "kube_cluster_name:prod",
    ];
    let events = vec![
        event(1, 1_000, "Pod research/llama-ft-7-0: Failed", &of_pod),
        event(
            2,
            2_000,
            "Deployed",
            &[
                "pod_name:llama-ft-7-0",
                "kube_namespace:research",
                "source:ci",
            ],
        ),
        event(
            3,
            3_000,
            "Node gpu-7: NodeNotReady",
            &[
                "orchestrator:kubernetes",
                "kube_kind:node",
                "kube_name:gpu-7",
                "event_reason:nodenotready",
            ],
        ),
        event(
            4,
            4_000,
            "Pod other/llama-ft-7-0: Failed",
            &[
                "kube_kind:pod",
                "kube_namespace:other",
                "kube_name:llama-ft-7-0",
            ],
        ),
    ];
    let fake = Server {
        events,
        ..Server::default()
    }
    .start();
    let store = store(&fake);
    let fetch_request = async |about: LineSubject| {
        let mut kept = Collected::default();
        let rows = store.others(&about, span(), soon(), &mut kept).await;
        let facts: Vec<(String, Option<String>)> = kept
            .0
            .into_iter()
            .map(|one| match one {
                Observation::Event(event) => (event.fact, event.reason),
                other => panic!("{other:?}"),
            })
            .collect();
        (rows, facts)
    };
    let (rows, facts) = fetch_request(pods(1)).await;
    assert_eq!(
        facts,
        [
            ("k8s.event".to_owned(), Some("Failed".to_owned())),
            ("datadog.event".to_owned(), None)
        ]
    );
    assert_eq!(
        (rows.len(), rows[0].rows, rows[0].resource.as_str()),
        (1, 2, "events")
    );
    // What is absent did not have to be sent.
    assert_eq!(rows[0].status, Status::Sampled);
    assert!(rows[0].detail.as_deref().unwrap().contains("Evicted"));

    let (_, facts) = fetch_request(LineSubject::Nodes(vec!["gpu-7".to_owned()])).await;
    assert_eq!(
        facts,
        [("k8s.event".to_owned(), Some("NodeNotReady".to_owned()))]
    );
    let (_, facts) = fetch_request(LineSubject::Experiment("llama-ft-7".to_owned())).await;
    assert_eq!(facts.len(), 3);
    let (rows, _) = fetch_request(LineSubject::Pods(Vec::new())).await;
    assert!(rows.is_empty());
}

#[tokio::test]
async fn what_may_not_be_read_is_a_row_that_says_so() {
    let fake = Server {
        fault: Some(Box::new(|_, _| Some(forbidden()))),
        ..Server::default()
    }
    .start();
    let mut kept = Collected::default();
    let rows = store(&fake)
        .others(&pods(1), span(), soon(), &mut kept)
        .await;
    assert_eq!((rows[0].status, rows[0].rows), (Status::Denied, 0));
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(
        detail.contains("Forbidden") && detail.contains("events_read"),
        "{detail}"
    );
    assert!(rows[0].would_have_shown.is_some());
}
