//! Secrets that stand where people leave them, looked for in every way out.

use std::path::Path;

use serde_json::json;

use crate::newcomer::imported;
use crate::service::Service;
use crate::whathappened;

/// How a secret is written, and the part that must not be seen.
const SECRETS: &[(&str, &str)] = &[
    ("key AKIAZ7QHTB2XKLM4PRWN", "Z7QHTB2XKLM4"),
    ("ghp_Xk29vLq8RtYw3ZbN7mPd5HsJ4gFc6QeU1aTo", "Xk29vLq8RtYw3"),
    ("glpat-aZ3kQ9xLm2Wv7TbRcDeF", "aZ3kQ9xLm2Wv7"),
    (
        "xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
        "AbCdEfGhIjKl",
    ),
    (
        "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlY2FuYXJ5",
        "c2lnbmF0dXJlY2Fu",
    ),
    ("--db-password hunter2canary9", "hunter2canary9"),
    ("postgres://trainer:hunt3rCanary@db.lab/x", "hunt3rCanary"),
    (
        "Authorization: Bearer canaryBearerTok3n99",
        "canaryBearerTok3n99",
    ),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnCanaryK7MDENGbPxRfiCYzz",
        "wJalrXUtnCanary",
    ),
    (
        "https://lab.blob.core.windows.net/c/x?sv=2022&sig=c4n4ryS1gn4ture%2Bxyz%3D",
        "c4n4ryS1gn4ture",
    ),
];

const STATEMENTS: &[&str] = &[
    "SELECT * FROM events",
    "SELECT * FROM objects",
    "SELECT * FROM tenures",
    "SELECT * FROM runs",
    "SELECT * FROM incidents",
    "SELECT * FROM coverage",
    "SELECT * FROM deaths",
    "SELECT * FROM links",
    "SELECT * FROM timeline('canary')",
    "SELECT * FROM why('canary')",
    "SELECT CAST(message AS INT) FROM events WHERE message IS NOT NULL",
    "SELECT string_agg(raw, ' ') FROM events",
];

/// A pod that died of nothing, with a secret in each text that somebody writes freely.
fn plant(folder: &Path, secret: &str) {
    let meta = |name: &str| {
        json!({"name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-20T10:00:00Z",
            "labels": {"experiment": "canary"}, "annotations": {"note": format!("use {secret}")}, "resourceVersion": "7"})
    };
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("canary-0"),
        "spec": {"nodeName": "gpu-7", "restartPolicy": "Never", "containers": [{"name": "main", "image": "lab/train:1",
            "command": ["sh", "-c", format!("train {secret}")], "args": secret.split(' ').collect::<Vec<_>>()}]},
        "status": {"phase": "Failed", "message": format!("failed with {secret}"), "containerStatuses": [{"name": "main", "restartCount": 0,
            "image": "lab/train:1", "ready": false, "state": {"terminated": {"exitCode": 1, "reason": "Error",
            "message": format!("cannot log in: {secret}"), "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:30:30Z"}}}]}});
    let event = json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "BackOff", "count": 1,
        "message": format!("Back-off restarting: {secret}"), "metadata": meta("canary-0.17"),
        "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "canary-0", "uid": "uid-canary-0"},
        "source": {"component": "kubelet", "host": "gpu-7"},
        "firstTimestamp": "2026-11-20T10:30:31Z", "lastTimestamp": "2026-11-20T10:30:31Z"});
    // Times that are none make a record be turned away, which is told with what stood there.
    let mut wrong = event.clone();
    wrong["firstTimestamp"] = json!(secret);
    wrong["metadata"]["name"] = json!("canary-0.18");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [pod, event, wrong]});
    std::fs::write(folder.join("list.json"), list.to_string()).unwrap();
    let audit = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "a1", "stage": "ResponseComplete",
        "requestURI": format!("/api/v1/namespaces/lab/pods/canary-0?x={secret}"), "verb": "delete", "user": {"username": "alice@lab.example"},
        "userAgent": format!("curl/8 {secret}"), "objectRef": {"resource": "pods", "namespace": "lab", "name": "canary-0", "apiVersion": "v1"},
        "responseStatus": {"code": 200, "message": format!("deleted: {secret}")},
        "requestReceivedTimestamp": "2026-11-20T10:31:00.000000Z", "stageTimestamp": "2026-11-20T10:31:00.100000Z"});
    std::fs::write(folder.join("audit.log"), format!("{audit}\n")).unwrap();
    let log = folder.join("pods/lab_canary-0_uid-canary-0/main");
    std::fs::create_dir_all(&log).unwrap();
    let lines = format!(
        "2026-11-20T10:30:20.000000001Z stdout F connecting with {secret}\n\
         2026-11-20T10:30:29.000000001Z stderr F Traceback (most recent call last):\n\
         2026-11-20T10:30:29.000000002Z stderr F   File \"train.py\", line 9, in <module>\n\
         2026-11-20T10:30:29.000000003Z stderr F RuntimeError: login refused: {secret}\n"
    );
    std::fs::write(log.join("0.log"), lines).unwrap();
    let kernel = format!(
        "2026-11-20T10:20:00+00:00 gpu-7 kernel: NVRM: Xid (PCI:0000:9b:00): 31, pid=77, name=train {secret}\n\
         2026-11-20T10:21:00+00:00 gpu-7 sudo: alice : COMMAND=/usr/sbin/reboot {secret}\n"
    );
    std::fs::write(folder.join("gpu-7.messages.log"), kernel).unwrap();
}

