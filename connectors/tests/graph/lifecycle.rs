//! Lives of pods, from what a cluster writes of them.

use serde_json::{Value, json};
use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{Input, Options, read};
use whathappened_model::observation::Observation;
use whathappened_model::time::Stamp;

use whathappened_core::death::{Death, deaths};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::EntityGraph;
use whathappened_core::lifecycle::{End, Mode, State, ends};
use whathappened_core::resolve::runs;
use whathappened_core::signals::Ruleset;

fn graph(records: &[Value]) -> EntityGraph {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    world_of(&[Input::Bytes(
        "records.ndjson".into(),
        lines.join("\n").into(),
    )])
}

fn world_of(inputs: &[Input]) -> EntityGraph {
    let mut reported: Vec<Observation> = Vec::new();
    let ruleset = Ruleset::built_in().unwrap();
    look_for(ruleset.machine_words(), ruleset.program_words()).unwrap();
    read(inputs, &Options::default(), &mut reported);
    let mut evidence = Evidence::default();
    for one in reported {
        evidence.observe(one, &ruleset).unwrap();
    }
    EntityGraph::build(evidence, &ruleset).unwrap()
}

/// Seconds of one minute.
fn at(second: u32) -> String {
    format!("2026-11-23T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn time(second: u32) -> i64 {
    Stamp::parse(&at(second)).unwrap().lo
}

fn running(since: u32) -> Value {
    json!({"running": {"startedAt": at(since)}})
}

fn ended(code: i32, from: u32, to: u32) -> Value {
    let reason = if code == 0 { "Completed" } else { "Error" };
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": at(from), "finishedAt": at(to)}})
}

/// A version of a pod as a watch shows it.
struct Version {
    revision: u32,
    phase: &'static str,
    state: Value,
    last: Value,
    restarts: u32,
    /// When its deletion was asked for, without grace.
    asked: Option<u32>,
}

impl Version {
    fn new(revision: u32, phase: &'static str, state: Value) -> Self {
        Self {
            revision,
            phase,
            state,
            last: json!({}),
            restarts: 0,
            asked: None,
        }
    }

    fn again(mut self, last: Value, restarts: u32) -> Self {
        (self.last, self.restarts) = (last, restarts);
        self
    }

    fn asked(mut self, second: u32) -> Self {
        self.asked = Some(second);
        self
    }

    fn of(self, name: &str) -> Value {
        let mut metadata = json!({
            "name": name, "namespace": "lab", "uid": format!("uid-{name}"), "resourceVersion": self.revision.to_string(),
            "creationTimestamp": at(0),
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "uid-run", "controller": true}],
        });
        if let Some(asked) = self.asked {
            metadata["deletionTimestamp"] = at(asked).into();
            metadata["deletionGracePeriodSeconds"] = 0.into();
        }
        json!({"type": "MODIFIED", "object": {
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "i"}]},
            "status": {"phase": self.phase, "containerStatuses": [
                {"name": "main", "restartCount": self.restarts, "state": self.state, "lastState": self.last}]},
        }})
    }
}

fn job(conditions: &[(&str, &str, u32)]) -> Value {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(kind, reason, second)| {
            json!({"type": kind, "status": "True", "reason": reason, "lastTransitionTime": at(*second)})
        })
        .collect();
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "run", "namespace": "lab", "uid": "uid-run", "creationTimestamp": at(0)},
        "spec": {"backoffLimit": 1, "parallelism": 1, "completions": 1},
        "status": {"conditions": conditions},
    })
}

fn gave_up(second: u32) -> Value {
    job(&[
        ("FailureTarget", "BackoffLimitExceeded", second),
        ("Failed", "BackoffLimitExceeded", second + 3),
    ])
}

/// What the Job's controller says when it deletes a pod.
fn torn_down(name: &str, second: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("run.{name}"), "namespace": "lab", "uid": format!("event-{name}")},
        "involvedObject": {"kind": "Job", "name": "run", "namespace": "lab", "uid": "uid-run"},
        "reason": "SuccessfulDelete", "message": format!("Deleted pod: {name}"), "type": "Normal", "count": 1,
        "source": {"component": "job-controller"}, "firstTimestamp": at(second), "lastTimestamp": at(second),
    })
}

