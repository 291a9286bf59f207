//! What is asked for, and what comes of it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{FakeAccounts, Instance, action};
use super::*;
use crate::contract::{Input, Options};
use crate::event::EventId;
use crate::recording::read;

pub(super) const A: &str = "i-0123456789abcdef0";
const B: &str = "i-0123456789abcdef1";
pub(super) const NODE_A: (&str, &str) = ("gpu-1", "aws:///us-east-1a/i-0123456789abcdef0");
const NODE_B: (&str, &str) = ("gpu-2", "aws:///us-east-1a/i-0123456789abcdef1");
const GROUP: (&str, &str) = ("aws:autoscaling:groupName", "g");

/// A record of `CloudTrail` about some instances, with their names as resources.
pub(super) fn call(name: &str, time: &str, id: &str, instances: &[&str]) -> (Value, Vec<String>) {
    let items: Vec<Value> = instances
        .iter()
        .map(|id| json!({ "instanceId": id }))
        .collect();
    let record = json!({
        "eventVersion": "1.08", "eventTime": time, "eventSource": "ec2.amazonaws.com", "eventName": name,
        "awsRegion": "us-east-1", "eventID": id, "readOnly": false, "recipientAccountId": "123456789012",
        "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "requestParameters": {"instancesSet": {"items": items}},
    });
    (
        record,
        instances.iter().map(|id| (*id).to_owned()).collect(),
    )
}

fn evicted(time: &str, id: &str) -> (Value, Vec<String>) {
    let record = json!({
        "eventVersion": "1.11", "eventTime": time, "eventSource": "ec2.amazonaws.com", "eventName": "BidEvictedEvent",
        "awsRegion": "us-east-1", "eventID": format!("ev-{id}"), "eventType": "AwsServiceEvent",
        "requestParameters": null, "serviceEventDetails": {"instanceIdSet": [id]},
    });
    (record, Vec::new())
}

fn retirement() -> Value {
    json!({"arn": "arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED_1",
        "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange",
        "region": "us-east-1", "startTime": at("2026-11-21T15:00:00Z") / SECOND, "lastUpdatedTime": at("2026-11-16T10:00:00Z") / SECOND,
        "statusCode": "upcoming", "eventScopeCode": "ACCOUNT_SPECIFIC"})
}

fn outage(region: &str, start: &str, end: &str) -> Value {
    json!({"arn": format!("arn:aws:health:{region}::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/AWS_EC2_OPERATIONAL_ISSUE_{start}"),
        "service": "EC2", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE", "eventTypeCategory": "issue", "region": region,
        "startTime": at(start) / SECOND, "endTime": at(end) / SECOND, "lastUpdatedTime": at(end) / SECOND,
        "statusCode": "closed", "eventScopeCode": "PUBLIC"})
}

