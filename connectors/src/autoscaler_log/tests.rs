//! Autoscalers' logs through the front door; all lines are made up.

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::{Stamp, rfc3339};

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn read_text(text: &str) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, text).unwrap();
    let mut kept = Collected::default();
    let summary = read(&[Input::Path(path)], &Options::default(), &mut kept);
    let events = kept.0.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (summary, events.collect())
}

fn emitted(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            let time = if event.time == Stamp::OPEN {
                "open".to_owned()
            } else {
                rfc3339(event.time.lo)
            };
            format!(
                "{time} {} node={} pod={} group={}",
                part(&event.reason),
                part(&event.entities.node),
                part(&event.entities.pod),
                event.attribute("group").unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn the_ec2_autoscaler_says_what_it_did_and_not_what_it_would_have_done() {
    let text = r#"2026-11-21T15:20:00+0000 - autoscaler - INFO - ++++++++++++++ Running Scaling Loop ++++++++++++++++
2026-11-21T15:20:01+0000 - autoscaler.cluster - INFO - node: n1: i-01 ({})     state: ClusterNodeState.BUSY
2026-11-21T16:20:02+0100 - autoscaler.kube - INFO - cordoned n1: i-01 ({"lab": "a"})
2026-11-21T15:20:03+0000 - autoscaler.kube - INFO - Deleting Pod research/run-0
2026-11-21T15:20:04+0000 - autoscaler.kube - INFO - drained n1: i-01 ({"lab": "a"})
{"message":"drain","time":"2026-11-21T15:20:04","pod_name":"research/run-1","pod_id":"u-1","node":"n1: i-01 ({})","_log_streaming_target_mapping":"kubernetes-ec2-autoscaler"}
2026-11-21T15:20:05+0000 - autoscaler.kube - INFO - [Dry run] Would have cordoned n2
2026-11-21T15:20:06+0000 - autoscaler.autoscaling_groups - WARNING - AutoScalingGroup(gpu, abc) scaling failure: {'StatusMessage': 'Insufficient capacity. Launching EC2 instance failed.'}
"#;
    let (summary, events) = read_text(text);
    assert_eq!(
        emitted(&events),
        [
            "2026-11-21T15:20:02Z cordoned node=n1 pod= group=",
            "2026-11-21T15:20:03Z pod_deleted node= pod=run-0 group=",
            "2026-11-21T15:20:04Z drained node=n1 pod= group=",
            "2026-11-21T15:20:04Z drained node=n1 pod=run-1 group=",
            "2026-11-21T15:20:06Z scale_up_stockout node= pod= group=gpu",
        ]
    );
    assert_eq!(events[0].entities.instance.as_deref(), Some("i-01"));
    assert_eq!(events[3].entities.pod_uid.as_deref(), Some("u-1"));
    assert_eq!((summary.total.records, summary.total.irrelevant), (8, 3));
}

#[test]
fn cluster_autoscaler_without_year_stays_open_unless_the_runtime_says_it() {
    let lines = [
        "I1121 15:20:27.000001       1 static_autoscaler.go:100] Starting main loop",
        "I1121 15:20:28.000001       1 actuator.go:212] Scale-down: removing empty node \"n1\"",
        "W1121 15:20:29.000001       1 clusterstate.go:1] Disabling scale-up for node group gpu until 2026-11-21 15:25:27; errorClass=OutOfResource; errorCode=ZONE_RESOURCE_POOL_EXHAUSTED",
    ];
    let (_, events) = read_text(&lines.join("\n"));
    assert!(
        emitted(&events)[0].starts_with("open removed node="),
        "{:?}",
        emitted(&events)
    );
    let wrapped: Vec<String> = lines
        .iter()
        .map(|line| format!("2026-11-21T15:20:30.5Z stderr F {line}"))
        .collect();
    let (summary, events) = read_text(&wrapped.join("\n"));
    assert_eq!(summary.files[0].form, "Cluster Autoscaler's log");
    assert_eq!(
        emitted(&events)[1],
        "2026-11-21T15:20:30.500Z scale_up_stockout node= pod= group=gpu"
    );
}

#[test]
fn karpenter_names_the_nodes_it_takes_away() {
    let text = r#"{"level":"INFO","time":"2026-11-21T15:20:27.5Z","logger":"controller","message":"disrupting node(s)","commit":"abc","controller":"disruption","reason":"underutilized","NodePool":{"name":"gpu"},"disrupted-nodes":[{"Node":{"name":"n1"},"NodeClaim":{"name":"gpu-x"}}]}
{"level":"INFO","time":"2026-11-21T15:20:28.5Z","logger":"controller","message":"initiating delete from interruption message","commit":"abc","controller":"interruption","messageKind":"spot_interrupted","Node":{"name":"n2"},"NodeClaim":{"name":"gpu-y"}}
{"level":"DEBUG","time":"2026-11-21T15:20:29.5Z","logger":"controller","message":"found provisionable pod(s)","commit":"abc","controller":"provisioner"}
"#;
    let (summary, events) = read_text(text);
    assert_eq!(summary.files[0].form, "Karpenter's log");
    assert_eq!(
        emitted(&events),
        [
            "2026-11-21T15:20:27.500Z removed node=n1 pod= group=gpu",
            "2026-11-21T15:20:28.500Z interrupted node=n2 pod= group=",
        ]
    );
}
