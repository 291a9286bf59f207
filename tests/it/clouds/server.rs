//! A small server on loopback that plays whatever a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedRequest {
    /// The path with its query.
    pub(super) target: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl ReceivedRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// What AWS is asked to do, in either of its protocols.
    pub(super) fn action(&self) -> &str {
        let target = self.header("x-amz-target").rsplit('.').next();
        let form = self
            .body
            .split('&')
            .find_map(|pair| pair.strip_prefix("Action="));
        target
            .filter(|name| !name.is_empty())
            .or(form)
            .unwrap_or_default()
    }
}

/// Code, further headers (each with its line end), body.
pub(super) type Reply = (u16, String, String);

pub(super) struct Server {
    pub(super) address: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    pub(super) fn start(
        answer: impl Fn(&ReceivedRequest, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for connection in server.incoming().flatten() {
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                std::thread::spawn(move || serve(&connection, &noted, &*answer));
            }
        });
        Self { address, asked }
    }

    /// What was asked so far, in the order it came.
    pub(super) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

/// One request a connection; `answer` gets how many came before.
fn serve(
    connection: &TcpStream,
    noted: &Mutex<Vec<ReceivedRequest>>,
    answer: &(dyn Fn(&ReceivedRequest, usize) -> Reply + Send + Sync),
) {
    let mut reader = BufReader::new(connection);
    let mut request = ReceivedRequest::default();
    let mut head = String::new();
    reader.read_line(&mut head).unwrap();
    head.split(' ')
        .nth(1)
        .unwrap_or_default()
        .clone_into(&mut request.target);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            request
                .headers
                .push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
    let mut body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    request.body = String::from_utf8(body).unwrap();
    let before = {
        let mut noted = noted.lock().unwrap();
        noted.push(request.clone());
        noted.len() - 1
    };
    let (code, headers, text) = answer(&request, before);
    let mut to = connection;
    // Who asked may be gone already.
    let _gone = write!(
        to,
        "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{text}",
        text.len()
    );
}
