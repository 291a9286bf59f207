//! What the hardening closed, tried on the built program.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::newcomer::{imported, kept};
use crate::service::Service;
use crate::whathappened;

const LAB: &str = "fixtures/lab-cluster/input";

/// A signal of somebody's own on a machine's log, and such a log.
fn own_signal() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(
        rules.join("mine.toml"),
        "[[signal]]\nname = 'lab.coolant'\ntitle = 'The coolant ran dry'\n\
         when = [{ fact = 'node.log', message = 'Loop (?P<loop>\\d+) of the Manifold ran dry' }]\n\
         [[signal.example]]\nfact = 'node.log'\nmessage = 'Loop 3 of the Manifold ran dry'\ncaptures = { loop = '3' }\n\
         [[signal.counter_example]]\nfact = 'node.log'\nmessage = 'Loop 3 of the Manifold is full'\n",
    )
    .unwrap();
    let log = folder.path().join("gpu-7.log");
    std::fs::write(
        &log,
        "2026-11-20T10:00:00+00:00 gpu-7 systemd[1]: Started Session 4 of user root.\n\
         2026-11-20T10:00:05+00:00 gpu-7 coolantd[77]: Loop 3 of the Manifold ran dry\n\
         2026-11-20T10:00:06+00:00 gpu-7 CRON[78]: (root) CMD (run-parts /etc/cron.hourly)\n",
    )
    .unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (rules, log) = (text(&rules), text(&log));
    (folder, rules, log)
}

#[test]
fn a_signal_of_ones_own_finds_its_line_in_a_machines_log() {
    let (_folder, rules, log) = own_signal();
    let statement = "SELECT node, message FROM events WHERE array_has(signals, 'lab.coolant')";
    let ask = ["sql", statement, "--from", &log, "--format", "csv", "-q"];
    let (code, out, err) = whathappened(&[&ask[..], &["--rules", &rules]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("gpu-7,Loop 3 of the Manifold ran dry"),
        "{out}"
    );
    let (_, out, _) = whathappened(&ask);
    assert_eq!(out.lines().count(), 1, "{out}");
}

/// A file that only a daemon writes which no built-in signal knows; the line may stand far behind its beginning.
#[test]
fn a_signal_of_ones_own_finds_its_line_where_only_its_daemon_writes() {
    let (folder, rules, _) = own_signal();
    let file = folder.path().join("coolantd.log");
    let statement = "SELECT node FROM events WHERE array_has(signals, 'lab.coolant')";
    let ask = |lines: &[String], more: &[&str]| {
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let ask = [
            "sql",
            statement,
            "--from",
            file.to_str().unwrap(),
            "--format",
            "csv",
            "-q",
        ];
        let (code, out, err) = whathappened(&[&ask[..], more].concat());
        assert_eq!(code, Some(0), "{err}");
        out
    };
    let line = |second: usize, text: &str| {
        let (minute, second) = (second / 60, second % 60);
        format!("2026-11-20T10:{minute:02}:{second:02}.104221+00:00 gpu-7 coolantd[77]: {text}")
    };
    let dry = "Loop 3 of the Manifold ran dry";
    let own = ["--rules", rules.as_str()];
    assert_eq!(ask(&[line(0, dry)], &own), "node\r\ngpu-7\r\n");
    let full = (0..3_000).map(|second| line(second, "all loops of the manifold are full"));
    let mut late: Vec<String> = full.collect();
    late.push(line(3_001, dry));
    assert_eq!(ask(&late, &own), "node\r\ngpu-7\r\n");
    // A program that trains writes its own log, also one with names in front.
    let trains = [
        line(0, "step 10 loss 2.31").replace("coolantd", "finetune"),
        line(1, dry).replace("coolantd", "finetune"),
    ];
    let program = "SELECT count(*) AS n FROM events WHERE fact = 'log.line'";
    std::fs::write(&file, trains.join("\n") + "\n").unwrap();
    let ask = ["sql", program, "--from", file.to_str().unwrap()];
    let (_, out, err) = whathappened(&[&ask[..], &own, &["--format", "csv", "-q"]].concat());
    assert_eq!(out, "n\r\n2\r\n", "{err}");
}

#[test]
fn signals_that_came_after_the_facts_are_said_to() {
    let (_folder, rules, log) = own_signal();
    let (_store, store) = imported(&[&log]);
    let ask = |statement: &str, more: &[&str]| {
        let ask = [
            "sql",
            statement,
            "--store",
            &store,
            "--no-fetch",
            "--format",
            "csv",
        ];
        whathappened(&[&ask[..], more].concat())
    };
    let statement = "SELECT count(*) FROM events WHERE array_has(signals, 'lab.coolant')";
    let (_, out, err) = ask(statement, &["--rules", &rules]);
    assert!(
        out.ends_with("0\r\n") && err.contains("`whathappened import` reads"),
        "{out}{err}"
    );
    let (code, _, err) = whathappened(&["import", &log, "--store", &store, "--rules", &rules]);
    assert_eq!(code, Some(0), "{err}");
    let (_, out, _) = ask(statement, &["--rules", &rules]);
    assert!(out.ends_with("1\r\n"), "{out}");
    let (_, _, err) = ask(statement, &[]);
    assert!(!err.contains("Signals in"), "{err}");
}

#[test]
fn rules_are_listed_shown_and_tested_from_the_configured_folder() {
    let (folder, rules, _log) = own_signal();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, format!("rules = '{rules}'\n")).unwrap();
    let config = config.to_str().unwrap();
    for verb in [
        &["rules", "list", "--signals", "--format", "csv"][..],
        &["rules", "show", "lab.coolant"],
        &["rules", "test", "lab.coolant"],
    ] {
        let (code, out, err) = whathappened(&[verb, &["--config", config]].concat());
        assert_eq!(code, Some(0), "{verb:?}: {err}");
        assert!(
            out.contains("lab.coolant") || out.contains("2 examples"),
            "{out}"
        );
        let (_, out, _) = whathappened(verb);
        assert!(!out.contains("lab.coolant"), "{out}");
    }
}

