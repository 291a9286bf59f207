//! What may not be read is said, and the rest is read.

use serde_json::json;

use super::fake::{self, allowed, list, recorded, status};
use super::*;
use crate::coverage::Status;

const DENIED: &str = include_str!("../testdata/selfsubjectaccessreview_denied.json");
const NODES_403: &str = include_str!("../testdata/err_403_nodes.json");

/// Denies what `denied` says, in reviews and in fact.
fn denies(denied: &'static [&'static str]) -> impl Fn(&Request) -> Option<Reply> + Send + Sync {
    move |request| {
        let reviewed = fake::reviewed(request)?;
        denied
            .contains(&reviewed.as_str())
            .then(|| recorded(DENIED))
    }
}

#[tokio::test]
async fn a_user_who_may_not_list_nodes() {
    let (fake, cluster) = cluster(denies(&["list nodes"])).await;
    let (_kept, rows) = fetch(&cluster).await;
    let nodes = row(&rows, "nodes");
    assert_eq!(nodes.status, Status::Denied);
    assert_eq!(
        detail(nodes),
        "missing permission: list nodes at cluster scope (apiGroup \"\")"
    );
    assert!(
        nodes
            .would_have_shown
            .as_deref()
            .unwrap()
            .contains("cordoned")
    );
    assert_eq!(fake.count(|request| request.path == "/api/v1/nodes"), 0);
    assert_eq!(row(&rows, "pods").status, Status::Complete);
}

#[tokio::test]
async fn without_reviews_the_403_speaks() {
    let (_fake, cluster) = cluster(|request| match request.path.as_str() {
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => {
            Some(Reply::Text(404, "404 page not found\n".to_owned()))
        }
        "/api/v1/nodes" => Some(recorded(NODES_403)),
        _ => None,
    })
    .await;
    let (_kept, rows) = fetch(&cluster).await;
    let nodes = row(&rows, "nodes");
    assert_eq!(nodes.status, Status::Denied);
    assert!(
        detail(nodes).contains("list nodes at cluster scope (apiGroup \"\")"),
        "{nodes:?}"
    );
    assert!(detail(nodes).contains("alice@lab.example"), "{nodes:?}");
    assert_eq!(row(&rows, "pods").status, Status::Complete);
}

#[tokio::test]
async fn a_denial_after_a_review_that_allowed_it_is_told_too() {
    let (_fake, cluster) =
        cluster(|request| (request.path == "/api/v1/nodes").then(|| recorded(NODES_403))).await;
    let (_kept, rows) = fetch(&cluster).await;
    assert_eq!(row(&rows, "nodes").status, Status::Denied);
}