fn end_of(graph: &EntityGraph, name: &str) -> End {
    let number = graph
        .pods
        .iter()
        .position(|pod| graph.name(pod.name) == name);
    ends(graph).to_vec().swap_remove(number.unwrap())
}

fn reported(graph: &EntityGraph) -> Vec<Death> {
    let ends = ends(graph);
    let runs = runs(graph, &ends);
    let all: Vec<usize> = (0..runs.len()).collect();
    deaths(graph, &runs, &all, &ends)
}

/// A container that ended in place, ran again for a second and was then deleted by its Job.
fn failed_in_place(name: &str, end: u32, again: u32, asked: u32) -> [Value; 2] {
    [
        Version::new(1, "Running", running(again))
            .again(ended(1, 2, end), 1)
            .of(name),
        Version::new(2, "Failed", ended(143, again, asked + 2))
            .again(ended(1, 2, end), 1)
            .asked(asked)
            .of(name),
    ]
}

#[test]
fn the_end_that_was_one_too_many_is_the_death_and_not_the_deletion_after_it() {
    let mut records = failed_in_place("run-0", 33, 34, 35).to_vec();
    records.extend([gave_up(35), torn_down("run-0", 35)]);
    let graph = graph(&records);
    let end = end_of(&graph, "run-0");
    assert_eq!((end.state, end.mode), (State::Died, Mode::Exited));
    assert_eq!(end.time.lo, time(33));
    assert_eq!(end.exit.unwrap().exit_code, Some(1));
    assert!(end.restarts.is_empty());
}

#[test]
fn a_rank_that_had_got_over_its_end_was_torn_down() {
    // It failed ten minutes before the other one used up what was left.
    let mut records = failed_in_place("run-0", 33, 34, 635).to_vec();
    records.extend(failed_in_place("run-1", 633, 634, 635));
    records.extend([
        gave_up(635),
        torn_down("run-0", 635),
        torn_down("run-1", 635),
    ]);
    let graph = graph(&records);
    assert_eq!(end_of(&graph, "run-0").mode, Mode::Killed);
    assert_eq!(end_of(&graph, "run-1").mode, Mode::Exited);
}

#[test]
fn whoever_deletes_a_pod_that_had_restarted_ended_it() {
    // The Job failed for the deletion, and did not do it.
    let mut records = failed_in_place("run-0", 33, 34, 35).to_vec();
    records.push(gave_up(38));
    let graph = graph(&records);
    assert_eq!(end_of(&graph, "run-0").mode, Mode::Killed);
}

#[test]
fn a_clock_that_is_ahead_makes_no_later_deed_the_killer() {
    // Stored as failed before somebody asked for its end, though its node says a minute later.
    let of = |job: Option<Value>| {
        let mut records = vec![
            Version::new(1, "Running", running(62)).of("run-0"),
            Version::new(2, "Failed", ended(1, 62, 82)).of("run-0"),
            Version::new(3, "Failed", ended(1, 62, 82))
                .asked(40)
                .of("run-0"),
        ];
        records.extend(job);
        graph(&records)
    };
    for (job, by) in [(None, 40), (Some(gave_up(24)), 25)] {
        let graph = of(job);
        let end = end_of(&graph, "run-0");
        assert_eq!((end.state, end.mode), (State::Died, Mode::Exited));
        assert_eq!(end.time.hi, time(by));
        // What the container's end means is told of the same moment.
        let said = |signal: &str| {
            let mut facts = graph.facts.iter();
            facts
                .find(|fact| graph.name(fact.signal) == signal)
                .map(|fact| fact.time)
        };
        assert_eq!(said("k8s.container.exited_nonzero"), Some(end.time));
    }
}

#[test]
fn what_was_complete_by_the_clusters_clock_was_not_drained_later() {
    let graph = graph(&[
        Version::new(1, "Running", running(95)).of("run-0"),
        Version::new(2, "Succeeded", ended(0, 95, 110)).of("run-0"),
        Version::new(3, "Succeeded", ended(0, 95, 110))
            .asked(40)
            .of("run-0"),
        job(&[("Complete", "CompletionsReached", 24)]),
    ]);
    let end = end_of(&graph, "run-0");
    assert_eq!(end.state, State::Completed);
    assert_eq!(end.time.hi, time(25));
}