#[test]
fn a_rule_names_kinds_of_evidence_and_no_sources() {
    let folder = tempfile::tempdir().unwrap();
    let text = "-- cause: my.rule\n-- title: Mine\n-- rank: 1\n-- level: hypothesis\n-- overturned_by: loki: the traceback\n\
        -- summary: {pod} left\nSELECT death FROM links\n";
    std::fs::write(folder.path().join("my.rule.sql"), text).unwrap();
    let rules = folder.path().to_str().unwrap();
    let (code, _, err) = whathappened(&["rules", "list", "--rules", rules]);
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("my.rule.sql:5") && err.contains("write one of logs,"),
        "{err}"
    );
}

#[test]
fn what_rules_select_from_is_there_over_a_store() {
    let (_folder, store) = imported(&[LAB]);
    let statement = "SELECT DISTINCT t.pod, u.signal FROM links t JOIN links u ON u.death = t.death AND u.fact = t.fact \
        JOIN deaths d ON d.death = t.death WHERE t.pod LIKE 'gpt2%' AND t.signal LIKE 'k8s.node%' ORDER BY 1, 2";
    let (code, of_store, err) = kept(&store, &["sql", statement, "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(of_store.lines().count() > 1, "{of_store}");
    let (_, of_files, _) =
        whathappened(&["sql", statement, "--format", "csv", "--from", LAB, "-q"]);
    assert_eq!(of_store, of_files);
    let (_, out, _) = kept(&store, &["sql", "\\d links", "--format", "csv"]);
    assert!(out.contains("seconds from the fact to the death"), "{out}");
}

const CONFIG: &str = "[[serve.caller]]\nname = 'team-a'\ntoken_file = 'TOKEN'\nnamespaces = ['research']\n\
[[serve.caller]]\nname = 'all'\ntoken_file = 'ALL'\n";

fn with_callers() -> Service {
    let tokens = tempfile::tempdir().unwrap();
    let at = |name: &str| tokens.path().join(name).display().to_string();
    std::fs::write(at("TOKEN"), "token-of-team-a-0001").unwrap();
    std::fs::write(at("ALL"), "token-of-everything-0001").unwrap();
    let config = CONFIG
        .replace("TOKEN", &at("TOKEN"))
        .replace("ALL", &at("ALL"));
    Service::start(&[LAB], &config)
}

#[test]
fn an_owner_or_namespace_that_no_run_has_is_told_with_those_that_are_near() {
    let service = with_callers();
    let ask = |path: &str, token: &str| {
        let token = format!("authorization: Bearer {token}");
        service.get(path, &[&token])
    };
    let all = "token-of-everything-0001";
    let list = ask("/api/v1/experiments", all).json();
    let items = list["items"].as_array().unwrap();
    let some = |field: &str| -> String {
        let found = items.iter().find_map(|one| one[field].as_str());
        found.unwrap_or_else(|| panic!("no {field}")).to_owned()
    };
    let namespace = some("namespace");
    let typo = ask(&format!("/api/v1/experiments?namespace={namespace}x"), all);
    assert_eq!(typo.status, 404, "{}", typo.text());
    let hints = typo.json()["hints"].to_string();
    assert!(hints.contains(&namespace), "{hints}");
    let nobody = ask("/api/v1/experiments?owner=zzzzzz", all);
    assert_eq!(nobody.status, 404, "{}", nobody.text());
    // What a caller may not see is told as what is not there.
    let team = "token-of-team-a-0001";
    let answer = |namespace: &str| -> (u16, Value) {
        let reported = ask(&format!("/api/v1/experiments?namespace={namespace}"), team);
        let text = reported.text().replace(namespace, "NAMESPACE");
        (reported.status, serde_json::from_str(&text).unwrap())
    };
    for one in ["kube-system", "default"] {
        assert_eq!(answer(one), answer("zzzzzz"), "{one}");
    }
    assert_eq!(answer("research").0, 200);
}

#[test]
fn what_is_counted_is_told_to_scrapers_and_to_no_web_page() {
    use std::io::{Read as _, Write as _};
    let service = with_callers();
    let status = |head: &str| -> u16 {
        let mut to = service.connect();
        let request = format!("GET /metrics HTTP/1.1\r\n{head}\r\nconnection: close\r\n\r\n");
        to.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        to.read_to_end(&mut text).ok();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split(' ').nth(1).unwrap().parse().unwrap()
    };
    for (head, expected) in [
        ("host: 127.0.0.1:9187", 200),
        ("host: [::1]:9187", 200),
        ("host: localhost", 200),
        ("host: evil.example", 403),
        ("host: 127.0.0.1\r\nhost: evil.example", 400),
        ("host: 127.0.0.1\r\norigin: http://evil.example", 403),
        (
            "host: whathappened.lab.svc\r\nauthorization: Bearer token-of-team-a-0001",
            200,
        ),
        (
            "host: whathappened.lab.svc\r\nauthorization: Bearer nobodys",
            403,
        ),
    ] {
        assert_eq!(status(head), expected, "{head}");
    }
}

#[test]
fn a_pipe_that_was_closed_without_a_word_is_nothing() {
    let run = |input: std::io::PipeReader| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whathappened"));
        command.args(["gpt2-small-7f3", "--from", LAB, "-q"]);
        command.env_clear().env("HOME", "/nonexistent").stdin(input);
        command.output().unwrap().status.code()
    };
    // As runners of jobs leave it,
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    assert_eq!(run(reader), Some(0));
    // and one in which something may come yet, for which nobody waits long beside what was named.
    let (reader, _writer) = std::io::pipe().unwrap();
    assert_eq!(run(reader), Some(0));
}

#[test]
fn whoever_waits_for_sources_holds_up_nobody_who_asks_the_store() {
    // A log store that takes every connection and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let (came, comes) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for connection in silent.incoming() {
            held.push(connection);
            if came.send(()).is_err() {
                return;
            }
        }
    });
    let config = format!(
        "[kubernetes]\nenabled = false\ntimeout = '30m'\n[loki]\naddr = 'http://{address}'\n"
    );
    let service = Service::start_with(&[LAB], &config, &[]);
    let list = service.get("/api/v1/experiments?limit=1000", &[]).json();
    let mut names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 6, "{names:?}");
    // More than there are places for work on the store; none of them is answered in this test.
    let mut waiting = Vec::new();
    for name in names.iter().take(6) {
        use std::io::Write as _;
        let mut to = service.connect();
        let ask =
            format!("GET /api/v1/answers/{name}?fetch=true HTTP/1.1\r\nhost: localhost\r\n\r\n");
        to.write_all(ask.as_bytes()).unwrap();
        waiting.push(to);
    }
    let patience = std::time::Duration::from_secs(100);
    let asked = comes.recv_timeout(patience);
    asked.expect("the log store is asked");
    let reported = service.get("/api/v1/answers/gpt2-small-7f3?fetch=false", &[]);
    assert_eq!(reported.status, 200, "{}", reported.text());
}

