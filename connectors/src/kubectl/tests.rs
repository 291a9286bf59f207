//! Pastes through the front door, with invented names.

use std::fmt::Write as _;

use super::*;
use crate::contract::LogLines;
use crate::event::{Event, EventId};
use crate::logs::LogSource;
use crate::object::ObjectVersion;
use crate::observation::{Observation, Rejection};
use crate::time::{Stamp, rfc3339};

struct Collected {
    events: Vec<Event>,
    objects: Vec<ObjectVersion>,
    rejected: Vec<(u64, String)>,
    irrelevant: usize,
    records: usize,
}

fn paste(text: &str) -> Collected {
    let source = LogSource {
        file: "paste.txt".into(),
        ..LogSource::default()
    };
    let paste = PasteContext {
        source: &source,
        log_lines: LogLines::default(),
        max_line_bytes: 1 << 20,
        described_beside: &[],
        descriptions_beside: &[],
        objects_beside: false,
    };
    let (mut out, mut counts) = (Vec::new(), Vec::new());
    read(text, &paste, &mut out, &mut |line, result| {
        counts.push((line, result));
    });
    let mut emitted = Collected {
        events: Vec::new(),
        objects: Vec::new(),
        rejected: Vec::new(),
        irrelevant: 0,
        records: counts.len(),
    };
    for (line, result) in counts {
        match result {
            Err(Rejection::Malformed(why)) => emitted.rejected.push((line, why)),
            Err(Rejection::Irrelevant(_)) => emitted.irrelevant += 1,
            Ok(()) => {}
        }
    }
    for observation in out {
        match observation {
            Observation::Event(event) => emitted.events.push(*event),
            Observation::Object(object) => emitted.objects.push(*object),
            Observation::EventGrew { .. } => {}
        }
    }
    emitted
}

impl Collected {
    fn event(&self, reason: &str) -> &Event {
        let mut found = self
            .events
            .iter()
            .filter(|event| event.fact == "k8s.event" && event.reason.as_deref() == Some(reason));
        let event = found.next().unwrap_or_else(|| panic!("no {reason}"));
        assert!(found.next().is_none(), "{reason} is told once");
        event
    }

    fn fact(&self, fact: &str) -> &Event {
        self.events
            .iter()
            .find(|event| event.fact == fact)
            .unwrap_or_else(|| panic!("no {fact}"))
    }

    fn lines(&self) -> Vec<(&str, &str)> {
        self.events
            .iter()
            .filter(|event| event.fact == "log.line")
            .map(|event| {
                (
                    event.entities.pod.as_deref().unwrap_or_default(),
                    event.message.as_deref().unwrap_or_default(),
                )
            })
            .collect()
    }
}

fn between(stamp: Stamp) -> (String, String) {
    (rfc3339(stamp.lo), rfc3339(stamp.hi))
}

const POD: &str = "\
Name:             run-0-x7k2p
Namespace:        lab
Priority:         100
Priority Class Name:  research
Service Account:  default
Node:             gpu-7/10.0.0.7
Start Time:       Tue, 03 Feb 2026 10:00:00 +0000
Labels:           app=run
                  batch.kubernetes.io/controller-uid=5b1c2d3e-0000-4000-8000-000000000001
                  batch.kubernetes.io/job-name=run-0
Annotations:      team: vision
Status:           Running
IP:               10.2.0.9
Controlled By:    Job/run-0
Containers:
  trainer:
    Container ID:  containerd://aa
    Image:         registry.lab:5000/train:7
    Command:
      python
      train.py
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Tue, 03 Feb 2026 10:01:00 +0000
      Finished:     Tue, 03 Feb 2026 10:02:00 +0000
    Ready:          False
    Restart Count:  1
    Limits:
      memory:          64Gi
      nvidia.com/gpu:  8
    Environment:       <none>
Conditions:
  Type              Status
  Initialized       True
  Ready             False
  PodScheduled      True
Volumes:
  data:
    Type:       PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:  corpus
    ReadOnly:   false
QoS Class:                   Burstable
Node-Selectors:              pool=a100
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason     Age                  From               Message
  ----     ------     ----                 ----               -------
  Normal   Scheduled  2m31s                default-scheduler  Successfully assigned lab/run-0-x7k2p to gpu-7
  Normal   Pulled     90s (x2 over 2m30s)  kubelet            Container image \"registry.lab:5000/train:7\" already present on machine
  Normal   Started    90s (x2 over 2m29s)  kubelet            Started container trainer
  Warning  BackOff    5s (x3 over 29s)     kubelet            Back-off restarting failed container trainer in pod run-0-x7k2p_lab
