//! A service in a process of its own, asked over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A service that ends with the test.
pub(crate) struct Service {
    child: Child,
    address: String,
    /// What it says on its standard error.
    said: Log,
    pub(crate) folder: tempfile::TempDir,
}

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }
}

impl Service {
    /// A service over a store of some recordings, with a configuration.
    pub(crate) fn start(import: &[&str], config: &str) -> Self {
        Self::start_with(import, config, &["--no-fetch"])
    }

    /// The same with options of its own.
    pub(crate) fn start_with(import: &[&str], config: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let store = at("store");
        if !import.is_empty() {
            let (code, _, err) =
                crate::whathappened(&[&["import"], import, &["--store", &store]].concat());
            assert_eq!(code, Some(0), "{err}");
        }
        Self::over(&store, config, options, folder, &[])
    }

    /// A service over a store, or a lake that the environment leads to.
    pub(crate) fn over(
        store: &str,
        config: &str,
        options: &[&str],
        folder: tempfile::TempDir,
        env: &[(String, String)],
    ) -> Self {
        Self::at("127.0.0.1:0", store, config, options, folder, env)
    }

    /// The same at an address of the test's own.
    pub(crate) fn at(
        listen: &str,
        store: &str,
        config: &str,
        options: &[&str],
        folder: tempfile::TempDir,
        env: &[(String, String)],
    ) -> Self {
        let configured = folder.path().join("config.toml");
        std::fs::write(&configured, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(["serve", "--listen", listen])
            .args(options)
            .args(["--store", store, "--config"])
            .arg(&configured)
            .env_clear()
            .env("HOME", "/nonexistent")
            .envs(env.iter().cloned())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (address, said) = address_and_log(&mut child, "listening on http://");
        Self {
            child,
            address,
            said,
            folder,
        }
    }

    /// All that it has said so far on its standard error.
    pub(crate) fn log(&self) -> Vec<u8> {
        self.said.lock().unwrap().clone()
    }

    /// Where its pages are.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Asks with some headers and a body.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answered {
        let mut to = self.connect();
        to.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        for header in headers {
            request.push_str(&format!("{header}\r\n"));
        }
        request.push_str("\r\n");
        to.write_all(request.as_bytes()).unwrap();
        // A refusal may come before all of the body was taken.
        to.write_all(body).ok();
        let mut bytes = Vec::new();
        to.read_to_end(&mut bytes).ok();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer to {method} {path}: {bytes:?}"));
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let mut body = bytes[end + 4..].to_vec();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answered { status, head, body }
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Answered {
        self.ask("GET", path, headers, b"")
    }

    /// Runs a statement.
    pub(crate) fn sql(&self, statement: &[u8], headers: &[&str]) -> Answered {
        let kind = ["content-type: application/sql"];
        self.ask("POST", "/api/v1/sql", &[&kind, headers].concat(), statement)
    }

    /// Processes that it has started and that are still there.
    pub(crate) fn children(&self) -> Vec<u32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let lists = tasks
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let all: Vec<String> = lists.collect();
        all.iter()
            .flat_map(|list| list.split_whitespace())
            .filter_map(|id| id.parse().ok())
            .collect()
    }

    /// Memory that the service itself holds, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.unwrap().parse::<u64>().unwrap() * 1_024
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let from = end + 2;
        all.extend_from_slice(&body[from..from + size]);
        if size == 0 {
            break;
        }
        body = &body[from + size + 2..];
    }
    all
}

/// What a program says on its standard error.
type Log = Arc<Mutex<Vec<u8>>>;

/// What a program that was just started says behind some words on its standard error: where it
/// listens.
pub(crate) fn address_of(child: &mut Child, words: &str) -> String {
    address_and_log(child, words).0
}

/// The same with all that it says, then and later.
fn address_and_log(child: &mut Child, words: &str) -> (String, Log) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).split(b'\n');
    let said = Log::default();
    let note = |line: &[u8], said: &Log| {
        let mut said = said.lock().unwrap();
        said.extend_from_slice(line);
        said.push(b'\n');
    };
    let address = loop {
        let line = lines
            .next()
            .expect("the program says where it listens")
            .unwrap();
        note(&line, &said);
        let line = String::from_utf8_lossy(&line);
        if let Some((_, address)) = line.split_once(words) {
            // In a log of JSON more stands behind it.
            let end = address.find(['"', ' ']).unwrap_or(address.len());
            break address[..end].trim().to_owned();
        }
    };
    // Whoever does not read on would stop it.
    let kept = Arc::clone(&said);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            note(&line, &kept);
        }
    });
    (address, said)
}
