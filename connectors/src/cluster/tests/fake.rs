//! An API server on loopback that says what a test wants it to say.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

pub(super) const UID: &str = "6b0f6a6e-kube-system-uid";

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

impl Request {
    pub(super) fn query(&self, key: &str) -> &str {
        self.query.get(key).map_or("", String::as_str)
    }

    pub(super) fn is_watch(&self) -> bool {
        self.query("watch") == "1"
    }

    /// What a review asks for: `list nodes`, `get pods/log ml`.
    pub(super) fn reviewed(&self) -> Option<String> {
        let of = self.body.get("spec")?.get("resourceAttributes")?;
        let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
        let mut out = format!("{} {}", text("verb"), text("resource"));
        if !text("subresource").is_empty() {
            out = format!("{out}/{}", text("subresource"));
        }
        if !text("namespace").is_empty() {
            out = format!("{out} {}", text("namespace"));
        }
        Some(out)
    }
}

/// What the server answers.
pub(super) enum Reply {
    Json(u16, Value),
    Text(u16, String),
    /// A body told in parts, chunked.
    Stream(Vec<Part>),
    /// Nothing for as long as the test lasts.
    Hang,
}

pub(super) enum Part {
    Text(String),
    Wait(Duration),
    /// The connection breaks here.
    Cut,
}

type Handler = dyn Fn(&Request) -> Option<Reply> + Send + Sync;

pub(super) struct Fake {
    pub(super) port: u16,
    pub(super) asked: Arc<Mutex<Vec<Request>>>,
}

impl Fake {
    /// Starts a server; what `handler` leaves out is answered as an empty,
    /// permissive cluster would.
    pub(super) fn start(
        handler: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Handler> = Arc::new(handler);
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (handler, noted) = (Arc::clone(&handler), Arc::clone(&noted));
                thread::spawn(move || serve(stream, &handler, &noted));
            }
        });
        Self { port, asked }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Paths with what tells requests apart, in the order they came.
    pub(super) fn count(&self, wanted: impl Fn(&Request) -> bool) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|request| wanted(request)).count()
    }
}

fn serve(stream: TcpStream, handler: &Arc<Handler>, noted: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = read(&mut reader) {
        noted.lock().unwrap().push(request.clone());
        let reply = handler(&request).unwrap_or_else(|| default(&request));
        if answer(&mut stream, reply).is_none() {
            return;
        }
    }
}

fn read(from: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let target = words.nth(1)?;
    let url = url::Url::parse(&format!("http://x{target}")).ok()?;
    let mut request = Request {
        path: url.path().to_owned(),
        query: url.query_pairs().into_owned().collect(),
        ..Request::default()
    };
    loop {
        let mut header = String::new();
        from.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_lowercase(), value.trim().to_owned());
        request.headers.insert(name, value);
    }
    let length = request.headers.get("content-length");
    let length = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    request.body = serde_json::from_slice(&body).unwrap_or_default();
    Some(request)
}

/// `None` where the connection ends with it.
fn answer(to: &mut TcpStream, reply: Reply) -> Option<()> {
    let (code, kind, body) = match reply {
        Reply::Json(code, body) => (code, "application/json", body.to_string()),
        Reply::Text(code, body) => (code, "text/plain; charset=utf-8", body),
        Reply::Hang => {
            thread::sleep(Duration::from_secs(60));
            return None;
        }
        Reply::Stream(parts) => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
            to.write_all(head.as_bytes()).ok()?;
            for part in parts {
                match part {
                    Part::Text(text) => {
                        write!(to, "{:x}\r\n{text}\r\n", text.len()).ok()?;
                        to.flush().ok()?;
                    }
                    Part::Wait(time) => thread::sleep(time),
                    Part::Cut => {
                        to.shutdown(std::net::Shutdown::Both).ok()?;
                        return None;
                    }
                }
            }
            to.write_all(b"0\r\n\r\n").ok()?;
            return Some(());
        }
    };
    let date = "Sat, 21 Nov 2026 15:30:00 GMT";
    write!(
        to,
        "HTTP/1.1 {code} X\r\nContent-Type: {kind}\r\nDate: {date}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .ok()?;
    to.write_all(body.as_bytes()).ok()?;
    to.flush().ok()
}

/// An empty cluster that allows everything.
fn default(request: &Request) -> Reply {
    match request.path.as_str() {
        "/version" => recorded(include_str!("../testdata/version.json")),
        "/api/v1/namespaces/kube-system" => namespace(UID),
        "/apis" => Reply::Json(
            200,
            json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [] }),
        ),
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => allowed(true),
        path if path.ends_with("/log") => Reply::Text(200, String::new()),
        _ if request.is_watch() => Reply::Stream(vec![Part::Wait(Duration::from_secs(30))]),
        _ => list(&[], "1", ""),
    }
}

pub(super) fn namespace(uid: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "kind": "Namespace", "apiVersion": "v1", "metadata": { "name": "kube-system", "uid": uid } }),
    )
}

pub(super) fn allowed(allowed: bool) -> Reply {
    Reply::Json(
        201,
        json!({ "kind": "SelfSubjectAccessReview", "status": { "allowed": allowed } }),
    )
}

pub(super) fn list(items: &[Value], version: &str, next: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "kind": "List", "metadata": { "resourceVersion": version, "continue": next }, "items": items }),
    )
}

/// A `Status`, as every failure is told.
pub(super) fn status(code: u16, reason: &str, message: &str, next: Option<&str>) -> Reply {
    Reply::Json(
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, "metadata": { "continue": next } }),
    )
}

/// A recorded answer.
pub(super) fn recorded(recording: &str) -> Reply {
    let recording: Value = serde_json::from_str(recording).unwrap();
    let response = &recording["response"];
    let code = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
    match &response["body"] {
        Value::String(text) => Reply::Text(code, text.clone()),
        body => Reply::Json(code, body.clone()),
    }
}

/// The body of a recorded answer.
pub(super) fn body(recording: &str) -> Value {
    let recording: Value = serde_json::from_str(recording).unwrap();
    recording["response"]["body"].clone()
}
