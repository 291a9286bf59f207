//! A large cluster of which only what a question concerns is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use whathappened_core::resolve::{ListedName, Name};
use whathappened_loopback::{ApiServer, Faults};

use super::*;
use crate::cluster::{Listed, SelectiveList};
use crate::coverage::Status;
use crate::listing::{NameFilter, RelatedNames};

fn job(number: usize) -> String {
    format!("run-{number:02}")
}

fn object(kind: &str, version: &str, space: &str, name: &str) -> Value {
    json!({
        "kind": kind, "apiVersion": version,
        "metadata": {
            "namespace": space, "name": name, "uid": format!("{kind}-{name}"),
            "creationTimestamp": "2026-11-21T15:00:00Z", "resourceVersion": "7",
        },
    })
}

fn event(kind: &str, space: &str, name: &str, text: &str) -> Value {
    let mut event = object(
        "Event",
        "v1",
        space,
        &format!("{name}.17{:014x}", text.len()),
    );
    event["involvedObject"] =
        json!({"kind": kind, "namespace": space, "name": name, "uid": format!("{kind}-{name}")});
    event["reason"] = json!("Told");
    event["message"] = json!(text);
    event["type"] = json!("Normal");
    event["firstTimestamp"] = json!("2026-11-21T15:20:00Z");
    event["lastTimestamp"] = json!("2026-11-21T15:20:00Z");
    event["count"] = json!(1);
    event
}

/// Twenty jobs of ten pods in two namespaces, each pod on a node of its own.
fn objects() -> Vec<Value> {
    let mut all = Vec::new();
    for number in 0..20 {
        let (space, name) = (["a", "b"][number % 2], job(number));
        let mut one = object("Job", "batch/v1", space, &name);
        one["metadata"]["labels"] = json!({"experiment": name});
        all.push(one);
        all.push(event("Job", space, &name, "made pods"));
        for rank in 0..10 {
            let pod = format!("{name}-{rank}");
            let mut one = object("Pod", "v1", space, &pod);
            one["metadata"]["labels"] = json!({"job-name": name, "app": "train"});
            one["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": format!("Job-{name}"), "controller": true}]);
            one["spec"] = json!({"nodeName": format!("node-{number}-{rank}")});
            all.push(one);
            all.push(event("Pod", space, &pod, "started"));
            let node = format!("node-{number}-{rank}");
            all.push(object("Node", "v1", "", &node));
            let mut on = event("Node", "default", &node, "is ready");
            on["involvedObject"]
                .as_object_mut()
                .unwrap()
                .remove("namespace");
            all.push(on);
        }
    }
    all
}

fn server(change: impl FnOnce(&mut ApiServer)) -> ApiServer {
    let mut server = ApiServer::default();
    objects().into_iter().for_each(|one| server.add(one));
    change(&mut server);
    server
}

async fn large(server: ApiServer) -> (Fake, Cluster) {
    let fake = server.start();
    let (_dir, mut options) = kubeconfig(&[("lab", &fake.url())]);
    options.page_size = 7;
    let cluster = Cluster::connect(&options).await.unwrap();
    (fake, cluster)
}

fn filter(typed: &str) -> Option<Arc<dyn NameFilter>> {
    let filter = ListedName::of(&Name::parse(typed))?;
    Some(Arc::new(filter))
}

async fn asked(cluster: &Cluster, typed: &str) -> (Collected, Listed) {
    let mut kept = Collected::default();
    let listed = cluster
        .fetch_for(&fetch_request(), filter(typed), &mut kept)
        .await;
    (kept, listed)
}

async fn selective(cluster: &Cluster, typed: &str) -> (Collected, SelectiveList) {
    match asked(cluster, typed).await {
        (kept, Listed::Selective(list)) => (kept, *list),
        (_, Listed::Whole(rows)) => panic!("read in full: {rows:#?}"),
    }
}

fn names(kept: &Collected) -> BTreeSet<String> {
    kept.objects().into_iter().collect()
}

