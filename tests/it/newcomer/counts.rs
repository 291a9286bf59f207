//! What is counted, of one input the same in every form and place.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{imported, kept, piped, words};
use crate::whathappened;

/// Pods of which Events alone tell that they were stopped, as after any job, were runs that failed in
/// one list, incidents in a store, and nothing at all elsewhere.
#[test]
fn one_input_has_one_count_of_runs_and_incidents() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cluster.json").display().to_string();
    let event = |name: &str, reason: &str, at: &str| {
        let message = if reason == "Killing" {
            "Stopping"
        } else {
            reason
        };
        format!(
            r#"{{"apiVersion":"v1","kind":"Event","metadata":{{"name":"{name}.{reason}","namespace":"ops","uid":"e-{name}-{reason}"}},"involvedObject":{{"kind":"Pod","namespace":"ops","name":"{name}","uid":"u-{name}"}},"reason":"{reason}","message":"{message} container main","firstTimestamp":"{at}","lastTimestamp":"{at}","count":1,"type":"Normal","source":{{"component":"kubelet","host":"n1"}}}}"#
        )
    };
    let static_pod = |uid: &str, at: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"etcd-n1","namespace":"ops","uid":"{uid}","creationTimestamp":"{at}"}},"spec":{{"nodeName":"n1","containers":[{{"name":"main","image":"x"}}]}},"status":{{"phase":"Running","startTime":"{at}","containerStatuses":[{{"name":"main","restartCount":0,"state":{{"running":{{"startedAt":"{at}"}}}}}}]}}}}"#
        )
    };
    let of_set = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-7d9f6b5c4d-x2k8f","namespace":"ops","uid":"p-web","creationTimestamp":"2026-04-11T06:00:00Z","labels":{"pod-template-hash":"7d9f6b5c4d"},"ownerReferences":[{"kind":"ReplicaSet","name":"web-7d9f6b5c4d","uid":"rs-web","controller":true}]},"spec":{"nodeName":"n1","containers":[{"name":"main","image":"x"}]},"status":{"phase":"Running","startTime":"2026-04-11T06:00:01Z","containerStatuses":[{"name":"main","restartCount":0,"state":{"running":{"startedAt":"2026-04-11T06:00:02Z"}}}]}}"#;
    let scaled = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"web.1","namespace":"ops","uid":"e-web"},"involvedObject":{"kind":"Deployment","namespace":"ops","name":"web","uid":"d-web"},"reason":"ScalingReplicaSet","message":"Scaled up replica set web-7d9f6b5c4d to 1","firstTimestamp":"2026-04-11T05:59:59Z","lastTimestamp":"2026-04-11T05:59:59Z","count":1,"type":"Normal","source":{"component":"deployment-controller"}}"#;
    let records = [
        event("marketplace-x2k8f", "Started", "2026-04-11T06:10:00Z"),
        event("marketplace-x2k8f", "Killing", "2026-04-11T06:20:00Z"),
        // The same static pod, made anew.
        static_pod("s-1", "2026-04-11T05:00:00Z"),
        static_pod("s-2", "2026-04-11T06:00:00Z"),
        of_set.to_owned(),
        scaled.to_owned(),
    ];
    std::fs::write(&file, records.join("\n")).unwrap();
    let (_store, store) = imported(&[&file]);
    let of_files = |ask: &[&str]| whathappened(&[ask, &["--from", &file, "-q"]].concat());
    let of_store = |ask: &[&str]| kept(&store, ask);
    let runs = |told: (Option<i32>, String, String)| -> BTreeSet<(String, String, Option<String>)> {
        let list: Value = serde_json::from_str(&told.1).unwrap();
        let list = list.as_array().unwrap().iter();
        list.map(|run| {
            let text = |key: &str| run[key].as_str().map(str::to_owned);
            (
                format!("{}/{}", text("kind").unwrap(), text("name").unwrap()),
                text("state").unwrap_or_default(),
                text("cause"),
            )
        })
        .collect()
    };
    let list = ["experiments", "--format", "json"];
    let listed = runs(of_files(&list));
    assert_eq!(listed, runs(of_store(&list)));
    let one = |name: &str, state: &str| (name.to_owned(), state.to_owned(), None);
    let expected = [
        one("Deployment/web", "running"),
        one("Pod/etcd-n1", "running"),
        one("Pod/marketplace-x2k8f", "unknown"),
    ];
    assert_eq!(listed, BTreeSet::from(expected));
    // Everything together says why it lists no incident.
    let (_, everything, _) = of_files(&["*"]);
    let head = everything.lines().next().unwrap();
    assert!(head.contains("1 run in an unknown state"), "{head}");
    assert!(
        words(&everything).contains("1 run ended, and no record shows how"),
        "{everything}"
    );
    let sql = "SELECT (SELECT count(*) FROM incidents) AS i, (SELECT count(*) FROM runs) AS r, (SELECT state FROM experiments WHERE experiment = 'marketplace-x2k8f') AS s";
    for told in [
        of_files(&["sql", sql, "--format", "csv"]),
        of_store(&["sql", sql, "--format", "csv"]),
    ] {
        assert_eq!(told.1.lines().last(), Some("0,3,unknown"), "{}", told.2);
    }
}

