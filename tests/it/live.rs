//! A live cluster, played from the bundled recording by a small API server.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::whathappened;

/// An API server that knows pods, nodes, events and jobs.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn recorded(name: &str) -> String {
    let path = format!("fixtures/lab-cluster/input/{name}-list.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

impl Cluster {
    pub(crate) fn start(denied: &'static str) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        server.set_nonblocking(true).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [
                {"name": "lab", "cluster": {"server": format!("http://{address}")}},
                // Nobody listens there.
                {"name": "dead", "cluster": {"server": "http://127.0.0.1:9"}},
            ],
            "users": [{"name": "me", "user": {}}],
            "contexts": [
                {"name": "lab", "context": {"cluster": "lab", "user": "me"}},
                {"name": "dead", "context": {"cluster": "dead", "user": "me"}},
            ],
        });
        std::fs::write(folder.path().join("kubeconfig"), config.to_string()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let lists: BTreeMap<&str, String> = ["pods", "nodes", "events", "jobs"]
                .map(|name| (name, recorded(name)))
                .into();
            let lists = Arc::new(lists);
            while !stopped.load(Ordering::Relaxed) {
                let Ok((connection, _)) = server.accept() else {
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                };
                let lists = Arc::clone(&lists);
                std::thread::spawn(move || serve(&connection, &lists, denied));
            }
        });
        Self {
            folder,
            stop,
            thread: Some(thread),
        }
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let (config, store) = (self.path("kubeconfig"), self.path("store"));
        whathappened(&[args, &["--kubeconfig", &config, "--store", &store]].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        let (code, out, err) = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(code, Some(0), "{args:?}: {err}");
        serde_json::from_str(&out).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One request a connection.
fn serve(connection: &TcpStream, lists: &BTreeMap<&str, String>, denied: &str) {
    connection.set_nonblocking(false).unwrap();
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_lowercase());
    }
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let Some(url) = lines.first().and_then(|line| line.split(' ').nth(1)) else {
        return;
    };
    let (status, answer) = answer(url, &body, lists, denied);
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.len()
    );
    // A client that has gone does not matter.
    let mut out = connection;
    let _gone = out.write_all(&[head.as_bytes(), answer.as_bytes()].concat());
}

fn answer(url: &str, body: &[u8], lists: &BTreeMap<&str, String>, denied: &str) -> (u16, String) {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let resources = |version: &str, names: &[(&str, &str, bool)]| {
        let of = |(name, kind, namespaced): &(&str, &str, bool)| json!({"name": name, "kind": kind, "namespaced": namespaced, "singularName": "", "verbs": ["get", "list", "watch"]});
        let all: Vec<Value> = names.iter().map(of).collect();
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": all}).to_string()
    };
    let batch = json!({"groupVersion": "batch/v1", "version": "v1"});
    match path {
        "/version" => (200, json!({"gitVersion": "v1.36.1", "major": "1", "minor": "36"}).to_string()),
        "/api/v1/namespaces/kube-system" => (200, json!({"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "c1a57e2"}}).to_string()),
        "/api" => (200, json!({"kind": "APIVersions", "versions": ["v1"]}).to_string()),
        "/apis" => (200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "batch", "versions": [batch], "preferredVersion": batch}]}).to_string()),
        "/api/v1" => (200, resources("v1", &[("pods", "Pod", true), ("nodes", "Node", false), ("events", "Event", true)])),
        "/apis/batch/v1" => (200, resources("batch/v1", &[("jobs", "Job", true)])),
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => {
            let mut review: Value = serde_json::from_slice(body).unwrap();
            let asked = &review["spec"]["resourceAttributes"]["resource"];
            let allowed = asked != denied;
            review["status"] = json!({"allowed": allowed});
            (201, review.to_string())
        }
        _ if query.contains("watch=") => (200, watch(path)),
        _ if path.ends_with("/log") => (200, "2026-11-21T15:22:00.000000000Z nothing to see\n".to_owned()),
        _ => match path.rsplit('/').next().and_then(|name| Some((name, lists.get(name)?))) {
            Some((name, _)) if name == denied => (403, json!({"kind": "Status", "code": 403, "reason": "Forbidden", "message": format!("{name} is forbidden")}).to_string()),
            Some((_, list)) => (200, list.replacen("\"metadata\": {\n        \"resourceVersion\": \"\"\n    }", "\"metadata\": {\"resourceVersion\": \"99999\"}", 1)),
            None => (404, json!({"kind": "Status", "code": 404, "reason": "NotFound"}).to_string()),
        },
    }
}