/// What Events are about.
fn told_of(kept: &Collected) -> BTreeSet<String> {
    let events = kept.events();
    let events = events.iter().filter(|one| one.fact == "k8s.event");
    let about = events.filter_map(|one| {
        let of = &one.entities;
        of.pod
            .as_ref()
            .or(of.workload.as_ref())
            .or(of.node.as_ref())
            .cloned()
    });
    about.collect()
}

fn gang(number: usize) -> BTreeSet<String> {
    let pods = (0..10).map(|rank| format!("{}-{rank}", job(number)));
    pods.chain([job(number)]).collect()
}

#[tokio::test]
async fn a_run_is_read_by_its_label_and_the_events_of_its_namespace() {
    let (fake, cluster) = large(server(|_| {})).await;
    for typed in ["run-04", "job/run-04", "run-04-3", "a/run-04"] {
        let (mut kept, mut list) = selective(&cluster, typed).await;
        assert_eq!(names(&kept), gang(4), "{typed}");
        assert_eq!(told_of(&kept), gang(4), "{typed}");
        let related = RelatedNames {
            machines: BTreeSet::from(["node-4-1".to_owned(), "i-0abc".to_owned()]),
            ..RelatedNames::default()
        };
        list.related(&related, &mut kept).await;
        list.related(&related, &mut kept).await;
        assert!(names(&kept).contains("node-4-1") && told_of(&kept).contains("node-4-1"));
        assert_eq!(names(&kept).len(), 12);
        let rows = list.rows();
        let pods = row(&rows, "pods");
        assert_eq!((pods.status, pods.rows), (Status::Complete, 10));
        assert_eq!(
            detail(pods),
            "read for this question only: 10 of 200 pods; of the others, names, labels and owners"
        );
        assert!(detail(row(&rows, "events")).contains("its namespaces and nodes"));
        assert_eq!(row(&rows, "nodes").rows, 1);
    }
    assert!(fake.count(|request| request.query("labelSelector") == "job-name=run-04") > 0);
    let whole = fake.count(|request| {
        let is_list = request.path == "/api/v1/pods" || request.path == "/api/v1/nodes";
        is_list
            && !request.header("accept").contains("PartialObject")
            && request.query("fieldSelector").is_empty()
    });
    assert_eq!(whole, 0);
}

#[tokio::test]
async fn whoever_a_record_names_is_read_with_its_owners() {
    let (_fake, cluster) = large(server(|_| {})).await;
    let (mut kept, mut list) = selective(&cluster, "run-04").await;
    let related = RelatedNames {
        uids: BTreeSet::from(["Pod-run-07-2".to_owned()]),
        named: BTreeSet::from([("a".to_owned(), "run-08-1".to_owned())]),
        ..RelatedNames::default()
    };
    list.related(&related, &mut kept).await;
    let mut wanted = gang(4);
    wanted.extend(["run-07-2", "run-07", "run-08-1", "run-08"].map(str::to_owned));
    assert_eq!(names(&kept), wanted);
    assert!(told_of(&kept).is_superset(&wanted));
    assert!(!told_of(&kept).contains("run-07-3"), "{:?}", told_of(&kept));
}

#[tokio::test]
async fn what_is_gone_is_found_by_its_events() {
    let (_fake, cluster) = large(server(|server| {
        for name in ["gone", "gone-0-x2k7p"] {
            let kind = if name == "gone" { "Job" } else { "Pod" };
            server.add(event(kind, "c", name, "was there"));
            // A guess by the beginning of names finds pods alone.
            server.add(event("Pod", "d", &format!("lost-{name}"), "was there"));
        }
    }))
    .await;
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (kept, _) = selective(&cluster, "gone").await;
    let wanted: BTreeSet<String> = of(&["gone", "gone-0-x2k7p"]);
    assert_eq!(told_of(&kept), wanted);
    let (kept, _) = selective(&cluster, "lost").await;
    let wanted: BTreeSet<String> = of(&["lost-gone", "lost-gone-0-x2k7p"]);
    assert_eq!(told_of(&kept), wanted);
    let (kept, _) = selective(&cluster, "gon*").await;
    assert!(told_of(&kept).contains("gone-0-x2k7p"));
}

