//! Answers: as of a moment, under a name, from a store; output, pipes and the prompt.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json as value};

use super::{LAB, imported, json, kept, lab, piped};
use crate::service::Service;
use crate::whathappened;

const GPT2: &str = "gpt2-small-7f3";

#[test]
fn an_answer_as_of_a_moment_holds_nothing_later() {
    let at = "2026-11-21T15:21:05Z";
    let answer = json(&[GPT2, "--at", at]);
    assert_eq!(answer["now"], at);
    assert_eq!(answer["runs"][0]["state"], "running");
    let lines = answer["timeline"].as_array().unwrap();
    assert!(!lines.is_empty());
    let latest = lines.iter().map(|line| line["time"].as_str().unwrap());
    assert!(latest.max().unwrap() < "2026-11-21T15:21:06Z");
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.contains("records later than"), "{note}");
    // Before that nothing of it was known.
    for option in ["--at", "--until"] {
        let (code, out, err) = lab(&[GPT2, option, "2026-11-21 15:00"]);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
        assert!(
            err.contains("its first run is from 2026-11-21T15:20:27"),
            "{err}"
        );
    }
}

#[test]
fn what_is_asked_for_is_all_that_is_told_and_what_is_not_there_is_an_error() {
    let (code, _, err) = lab(&[GPT2, "--since", "2027-01-01"]);
    assert_eq!(code, Some(3));
    assert!(err.contains("the latest is from 2026-11-21T15:23"), "{err}");
    let (code, _, err) = lab(&[GPT2, "--pod", "gpt2-small-7f3-1-qp9z"]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("did you mean: gpt2-small-7f3-1-qp9zc"),
        "{err}"
    );
    let whole = json(&[GPT2]);
    let pod = "gpt2-small-7f3-0-nlxk4";
    let answer = json(&[GPT2, "--pod", pod]);
    let lines = |answer: &Value| answer["timeline"].as_array().unwrap().len();
    assert!(lines(&answer) < lines(&whole));
    let since = json(&[GPT2, "--since", "2026-11-21T15:21:10Z"]);
    assert!(lines(&since) < lines(&whole));
    assert!(
        since["notes"][0]
            .as_str()
            .unwrap()
            .contains("timeline line")
    );
    // A run is asked for by its number, too.
    assert_eq!(json(&[GPT2, "--run", "1"])["runs"], whole["runs"]);
    assert_eq!(lab(&[GPT2, "--run", "7"]).0, Some(3));
    let (_, out, _) = lab(&[GPT2, "--tz", "Europe/Berlin"]);
    assert!(out.contains("16:21:03"), "{out}");
}

#[test]
fn a_planned_maintenance_counts_from_when_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let pod = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-0\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{\"nodeName\":\"node-1\"},\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-04-11T06:00:00Z\"}}";
    let calendar = "{\"maintenance\":\"replace the switch\",\"hosts\":[\"node-[1-2]\"],\"starts\":\"2026-04-13T08:30:00Z\",\"by\":\"alice\"}\n";
    std::fs::write(at("pods.json"), pod).unwrap();
    std::fs::write(at("calendar.json"), calendar).unwrap();
    let (pods, calendar) = (at("pods.json"), at("calendar.json"));
    let (_kept, store) = imported(&[&pods, &calendar]);
    let ahead = ["--at", "2026-04-11T08:00:00Z", "--within", "3d"];
    for name in ["p-0", "node/node-1"] {
        let files = ["--from", &pods, "--from", &calendar, "-q"];
        let reported = whathappened(&[&["upcoming", name], &files[..], &ahead].concat());
        assert_eq!(reported.0, Some(5), "{name}: {}{}", reported.1, reported.2);
        assert!(
            reported.1.contains("announced at an unknown time by alice"),
            "{}",
            reported.1
        );
        let stored = kept(&store, &[&["upcoming", name], &ahead[..]].concat());
        assert_eq!((stored.0, stored.1), (reported.0, reported.1), "{name}");
    }
}

