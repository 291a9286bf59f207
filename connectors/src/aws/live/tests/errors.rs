//! What goes wrong, and how it is told.

use serde_json::json;

use super::server::{FakeAccounts, Instance};
use super::*;
use crate::connector::Verdict;

const A: &str = "i-0123456789abcdef0";
const NODE: (&str, &str) = ("gpu-1", "aws:///us-east-1a/i-0123456789abcdef0");
const ALWAYS: usize = 99;

fn lab() -> FakeAccounts {
    FakeAccounts {
        instances: vec![Instance::new(A, "us-east-1a")],
        ..FakeAccounts::default()
    }
}

fn ec2(code: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<Response><Errors><Error><Code>{code}</Code><Message>You are not authorized to perform this operation.</Message></Error></Errors></Response>"
    )
}

fn query(code: &str) -> String {
    format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>m</Message></Error></ErrorResponse>"
    )
}

fn json_11(name: &str) -> String {
    json!({ "__type": name, "Message": "m" }).to_string()
}

#[tokio::test]
async fn each_thing_that_is_not_allowed_is_named_and_the_rest_is_used() {
    for (action, resource, code, body, permission) in [
        (
            "DescribeInstances",
            "instances",
            403,
            ec2("UnauthorizedOperation"),
            "ec2:DescribeInstances",
        ),
        (
            "DescribeInstanceStatus",
            "scheduled_events",
            403,
            ec2("UnauthorizedOperation"),
            "ec2:DescribeInstanceStatus",
        ),
        (
            "DescribeSpotInstanceRequests",
            "spot_requests",
            403,
            ec2("UnauthorizedOperation"),
            "ec2:DescribeSpotInstanceRequests",
        ),
        (
            "DescribeScalingActivities",
            "scaling_activities",
            403,
            query("AccessDenied"),
            "autoscaling:DescribeScalingActivities",
        ),
        (
            "LookupEvents",
            "activity",
            400,
            json_11("AccessDeniedException"),
            "cloudtrail:LookupEvents",
        ),
        (
            "DescribeEvents",
            "health",
            400,
            json_11("AccessDeniedException"),
            "health:DescribeEvents",
        ),
        (
            "DescribeEvents",
            "health",
            400,
            json_11("SubscriptionRequiredException"),
            "support plan",
        ),
    ] {
        let mut lab = lab();
        lab.refuse.insert(action, (ALWAYS, code, body));
        let played = play(lab);
        let got = played.fetch(&fetch_request(&[NODE])).await;
        for (kind, status) in got.statuses() {
            let want = if kind == resource {
                Status::Denied
            } else {
                Status::Complete
            };
            assert_eq!(status, want, "{action}: {:?}", got.row(kind));
        }
        assert!(
            got.detail(resource).contains(permission),
            "{}",
            got.detail(resource)
        );
        assert!(got.row(resource).would_have_shown.is_some());
        assert_eq!(played.count(action), 1, "{action}");
    }
}

#[tokio::test]
async fn credentials_that_expired_are_told_once_and_nothing_else_is_asked() {
    let mut lab = lab();
    lab.refuse
        .insert("GetCallerIdentity", (ALWAYS, 403, query("ExpiredToken")));
    let played = play(lab);
    let got = played.fetch(&fetch_request(&[NODE])).await;
    assert_eq!(played.fake.requests().len(), 1);
    assert!(got.rows.iter().all(|row| row.status == Status::Denied));
    assert!(
        got.detail("activity").contains("expired"),
        "{}",
        got.detail("activity")
    );
    assert_eq!(got.row("activity").namespace.as_deref(), Some("default"));

    // They may also expire on the way.
    let mut lab = self::lab();
    lab.refuse.insert(
        "LookupEvents",
        (ALWAYS, 400, json_11("ExpiredTokenException")),
    );
    let got = play(lab).fetch(&fetch_request(&[NODE])).await;
    assert_eq!(got.row("activity").status, Status::Denied);
    assert!(
        got.detail("activity").contains("expired"),
        "{}",
        got.detail("activity")
    );
}

#[tokio::test]
async fn without_the_accounts_number_the_rest_works() {
    let mut lab = lab();
    lab.refuse
        .insert("GetCallerIdentity", (ALWAYS, 403, query("AccessDenied")));
    let got = play(lab).fetch(&fetch_request(&[NODE])).await;
    assert!(got.rows.iter().all(|row| row.status == Status::Complete));
    assert_eq!(got.row("instances").namespace.as_deref(), Some("default"));
}

#[tokio::test]
async fn who_asks_too_often_is_patient() {
    for (action, code, body) in [
        ("LookupEvents", 400, json_11("ThrottlingException")),
        ("DescribeInstances", 503, ec2("RequestLimitExceeded")),
        ("DescribeScalingActivities", 400, query("Throttling")),
    ] {
        let mut lab = lab();
        lab.refuse.insert(action, (1, code, body));
        let played = play(lab);
        let got = played.fetch(&fetch_request(&[NODE])).await;
        assert!(
            got.rows.iter().all(|row| row.status == Status::Complete),
            "{action}"
        );
    }
}