/// The program with a standard error that takes nothing, as a log on a full disk.
fn without_stderr(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whathappened"));
    let full = std::fs::File::create("/dev/full").unwrap();
    command.args(args).stderr(full);
    command.env_clear().env("HOME", "/nonexistent");
    command
}

/// A line of the log that could not be written was a panic: the service of a machine whose
/// disk was full answered nobody, the probes neither.
#[test]
fn a_log_that_cannot_be_written_stops_nobody() {
    for (args, code) in [
        (&["nobody", "--from", LAB][..], 3),
        (&["sql", "SELECT nothing FROM nowhere", "--from", LAB], 1),
        (&["experiments", "--from", LAB], 0),
    ] {
        let done = without_stderr(args).output().unwrap();
        assert_eq!(done.status.code(), Some(code), "{args:?}");
    }

    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    assert_eq!(whathappened(&["import", LAB, "--store", store]).0, Some(0));
    // Nobody can read where it listens, so that is chosen here.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let args = [
        "serve",
        "--no-fetch",
        "--listen",
        &address,
        "--store",
        store,
    ];
    let mut child = without_stderr(&args).spawn().unwrap();
    let ask = |path: &str| {
        use std::io::{Read as _, Write as _};
        let mut to = std::net::TcpStream::connect(&address).ok()?;
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        to.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        to.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse::<u16>().ok()
    };
    let begun = std::time::Instant::now();
    while ask("/healthz").is_none() && begun.elapsed() < std::time::Duration::from_secs(30) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let answers = ["/healthz", "/readyz", "/api/v1/experiments", "/readyz"].map(ask);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(answers, [Some(200); 4]);
}

