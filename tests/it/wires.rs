//! Database clients against the running service: real ones, through each wire that
//! this program was built with. `.ci/wires` installs them; a test whose client is not
//! there says so.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::service::Service;
use crate::{hostile, leaks};

const LAB: &[&str] = &["fixtures/lab-cluster/input", "fixtures/lab-cluster/loki"];
const TOKEN: &str = "token-of-everything-0001";
const CALLER: &str = "[[serve.caller]]\nname = 'all'\ntoken_sha256 = 'SHA'\n";

/// An address that nobody listens on.
fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Where each wire listens.
struct Wires {
    postgres: String,
    flight: String,
}

impl Wires {
    fn new() -> Self {
        Self {
            postgres: free(),
            flight: free(),
        }
    }

    /// Their part of a configuration.
    fn config(&self) -> String {
        let mut text = String::new();
        if cfg!(feature = "postgres") {
            text += &format!("[serve.postgres]\nlisten = '{}'\n", self.postgres);
        }
        if cfg!(feature = "flight") {
            text += &format!("[serve.flight]\nlisten = '{}'\n", self.flight);
        }
        text
    }

    fn program(&self, program: &str, token: &str) -> Command {
        let (host, port) = self.postgres.split_once(':').unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", "/nonexistent")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PGHOST", host)
            .env("PGPORT", port)
            .env("PGUSER", "anyone")
            .env("PGDATABASE", "whathappened")
            .env("PGPASSWORD", token)
            .env("WIRES_POSTGRES", &self.postgres)
            .env("WIRES_FLIGHT", &self.flight)
            .env("WIRES_TOKEN", token);
        command
    }
}

