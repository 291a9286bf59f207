//! What three new users of the tool ran into when they had the README alone.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::newcomer::{imported, kept, lab, piped};
use crate::service::Service;
use crate::whathappened;

const LAB: [&str; 2] = ["--from", "fixtures/lab-cluster/input"];
const GPT2: &str = "gpt2-small-7f3";

#[test]
fn the_word_before_a_name_is_its_kind_or_its_namespace() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let job = "job/research/gpt2-small-7f3";
    let ask = |name: &str| [lab(&[name]), kept(&store, &[name])];
    for name in [job, "research/gpt2-small-7f3", "jobs/gpt2-small-7f3"] {
        for (code, out, err) in ask(name) {
            assert_eq!(code, Some(0), "{name}: {err}");
            assert!(out.contains("node.not_ready"), "{name}: {out}");
        }
    }
    // Nobody gets the run of another team, or of another kind, under a name of their own.
    for name in [
        "foo/gpt2-small-7f3",
        "deployment/gpt2-small-7f3",
        "job/foo/gpt2-small-7f3",
        "default/gpt2-small-7f3",
    ] {
        for (code, out, err) in ask(name) {
            assert_eq!(code, Some(3), "{name}: {out}{err}");
            assert!(err.contains(GPT2), "{name}: {err}");
        }
    }
}

#[test]
fn a_calendar_that_could_not_be_read_is_no_promise() {
    let folder = tempfile::tempdir().unwrap();
    let calendar = folder.path().join("calendar.csv");
    let text = "maintenance,hosts,starts,ends\nswap a switch,gpu-1,tomorrow 8:00,\n";
    std::fs::write(&calendar, text).unwrap();
    let calendar = calendar.to_str().unwrap();
    let alone = ["upcoming", "-q", "--from", calendar];
    for more in [&[][..], &LAB] {
        let (code, out, err) = whathappened(&[&alone, more].concat());
        assert_eq!(code, Some(6), "{more:?}: {out}{err}");
        assert!(out.contains("unknown"), "{out}");
        assert!(out.contains("calendar.csv:2: a maintenance"), "{out}");
    }
}

#[test]
fn a_kubeconfig_that_is_named_and_not_there_is_no_secret() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let ask = |more: &[&str], kubeconfig: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args([&[GPT2, "--store", &store][..], more].concat())
            .env_clear()
            .env("HOME", "/nonexistent")
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), err)
    };
    let (code, err) = ask(&[], "/nonexistent/kubeconfig");
    assert_eq!(code, Some(0), "{err}");
    let said = "No cluster was queried (there is no kubeconfig at /nonexistent/kubeconfig";
    assert!(err.contains(said), "{err}");
    for typed in [["--context", "dev"], ["--kubeconfig", "/nonexistent/other"]] {
        let (code, err) = ask(&typed, "/nonexistent/kubeconfig");
        assert_eq!(code, Some(2), "{typed:?}: {err}");
        assert!(err.contains("--no-fetch"), "{typed:?}: {err}");
    }
    // Nobody misses a cluster who named none.
    let (code, err) = ask(&[], "");
    assert_eq!((code, err.contains("cluster")), (Some(0), false), "{err}");
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    for (args, said) in [
        (&["reprot"][..], "did you mean the command report?"),
        (&["experimnts"], "did you mean the command experiments?"),
        (
            &[GPT2, "--since", "2026-11-22", "--until", "2026-11-21"],
            "is not before --until",
        ),
        (
            &[GPT2, "--config", "/nonexistent/config.toml"],
            "the configuration file /nonexistent/config.toml cannot be read",
        ),
    ] {
        let (code, out, err) = kept(&store, args);
        assert!(matches!(code, Some(2 | 3)), "{args:?}: {out}{err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

#[test]
fn garbage_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..4_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let path = folder.path().join("noise.bin");
    std::fs::write(&path, &noise).unwrap();
    let path = path.to_str().unwrap();
    for (code, _, err) in [
        piped(&[], &noise),
        piped(&[], b"{\"kind\": \"Pod\", \"metadata\": {"),
        whathappened(&["*", "--from", path]),
        whathappened(&["import", path, "--store", folder.path().to_str().unwrap()]),
    ] {
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("nothing could be read"), "{err}");
    }
    let (code, _, err) = whathappened(&["*", "--from", "/nonexistent/log"]);
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(err.matches("/nonexistent/log").count(), 1, "{err}");
}

