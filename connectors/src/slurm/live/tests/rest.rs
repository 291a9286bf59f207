//! Over the REST daemon.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

pub(super) const ENDED: i64 = 1_795_258_800; // 11:00

pub(super) fn accounted(number: u64, name: &str, state: &str) -> Value {
    json!({
        "job_id": number, "name": name, "cluster": "lab", "user": "alice", "nodes": "n[1-2]",
        "array": {"job_id": 0, "task_id": {"set": false, "number": 0}},
        "state": {"current": [state], "reason": "None"},
        "time": {"start": ENDED - 3_600, "end": ENDED, "submission": ENDED - 3_700},
        "exit_code": {"return_code": {"set": true, "number": 1}, "signal": {"id": {"set": false, "number": 0}}},
        "steps": [],
    })
}

fn node(name: &str, why: &str) -> Value {
    json!({
        "name": name, "state": ["DOWN"], "reason": why, "reason_set_by_user": "root",
        "reason_changed_at": {"set": true, "number": ENDED - 5}, "slurmd_start_time": {"set": true, "number": 7},
    })
}

fn waiting() -> Value {
    json!({
        "job_id": 8, "name": "train", "cluster": "lab", "job_state": ["PENDING"],
        "state_reason": "Resources", "submit_time": {"set": true, "number": ENDED},
    })
}

fn other() -> Value {
    json!({
        "job_id": 9, "name": "other", "cluster": "lab", "job_state": ["FAILED"],
        "end_time": {"set": true, "number": ENDED}, "nodes": "n9",
    })
}

pub(super) fn ok(body: Value) -> Reply {
    Reply::Json(200, body)
}

/// A daemon with and without accounting.
fn daemon(accounting: bool) -> Fake {
    Fake::start(move |requested: &ReceivedRequest| {
        if requested.header("x-slurm-user-token") != "eyJ.a.b" {
            return Reply::Text(401, "Authentication failure".to_owned());
        }
        match requested.path.as_str() {
            "/openapi/v3" => {
                let mut paths = json!({"/slurm/v0.0.39/jobs": {}, "/slurm/v0.0.40/jobs": {}});
                if accounting {
                    paths["/slurmdb/v0.0.40/jobs"] = json!({});
                }
                ok(json!({"openapi": "3.0.2", "paths": paths}))
            }
            "/slurmdb/v0.0.40/jobs" if requested.query("job_name") == "train" => {
                ok(json!({"jobs": [
                accounted(7, "train", "NODE_FAIL"), accounted(8, "train", "RUNNING"),
            ], "errors": []}))
            }
            "/slurmdb/v0.0.40/job/7" => ok(json!({"jobs": [accounted(7, "train", "NODE_FAIL")]})),
            "/slurmdb/v0.0.40/job/99" => Reply::Json(
                500,
                json!({"jobs": [], "errors": [{"error_number": 9003, "error": "Nothing found with query"}]}),
            ),
            "/slurm/v0.0.40/job/8" => ok(json!({"jobs": [waiting()]})),
            "/slurm/v0.0.40/jobs" => ok(json!({"jobs": [waiting(), other()]})),
            "/slurm/v0.0.40/nodes" => {
                ok(json!({"nodes": [node("n1", "bad fan"), node("n7", "elsewhere")]}))
            }
            "/slurm/v0.0.40/ping" => ok(json!({"pings": []})),
            _ => Reply::Text(404, "Unable find requested URL.".to_owned()),
        }
    })
}

pub(super) fn open(fake: &Fake, token: &str) -> Slurm {
    let (url, token) = (fake.url(), token.to_owned());
    let options = SlurmOptions::from_env(&|name| match name {
        "SLURM_REST_URL" => Some(url.clone()),
        "SLURM_JWT" => Some(token.clone()),
        _ => None,
    });
    Slurm::open(options.unwrap()).unwrap()
}

#[tokio::test]
async fn jobs_of_a_name_come_with_their_nodes_and_what_they_wait_for() {
    let fake = daemon(true);
    let slurm = open(&fake, "SLURM_JWT=eyJ.a.b\n");
    let (kept, rows) = fetch(&slurm, &about("train")).await;
    assert_eq!(
        emitted(&kept),
        [
            ("slurm/lab/7", "NODE_FAIL"),
            ("slurm/lab/8", "PENDING"),
            // n7 is down as well, and none of its jobs is asked about.
            ("n1", "DOWN"),
        ]
    );
    assert!(rows.iter().all(|row| row.status == Status::Complete));
    assert_eq!(row(&rows, "accounting").rows, 2);
    assert_eq!(
        row(&rows, "accounting").asked_from,
        Some(at("2026-10-22T11:30:00Z"))
    );
    let requested = fake.requests();
    let jobs = requested
        .iter()
        .find(|one| one.path == "/slurmdb/v0.0.40/jobs")
        .unwrap();
    assert_eq!(jobs.query("start_time"), "uts1792668600");
    assert_eq!(jobs.query("end_time"), "uts1795260600");
    assert_eq!(fake.count(|one| one.path == "/openapi/v3"), 1);
}