#[test]
fn incidents_that_a_run_survived_are_counted_apart_and_in_both_places() {
    let input = "fixtures/lab-recovered/input";
    let (_store, store) = imported(&[input]);
    let sql = [
        "sql",
        "SELECT experiment, role, cause FROM incidents ORDER BY 1, 2",
        "--format",
        "csv",
    ];
    let of_files = whathappened(&[&sql[..], &["--from", input, "-q"]].concat());
    let of_store = kept(&store, &sql);
    assert_eq!(of_files.1, of_store.1, "{}{}", of_files.2, of_store.2);
    assert!(of_files.1.contains(",recovered,"), "{}", of_files.1);
    let (_, out, _) = whathappened(&["*", "--from", input, "-q"]);
    assert!(
        words(&out).contains("2 incidents that runs survived are not listed"),
        "{out}"
    );
}

#[test]
fn times_are_in_the_zone_that_was_asked_for() {
    let input = ["--from", "fixtures/gke-host-maintenance/input", "-q"];
    let ahead = ["upcoming", "moe-8b", "--at", "2026-04-11T08:30:00Z"];
    let berlin = ["--tz", "Europe/Berlin"];
    let (_, out, _) = whathappened(&[&ahead[..], &input, &berlin].concat());
    assert!(
        out.contains("from 2026-04-11 11:00:00+02:00 to 2026-04-11 15:00:00+02:00 (in 30 min)"),
        "{out}"
    );
    assert!(out.contains("announced 2026-04-09 11:00:11+02:00"), "{out}");
    let (_store, store) = imported(&["fixtures/lab-cluster/input"]);
    let (_, out, err) = kept(
        &store,
        &[&["explain", "--since", "7d"][..], &berlin].concat(),
    );
    assert!(out.contains("2026-11-21T16:21:03+01:00"), "{out}{err}");
    let json = [
        &["explain", "--since", "7d", "--format", "json"][..],
        &berlin,
    ]
    .concat();
    let (_, out, _) = kept(&store, &json);
    assert!(out.contains("2026-11-21T15:21:03"), "{out}");
    let sql = [
        "sql",
        "SELECT 1",
        "--store",
        &store,
        "--no-fetch",
        "--tz",
        "+02:00",
    ];
    let (_, _, err) = whathappened(&sql);
    assert!(err.contains("Times in SQL are in UTC"), "{err}");
}

#[test]
fn a_store_of_another_day_says_so() {
    let (_store, store) = imported(&["fixtures/lab-cluster/input"]);
    for word in ["today", "yesterday"] {
        let (code, out, err) = kept(&store, &["experiments", "--since", word]);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{word}: {err}");
        assert!(
            err.contains("the last record of the newest run is from 2026-11-21T15:2"),
            "{err}"
        );
        assert!(err.contains("--since 2026-11-21"), "{err}");
    }
    let (code, out, err) = kept(&store, &["experiments", "--since", "2026-11-21"]);
    assert_eq!((code, out.lines().count()), (Some(0), 8), "{err}");
    let (code, _, err) = whathappened(&[
        "explain",
        "--since",
        "today",
        "--store",
        &store,
        "--no-fetch",
    ]);
    assert_eq!(code, Some(0));
    assert!(err.contains("Nothing was recorded since today"), "{err}");
    let (code, _, err) = kept(&store, &["gpt2-small-7f3", "--since", "today"]);
    assert_eq!(code, Some(3));
    assert!(err.contains("such as 2026-11-21"), "{err}");
}