#[test]
fn the_counts_of_what_was_read_add_up() {
    let (_, _, err) = whathappened(&[&[GPT2][..], &LAB].concat());
    let line = err.lines().find(|line| line.starts_with("Read ")).unwrap();
    let (records, facts) = line.split_once("; ").unwrap();
    assert!(facts.contains("facts found"), "{line}");
    let numbers: Vec<u64> = records
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    // Records, files, and what became of the records.
    assert_eq!(numbers[0], numbers[2..].iter().sum::<u64>(), "{line}");
}

#[test]
fn what_runs_survived_is_named() {
    let (_, out, err) = whathappened(&[&["*", "-q"][..], &LAB].concat());
    let note = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(note.contains("are not listed (of "), "{note}{err}");
}

#[test]
fn a_report_is_of_a_period_and_of_whom_one_asks_for() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let report = |more: &[&str]| {
        let args = [&["report", "--explain", "10m", "--format", "json"], more].concat();
        let (code, out, err) = kept(&store, &args);
        assert_eq!(code, Some(0), "{more:?}: {err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let incidents = |report: &serde_json::Value| {
        let sum = &report["figures"][0];
        let columns = sum["columns"].as_array().unwrap();
        let at = columns.iter().position(|name| name == "incidents").unwrap();
        sum["rows"][0][at].as_u64().unwrap()
    };
    let all = incidents(&report(&["--since", "7d"]));
    assert!(all > 1);
    let week = report(&["--since", "2026-11-16", "--until", "2026-11-23"]);
    assert_eq!(week["from"], "2026-11-16T00:00:00Z");
    assert_eq!(week["to"], "2026-11-23T00:00:00Z");
    assert_eq!(incidents(&week), all);
    let before = report(&["--since", "2026-11-02", "--until", "2026-11-09"]);
    assert_eq!(incidents(&before), 0);
    let alice = ["--owner", "alice", "--namespace", "research"];
    assert_eq!(incidents(&report(&alice)), all);
    for others in [["--namespace", "nobody"], ["--owner", "bob"]] {
        assert_eq!(incidents(&report(&others)), 0, "{others:?}");
    }
    let file = _folder.path().join("report.html");
    let path = file.to_str().unwrap();
    let (code, out, err) = kept(&store, &["report", "--format", "html", "-o", path]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("</html>"));
    let (code, _, err) = kept(&store, &["report", "--since", "2026-12-01"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("is empty"), "{err}");
}

/// It answers at once from what is explained, and says how to get the rest.
#[test]
fn a_report_waits_for_no_explaining() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let report = || {
        let (code, out, err) = kept(&store, &["report", "--format", "json"]);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let before = report();
    let runs = before["runs"].as_u64().unwrap();
    assert!(runs > 1 && before["explained"] == 0, "{before}");
    let note = before["notes"][0].as_str().unwrap();
    let said = format!("{runs} of {runs} runs in this window are not explained yet");
    assert!(note.starts_with(&said), "{note}");
    let command = note.split('`').nth(1).unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..2], ["whathappened", "explain"], "{command}");
    let (code, _, err) = whathappened(&words[1..]);
    assert_eq!(code, Some(0), "{command}: {err}");
    let after = report();
    assert_eq!(after["explained"], after["runs"], "{after}");
    assert!(after["notes"].as_array().unwrap().is_empty(), "{after}");
    let (code, _, err) = kept(&store, &["report", "--explain", "soon"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("30s"), "{err}");
}