/// What stands before the first empty line.
fn head_of(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_machine_under_which_a_run_ended_gets_no_tick() {
    let input = ["--from", "fixtures/autoscaler-scale-down/input", "-q"];
    let node = "ip-10-8-3-17.eu-west-1.compute.internal";
    let (_, out, _) = whathappened(&[&["node", node], &input[..]].concat());
    let head = head_of(&out);
    assert!(
        head.starts_with('!') && head.contains("ops.scale_down"),
        "{head}"
    );
    let (_, out, _) = whathappened(&[&[&*format!("node/{node}")], &input[..]].concat());
    assert!(out.contains("1 incident"), "{out}");
    let (_, out, _) = lab(&["node", "gke-train-a100-pool-7c1d-0004"]);
    let head = head_of(&out);
    assert!(
        head.starts_with('✗') && head.contains("node.not_ready"),
        "{head}"
    );
}

#[test]
fn a_store_tells_its_incidents_before_anybody_asked_by_name() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let count = [
        "sql",
        "SELECT count(*) AS n FROM incidents",
        "--format",
        "csv",
    ];
    let (code, out, err) = kept(&store, &count);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.lines().nth(1).unwrap().parse::<u64>().unwrap() >= 8,
        "{out}"
    );
    // A row a run, with what there is to know at a glance.
    let (_, listed, err) = kept(&store, &["experiments", "--width", "100"]);
    assert_eq!(listed.lines().count(), 8, "{listed}{err}");
    assert!(listed.contains("node.not_ready"), "{listed}");
    let (_, failed, _) = kept(
        &store,
        &["experiments", "--owner", "alice", "--state", "failed"],
    );
    assert!(!failed.is_empty() && failed.lines().count() < 8, "{failed}");
    let (code, _, err) = kept(&store, &["experiments", "--state", "broken"]);
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn a_run_is_explained_once_however_often_it_is_named() {
    let input = Path::new("../shared/incidents/holmes-job-dns/input");
    if !input.is_dir() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let (_folder, store) = imported(&[input.to_str().unwrap()]);
    let explain = ["explain", "--since", "3650d", "--format", "csv"];
    let (code, out, err) = kept(&store, &explain);
    assert_eq!(code, Some(0), "{err}");
    let mut rows: Vec<&str> = out.lines().collect();
    let all = rows.len();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), all, "{out}");
}

#[test]
fn a_mistyped_path_leaves_no_trace() {
    let (folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let missing = folder.path().join("no-such-file").display().to_string();
    let (code, _, _) = whathappened(&["import", &missing, "--store", &store]);
    assert_eq!(code, Some(2));
    let (_, out, _) = kept(&store, &[GPT2, "--explain"]);
    assert!(!out.contains("no-such-file"), "{out}");
}

#[test]
fn a_second_collector_of_one_store_is_refused() {
    let config = "[serve.hooks.generic]\ntoken = 'a-secret-of-many-letters'\n";
    let service = Service::start(&[], config);
    let at = |name: &str| service.folder.path().join(name).display().to_string();
    let (code, _, err) = whathappened(&[
        "serve",
        "--no-fetch",
        "--listen",
        "127.0.0.1:0",
        "--store",
        &at("store"),
        "--config",
        &at("config.toml"),
    ]);
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("another process is already writing to this store"),
        "{err}"
    );
}

#[test]
fn the_address_of_the_service_says_what_it_is() {
    let service = Service::start(&["fixtures/lab-cluster/input"], "");
    let page = service.get("/", &[]);
    assert_eq!(page.status, 200);
    assert!(page.head.contains("text/html"), "{}", page.head);
    assert!(page.text().contains("/api/v1/openapi.json"));
    // What can be no name is refused before anybody is asked.
    let long = "a".repeat(6_000);
    for name in ["%00", long.as_str()] {
        let began = std::time::Instant::now();
        assert_eq!(
            service.get(&format!("/api/v1/answers/{name}"), &[]).status,
            400
        );
        assert!(began.elapsed().as_secs() < 5);
    }
}

#[test]
fn rules_of_ones_own_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let rule = |summary: &str, needs: &str| {
        let text = format!(
            "-- cause: my.rule\n-- title: Mine\n-- rank: 1\n-- level: hypothesis\n-- needs: {needs}\n-- summary: {summary}\nSELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role FROM links WHERE signal = 'k8s.pod.preempted'\n"
        );
        std::fs::write(folder.path().join("my.rule.sql"), text).unwrap();
        let rules = folder.path().to_str().unwrap();
        let (code, _, err) = whathappened(&["rules", "test", "my.rule", "--rules", rules]);
        assert_ne!(code, Some(0));
        err
    };
    let err = rule("{pod} left {nodee}", "k8s.pod.preempted");
    assert!(err.contains("did you mean {node}?"), "{err}");
    let err = rule("{pod} left", "k8s.pod.preemptd");
    assert!(
        err.contains("my.rule.sql:5") && err.contains("did you mean k8s.pod.preempted?"),
        "{err}"
    );
    let err = rule("{pod} left", "k8s.pod.preempted");
    assert!(
        !err.contains("of 0 examples") && err.contains("missing"),
        "{err}"
    );
}

