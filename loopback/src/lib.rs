//! What tests of all packages share: a server on loopback that says what a test wants it to say, and how
//! a test says that it cannot run here.

#![expect(clippy::unwrap_used, reason = "only tests use it")]

mod api_server;
mod skipped;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

pub use api_server::{ApiServer, Faults};
pub use skipped::skipped;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    /// Query and, where the body is a form, its fields.
    pub query: BTreeMap<String, String>,
    /// The same with names that come more than once.
    pub pairs: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub raw: Vec<u8>,
    /// `Null` where the body is no JSON.
    pub body: Value,
}

impl ReceivedRequest {
    pub fn query(&self, key: &str) -> &str {
        self.query.get(key).map_or("", String::as_str)
    }

    pub fn header(&self, key: &str) -> &str {
        self.headers.get(key).map_or("", String::as_str)
    }
}

/// What the server answers.
#[derive(Debug)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, String),
    /// With headers of its own.
    Full(u16, Vec<(&'static str, String)>, String),
    /// A body told in parts, chunked.
    Stream(Vec<BodyPart>),
    /// After a while.
    Late(Duration, Box<Self>),
    /// Nothing for as long as the test lasts.
    Hang,
}

#[derive(Debug)]
pub enum BodyPart {
    Text(String),
    Wait(Duration),
    /// The connection breaks here.
    Cut,
}

type Handler = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

/// What stands before a server: gets each request and what the server would answer.
type Proxy = dyn Fn(&ReceivedRequest, Reply) -> Reply + Send + Sync;

pub struct Fake {
    pub port: u16,
    pub requested: Arc<Mutex<Vec<ReceivedRequest>>>,
    proxy: Arc<Mutex<Option<Arc<Proxy>>>>,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fake")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// A status, headers and a whole body.
type Parts = (u16, Vec<(&'static str, String)>, String);

impl Reply {
    /// The status, the headers and the whole body of a reply that has them at once.
    fn parts(self) -> Option<Parts> {
        let kind = |kind: &str| vec![("Content-Type", kind.to_owned())];
        match self {
            Self::Json(code, body) => Some((code, kind("application/json"), body.to_string())),
            Self::Text(code, body) => Some((code, kind("text/plain; charset=utf-8"), body)),
            Self::Full(code, headers, body) => Some((code, headers, body)),
            Self::Late(..) | Self::Hang | Self::Stream(_) => None,
        }
    }

    /// The first half of it, as whole as any other body.
    pub fn halved(self) -> Self {
        let Some((code, headers, mut body)) = self.parts() else {
            return Self::Hang;
        };
        let half = (body.len() / 2..).find(|at| body.is_char_boundary(*at));
        body.truncate(half.unwrap_or(0));
        Self::Full(code, headers, body)
    }

    /// The first half of it, after which the connection breaks.
    pub fn broken(self) -> Self {
        match self.halved() {
            Self::Full(_, _, body) => Self::Stream(vec![BodyPart::Text(body), BodyPart::Cut]),
            other => other,
        }
    }
}

impl Fake {
    pub fn start(handler: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requested = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Handler> = Arc::new(handler);
        let noted = Arc::clone(&requested);
        let proxy: Arc<Mutex<Option<Arc<Proxy>>>> = Arc::default();
        let before = Arc::clone(&proxy);
        let handler: Arc<Handler> = Arc::new(move |request: &ReceivedRequest| {
            let reply = handler(request);
            let proxy = before.lock().unwrap().clone();
            match proxy {
                Some(proxy) => proxy(request, reply),
                None => reply,
            }
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (handler, noted) = (Arc::clone(&handler), Arc::clone(&noted));
                thread::spawn(move || serve(stream, &handler, &noted));
            }
        });
        Self {
            port,
            requested,
            proxy,
        }
    }

    /// Puts something before the server that may answer in its place.
    pub fn intercept(
        &self,
        proxy: impl Fn(&ReceivedRequest, Reply) -> Reply + Send + Sync + 'static,
    ) {
        *self.proxy.lock().unwrap() = Some(Arc::new(proxy));
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far, in the order they came.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requested.lock().unwrap().clone()
    }

    /// How many requests were of a kind.
    pub fn count(&self, wanted: impl Fn(&ReceivedRequest) -> bool) -> usize {
        let requested = self.requested.lock().unwrap();
        requested.iter().filter(|request| wanted(request)).count()
    }
}

fn serve(stream: TcpStream, handler: &Arc<Handler>, noted: &Mutex<Vec<ReceivedRequest>>) {
    // Else the second piece of an answer waits for the client's word on the first, 40 ms each time.
    stream.set_nodelay(true).ok();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = read(&mut reader) {
        record(&request);
        noted.lock().unwrap().push(request.clone());
        let reply = handler(&request);
        if answer(&mut stream, reply).is_none() {
            return;
        }
    }
}

/// Appends a request to the file that `RECORD_REQUESTS` names: tests/vendors holds
/// what our sources ask for against the vendors' own descriptions.
fn record(request: &ReceivedRequest) {
    let Some(path) = std::env::var_os("RECORD_REQUESTS") else {
        return;
    };
    let line = serde_json::json!({
        "method": request.method,
        "path": request.path,
        "pairs": request.pairs,
        "headers": request.headers,
        "body": request.body,
    });
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path);
    file.unwrap()
        .write_all(format!("{line}\n").as_bytes())
        .unwrap();
}

fn read(from: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let method = words.next()?.to_owned();
    let target = words.next()?;
    let url = url::Url::parse(&format!("http://x{target}")).ok()?;
    let mut request = ReceivedRequest {
        method,
        path: url.path().to_owned(),
        pairs: url.query_pairs().into_owned().collect(),
        ..ReceivedRequest::default()
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
    request.raw = vec![0; length];
    from.read_exact(&mut request.raw).ok()?;
    if request.header("content-type") == "application/x-www-form-urlencoded" {
        let fields = url::form_urlencoded::parse(&request.raw).into_owned();
        request.pairs.extend(fields);
    }
    request.query = request.pairs.iter().cloned().collect();
    request.body = serde_json::from_slice(&request.raw).unwrap_or_default();
    Some(request)
}

/// `None` where the connection ends with it.
fn answer(to: &mut TcpStream, reply: Reply) -> Option<()> {
    let reply = match reply {
        Reply::Late(wait, reply) => {
            thread::sleep(wait);
            return answer(to, *reply);
        }
        Reply::Hang => {
            thread::sleep(Duration::from_secs(60));
            return None;
        }
        Reply::Stream(parts) => return stream(to, parts),
        whole => whole,
    };
    let (code, headers, body) = reply.parts()?;
    let mut head = format!("HTTP/1.1 {code} X\r\nDate: Sat, 21 Nov 2026 15:30:00 GMT\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    to.write_all(head.as_bytes()).ok()
}

fn stream(to: &mut TcpStream, parts: Vec<BodyPart>) -> Option<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    to.write_all(head.as_bytes()).ok()?;
    for part in parts {
        match part {
            BodyPart::Text(text) => {
                write!(to, "{:x}\r\n{text}\r\n", text.len()).ok()?;
                to.flush().ok()?;
            }
            BodyPart::Wait(time) => thread::sleep(time),
            BodyPart::Cut => {
                to.shutdown(std::net::Shutdown::Both).ok()?;
                return None;
            }
        }
    }
    to.write_all(b"0\r\n\r\n").ok()
}