/// Whoever asks by one name must not be let in by another.
#[test]
fn a_request_that_names_two_hosts_is_turned_away() {
    use std::io::{Read as _, Write as _};
    let service = Service::start(&[], "");
    let own = service.base().replace("http://", "");
    for (target, host, code) in [
        ("/metrics".to_owned(), own.as_str(), "200"),
        (format!("http://{own}/metrics"), &own, "200"),
        ("http://evil.example/metrics".to_owned(), &own, "400"),
        ("http://evil.example/healthz".to_owned(), "localhost", "400"),
        ("/healthz".to_owned(), "localhost\r\nhost: localhost", "400"),
        (
            "/api/v1/experiments".to_owned(),
            "localhost\r\nhost: evil.example",
            "400",
        ),
    ] {
        let mut to = service.connect();
        let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        to.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        to.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(code), "{target}: {answer}");
    }
}

/// A question about everything compared every run with every other: an input of 15 MB took
/// more than five minutes.
#[test]
fn an_input_of_as_many_runs_as_lines_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.ndjson");
    let mut text = String::new();
    for number in 0..40_000 {
        text.push_str(&format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"type\":\"Warning\",\"reason\":\"BackOff\",\"count\":1,\"message\":\"x\",\
             \"metadata\":{{\"name\":\"p-{number}.{number:x}\",\"namespace\":\"n\",\"uid\":\"u{number}\"}},\
             \"involvedObject\":{{\"kind\":\"Pod\",\"namespace\":\"n\",\"name\":\"p-{number}\",\"uid\":\"q{number}\"}},\
             \"firstTimestamp\":\"2026-11-20T10:30:31Z\",\"lastTimestamp\":\"2026-11-20T10:30:31Z\"}}\n"
        ));
    }
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let took = |args: &[&str]| {
        let begun = std::time::Instant::now();
        let (code, _, err) = whathappened(&[args, &["--from", path]].concat());
        assert_eq!(code, Some(0), "{err}");
        begun.elapsed()
    };
    // Reading it is the same work for all of them.
    let one = took(&["p-77"]);
    for args in [&["*"][..], &["experiments", "--format", "csv"]] {
        let all = took(args);
        assert!(all < one * 4, "{args:?}: {all:?} beside {one:?}");
    }
}