/// A spot instance of a group that was taken back, and one that was not.
fn reclaimed() -> FakeAccounts {
    let mut a = Instance::new(A, "us-east-1a");
    a.state = "terminated";
    a.reason = ("Server.SpotInstanceTermination", "");
    a.tags = vec![GROUP, ("experiment", "e1")];
    let mut b = Instance::new(B, "us-east-1a");
    b.tags = vec![GROUP];
    FakeAccounts {
        instances: vec![a, b, Instance::new("i-0123456789abcdeff", "us-east-1a")],
        scheduled: vec![(B, "system-reboot", "2026-11-25T10:00:00.000Z")],
        spot: vec![
            (
                A,
                "instance-terminated-no-capacity",
                "2026-11-21T15:02:01.000Z",
            ),
            (
                "i-0123456789abcdeff",
                "instance-terminated-no-capacity",
                "2026-11-21T15:00:00.000Z",
            ),
        ],
        activities: vec![
            [
                "g",
                "Terminating EC2 instance: i-0123456789abcdef0",
                "At 2026-11-21T15:02:10Z an instance was taken out of service in response to an EC2 health check.",
                "2026-11-21T15:02:12Z",
            ],
            [
                "other",
                "Launching a new EC2 instance: i-0123456789abcdeff",
                "c",
                "2026-11-21T15:00:00Z",
            ],
            [
                "g",
                "Launching a new EC2 instance: i-0123456789abcdef0",
                "c",
                "2026-11-01T15:00:00Z",
            ],
        ],
        calls: vec![
            evicted("2026-11-21T15:02:00Z", A),
            evicted("2026-11-21T15:02:00Z", "i-0123456789abcdeff"),
            call(
                "RebootInstances",
                "2026-11-21T15:01:00Z",
                "c-1",
                &[B, "i-0123456789abcdeff"],
            ),
            call(
                "TerminateInstances",
                "2026-11-21T15:01:30Z",
                "c-2",
                &["i-0123456789abcdeff"],
            ),
        ],
        health: vec![
            (retirement(), vec![B, "i-0123456789abcdeff"]),
            (
                outage("us-east-1", "2026-11-21T14:30:00Z", "2026-11-21T14:50:00Z"),
                vec![],
            ),
            (
                outage("us-east-1", "2026-11-20T14:30:00Z", "2026-11-20T14:50:00Z"),
                vec![],
            ),
            (
                outage("eu-west-1", "2026-11-21T14:30:00Z", "2026-11-21T14:50:00Z"),
                vec![],
            ),
        ],
        ..FakeAccounts::default()
    }
}

#[tokio::test]
async fn every_source_tells_of_the_machines_and_of_no_others() {
    let played = play(reclaimed());
    let got = played.fetch(&fetch_request(&[NODE_A, NODE_B])).await;
    assert_eq!(
        got.emitted(A),
        [
            "Server.SpotInstanceTermination",
            "instance-terminated-no-capacity",
            "terminate",
            "BidEvictedEvent"
        ]
    );
    assert_eq!(
        got.emitted(B),
        [
            "system-reboot",
            "RebootInstances",
            "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"
        ]
    );
    assert!(got.emitted("i-0123456789abcdeff").is_empty());
    for row in &got.rows {
        assert_eq!(row.status, Status::Complete, "{row:?}");
        assert_eq!(row.namespace.as_deref(), Some("123456789012"));
    }
    let kinds: Vec<&str> = got.rows.iter().map(|row| row.resource.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "instances",
            "scheduled_events",
            "spot_requests",
            "scaling_activities",
            "activity",
            "health"
        ]
    );
    // The last calls may still come.
    let row = got.row("activity");
    assert_eq!(row.got_to, Some(at("2026-11-21T15:10:00Z")));
    assert_eq!(row.retention_s, Some(90 * 86_400));
    assert_eq!(got.row("instances").rows, 2);

    // A machine's part in an announcement tells when it is due.
    let events = got.events();
    let due = events
        .iter()
        .find(|event| {
            event.object_uid.is_some()
                && event.fact == "cloud.host_event"
                && event.attribute("host_event") == Some("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED")
        })
        .unwrap();
    assert_eq!(due.attribute("not_before"), Some("2026-11-21T15:00:00Z"));
    assert_eq!(due.message.as_deref(), Some("hardware is bad"));
    // One outage: of the region, and of the time.
    let outages = events
        .iter()
        .filter(|event| event.attribute("host_event") == Some("AWS_EC2_OPERATIONAL_ISSUE"));
    let phases: Vec<_> = outages.map(|event| event.attribute("phase")).collect();
    assert_eq!(phases, [Some("started"), Some("ended")]);

    // The same question, the same answer.
    let again = played.fetch(&fetch_request(&[NODE_A, NODE_B])).await;
    assert_eq!(got.all, again.all);
    assert_eq!(got.rows, again.rows);
}

#[tokio::test]
async fn late_calls_are_said_to_be_late() {
    let mut question = fetch_request(&[NODE_A]);
    question.window.to = Some(now());
    let got = play(reclaimed()).fetch(&question).await;
    let row = got.row("activity");
    assert_eq!(row.got_to, Some(now() - 900 * SECOND));
    assert!(got.detail("activity").contains("up to 15 minutes late"));
}