#[tokio::test]
async fn where_the_cluster_may_not_be_read_its_namespaces_are() {
    let pod = json!({ "metadata": { "name": "p", "namespace": "research", "uid": "p" } });
    let (fake, cluster) = cluster(move |request| {
        if let Some(reviewed) = fake::reviewed(request) {
            let inside = reviewed.ends_with(" research") || reviewed.ends_with(" ml");
            return Some(allowed(inside && reviewed != "list pods ml"));
        }
        (request.path == "/api/v1/namespaces/research/pods")
            .then(|| list(std::slice::from_ref(&pod), "1", ""))
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(kept.objects(), ["p"]);
    let of_pods: Vec<(Option<&str>, Status)> = rows
        .iter()
        .filter(|row| row.resource == "pods")
        .map(|row| (row.namespace.as_deref(), row.status))
        .collect();
    assert_eq!(
        of_pods,
        [(None, Status::Denied), (Some("research"), Status::Complete)]
    );
    assert!(
        detail(row(&rows, "pods")).ends_with("; read in research only"),
        "{rows:#?}"
    );
    assert_eq!(row(&rows, "nodes").status, Status::Denied);
    assert_eq!(fake.count(|request| request.path == "/api/v1/pods"), 0);
}

#[tokio::test]
async fn namespaces_that_are_asked_for_are_all_that_is_read() {
    let (fake, cluster) = cluster(denies(&["list pods ml"])).await;
    let mut fetch_request = fetch_request();
    fetch_request.scope.namespaces = vec!["ml".to_owned(), "research".to_owned()];
    let rows = cluster
        .fetch(&fetch_request, &mut Collected::default())
        .await;
    let of_pods: Vec<(Option<&str>, Status)> = rows
        .iter()
        .filter(|row| row.resource == "pods")
        .map(|row| (row.namespace.as_deref(), row.status))
        .collect();
    assert_eq!(
        of_pods,
        [
            (Some("ml"), Status::Denied),
            (Some("research"), Status::Complete)
        ]
    );
    assert!(detail(row(&rows, "pods")).contains("list pods in namespace ml (apiGroup \"\")"));
    assert_eq!(fake.count(|request| request.path == "/api/v1/pods"), 0);
    assert_eq!(fake.count(|request| request.path == "/api/v1/nodes"), 1);
}

#[tokio::test]
async fn events_are_read_through_the_other_group_where_core_is_denied() {
    let (fake, cluster) = cluster(|request| {
        if fake::reviewed(request).as_deref() == Some("list events") {
            let group = request.body["spec"]["resourceAttributes"]["group"].as_str();
            return Some(allowed(group == Some("events.k8s.io")));
        }
        (request.path == "/apis/events.k8s.io/v1/events").then(|| {
            let mut body = fake::body(include_str!("../testdata/events_v1_page1.json"));
            body["metadata"] = json!({ "resourceVersion": "1" });
            Reply::Json(200, body)
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(row(&rows, "events").rows, 20);
    assert_eq!(kept.events().len(), 20);
    assert_eq!(fake.count(|request| request.path == "/api/v1/events"), 0);
}

fn aggregated() -> Reply {
    let resource = |plural: &str, kind: &str, verbs: &[&str]| json!({ "resource": plural, "responseKind": { "group": "", "version": "", "kind": kind }, "scope": "Namespaced", "verbs": verbs });
    let lists: &[&str] = &["get", "list", "watch"];
    Reply::Json(
        200,
        json!({ "kind": "APIGroupDiscoveryList", "items": [
            { "metadata": { "name": "ray.io" }, "versions": [
                { "version": "v1", "resources": [resource("rayjobs", "RayJob", lists), resource("rayclusters", "RayCluster", &["get"])] },
                { "version": "v1alpha1", "resources": [resource("rayjobs", "RayJob", lists)] },
            ] },
            { "metadata": { "name": "batch.volcano.sh" }, "versions": [
                { "version": "v1alpha1", "resources": [resource("jobs", "Job", lists)] },
            ] },
            { "metadata": { "name": "example.com" }, "versions": [
                { "version": "v1", "resources": [resource("jobs", "Job", lists), resource("dogs", "Dog", lists)] },
            ] },
            { "metadata": { "name": "batch" }, "versions": [
                { "version": "v1", "resources": [resource("jobs", "Job", lists)] },
            ] },
        ] }),
    )
}

#[tokio::test]
async fn training_kinds_are_found_and_one_that_is_gone_costs_nothing() {
    let (fake, cluster) = cluster(|request| match request.path.as_str() {
        "/apis" => Some(aggregated()),
        "/apis/ray.io/v1/rayjobs" => {
            Some(recorded(include_str!("../testdata/err_404_crd.json")))
        }
        "/apis/batch.volcano.sh/v1alpha1/jobs" => {
            let job = json!({ "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": { "name": "v", "uid": "v" } });
            Some(list(&[job], "1", ""))
        }
        _ => None,
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    let Some(Observation::Object(job)) = kept.0.last() else {
        panic!("no object");
    };
    assert_eq!(job.key.kind, "VolcanoJob");
    let ray = row(&rows, "rayjobs.ray.io");
    assert_eq!(ray.status, Status::Failed);
    assert!(detail(ray).contains("404 page not found"), "{ray:?}");
    assert_eq!(row(&rows, "jobs.batch.volcano.sh").rows, 1);
    for never in [
        "/apis/example.com/v1/jobs",
        "/apis/ray.io/v1alpha1/rayjobs",
        "/apis/ray.io/v1/rayclusters",
    ] {
        assert_eq!(fake.count(|request| request.path == never), 0, "{never}");
    }
}

#[tokio::test]
async fn older_servers_are_asked_group_by_group() {
    let (_fake, cluster) = cluster(|request| match request.path.as_str() {
        "/apis" => Some(Reply::Json(
            200,
            json!({ "kind": "APIGroupList", "groups": [
                { "name": "apps", "versions": [{ "groupVersion": "apps/v1" }] },
                { "name": "kubeflow.org", "versions": [{ "groupVersion": "kubeflow.org/v1" }] },
                { "name": "broken.io", "versions": [{ "groupVersion": "broken.io/v1" }] },
            ] }),
        )),
        "/apis/kubeflow.org/v1" => Some(Reply::Json(
            200,
            json!({ "kind": "APIResourceList", "resources": [
                { "name": "pytorchjobs", "kind": "PyTorchJob", "namespaced": true, "verbs": ["list"] },
                { "name": "pytorchjobs/status", "kind": "PyTorchJob", "namespaced": true, "verbs": ["get"] },
            ] }),
        )),
        "/apis/broken.io/v1" => Some(status(500, "InternalError", "conversion webhook failed", None)),
        _ => None,
    })
    .await;
    let (_kept, rows) = fetch(&cluster).await;
    assert_eq!(
        row(&rows, "pytorchjobs.kubeflow.org").status,
        Status::Complete
    );
    let discovery = row(&rows, "discovery");
    assert_eq!(discovery.status, Status::Failed);
    assert!(
        detail(discovery).contains("/apis/broken.io/v1"),
        "{discovery:?}"
    );
}
