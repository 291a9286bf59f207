//! The store from outside: what is imported is answered from later, and alike.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::whathappened;

const INPUT: &str = "fixtures/lab-cluster/input";
const LOKI: &str = "fixtures/lab-cluster/loki";

pub(crate) struct StoreFixture {
    pub(crate) folder: tempfile::TempDir,
}

impl StoreFixture {
    pub(crate) fn of(paths: &[&str]) -> Self {
        let kept = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let (code, _, err) = kept.run(&[&["import"], paths].concat());
        assert_eq!(code, Some(0), "{err}");
        kept
    }

    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let store = self.folder.path().join("store");
        let store = store.to_str().unwrap();
        let mut all = args.to_vec();
        all.extend(["--store", store]);
        if !matches!(args[0], "import" | "store") {
            all.push("--no-fetch");
        }
        whathappened(&all)
    }

    fn json(&self, args: &[&str]) -> Value {
        let (code, out, err) = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {out}"))
    }
}

fn recorded(args: &[&str]) -> Value {
    let from = [
        "--from", INPUT, "--from", LOKI, "--format", "json", "--quiet",
    ];
    let (code, out, err) = whathappened(&[args, &from].concat());
    assert_eq!(code, Some(0), "{args:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

fn experiments() -> Vec<String> {
    let text = std::fs::read_to_string("fixtures/lab-cluster/expect.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["experiments"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

/// The first place at which two values differ.
fn difference(a: &Value, b: &Value, at: &str) -> String {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => x
            .iter()
            .zip(y)
            .enumerate()
            .find(|(_, (x, y))| x != y)
            .map_or_else(String::new, |(n, (x, y))| {
                difference(x, y, &format!("{at}[{n}]"))
            }),
        (Value::Object(x), Value::Object(y)) => x
            .iter()
            .find(|(key, value)| y.get(*key) != Some(value))
            .map_or_else(String::new, |(key, value)| {
                difference(value, &y[key], &format!("{at}.{key}"))
            }),
        (Value::Array(x), Value::Array(y)) => {
            format!("{at}: {} against {} items", x.len(), y.len())
        }
        _ => format!("{at}: {a} against {b}"),
    }
}

#[test]
fn the_store_answers_as_the_recording_does() {
    let kept = StoreFixture::of(&[INPUT, LOKI]);
    for name in experiments() {
        let (stored, recorded) = (kept.json(&[&name]), recorded(&[&name]));
        for part in ["incidents", "runs", "timeline", "matched_by"] {
            assert!(
                stored[part] == recorded[part],
                "{name}: {part}: {}",
                difference(&stored[part], &recorded[part], part)
            );
        }
    }
    // Compacted it is the same store.
    let name = experiments()[0].clone();
    let before = kept.json(&[&name]);
    let (code, _, err) = kept.run(&["store", "compact"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(kept.json(&[&name]), before);
}

#[test]
fn parts_imported_in_any_order_and_again_are_one_store() {
    let whole = StoreFixture::of(&[INPUT, LOKI]);
    let parts = StoreFixture::of(&[LOKI]);
    for path in [INPUT, INPUT, LOKI] {
        let (code, _, err) = parts.run(&["import", path]);
        assert_eq!(code, Some(0), "{err}");
        if path == LOKI {
            assert!(err.contains(", 0 new in"), "{err}");
        }
    }
    let all = "SELECT id, fact, time, end_time, seen_by, count, pod, node, reason, message, raw, origin FROM events ORDER BY id";
    let (_, a, err) = whole.run(&["sql", all, "--format", "ndjson"]);
    let (_, b, _) = parts.run(&["sql", all, "--format", "ndjson"]);
    assert!(a.lines().count() > 1_000, "{err}");
    assert!(a == b, "the order of imports shows");
}

#[test]
fn sql_over_the_store_is_that_over_the_recording() {
    let kept = StoreFixture::of(&[INPUT, LOKI]);
    for statement in [
        "SELECT count(*) AS n FROM events WHERE fact NOT IN ('k8s.event.grew', 'k8s.pod.bound') AND fact NOT LIKE 'k8s.node.%' AND fact NOT LIKE 'k8s.pod.%' AND fact NOT LIKE 'k8s.workload%'",
        "SELECT id, time, pod, reason, signals FROM events WHERE reason = 'Killing' ORDER BY time, id",
        "SELECT pod, count(*) AS n FROM events WHERE node = 'gke-train-a100-pool-7c1d-0004' AND fact = 'k8s.event' GROUP BY pod ORDER BY pod",
        "SELECT kind, namespace, name, uid, valid_from, node, phase FROM objects WHERE kind = 'Pod' ORDER BY kind, namespace, name, uid, valid_from, phase",
        // Pages without these kinds are not read.
        "SELECT kind, namespace, name, uid, valid_from FROM objects WHERE kind IN ('Node', 'Job') ORDER BY kind, namespace, name, uid, valid_from",
        "SELECT kind, name, labels, valid_to FROM objects WHERE kind = 'Node' AND valid_to IS NULL ORDER BY name",
        "SELECT kind, name FROM objects WHERE kind = 'Pod' AND name LIKE 'gpt2-small-7f3-%' ORDER BY name, valid_from",
        "SELECT * FROM why('gpt2-small-7f3')",
        "SELECT time, text, event_ids FROM timeline('gpt2-small-7f3') ORDER BY time, text",
    ] {
        let stored = kept.json(&["sql", statement]);
        let recorded = recorded(&["sql", statement]);
        assert!(
            stored == recorded,
            "{statement}: {}",
            difference(&stored, &recorded, "rows")
        );
        assert!(!stored.as_array().unwrap().is_empty(), "{statement}");
    }
}

#[test]
fn incidents_are_kept_as_they_are_explained() {
    let kept = StoreFixture::of(&[INPUT, LOKI]);
    let count =
        "SELECT experiment, cause, level FROM incidents WHERE role = 'main' ORDER BY experiment";
    // What nobody asked about by name is explained for the statement.
    let first = kept.json(&["sql", count]);
    assert_eq!(first.as_array().unwrap().len(), 8, "{first}");
    kept.json(&["gpt2-small-7f3"]);
    assert_eq!(kept.json(&["sql", count]), first);
    let (code, out, err) = kept.run(&["explain", "--since", "1d", "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("gpt2-small-7f3"), "{out}");
    let all = kept.json(&["sql", count]);
    for name in experiments() {
        assert!(all.to_string().contains(&name), "{name}: {all}");
    }
    // Explained again, nothing is there twice.
    kept.run(&["explain", "--since", "1d"]);
    assert_eq!(kept.json(&["sql", count]), all);
}

#[test]
fn what_is_not_there_is_said() {
    let kept = StoreFixture::of(&[INPUT]);
    let (code, _, err) = kept.run(&["gpt2-smal-7f3"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("did you mean: gpt2-small-7f3"), "{err}");
    let empty = StoreFixture {
        folder: tempfile::tempdir().unwrap(),
    };
    let (code, _, err) = empty.run(&["x"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("there is no store here"), "{err}");
    let (code, _, err) = kept.run(&["import", "/no/such/file"]);
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn an_import_of_nothing_leaves_no_store_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let name = store.to_str().unwrap();
    let binary = folder.path().join("model.bin");
    std::fs::write(&binary, [0_u8, 1, 2, 3].repeat(500)).unwrap();
    for path in ["/no/such/file", binary.to_str().unwrap()] {
        let (code, _, err) = whathappened(&["import", path, "--store", name]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("nothing could be"), "{err}");
        assert!(!store.exists(), "{path} made a store");
    }
    // What holds nothing of note was read all the same.
    let quiet = folder.path().join("kern.log");
    let line = "Nov 21 15:20:27 gpu-7 systemd[1]: Reached target Network is Online.\n";
    std::fs::write(&quiet, line).unwrap();
    let (code, _, err) = whathappened(&["import", quiet.to_str().unwrap(), "--store", name]);
    assert_eq!(code, Some(0), "{err}");
    assert!(store.exists(), "{err}");
}

#[test]
fn experiments_and_status_come_from_the_catalogue() {
    let kept = StoreFixture::of(&[INPUT]);
    let (_, out, err) = kept.run(&["experiments", "--format", "csv"]);
    for name in experiments() {
        assert!(out.contains(&name), "{name}: {out} {err}");
    }
    let (code, out, err) = kept.run(&["store", "status", "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("facts,") && out.contains("segments,"), "{out}");
}

/// The plan of a statement, without what differs from machine to machine.
fn plan(kept: &StoreFixture, statement: &str) -> String {
    let explain = format!("EXPLAIN {statement}");
    let (code, out, err) = kept.run(&["sql", &explain, "--format", "json"]);
    assert_eq!(code, Some(0), "{err}");
    let rows: Value = serde_json::from_str(&out).unwrap();
    let text = rows[1]["plan"].as_str().unwrap();
    let root = kept.folder.path().display().to_string();
    let root = root.trim_start_matches('/');
    text.replace(root, "FOLDER")
        .split_inclusive(".parquet")
        .map(|part| match part.rsplit_once("/0") {
            Some((before, _)) if part.ends_with(".parquet") => format!("{before}/SEGMENT.parquet"),
            _ => part.to_owned(),
        })
        .collect()
}

#[test]
fn plans_show_what_is_left_out() {
    let kept = StoreFixture::of(&[INPUT, LOKI]);
    let day = "time BETWEEN TIMESTAMP '2026-11-21 15:20:00' AND TIMESTAMP '2026-11-21 15:21:00'";
    let mut plans = String::new();
    for filter in [
        "experiment = 'gpt2-small-7f3'".to_owned(),
        "pod = 'gpt2-small-7f3-1-qp9zc'".to_owned(),
        format!("node IN ('gke-train-a100-pool-7c1d-0004', 'no-such-node') AND {day}"),
        // No segment's filter knows it: nothing is opened.
        "pod = 'no-such-pod'".to_owned(),
        "pod = 'gpt2-small-7f3-1-qp9zc' AND time < TIMESTAMP '2020-01-01 00:00:00'".to_owned(),
    ] {
        let statement = format!("SELECT time, pod, reason FROM events WHERE {filter}");
        plans.push_str(&format!("{filter}\n{}\n", plan(&kept, &statement)));
    }
    insta::assert_snapshot!(plans);
}

/// Machines, their instances and what ran on them lie apart in the store.
#[test]
fn incidents_of_machines_are_told_alike() {
    for (case, name) in [
        ("aks-host-fault", "vit-l-5"),
        ("eks-spot-reclaim", "rlhf-2"),
        ("gce-vm-experiment", "ppo-17"),
        ("gce-vm-experiment", "vm/build-box"),
        ("gke-host-maintenance", "moe-8b"),
        ("gke-host-maintenance", "node/gke-train-a3-7c1e2d90-4fkq"),
        ("gke-recycled-name", "sft-3"),
    ] {
        let input = format!("fixtures/{case}/input");
        let kept = StoreFixture::of(&[input.as_str()]).json(&[name, "--quiet"]);
        let from = [
            name,
            "--from",
            input.as_str(),
            "--format",
            "json",
            "--quiet",
        ];
        let (code, out, err) = whathappened(&from);
        assert_eq!(code, Some(0), "{name}: {err}");
        let recorded: Value = serde_json::from_str(&out).unwrap();
        assert!(
            !recorded["incidents"].as_array().unwrap().is_empty(),
            "{name}"
        );
        for part in ["incidents", "timeline", "runs"] {
            let differs = difference(&recorded[part], &kept[part], part);
            assert_eq!(recorded[part], kept[part], "{name}: {differs}");
        }
    }
}

#[test]
fn others_that_failed_alike_are_counted_though_the_question_loads_none_of_them() {
    let kept = StoreFixture::of(&["fixtures/dns-one-host/input"]);
    let answer = kept.json(&["embed-12"]);
    let incident = &answer["incidents"][0];
    assert_eq!(incident["cause"], "dep.dns");
    let shared = &incident["shared"];
    assert_eq!(
        (
            &shared["pods"],
            &shared["other_pods"],
            &shared["other_namespaces"]
        ),
        (&4.into(), &3.into(), &2.into()),
        "{shared}"
    );
    assert_eq!(shared["node"], "gpu-b3");
    let text = answer.to_string();
    for other in ["crawl-31", "eval-5"] {
        assert!(!text.contains(other), "{other} is named");
    }
}

/// A statement answered 0 where a segment of objects was damaged, and once an import had
/// set a segment of facts aside, and said nothing.
#[test]
fn no_statement_passes_for_whole_beside_damage() {
    for table in ["events", "objects"] {
        let kept = StoreFixture::of(&[INPUT]);
        let path = kept.folder.path().join("store");
        damage_of(&path, table);
        let count = format!("SELECT count(*) FROM {table}");
        let (_, _, err) = kept.run(&["sql", &count]);
        assert!(err.contains("is damaged"), "{table}: {err}");
        let (code, _, err) = kept.run(&["import", INPUT]);
        assert_eq!(code, Some(0));
        assert!(
            err.contains("warning: ") && err.contains("is damaged") && err.contains("store repair"),
            "{table}: {err}"
        );
        // It is off the list now, and missing all the same.
        let (_, _, err) = kept.run(&["sql", &count]);
        assert!(err.contains("is damaged"), "{table}: {err}");
        let (_, _, err) = kept.run(&["sql", "SELECT 1"]);
        assert!(!err.contains("is damaged"), "{table}: {err}");
        let store = path.to_str().unwrap();
        let service = crate::service::Service::over(
            store,
            "",
            &["--no-fetch"],
            tempfile::tempdir().unwrap(),
            &[],
        );
        for (statement, is_incomplete) in [(count.as_str(), true), ("SELECT 1", false)] {
            let said = service.ask(
                "POST",
                "/api/v1/sql",
                &["content-type: application/sql"],
                statement.as_bytes(),
            );
            assert_eq!(said.status, 200, "{}", said.text());
            let told = said.head.contains("whathappened-incomplete: true");
            assert_eq!(told, is_incomplete, "{statement}: {}", said.head);
        }
    }
}

/// Turns one bit of the largest segment of facts.
fn damage(store: &Path) {
    damage_of(store, "events");
}

pub(crate) fn damage_of(store: &Path, table: &str) {
    let mut files: Vec<PathBuf> = segments(&store.join(table));
    files.sort_by_key(|file| std::fs::metadata(file).unwrap().len());
    let file = files.pop().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() / 3;
    bytes[at] ^= 0x10;
    std::fs::write(&file, bytes).unwrap();
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let days = std::fs::read_dir(folder).unwrap().flatten();
    let files = days.flat_map(|day| std::fs::read_dir(day.path()).unwrap().flatten());
    files.map(|file| file.path()).collect()
}

#[test]
fn damage_is_told_wherever_one_looks_and_mended() {
    let kept = StoreFixture::of(&[INPUT]);
    let path = kept.folder.path().join("store");
    let copy = kept.folder.path().join("copy").display().to_string();
    let ask = |args: &[&str]| kept.run(args);
    let (code, out, err) = ask(&["store", "backup", &copy]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("and verified"), "{out}");
    let count = ["sql", "SELECT count(*) AS n FROM events", "--format", "csv"];
    let (_, whole, err) = ask(&count);
    assert!(!err.contains("damaged"), "{err}");

    damage(&path);
    let (code, out, _) = ask(&["store", "verify"]);
    assert_eq!(code, Some(4), "{out}");
    let (code, less, err) = ask(&count);
    assert_eq!(code, Some(0));
    assert_ne!(less, whole);
    assert!(
        err.contains("is damaged") && err.contains("left out"),
        "{err}"
    );
    // The copy has all of it.
    let of_copy = [&count[..], &["--no-fetch", "--store", &copy]].concat();
    assert_eq!(whathappened(&of_copy).1, whole);

    let (code, out, err) = ask(&["store", "repair"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("all of its rows have been restored"), "{out}");
    assert_eq!(ask(&count).1, whole);
    assert_eq!(ask(&["store", "verify"]).0, Some(0));
    assert_eq!(ask(&["store", "status"]).0, Some(0));
    let (code, _, err) = ask(&["store", "forget", "nothing.parquet"]);
    assert_eq!(code, Some(2), "{err}");
}

/// Makes the root page of an index of the database another than it was.
fn damage_database(store: &Path) {
    const PAGE: usize = 4_096;
    let path = store.join("store.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // Some page of rows or of an index in the middle of the file; the header and the first are left.
    let last = bytes.len() / PAGE;
    let is_leaf = |number: &usize| matches!(bytes[number * PAGE], 0x0a | 0x0d);
    let number = (last / 4..last).find(is_leaf).unwrap();
    bytes[number * PAGE + 3..number * PAGE + 9].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
}

/// Within a day of the last look a damaged database was told of by `store verify` alone, which said that no segment is.
#[test]
fn a_damaged_database_is_told_by_every_verb() {
    let kept = StoreFixture::of(&[INPUT]);
    let name = experiments().remove(0);
    damage_database(&kept.folder.path().join("store"));
    for args in [
        &["experiments", "--quiet"][..],
        &["sql", "SELECT count(*) FROM events"],
        &[&name],
    ] {
        let (_, out, err) = kept.run(args);
        assert!(
            format!("{out}{err}").contains("database is damaged"),
            "{args:?}: {out}{err}"
        );
    }
    let (code, _, err) = kept.run(&["import", INPUT]);
    assert_ne!(code, Some(0));
    assert!(
        err.contains("is damaged") && err.contains("store repair"),
        "{err}"
    );
    for verb in ["verify", "status"] {
        let (code, _, err) = kept.run(&["store", verb]);
        assert_eq!(code, Some(4), "{verb}: {err}");
        assert!(err.contains("the database is damaged"), "{verb}: {err}");
        assert!(!err.contains("0 segments"), "{verb}: {err}");
    }
    let (code, out, err) = kept.run(&["store", "repair"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("has been rebuilt"), "{out}");
    let (code, _, err) = kept.run(&["store", "verify"]);
    assert_eq!(code, Some(0), "{err}");
}
