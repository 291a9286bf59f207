//! The service as a process, and a client of it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::api_server::ApiServer;
use crate::whathappened;

/// The token of all hooks.
pub(super) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(super) struct Service {
    child: Child,
    /// `127.0.0.1:12345`, once it listens.
    pub(super) address: String,
    /// Where it takes syslog, where it does.
    pub(super) syslog: String,
}

/// Writes the configuration that all services of a server use.
pub(super) fn configure(server: &ApiServer) {
    let text = format!(
        "[serve.hooks.kubernetes-audit]\ntoken = '{TOKEN}'\ncluster = 'c1'\n[serve.hooks.generic]\ntoken = '{TOKEN}'\n[serve.syslog]\nlisten = '127.0.0.1:0'\n[serve.limits]\nmax_body = '1MiB'\n"
    );
    std::fs::write(server.path("config.toml"), text).unwrap();
}

impl Service {
    /// Starts it over the store of `server`'s folder; does not wait for anything.
    pub(super) fn spawn(server: &ApiServer) -> Child {
        Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(["--kubeconfig", &server.path("kubeconfig")])
            .args(["--store", &server.path("store")])
            .args(["--config", &server.path("config.toml")])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts it and waits until it listens.
    pub(super) fn start(server: &ApiServer) -> Self {
        let mut child = Self::spawn(server);
        let mut reader = BufReader::new(child.stderr.take().unwrap());
        let (mut all, mut address, mut syslog) = (String::new(), None, String::new());
        while address.is_none() {
            let mut line = String::new();
            let read = reader.read_line(&mut line).unwrap();
            all.push_str(&line);
            assert!(read > 0, "it ended: {all}");
            if let Some(reported) = line.strip_prefix("syslog on ") {
                reported.trim().clone_into(&mut syslog);
            }
            address = line
                .strip_prefix("listening on http://")
                .map(|reported| reported.trim().to_owned());
        }
        // Whoever does not read on makes it wait.
        std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        Self {
            child,
            address: address.unwrap(),
            syslog,
        }
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it as an operator does; gives its exit code.
    pub(super) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "it does not stop"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn get(&self, path: &str) -> (u16, String) {
        request(&self.address, &format!("GET {path} HTTP/1.1\r\n"), "").unwrap()
    }

    pub(super) fn push(&self, hook: &str, body: &str) -> (u16, String) {
        push(&self.address, hook, body, TOKEN).unwrap()
    }

    /// Waits until `path` answers what is wanted.
    pub(super) fn wait_for(&self, path: &str, wanted: impl Fn(&str) -> bool) {
        let began = Instant::now();
        loop {
            let (_, text) = self.get(path);
            if wanted(&text) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(90), "{path}: {text}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Where a test failed; else it has ended and this does nothing.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Pushes a body; `None` where nobody answers.
pub(super) fn push(address: &str, hook: &str, body: &str, token: &str) -> Option<(u16, String)> {
    let head = format!("POST /hooks/{hook} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n");
    request(address, &head, body).ok()
}

fn request(address: &str, head: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let head = format!(
        "{head}Host: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    // Who refuses a body may close before all of it was sent.
    let _refused = stream.write_all(body.as_bytes());
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let code = text.get(9..12).and_then(|code| code.parse().ok());
    let code = code.ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((code, body.to_owned()))
}

/// What a statement says of the store.
pub(super) fn sql(server: &ApiServer, statement: &str) -> Value {
    let store = server.path("store");
    let args = [
        "sql",
        statement,
        "--no-fetch",
        "--store",
        &store,
        "--format",
        "json",
    ];
    let (code, out, err) = whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

/// How many of the server's Events are in the store, and how many different ones.
pub(super) fn events(server: &ApiServer) -> (u64, u64) {
    let rows = sql(
        server,
        "SELECT count(*) AS n, count(DISTINCT message) AS m FROM events WHERE reason = 'SeenLive'",
    );
    (
        rows[0]["n"].as_u64().unwrap(),
        rows[0]["m"].as_u64().unwrap(),
    )
}