#[test]
fn a_right_clock_is_left_alone() {
    // It ended by itself in the second in which its Job gave up, and was deleted then.
    let graph = graph(&[
        Version::new(1, "Running", running(2)).of("run-0"),
        Version::new(2, "Failed", ended(1, 2, 24))
            .asked(23)
            .of("run-0"),
        gave_up(24),
    ]);
    let end = end_of(&graph, "run-0");
    assert_eq!((end.mode, end.time.lo), (Mode::Killed, time(23)));
}

#[test]
fn nothing_ends_before_it_was_made() {
    // A clock seventy seconds behind, and a deletion that stopped the container.
    let early = |second: u32| json!(format!("2026-11-23T09:59:{second:02}Z"));
    let run = json!({"running": {"startedAt": early(0)}});
    let gone = json!({"terminated": {"exitCode": 143, "reason": "Error", "startedAt": early(0), "finishedAt": early(20)}});
    let mut last = Version::new(3, "Failed", gone).asked(22).of("run-0");
    last["object"]["metadata"]["managedFields"] = json!([{"manager": "kubelet", "time": at(24)}]);
    let graph = graph(&[
        Version::new(1, "Running", run.clone()).of("run-0"),
        Version::new(2, "Running", run).asked(22).of("run-0"),
        last,
    ]);
    let end = end_of(&graph, "run-0");
    assert_eq!((end.state, end.mode), (State::Died, Mode::Killed));
    assert_eq!(end.time.lo, time(22));
}

/// A pod of two containers, the first of which has the GPUs, as a list shows it.
fn two(trainer: &Value, helper: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "run-0", "namespace": "lab", "uid": "uid-run-0", "creationTimestamp": at(0)},
        "spec": {"nodeName": "n1", "restartPolicy": "Never", "containers": [
            {"name": "trainer", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}},
            {"name": "shipper", "image": "i"}]},
        "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": at(12)}],
            "containerStatuses": [
                {"name": "trainer", "restartCount": 0, "state": trainer},
                {"name": "shipper", "restartCount": 0, "state": helper}]},
    })
}

#[test]
fn a_dead_helper_is_no_end_of_a_pod_that_trains_on() {
    let graph = graph(&[two(&running(1), &ended(137, 1, 12))]);
    let end = end_of(&graph, "run-0");
    assert_eq!(end.state, State::Running);
    assert_eq!(end.restarts.len(), 1);
}

#[test]
fn what_has_the_gpus_ends_its_pod_whatever_helper_lives() {
    let graph = graph(&[two(&ended(1, 1, 12), &running(1))]);
    let end = end_of(&graph, "run-0");
    assert_eq!((end.state, end.mode), (State::Died, Mode::Exited));
    assert_eq!(end.time.lo, time(12));
}

/// A pod that waits for its init container, or for what it lacks.
fn pending(revision: u32, init: &Value, main: &str, asked: Option<u32>) -> Value {
    let mut pod = Version::new(revision, "Pending", json!({"waiting": {"reason": main}}));
    pod.asked = asked;
    let mut pod = pod.of("run-0");
    if init.is_object() {
        pod["object"]["status"]["initContainerStatuses"] = json!([init]);
    }
    pod
}

fn tried(state: &Value, last: &Value, restarts: u32) -> Value {
    json!({"name": "warm", "restartCount": restarts, "state": state, "lastState": last})
}

#[test]
fn an_init_container_that_is_tried_again_still_fails_again_and_again() {
    let wait = || json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let tries = |asked: Option<u32>| {
        graph(&[
            pending(
                1,
                &tried(&wait(), &ended(1, 2, 7), 0),
                "PodInitializing",
                None,
            ),
            pending(
                2,
                &tried(&wait(), &ended(1, 12, 17), 1),
                "PodInitializing",
                None,
            ),
            pending(
                3,
                &tried(&running(27), &ended(1, 12, 17), 2),
                "PodInitializing",
                asked,
            ),
        ])
    };
    let end = end_of(&tries(None), "run-0");
    assert_eq!(end.state, State::CrashLoop);
    assert_eq!(end.exit.unwrap().exit_code, Some(1));
    // Who takes it away at last is told second.
    let deaths = reported(&tries(Some(28)));
    let states: Vec<&str> = deaths.iter().map(|death| death.state.as_str()).collect();
    assert_eq!(states, ["crash_loop", "died"]);
}