/// A service over the bundled incident, which one caller may ask, and its wires.
fn lab() -> (Service, Wires) {
    let wires = Wires::new();
    let caller = CALLER.replace("SHA", &sha256(TOKEN));
    let service = Service::start(LAB, &(caller + &wires.config()));
    (service, wires)
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A Python that has the clients, if there is one.
fn python() -> Option<String> {
    let path = std::env::var("WIRES_PYTHON").ok();
    if path.is_none() {
        whathappened_loopback::skipped("no WIRES_PYTHON");
    }
    path
}

/// Runs a client to its end; what it printed.
fn ran(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out
}

fn script(name: &str, more: &[&str]) {
    let Some(python) = python() else { return };
    let (_service, wires) = lab();
    let mut command = wires.program(&python, TOKEN);
    command.arg(format!("tests/wires/{name}")).args(more);
    let out = ran(command);
    assert!(out.contains(": fine"), "{out}");
}

/// A client that asks statements one after another.
struct Client {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start(wires: &Wires, python: &str, wire: &str, token: &str) -> Self {
        let mut child = wires
            .program(python, token)
            .args(["tests/wires/ask.py", wire])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// Whether it was answered, what with, and the kind of an error.
    fn ask(&mut self, statement: &str) -> (bool, String, String) {
        writeln!(self.to, "{}", Value::from(statement)).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let shown: String = statement.chars().take(200).collect();
        let reply: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("no answer to {shown}"));
        let text = |key: &str| reply[key].as_str().unwrap().to_owned();
        (reply["ok"].as_bool().unwrap(), text("text"), text("code"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The ways that a statement can come.
fn ways() -> Vec<&'static str> {
    let mut all = Vec::new();
    if cfg!(feature = "postgres") {
        all.extend(["postgres", "prepared"]);
    }
    if cfg!(feature = "flight") {
        all.push("flight");
    }
    all
}

#[cfg(feature = "postgres")]
#[test]
fn psql_lists_and_selects() {
    if Command::new("psql").arg("--version").output().is_err() {
        whathappened_loopback::skipped("no psql");
        return;
    }
    let (_service, wires) = lab();
    let ask = |text: &str| {
        let mut command = wires.program("psql", TOKEN);
        command.args(["-X", "-A", "-v", "ON_ERROR_STOP=1", "-c", text]);
        ran(command)
    };
    let out = ask(
        "SELECT experiment, cause, gpu_hours_lost > 0.2 AS lost FROM incidents WHERE experiment = 'gpt2-small-7f3'",
    );
    assert!(
        out.contains("experiment|cause|lost\ngpt2-small-7f3|node.not_ready|t\n"),
        "{out}"
    );
    let out = ask("\\d");
    for table in ["events", "incidents", "runs"] {
        assert!(out.contains(&format!("public|{table}|")), "{out}");
    }
    let out = ask("\\d incidents");
    assert!(out.contains("cause|text|"), "{out}");
    assert!(out.contains("time|timestamp with time zone|"), "{out}");
    for listing in ["\\dt", "\\dn", "\\l", "\\di", "\\dv", "\\conninfo"] {
        ask(listing);
    }
    let out = ask("SELECT step, role FROM why('gpt2-small-7f3') ORDER BY step LIMIT 1");
    assert!(out.contains("0|verdict"), "{out}");
    // A cursor, as FETCH_COUNT opens one.
    let mut command = wires.program("psql", TOKEN);
    command.args(["-X", "-A", "-t", "-v", "FETCH_COUNT=10"]);
    command.args(["-c", "SELECT id FROM events ORDER BY id LIMIT 35"]);
    assert_eq!(ran(command).lines().count(), 35);
    // Mistakes are told in our words, with what to do.
    let mut command = wires.program("psql", TOKEN);
    command.args(["-X", "-c", "DELETE FROM events"]);
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && err.contains("read-only"),
        "{err}"
    );
    let mut command = wires.program("psql", "no-such-token-0001");
    command.args(["-X", "-c", "SELECT 1"]);
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("the token is not valid"), "{err}");
}

/// Makes a certificate for this machine; `false` where nothing here can.
#[cfg(feature = "postgres")]
fn made_certificate(chain: &str, key: &str) -> bool {
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args(["-subj", "/CN=localhost", "-keyout", key, "-out", chain])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}

#[cfg(feature = "postgres")]
#[test]
fn with_a_certificate_psql_is_let_in_by_tls_only() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (chain, key) = (at("tls.crt"), at("tls.key"));
    if !made_certificate(&chain, &key) || Command::new("psql").arg("--version").output().is_err() {
        whathappened_loopback::skipped("no psql or openssl");
        return;
    }
    let wires = Wires::new();
    let caller = CALLER.replace("SHA", &sha256(TOKEN));
    let tls = format!("tls_cert = '{chain}'\ntls_key = '{key}'\n");
    let config = wires.config().replace("'\n", &format!("'\n{tls}"));
    let _service = Service::start(LAB, &(caller + &config));
    let ask = |mode: &str| {
        let mut command = wires.program("psql", TOKEN);
        command.env("PGSSLMODE", mode).env("PGSSLROOTCERT", &chain);
        command.args(["-X", "-A", "-t", "-c", "SELECT 1"]);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&text).into_owned()
    };
    assert_eq!(ask("verify-full"), "1\n");
    assert!(ask("disable").contains("sslmode=require"));
}

#[cfg(feature = "postgres")]
#[test]
fn psycopg_and_pandas_bind_fetch_and_cancel() {
    script("psycopg_client.py", &[]);
}

#[cfg(feature = "postgres")]
#[test]
fn sqlalchemy_reflects_and_selects() {
    script("sqlalchemy_client.py", &[]);
}

#[cfg(feature = "postgres")]
#[test]
fn grafana_asks_as_its_documentation_says() {
    let boards = [
        "deploy/grafana/incidents.json",
        "deploy/grafana/experiment.json",
    ];
    script("grafana_client.py", &boards);
}

