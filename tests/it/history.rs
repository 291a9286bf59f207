//! What happened to machines before: a month of a few nodes, made up here.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::whathappened;

/// A node that keeps its machine for the whole month.
const BAD: &str = "gpu-a17";
/// A node whose name another machine takes over in the middle of it.
const NAMESAKE: &str = "ip-10-0-7-31";

/// A job of two pods, one of them on `node`, that fails at `end`.
struct Job {
    name: &'static str,
    node: &'static str,
    begin: &'static str,
    end: &'static str,
    code: i64,
}

const JOBS: [Job; 5] = [
    Job {
        name: "moe-1",
        node: BAD,
        begin: "2026-11-03T01:00:00Z",
        end: "2026-11-03T04:11:12Z",
        code: 134,
    },
    Job {
        name: "moe-2",
        node: BAD,
        begin: "2026-11-05T01:00:00Z",
        end: "2026-11-05T09:00:00Z",
        code: 0,
    },
    Job {
        name: "moe-3",
        node: BAD,
        begin: "2026-11-21T01:00:00Z",
        end: "2026-11-21T15:20:30Z",
        code: 134,
    },
    Job {
        name: "bert-1",
        node: NAMESAKE,
        begin: "2026-11-20T01:00:00Z",
        end: "2026-11-20T05:00:05Z",
        code: 134,
    },
    Job {
        name: "typo-1",
        node: BAD,
        begin: "2026-11-20T01:00:00Z",
        end: "2026-11-20T01:02:00Z",
        code: 1,
    },
];

impl Job {
    fn objects(&self) -> Vec<Value> {
        let failed = self.code != 0;
        let condition = if failed {
            json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                   "message": "Job has reached the specified backoff limit", "lastTransitionTime": self.end})
        } else {
            json!({"type": "Complete", "status": "True", "reason": "CompletionsReached",
                   "message": "Reached expected number of succeeded pods", "lastTransitionTime": self.end})
        };
        let (name, uid) = (self.name, format!("uid-{}", self.name));
        let job = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "ml", "uid": uid, "creationTimestamp": self.begin, "labels": {"experiment": name}},
            "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0}, "status": {"conditions": [condition]}});
        let reason = if failed { "Error" } else { "Completed" };
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("{name}-0-abcde"), "namespace": "ml", "uid": format!("{uid}-0"), "creationTimestamp": self.begin,
                "labels": {"batch.kubernetes.io/job-name": name},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": true}]},
            "spec": {"nodeName": self.node, "restartPolicy": "Never", "containers": [{"name": "trainer", "image": "registry.lab/train:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
            "status": {"phase": if failed { "Failed" } else { "Succeeded" }, "startTime": self.begin,
                "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": self.begin}],
                "containerStatuses": [{"name": "trainer", "restartCount": 0, "state": {"terminated":
                    {"exitCode": self.code, "reason": reason, "startedAt": self.begin, "finishedAt": self.end}}}]}});
        vec![job, pod]
    }
}

fn node(name: &str, uid: &str, created: &str, provider: Option<&str>) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": uid, "creationTimestamp": created, "resourceVersion": "7"},
        "spec": {"providerID": provider},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": created}]}})
}

fn xid(host: &str, at: &str, xid: u32) -> String {
    format!(
        "{at} {host} kernel: NVRM: Xid (PCI:0000:9b:00): {xid}, pid=4711, name=python3, Ch 00000008\n"
    )
}