/// The ids of what a file tells.
fn in_a_file(value: &Value) -> Vec<EventId> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given.json");
    std::fs::write(&path, value.to_string()).unwrap();
    let mut all: Vec<Observation> = Vec::new();
    read(&[Input::Path(path)], &Options::default(), &mut all);
    let events = all.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(event.id),
        _ => None,
    });
    events.collect()
}

#[tokio::test]
async fn a_live_record_and_the_same_in_a_file_are_one_fact() {
    let lab = reclaimed();
    let got = play(lab.clone())
        .fetch(&fetch_request(&[NODE_A, NODE_B]))
        .await;
    let live: Vec<EventId> = got.events().iter().map(|event| event.id).collect();
    for file in [
        json!({"Reservations": [{"ReservationId": "r-1", "OwnerId": "123456789012", "Instances": [{"InstanceId": A,
            "LaunchTime": "2026-11-21T13:00:00+00:00", "State": {"Code": 48, "Name": "terminated"}, "StateTransitionReason": "",
            "StateReason": {"Code": "Server.SpotInstanceTermination", "Message": "x"}}]}]}),
        json!({"InstanceStatuses": [{"InstanceId": B, "SystemStatus": {"Status": "ok"}, "Events": [{"InstanceEventId": "ev-system-reboot",
            "Code": "system-reboot", "Description": "d", "NotBefore": "2026-11-25T10:00:00+00:00"}]}]}),
        json!({"SpotInstanceRequests": [{"SpotInstanceRequestId": format!("sir-{A}"), "InstanceId": A,
            "Status": {"Code": "instance-terminated-no-capacity", "UpdateTime": "2026-11-21T15:02:01+00:00"}}]}),
        json!({"Activities": [{"ActivityId": "2026-11-21T15:02:12Z", "AutoScalingGroupName": "g", "StatusCode": "Successful",
            "Description": "Terminating EC2 instance: i-0123456789abcdef0", "Cause": "c", "StartTime": "2026-11-21T15:02:12+00:00"}]}),
        json!({"Records": [lab.calls[0].0]}),
        json!({"events": [retirement()]}),
    ] {
        let ids = in_a_file(&file);
        assert_eq!(ids.len(), 1, "{file}");
        assert!(live.contains(&ids[0]), "{file}");
    }
    let launched = got.all.iter().find_map(|one| match one {
        Observation::Object(version) if version.key.uid == A => version.body.started,
        _ => None,
    });
    assert_eq!(launched.unwrap().width(), SECOND);
}

#[tokio::test]
async fn pages_are_read_to_their_end() {
    let mut lab = reclaimed();
    for number in 0..120 {
        let time = format!("2026-11-21T14:{:02}:{:02}Z", number / 60, number % 60);
        let id = format!("many-{number}");
        lab.calls.push(call("StartInstances", &time, &id, &[A]));
    }
    lab.page = Some(7);
    lab.empty_first = true;
    let played = play_with(lab, |options| options.lookups = 200);
    let mut question = fetch_request(&[NODE_A]);
    question.deadline = Instant::now() + Duration::from_secs(60);
    let got = played.fetch(&question).await;
    // Ten pages of one lookup, the first of them empty.
    let started = got
        .emitted(A)
        .iter()
        .filter(|emitted| *emitted == "StartInstances")
        .count();
    assert_eq!(started, 9 * 7);
    let row = got.row("activity");
    assert_eq!(row.status, Status::Truncated);
    assert!(
        got.detail("activity").contains("only the first 10 pages"),
        "{row:?}"
    );
    for kind in ["instances", "health", "scaling_activities"] {
        assert_eq!(
            got.row(kind).status,
            Status::Complete,
            "{:?}",
            got.row(kind)
        );
    }
}