#[tokio::test]
async fn pages_for_browsers_and_broken_answers_are_failures() {
    for (action, resource, body) in [
        (
            "DescribeInstances",
            "instances",
            "<html><head><title>Sign in</title></head></html>".to_owned(),
        ),
        (
            "DescribeInstances",
            "instances",
            "<DescribeInstancesResponse><reservationSet>".to_owned(),
        ),
        (
            "LookupEvents",
            "activity",
            "<html><head><title>Sign in</title></head></html>".to_owned(),
        ),
        (
            "DescribeScalingActivities",
            "scaling_activities",
            String::new(),
        ),
    ] {
        let mut lab = lab();
        lab.refuse.insert(action, (ALWAYS, 200, body));
        let got = play(lab).fetch(&fetch_request(&[NODE])).await;
        let row = got.row(resource);
        assert_eq!(row.status, Status::Failed, "{row:?}");
        assert!(
            got.detail(resource).contains("not from this API"),
            "{row:?}"
        );
    }
}

#[tokio::test]
async fn records_that_are_none_are_counted() {
    let mut lab = lab();
    let events =
        json!({"Events": [{"EventId": "1", "CloudTrailEvent": format!("{{{A}")}]}).to_string();
    lab.refuse.insert("LookupEvents", (1, 200, events));
    let got = play(lab).fetch(&fetch_request(&[NODE])).await;
    assert_eq!(got.row("activity").status, Status::Truncated);
    assert!(
        got.detail("activity")
            .contains("1 records could not be used"),
        "{}",
        got.detail("activity")
    );
}

#[tokio::test]
async fn an_instance_that_is_gone_does_not_hide_the_others() {
    let gone = "i-0123456789abcdef9";
    let mut lab = lab();
    lab.scheduled = vec![(A, "instance-stop", "2026-11-25T10:00:00Z")];
    // Which instances there are is not known.
    lab.refuse.insert(
        "DescribeInstances",
        (ALWAYS, 403, ec2("UnauthorizedOperation")),
    );
    let played = play(lab);
    let uid = format!("aws:///us-east-1a/{gone}");
    let got = played.fetch(&fetch_request(&[NODE, ("gpu-9", &uid)])).await;
    assert_eq!(got.emitted(A), ["instance-stop"]);
    assert_eq!(got.row("scheduled_events").status, Status::Complete);
    assert_eq!(played.count("DescribeInstanceStatus"), 2);
}

#[tokio::test]
async fn terminated_instances_are_forgotten_and_that_is_said() {
    let got = play(FakeAccounts::default())
        .fetch(&fetch_request(&[NODE]))
        .await;
    for kind in ["instances", "scheduled_events"] {
        assert_eq!(got.row(kind).status, Status::Expired, "{:?}", got.row(kind));
    }
    assert!(got.detail("instances").contains("about an hour"));
    assert_eq!(got.row("activity").status, Status::Complete);
}

#[tokio::test]
async fn options_that_make_no_sense_are_told() {
    let options = LiveOptions {
        endpoints: vec![("EC2".to_owned(), "ec2.example".to_owned())],
        ..LiveOptions::default()
    };
    let accounts = vec![account("default", "http://127.0.0.1:9")];
    let failure = Aws::of(options, accounts).unwrap_err();
    assert!(failure.to_string().contains("is not a URL"), "{failure}");
    let failure = Aws::of(LiveOptions::default(), Vec::new()).unwrap_err();
    assert!(failure.to_string().contains("no AWS account"), "{failure}");
}

#[tokio::test]
async fn a_deadline_is_kept_and_what_is_there_is_used() {
    let played = play_with(lab(), |options| {
        options.between_lookups = Duration::from_secs(60);
    });
    let mut question = fetch_request(&[NODE]);
    question.deadline = Instant::now() + Duration::from_secs(2);
    let start = Instant::now();
    let got = played.fetch(&question).await;
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(got.row("activity").status, Status::Truncated);
    assert!(
        got.detail("activity").contains("no response within"),
        "{}",
        got.detail("activity")
    );
    assert_eq!(got.row("instances").status, Status::Complete);
}

#[tokio::test]
async fn a_check_says_who_we_are_and_what_we_may() {
    let mut lab = lab();
    lab.refuse.insert(
        "DescribeEvents",
        (ALWAYS, 400, json_11("SubscriptionRequiredException")),
    );
    lab.refuse.insert(
        "LookupEvents",
        (ALWAYS, 400, json_11("AccessDeniedException")),
    );
    let played = play(lab);
    let soon = Instant::now() + Duration::from_secs(20);
    let health = played.aws.check(now(), soon).await;
    assert_eq!(health.unreachable, None);
    assert_eq!(
        health.place,
        "account 123456789012 as arn:aws:iam::123456789012:user/ada"
    );
    assert!(health.skew.is_some_and(|skew| skew.by.abs() < 60 * SECOND));
    let said: Vec<(&str, Verdict)> = health
        .permissions
        .iter()
        .map(|permission| (permission.what.as_str(), permission.verdict))
        .collect();
    assert_eq!(said.len(), 6);
    assert_eq!(
        said[0],
        (
            "ec2:DescribeInstances in account 123456789012, us-east-1",
            Verdict::Allowed
        )
    );
    assert_eq!(said[4].1, Verdict::Denied);
    assert_eq!(said[5].1, Verdict::Denied);
    let detail = health.permissions[5].detail.as_deref().unwrap();
    assert!(detail.contains("support plan"), "{detail}");

    played.lab.lock().unwrap().refuse.insert(
        "GetCallerIdentity",
        (ALWAYS, 403, query("InvalidClientTokenId")),
    );
    let health = played.aws.check(now(), soon).await;
    let why = health.unreachable.unwrap();
    assert!(
        why.contains("InvalidClientTokenId") && why.contains("credentials"),
        "{why}"
    );
}