/// Commands that write to standard output, over the recording and a store of it.
fn writers(store: &str) -> Vec<Vec<String>> {
    let lab = "--from fixtures/lab-cluster/input -q";
    let lines = [
        "init -".to_owned(),
        "completions bash".to_owned(),
        "man".to_owned(),
        "sql help".to_owned(),
        "rules list".to_owned(),
        "--help".to_owned(),
        format!("{GPT2} {lab}"),
        format!("{GPT2} {lab} --format json"),
        format!("experiments {lab}"),
        format!("report {lab}"),
        format!("store status --store {store}"),
        format!("store verify --store {store}"),
        format!("store repair --store {store}"),
        format!("doctor --no-fetch --store {store}"),
    ];
    let words = |line: &String| line.split(' ').map(str::to_owned).collect();
    lines.iter().map(words).collect()
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_no_panic() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let run = |args: &[String], out: Stdio| {
        Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(args)
            .env_clear()
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for args in writers(&store) {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = run(&args, full.into()).wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
        assert!(
            err.starts_with("error: ") && !err.contains("panicked") && !err.contains("crashed"),
            "{args:?}: {err}"
        );
        // A reader that has enough of it is no error.
        let mut child = run(&args, Stdio::piped());
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*err),
            (Some(0), ""),
            "{args:?} into a closed pipe"
        );
    }
}

#[test]
fn the_answer_fits_a_screen_until_more_is_asked_for() {
    let (_, out, _) = lab(&[GPT2, "--width", "100"]);
    assert!(out.lines().count() <= 40, "{out}");
    assert!(
        !out.contains("\nTimeline") && out.contains("--timeline 30"),
        "{out}"
    );
    assert!(out.contains("What to do"), "{out}");
    let absent = out.lines().filter(|line| line.contains("not read"));
    assert_eq!(absent.count(), 1, "{out}");
    let (_, more, _) = lab(&[GPT2, "--explain"]);
    assert!(
        more.contains("\nTimeline") && more.contains("would have shown"),
        "{more}"
    );
    let (_, lines, _) = lab(&[GPT2, "--timeline", "5"]);
    assert!(lines.contains("5 of"), "{lines}");
}