/// The month as its sources give it.
fn month(folder: &Path) {
    let mut objects: Vec<Value> = JOBS.iter().flat_map(Job::objects).collect();
    objects.push(node(BAD, "n-1", "2026-01-01T00:00:00Z", None));
    let written: String = objects.iter().map(|one| format!("{one}\n")).collect();
    std::fs::write(folder.join("objects.jsonl"), written).unwrap();
    let watch = [
        (
            "ADDED",
            "n-2",
            "2026-09-01T00:00:00Z",
            "i-0aaa1c5b9e3d2f468",
        ),
        (
            "DELETED",
            "n-2",
            "2026-09-01T00:00:00Z",
            "i-0aaa1c5b9e3d2f468",
        ),
        (
            "ADDED",
            "n-3",
            "2026-11-10T00:00:00Z",
            "i-0bbb7f1c5a2e86403",
        ),
    ];
    let mut watched = String::new();
    for (change, uid, created, instance) in watch {
        let provider = format!("aws:///eu-west-1a/{instance}");
        let mut object = node(NAMESAKE, uid, created, Some(&provider));
        if change == "DELETED" {
            object["metadata"]["deletionTimestamp"] = "2026-11-09T00:00:00Z".into();
            object["metadata"]["resourceVersion"] = "9".into();
            object["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-11-08T23:59:00Z".into();
        }
        writeln!(watched, "{}", json!({"type": change, "object": object})).unwrap();
    }
    std::fs::write(folder.join("watch.ndjson"), watched).unwrap();
    // Twice in an hour is one fault, and so is the cleanup after it.
    let mut log = String::from(
        "2026-10-20T00:00:00+00:00 gpu-a17 kernel: Linux version 5.15.0-122-generic (buildd@lcy02) #132-Ubuntu SMP\n",
    );
    log += &xid(BAD, "2026-11-03T04:11:09+00:00", 79);
    log += &xid(BAD, "2026-11-03T04:31:09+00:00", 79);
    log += &xid(BAD, "2026-11-03T04:31:10+00:00", 45);
    log += &xid(BAD, "2026-11-12T22:40:00+00:00", 119);
    log += &xid(BAD, "2026-11-21T15:20:27+00:00", 79);
    std::fs::create_dir_all(folder.join("a17")).unwrap();
    std::fs::write(folder.join("a17/syslog"), log).unwrap();
    let mut log = xid(NAMESAKE, "2026-11-05T03:00:00+00:00", 79);
    log += &xid(NAMESAKE, "2026-11-20T05:00:00+00:00", 79);
    std::fs::create_dir_all(folder.join("namesake")).unwrap();
    std::fs::write(folder.join("namesake/syslog"), log).unwrap();
    let traceback = "2026-11-20T01:01:59.5Z Traceback (most recent call last):\n2026-11-20T01:01:59.5001Z   File \"train.py\", line 3, in <module>\n2026-11-20T01:01:59.5002Z ValueError: no such optimizer\n";
    let logs = folder.join("pods/ml_typo-1-0-abcde_uid-typo-1-0/trainer");
    std::fs::create_dir_all(&logs).unwrap();
    let lines: String = traceback
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(time, text)| format!("{time} stderr F {text}\n"))
        .collect();
    std::fs::write(logs.join("0.log"), lines).unwrap();
}

struct Month {
    folder: tempfile::TempDir,
}

impl Month {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let input = made.folder.path().join("input");
        std::fs::create_dir_all(&input).unwrap();
        month(&input);
        let (code, _, err) = whathappened(&["import", &made.input(), "--store", &made.store()]);
        assert_eq!(code, Some(0), "{err}");
        made
    }

    fn input(&self) -> String {
        self.folder.path().join("input").display().to_string()
    }

    fn store(&self) -> String {
        self.folder.path().join("store").display().to_string()
    }

    fn stored(&self, args: &[&str]) -> String {
        let store = self.store();
        let kept = ["--store", store.as_str(), "--no-fetch", "--quiet"];
        let (code, out, err) = whathappened(&[args, &kept].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        out
    }

    fn recorded(&self, args: &[&str]) -> Value {
        let input = self.input();
        let from = ["--from", input.as_str(), "--quiet", "--format", "json"];
        let (code, out, err) = whathappened(&[args, &from].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        serde_json::from_str(&out).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.stored(&[args, &["--format", "json"]].concat())).unwrap()
    }
}

/// A text as it is read, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_machine_that_fails_again_is_told_so() {
    let month = Month::new();
    let answer = month.json(&["moe-3"]);
    let incident = &answer["incidents"][0];
    assert_eq!(incident["cause"], "hw.gpu", "{incident}");
    assert_eq!(incident["machines"][0]["node"], BAD);
    assert_eq!(incident["machines"][0]["gpu"]["pci"], "0000:9b:00");
    let before = &incident["before"];
    assert_eq!(before["count"], 3, "{before}");
    let faults = before["faults"].as_array().unwrap();
    let reported: Vec<_> = faults
        .iter()
        .map(|one| (one["time"].as_str().unwrap(), one["what"].as_str().unwrap()))
        .collect();
    let expected = [
        ("2026-11-03T04:11:09Z", "Xid 79"),
        ("2026-11-12T22:40:00Z", "Xid 119"),
    ];
    assert_eq!(reported, expected);
    assert!(faults.iter().all(|one| one["same_gpu"] == true));
    let shown = words(&month.stored(&["moe-3"]));
    let line = "gpu-a17: third time in 30 days (3 Nov hw.gpu Xid 79 on the same GPU, 12 Nov hw.gpu Xid 119 on the same GPU)";
    assert!(shown.contains(line), "{shown}");
    // Of recordings the same is told.
    assert_eq!(month.recorded(&["moe-3"])["incidents"], answer["incidents"]);
}

