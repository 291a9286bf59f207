//! Container logs.

use super::fake::{self, allowed, status};
use super::*;
use crate::cluster::{ContainerLog, LogOptions, PodLogs};
use crate::coverage::Status;
use crate::logs::{LogSource, LogStream};

const LOG: &str = "2026-11-21T15:20:01.000000001Z step 1 loss 2.5\n\
    2026-11-21T15:20:02.000000001Z Traceback (most recent call last):\n\
    2026-11-21T15:20:02.000000002Z   File \"train.py\", line 3, in <module>\n\
    2026-11-21T15:20:02.000000003Z ValueError: bad batch\n";

fn pod(name: &str, containers: &[(&str, bool)]) -> PodLogs {
    let container = |(name, restarted): &(&str, bool)| ContainerLog {
        name: (*name).to_owned(),
        restarted: *restarted,
    };
    PodLogs {
        namespace: "research".to_owned(),
        pod: name.to_owned(),
        containers: containers.iter().map(container).collect(),
    }
}

async fn read(
    cluster: &Cluster,
    pods: &[PodLogs],
    options: &LogOptions,
) -> (Collected, Vec<Coverage>) {
    let mut kept = Collected::default();
    let rows = cluster.logs(pods, options, now(), soon(), &mut kept).await;
    (kept, rows)
}

fn said(kept: &Collected) -> Vec<String> {
    let events = kept.events();
    events
        .iter()
        .map(|event| event.message.clone().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn both_runs_of_all_containers() {
    let (fake, cluster) = cluster(|request| {
        request.path.ends_with("/log").then(|| {
            let run = if request.query("previous") == "true" {
                "before"
            } else {
                "now"
            };
            let who = request.query("container");
            Reply::Text(200, format!("2026-11-21T15:20:01Z {who} {run}\n"))
        })
    })
    .await;
    let pods = [
        pod("p1", &[("main", true), ("side", false)]),
        pod("p0", &[("main", false)]),
    ];
    let (kept, rows) = read(&cluster, &pods, &LogOptions::default()).await;
    assert_eq!(
        said(&kept),
        ["main before", "main now", "side now", "main now"]
    );
    let events = kept.events();
    assert_eq!(events[3].entities.pod.as_deref(), Some("p0"));
    assert_eq!(events[0].entities.cluster.as_deref(), Some(fake::UID));
    assert_eq!(
        (rows.len(), rows[0].status, rows[0].rows),
        (1, Status::Complete, 4)
    );
    assert_eq!(
        fake.count(|request| request.query("timestamps") == "true"),
        4
    );
}

#[tokio::test]
async fn they_equal_what_kubectl_logs_saved() {
    let (_fake, cluster) = cluster(|request| {
        request
            .path
            .ends_with("/log")
            .then(|| Reply::Text(200, LOG.to_owned()))
    })
    .await;
    let (kept, _rows) = read(
        &cluster,
        &[pod("p", &[("main", false)])],
        &LogOptions::default(),
    )
    .await;
    let mut source = LogSource::default();
    source.entities.namespace = Some("research".to_owned());
    source.entities.pod = Some("p".to_owned());
    source.entities.container = Some("main".to_owned());
    let mut stream = LogStream::new(
        Arc::new(source),
        crate::contract::LogLines::default(),
        1 << 20,
    );
    let mut saved = Vec::new();
    for (number, line) in (1..).zip(LOG.lines()) {
        stream.line(line, number, &mut saved).unwrap();
    }
    stream.finish(&mut saved);
    let saved = Collected(saved);
    let ids = |kept: &Collected| {
        kept.events()
            .iter()
            .map(|event| event.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&kept).len(), 2);
    assert_eq!(ids(&kept), ids(&saved));
}

#[tokio::test]
async fn containers_are_looked_up_where_they_are_not_named() {
    let (_fake, cluster) = cluster(|request| match request.path.as_str() {
        "/api/v1/namespaces/research/pods/p" => Some(Reply::Json(
            200,
            serde_json::json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "name": "p", "namespace": "research" },
                "spec": { "containers": [{ "name": "main" }], "initContainers": [{ "name": "setup" }] },
                "status": { "containerStatuses": [{ "name": "main", "restartCount": 0 }] } }),
        )),
        path if path.ends_with("/log") && request.query("previous") == "true" => Some(status(
            400,
            "BadRequest",
            "previous terminated container \"setup\" in pod \"p\" not found",
            None,
        )),
        path if path.ends_with("/log") => {
            Some(Reply::Text(200, format!("2026-11-21T15:20:01Z {}\n", request.query("container"))))
        }
        _ => None,
    })
    .await;
    let (kept, rows) = read(&cluster, &[pod("p", &[])], &LogOptions::default()).await;
    assert_eq!(said(&kept), ["main", "setup"]);
    assert_eq!(rows[0].status, Status::Complete, "{rows:?}");
}