#[cfg(feature = "postgres")]
#[test]
fn jdbc_lists_binds_and_fetches() {
    let jar = "/usr/share/java/postgresql.jar";
    let is_there = Path::new(jar).exists() && Command::new("java").arg("-version").output().is_ok();
    if !is_there {
        whathappened_loopback::skipped("no JDBC");
        return;
    }
    let (_service, wires) = lab();
    let mut command = wires.program("java", TOKEN);
    command.args(["-cp", jar, "tests/wires/Jdbc.java"]);
    assert!(ran(command).contains("JDBC: fine"));
}

#[cfg(feature = "flight")]
#[test]
fn adbc_lists_binds_and_fetches() {
    script("adbc_client.py", &[]);
}

/// What PostgreSQL's clients may say, and nothing comes of.
const HARMLESS: &[&str] = &[
    "BEGIN",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "DEALLOCATE p",
    "LISTEN x",
    "",
    ";",
    "--",
];

#[test]
fn hostile_statements_harm_nobody_through_any_wire() {
    let Some(python) = python() else { return };
    for way in ways() {
        let wires = Wires::new();
        let config = hostile::LIMITS.to_owned() + &wires.config();
        let service = Service::start(&["fixtures/gke-host-maintenance/input"], &config);
        let mut client = Client::start(&wires, &python, way, "");
        client.ask("SELECT 1");
        let before = service.memory();
        let mut count = 0;
        for statement in hostile::FORBIDDEN {
            let (ok, text, _) = client.ask(statement);
            let is_harmless = way != "flight"
                && (HARMLESS.contains(statement)
                    || (way == "postgres" && *statement == "SELECT 1; SELECT 2"));
            // The clients send nothing that is behind a NUL.
            let is_cut = statement.contains('\0');
            assert!(ok == is_harmless || is_cut, "{way}: {statement}: {text}");
            assert!(!text.contains("root:"), "{way}: {statement}: {text}");
            count += 1;
        }
        for statement in hostile::greedy() {
            let began = Instant::now();
            let (_, text, _) = client.ask(&statement);
            let shown = hostile::shown(&statement);
            assert!(!text.is_empty(), "{way}: {shown}");
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "{way}: {shown}: {:?}",
                began.elapsed()
            );
            hostile::is_well(&service, &shown);
            count += 1;
        }
        assert!(count >= 120, "{count}");
        assert!(!Path::new("/tmp/whathappened-hostile.csv").exists());
        let (ok, text, _) = client.ask("SELECT count(*) FROM events");
        assert!(ok, "{way}: {text}");
        let grown = service.memory().saturating_sub(before);
        assert!(
            grown < 200 << 20,
            "{way}: the service grew by {grown} bytes"
        );
    }
}

#[test]
fn nothing_of_another_namespace_is_told_through_any_wire() {
    let Some(python) = python() else { return };
    let wires = Wires::new();
    let (_folder, _service) = leaks::service_with(&wires.config());
    for way in ways() {
        let mut client = Client::start(&wires, &python, way, "token-of-team-a-0001");
        let mut answered = 0;
        let more = [
            "SELECT * FROM pg_catalog.pg_class",
            "SELECT * FROM pg_catalog.pg_attribute",
            "SELECT * FROM pg_catalog.pg_database",
            "SELECT * FROM pg_catalog.pg_roles",
            "SELECT * FROM pg_catalog.pg_description",
        ];
        for statement in leaks::STATEMENTS.iter().chain(&more) {
            let statement = statement.replace("{}", leaks::MARK);
            let (ok, text, _) = client.ask(&statement);
            leaks::clean_text(&text, &statement);
            answered += u32::from(ok);
        }
        assert!(answered > 25, "{way}: {answered}");
        // The marks are there for who may see them.
        let mut all = Client::start(&wires, &python, way, TOKEN);
        let (ok, text, _) = all.ask("SELECT * FROM events");
        assert!(ok && text.contains(leaks::MARK), "{way}: {text}");
        let (ok, text, _) = all.ask("SELECT * FROM incidents");
        assert!(ok && text.contains(leaks::MARK), "{way}: {text}");
    }
}