#[test]
fn a_calendar_is_enough_to_look_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calendar.csv").display().to_string();
    let rows = "maintenance,hosts,starts,ends,by,status\nreplace the switch,\"r4n[1-2]\",2026-12-01T08:30:00Z,2026-12-01T09:30:00Z,alice,planned\nold work,r4n1,2026-10-01T08:30:00Z,2026-10-01T09:30:00Z,alice,done\n";
    std::fs::write(&file, rows).unwrap();
    let ask = |more: &[&str]| {
        let at = ["--at", "2026-12-01T08:00:00Z", "--from", &file, "-q"];
        whathappened(&[&["upcoming"], more, &at].concat())
    };
    let (code, out, err) = ask(&["r4n2"]);
    assert_eq!(code, Some(5), "{out}{err}");
    assert!(out.contains("r4n2  from 2026-12-01 08:30:00Z"), "{out}");
    let (code, out, err) = ask(&[]);
    assert_eq!(code, Some(5), "{out}{err}");
    assert!(out.contains("r4n1") && out.contains("r4n2"), "{out}");
    // A machine that a calendar does not name may be one whose name was mistyped.
    let (code, out, err) = ask(&["node/r4n9"]);
    assert_eq!(code, Some(6), "{out}{err}");
    assert!(out.contains("no record names this machine"), "{out}");
    // How to look further is told to those who did not say how far.
    let later = ["--at", "2026-12-01T10:00:00Z", "--from", &file, "-q"];
    let later = |more: &[&str]| whathappened(&[&["upcoming", "node/r4n2"], more, &later].concat());
    let (code, out, err) = later(&[]);
    assert_eq!(code, Some(0), "{out}{err}");
    let nothing = "nothing is announced for a machine of this name";
    assert!(
        out.contains(nothing) && out.contains("--within 7d"),
        "{out}"
    );
    let (_, out, _) = later(&["--within", "2h"]);
    assert!(!out.contains("--within"), "{out}");
    // Without --at it looks ahead from now, and not from the day of an entry.
    let (code, out, err) =
        whathappened(&["upcoming", "r4n1", "--from", &file, "-q", "--within", "1h"]);
    assert!(code == Some(0) || code == Some(5), "{out}{err}");
    assert!(!out.contains("2026-10-01"), "{out}");
}

#[test]
fn what_is_piped_in_is_read_whatever_is_asked() {
    let pods = std::fs::read("fixtures/gpu-test-drain/input/pods.json").unwrap_or_default();
    let pods = if pods.is_empty() {
        br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"run-0","namespace":"lab","uid":"u1","creationTimestamp":"2026-02-03T10:00:00Z"},"spec":{"nodeName":"n1","containers":[{"name":"main","image":"x"}]},"status":{"phase":"Failed","containerStatuses":[{"name":"main","restartCount":0,"state":{"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-02-03T10:00:05Z","finishedAt":"2026-02-03T10:10:00Z"}}}]}}"#.to_vec()
    } else {
        pods
    };
    let (_, own, _) = piped(&["experiments", "--format", "csv"], &pods);
    assert!(own.lines().count() > 1, "{own}");
    let name = own
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(3)
        .unwrap()
        .to_owned();
    let (code, out, err) = piped(&[&name], &pods);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(&name), "{out}");
    let (code, out, err) = piped(
        &["sql", "SELECT count(*) AS n FROM runs", "--format", "csv"],
        &pods,
    );
    assert_eq!(code, Some(0), "{err}");
    assert_ne!(out.lines().last(), Some("0"), "{out}");
    // Beside a file it is read as well.
    let both = [
        "experiments",
        "--format",
        "csv",
        "--from",
        "fixtures/lab-cluster/input",
    ];
    let (_, out, _) = piped(&both, &pods);
    assert_eq!(out.lines().count(), 8 + own.lines().count(), "{out}");
    // A store and a pipe are two places.
    let (code, _, err) = piped(
        &["experiments", "--store", "/nonexistent", "--no-fetch"],
        &pods,
    );
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--no-fetch says to look elsewhere"), "{err}");
}