#[tokio::test]
async fn many_machines_are_named_in_portions_and_calls_read_by_name() {
    let ids: Vec<String> = (0..250).map(|number| format!("i-{number:017x}")).collect();
    let instances = ids.iter().map(|id| Instance::new(id, "us-east-1a"));
    let mut lab = FakeAccounts {
        instances: instances.collect(),
        ..FakeAccounts::default()
    };
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    lab.calls = vec![
        call(
            "TerminateInstances",
            "2026-11-21T15:01:30Z",
            "c-1",
            &all[..3],
        ),
        call(
            "TerminateInstances",
            "2026-11-21T15:01:30Z",
            "c-2",
            &["i-0123456789abcdeff"],
        ),
    ];
    let played = play(lab);
    let uids: Vec<String> = ids
        .iter()
        .map(|id| format!("aws:///us-east-1a/{id}"))
        .collect();
    let nodes: Vec<(&str, &str)> = uids.iter().map(|uid| ("n", uid.as_str())).collect();
    let got = played.fetch(&fetch_request(&nodes)).await;
    assert_eq!(played.count("DescribeInstances"), 2);
    assert_eq!(played.count("DescribeInstanceStatus"), 3);
    assert_eq!(played.count("LookupEvents"), 14);
    assert_eq!(got.emitted(all[2]), ["TerminateInstances"]);
    assert_eq!(got.row("activity").rows, 1);
    assert!(got.rows.iter().all(|row| row.status == Status::Complete));
}

#[tokio::test]
async fn what_the_budget_left_out_is_said_and_deaths_come_first() {
    let mut lab = reclaimed();
    lab.calls
        .push(call("StopInstances", "2026-11-21T15:01:00Z", "c-9", &[B]));
    let played = play_with(lab, |options| options.lookups = 2);
    let mut question = fetch_request(&[NODE_A, NODE_B]);
    question.scope.nodes[1].moments = vec![at("2026-11-21T15:02:00Z")];
    let got = played.fetch(&question).await;
    assert_eq!(played.count("LookupEvents"), 2);
    assert!(got.emitted(B).contains(&"StopInstances".to_owned()));
    assert_eq!(got.row("activity").status, Status::Truncated);
    assert!(
        got.detail("activity").contains("2 lookups were skipped"),
        "{}",
        got.detail("activity")
    );
}

#[tokio::test]
async fn lookups_keep_their_distance() {
    let played = play_with(reclaimed(), |options| {
        options.between_lookups = Duration::from_millis(60);
    });
    let start = Instant::now();
    played.fetch(&fetch_request(&[NODE_A, NODE_B])).await;
    let lookups = u32::try_from(played.count("LookupEvents")).unwrap();
    assert!(lookups >= 4);
    assert!(start.elapsed() >= Duration::from_millis(60) * (lookups - 1));
}

#[tokio::test]
async fn a_machine_that_is_gone_is_known_by_the_call_that_made_it() {
    let name = "ip-10-0-0-1.ec2.internal";
    let made = json!({
        "eventVersion": "1.08", "eventTime": "2026-11-20T10:00:00Z", "eventSource": "ec2.amazonaws.com", "eventName": "RunInstances",
        "awsRegion": "us-east-1", "eventID": "c-0", "readOnly": false, "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "responseElements": {"instancesSet": {"items": [{"instanceId": A, "privateDnsName": name,
            "tagSet": {"items": [{"key": "aws:autoscaling:groupName", "value": "g"}]}}]}},
    });
    let resize = json!({
        "eventVersion": "1.08", "eventTime": "2026-11-21T15:00:00Z", "eventSource": "autoscaling.amazonaws.com",
        "eventName": "SetDesiredCapacity", "awsRegion": "us-east-1", "eventID": "c-3", "readOnly": false,
        "userIdentity": {"type": "IAMUser", "userName": "ada"}, "requestParameters": {"autoScalingGroupName": "g", "desiredCapacity": 1},
    });
    let mut lab = FakeAccounts {
        calls: vec![
            (made, vec![A.to_owned()]),
            call("TerminateInstances", "2026-11-21T15:01:30Z", "c-1", &[A]),
            (resize, vec!["g".to_owned()]),
        ],
        ..FakeAccounts::default()
    };
    // Another node's machine is known, so that names are not the only ones.
    lab.instances = vec![Instance::new(B, "us-east-1a")];
    for nodes in [&[(name, "")][..], &[(name, ""), NODE_B][..]] {
        let got = play(lab.clone()).fetch(&fetch_request(nodes)).await;
        let mut emitted = got.emitted(A);
        emitted.sort();
        assert_eq!(emitted, ["RunInstances", "TerminateInstances"], "{nodes:?}");
        let resized = |event: &&Event| event.attribute("method") == Some("SetDesiredCapacity");
        assert!(got.events().iter().any(resized));
        let detail = got.detail("instances");
        assert!(detail.contains("not listed"), "{detail}");
    }
}

