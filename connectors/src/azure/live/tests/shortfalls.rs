//! What is left out, refused, broken or too old, and how it is told.

use serde_json::json;

use super::cluster::{cluster, record, vmss};
use super::manager::FakeManager;
use super::*;
use crate::connector::Verdict::{Allowed, Denied};
use crate::coverage::Status;
use whathappened_loopback::Reply;

#[tokio::test]
async fn what_is_cut_says_from_when_it_is_whole() {
    let fake = FakeManager {
        page: 1,
        ..cluster()
    }
    .start();
    let azure = azure_with(&fake, &outside::login(), |options| options.max_pages = 3);
    let (.., rows) = fetched(&azure, &fetch_request(vec![of_set(3)])).await;
    let activity = row(&rows, "activity");
    assert_eq!(activity.status, Status::Truncated);
    // An empty page and the two newest records.
    assert_eq!(activity.got_from, Some(at("2026-11-21T10:40:00.1234567Z")));
    assert!(detail(activity).contains("cut after 3 pages"));

    let fake = FakeManager {
        page: 1,
        reads_left: Some(7),
        ..cluster()
    }
    .start();
    let (.., rows) = fetched(
        &super::azure(&fake, &outside::login()),
        &fetch_request(vec![of_set(3)]),
    )
    .await;
    assert!(
        detail(row(&rows, "activity")).contains("7 reads"),
        "{rows:#?}"
    );
    assert_eq!(row(&rows, "activity").status, Status::Truncated);
}

#[tokio::test]
async fn tokens_go_to_no_other_host_and_no_page_is_read_twice() {
    let stranger = Fake::start(|_| Reply::Json(200, json!({"value": []})));
    for links_to in [
        stranger.url(),
        "https://management.azure.com.example".to_owned(),
    ] {
        let fake = FakeManager {
            page: 1,
            links_to: Some(links_to),
            ..cluster()
        }
        .start();
        let (.., rows) = fetched(
            &azure(&fake, &outside::login()),
            &fetch_request(vec![of_set(3)]),
        )
        .await;
        let activity = row(&rows, "activity");
        assert_eq!(activity.status, Status::Truncated);
        assert!(detail(activity).contains("on another host"), "{activity:?}");
    }
    assert_eq!(stranger.requests().len(), 0);
    let same = Fake::start(|requested| {
        let link = format!("http://{}/x", requested.header("host"));
        Reply::Json(200, json!({"value": [], "nextLink": link}))
    });
    let (.., rows) = fetched(&azure(&same, &outside::login()), &fetch_request(vec![])).await;
    assert!(detail(row(&rows, "activity")).contains("read before"));
    assert!(same.requests().len() < 12);
}

#[tokio::test]
async fn what_is_denied_names_the_permission_and_the_rest_is_used() {
    let fake = FakeManager {
        denied: vec!["Microsoft.Insights", "Microsoft.ResourceHealth"],
        ..cluster()
    }
    .start();
    let azure = azure(&fake, &outside::login());
    let nodes: Vec<Entity> = (1..6).map(of_set).collect();
    let (_, kept, rows) = fetched(&azure, &fetch_request(nodes)).await;
    assert_eq!(kept.len(), 1);
    for (resource, needs) in [
        (
            "activity",
            "Microsoft.Insights/eventtypes/values/Read: the role Monitoring Reader or Reader",
        ),
        (
            "health",
            "Microsoft.ResourceHealth/availabilityStatuses/read: the role Reader",
        ),
    ] {
        let row = row(&rows, resource);
        assert_eq!(row.status, Status::Denied);
        assert!(detail(row).contains(needs), "{row:?}");
        assert!(row.would_have_shown.is_some() && row.got_from.is_none());
    }
    // One refusal is enough for a group.
    assert_eq!(
        fake.count(|requested| requested.path.contains("ResourceHealth")),
        1
    );
    assert!(detail(row(&rows, "health")).contains("4 more machines"));
    assert!(detail(row(&rows, "instances")).contains("4 of the machines are not there any more"));

    let health = azure.check(at(NOON), soon()).await;
    assert_eq!(health.unreachable, None);
    let verdicts: Vec<_> = health.permissions.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Denied, Denied, Allowed]);
    assert!(
        health
            .notes
            .iter()
            .any(|note| note == "logged in by the client secret")
    );
}