#[tokio::test]
async fn a_number_is_asked_for_and_one_that_nobody_knows_is_no_trouble() {
    let fake = daemon(true);
    let slurm = open(&fake, "eyJ.a.b");
    let (kept, rows) = fetch(&slurm, &about("7_2")).await;
    assert_eq!(emitted(&kept)[0], ("slurm/lab/7", "NODE_FAIL"));
    assert_eq!(row(&rows, "accounting").status, Status::Complete);
    let (kept, rows) = fetch(&slurm, &about("99")).await;
    assert_eq!(kept, []);
    assert_eq!(row(&rows, "accounting").status, Status::Complete);
}

#[tokio::test]
async fn without_accounting_the_controller_is_asked() {
    let fake = daemon(false);
    let slurm = open(&fake, "eyJ.a.b");
    let (kept, rows) = fetch(&slurm, &about("train")).await;
    assert_eq!(emitted(&kept), [("slurm/lab/8", "PENDING")]);
    let (status, words) = said(row(&rows, "accounting"));
    assert_eq!(status, Status::NotConfigured);
    assert!(words.contains("no accounting"), "{words}");
    assert_eq!(row(&rows, "queue").status, Status::Complete);
}

#[tokio::test]
async fn a_token_that_expired_is_said_with_how_to_make_one() {
    let fake = daemon(true);
    let slurm = open(&fake, "eyJ.old");
    let (kept, rows) = fetch(&slurm, &about("train")).await;
    assert_eq!(kept, []);
    let (status, words) = said(row(&rows, "accounting"));
    assert_eq!(status, Status::Denied);
    assert!(words.contains("scontrol token"), "{words}");
    assert!(!words.contains("eyJ"), "{words}");
    let now = at("2026-11-21T11:30:00Z");
    let health = slurm.check(now, about("x").deadline).await;
    assert!(
        health.unreachable.unwrap().contains("scontrol token"),
        "doctor says the same"
    );
}

#[tokio::test]
async fn a_daemon_that_keeps_its_specification_to_itself_is_tried() {
    let fake = Fake::start(
        |requested: &ReceivedRequest| match requested.path.as_str() {
            "/slurm/v0.0.42/ping" | "/slurmdb/v0.0.42/jobs" => {
                ok(json!({"jobs": [], "errors": []}))
            }
            _ => Reply::Text(404, "not here".to_owned()),
        },
    );
    let slurm = open(&fake, "eyJ.a.b");
    let (_, rows) = fetch(&slurm, &about("train")).await;
    assert_eq!(row(&rows, "accounting").status, Status::Complete);
    assert_eq!(fake.count(|one| one.path == "/slurm/v0.0.42/ping"), 1);
}

#[tokio::test]
async fn a_database_that_is_away_is_not_taken_for_no_jobs() {
    let fake = Fake::start(
        |requested: &ReceivedRequest| match requested.path.as_str() {
            "/openapi/v3" => {
                ok(json!({"paths": {"/slurm/v0.0.40/jobs": {}, "/slurmdb/v0.0.40/jobs": {}}}))
            }
            "/slurm/v0.0.40/jobs" => ok(json!({"jobs": []})),
            // An error with a good status, as some versions answer.
            _ => ok(json!({"jobs": [], "errors": [{"error": "Unable to connect to database"}]})),
        },
    );
    let slurm = open(&fake, "eyJ.a.b");
    let (_, rows) = fetch(&slurm, &about("train")).await;
    let (status, words) = said(row(&rows, "accounting"));
    assert_eq!(status, Status::NotConfigured);
    assert!(words.contains("slurmdbd is down"), "{words}");
}

#[tokio::test]
async fn a_machine_is_asked_for_with_the_jobs_it_had() {
    let fake = daemon(true);
    let slurm = open(&fake, "eyJ.a.b");
    let nodes = vec![Entity {
        name: "n7".to_owned(),
        ..Entity::default()
    }];
    let scope = Scope {
        nodes,
        ..Scope::default()
    };
    let (kept, _) = fetch(&slurm, &of(scope)).await;
    assert_eq!(emitted(&kept), [("n7", "DOWN")]);
    let requested = fake.requests();
    let jobs = requested
        .iter()
        .find(|one| one.path == "/slurmdb/v0.0.40/jobs")
        .unwrap();
    assert_eq!(jobs.query("node"), "n7");
}

#[test]
fn what_is_configured_wrongly_is_said() {
    for (url, words) in [
        (None, "SLURM_REST_URL"),
        (Some("unix:run/s.sock"), "not a socket path"),
    ] {
        let options = SlurmOptions::from_env(&|name| {
            (name == "SLURM_REST_URL").then(|| url.map(str::to_owned))?
        });
        let error = options.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let options = SlurmOptions::from_env(&|name| {
        (name == "SLURM_REST_URL").then(|| "unix:///run/slurmrestd.sock".to_owned())
    });
    let socket = options.unwrap().http.unwrap().unix_socket;
    assert_eq!(socket, Some(PathBuf::from("/run/slurmrestd.sock")));
}
