//! Slurm's records through the front door.

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

fn read_path(path: &std::path::Path) -> (Summary, Vec<Event>) {
    let mut kept = Collected::default();
    let summary = read(
        &[Input::Path(path.to_owned())],
        &Options::default(),
        &mut kept,
    );
    let events = kept.0.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (summary, events.collect())
}

fn read_text(text: &str) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, text).unwrap();
    read_path(&path)
}

fn emitted(events: &[Event]) -> Vec<(String, String, String)> {
    events
        .iter()
        .map(|event| {
            (
                event
                    .object_uid
                    .clone()
                    .or(event.entities.node.clone())
                    .unwrap_or_default(),
                event.reason.clone().unwrap_or_default(),
                rfc3339(event.time.lo),
            )
        })
        .collect()
}

fn is(events: &[Event], want: &[(&str, &str, &str)]) {
    let want: Vec<_> = want
        .iter()
        .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
        .collect();
    assert_eq!(emitted(events), want);
}

const PARSABLE: &str = "JobID|JobName|Cluster|State|ExitCode|Start|End|NodeList|Comment|ReqMem|MaxRSS\n\
7|train|lab|OUT_OF_MEMORY|0:125|2026-11-21T10:00:00|2026-11-21T11:00:00|n[1-2]||64G|\n\
7.batch|batch|lab|OUT_OF_MEMORY|0:125|2026-11-21T10:00:00|2026-11-21T11:00:00|n1|||65000000K\n\
7.extern|extern|lab|COMPLETED|0:0|2026-11-21T10:00:00|2026-11-21T11:00:00|n[1-2]|||1K\n\
8|eval|lab|CANCELLED by 1001|0:0|2026-11-21T10:00:00|2026-11-21T10:30:00|n3|first\nsecond|8G|\n\
9|long|lab|RUNNING|0:0|2026-11-21T10:00:00|Unknown|n4||8G|\n";

#[test]
fn a_job_with_its_steps_is_one_end() {
    let (summary, events) = read_text(PARSABLE);
    is(
        &events,
        &[
            ("slurm/lab/7", "OUT_OF_MEMORY", "2026-11-21T11:00:00Z"),
            ("slurm/lab/8", "CANCELLED", "2026-11-21T10:30:00Z"),
        ],
    );
    assert_eq!(events[0].attribute("max_memory"), Some("65000000K"));
    assert_eq!(events[0].attribute("step"), Some("batch"));
    assert_eq!(
        events[0].attributes["nodes"],
        serde_json::json!(["n1", "n2"])
    );
    assert_eq!(events[0].exit_code, None, "0:125 is no signal");
    assert_eq!(events[1].actor.as_deref(), Some("1001"));
    assert_eq!((summary.total.records, summary.total.rejected), (5, 0));
    assert_eq!(summary.files[0].form, "Slurm accounting");
}

#[test]
fn other_delimiters_and_the_plain_table_say_the_same() {
    let (_, want) = read_text(PARSABLE);
    let (_, events) = read_text(&PARSABLE.replace('|', "|#"));
    assert_eq!(emitted(&events), emitted(&want));
    let table = "\
JobID           JobName      State ExitCode                 End
------------ ---------- ---------- -------- -------------------
7                 train OUT_OF_ME+    0:125 2026-11-21T11:00:00
7.batch           batch OUT_OF_ME+    0:125 2026-11-21T11:00:00
8                  eval CANCELLED+      0:0 2026-11-21T10:30:00
";
    let (_, events) = read_text(table);
    is(
        &events,
        &[
            ("slurm/7", "OUT_OF_MEMORY", "2026-11-21T11:00:00Z"),
            ("slurm/8", "CANCELLED", "2026-11-21T10:30:00Z"),
        ],
    );
}

#[test]
fn control_tells_jobs_and_nodes() {
    let (_, events) = read_text(
        "JobId=7 JobName=train\n   UserId=alice(1001) Account=lab\n   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)\n   StartTime=2026-11-21T10:00:00 EndTime=2026-11-21T11:00:00\n   NodeList=n[1-2]\n\n\
NodeName=n1 Arch=x86_64 CPUTot=8\n   OS=Linux 6.8.0 #1 SMP\n   State=DOWN*+DRAIN ThreadsPerCore=1\n   Reason=Not responding [slurm@2026-11-21T10:59:00]\n\nNodeName=n2 Arch=x86_64 State=IDLE CPUTot=8\n",
    );
    is(
        &events,
        &[
            ("slurm/7", "TIMEOUT", "2026-11-21T11:00:00Z"),
            ("n1", "DOWN", "2026-11-21T10:59:00Z"),
        ],
    );
    assert_eq!(events[0].attribute("user"), Some("alice"));
    assert_eq!(events[1].message.as_deref(), Some("Not responding"));
    assert_eq!(events[1].actor.as_deref(), Some("slurm"));
}

