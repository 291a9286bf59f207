//! Against real clusters, where there are some. Only ever reads.
//!
//! `E2E_KUBECONFIG` is the path of a kubeconfig; its current context is used.
//! `E2E_CONTEXT_RESTRICTED` names a context whose user may not list nodes;
//! without it that user is made by impersonation.

use std::path::PathBuf;

use tokio::sync::mpsc;

use super::*;
use crate::cluster::{Reason, connect};
use crate::connector::{Batch, Cursor, Stop, Verdict};
use crate::coverage::Status;

fn kubeconfig() -> Option<ClusterOptions> {
    let Some(path) = std::env::var_os("E2E_KUBECONFIG").filter(|path| !path.is_empty()) else {
        whathappened_loopback::skipped("no E2E_KUBECONFIG");
        return None;
    };
    Some(ClusterOptions {
        kubeconfig: Some(PathBuf::from(path)),
        ..ClusterOptions::default()
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a real cluster lives in the present"
)]
fn present() -> Nanos {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Nanos::try_from(since.unwrap().as_nanos()).unwrap()
}

fn in_a_minute() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

async fn fetch_now(cluster: &Cluster) -> (Collected, Vec<Coverage>) {
    let mut kept = Collected::default();
    let fetch_request = FetchRequest {
        now: present(),
        deadline: in_a_minute(),
        ..fetch_request()
    };
    let rows = cluster.fetch(&fetch_request, &mut kept).await;
    (kept, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn real_check_and_lists() {
    let Some(options) = kubeconfig() else { return };
    let cluster = Cluster::connect(&options).await.unwrap();
    let health = cluster.check(present(), in_a_minute()).await;
    assert_eq!(health.unreachable, None);
    assert!(!health.permissions.is_empty());
    assert!(health.skew.is_some(), "no Date header");
    let (kept, rows) = fetch_now(&cluster).await;
    assert!(
        rows.iter()
            .all(|row| row.cluster.as_deref() == Some(cluster.id()))
    );
    let pods = row(&rows, "pods");
    assert!(
        matches!(pods.status, Status::Complete | Status::Denied),
        "{pods:?}"
    );
    if pods.status == Status::Complete {
        let versions = kept
            .0
            .iter()
            .filter(|one| matches!(one, Observation::Object(version) if version.key.kind == "Pod"));
        assert_eq!(versions.count() as u64, pods.rows);
    }
    // Page by page gives the same as all at once.
    let small = ClusterOptions {
        page_size: 3,
        ..options
    };
    let cluster = Cluster::connect(&small).await.unwrap();
    let (_kept, paged) = fetch_now(&cluster).await;
    let nodes = (row(&rows, "nodes").rows, row(&paged, "nodes").rows);
    assert_eq!(nodes.0, nodes.1);
}

/// Follows until `enough`; gives the batches.
async fn follow_real(
    cluster: &Cluster,
    cursors: Vec<Cursor>,
    enough: impl Fn(&[Batch]) -> bool,
) -> Vec<Batch> {
    let (to, mut from) = mpsc::channel(16);
    let stop = Stop::new();
    let watching = tokio::spawn({
        let (cluster, stop) = (cluster.clone(), stop.clone());
        async move { cluster.watch(cursors, Arc::new(present), stop, to).await }
    });
    let mut batches = Vec::new();
    let taking = async {
        while let Some(batch) = from.recv().await {
            batches.push(batch);
            if enough(&batches) {
                stop.cancel();
            }
        }
    };
    let taken = tokio::time::timeout(Duration::from_secs(60), taking).await;
    assert!(taken.is_ok(), "not enough came in a minute");
    watching.await.unwrap();
    batches
}

fn cursor_of(batches: &[Batch], resource: &str) -> Option<Cursor> {
    let cursors = batches.iter().filter_map(|batch| batch.cursor.clone());
    cursors.rev().find(|cursor| cursor.resource == resource)
}

#[tokio::test(flavor = "multi_thread")]
async fn real_watch_goes_on_from_its_cursor_and_lists_again_after_410() {
    let Some(options) = kubeconfig() else { return };
    let cluster = Cluster::connect(&options).await.unwrap();
    let first = follow_real(&cluster, Vec::new(), |batches| {
        cursor_of(batches, "events").is_some()
    })
    .await;
    let cursor = cursor_of(&first, "events").unwrap();
    assert!(!cursor.position.is_empty());
    // A resourceVersion that no server remembers.
    let ancient = Cursor {
        position: "1".to_owned(),
        at: present() - 7200 * SECOND,
        ..cursor
    };
    let again = follow_real(&cluster, vec![ancient], |batches| {
        cursor_of(batches, "events").is_some()
    })
    .await;
    assert_ne!(cursor_of(&again, "events").unwrap().position, "1");
    let gap = again
        .iter()
        .flat_map(|batch| &batch.coverage)
        .find(|row| row.resource == "events" && row.asked_from.is_some());
    match gap {
        Some(gap) => assert_eq!(gap.status, Status::Truncated),
        // A young cluster has forgotten nothing since its first version.
        None => println!("the server still knew resourceVersion 1: no 410 to be seen"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_user_who_may_not_list_nodes() {
    let Some(mut options) = kubeconfig() else {
        return;
    };
    match std::env::var("E2E_CONTEXT_RESTRICTED") {
        Ok(context) if !context.is_empty() => {
            options.contexts = Contexts::Named(vec![context]);
        }
        _ => options.impersonate = Some("whathappened:nobody".to_owned()),
    }
    let cluster = match Cluster::connect(&options).await {
        Ok(cluster) => cluster,
        // A user who may not impersonate is told so, which is a denial too.
        Err(error) => {
            assert!(
                matches!(error.reason, Reason::Unauthorized | Reason::NotKubernetes),
                "{error:?}"
            );
            return;
        }
    };
    let (kept, rows) = fetch_now(&cluster).await;
    let nodes = row(&rows, "nodes");
    assert_eq!(nodes.status, Status::Denied, "{nodes:?}");
    assert!(
        detail(nodes).contains("list nodes at cluster scope (apiGroup \"\")"),
        "{nodes:?}"
    );
    let node = |one: &Observation| matches!(one, Observation::Object(version) if version.key.kind == "Node");
    assert!(!kept.0.iter().any(node));
    let health = cluster.check(present(), in_a_minute()).await;
    let denied = health.permissions.iter().any(|one| {
        one.verdict != Verdict::Allowed
            && one.what.contains("list")
            && one.what.contains("nodes at cluster scope")
    });
    assert!(denied, "{:#?}", health.permissions);
}

#[tokio::test(flavor = "multi_thread")]
async fn real_cluster_beside_an_unreachable_one() {
    let Some(options) = kubeconfig() else { return };
    let path = options.kubeconfig.clone().unwrap();
    let real = crate::cluster::contexts(Some(&path)).unwrap();
    let current = real
        .iter()
        .find(|context| context.current)
        .unwrap()
        .name
        .clone();
    // The same file with one more context, of a port where nothing listens.
    let text = std::fs::read_to_string(&path).unwrap();
    let mut value = crate::contract::yaml_to_json(&text).unwrap();
    for (list, entry) in [
        (
            "contexts",
            serde_json::json!({ "name": "unreachable", "context": { "cluster": "unreachable" } }),
        ),
        (
            "clusters",
            serde_json::json!({ "name": "unreachable", "cluster": { "server": "https://127.0.0.1:1" } }),
        ),
    ] {
        value[list].as_array_mut().unwrap().push(entry);
    }
    // Beside the real one, as paths in it may be relative; gone after the test.
    let folder = tempfile::tempdir_in(path.parent().unwrap()).or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let both = folder.path().join("both");
    std::fs::write(&both, value.to_string()).unwrap();
    let options = ClusterOptions {
        kubeconfig: Some(both),
        contexts: Contexts::Named(vec![current, "unreachable".to_owned()]),
        ..options
    };
    let connected = connect(&options).await.unwrap();
    assert_eq!(connected.clusters.len(), 1, "{:?}", connected.failed);
    assert_eq!(
        connected.failed[0].reason,
        Reason::Unreachable,
        "{:?}",
        connected.failed
    );
    let (_kept, rows) = fetch_now(&connected.clusters[0]).await;
    assert!(rows.iter().any(|row| row.status == Status::Complete));
}