/// Names of files and of archives' members, and what records say, on a terminal: only there
/// does anything obey what they hold.
#[test]
fn a_terminal_obeys_nothing_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    let orders = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{202e}";
    for name in [format!("a{orders}.log"), "b\nSECOND LINE.log".to_owned()] {
        let text = format!("2026-11-20T10:00:00Z ERROR failed {orders}\n{{broken {orders}\n");
        std::fs::write(input.join(name), text).unwrap();
    }
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("p{orders}"), "namespace": "n", "uid": "u", "labels": {"experiment": format!("x{orders}")},
            "creationTimestamp": "2026-11-20T10:00:00Z"},
        "spec": {"nodeName": format!("n{orders}"), "containers": []},
        "status": {"phase": "Failed", "message": format!("m{orders}"), "containerStatuses": [{"name": "c", "ready": false,
            "restartCount": 0, "image": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error",
            "message": format!("boom {orders}"), "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:30:30Z"}}}]}});
    std::fs::write(input.join("pod.json"), pod.to_string()).unwrap();
    // An archive whose member is called so.
    let mut block = [0_u8; 1_536];
    let body = b"{\"kind\":\"Pod\" broken";
    let name = format!("m{orders}.json");
    block[..name.len()].copy_from_slice(name.as_bytes());
    for (at, text) in [
        (100, "0000644"),
        (124, "00000000024"),
        (156, "0"),
        (257, "ustar"),
    ] {
        block[at..at + text.len()].copy_from_slice(text.as_bytes());
    }
    block[263..265].copy_from_slice(b"00");
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block[..512].iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block[512..512 + body.len()].copy_from_slice(body);
    std::fs::write(input.join("t.tar"), block).unwrap();

    let input = input.to_str().unwrap();
    let store = folder.path().join("store").display().to_string();
    for args in [
        format!("'*' --from {input}"),
        format!("'*' --from {input} --explain --timeline 0"),
        format!("experiments --from {input}"),
        format!("sql 'SELECT * FROM events' --from {input}"),
        format!("sql 'SELECT message, raw FROM events' --from {input} --format csv"),
        format!("import {input} --store {store}"),
        "\"$(printf 'no\\033]0;owned\\007')\" --from fixtures/log-alone/input".to_owned(),
        "'*' --from \"$(printf '/none\\033]0;owned\\007')\"".to_owned(),
    ] {
        let typed = format!("exec {} {args}", env!("CARGO_BIN_EXE_whathappened"));
        let shown = Command::new("timeout")
            .args(["60", "script", "-qec", &typed, "/dev/null"])
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh")
            .env("PAGER", "cat")
            .env("HOME", "/nonexistent")
            .stdin(std::process::Stdio::null())
            .output();
        let Ok(shown) = shown else {
            return whathappened_loopback::skipped("no script");
        };
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(!shown.is_empty(), "{args}");
        for order in [
            "\u{1b}]",
            "\u{1b}[2J",
            "\u{9b}",
            "\u{202e}",
            "\nSECOND LINE",
        ] {
            assert!(!shown.contains(order), "{args}: {order:?} in {shown:?}");
        }
    }
}

/// What is not read in time is told on stderr, in the coverage and by the verdict, which is no longer established.
#[test]
fn input_without_end_is_left_out_after_a_while_and_the_answer_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.ndjson");
    let event = |number: u32| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Event","type":"Warning","reason":"BackOff","message":"Back-off {number}","metadata":{{"name":"p-0.{number}","namespace":"lab","uid":"e-{number}"}},"involvedObject":{{"kind":"Pod","namespace":"lab","name":"p-0","uid":"u-0"}},"firstTimestamp":"2026-11-20T10:00:00Z","lastTimestamp":"2026-11-20T10:00:00Z","count":1}}"#
        )
    };
    // Records that say nothing take the same time as others.
    let text: String = (0..50).map(|number| event(number) + "\n").collect();
    std::fs::write(&path, text + &"{}\n".repeat(20_000_000)).unwrap();
    let from = ["--from", path.to_str().unwrap(), "--max-read-time", "2s"];
    let args = [&["*", "--format", "json"], &from[..]].concat();
    let (_, out, err) = whathappened(&args);
    assert!(err.contains("reading took longer than 2 s"), "{err}");
    assert!(err.contains("--max-read-time"), "{err}");
    // On a machine that is busy with much else nothing was read by then.
    let is_answered = out.contains("reading took longer than 2 s");
    assert!(
        is_answered || err.contains("nothing could be read"),
        "{out}\n{err}"
    );
    let (code, _, err) = whathappened(&["*", "--from", "fixtures", "--max-read-time", "soon"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--max-read-time soon is not valid"), "{err}");
}