#[test]
fn a_name_is_not_a_machine_and_a_program_is_none() {
    let month = Month::new();
    // The fault of 5 November was of the instance that bore the name before.
    let answer = month.json(&["bert-1"]);
    let incident = &answer["incidents"][0];
    assert_eq!(incident["cause"], "hw.gpu", "{incident}");
    assert_eq!(incident["machines"][0]["instance"], "i-0bbb7f1c5a2e86403");
    assert_eq!(incident["before"], Value::Null);
    // What the program did on a bad machine is the program's.
    let answer = month.json(&["typo-1"]);
    assert_eq!(answer["incidents"][0]["cause"], "code.exception");
    assert_eq!(answer["incidents"][0]["before"], Value::Null);
    // The first of them had none before.
    let answer = month.json(&["moe-1"]);
    assert_eq!(answer["incidents"][0]["cause"], "hw.gpu");
    assert_eq!(answer["incidents"][0]["before"], Value::Null);
}

#[test]
fn an_explained_incident_counts_once_beside_its_records() {
    let month = Month::new();
    let before = month.json(&["moe-3"])["incidents"][0]["before"].clone();
    month.stored(&["explain", "--since", "40d"]);
    assert_eq!(month.json(&["moe-3"])["incidents"][0]["before"], before);
}

#[test]
fn a_node_has_a_history_over_all_experiments() {
    let month = Month::new();
    month.stored(&["explain", "--since", "40d"]);
    let reported = month.json(&["node", BAD]);
    let machine = &reported["machines"][0];
    assert_eq!(
        reported["machines"].as_array().unwrap().len(),
        1,
        "{reported}"
    );
    assert_eq!(machine["by_cause"], json!({"hw.gpu": 3}));
    assert_eq!(machine["by_gpu"][0]["count"], 3);
    let runs: Vec<_> = reported["runs"].as_array().unwrap().iter().collect();
    let ended: Vec<_> = runs
        .iter()
        .map(|one| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&one["name"]),
                text(&one["state"]),
                text(&one["incident"]["cause"]),
                one["incident"]["of_this_machine"] == true,
            )
        })
        .collect();
    let run = |name: &str, state: &str, cause: &str, machine: bool| {
        (name.to_owned(), state.to_owned(), cause.to_owned(), machine)
    };
    let expected = [
        run("moe-1", "failed", "hw.gpu", true),
        run("moe-2", "completed", "", false),
        run("typo-1", "failed", "code.exception", false),
        run("moe-3", "failed", "hw.gpu", true),
    ];
    assert_eq!(ended, expected);
    assert_eq!(runs[0]["died"][0]["pod"], "moe-1-0-abcde");
    let faults = reported["happened"].as_array().unwrap().iter();
    let faults: Vec<_> = faults.filter(|one| one["kind"] == "fault").collect();
    assert_eq!(faults.len(), 3, "{faults:#?}");
    assert_eq!(faults[0]["count"], 2);
    // Of the recording the same, from its first record on.
    let recorded = month.recorded(&["node", BAD, "--since", "2026-10-22T00:00:00Z"]);
    for part in ["machines", "happened", "runs"] {
        assert_eq!(recorded[part], reported[part], "{part}");
    }
    let shown = words(&month.stored(&["node", BAD]));
    assert!(shown.contains("3 faults"), "{shown}");
    assert!(
        shown.contains("hw.gpu · supported · this machine"),
        "{shown}"
    );
}

#[test]
fn a_nodes_history_can_be_narrowed_and_knows_who_bore_the_name() {
    let month = Month::new();
    let window = [
        "--since",
        "2026-11-10T00:00:00Z",
        "--until",
        "2026-11-15T00:00:00Z",
    ];
    let reported = month.json(&[&["node", BAD], &window[..]].concat());
    assert_eq!(reported["machines"][0]["by_cause"], json!({"hw.gpu": 1}));
    assert_eq!(reported["runs"], json!([]));
    let reported = month.json(&["node", NAMESAKE]);
    let machines: Vec<_> = reported["machines"].as_array().unwrap().iter().collect();
    let counts: Vec<_> = machines
        .iter()
        .map(|one| {
            (
                one["instance"].as_str(),
                one["faults"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            (Some("i-0aaa1c5b9e3d2f468"), 1),
            (Some("i-0bbb7f1c5a2e86403"), 1)
        ],
        "{reported}"
    );
    let (code, _, err) =
        whathappened(&["node", "gpu-a71", "--store", &month.store(), "--no-fetch"]);
    assert_eq!(code, Some(3));
    assert!(err.contains("gpu-a17"), "{err}");
    let (code, _, err) = whathappened(&[
        "node",
        BAD,
        "--store",
        &month.store(),
        "--no-fetch",
        "--format",
        "csv",
    ]);
    assert_eq!(code, Some(2), "{err}");
}