#[test]
fn what_kept_a_pod_from_starting_is_told_by_its_status_alone() {
    let graph = graph(&[
        pending(1, &Value::Null, "CreateContainerConfigError", None),
        pending(2, &Value::Null, "CreateContainerConfigError", Some(300)),
    ]);
    let deaths = reported(&graph);
    let states: Vec<&str> = deaths.iter().map(|death| death.state.as_str()).collect();
    assert_eq!(states, ["stuck_starting", "died"]);
}

#[test]
fn what_waits_to_be_let_go_is_there_until_it_is_deleted() {
    let mut orphaned = job(&[]);
    orphaned["metadata"]["deletionTimestamp"] = at(13).into();
    orphaned["metadata"]["finalizers"] = json!(["orphan"]);
    let graph = graph(&[json!({"type": "DELETED", "object": orphaned})]);
    assert_eq!(graph.workloads[0].gone.unwrap().lo, time(13));
}

#[test]
fn a_pod_printed_without_a_uid_is_the_one_that_its_log_tells_of() {
    let printed = "$ kubectl describe pod run-0 -n lab\n\
        Name:             run-0\nNamespace:        lab\nNode:             n1/10.0.0.1\n\
        Start Time:       Mon, 23 Nov 2026 10:00:00 +0000\nStatus:           Running\n\
        Containers:\n  main:\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n\
        \x20   Last State:     Terminated\n      Reason:       Error\n      Exit Code:    1\n\
        \x20     Started:      Mon, 23 Nov 2026 10:03:00 +0000\n\
        \x20     Finished:     Mon, 23 Nov 2026 10:03:30 +0000\n\
        \x20   Ready:          False\n    Restart Count:  7\n";
    let logged = json!({"data": [{"id": "a", "type": "log", "attributes": {
        "message": "step=10", "timestamp": at(10), "service": "trainer", "status": "info",
        "tags": ["pod_name:run-0", "kube_namespace:lab", "kube_container_name:main", "pod_uid:u-1"]}}]});
    let inputs = [
        Input::Bytes("session.txt".into(), printed.into()),
        Input::Bytes("datadog-logs.json".into(), logged.to_string().into()),
    ];
    let graph = world_of(&inputs);
    let named = graph
        .pods
        .iter()
        .filter(|pod| graph.name(pod.name) == "run-0");
    assert_eq!(named.count(), 1);
    assert_eq!(end_of(&graph, "run-0").state, State::CrashLoop);
}

#[test]
fn what_runs_on_a_silent_node_counts_as_lost() {
    let node = |status: &str, second: u32| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "uid-n1"}, "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": status, "reason": "NodeStatusUnknown", "lastTransitionTime": at(second)}]}})
    };
    let mut pod = Version::new(1, "Running", running(2)).of("run-0");
    pod["object"]["status"]["conditions"] =
        json!([{"type": "Ready", "status": "False", "lastTransitionTime": at(60)}]);
    let silent = graph(&[pod.clone(), node("Unknown", 60)]);
    let end = end_of(&silent, "run-0");
    assert_eq!((end.state, end.mode), (State::NotReady, Mode::Lost));
    let heard = graph(&[pod, node("True", 60)]);
    let end = end_of(&heard, "run-0");
    assert_eq!((end.state, end.mode), (State::NotReady, Mode::None));
}

/// A line of an audit log that keeps no bodies.
fn audited(verb: &str, uri: &str, name: &str, sub: &str, by: &str, second: u32) -> Value {
    let time = at(second).replace('Z', ".500000Z");
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("{name}{verb}{second}"),
        "stage": "ResponseComplete", "requestURI": uri, "verb": verb, "user": {"username": by}, "userAgent": "kubectl/v1.33",
        "objectRef": {"resource": "pods", "namespace": "lab", "name": name, "apiVersion": "v1", "subresource": sub},
        "responseStatus": {"code": 201}, "requestReceivedTimestamp": time, "stageTimestamp": time,
    })
}

fn evicted(name: &str, second: u32) -> Value {
    let uri = format!("/api/v1/namespaces/lab/pods/{name}/eviction");
    audited("create", &uri, name, "eviction", "bob", second)
}