#[tokio::test]
async fn quotas_pages_for_browsers_and_other_tenants_are_told() {
    let of = |reply: fn() -> Reply| async move {
        let fake = Fake::start(move |_| reply());
        let (.., rows) = fetched(
            &azure(&fake, &outside::login()),
            &fetch_request(vec![of_set(3)]),
        )
        .await;
        let row = row(&rows, "activity");
        (row.status, detail(row).to_owned())
    };
    let (status, emitted) = of(|| {
        let body = json!({"error": {"code": "SubscriptionRequestsThrottled", "message": "Number of requests exceeded the limit."}});
        Reply::Full(429, vec![("Retry-After", "61".to_owned())], body.to_string())
    })
    .await;
    assert!(
        status == Status::Failed && emitted.contains("try again in 61 s"),
        "{emitted}"
    );
    let (status, emitted) =
        of(|| Reply::Text(200, "<html><title>Sign in</title>".to_owned())).await;
    assert!(
        status == Status::Failed && emitted.contains("Sign in"),
        "{emitted}"
    );
    let (status, emitted) = of(|| {
        manager::error(
            401,
            "InvalidAuthenticationTokenTenant",
            "The access token is from the wrong issuer.",
        )
    })
    .await;
    assert!(
        status == Status::Denied && emitted.contains("AZURE_TENANT_ID"),
        "{emitted}"
    );
    let (_, emitted) = of(|| {
        manager::error(
            404,
            "SubscriptionNotFound",
            "The subscription could not be found.",
        )
    })
    .await;
    assert!(emitted.contains("AZURE_SUBSCRIPTION_ID"), "{emitted}");
}

#[tokio::test]
async fn what_is_older_than_kept_is_not_asked_for() {
    let fake = cluster().start();
    let azure = azure(&fake, &outside::login());
    let mut old = fetch_request(vec![of_set(3)]);
    old.window = Window {
        from: Some(at("2026-05-01T00:00:00Z")),
        to: Some(at("2026-05-02T00:00:00Z")),
    };
    let (.., rows) = fetched(&azure, &old).await;
    assert_eq!(row(&rows, "activity").status, Status::Expired);
    assert_eq!(row(&rows, "health").status, Status::Expired);
    assert_eq!(
        fake.count(|requested| requested.path.ends_with("/values")),
        0
    );
    // Some of it is: the API refuses to be asked for more.
    old.window.to = None;
    let (.., rows) = fetched(&azure, &old).await;
    let activity = row(&rows, "activity");
    assert_eq!(activity.status, Status::Truncated);
    assert_eq!(
        activity.got_from,
        Some(at(NOON) - 90 * 24 * HOUR + HOUR / 6)
    );
    assert!(activity.rows > 0 && detail(activity).contains("90 days"));
}

#[tokio::test]
async fn broken_records_are_counted_and_the_rest_is_used() {
    let fake = Fake::start(|requested| {
        if !requested.path.ends_with("/values") {
            return Reply::Json(200, json!({"value": []}));
        }
        let mut no_time = record(
            "21T10:20:00",
            &vmss(),
            "Microsoft.Compute/virtualMachineScaleSets/write",
            json!({}),
        );
        no_time["eventTimestamp"] = json!("soon");
        let good = record(
            "21T10:20:00",
            &vmss(),
            "Microsoft.Compute/virtualMachineScaleSets/write",
            json!({}),
        );
        Reply::Json(200, json!({"value": [no_time, 7, good]}))
    });
    let (events, _, rows) = fetched(&azure(&fake, &outside::login()), &fetch_request(vec![])).await;
    let activity = row(&rows, "activity");
    assert_eq!(
        (events.len(), activity.rows, activity.status),
        (1, 1, Status::Truncated)
    );
    assert!(
        detail(activity).contains("without a time") && detail(activity).contains("not an object")
    );
}