#[tokio::test]
async fn experiments_of_bare_machines_are_found_by_their_tags() {
    let mut question = fetch_request(&[]);
    question.scope.experiments = vec!["e1".to_owned()];
    let played = play(reclaimed());
    let got = played.fetch(&question).await;
    assert!(
        got.emitted(A).contains(&"BidEvictedEvent".to_owned()),
        "{:?}",
        got.emitted(A)
    );
    assert!(got.emitted("i-0123456789abcdeff").is_empty());
    assert_eq!(played.count("DescribeInstances"), 4);
}

#[tokio::test]
async fn without_a_scope_it_is_what_happened_of_late() {
    let mut question = fetch_request(&[]);
    question.scope = Scope::default();
    let got = play(reclaimed()).fetch(&question).await;
    assert!(!got.emitted("i-0123456789abcdeff").is_empty());
    assert!(
        got.rows.iter().all(|row| row.status == Status::Complete),
        "{:?}",
        got.statuses()
    );
}

#[tokio::test]
async fn machines_of_others_are_not_asked_for() {
    let played = play(reclaimed());
    let got = played
        .fetch(&fetch_request(&[(
            "gpu-3",
            "gce://lab/us-central1-a/gpu-3",
        )]))
        .await;
    assert_eq!(played.fake.requests().len(), 0);
    let status = Status::NotConfigured;
    assert_eq!((got.rows.len(), got.rows[0].status), (1, status));
    assert!(got.detail("instances").contains("not queried"));
}

#[tokio::test]
async fn each_region_is_asked_for_its_own() {
    let mut lab = reclaimed();
    lab.instances
        .push(Instance::new("i-0123456789abcdef5", "eu-west-1b"));
    let played = play(lab);
    let got = played
        .fetch(&fetch_request(&[
            NODE_A,
            ("gpu-5", "aws:///eu-west-1b/i-0123456789abcdef5"),
        ]))
        .await;
    let requested = played.fake.requests();
    let instances: Vec<(bool, &str)> = requested
        .iter()
        .filter(|requested| action(requested) == "DescribeInstances")
        .map(|requested| {
            (
                requested
                    .header("authorization")
                    .contains("/eu-west-1/ec2/"),
                requested.query("Filter.1.Value.1"),
            )
        })
        .collect();
    assert_eq!(instances.len(), 2);
    assert!(instances.contains(&(true, "i-0123456789abcdef5")));
    assert!(instances.contains(&(false, A)));
    assert_eq!(got.rows.len(), 6);
    assert_eq!(got.row("instances").rows, 2);
}

