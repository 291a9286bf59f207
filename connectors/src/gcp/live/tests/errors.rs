//! What is said of what could not be read.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::server::{Cloud, error, system};
use super::*;
use crate::coverage::Status;
use whathappened_loopback::Reply;

fn entries(projects: &[&str], count: usize) -> Vec<serde_json::Value> {
    let of = |project: &&str| {
        let project = (*project).to_owned();
        (0..count).map(move |n| {
            let (id, time) = (
                format!("{project}-{n:03}"),
                format!("2026-11-21T11:00:{n:02}Z"),
            );
            system(
                &project,
                (&id, &time),
                "compute.instances.hostError",
                "gpu-1",
            )
        })
    };
    projects.iter().flat_map(of).collect()
}

#[tokio::test]
async fn a_project_that_refuses_does_not_cost_the_others() {
    let fake = Cloud {
        entries: entries(&["a", "b", "c"], 2),
        no_logs: vec!["b"],
        ..Cloud::default()
    }
    .start();
    let nodes = ["a", "b", "c"].map(|project| node(project, "gpu-1"));
    let (emitted, rows) = fetch(&open(options(&fake)), &about(nodes.into())).await;
    assert_eq!(events(&emitted).len(), 4);
    for project in ["a", "c"] {
        assert_eq!(row(&rows, "activity", project).status, Status::Complete);
    }
    let denied = row(&rows, "activity", "b");
    assert_eq!(denied.status, Status::Denied);
    assert!(
        said(denied).contains(
            "missing permission: logging.logEntries.list on project b (roles/logging.viewer)"
        ),
        "{denied:?}"
    );
    assert_eq!(denied.got_to, None);
    assert!(denied.would_have_shown.is_some());
}

#[tokio::test]
async fn the_end_of_a_used_up_minute_is_waited_for_and_no_longer() {
    let nodes = || about(vec![node("lab", "gpu-1")]);
    let fake = |quota: usize| {
        Cloud {
            entries: entries(&["lab"], 1),
            quota: AtomicUsize::new(quota),
            ..Cloud::default()
        }
        .start()
    };
    let mut once = options(&fake(2));
    once.logging.tries = 1;
    let (emitted, rows) = fetch(&open(once), &nodes()).await;
    assert_eq!(events(&emitted).len(), 1);
    assert_eq!(row(&rows, "activity", "lab").status, Status::Complete);

    let server = fake(1000);
    let mut never = options(&server);
    never.logging.tries = 1;
    let (_, rows) = fetch(&open(never), &nodes()).await;
    let activity = row(&rows, "activity", "lab");
    assert_eq!(activity.status, Status::Failed);
    for words in ["Read requests per minute", "GOOGLE_CLOUD_QUOTA_PROJECT"] {
        assert!(said(activity).contains(words), "{activity:?}");
    }
    assert_eq!(
        server.count(|requested| requested.path == "/v2/entries:list"),
        4
    );
}

#[tokio::test]
async fn a_spent_budget_says_how_far_it_came() {
    let fake = Cloud {
        entries: entries(&["lab"], 30),
        page: 10,
        ..Cloud::default()
    }
    .start();
    let mut options = options(&fake);
    options.requests_per_question = 2;
    let (emitted, rows) = fetch(&open(options), &about(vec![node("lab", "gpu-1")])).await;
    assert_eq!(events(&emitted).len(), 20);
    let activity = row(&rows, "activity", "lab");
    assert_eq!(activity.status, Status::Truncated);
    assert_eq!(activity.got_to, Some(at("2026-11-21T11:00:19Z")));
    assert!(said(activity).contains("the request limit"), "{activity:?}");
}

#[tokio::test]
async fn an_expired_token_is_told_with_what_to_do() {
    let fake = Cloud::default().start();
    let mut options = options(&fake);
    options.login.access_token = Some("token-of-yesterday".into());
    let (_, rows) = fetch(&open(options), &about(vec![node("lab", "gpu-1")])).await;
    for resource in ["activity", "instances"] {
        let row = row(&rows, resource, "lab");
        assert_eq!(row.status, Status::Denied, "{row:?}");
        assert!(
            said(row).contains("gcloud auth application-default login"),
            "{row:?}"
        );
        assert!(!said(row).contains("token-of-yesterday"));
    }
}

#[tokio::test]
async fn pages_for_browsers_other_servers_and_silence_are_told_apart() {
    let fetch_request = || {
        let mut fetch_request = about(vec![node("lab", "gpu-1")]);
        fetch_request.deadline = Instant::now() + Duration::from_millis(400);
        fetch_request
    };
    let page = "<html><head><title>Sign in</title></head></html>";
    for (reply, words) in [
        (0, "a page titled \"Sign in\""),
        (1, "it contains no log entries"),
        (2, "no response within"),
        (3, "`entries` is not a list"),
    ] {
        let fake = Fake::start(move |_| match reply {
            0 => Reply::Text(200, page.to_owned()),
            1 => Reply::Json(200, json!({"status": "ok"})),
            2 => Reply::Late(
                Duration::from_secs(2),
                Box::new(Reply::Json(200, json!({}))),
            ),
            _ => Reply::Json(200, json!({"entries": {}})),
        });
        let (emitted, rows) = fetch(&open(options(&fake)), &fetch_request()).await;
        assert!(emitted.is_empty());
        let activity = row(&rows, "activity", "lab");
        assert!(activity.status.caps_a_verdict(), "{activity:?}");
        let instances = row(&rows, "instances", "lab");
        let all = format!("{} {}", said(activity), said(instances));
        assert!(
            all.contains(words) || reply == 2 && all.contains("the time was up"),
            "{all}"
        );
    }
}

#[tokio::test]
async fn what_is_older_than_the_logs_is_expired() {
    let fake = Cloud::default().start();
    let mut fetch_request = about(vec![node("lab", "gpu-1")]);
    fetch_request.now = at("2028-11-21T15:30:00Z");
    let (_, rows) = fetch(&open(options(&fake)), &fetch_request).await;
    let activity = row(&rows, "activity", "lab");
    assert_eq!(activity.status, Status::Expired);
    assert!(said(activity).contains("400 days"));
}

#[tokio::test]
async fn an_api_that_is_off_is_told_with_the_command_that_turns_it_on() {
    let fake = Fake::start(|_| {
        error(
            403,
            "PERMISSION_DENIED",
            "Cloud Logging API has not been used in project 77 before or it is disabled.",
        )
    });
    let (_, rows) = fetch(&open(options(&fake)), &about(vec![node("lab", "gpu-1")])).await;
    let activity = row(&rows, "activity", "lab");
    assert!(
        said(activity).contains("gcloud services enable logging.googleapis.com --project lab"),
        "{activity:?}"
    );
}

#[tokio::test]
async fn a_server_that_stumbles_is_asked_again() {
    let requested = AtomicUsize::new(0);
    let fake = Fake::start(move |request| {
        if request.path != "/v2/entries:list" {
            return Reply::Json(200, json!({"kind": "compute#instanceAggregatedList"}));
        }
        match requested.fetch_add(1, Ordering::SeqCst) {
            0 => error(503, "UNAVAILABLE", "The service is currently unavailable."),
            _ => Reply::Json(200, json!({})),
        }
    });
    let (_, rows) = fetch(&open(options(&fake)), &about(vec![node("lab", "gpu-1")])).await;
    assert_eq!(row(&rows, "activity", "lab").status, Status::Complete);
}