";

#[test]
fn a_described_pod_is_the_object_it_was_printed_from() {
    let read = paste(POD);
    assert_eq!((read.records, read.irrelevant), (5, 0));
    let [object] = read.objects.as_slice() else {
        panic!("{:?}", read.objects)
    };
    assert_eq!(object.key.namespace, "lab");
    let body = &object.body;
    assert_eq!(body.node.as_deref(), Some("gpu-7"));
    assert_eq!(body.owners[0].name, "run-0");
    assert_eq!(body.owners[0].uid, "5b1c2d3e-0000-4000-8000-000000000001");
    assert_eq!(body.containers[0].limits["nvidia.com/gpu"], "8");
    assert_eq!(body.containers[0].command, ["python", "train.py"]);
    assert_eq!(body.claims, ["corpus"]);
    assert_eq!(body.priority, Some(100));
    assert_eq!(body.node_selector["pool"], "a100");
    assert_eq!(body.waits, ["CrashLoopBackOff"]);
    assert!(
        body.tolerations
            .as_deref()
            .is_some_and(|text| text.contains("300"))
    );
    let ended = read.fact("k8s.container.terminated");
    assert_eq!(ended.reason.as_deref(), Some("OOMKilled"));
    assert_eq!(ended.exit_code, Some(137));
    assert_eq!(rfc3339(ended.time.lo), "2026-02-03T10:02:00Z");
    // Nothing printed says since when a pod is bound.
    assert!(
        !read
            .events
            .iter()
            .any(|event| event.fact == "k8s.pod.bound")
    );
}

#[test]
fn ages_count_back_from_a_moment_that_the_text_itself_bounds() {
    let read = paste(POD);
    // Kubelet events (2m30s) follow 10:00:00, the binding (2m31s) came before it.
    let scheduled = read.event("Scheduled");
    assert_eq!(
        between(scheduled.time),
        (
            "2026-02-03T09:59:56Z".to_owned(),
            "2026-02-03T10:00:03Z".to_owned()
        )
    );
    let back_off = read.event("BackOff");
    assert_eq!(back_off.count, Some(3));
    assert!(back_off.end.is_some_and(|end| end.lo > back_off.time.lo));
    assert!(back_off.time.lo >= Stamp::parse("2026-02-03T10:01:58Z").unwrap().lo);
    assert_eq!(back_off.origin.line, 54);
    // The readiness has no time of its own: since the start, until the capture.
    let ready = read.fact("k8s.pod.condition");
    assert_eq!(rfc3339(ready.time.lo), "2026-02-03T10:00:00Z");
}

#[test]
fn without_an_absolute_time_the_interval_is_open_and_the_age_is_kept() {
    let read = paste(
        "LAST SEEN              TYPE      REASON             OBJECT     MESSAGE\n\
         4m58s                  Warning   FailedScheduling   Pod/late   0/3 nodes are available: 3 Insufficient cpu.\n\
         12s (x9 over 3h5m)     Warning   FailedMount        Pod/late   MountVolume.SetUp failed\n",
    );
    let event = read.event("FailedScheduling");
    assert_eq!(event.time, Stamp::OPEN);
    assert_eq!(event.end, None);
    assert_eq!(event.attributes["age_s"], 298);
    assert_eq!(event.attributes["position"], 1);
    assert_eq!(event.entities.pod.as_deref(), Some("late"));
    let mount = read.event("FailedMount");
    assert_eq!((mount.count, mount.time), (Some(9), Stamp::OPEN));
    assert_eq!(mount.attributes["last_age_s"], 12);
}