#[tokio::test]
async fn what_went_wrong_is_told_by_pod() {
    let (_fake, cluster) = cluster(|request| {
        let said = |code, message: &str| Some(status(code, "", message, None));
        match request.path.as_str() {
            "/api/v1/namespaces/research/pods/waiting/log" => said(
                400,
                "container \"main\" in pod \"waiting\" is waiting to start: ContainerCreating",
            ),
            "/api/v1/namespaces/research/pods/gone/log" => said(404, "pods \"gone\" not found"),
            "/api/v1/namespaces/research/pods/dead-node/log" => {
                said(500, "Get \"https://10.0.0.7:10250/containerLogs/research/dead-node/main\": dial tcp 10.0.0.7:10250: i/o timeout")
            }
            "/api/v1/namespaces/research/pods/rotated/log" => Some(Reply::Text(
                200,
                "unable to retrieve container logs for containerd://abc".to_owned(),
            )),
            "/api/v1/namespaces/research/pods/fine/log" => {
                Some(Reply::Text(200, "2026-11-21T15:20:01Z fine\n".to_owned()))
            }
            _ => None,
        }
    })
    .await;
    let all = ["waiting", "gone", "dead-node", "rotated", "fine"];
    let pods = all.map(|name| pod(name, &[("main", false)]));
    let (kept, rows) = read(&cluster, &pods, &LogOptions::default()).await;
    assert_eq!(said(&kept), ["fine"]);
    let row = &rows[0];
    assert_eq!((row.status, row.rows), (Status::Failed, 1));
    let emitted = detail(row);
    assert!(!emitted.contains("waiting"), "{emitted}");
    for part in [
        "gone/main: gone, and its log",
        "dead-node/main: the server returned 500",
        "rotated/main: the node no longer has it",
    ] {
        assert!(emitted.contains(part), "{emitted}");
    }
    assert!(row.would_have_shown.is_some());
}

#[tokio::test]
async fn a_denial_names_what_is_missing() {
    let (fake, cluster) = cluster(|request| {
        (fake::reviewed(request).as_deref() == Some("get pods/log research"))
            .then(|| allowed(false))
    })
    .await;
    let (_kept, rows) = read(
        &cluster,
        &[pod("p", &[("main", false)])],
        &LogOptions::default(),
    )
    .await;
    assert_eq!(rows[0].status, Status::Denied);
    assert_eq!(
        detail(&rows[0]),
        "missing permission: get pods/log in namespace research (apiGroup \"\")"
    );
    assert_eq!(fake.count(|request| request.path.ends_with("/log")), 0);
}

/// limitBytes cuts off the end of a log, where the traceback is.
#[tokio::test]
async fn a_log_that_is_too_long_keeps_its_end() {
    let (_fake, cluster) = cluster(|request| {
        request.path.ends_with("/log").then(|| {
            let tail: usize = request.query("tailLines").parse().unwrap();
            let limit: usize = request.query("limitBytes").parse().unwrap();
            let mut text = String::new();
            for n in 1000 - tail.min(1000)..1000 {
                text.push_str(&format!("2026-11-21T15:20:01Z line {n}\n"));
            }
            text.truncate(limit);
            Reply::Text(200, text)
        })
    })
    .await;
    let options = LogOptions {
        limit_bytes: 3000,
        ..LogOptions::default()
    };
    let (kept, rows) = read(&cluster, &[pod("p", &[("main", false)])], &options).await;
    assert_eq!(said(&kept).last().map(String::as_str), Some("line 999"));
    assert_eq!(rows[0].status, Status::Truncated);
    assert!(detail(&rows[0]).contains("only the last"), "{rows:?}");
}

#[tokio::test]
async fn the_deadline_holds() {
    let (_fake, cluster) =
        cluster(|request| request.path.ends_with("/log").then_some(Reply::Hang)).await;
    let begun = Instant::now();
    let mut kept = Collected::default();
    let pods: Vec<PodLogs> = (0..20)
        .map(|n| pod(&format!("p{n}"), &[("main", false)]))
        .collect();
    let deadline = begun + Duration::from_millis(400);
    let rows = cluster
        .logs(&pods, &LogOptions::default(), now(), deadline, &mut kept)
        .await;
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(rows[0].status, Status::Failed);
    assert!(detail(&rows[0]).contains("and 15 more"), "{rows:?}");
}
