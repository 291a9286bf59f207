//! Records of AWS through the front door.

use serde_json::{Value, json};

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::rfc3339;

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn observed(text: &str) -> (Summary, Vec<Observation>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, text).unwrap();
    let mut kept = Collected::default();
    let summary = read(&[Input::Path(path)], &Options::default(), &mut kept);
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    (summary, kept.0)
}

fn emitted(value: &Value) -> Vec<Event> {
    let events = observed(&value.to_string()).1.into_iter();
    events
        .filter_map(|one| match one {
            Observation::Event(event) => Some(*event),
            _ => None,
        })
        .collect()
}

fn trail(name: &str, more: Value) -> Value {
    let mut record = json!({
        "eventVersion": "1.08", "eventTime": "2026-11-21T10:00:00Z", "eventSource": "ec2.amazonaws.com",
        "eventName": name, "awsRegion": "us-west-2", "eventID": "e-1", "readOnly": false,
        "userIdentity": {"type": "IAMUser", "userName": "ada", "arn": "arn:aws:iam::1:user/ada", "accountId": "1"},
        "requestParameters": {"instancesSet": {"items": [{"instanceId": "i-0123456789abcdef0"}, {"instanceId": "i-0123456789abcdef1"}]}},
    });
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record
}

const ID: &str = "i-0123456789abcdef0";

/// Calls to end an instance succeed also where it has ended already; the answer says in which state each was found.
#[test]
fn a_call_that_found_an_instance_as_it_wanted_it_changed_nothing() {
    let found = |id: &str, before: &str| {
        json!({"instanceId": id, "previousState": {"code": 16, "name": before},
               "currentState": {"code": 48, "name": "terminated"}})
    };
    let answer = json!({"responseElements": {"instancesSet": {"items": [
        found(ID, "terminated"),
        found("i-0123456789abcdef1", "running"),
    ]}}});
    let events = emitted(&trail("TerminateInstances", answer));
    let outcomes: Vec<_> = events.iter().map(|one| one.attribute("outcome")).collect();
    assert_eq!(outcomes, [Some("unchanged"), Some("succeeded")]);
}

#[test]
fn a_call_is_told_for_each_instance_whatever_it_is_wrapped_in() {
    let record = trail("TerminateInstances", json!({}));
    let lookup = json!({"EventId": "e-1", "EventName": "TerminateInstances", "EventTime": 1_795_255_200.0,
        "CloudTrailEvent": record.to_string()});
    let bridge = json!({"version": "0", "detail-type": "AWS API Call via CloudTrail", "time": "2026-11-21T10:01:00Z", "detail": record});
    for text in [
        record.clone(),
        json!([record]),
        json!({"Records": [record]}),
        json!({"Events": [lookup], "NextToken": "n"}),
        bridge,
    ] {
        let events = emitted(&text);
        assert_eq!(events.len(), 2, "{text}");
        assert_eq!(events[0].fact, "cloud.activity");
        assert_eq!(events[0].object_uid.as_deref(), Some(ID));
        assert_eq!(events[0].actor.as_deref(), Some("ada"));
        assert_eq!(events[0].attribute("outcome"), Some("succeeded"));
        assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T10:00:00Z");
        assert_ne!(events[0].id, events[1].id);
    }
}

#[test]
fn the_caller_is_a_user_a_session_or_a_service() {
    let actor = |identity: Value| {
        let record = trail("StopInstances", json!({"userIdentity": identity}));
        emitted(&record)[0].actor.clone().unwrap()
    };
    assert_eq!(
        actor(
            json!({"type": "AssumedRole", "arn": "arn:aws:sts::1:assumed-role/Karpenter/17", "principalId": "x:17"})
        ),
        "Karpenter/17"
    );
    assert_eq!(
        actor(
            json!({"type": "AssumedRole", "arn": "arn:aws:sts::1:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling",
            "invokedBy": "autoscaling.amazonaws.com"})
        ),
        "autoscaling.amazonaws.com"
    );
    assert_eq!(
        actor(
            json!({"type": "IAMUser", "arn": "arn:aws:iam::1:user/carl", "userName": "carl",
            "invokedBy": "cloudformation.amazonaws.com"})
        ),
        "carl"
    );
    assert_eq!(
        actor(json!({"type": "Root", "arn": "arn:aws:iam::1:root"})),
        "root"
    );
}

#[test]
fn a_failed_call_says_so_and_reading_is_no_act() {
    let record = trail(
        "RunInstances",
        json!({"errorCode": "Server.InsufficientInstanceCapacity", "errorMessage": "none left",
               "requestParameters": {"instanceType": "p5.48xlarge"}}),
    );
    let events = emitted(&record);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].attribute("outcome"), Some("failed"));
    assert_eq!(
        events[0].reason.as_deref(),
        Some("Server.InsufficientInstanceCapacity")
    );
    let (summary, emitted) =
        observed(&trail("DescribeInstances", json!({"readOnly": true})).to_string());
    assert_eq!((summary.total.irrelevant, emitted.len()), (1, 0));
}