#[test]
fn one_event_of_several_texts_is_one_fact() {
    let table = "\n$ kubectl get events -n lab\n\
        LAST SEEN   TYPE      REASON    OBJECT            MESSAGE\n\
        25s         Warning   BackOff   pod/run-0-x7k2p   Back-off restarting failed container trainer in pod run-0-x7k2p_lab\n\
        20s         Warning   BackOff   pod/other-b4c5d   Back-off restarting failed container x in pod other-b4c5d_lab\n";
    let read = paste(&format!(
        "$ kubectl describe pod run-0-x7k2p -n lab\n{POD}{table}"
    ));
    let of = |pod: &str| {
        read.events
            .iter()
            .filter(|event| {
                event.reason.as_deref() == Some("BackOff")
                    && event.entities.pod.as_deref() == Some(pod)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of("run-0-x7k2p").len(), 1);
    assert_eq!(of("run-0-x7k2p")[0].count, Some(3));
    assert_eq!(of("other-b4c5d").len(), 1);
    // Alone each text gives it the same id.
    let alone = paste(POD);
    assert_eq!(alone.event("BackOff").id, of("run-0-x7k2p")[0].id);
}

#[test]
fn the_name_of_an_event_object_holds_its_time_and_its_id() {
    let read = paste(
        "NAMESPACE   LAST SEEN   TYPE      REASON   OBJECT      SUBOBJECT                  SOURCE           MESSAGE       FIRST SEEN   COUNT   NAME\n\
         lab         30s         Warning   Failed   pod/run-1   spec.containers{trainer}   kubelet, gpu-7   Error: boom   40s          2       run-1.1890a1b2c3d4e5f6\n\
         lab         10s         Normal    Pulled   pod/run-1                              kubelet, gpu-7   done          10s          1       run-1.1890a1b9d0e1f2a3\n",
    );
    let failed = read.event("Failed");
    assert_eq!(
        failed.id,
        EventId::of_kubernetes_event("lab", "run-1.1890a1b2c3d4e5f6")
    );
    assert_eq!(failed.time.lo, 0x1890_a1b2_c3d4_e5f6);
    assert_eq!(failed.entities.container.as_deref(), Some("trainer"));
    assert_eq!(failed.entities.node.as_deref(), Some("gpu-7"));
}

#[test]
fn a_session_says_whose_each_output_is() {
    let read = paste(
        "ada@box:~$ kubectl logs -n lab run-0-x7k2p -c trainer --previous\n\
         loading data\n\
         ValueError: no such shard\n\
         \n\
         ada@box:~$ kubectl logs nobody -n lab\n\
         Error from server (NotFound): pods \"nobody\" not found\n\
         ada@box:~$ kubectl get pods -n lab\n\
         NAME          READY   STATUS             RESTARTS      AGE\n\
         other-b4c5d   0/1     ImagePullBackOff   0             12m\n\
         fine-c5d6f    1/1     Running            2 (3h ago)    5h\n",
    );
    assert_eq!(
        read.lines(),
        [
            ("run-0-x7k2p", "loading data"),
            ("run-0-x7k2p", "ValueError: no such shard")
        ]
    );
    let line = read.fact("log.line");
    assert_eq!(line.entities.container.as_deref(), Some("trainer"));
    assert_eq!(line.entities.namespace.as_deref(), Some("lab"));
    assert_eq!(line.attributes["previous"], true);
    assert_eq!(line.origin.line, 2);
    assert_eq!(read.irrelevant, 1);
    assert_eq!(read.objects.len(), 2);
    let waiting = read.fact("k8s.container.waiting");
    assert_eq!(waiting.reason.as_deref(), Some("ImagePullBackOff"));
    assert_eq!(waiting.entities.pod.as_deref(), Some("other-b4c5d"));
    assert_eq!(waiting.entities.container, None);
}

#[test]
fn a_log_that_names_no_pod_is_of_the_only_one_described() {
    let logs = "\n$ kubectl logs job/run-0\nFound 1 pods\nboom\n";
    let read = paste(&format!("$ kubectl describe po run-0-x7k2p\n{POD}{logs}"));
    assert!(
        read.lines().contains(&("run-0-x7k2p", "boom")),
        "{:?}",
        read.lines()
    );
    let other = "\n$ kubectl logs job/another\nboom\n";
    let read = paste(&format!("{POD}{other}"));
    assert_eq!(read.lines(), [("", "boom")]);
}

#[test]
fn what_tickets_put_around_text_is_taken_off() {
    let plain = paste(POD);
    let quoted: String = POD.lines().fold(String::new(), |mut text, line| {
        let _ = write!(text, "> {line}  \r\n");
        text
    });
    let indented: String =
        POD.lines()
            .fold("It dies all the time:\n\n".to_owned(), |mut text, line| {
                let _ = writeln!(text, "    {line}");
                text
            });
    let fenced = format!("hi all, see\n```\n{POD}```\nany idea?\n");
    for text in [quoted, indented, fenced] {
        let read = paste(&text);
        assert_eq!(read.objects[0].body, plain.objects[0].body, "{text}");
        assert_eq!(read.event("BackOff").id, plain.event("BackOff").id);
        assert!(read.lines().is_empty());
    }
}

#[test]
fn an_evicted_pod_ended_at_its_eviction_not_at_its_start() {
    let read = paste(
        "Name:           heavy-0\nNamespace:      lab\nNode:           gpu-3/\nStart Time:     Tue, 03 Feb 2026 10:00:00 +0000\n\
         Labels:         <none>\nStatus:         Failed\nReason:         Evicted\nMessage:        The node was low on resource: memory. \nIP:\n\
         Containers:\n  main:\n    Image:  x\nEvents:\n  Type     Reason     Age   From               Message\n  ----     ------     ----  ----               -------\n\
         \x20 Normal   Scheduled  60m   default-scheduler  Successfully assigned lab/heavy-0 to gpu-3\n\
         \x20 Normal   Pulled     59m   kubelet            done\n\
         \x20 Warning  Evicted    5m    kubelet            The node was low on resource: memory.\n",
    );
    let status = read.fact("k8s.pod.status");
    assert_eq!(status.reason.as_deref(), Some("Evicted"));
    assert_eq!(status.time, read.event("Evicted").time);
    assert!(status.time.lo >= Stamp::parse("2026-02-03T10:52:00Z").unwrap().lo);
}

#[test]
fn nodes_claims_and_workloads_are_read() {
    let read = paste(
        "Name:               gpu-3\nRoles:              <none>\nLabels:             pool=a100\nAnnotations:        <none>\n\
         CreationTimestamp:  Mon, 02 Feb 2026 09:00:00 +0000\nTaints:             node.kubernetes.io/unreachable:NoExecute\n                    node.kubernetes.io/unreachable:NoSchedule\n\
         Unschedulable:      true\nLease:\n  HolderIdentity:  gpu-3\n  RenewTime:       Tue, 03 Feb 2026 10:00:00 +0000\nConditions:\n\
         \x20 Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason              Message\n\
         \x20 ----             ------    -----------------                 ------------------                ------              -------\n\
         \x20 Ready            Unknown   Tue, 03 Feb 2026 09:59:50 +0000   Tue, 03 Feb 2026 10:00:40 +0000   NodeStatusUnknown   Kubelet stopped posting node status.\n\
         Capacity:\n  cpu:  96\nAllocatable:\n  cpu:             95\n  nvidia.com/gpu:  8\nSystem Info:\n  Boot ID:  b00t\nEvents:              <none>\n\n\n\
         Name:          corpus\nNamespace:     lab\nStorageClass:  fast\nStatus:        Pending\nVolume:\nLabels:        <none>\nAccess Modes:\nVolumeMode:    Filesystem\nUsed By:       run-0\nEvents:\n\
         \x20 Type     Reason              Age                From                         Message\n  ----     ------              ----               ----                         -------\n\
         \x20 Warning  ProvisioningFailed  3s (x4 over 40s)   persistentvolume-controller  storageclass \"fast\" not found\n\n\n\
         Name:             run-0\nNamespace:        lab\nSelector:         batch.kubernetes.io/controller-uid=5b1c\nLabels:           <none>\nParallelism:      2\nCompletions:      2\nBackoff Limit:    0\n\
         Start Time:       Tue, 03 Feb 2026 10:00:00 +0000\nPods Statuses:    0 Active (0 Ready) / 0 Succeeded / 1 Failed\nPod Template:\n  Containers:\n   main:\n    Image:  x\nEvents:\n\
         \x20 Type     Reason                Age   From            Message\n  ----     ------                ----  ----            -------\n\
         \x20 Normal   SuccessfulCreate      16m   job-controller  Created pod: run-0-b4c5d\n  Warning  BackoffLimitExceeded  13m   job-controller  Job has reached the specified backoff limit\n",
    );
    assert_eq!(read.rejected, []);
    let kinds: Vec<&str> = read
        .objects
        .iter()
        .map(|object| object.key.kind.as_str())
        .collect();
    assert_eq!(kinds, ["Node", "PersistentVolumeClaim", "Job"]);
    let node = &read.objects[0].body;
    assert!(node.unschedulable && node.taints.len() == 2);
    assert_eq!(node.allocatable["nvidia.com/gpu"], "8");
    assert_eq!(node.boot_id.as_deref(), Some("b00t"));
    let silent = read.fact("k8s.node.condition");
    assert_eq!(rfc3339(silent.time.lo), "2026-02-03T10:00:40Z");
    assert_eq!(
        silent.message.as_deref(),
        Some("Kubelet stopped posting node status.")
    );
    let job = &read.objects[2];
    assert_eq!((job.key.uid.as_str(), job.body.replicas), ("5b1c", Some(2)));
    assert_eq!(
        read.event("ProvisioningFailed").object_kind.as_deref(),
        Some("PersistentVolumeClaim")
    );
    // One pod made, one creation listed: it followed the start at once.
    let limit = read.event("BackoffLimitExceeded");
    assert!(limit.time.lo >= Stamp::parse("2026-02-03T10:01:00Z").unwrap().lo);
    assert!(limit.time.hi <= Stamp::parse("2026-02-03T10:06:00Z").unwrap().lo);
}

#[test]
fn a_moment_is_carried_over_by_what_two_outputs_share() {
    let rows = "$ kubectl get pods -n lab\nNAME          READY   STATUS    RESTARTS      AGE\nfar-b4c5d     0/1     Error     4 (9s ago)    3m\n";
    let read = paste(&format!(
        "$ date -u\nTue Feb  3 10:03:00 UTC 2026\n{rows}$ date -u\nTue Feb  3 10:03:09 UTC 2026\n"
    ));
    let ended = read.fact("k8s.container.terminated");
    assert_eq!(
        between(ended.time),
        (
            "2026-02-03T10:02:50Z".to_owned(),
            "2026-02-03T10:03:01Z".to_owned()
        )
    );
}

#[test]
fn what_cannot_be_read_is_counted_with_its_line() {
    let read = paste(
        "LAST SEEN   TYPE      REASON    OBJECT     MESSAGE\n\
         soon        Warning   BackOff   pod/run    text\n\
         5m          Warning   BackOff   pod/run    a long message that\n\
         goes on here\n\
         NAME   READY   STATUS    RESTARTS   AGE\n\
         run    one     Running   x          5m\n",
    );
    let lines: Vec<u64> = read.rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 6]);
    assert!(read.rejected[0].1.contains("age"), "{}", read.rejected[0].1);
    assert_eq!(
        read.event("BackOff").message.as_deref(),
        Some("a long message that goes on here")
    );
}