/// Everything that a question can be answered with.
fn ways_out(of: &[&str]) -> Vec<(String, String)> {
    let mut reported = Vec::new();
    let mut ask = |args: &[&str]| {
        let (_, out, err) = whathappened(&[args, of].concat());
        reported.push((args.join(" "), format!("{out}{err}")));
    };
    for format in ["table", "json", "ndjson", "md", "csv"] {
        ask(&["canary", "--explain", "--timeline", "0", "--format", format]);
        ask(&["experiments", "--format", format]);
    }
    ask(&["node/gpu-7", "--explain", "--timeline", "0"]);
    ask(&["node", "gpu-7", "--format", "json"]);
    ask(&["upcoming", "canary", "--format", "json"]);
    for statement in STATEMENTS {
        ask(&["sql", statement, "--format", "json"]);
    }
    reported
}

#[test]
fn no_secret_leaves_by_any_way_out() {
    let mut leaks = Vec::new();
    // What stands before a secret may be why it is seen, or why it is not.
    let all: Vec<&str> = SECRETS.iter().map(|(secret, _)| *secret).collect();
    let backwards: Vec<&str> = all.iter().rev().copied().collect();
    for secrets in [all.join(" , "), backwards.join(" ; ")] {
        let folder = tempfile::tempdir().unwrap();
        plant(folder.path(), &secrets);
        let input = folder.path().to_str().unwrap();
        let mut reported = ways_out(&["--from", input]);
        let (_kept, store) = imported(&[input]);
        reported.extend(ways_out(&["--store", &store, "--no-fetch"]));
        for entry in std::fs::read_dir(&store).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                reported.push((
                    path.display().to_string(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                ));
            }
        }
        let masked = reported.iter().any(|(_, text)| text.contains("[redacted]"));
        assert!(masked, "nothing was masked");
        for (secret, part) in SECRETS {
            let leaking = reported.iter().filter(|(_, text)| text.contains(part));
            leaks.extend(leaking.map(|(way, _)| format!("{secret}: {way}")));
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn no_secret_leaves_by_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<&str> = SECRETS.iter().map(|(secret, _)| *secret).collect();
    plant(folder.path(), &all.join(" , "));
    let service = Service::start(&[folder.path().to_str().unwrap()], "");
    let mut reported = Vec::new();
    for path in [
        "/api/v1/answers/canary",
        "/api/v1/answers/node%2Fgpu-7",
        "/api/v1/timelines/canary",
        "/api/v1/experiments",
        "/api/v1/incidents",
        "/api/v1/coverage",
        "/api/v1/nodes/gpu-7",
        "/api/v1/upcoming/canary",
        "/metrics",
    ] {
        for accept in ["application/json", "text/markdown", "text/plain"] {
            reported.push((
                path.to_owned(),
                service.get(path, &[&format!("accept: {accept}")]).text(),
            ));
        }
    }
    for statement in STATEMENTS {
        reported.push((
            (*statement).to_owned(),
            service.sql(statement.as_bytes(), &[]).text(),
        ));
    }
    let list = std::fs::read(folder.path().join("list.json")).unwrap();
    reported.push((
        "import".to_owned(),
        service
            .ask("POST", "/api/v1/imports?name=list.json", &[], &list)
            .text(),
    ));
    for (secret, part) in SECRETS {
        for (way, text) in &reported {
            assert!(!text.contains(part), "{secret}: {way}");
        }
    }
}
