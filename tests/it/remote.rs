//! Stores on an object store, and the same SQL on Ballista.
#![cfg(feature = "object-store")]

use std::process::{Child, Command, Stdio};

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

/// A server that speaks S3: moto (`PyPI`), where it is installed.
struct S3 {
    child: Child,
    endpoint: String,
}

impl S3 {
    fn start() -> Option<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .unwrap()
            .port();
        let child = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let s3 = Self {
            child,
            endpoint: format!("http://127.0.0.1:{port}"),
        };
        for _ in 0..200 {
            let made = Command::new("curl")
                .args(["-sf", "-X", "PUT", &format!("{}/lab", s3.endpoint)])
                .status();
            if made.is_ok_and(|status| status.success()) {
                return Some(s3);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("moto_server does not answer");
    }

    fn env(&self) -> [(&str, &str); 5] {
        [
            ("AWS_ENDPOINT", &self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
        ]
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
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
        println!("skipped: no moto_server");
        return;
    };
    let (_folder, store) = store();
    let url = "s3://lab/some/folder";
    run(&["store", "push", url, "--store", &store], &s3.env());
    let local = sql(&store, &["--no-fetch"], &[]);
    assert_eq!(sql(url, &[], &s3.env()), local);
    #[cfg(feature = "distributed")]
    assert_eq!(sql(url, &["--ballista", "local"], &s3.env()), local);
}

#[cfg(feature = "distributed")]
#[test]
fn ballista_gives_the_rows_of_the_embedded_engine() {
    let (folder, store) = store();
    std::fs::create_dir(folder.path().join("pushed")).unwrap();
    let url = format!("file://{}", folder.path().join("pushed").display());
    run(&["store", "push", &url, "--store", &store], &[]);
    let local = sql(&store, &["--no-fetch"], &[]);
    assert_eq!(sql(&url, &["--ballista", "local"], &[]), local);
}
