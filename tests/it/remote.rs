//! Stores on an object store. A build with lakes makes no such copies.
#![cfg(all(feature = "object-store", not(feature = "lake")))]

use std::process::Command;

use crate::s3::S3;

const LAB: [&str; 2] = ["fixtures/lab-cluster/input", "fixtures/lab-cluster/loki"];

const STATEMENTS: [&str; 5] = [
    "SELECT count(*) AS n, count(DISTINCT pod) AS pods FROM events",
    "SELECT reason, count(*) AS n FROM events WHERE namespace = 'research' GROUP BY reason ORDER BY n DESC, reason",
    "SELECT id, time, pod, node, reason FROM events WHERE node IN ('gke-train-a100-pool-7c1d-0004') ORDER BY time, id LIMIT 20",
    "SELECT a.pod, count(*) AS n FROM events a JOIN events b ON a.pod = b.pod AND a.time < b.time WHERE a.reason = 'Scheduled' GROUP BY a.pod ORDER BY a.pod",
    "SELECT experiment, max(time) AS last FROM events WHERE experiment IS NOT NULL GROUP BY experiment ORDER BY experiment",
];

fn run(args: &[&str], env: &[(&str, &str)]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {err}");
    String::from_utf8(output.stdout).unwrap()
}

fn sql(store: &str, more: &[&str], env: &[(&str, &str)]) -> Vec<String> {
    let ask = |statement: &&str| {
        let args = [*statement, "--store", store, "--format", "csv", "--quiet"];
        run(&[&["sql"], &args[..], more].concat(), env)
    };
    STATEMENTS.iter().map(ask).collect()
}

/// A store of the bundled incident.
fn store() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").display().to_string();
    run(&["import", LAB[0], LAB[1], "--store", &store], &[]);
    (folder, store)
}

#[test]
fn a_pushed_store_has_the_same_rows() {
    let (folder, store) = store();
    let url = format!("file://{}", folder.path().join("pushed").display());
    std::fs::create_dir(folder.path().join("pushed")).unwrap();
    run(&["store", "push", &url, "--store", &store], &[]);
    let local = sql(&store, &["--no-fetch"], &[]);
    assert_eq!(sql(&url, &[], &[]), local);
    // Pushed again, nothing changes; compacted, the old files go with the push after.
    for _ in 0..2 {
        run(&["store", "compact", "--store", &store], &[]);
        run(&["store", "push", &url, "--store", &store], &[]);
    }
    assert_eq!(sql(&url, &[], &[]), local);
}

#[test]
fn a_store_on_s3_has_the_same_rows() {
    let Some(s3) = S3::start() else {
        whathappened_loopback::skipped("no moto_server");
        return;
    };
    let (_folder, store) = store();
    let url = "s3://lab/some/folder";
    run(&["store", "push", url, "--store", &store], &s3.env());
    let local = sql(&store, &["--no-fetch"], &[]);
    assert_eq!(sql(url, &[], &s3.env()), local);
}
