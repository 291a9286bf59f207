//! An API server that has a history of Events, goes down, forgets and dawdles
//! as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The cluster's uid.
pub(super) const UID: &str = "c1a57e2-serve";

#[derive(Default)]
pub(super) struct State {
    /// Events in the order they came; the first has version 101.
    events: Mutex<Vec<String>>,
    /// Connections are closed at once.
    pub(super) down: AtomicBool,
    /// Versions up to this are no longer known to watches.
    pub(super) forgotten: AtomicU64,
    /// Lists show Events, too; else only watches do.
    pub(super) lists: AtomicBool,
    /// What a watch says comes in drips.
    pub(super) slow: AtomicBool,
    /// Watches of Events that are open.
    pub(super) watched: AtomicU64,
    stop: AtomicBool,
}

pub(super) struct ApiServer {
    pub(super) state: Arc<State>,
    pub(super) folder: tempfile::TempDir,
    thread: Option<JoinHandle<()>>,
}

/// The Event of a number; its message is `event N`.
fn event(number: usize) -> String {
    let name = format!(
        "late-{number}.{:016x}",
        0x18ea_1891_a41c_0000_u64 + number as u64
    );
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "SeenLive", "message": format!("event {number}"),
        "metadata": {"name": name, "namespace": "research", "uid": format!("77777777-0000-4000-8000-{number:012}"),
                     "resourceVersion": (100 + number).to_string(), "creationTimestamp": "2026-11-21T15:24:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "research", "name": format!("late-{}", number % 50), "uid": format!("u-{}", number % 50)},
        "firstTimestamp": "2026-11-21T15:24:00Z", "lastTimestamp": "2026-11-21T15:24:00Z", "count": 1,
        "source": {"component": "kubelet"}
    })
    .to_string()
}

impl ApiServer {
    pub(super) fn start() -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        server.set_nonblocking(true).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": format!("http://{address}")}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        });
        std::fs::write(folder.path().join("kubeconfig"), config.to_string()).unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while !shared.stop.load(Ordering::Relaxed) {
                let Ok((connection, _)) = server.accept() else {
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                };
                if shared.down.load(Ordering::Relaxed) {
                    continue;
                }
                let shared = Arc::clone(&shared);
                // A client that has gone does not matter.
                std::thread::spawn(move || drop(serve(&connection, &shared)));
            }
        });
        Self {
            state,
            folder,
            thread: Some(thread),
        }
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Something happens `count` times; how many there are then.
    pub(super) fn happen(&self, count: usize) -> usize {
        let mut events = self.state.events.lock().unwrap();
        for _ in 0..count {
            let next = events.len() + 1;
            events.push(event(next));
        }
        events.len()
    }

    /// Waits until somebody watches.
    pub(super) fn wait_for_watch(&self) {
        let began = Instant::now();
        while self.state.watched.load(Ordering::Relaxed) == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody watches");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// One request a connection.
fn serve(connection: &TcpStream, state: &State) -> std::io::Result<()> {
    connection.set_nonblocking(false)?;
    let mut reader = BufReader::new(connection);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(reported) = line.strip_prefix("content-length: ") {
            length = reported.parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let url = first.split(' ').nth(1).unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut out = connection;
    if query.contains("watch=1") && path.ends_with("/events") {
        return watch(out, query, state);
    }
    let (code, answer) = answer(path, query, &body, state);
    let head = format!(
        "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.len()
    );
    out.write_all(&[head.as_bytes(), answer.as_bytes()].concat())
}

fn answer(path: &str, query: &str, body: &[u8], state: &State) -> (u16, String) {
    let version = 100 + state.events.lock().unwrap().len();
    let list = |kind: &str, items: &str| {
        format!(
            r#"{{"kind":"{kind}List","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{items}]}}"#
        )
    };
    let resources = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "pods", "kind": "Pod", "namespaced": true, "singularName": "", "verbs": ["get", "list", "watch"]},
        {"name": "events", "kind": "Event", "namespaced": true, "singularName": "", "verbs": ["get", "list", "watch"]},
    ]});
    let answer = match path {
        "/version" => json!({"gitVersion": "v1.36.1", "major": "1", "minor": "36"}).to_string(),
        "/api/v1/namespaces/kube-system" => {
            json!({"kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}})
                .to_string()
        }
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}).to_string(),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}).to_string(),
        "/api/v1" => resources.to_string(),
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => {
            let mut review: Value = serde_json::from_slice(body).unwrap_or_default();
            review["status"] = json!({"allowed": true});
            return (201, review.to_string());
        }
        _ if query.contains("watch=1") => {
            // Nothing happens there.
            std::thread::sleep(Duration::from_secs(2));
            String::new()
        }
        "/api/v1/events" if state.lists.load(Ordering::Relaxed) => {
            let events = state.events.lock().unwrap();
            list("Event", &events.join(","))
        }
        "/api/v1/events" => list("Event", ""),
        _ => list("Pod", ""),
    };
    (200, answer)
}

fn watch(mut out: &TcpStream, query: &str, state: &State) -> std::io::Result<()> {
    let version = query
        .split('&')
        .find_map(|part| part.strip_prefix("resourceVersion="));
    let mut version: u64 = version
        .and_then(|version| version.parse().ok())
        .unwrap_or(0);
    out.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
    )?;
    if version < state.forgotten.load(Ordering::Relaxed) {
        let gone = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}});
        return out.write_all(format!("{gone}\n").as_bytes());
    }
    state.watched.fetch_add(1, Ordering::Relaxed);
    let began = Instant::now();
    let over = || state.stop.load(Ordering::Relaxed) || state.down.load(Ordering::Relaxed);
    while !over() && began.elapsed() < Duration::from_secs(60) {
        let next: Vec<String> = {
            let events = state.events.lock().unwrap();
            let from = usize::try_from(version.saturating_sub(100)).unwrap_or(0);
            events
                .get(from..)
                .unwrap_or_default()
                .iter()
                .take(200)
                .cloned()
                .collect()
        };
        version += next.len() as u64;
        for event in next {
            let line = format!("{{\"type\":\"ADDED\",\"object\":{event}}}\n");
            if state.slow.load(Ordering::Relaxed) {
                for piece in line.as_bytes().chunks(64) {
                    out.write_all(piece)?;
                    std::thread::sleep(Duration::from_millis(1));
                }
            } else {
                out.write_all(line.as_bytes())?;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
