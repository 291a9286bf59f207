//! What is said of whether it can be used.

use serde_json::json;

use super::server::{Cloud, instance, system};
use super::*;
use crate::connector::Verdict;

#[tokio::test]
async fn permissions_age_and_clock_are_told() {
    let now = at("2026-11-21T15:30:00Z");
    let mut read = system(
        "lab",
        ("b", "2026-11-21T11:00:00Z"),
        "v1.compute.instances.get",
        "gpu-1",
    );
    read["logName"] = json!("projects/lab/logs/cloudaudit.googleapis.com%2Fdata_access");
    let fake = Cloud {
        entries: vec![
            system(
                "lab",
                ("a", "2026-01-02T11:00:00Z"),
                "compute.instances.hostError",
                "gpu-1",
            ),
            read,
        ],
        instances: vec![("lab", "z-a", instance("lab", "z-a", "gpu-1", "42"))],
        no_logs: vec!["shut"],
        no_instances: vec!["shut"],
        ..Cloud::default()
    }
    .start();
    let mut options = options(&fake);
    options.projects = vec!["lab".to_owned(), "shut".to_owned()];
    let health = open(options).check(now, soon()).await;
    assert_eq!(health.source, "gcp");
    assert_eq!(health.unreachable, None);
    assert_eq!(health.reaches_back_to, Some(at("2026-01-02T11:00:00Z")));
    assert!(health.skew.unwrap().by.abs() < 10 * crate::time::SECOND);
    let emitted: Vec<_> = health
        .permissions
        .iter()
        .map(|one| (one.what.as_str(), one.verdict))
        .collect();
    assert_eq!(
        emitted,
        [
            ("logging.logEntries.list on project lab", Verdict::Allowed),
            (
                "logging.privateLogEntries.list on project lab",
                Verdict::Allowed
            ),
            ("compute.instances.list on project lab", Verdict::Allowed),
            ("logging.logEntries.list on project shut", Verdict::Denied),
            ("compute.instances.list on project shut", Verdict::Denied),
        ]
    );
}

#[tokio::test]
async fn who_has_no_login_or_no_server_is_told_once() {
    let fake = Cloud::default().start();
    let now = at("2026-11-21T15:30:00Z");
    let mut nobody = options(&fake);
    nobody.login.access_token = None;
    let health = open(nobody).check(now, soon()).await;
    assert!(
        health
            .unreachable
            .unwrap()
            .contains("gcloud auth application-default login")
    );

    let mut nowhere = options(&fake);
    nowhere.projects = vec!["lab".to_owned()];
    nowhere.logging.base_url = "http://127.0.0.1:9".to_owned();
    nowhere.logging.tries = 1;
    let health = open(nowhere).check(now, soon()).await;
    assert!(health.unreachable.unwrap().contains("check the address"));
}