#[test]
fn a_dry_run_ends_no_pod_whose_object_shows_later_that_it_was_not_asked_to_go() {
    // A version is true at the latest time that it tells of.
    let seen = |second: u32| {
        let mut pod = Version::new(1, "Running", running(2)).of("run-0");
        pod["object"]["status"]["conditions"] =
            json!([{"type": "Ready", "status": "True", "lastTransitionTime": at(second)}]);
        pod
    };
    let dry = graph(&[seen(90), evicted("run-0", 60)]);
    assert_eq!(end_of(&dry, "run-0").state, State::Running);
    assert!(
        !dry.facts
            .iter()
            .any(|fact| dry.name(fact.signal).contains("evict"))
    );
    let real = graph(&[seen(30), evicted("run-0", 60)]);
    assert_eq!(end_of(&real, "run-0").mode, Mode::Killed);
}

#[test]
fn what_its_job_had_counted_as_over_was_not_evicted_seconds_later() {
    let uri = "/api/v1/namespaces/lab/pods/run-0/status";
    let counted = audited(
        "patch",
        uri,
        "run-0",
        "",
        "system:serviceaccount:kube-system:job-controller",
        57,
    );
    let made = Version::new(1, "Running", running(2)).of("run-0");
    let graph = graph(&[made, counted, evicted("run-0", 60), gave_up(57)]);
    let end = end_of(&graph, "run-0");
    assert_eq!((end.state, end.mode), (State::Died, Mode::Exited));
    assert!(end.time.hi <= time(60));
}

#[test]
fn a_job_printed_as_active_is_not_the_one_that_was_over_before_its_pods_began() {
    let printed = "$ kubectl describe job run -n lab\n\
        Name:             run\nNamespace:        lab\n\
        Selector:         batch.kubernetes.io/controller-uid=uid-2\nParallelism:      1\nCompletions:      1\n\
        Start Time:       Mon, 23 Nov 2026 10:10:00 +0000\n\
        Pods Statuses:    1 Active (1 Ready) / 0 Succeeded / 0 Failed\nEvents:           <none>\n\
        $ kubectl describe pod run-abcde -n lab\n\
        Name:             run-abcde\nNamespace:        lab\nNode:             n1/10.0.0.1\n\
        Start Time:       Mon, 23 Nov 2026 10:10:00 +0000\nStatus:           Running\n\
        Controlled By:    Job/run\n\
        Containers:\n  main:\n    State:          Running\n      Started:      Mon, 23 Nov 2026 10:10:01 +0000\n\
        \x20   Ready:          True\n    Restart Count:  0\nEvents:\n\
        \x20 Type    Reason     Age   From               Message\n\
        \x20 ----    ------     ----  ----               -------\n\
        \x20 Normal  Scheduled  3m0s  default-scheduler  Successfully assigned lab/run-abcde to n1\n\
        \x20 Normal  Started    3m0s  kubelet            Started container main\n\
        $ kubectl get events -n lab\n\
        LAST SEEN   TYPE      REASON             OBJECT          MESSAGE\n\
        3m0s        Normal    Scheduled          pod/run-abcde   Successfully assigned lab/run-abcde to n1\n\
        7m0s        Warning   DeadlineExceeded   job/run         Job was active longer than specified deadline\n";
    let graph = world_of(&[Input::Bytes("session.txt".into(), printed.into())]);
    let jobs: Vec<_> = graph
        .workloads
        .iter()
        .filter(|one| graph.name(one.kind) == "Job")
        .collect();
    assert_eq!(jobs.len(), 2);
    let pod = graph.pods.first().unwrap();
    let over = graph
        .facts
        .iter()
        .find(|fact| graph.name(fact.signal) == "k8s.workload.deadline")
        .unwrap();
    assert_ne!(over.workload, pod.owner);
    assert_eq!(end_of(&graph, "run-abcde").state, State::Running);
}

/// The log of a pod, as the kubelet keeps it.
fn logged(pod: &str, lines: &[(u32, &str)]) -> Input {
    let lines = lines.iter().map(|(second, text)| {
        let time = at(*second).replace('Z', ".100000000Z");
        format!("{time} {text}\n")
    });
    let text: String = lines.collect();
    Input::Bytes(
        format!("namespaces/lab/pods/{pod}/main/main/logs/current.log").into(),
        text.into(),
    )
}

fn recorded(records: &[Value]) -> Input {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    Input::Bytes("records.ndjson".into(), lines.join("\n").into())
}

const RAISED: [&str; 3] = [
    "Traceback (most recent call last):",
    "  File \"/train.py\", line 9, in <module>",
    "ValueError: 3 shards, expected 4",
];