#[test]
fn a_file_that_a_loop_reads_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let names = folder.path().join("names");
    std::fs::write(&names, "gpt2-small-7f3\ndota-5v5-scale\n").unwrap();
    let tool = env!("CARGO_BIN_EXE_whathappened");
    let script = format!(
        "while read name; do {tool} \"$name\" --from fixtures/lab-cluster/input -q | head -1; done < {}",
        names.display()
    );
    let output = std::process::Command::new("bash")
        .arg("-c")
        .arg(script)
        .output();
    let Ok(output) = output else {
        return whathappened_loopback::skipped("no bash");
    };
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        out.lines().count(),
        2,
        "{out}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn logs_of_several_ranks_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("run-7");
    std::fs::create_dir(&logs).unwrap();
    for rank in 0..4 {
        let mut text = format!(
            "2026-11-23 07:58:31,004 INFO train step=41100 loss=2.1194 rank={rank}\n2026-11-23 08:00:01,120 INFO train step=41200 loss=2.1131 rank={rank}\n"
        );
        if rank != 2 {
            text.push_str(&format!(
                "[rank{rank}]:[E1123 08:10:02.350808000 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4980, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600035 milliseconds before timing out.\n"
            ));
        }
        std::fs::write(logs.join(format!("rank{rank}.log")), text).unwrap();
    }
    let logs = logs.display().to_string();
    // What was imported is the same; nothing of it answered to a name.
    let (_kept, store) = imported(&[&logs]);
    one_gang(&["--store", &store, "--no-fetch", "-q"]);
    one_gang(&["--from", &logs, "-q"]);
}

/// The logs of four ranks, of which one did not join the others.
fn one_gang(input: &[&str]) {
    // By name before anything was explained, too.
    let (code, out, err) = whathappened(&[&["run-7"], input].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(words(&out).contains("rank 2 did not join"), "{out}");
    let (code, out, err) = whathappened(&[&["experiments", "--format", "json"], input].concat());
    assert_eq!(code, Some(0), "{err}");
    let list: Value = serde_json::from_str(&out).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 1, "{out}");
    assert_eq!(
        (list[0]["kind"].as_str(), list[0]["name"].as_str()),
        (Some("Gang"), Some("run-7"))
    );
    assert_eq!(list[0]["pods"], 4);
    for name in ["run-7", "rank1.log"] {
        let (code, out, err) = whathappened(&[&[name], input].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(words(&out).contains("rank 2 did not join"), "{name}: {out}");
    }
    let count = "SELECT name, kind, pods FROM runs";
    let (_, out, err) = whathappened(&[&["sql", count, "--format", "csv"], input].concat());
    assert_eq!(out.lines().nth(1), Some("run-7,Gang,4"), "{out}{err}");
    let (_, out, _) = whathappened(&[&["*", "--format", "json"], input].concat());
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["incidents"].as_array().unwrap().len(), 1, "{out}");
}