#[tokio::test]
async fn the_nearest_names_of_one_that_nothing_bears_are_read() {
    let (_fake, cluster) = large(server(|_| {})).await;
    let (mut kept, mut list) = selective(&cluster, "runn-04").await;
    assert!(names(&kept).is_empty());
    list.nearest(&mut kept).await;
    assert!(names(&kept).contains("run-04"), "{:?}", names(&kept));
}

#[tokio::test]
async fn faults_that_others_saw_are_read_of_all_namespaces() {
    let (_fake, cluster) = large(server(|server| {
        let mut warning = event("Pod", "b", "run-05-1", "no volume");
        warning["type"] = json!("Warning");
        server.add(warning);
    }))
    .await;
    let (mut kept, mut list) = selective(&cluster, "run-04").await;
    list.faults(&mut kept).await;
    assert!(told_of(&kept).contains("run-05-1") && !told_of(&kept).contains("run-05-2"));
    assert_eq!(row(&list.rows(), "nodes").rows, 200);
}

#[tokio::test]
async fn expired_pages_of_metadata_are_gone_on_with() {
    let (_fake, cluster) = large(server(|server| {
        server.faults.expires_every = Some(3);
    }))
    .await;
    let (kept, list) = selective(&cluster, "run-04").await;
    assert_eq!(names(&kept), gang(4));
    assert_eq!(row(&list.rows(), "pods").status, Status::Complete);
}

#[tokio::test]
async fn a_server_that_gives_no_metadata_alone_is_listed_in_full() {
    let only_whole = Faults {
        only_whole: true,
        ..Faults::default()
    };
    let (_fake, cluster) = large(server(|server| server.faults = only_whole)).await;
    let (kept, listed) = asked(&cluster, "run-04").await;
    assert!(matches!(listed, Listed::Whole(_)));
    assert_eq!(kept.objects().len(), 420);

    let ignores = Faults {
        ignores_accept: true,
        ..Faults::default()
    };
    let (_fake, cluster) = large(server(|server| server.faults = ignores)).await;
    let (kept, _) = selective(&cluster, "run-04").await;
    assert_eq!(names(&kept), gang(4));
}

#[tokio::test]
async fn small_clusters_everything_and_machines_are_listed_in_full() {
    let (_fake, cluster) = large(server(|_| {})).await;
    for typed in ["*", "node/node-4-1", "node-4-1"] {
        let (kept, listed) = asked(&cluster, typed).await;
        assert!(matches!(listed, Listed::Whole(_)), "{typed}");
        assert_eq!(kept.objects().len(), 420, "{typed}");
    }
    let fake = server(|_| {}).start();
    let (_dir, options) = kubeconfig(&[("lab", &fake.url())]);
    let cluster = Cluster::connect(&options).await.unwrap();
    let (_, listed) = asked(&cluster, "run-04").await;
    assert!(matches!(listed, Listed::Whole(_)));
}

#[tokio::test]
async fn what_may_not_be_listed_is_said_as_in_full_lists() {
    let denied = |names: &[&str]| Faults {
        denied: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Faults::default()
    };
    let faults = denied(&["nodes", "events@b"]);
    let (_fake, cluster) = large(server(|server| server.faults = faults)).await;
    let (kept, mut list) = selective(&cluster, "run-05").await;
    assert_eq!(names(&kept), gang(5));
    let related = RelatedNames {
        machines: BTreeSet::from(["node-5-1".to_owned()]),
        ..RelatedNames::default()
    };
    list.related(&related, &mut Collected::default()).await;
    let rows = list.rows();
    assert_eq!(row(&rows, "nodes").status, Status::Denied);
    assert_ne!(row(&rows, "events").status, Status::Complete);

    // Where the cluster as a whole may not be listed, its namespaces are.
    let faults = denied(&["pods@", "jobs@", "events@"]);
    let fake = server(|server| server.faults = faults).start();
    let (_dir, mut options) = kubeconfig(&[("lab", &fake.url())]);
    options.page_size = 7;
    options.namespaces = vec!["a".to_owned()];
    let cluster = Cluster::connect(&options).await.unwrap();
    let (kept, _) = selective(&cluster, "run-04").await;
    assert_eq!((names(&kept), told_of(&kept)), (gang(4), gang(4)));
}