#[test]
fn who_had_raised_before_the_eviction_ended_by_itself() {
    let records = |code: i32| {
        let gone = Version::new(2, "Failed", ended(code, 2, 64)).asked(60);
        recorded(&[
            Version::new(1, "Running", running(2)).of("run-0"),
            evicted("run-0", 60),
            gone.of("run-0"),
        ])
    };
    let raised = |second: u32| logged("run-0", &RAISED.map(|line| (second, line)));
    for (second, code, mode) in [
        (59, 1, Mode::Exited),
        // What it says after it was told to stop may be about that.
        (62, 1, Mode::Killed),
        // A launcher that was stopped before it could end itself tells nothing of its own.
        (59, 143, Mode::Killed),
    ] {
        let graph = world_of(&[records(code), raised(second)]);
        assert_eq!(end_of(&graph, "run-0").mode, mode, "{second} {code}");
    }
}

#[test]
fn a_log_that_is_all_there_is_ends_where_its_program_raised() {
    let named = |name: &str, text: String| world_of(&[Input::Bytes(name.into(), text.into())]);
    let timed = RAISED.map(|line| format!("{} {line}\n", at(30))).concat();
    let graph = named("logs/train.log", timed);
    let end = end_of(&graph, "train.log");
    assert_eq!((end.state, end.mode), (State::Died, Mode::Exited));
    assert_eq!(end.time.lo, time(30));
    let untimed = named("-", RAISED.map(|line| format!("{line}\n")).concat());
    assert_eq!(end_of(&untimed, "stdin").state, State::Died);
    let well = named("train.log", format!("{} step=1 loss=2.0\n", at(3)));
    assert_eq!(end_of(&well, "train.log").state, State::Running);
}

#[test]
fn what_a_table_says_to_back_off_is_not_running() {
    let printed = "NAME     READY   STATUS             RESTARTS      AGE\n\
        run-0    0/1     CrashLoopBackOff   3 (2m ago)    3h\n";
    let list = json!({"kind": "List", "apiVersion": "v1", "items": []}).to_string();
    let graph = world_of(&[
        Input::Bytes("pods.txt".into(), printed.into()),
        Input::Bytes("other.json".into(), list.into()),
    ]);
    assert_eq!(end_of(&graph, "run-0").state, State::CrashLoop);
}

/// What the kubelet says of a pod that no object tells of any more.
fn said(name: &str, reason: &str, message: &str, count: u32, (first, last): (u32, u32)) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("{name}.{reason}"), "namespace": "lab", "uid": format!("event-{name}-{reason}")},
        "involvedObject": {"kind": "Pod", "name": name, "namespace": "lab", "uid": format!("uid-{name}")},
        "reason": reason, "message": message, "type": "Warning", "count": count,
        "source": {"component": "kubelet", "host": "n1"}, "firstTimestamp": at(first), "lastTimestamp": at(last),
    })
}

#[test]
fn what_kept_failing_until_it_was_taken_away_is_told_by_events_alone() {
    let held = "Back-off restarting failed container main in pod run-a_lab(uid-run-a)";
    let graph = graph(&[
        said("run-a", "Started", "Started container main", 3, (2, 40)),
        said("run-a", "BackOff", held, 4, (12, 70)),
        torn_down("run-a", 80),
    ]);
    let ends = ends(&graph);
    let runs = runs(&graph, &ends);
    let found = deaths(&graph, &runs, &[0], &ends);
    assert_eq!(
        found.first().map(|death| death.state.as_str()),
        Some("crash_loop"),
        "{found:?}"
    );
}

#[test]
fn a_name_that_is_made_anew_after_a_deletion_is_another_pod() {
    let uri = "/api/v1/namespaces/lab/pods";
    let maker = "system:serviceaccount:kubeflow:training-operator";
    let made = |second| audited("create", uri, "run-0", "", maker, second);
    let deleted = audited("delete", &format!("{uri}/run-0"), "run-0", "", "alice", 60);
    let once = graph(&[made(2), deleted.clone()]);
    assert_eq!(once.pods.len(), 1);
    let twice = graph(&[made(2), deleted, made(64)]);
    let asked: Vec<bool> = twice
        .pods
        .iter()
        .map(|pod| pod.deletion_requested.is_some())
        .collect();
    assert_eq!(asked, [true, false]);
}