/// A log of which nobody says whose it is, from a store: by name, in the list and in SQL; and
/// beside a cluster by its name.
#[test]
fn a_log_that_was_imported_is_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("train.log");
    std::fs::write(
        &log,
        "2026-11-20 10:00:00,000 INFO step 1 loss 3.2\n2026-11-20 10:02:00,000 ERROR failed\n\
         Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    main()\n\
         torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
    )
    .unwrap();
    let log = log.display().to_string();
    let cause = |args: &[&str]| {
        let (code, out, err) = whathappened(&[args, &["--format", "json"]].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        answer["incidents"][0]["cause"].as_str().map(str::to_owned)
    };
    let read = cause(&["train.log", "--from", &log]);
    assert_eq!(read.as_deref(), Some("code.cuda_oom"));
    let (_kept, store) = imported(&[&log]);
    let kept = ["--store", &store, "--no-fetch"];
    for name in ["train.log", "log/train.log", "*"] {
        assert_eq!(cause(&[&[name], &kept[..]].concat()), read, "{name}");
    }
    let runs = "SELECT name, kind, state, pods, cause FROM runs";
    let (_, out, err) = whathappened(&[&["sql", runs, "--format", "csv"], &kept[..]].concat());
    let row = out.lines().nth(1);
    assert_eq!(
        row,
        Some("train.log,Log,failed,1,code.cuda_oom"),
        "{out}{err}"
    );
    let (_, out, _) = whathappened(&[&["experiments"], &kept[..]].concat());
    assert!(out.contains("train.log"), "{out}");
    // Beside a cluster it answers to its name, and everything else is told as ever.
    let (code, _, err) = whathappened(&["import", "fixtures/lab-cluster/input", "--store", &store]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(cause(&[&["train.log"], &kept[..]].concat()), read);
}

#[test]
fn a_person_is_told_how_to_ask_for_what_they_run() {
    let (_kept, store) = imported(&["fixtures/lab-cluster/input"]);
    let explain = ["experiments", "--store", &store, "--no-fetch", "-q"];
    assert_eq!(whathappened(&explain).0, Some(0));
    for from in [
        &["--from", "fixtures/lab-cluster/input"][..],
        &["--store", &store, "--no-fetch"],
    ] {
        let (code, _, err) = whathappened(&[&["alice"], from].concat());
        assert_eq!(code, Some(3), "{err}");
        // With the options that were given.
        let hint = err.lines().find(|line| line.starts_with("hint: ")).unwrap();
        assert!(hint.contains("whathappened experiments "), "{err}");
        assert!(hint.ends_with(" --owner alice"), "{err}");
    }
}

#[test]
fn a_session_of_logs_alone_is_one_run() {
    let mut session = String::new();
    for rank in 0..3 {
        session.push_str(&format!(
            "$ kubectl -n lab logs sd3-worker-{rank}\n[rank{rank}]:[E1123 08:10:02.350808000 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4980, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600035 milliseconds before timing out.\n"
        ));
    }
    let (code, out, err) = piped(&["experiments", "--format", "json"], session.as_bytes());
    assert_eq!(code, Some(0), "{err}");
    let list: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1, "{out}");
    assert_eq!(list[0]["name"], "sd3");
}

#[test]
fn tables_of_a_store_are_filled_as_those_of_files() {
    let input = "fixtures/lab-cluster/input";
    let (_store, store) = imported(&[input]);
    for sql in [
        "SELECT child_kind, parent_kind, count(*) AS n FROM tenures WHERE child_kind IN ('run', 'attempt', 'Node') OR parent_kind IN ('attempt', 'Node') GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT source, resource, status FROM coverage ORDER BY 1, 2, 3",
    ] {
        let ask = ["sql", sql, "--format", "csv"];
        let (_, of_files, _) = whathappened(&[&ask[..], &["--from", input, "-q"]].concat());
        let (_, of_store, err) = kept(&store, &ask);
        assert!(of_files.lines().count() > 3, "{of_files}");
        assert_eq!(of_files, of_store, "{err}");
    }
}

#[test]
fn a_page_in_markdown_has_the_words_of_the_table() {
    let input = [
        "gpt2-small-7f3",
        "--from",
        "fixtures/lab-cluster/input",
        "-q",
    ];
    let (_, table, _) = whathappened(&input);
    let (_, page, _) = whathappened(&[&input[..], &["--format", "md"]].concat());
    for label in ["Cause", "Killed by", "Died first", "Followed", "Lost"] {
        assert!(table.contains(&format!("  {label} ")), "{label}: {table}");
        assert!(page.contains(&format!("- {label}: ")), "{label}: {page}");
    }
    for title in ["Why", "What to do", "Missing data"] {
        assert!(table.contains(&format!("\n{title}")), "{title}: {table}");
        assert!(
            page.contains(&format!("\n### {title}\n")),
            "{title}: {page}"
        );
    }
    let levels = page.lines().filter(|line| line.starts_with('#'));
    for (number, line) in levels.enumerate() {
        let level = if number == 0 { "## " } else { "### " };
        assert!(line.starts_with(level), "{line}");
    }
}