#[test]
fn an_eviction_names_each_instance() {
    let record = trail(
        "BidEvictedEvent",
        json!({"eventType": "AwsServiceEvent", "requestParameters": null,
               "serviceEventDetails": {"instanceIdSet": [ID]}}),
    );
    let events = emitted(&record);
    assert_eq!(events[0].fact, "cloud.host_event");
    assert_eq!(events[0].attribute("host_event"), Some("BidEvictedEvent"));
    assert_eq!(events[0].object_uid.as_deref(), Some(ID));
}

#[test]
fn a_machine_that_was_moved_off_its_host_is_no_mere_notice() {
    let notice = |code: &str| {
        json!({
            "id": "b-2", "detail-type": "AWS Health Event", "source": "aws.health", "account": "1", "region": "us-west-2",
            "time": "2026-11-10T10:00:00Z", "resources": [ID],
            "detail": {"service": "EC2", "eventTypeCategory": "accountNotification", "eventTypeCode": code,
                "eventArn": "arn:aws:health:us-west-2::event/EC2/C/C_1", "startTime": "Tue, 10 Nov 2026 09:58:00 GMT",
                "affectedEntities": [{"entityValue": ID}]}})
    };
    let events = emitted(&notice("AWS_EC2_SIMPLIFIED_AUTO_RECOVERY_SUCCESS"));
    assert_eq!(events[0].object_uid.as_deref(), Some(ID));
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-10T09:58:00Z");
    assert!(emitted(&notice("AWS_EC2_INSTANCE_NOTICE")).is_empty());
}

#[test]
fn health_says_when_it_was_told_and_when_it_will_be() {
    let event = json!({
        "id": "b-1", "detail-type": "AWS Health Event", "source": "aws.health", "account": "1", "region": "us-west-2",
        "time": "2026-11-10T10:00:00Z", "resources": [ID],
        "detail": {"service": "EC2", "eventTypeCategory": "scheduledChange", "eventArn": "arn:aws:health:us-west-2::event/EC2/C/C_1",
            "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "startTime": "Sun, 1 Nov 2026 22:00:00 GMT",
            "endTime": "Sun, 1 Nov 2026 23:00:00 GMT", "affectedEntities": [{"entityValue": ID}],
            "eventDescription": [{"language": "en_US", "latestDescription": "hardware\\nis bad"}]}});
    let events = emitted(&event);
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-10T10:00:00Z");
    assert_eq!(
        events[0].attribute("not_before"),
        Some("2026-11-01T22:00:00Z")
    );
    assert_eq!(events[0].attribute("phase"), Some("announced"));
    assert_eq!(events[0].attribute("account"), Some("1"));
    assert_eq!(events[0].message.as_deref(), Some("hardware\nis bad"));
    let listed = json!({"events": [{"arn": "a", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE", "eventTypeCategory": "issue",
        "startTime": 1_795_255_200.0, "lastUpdatedTime": 1_795_258_800.5, "statusCode": "open", "region": "us-west-2"}]});
    let events = emitted(&listed);
    assert_eq!(events[0].attribute("phase"), Some("started"));
    assert_eq!(events[0].attribute("places"), Some("us-west-2"));
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T10:00:00Z");
    let closed = json!({"events": [{"arn": "a", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE", "eventTypeCategory": "issue",
        "startTime": 1_795_255_200.0, "endTime": 1_795_258_800.0, "lastUpdatedTime": 1_795_262_400.0, "statusCode": "closed",
        "region": "us-west-2", "availabilityZone": "us-west-2b"}]});
    let emitted = emitted(&closed);
    let phases: Vec<_> = emitted
        .iter()
        .map(|event| (event.attribute("phase"), rfc3339(event.time.lo)))
        .collect();
    assert_eq!(
        phases,
        [
            (Some("started"), "2026-11-21T10:00:00Z".to_owned()),
            (Some("ended"), "2026-11-21T11:00:00Z".to_owned())
        ]
    );
    assert_eq!(emitted[0].id, events[0].id, "told again with its end");
    assert_eq!(
        emitted[0].end.map(|end| rfc3339(end.lo)).as_deref(),
        Some("2026-11-21T11:00:00Z")
    );
    assert_eq!(emitted[0].attribute("places"), Some("us-west-2b"));
}

#[test]
fn events_of_instances_are_announced_or_states() {
    let send = |kind: &str, detail: Value| {
        emitted(&json!({"id": "b", "detail-type": kind, "source": "aws.ec2", "account": "1", "region": "r",
            "time": "2026-11-21T10:00:00Z", "detail": detail})).remove(0)
    };
    let spot = send(
        "EC2 Spot Instance Interruption Warning",
        json!({"instance-id": ID, "instance-action": "terminate"}),
    );
    assert_eq!(spot.attribute("phase"), Some("announced"));
    assert_eq!(spot.reason.as_deref(), Some("terminate"));
    let state = send(
        "EC2 Instance State-change Notification",
        json!({"instance-id": ID, "state": "shutting-down"}),
    );
    assert_eq!(state.reason.as_deref(), Some("shutting-down"));
    let hook = send(
        "EC2 Instance-terminate Lifecycle Action",
        json!({"EC2InstanceId": ID, "AutoScalingGroupName": "g",
        "LifecycleActionToken": "t", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}),
    );
    assert_eq!(hook.fact, "cloud.group_activity");
    assert_eq!(hook.attribute("group"), Some("g"));
    assert_eq!(hook.object_uid.as_deref(), Some(ID));
}