/// A store of others, or on a disk that may only be read, answers what it holds.
#[cfg(unix)]
#[test]
fn a_store_that_may_only_be_read_answers() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    let (folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let root = folder.path();
    let is_root = std::fs::metadata(root).unwrap().uid() == 0;
    let set = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut folders = vec![std::path::PathBuf::from(&store)];
    let mut all = Vec::new();
    while let Some(path) = folders.pop() {
        for one in std::fs::read_dir(&path).unwrap() {
            let one = one.unwrap().path();
            if one.is_dir() {
                folders.push(one);
            } else {
                set(&one, 0o444);
            }
        }
        set(&path, 0o555);
        all.push(path);
    }
    set(root, 0o755);
    // Where the program was built, nobody else may look.
    let tool = root.join("whathappened");
    let built = env!("CARGO_BIN_EXE_whathappened");
    if std::fs::hard_link(built, &tool).is_err() {
        std::fs::copy(built, &tool).unwrap();
    }
    let ask = |args: &[&str], asks: bool| {
        let mut command = Command::new(&tool);
        command.args(args).args(["--store", &store]).env_clear();
        command.env("HOME", "/nonexistent").current_dir("/");
        if asks {
            command.env("PROMETHEUS_URL", "http://127.0.0.1:9");
        }
        if is_root {
            // Whoever may do everything may write everywhere.
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    for args in [
        &[GPT2][..],
        &[GPT2, "--no-fetch"],
        &["sql", "SELECT count(*) AS n FROM events", "--no-fetch"],
        &["experiments", "--no-fetch"],
        &["report", "--no-fetch"],
    ] {
        let (code, out, err) = ask(args, false);
        assert_eq!(code, Some(0), "{args:?}: {out}{err}");
        assert!(!err.contains("rror"), "{args:?}: {err}");
    }
    // A source is not asked, since what it says could not be kept; that is said once.
    let (code, out, err) = ask(&[GPT2], true);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("node.not_ready"), "{out}");
    assert_eq!(err.matches("cannot be written to").count(), 1, "{err}");
    for path in all {
        set(&path, 0o755);
    }
}

/// An alert four days after the recording ended.
const LATER: &str = r#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"late.18a0000000000000","namespace":"other","uid":"5b0e","creationTimestamp":"2026-11-25T20:01:00Z"},"involvedObject":{"kind":"Job","namespace":"other","name":"late","uid":"9c1"},"reason":"SuccessfulCreate","message":"Created pod: late-0","type":"Normal","firstTimestamp":"2026-11-25T20:01:00Z","lastTimestamp":"2026-11-25T20:01:00Z","count":1}"#;

const ALERT: &str = r#"{"version":"4","groupKey":"g","status":"firing","receiver":"r","groupLabels":{},"commonLabels":{},"commonAnnotations":{},"externalURL":"http://am.test","truncatedAlerts":0,"alerts":[{"status":"firing","labels":{"alertname":"GPUXid","node":"elsewhere"},"annotations":{},"startsAt":"2026-11-25T20:01:00Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"","fingerprint":"a1"}]}"#;

#[test]
fn a_recording_that_ended_is_no_run_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alert.json");
    std::fs::write(&path, ALERT).unwrap();
    let (_kept, store) = imported(&["fixtures/lab-cluster/input", path.to_str().unwrap()]);
    let (code, out, err) = kept(&store, &["dota-5v5-scale", "--format", "json"]);
    assert_eq!(code, Some(0), "{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let now = answer["now"].as_str().unwrap();
    assert!(now.starts_with("2026-11-21T15:23:"), "{now}");
    let hours = "SELECT max(date_part('epoch', known_until) - date_part('epoch', start)) AS s FROM runs WHERE \"end\" IS NULL";
    let (code, out, err) = kept(&store, &["sql", hours, "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    let seconds: f64 = out.lines().nth(1).unwrap().parse().unwrap();
    assert!(seconds < 3_600.0, "{out}");
    let args = [
        "report",
        "--since",
        "7d",
        "--explain",
        "10m",
        "--format",
        "json",
    ];
    let (code, out, err) = kept(&store, &args);
    assert_eq!(code, Some(0), "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let figures = report["figures"].as_array().unwrap();
    let between = figures.iter().find(|one| one["id"] == "between-failures");
    for row in between.unwrap()["rows"].as_array().unwrap() {
        assert!(row[2].as_f64().unwrap() < 2.0, "{row}");
    }
    // Nobody is sent round in a circle.
    let (code, _, err) = kept(&store, &["experiments", "--since", "2026-11-25"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("use --since 2026-11-21"), "{err}");
    // What another cluster tells later, in a store that knows of no clusters, is of the same.
    let later = folder.path().join("later.json");
    std::fs::write(&later, LATER).unwrap();
    let args = ["import", "-q", "--store", &store, later.to_str().unwrap()];
    assert_eq!(whathappened(&args).0, Some(0));
    let (_, out, err) = kept(&store, &["experiments", "--since", "2026-11-25"]);
    assert!(out.contains("late"), "{out}{err}");
}

#[test]
fn what_is_lost_of_a_store_is_not_read_in_full() {
    let (folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let (_, before, _) = kept(&store, &[GPT2]);
    assert!(before.contains("established"), "{before}");
    crate::store::damage_of(&folder.path().join("store"), "objects");
    let (code, out, err) = kept(&store, &[GPT2]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("supported") && !out.contains("established"),
        "{out}"
    );
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = text.split("read in full: ").nth(1).unwrap_or_default();
    let lost = ["nodes", "pods", "jobs and other workloads"];
    for one in lost {
        assert!(!whole.contains(one), "{text}");
    }
    // The same on a page.
    let (_, page, err) = kept(&store, &[GPT2, "--format", "html"]);
    let read = page
        .split("aria-label=\"Sources read\"")
        .nth(1)
        .unwrap_or_default();
    let read = read.split("</table>").next().unwrap_or_default();
    assert!(read.contains("Kubernetes Events"), "{read}{err}");
    for one in lost {
        assert!(!read.contains(&format!(">{one}<")), "{one}: {read}");
    }
}

#[test]
fn a_log_store_where_nobody_listens_is_asked_once_and_told_once() {
    let (folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let config = folder.path().join("config.toml");
    std::fs::write(
        &config,
        "[kubernetes]\nenabled = false\n[loki]\naddr = \"http://127.0.0.1:9\"\n",
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let began = std::time::Instant::now();
    let (code, out, err) = whathappened(&[GPT2, "--store", &store, "--config", config]);
    assert_eq!(code, Some(0), "{err}");
    assert!(began.elapsed().as_secs() < 8, "{:?}", began.elapsed());
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("refused").count(), 1, "{text}");
    assert!(text.contains("http://127.0.0.1:9"), "{text}");
}

#[test]
fn the_coverage_of_a_store_lists_what_was_imported_and_a_hook_says_what_it_understood() {
    let config = "[serve.hooks.generic]\ntoken = \"0123456789abcdef0123456789abcdef\"\n";
    let service = Service::start(&["fixtures/lab-cluster/input"], config);
    let coverage = service.get("/api/v1/coverage", &[]).json();
    let held = |resource: &str| {
        let items = coverage["items"].as_array().unwrap();
        let row = items.iter().find(|row| row["resource"] == resource);
        row.unwrap_or_else(|| panic!("{resource}: {coverage:#}"))
            .clone()
    };
    for resource in ["pods", "nodes", "events", "audit"] {
        let row = held(resource);
        assert_eq!(row["status"], "complete", "{row}");
        assert!(
            row["got_to"]
                .as_str()
                .unwrap()
                .starts_with("2026-11-21T15:2"),
            "{row}"
        );
    }
    let token = "authorization: Bearer 0123456789abcdef0123456789abcdef";
    let headers = [token, "content-type: application/json"];
    let told = service.ask("POST", "/hooks/generic", &headers, b"{\"foo\":1}");
    let told = told.json();
    assert_eq!(told["understood"], 0, "{told}");
    assert!(
        told["why"][0]
            .as_str()
            .unwrap()
            .contains("nothing was stored"),
        "{told}"
    );
}

#[test]
fn a_question_that_is_piped_in_is_no_log() {
    let (_, out, err) = piped(&[], b"why did my job die?\n");
    assert!(out.contains("recognised: pipe in"), "{out}{err}");
}

#[test]
fn a_status_of_a_store_is_for_people() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let (code, out, err) = kept_status(&store);
    assert_eq!(code, Some(0), "{err}");
    for words in ["KiB", "of 50.00 GiB", "d ago", "day folders"] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

fn kept_status(store: &str) -> (Option<i32>, String, String) {
    whathappened(&["store", "status", "--store", store])
}

#[test]
fn a_service_that_is_asked_to_stop_says_so() {
    let (_folder, store) = imported(&["fixtures/lab-two-runs/input"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--store",
            &store,
            "--no-fetch",
        ])
        .env_clear()
        .env("HOME", "/nonexistent")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listening = |line: &String| line.contains("listening on http://");
    assert!(
        lines
            .by_ref()
            .map(Result::unwrap)
            .any(|line| listening(&line))
    );
    let id = child.id().to_string();
    Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    for word in ["stopping", "stopped"] {
        assert!(rest.iter().any(|line| line.contains(word)), "{rest:?}");
    }
}

/// With recordings, `yesterday` is of the latest record, and so is the order of two times.
#[test]
fn a_window_of_recordings_is_read_by_their_clock() {
    let asked = |since: &str, until: &str| {
        let window = [GPT2, "-q", "--since", since, "--until", until];
        whathappened(&[&window[..], &LAB].concat())
    };
    for since in ["yesterday", "15:20", "2026-11-21"] {
        let (code, out, err) = asked(since, "2026-11-22");
        assert_eq!(code, Some(0), "{since}: {out}{err}");
    }
    let (code, _, err) = asked("2026-11-22", "2026-11-21");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("is not before --until"), "{err}");
}

/// A line that is no request costs no other its answer.
#[test]
fn a_bad_line_of_a_batch_is_answered_as_one() {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .arg("batch")
        .env_clear()
        .env("HOME", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let good = format!(r#"{{"id":"7","from":["{}"],"name":"{GPT2}"}}"#, LAB[1]);
    let lines = format!("{good}\n\nno request\n{good}\n");
    let mut stdin = tool.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, lines.as_bytes()).unwrap();
    drop(stdin);
    let output = tool.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let replies: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<&serde_json::Value> = replies.iter().map(|reply| &reply["id"]).collect();
    assert_eq!(ids, [&"7".into(), &serde_json::Value::Null, &"7".into()]);
    let error = replies[1]["error"].as_str().unwrap();
    assert!(error.starts_with("line 3: "), "{error}");
    assert!(replies[2]["answer"].is_object(), "{text}");
}

#[test]
fn what_was_mistyped_is_named_with_what_to_write() {
    for (args, said) in [
        (&["gpt2", "extra"][..], "--pod extra"),
        (&["gpt2", "report"], "whathappened report"),
        (&[GPT2, "--width", "abc"], "write a number of columns"),
        (&[GPT2, "--timeline", "-3"], "write 0 for all lines"),
        (&[GPT2, "--watch=5"], "write --watch=5s"),
        (&[GPT2, "--run", "2"], "it has 1 run"),
        (&["sql", "", "-q"], "the statement is empty"),
        (
            &["sql", "-q", "DROP TABLE events"],
            "DROP is not allowed: the data is read-only",
        ),
    ] {
        let (code, out, err) = whathappened(&[args, &LAB].concat());
        assert_ne!(code, Some(0), "{args:?}: {out}{err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(!err.contains("use a subquery"), "{args:?}: {err}");
    }
    let (code, _, err) = piped(&[], b"");
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.contains("name an experiment") && err.contains("--help"),
        "{err}"
    );
    // What is not queried is not wanted in silence.
    let (_, _, err) = whathappened(&[&[GPT2, "--context", "dev"], &LAB[..]].concat());
    assert!(err.contains("No cluster is queried with --from"), "{err}");
    let (_, out, _) = whathappened(&["explain", "--help"]);
    assert!(!out.contains("--from <PATH>"), "{out}");
}

/// Documented, and not in every build: the hint is the feature, not a list of other words.
#[test]
#[cfg(not(any(feature = "lake", feature = "object-store")))]
fn what_this_build_lacks_is_named_with_its_feature() {
    for args in [
        &["collect", "--lake", "s3://b/f"][..],
        &["store", "push", "s3://b/f"],
        &["store", "migrate", "s3://b/f", "s3://b/g"],
    ] {
        let (code, _, err) = whathappened(args);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("this build has no `"), "{err}");
        assert!(err.contains("--features lake"), "{err}");
    }
    let (_, out, _) = whathappened(&["--version"]);
    assert!(
        out.contains("not in this build: ") && out.contains("lake"),
        "{out}"
    );
}

/// What `serve` would end with is found before it is started.
#[test]
fn doctor_finds_what_serve_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    let store = folder.path().join("store").display().to_string();
    for (text, said) in [
        (
            "[serve]\nlisten = '127.0.0.1:99999'\n",
            "[serve] listen 127.0.0.1:99999",
        ),
        ("[serve.hooks.generic]\ntoken = 'short'\n", "generic"),
        (
            "[[serve.caller]]\nname = 'a'\ntoken_sha256 = 'zz'\n",
            "token_sha256",
        ),
        #[cfg(not(feature = "postgres"))]
        (
            "[serve.postgres]\nlisten = '127.0.0.1:5432'\n",
            "--features postgres",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let (code, out, err) = whathappened(&["doctor", "--config", file, "--store", &store]);
        assert_eq!(code, Some(4), "{text}{out}{err}");
        assert!(
            out.contains(said) && out.contains("hint: "),
            "{text}{out}{err}"
        );
    }
    std::fs::write(&file, "[serve]\nlisten = '127.0.0.1:8080'\n").unwrap();
    let (code, out, err) = whathappened(&[
        "doctor",
        "--config",
        file.to_str().unwrap(),
        "--store",
        &store,
    ]);
    assert_eq!(code, Some(0), "{out}{err}");
}

/// A lake that this build cannot write is not left out in silence.
#[test]
#[cfg(not(feature = "lake"))]
fn a_configured_lake_is_not_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    std::fs::write(&file, "[store]\nlake = 's3://b/f'\n").unwrap();
    let file = file.to_str().unwrap();
    for args in [&["doctor"][..], &["import", LAB[1]], &[GPT2, "--no-fetch"]] {
        let (code, _, err) = whathappened(&[args, &["--config", file]].concat());
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains("--features lake"), "{args:?}: {err}");
    }
}

#[test]
fn the_manual_makes_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("a/b");
    let (code, _, err) = whathappened(&["man", "--folder", pages.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    assert!(pages.join("whathappened.1").exists());
}

/// Programs get numbers by name, not texts in rows.
#[test]
fn the_state_of_a_store_is_one_object() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let ask = ["store", "status", "--format", "json", "--store", &store];
    let (code, out, err) = whathappened(&ask);
    assert_eq!(code, Some(0), "{err}");
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(status["bytes"].as_u64().unwrap() > 1_000, "{out}");
    assert!(status["facts"].as_u64().is_some(), "{out}");
    let from = status["from"].as_str().unwrap();
    assert!(from.starts_with("2026-") && from.ends_with('Z'), "{from}");
}