#[test]
fn what_is_piped_in_is_explained() {
    let pod = std::fs::read("fixtures/gpu-test-drain/input/pods.json");
    let text = pod.unwrap_or_else(|_| {
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"run-0\",\"namespace\":\"lab\",\"uid\":\"u1\",\"creationTimestamp\":\"2026-02-03T10:00:00Z\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"main\",\"image\":\"x\"}]},\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"main\",\"restartCount\":0,\"state\":{\"terminated\":{\"exitCode\":1,\"reason\":\"Error\",\"startedAt\":\"2026-02-03T10:00:05Z\",\"finishedAt\":\"2026-02-03T10:10:00Z\"}}}]}}".into()
    });
    let (code, out, err) = piped(&[], &text);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains('✗'), "{out}");
    let (code, _, err) = piped(&[], b"");
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn options_may_stand_before_the_verb_and_hints_keep_them() {
    let (code, out, err) =
        whathappened(&[&LAB[..], &["-q", "experiments", "--format", "csv"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out.lines().count(), 9, "{out}");
    let (code, _, err) = lab(&["zzzzzzzz"]);
    assert_eq!(code, Some(3));
    assert!(
        !err.contains("whathappened experiments")
            || err.contains("whathappened experiments --from fixtures/lab-cluster/input"),
        "{err}"
    );
}

#[test]
fn what_rules_select_from_can_be_queried() {
    let (code, out, err) = lab(&[
        "sql",
        "SELECT signal, via, round(lag_s) AS lag FROM links WHERE pod LIKE 'gpt2%' AND signal LIKE 'k8s.node%' ORDER BY 1, 2, 3 LIMIT 3",
        "--format",
        "csv",
    ]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.lines().count() > 1, "{out}");
    let (_, out, _) = lab(&["sql", "\\d links", "--format", "csv"]);
    assert!(out.contains("seconds from the fact to the death"), "{out}");
}

#[test]
fn what_is_not_known_is_said_to_be_unknown() {
    let input = Path::new("../shared/incidents");
    if !input.is_dir() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let ask = |name: &str, incident: &str| {
        let from = input.join(incident).join("input").display().to_string();
        whathappened(&[name, "--from", &from, "-q"]).1
    };
    let out = ask("i-00ddbf07ce6372082", "aws-retirement");
    assert!(
        out.contains("state unknown") && !out.contains("established"),
        "{out}"
    );
    // Records that leave the namespace out are of the same job; how long it took is not known.
    let out = ask("java-api-checker", "holmes-job-db");
    let head = out.lines().next().unwrap();
    assert!(
        head.contains("run 1 of 1") && head.ends_with("failed"),
        "{head}"
    );
    assert!(!out.contains("Other objects have the same name"), "{out}");
    let out = ask("job/1809655", "bs-time-limit");
    let head = out.lines().next().unwrap();
    assert!(head.ends_with("failed"), "{head}");
    assert!(out.contains("Slurm (scheduler)"), "{out}");
}

#[test]
fn a_run_keeps_its_number_and_a_newer_one_is_named() {
    let ask = |more: &[&str]| {
        let from = ["lm-350m", "--from", "fixtures/lab-two-runs/input", "-q"];
        let (code, out, err) = whathappened(&[&from[..], more].concat());
        assert_eq!(code, Some(0), "{err}");
        // Lines are broken anywhere.
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let answer = ask(&[]);
    assert!(answer.contains("run 1 of 2"), "{answer}");
    let note = "There is a newer run (2 of 2, lm-350m-r2), which is running; use --run 2 to see it";
    assert!(answer.contains(note), "{answer}");
    for (number, name) in [("1", "lm-350m-r1"), ("2", "lm-350m-r2")] {
        let answer = ask(&["--run", number]);
        assert!(answer.contains(&format!("run {number} of 2")), "{answer}");
        assert!(answer.contains(name), "{answer}");
    }
}

#[test]
fn a_run_is_asked_for_by_its_number_also_where_the_id_of_another_begins_so() {
    let job = |uid: &str, hour: u32| {
        value!({ "apiVersion": "batch/v1", "kind": "Job", "spec": { "parallelism": 1 }, "status": { "active": 1 },
            "metadata": { "name": "bert", "namespace": "ml", "uid": uid, "creationTimestamp": format!("2026-11-24T{hour:02}:00:00Z") } })
    };
    let folder = tempfile::tempdir().unwrap();
    let list =
        value!({ "apiVersion": "v1", "kind": "List", "items": [job("9d1c", 9), job("1f66", 10)] });
    std::fs::write(folder.path().join("jobs.json"), list.to_string()).unwrap();
    let from = folder.path().to_str().unwrap();
    for (asked, number) in [("1", 1), ("2", 2), ("9d", 1), ("1f", 2)] {
        let (_, out, err) =
            whathappened(&["bert", "--from", from, "--run", asked, "--format", "json"]);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        let numbers: Vec<&Value> = answer["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| &run["number"])
            .collect();
        assert_eq!(numbers, [number], "--run {asked}");
    }
}

#[test]
fn who_had_nothing_to_collect_was_never_there() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let (code, ..) = whathappened(&["collect", "--store", &store]);
    assert_eq!(code, Some(2));
    let rows = "SELECT count(*) AS n FROM coverage WHERE source = 'collector'";
    let (_, out, err) = kept(&store, &["sql", rows, "--format", "csv"]);
    assert_eq!(out.split_whitespace().last(), Some("0"), "{err}");
}

#[test]
fn ctrl_c_at_the_prompt_gives_up_the_statement_alone() {
    use std::io::Read as _;
    let program = env!("CARGO_BIN_EXE_whathappened");
    // A shell that waited for it would be ended by Ctrl-C, as `sh` is, and the terminal with it;
    // and who runs the tests may have the signal ignored or blocked.
    let typed =
        format!("exec env --default-signal=INT {program} sql --from fixtures/lab-cluster/input -q");
    let started = Command::new("timeout")
        .args(["60", "script", "-qec", &typed, "/dev/null"])
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        // Also where the statement has the only thread there is.
        .env("TOKIO_WORKER_THREADS", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        return whathappened_loopback::skipped("no script");
    };
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (reported, seen) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut buffer) {
            reported
                .send(String::from_utf8_lossy(&buffer[..read]).into_owned())
                .unwrap();
        }
    });
    let until = |what: &str, pause: Duration| {
        let mut text = String::new();
        while !text.contains(what) {
            match seen.recv_timeout(pause) {
                Ok(more) => text.push_str(&more),
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("it ended: {text}"),
            }
        }
        true
    };
    let long = Duration::from_secs(30);
    assert!(until("sql>", long));
    let endless = "SELECT count(*) FROM events a, events b, events c, events d;\r";
    keys.write_all(endless.as_bytes()).unwrap();
    assert!(until("\u{1b}[?2004l", long));
    // It is heard once the prompt gave the terminal back and the statement runs.
    loop {
        std::thread::sleep(Duration::from_millis(300));
        keys.write_all(b"\x03").unwrap();
        if until("cancelled", Duration::from_secs(1)) {
            break;
        }
    }
    keys.write_all(b"SELECT 40 + 2 AS n;\r").unwrap();
    assert!(until("42", long));
    keys.write_all(b"\\q\r").unwrap();
    assert!(child.wait().unwrap().success());
}