/// One more event, over and over: the client sees one fact.
fn watch(path: &str) -> String {
    if !path.ends_with("/events") {
        return String::new();
    }
    let event = json!({"type": "ADDED", "object": {
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "SeenLive", "message": "told by the watch",
        "metadata": {"name": "late-0.18ea1891a41c0001", "namespace": "research", "uid": "77777777-0000-4000-8000-000000000001",
                     "resourceVersion": "100001", "creationTimestamp": "2026-11-21T15:24:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "research", "name": "late-0", "uid": "77777777-0000-4000-8000-000000000002"},
        "firstTimestamp": "2026-11-21T15:24:00Z", "lastTimestamp": "2026-11-21T15:24:00Z", "count": 1,
        "source": {"component": "kubelet"}}});
    format!("{event}\n")
}

#[test]
fn a_live_cluster_is_asked_and_remembered() {
    let mut cluster = Cluster::start("");
    let live = cluster.json(&["gpt2-small-7f3"]);
    let main = &live["incidents"][0];
    assert_eq!(main["cause"], "node.not_ready", "{main}");
    let resources: Vec<&str> = live["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["cluster"] == "c1a57e2" && row["status"] == "complete")
        .map(|row| row["resource"].as_str().unwrap())
        .collect();
    for resource in ["pods", "nodes", "jobs"] {
        assert!(resources.contains(&resource), "{resource}: {resources:?}");
    }
    // The cluster is gone: what it said is not.
    cluster.stop();
    let (code, out, err) = cluster.run(&["gpt2-small-7f3", "--format", "json", "--timeout", "2s"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("No cluster responded"), "{err}");
    let later: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(later["incidents"][0]["cause"], "node.not_ready");
    // What it could have added may overturn the verdict, and what is known of it ends with the store.
    assert_ne!(later["incidents"][0]["level"], main["level"]);
    for row in later["coverage"].as_array().unwrap() {
        let is_read = row["source"] == "kubernetes" && row["cluster"].is_null();
        assert!(!(is_read && row["status"] == "complete"), "{row}");
    }
    // A mistyped name is no outage.
    let (code, _, err) = cluster.run(&["gpt2-small-7f3", "--context", "nope"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("nope") && err.contains("lab"), "{err}");
    let failed = |row: &&Value| row["status"] == "failed";
    assert!(
        later["coverage"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| failed(&row))
    );
}

#[test]
fn what_may_not_be_read_is_named() {
    let cluster = Cluster::start("nodes");
    let answer = cluster.json(&["gpt2-small-7f3"]);
    let rows = answer["coverage"].as_array().unwrap();
    let denied = rows
        .iter()
        .find(|row| row["resource"] == "nodes" && row["status"] == "denied")
        .unwrap();
    let detail = denied["detail"].as_str().unwrap();
    assert!(
        detail.contains("nodes") && detail.contains("list"),
        "{detail}"
    );
    assert!(denied["would_have_shown"].is_string());
    let (_, out, _) = cluster.run(&["doctor"]);
    assert!(out.contains("nodes"), "{out}");
}

#[test]
fn an_unreachable_second_cluster_does_not_keep_the_first_from_answering() {
    let cluster = Cluster::start("");
    let answer = cluster.json(&["gpt2-small-7f3", "--context", "all", "--timeout", "5s"]);
    assert_eq!(answer["incidents"][0]["cause"], "node.not_ready");
    let dead = |row: &Value| row["cluster"] == "dead" && row["status"] == "failed";
    assert!(answer["coverage"].as_array().unwrap().iter().any(dead));
}

#[test]
fn what_is_collected_is_there_afterwards() {
    let cluster = Cluster::start("");
    let (code, _, err) = cluster.run(&["collect", "--for", "3s"]);
    assert_eq!(code, Some(0), "{err}");
    let rows = cluster.json(&[
        "sql",
        "SELECT pod, message, cluster, seen_by FROM events WHERE reason = 'SeenLive'",
        "--no-fetch",
    ]);
    let wanted = json!([{"pod": "late-0", "message": "told by the watch", "cluster": "c1a57e2", "seen_by": ["kubernetes"]}]);
    assert_eq!(rows, wanted);
    let answer = cluster.json(&["gpt2-small-7f3", "--no-fetch"]);
    assert_eq!(answer["incidents"][0]["cause"], "node.not_ready");
}

#[test]
fn init_writes_what_doctor_reads() {
    let cluster = Cluster::start("");
    let (config, kubeconfig) = (cluster.path("config.toml"), cluster.path("kubeconfig"));
    let (code, out, err) = whathappened(&["init", &config, "--kubeconfig", &kubeconfig]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("doctor"), "{out}");
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(text.contains("lab (current): http://127.0.0.1"), "{text}");
    let (code, _, err) = whathappened(&["init", &config]);
    assert_eq!(code, Some(2));
    assert!(err.contains("already exists"), "{err}");
    let store = cluster.path("store");
    let (code, out, err) = whathappened(&["doctor", "--config", &config, "--store", &store]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("v1.36.1") && out.contains("✓"), "{out}");
}
