//! A question that asks a log store beside a cluster, played by small servers.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::play::{Fields, Noted, field, play};

/// One line as Loki has it: labels, nanoseconds, text, what is known of it.
type Line = (Value, i64, Value);

/// A Loki that has the lab's lines.
struct Loki {
    address: String,
    asked: Noted,
}

impl Loki {
    fn start() -> Self {
        Self::with(Vec::new())
    }

    /// With more lines than the lab's.
    fn with(mut lines: Vec<Line>) -> Self {
        let mut files: Vec<_> = std::fs::read_dir("fixtures/lab-cluster/loki")
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let answer: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            for stream in answer["data"]["result"].as_array().unwrap() {
                for value in stream["values"].as_array().unwrap() {
                    let at = value[0].as_str().unwrap().parse().unwrap();
                    lines.push((stream["stream"].clone(), at, value.clone()));
                }
            }
        }
        let (address, asked) = play(move |path, fields| answer(path, fields, &lines));
        Self { address, asked }
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("LOKI_ADDR", &self.address)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), out, err)
    }
}

fn answer(path: &str, fields: &Fields, lines: &[Line]) -> (u16, Value) {
    let field = |name: &str| field(fields, name);
    let ok = |data: Value| (200, json!({ "status": "success", "data": data }));
    let number = |name: &str| field(name).parse::<i64>().ok();
    let (start, end) = (
        number("start").unwrap_or(0),
        number("end").unwrap_or(i64::MAX),
    );
    let inside = |line: &&Line| start <= line.1 && line.1 < end;
    // Names of pods in the selector; filters on text are not played.
    let query = format!("{}{}", field("query"), field("match[]"));
    let meant = |line: &&Line| {
        if let Some(host) = line.0["hostname"].as_str() {
            return query.contains(host) || !query.contains("pod");
        }
        let pod = line.0["pod"].as_str().unwrap();
        let stem = pod.rsplit_once('-').map_or(pod, |(stem, _)| stem);
        !query.contains("pod") || query.contains(stem)
    };
    match path {
        "/ready" => (200, Value::String("ready\n".to_owned())),
        "/loki/api/v1/status/buildinfo" => (200, json!({ "version": "3.7.0" })),
        "/loki/api/v1/labels" => {
            let labels = lines.iter().filter(inside).map(|line| &line.0);
            let names = labels.flat_map(|labels| labels.as_object().unwrap().keys());
            match names.cloned().collect::<std::collections::BTreeSet<_>>() {
                none if none.is_empty() => (200, json!({ "status": "success" })),
                names => ok(names.into_iter().collect()),
            }
        }
        "/loki/api/v1/series" => {
            let mut series: Vec<Value> = lines
                .iter()
                .filter(inside)
                .filter(meant)
                .map(|line| line.0.clone())
                .collect();
            series.dedup();
            ok(series.into())
        }
        "/loki/api/v1/query_range" if query.contains("count_over_time") => {
            let minute = 60_000_000_000;
            let mut counts = std::collections::BTreeMap::<i64, u64>::new();
            for line in lines.iter().filter(meant).filter(inside) {
                // A step counts the minute before it.
                *counts.entry((line.1 / minute + 1) * 60).or_default() += 1;
            }
            let values: Vec<Value> = counts
                .iter()
                .map(|(at, count)| json!([at, count.to_string()]))
                .collect();
            let series = if values.is_empty() {
                json!([])
            } else {
                json!([{ "metric": {}, "values": values }])
            };
            ok(json!({ "resultType": "matrix", "result": series }))
        }
        "/loki/api/v1/query_range" => {
            let mut found: Vec<&Line> = lines.iter().filter(meant).filter(inside).collect();
            found.sort_by_key(|line| line.1);
            let backward = field("direction") == "backward";
            if backward {
                found.reverse();
            }
            found.truncate(usize::try_from(number("limit").unwrap()).unwrap());
            let mut streams: Vec<(Value, Vec<Value>)> = Vec::new();
            for (labels, _, value) in found {
                match streams.iter_mut().find(|(own, _)| own == labels) {
                    Some((_, values)) => values.push(value.clone()),
                    None => streams.push((labels.clone(), vec![value.clone()])),
                }
            }
            let streams: Vec<Value> = streams
                .into_iter()
                .map(|(stream, values)| json!({ "stream": stream, "values": values }))
                .collect();
            ok(json!({
                "resultType": "streams", "encodingFlags": ["categorize-labels"], "result": streams,
            }))
        }
        _ => (404, Value::String("404 page not found\n".to_owned())),
    }
}