#[test]
fn reasons_are_listed_for_each_node() {
    let (_, events) = read_text(
        "REASON               USER      TIMESTAMP           NODELIST\nNot responding       slurm     2026-11-21T10:59:00 n[1-2]\nbad fan              alice     2026-11-20T08:00:00 n7\n",
    );
    is(
        &events,
        &[
            ("n1", "DOWN", "2026-11-21T10:59:00Z"),
            ("n2", "DOWN", "2026-11-21T10:59:00Z"),
            ("n7", "DRAIN", "2026-11-20T08:00:00Z"),
        ],
    );
    assert_eq!(events[2].actor.as_deref(), Some("alice"));
}

#[test]
fn what_happened_to_nodes_is_kept_with_who_said_so() {
    let table = "   Cluster NodeName                  TimeStart             TimeEnd  State                         Reason       User 
---------- --------------- ------------------- ------------------- ------ ------------------------------ ---------- 
       lab                 2026-11-21T08:00:00             Unknown               Cluster Registered TRES            
       lab n2              2026-11-21T10:59:00 2026-11-21T11:30:00   DOWN                        bad fan    root(0) 
";
    let parsable = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
lab||2026-11-21T08:00:00|Unknown||Cluster Registered TRES|\n\
lab|n2|2026-11-21T10:59:00|2026-11-21T11:30:00|DOWN|bad fan|root(0)\n";
    for text in [table, parsable] {
        let (summary, events) = read_text(text);
        is(&events, &[("n2", "DOWN", "2026-11-21T10:59:00Z")]);
        assert_eq!(events[0].actor.as_deref(), Some("root"));
        assert_eq!(events[0].message.as_deref(), Some("bad fan"));
        assert_eq!(events[0].attribute("until"), Some("2026-11-21T11:30:00Z"));
        assert_eq!((summary.total.records, summary.total.rejected), (2, 0));
    }
}

#[test]
fn a_task_of_an_array_is_one_job_whoever_tells() {
    let ended = ("slurm/6_1", "FAILED", "2026-11-21T11:00:00Z");
    let accounting = "JobID|JobIDRaw|State|ExitCode|Start|End\n6_1|9|FAILED|1:0|2026-11-21T10:00:00|2026-11-21T11:00:00\n6_1.batch|9.batch|FAILED|1:0|2026-11-21T10:00:00|2026-11-21T11:00:00\n";
    let control = "JobId=9 ArrayJobId=6 ArrayTaskId=1 JobName=sweep\n   JobState=FAILED Reason=NonZeroExitCode ExitCode=1:0\n   StartTime=2026-11-21T10:00:00 EndTime=2026-11-21T11:00:00\n";
    let completed = "JobId=9 ArrayJobId=6 ArrayTaskId=1 UserId=alice(7) Name=sweep JobState=FAILED StartTime=2026-11-21T10:00:00 EndTime=2026-11-21T11:00:00 Cluster=unknown ExitCode=1:0 \n";
    let json = |array: serde_json::Value| {
        serde_json::json!({"jobs": [{
            "job_id": 9, "array": array, "name": "sweep",
            "state": {"current": "FAILED", "reason": "None"},
            "time": {"start": 1_795_255_200, "end": 1_795_258_800, "submission": 1_795_255_000},
            "exit_code": {"status": "SUCCESS", "return_code": 0},
            "steps": [{"step": {"id": "batch"}, "state": "FAILED", "exit_code": {"return_code": 1}}],
        }]})
        .to_string()
    };
    let old = json(serde_json::json!({"job_id": 6, "task_id": 1}));
    let new = json(serde_json::json!({"job_id": 6, "task_id": {"set": true, "number": 1}}));
    for text in [accounting, control, completed, &old, &new] {
        let (_, events) = read_text(text);
        is(&events, &[ended]);
        assert_eq!(events[0].attribute("own_id"), Some("9"), "{text}");
        assert_eq!(events[0].exit_code, Some(1), "{text}");
    }
    let (summary, events) = read_text(
        "[2026-11-21T10:00:00.100] sched: Allocate JobId=6_1(9) NodeList=n1 #CPUs=1 Partition=main\n[2026-11-21T11:00:00.100] _job_complete: JobId=6_1(9) WEXITSTATUS 1\n[2026-11-21T11:00:00.100] _job_complete: JobId=6_1(9) done\n",
    );
    assert_eq!(summary.files[0].form, "log of Slurm's daemons");
    let emitted: Vec<_> = events
        .iter()
        .map(|event| (event.object_uid.as_deref(), event.reason.as_deref()))
        .collect();
    assert_eq!(
        emitted,
        [
            (Some("slurm/6_1"), Some("RUNNING")),
            (Some("slurm/6_1"), Some("FAILED"))
        ]
    );
}

#[test]
fn what_waits_says_why_and_has_not_begun() {
    let (_, events) = read_text(
        "JobId=7 JobName=train\n   JobState=PENDING Reason=Resources Dependency=(null)\n   SubmitTime=2026-11-21T10:00:00 StartTime=2026-11-23T10:00:00 EndTime=2026-11-24T10:00:00\n   NodeList=(null)\n",
    );
    is(&events, &[("slurm/7", "PENDING", "2026-11-21T10:00:00Z")]);
    assert_eq!(events[0].message.as_deref(), Some("Resources"));
    assert_eq!(events[0].attribute("started"), None);
}