#[test]
fn an_instance_says_why_it_stopped() {
    let instance = |code: &str, transition: &str, state: &str| {
        json!({"Reservations": [{"ReservationId": "r-1", "OwnerId": "1", "Instances": [{
            "InstanceId": ID, "LaunchTime": "2026-11-20T10:00:00+00:00", "State": {"Code": 48, "Name": state},
            "PrivateDnsName": "ip-10-0-0-1.ec2.internal", "Placement": {"AvailabilityZone": "us-east-1a"},
            "StateReason": {"Code": code, "Message": format!("{code}: x")}, "StateTransitionReason": transition,
            "Tags": [{"Key": "experiment", "Value": "e1"}, {"Key": "aws:autoscaling:groupName", "Value": "g"}]}]}]})
    };
    let events = emitted(&instance(
        "Client.UserInitiatedShutdown",
        "User initiated (2026-11-21 10:00:00 GMT)",
        "terminated",
    ));
    assert_eq!(events[0].attribute("method"), Some("TerminateInstances"));
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T10:00:00Z");
    assert_eq!(
        events[0].entities.node.as_deref(),
        Some("ip-10-0-0-1.ec2.internal")
    );
    assert_eq!(events[0].entities.experiment.as_deref(), Some("e1"));
    let events = emitted(&instance(
        "Server.SpotInstanceTermination",
        "",
        "terminated",
    ));
    assert_eq!(
        events[0].attribute("host_event"),
        Some("Server.SpotInstanceTermination")
    );
    assert_eq!(events[0].attribute("time_inferred"), Some("none"));
    let (_, observed) = observed(&instance("", "", "running").to_string());
    let [Observation::Object(version)] = observed.as_slice() else {
        panic!("{observed:?}");
    };
    assert_eq!(version.key.uid, ID);
    assert_eq!(version.key.namespace, "1");
    assert_eq!(version.body.experiment(), Some("e1"));
}

#[test]
fn scheduled_events_and_failed_checks_are_told() {
    let status = json!({"InstanceStatuses": [{"InstanceId": ID, "AvailabilityZone": "us-east-1a",
        "Events": [{"InstanceEventId": "ev-1", "Code": "instance-retirement", "Description": "degraded hardware",
            "NotBefore": "2026-12-01T00:00:00.000Z", "NotAfter": "2026-12-02T00:00:00.000Z"},
            {"InstanceEventId": "ev-0", "Code": "system-reboot", "Description": "[Completed] x", "NotBefore": "2026-11-01T00:00:00.000Z"}],
        "SystemStatus": {"Status": "impaired", "Details": [{"Name": "reachability", "Status": "failed", "ImpairedSince": "2026-11-21T10:00:00.000Z"}]},
        "InstanceStatus": {"Status": "ok"}}]});
    let events = emitted(&status);
    let said: Vec<_> = events
        .iter()
        .map(|event| {
            (
                event.attribute("host_event").unwrap(),
                event.attribute("phase").unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("instance-retirement", "announced"),
            ("system-reboot", "ended"),
            ("SystemStatus", "started")
        ]
    );
}

#[test]
fn spot_requests_and_scaling_activities_name_instance_and_cause() {
    let requests = json!({"SpotInstanceRequests": [
        {"SpotInstanceRequestId": "sir-1", "InstanceId": ID, "Status": {"Code": "instance-terminated-no-capacity",
            "Message": "m", "UpdateTime": "2026-11-21T10:00:00+00:00"}},
        {"SpotInstanceRequestId": "sir-2", "Status": {"Code": "fulfilled", "UpdateTime": "2026-11-21T10:00:00+00:00"}}]});
    let events = emitted(&requests);
    assert_eq!(events.len(), 1);
    assert_eq!(
        events[0].attribute("host_event"),
        Some("instance-terminated-no-capacity")
    );
    let activities = json!({"Activities": [{"ActivityId": "a-1", "AutoScalingGroupName": "g",
        "Description": "Terminating EC2 instance: i-0123456789abcdef0 - Waiting For ELB connection draining.",
        "Cause": "At 2026-11-21T10:00:00Z a user request set the desired capacity.", "StartTime": "2026-11-21T10:00:05.123000+00:00",
        "EndTime": "2026-11-21T10:02:00+00:00", "StatusCode": "Successful", "Details": "{\"Availability Zone\":\"us-east-1a\"}"}]});
    let events = emitted(&activities);
    assert_eq!(events[0].object_uid.as_deref(), Some(ID));
    assert_eq!(events[0].reason.as_deref(), Some("terminate"));
    assert_eq!(events[0].entities.zone.as_deref(), Some("us-east-1a"));
    assert!(events[0].end.is_some());
}