fn first(answer: &Value) -> &Value {
    &answer["incidents"][0]
}

/// Puts the cluster's records into a store, without its logs.
fn imported(folder: &tempfile::TempDir) -> String {
    let store = folder.path().join("store").display().to_string();
    let (code, _, err) =
        super::whathappened(&["import", "fixtures/lab-cluster/input", "--store", &store]);
    assert_eq!(code, Some(0), "{err}");
    store
}

#[test]
fn a_log_store_is_asked_for_the_pods_of_the_run_and_kept() {
    let (loki, folder) = (Loki::start(), tempfile::tempdir().unwrap());
    let store = imported(&folder);
    let ask = [
        "sparse-transformer-9",
        "--store",
        &store,
        "--format",
        "json",
    ];
    let (code, out, err) = loki.run(&ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("Queried loki"), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let incident = first(&answer);
    assert_eq!(incident["cause"], "code.exception");
    let traceback = &incident["said"]["traceback"];
    assert_eq!(traceback["exception"], "ValueError");
    assert!(
        traceback["location"]
            .as_str()
            .unwrap()
            .contains("train.py:")
    );
    let logs = answer["coverage"].as_array().unwrap().iter();
    let of_logs = |row: &&Value| row["source"] == "loki" && row["resource"] == "logs";
    let row = logs.clone().find(of_logs).unwrap();
    assert_eq!(
        (&row["status"], &row["rows"]),
        (&json!("complete"), &json!(14))
    );

    // The same again, from what was kept, with nobody to ask.
    let asked = loki.asked.lock().unwrap().len();
    let (code, later, err) = loki.run(&[&ask[..], &["--no-fetch"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let later: Value = serde_json::from_str(&later).unwrap();
    assert_eq!(first(&later)["said"], incident["said"]);
    assert_eq!(loki.asked.lock().unwrap().len(), asked);
}

#[test]
fn others_that_waited_are_collateral_of_the_silent_node() {
    let (loki, folder) = (Loki::start(), tempfile::tempdir().unwrap());
    let store = imported(&folder);
    let (code, out, err) = loki.run(&["gpt2-small-7f3", "--store", &store, "--format", "json"]);
    assert_eq!(code, Some(0), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let incident = first(&answer);
    assert_eq!(incident["cause"], "node.not_ready");
    assert_eq!(incident["collateral"].as_array().unwrap().len(), 2);
    let waited = &incident["said"]["collective"];
    assert_eq!(waited["op"], "ALLREDUCE");
    assert_eq!(waited["waiting"], json!([0, 2]));
    assert_eq!(waited["missing"], json!([1]));
    let (_, text, _) = loki.run(&["gpt2-small-7f3", "--store", &store]);
    assert!(text.contains("rank 1 did not join"), "{text}");
}

#[test]
fn what_the_machine_itself_said_is_asked_of_the_log_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = imported(&folder);
    let node = "gke-train-a100-pool-7c1d-0004";
    let labels = json!({ "hostname": node, "job": "journal", "transport": "kernel" });
    let line = |at: &str, text: &str| {
        let at = chrono::DateTime::parse_from_rfc3339(at).unwrap();
        let at = at.timestamp_nanos_opt().unwrap();
        (labels.clone(), at, json!([at.to_string(), text, {}]))
    };
    let panic = "Kernel panic - not syncing: hung_task: blocked tasks";
    let loki = Loki::with(vec![
        line("2026-11-21T15:20:41.5Z", panic),
        line(
            "2026-11-21T15:20:40Z",
            "usb 1-1: new high-speed USB device number 2",
        ),
        // Before the pod came: another's.
        line(
            "2026-11-21T14:40:00Z",
            "BUG: unable to handle kernel NULL pointer dereference",
        ),
    ]);
    let ask = ["gpt2-small-7f3", "--store", &store, "--format", "json"];
    let (code, out, err) = loki.run(&ask);
    assert_eq!(code, Some(0), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let incident = first(&answer);
    assert_eq!(incident["cause"], "node.kernel_panic", "{incident:#}");
    let root = &incident["evidence"][0];
    assert_eq!(
        (&root["source"], &root["node"]),
        (&json!("loki"), &json!(node))
    );
    let mut rows = answer["coverage"].as_array().unwrap().iter();
    let row = rows.find(|row| row["source"] == "loki" && row["resource"] == "kernel");
    assert_eq!(row.unwrap()["status"], "complete", "{row:?}");

    // Asked for by its own name, the machine tells the same, and what was before.
    let name = format!("node/{node}");
    let window = [
        "--since",
        "2026-11-21T14:00:00Z",
        "--until",
        "2026-11-21T16:00:00Z",
    ];
    let ask = [
        &[name.as_str(), "--store", &store, "--format", "json"],
        &window[..],
    ]
    .concat();
    let (code, out, err) = loki.run(&ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(panic) && out.contains("NULL pointer"), "{out}");
}

#[test]
fn a_store_that_is_down_is_told_and_the_rest_answers() {
    let folder = tempfile::tempdir().unwrap();
    let store = imported(&folder);
    let loki = Loki {
        address: "http://127.0.0.1:9".to_owned(),
        asked: Arc::default(),
    };
    let (code, out, err) = loki.run(&[
        "gpt2-small-7f3",
        "--store",
        &store,
        "--format",
        "json",
        "--timeout",
        "5s",
    ]);
    assert_eq!(code, Some(0), "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(first(&answer)["cause"], "node.not_ready");
    let mut rows = answer["coverage"].as_array().unwrap().iter();
    let of_logs = |row: &&Value| row["source"] == "loki" && row["resource"] == "logs";
    let row = rows.find(of_logs).unwrap();
    assert_eq!(row["status"], "failed");
    let detail = row["detail"].as_str().unwrap();
    assert!(detail.contains("refused"), "{detail}");
}

#[test]
fn nothing_is_asked_where_no_logs_are_wanted() {
    let (loki, folder) = (Loki::start(), tempfile::tempdir().unwrap());
    let store = imported(&folder);
    let (code, _, err) = loki.run(&["gpt2-small-7f3", "--store", &store, "--logs", "none"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(loki.asked.lock().unwrap().is_empty());
}

#[test]
fn what_only_logs_know_is_found_by_its_pods_names() {
    let (loki, folder) = (Loki::start(), tempfile::tempdir().unwrap());
    let store = folder.path().join("empty").display().to_string();
    let since = "2026-11-21T15:00:00Z";
    let until = "2026-11-21T16:00:00Z";
    let ask = [
        "sparse-transformer-9",
        "--store",
        &store,
        "--since",
        since,
        "--until",
        until,
    ];
    let (code, out, err) = loki.run(&ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("ValueError"), "{out}");
}

#[test]
fn doctor_tries_log_stores() {
    let (loki, folder) = (Loki::start(), tempfile::tempdir().unwrap());
    let store = folder.path().join("store").display().to_string();
    let (_, out, err) = loki.run(&["doctor", "--store", &store]);
    assert!(out.contains("loki") && out.contains("3.7.0"), "{out}{err}");
}

/// A source of which nothing could be read has no news, and not "0 new facts" alone.
#[test]
fn a_source_that_refuses_is_named_in_the_line_of_progress() {
    let refusing = |code: u16| {
        let (address, asked) = play(move |_, _| (code, json!({ "message": "nope" })));
        Loki { address, asked }
    };
    let folder = tempfile::tempdir().unwrap();
    let store = imported(&folder);
    let ask = ["sparse-transformer-9", "--store", &store, "--timeout", "5s"];
    let (code, _, err) = refusing(401).run(&ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("loki could not be read (the server returned 401)"),
        "{err}"
    );
    let (code, out, err) = refusing(401).run(&["doctor", "--store", &store]);
    assert_eq!(code, Some(4), "{out}{err}");
    assert!(out.contains("\u{2717} loki"), "{out}");
    assert!(
        out.contains("credentials refused (401)") || out.contains("401"),
        "{out}"
    );
    assert!(!err.contains("permission"), "{err}");
}

/// One deadline for everything that is asked: a server that hangs costs no more than that.
#[test]
fn a_source_that_hangs_is_waited_for_no_longer_than_was_said() {
    let (address, asked) = play(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(60));
        (200, json!({}))
    });
    let loki = Loki { address, asked };
    let folder = tempfile::tempdir().unwrap();
    let store = imported(&folder);
    let start = std::time::Instant::now();
    let ask = ["gpt2-small-7f3", "--store", &store, "--timeout", "2s"];
    let (code, out, err) = loki.run(&ask);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("loki could not be read (no response"), "{err}");
    assert!(!out.contains("within 0.0 s"), "{out}");
    // A build that is not optimised, on a machine that is busy, has some time of its own.
    assert!(start.elapsed().as_secs() < 40, "{:?}", start.elapsed());
}