#[test]
fn json_says_the_same() {
    let json = serde_json::json!({
        "meta": {"plugin": {"type": "openapi/slurmdbd"}},
        "jobs": [{
            "job_id": 7, "name": "train", "cluster": "lab", "user": "alice",
            "nodes": "n[1-2]",
            "state": {"current": ["OUT_OF_MEMORY"], "reason": "None"},
            "time": {"start": 1_795_255_200, "end": 1_795_258_800, "submission": 1_795_255_000},
            "exit_code": {"return_code": {"set": true, "number": 0}, "signal": {"id": {"set": true, "number": 125}}},
            "steps": [{"step": {"id": "7.batch"}, "state": ["OUT_OF_MEMORY"]}],
        }],
    });
    for text in [
        json.to_string(),
        serde_json::to_string_pretty(&json).unwrap(),
    ] {
        let (_, events) = read_text(&text);
        is(
            &events,
            &[("slurm/lab/7", "OUT_OF_MEMORY", "2026-11-21T11:00:00Z")],
        );
        assert_eq!(events[0].attribute("step"), Some("batch"));
    }
}

#[test]
fn a_step_of_json_that_another_followed_did_not_end_the_job() {
    let step = |number: u32, state: &str, begin: i64, end: i64| {
        let set =
            |number: i64| serde_json::json!({"set": true, "infinite": false, "number": number});
        serde_json::json!({
            "step": {"id": format!("7.{number}")}, "state": [state],
            "time": {"start": set(begin), "end": set(end)},
        })
    };
    let json = serde_json::json!({
        "meta": {"plugin": {"type": "openapi/slurmdbd"}},
        "jobs": [{
            "job_id": 7, "name": "train", "cluster": "lab", "user": "alice", "nodes": "n1",
            "state": {"current": ["FAILED"], "reason": "None"},
            "time": {"start": 1_795_255_200, "end": 1_795_258_800, "submission": 1_795_255_000},
            "exit_code": {"return_code": {"set": true, "number": 1}},
            "steps": [
                step(0, "OUT_OF_MEMORY", 1_795_255_201, 1_795_255_301),
                step(1, "FAILED", 1_795_255_302, 1_795_258_799),
            ],
        }],
    });
    let (_, events) = read_text(&json.to_string());
    assert_ne!(events[0].attribute("step_state"), Some("OUT_OF_MEMORY"));
}

#[test]
fn the_labelled_cases_come_out() {
    let shared = std::path::Path::new("../../shared");
    if !shared.exists() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let (summary, events) = read_path(&shared.join("incidents/slurm-oom/input"));
    let one: Vec<_> = events
        .iter()
        .filter(|event| event.attribute("job_id") == Some("39631350"))
        .cloned()
        .collect();
    is(
        &one,
        &[("slurm/39631350", "OUT_OF_MEMORY", "2021-04-07T23:55:10Z")],
    );
    assert_eq!(one[0].attribute("started"), Some("2021-04-07T23:31:04Z"));
    assert_eq!(summary.total.rejected, 0);
    let jobs: std::collections::BTreeSet<_> = events
        .iter()
        .map(|event| event.object_uid.clone())
        .collect();
    assert_eq!(jobs.len(), events.len(), "a job ends once");

    let of = |name: &str| read_path(&shared.join("recordings/onprem").join(name));
    let (_, events) = of("gcm-sample-sacct-one-multiline.txt");
    let ends: Vec<_> = events
        .iter()
        .map(|event| (event.attribute("job_id"), event.reason.as_deref()))
        .collect();
    assert_eq!(
        ends,
        [
            (Some("200131"), Some("CANCELLED")),
            (Some("201729"), Some("FAILED")),
            (Some("201844"), Some("REQUEUED")),
        ]
    );
    let (summary, events) = of("gcm-sample-sacct-output-with-invalid-lines.txt");
    assert_eq!((summary.total.rejected, events.len()), (1, 0));
    let (summary, events) = of("gcm-sample-sacct-output-invalid-utf8.txt");
    assert!(summary.total.lossy > 0 && !events.is_empty(), "{summary:?}");
    let (_, events) = of("gcm-sample-sinfo-output.txt");
    assert!(emitted(&events).contains(&(
        "node0201".to_owned(),
        "DRAIN".to_owned(),
        "2022-06-02T05:54:34Z".to_owned()
    )));
    let (_, events) = of("gcm-sample-scontrol-output.txt");
    assert_eq!(events, [], "partitions mean nothing");

    // The epochs in the text fix year and zone.
    let (_, events) = of("slurm-journal-real.txt");
    let rebooted: Vec<_> = emitted(&events)
        .into_iter()
        .filter(|(_, state, _)| state == "REBOOTED")
        .collect();
    assert_eq!(rebooted.len(), 2);
    assert_eq!(rebooted[0].2, "2026-06-13T06:48:47Z");
}