#[test]
fn hostile_texts_end() {
    let mut table = "NAME   READY   STATUS   RESTARTS   AGE\n".to_owned();
    for number in 0..20_000 {
        let _ = writeln!(table, "p-{number}   0/1   Error   0   5m");
    }
    assert_eq!(paste(&table).objects.len(), 20_000);
    for cut in (0..POD.len()).step_by(97) {
        paste(POD.get(..cut).unwrap_or_default());
    }
    paste(&format!(
        "Name:  x\nNamespace:  y\nContainers:\n{}",
        " x:\n".repeat(1_000)
    ));
    paste(&"$ kubectl get pods\n".repeat(1_000));
    paste(&format!(
        "NAME   READY   STATUS   RESTARTS   AGE\n{}",
        "é ".repeat(100_000)
    ));
    paste("Name:\u{a0}ü  \nNamespace:   ü\nConditions:\nEvents:\n  Reason  Message\n ü\n");
}

/// kubectl 1.35 and later writes the container before the message of an Event below a pod, and not into tables.
#[test]
fn the_container_before_a_message_is_no_part_of_it() {
    let table = "\n$ kubectl get events -n lab\n\
        LAST SEEN   TYPE      REASON    OBJECT            MESSAGE\n\
        25s         Warning   BackOff   pod/run-0-x7k2p   Back-off restarting failed container trainer in pod run-0-x7k2p_lab\n";
    let plain = "  Back-off restarting failed container";
    assert!(POD.contains(plain));
    let marked = POD.replace(
        plain,
        "  spec.containers{trainer}: Back-off restarting failed container",
    );
    let read = paste(&format!(
        "$ kubectl describe pod run-0-x7k2p -n lab\n{marked}{table}"
    ));
    let told: Vec<&Event> = read
        .events
        .iter()
        .filter(|event| event.reason.as_deref() == Some("BackOff"))
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0].message.as_deref(),
        Some("Back-off restarting failed container trainer in pod run-0-x7k2p_lab")
    );
    assert_eq!(told[0].entities.container.as_deref(), Some("trainer"));
    assert!(told[0].attribute("earlier_pod").is_none());
}