#[tokio::test]
async fn several_accounts_have_rows_of_their_own() {
    let lab = Arc::new(Mutex::new(reclaimed()));
    let played = Arc::clone(&lab);
    let fake = Fake::start(move |requested| played.lock().unwrap().answer(requested));
    let options = LiveOptions {
        between_lookups: Duration::ZERO,
        ..LiveOptions::default()
    };
    let accounts = vec![account("dev", &fake.url()), account("other", &fake.url())];
    let aws = Aws::of(options, accounts).unwrap();
    assert_eq!(aws.place(), "dev, other");
    let mut all: Vec<Observation> = Vec::new();
    let rows = aws.fetch(&fetch_request(&[NODE_A]), &mut all).await;
    let accounts: Vec<_> = rows
        .iter()
        .filter_map(|row| row.namespace.as_deref())
        .collect();
    assert_eq!(accounts[..6], ["123456789012"; 6]);
    assert_eq!(accounts[6..], ["210987654321"; 6]);
}

#[tokio::test]
async fn what_is_no_longer_kept_is_not_asked_for() {
    let mut question = fetch_request(&[NODE_A]);
    question.window = Window {
        from: Some(now() - 120 * DAY),
        to: Some(now() - 119 * DAY),
    };
    let played = play(FakeAccounts::default());
    let got = played.fetch(&question).await;
    assert_eq!(
        played.count("LookupEvents") + played.count("DescribeScalingActivities"),
        0
    );
    assert!(
        got.statuses()
            .iter()
            .filter(|(_, status)| *status == Status::Expired)
            .count()
            >= 5,
        "{:?}",
        got.statuses()
    );
    assert!(got.detail("activity").contains("90 days"));
}

#[tokio::test]
async fn recorded_answers_are_understood() {
    let folder = Path::new("../../shared/recordings/aws");
    if !folder.exists() {
        return whathappened_loopback::skipped("no ../shared");
    }
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let real: Value =
        serde_json::from_str(&text("cloudtrail-BidEvictedEvent-real-2026.json")).unwrap();
    let spot = real["serviceEventDetails"]["instanceIdSet"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let mut lab = FakeAccounts {
        calls: vec![(real, Vec::new())],
        ..FakeAccounts::default()
    };
    for (action, file) in [
        (
            "DescribeInstances",
            "moto-5.2.5-ec2-DescribeInstances-200.xml",
        ),
        (
            "DescribeInstanceStatus",
            "moto-5.2.5-ec2-DescribeInstanceStatus-200.xml",
        ),
        (
            "DescribeSpotInstanceRequests",
            "moto-5.2.5-ec2-DescribeSpotInstanceRequests-200.xml",
        ),
        (
            "DescribeScalingActivities",
            "moto-5.2.5-autoscaling-DescribeScalingActivities-200.xml",
        ),
    ] {
        lab.refuse.insert(action, (9, 200, text(file)));
    }
    for (action, file) in [
        (
            "DescribeEvents",
            "custodian-test_ec2_health_events_filter-health.DescribeEvents_1.json",
        ),
        (
            "DescribeEventDetails",
            "custodian-test_ec2_health_events_filter-health.DescribeEventDetails_1.json",
        ),
        (
            "DescribeAffectedEntities",
            "custodian-test_ec2_health_events_filter-health.DescribeAffectedEntities_1.json",
        ),
    ] {
        let recorded: Value = serde_json::from_str(&text(file)).unwrap();
        lab.refuse
            .insert(action, (9, 200, recorded["data"].to_string()));
    }
    let mut question = fetch_request(&[]);
    question.scope = Scope::default();
    question.window = Window {
        from: Some(at("2026-07-28T00:00:00Z")),
        to: Some(at("2026-11-21T15:00:00Z")),
    };
    question.now = at("2026-10-01T00:00:00Z");
    let got = play(lab).fetch(&question).await;
    assert_eq!(got.emitted("i-63719b2fa91e5e40f"), ["StopInstances"]);
    assert_eq!(got.emitted(&spot), ["BidEvictedEvent"]);
    let due = got
        .events()
        .into_iter()
        .find(|event| event.object_uid.as_deref() == Some("i-063b4adb5673590ed"));
    assert_eq!(
        due.unwrap().attribute("not_before"),
        Some("2017-05-11T00:00:00Z")
    );
}
