//! Statements over a lake on Ballista answer what they answer without it.
#![cfg(feature = "distributed")]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::service::Service;

const LAB: [&str; 2] = ["fixtures/lab-cluster/input", "fixtures/lab-cluster/loki"];

/// Beside the examples of the documentation: what is dealt out in other ways.
const STATEMENTS: [&str; 14] = [
    "SELECT count(*) AS n, count(DISTINCT pod) AS pods FROM events",
    "SELECT reason, count(*) AS n FROM events WHERE namespace = 'research' GROUP BY reason ORDER BY n DESC, reason",
    "SELECT id, time, pod, node, reason, signals, seen_by, attributes FROM events ORDER BY time, id LIMIT 50",
    "SELECT * FROM events ORDER BY id",
    "SELECT * FROM objects ORDER BY kind, namespace, name, uid, valid_from, resource_version",
    "SELECT a.pod, count(*) AS n FROM events a JOIN events b ON a.pod = b.pod AND a.time < b.time WHERE a.reason = 'Scheduled' GROUP BY a.pod ORDER BY a.pod",
    "SELECT experiment, max(time) AS last FROM events WHERE experiment IS NOT NULL GROUP BY experiment ORDER BY experiment",
    "SELECT time, pod FROM events WHERE time > now() - INTERVAL '10 minutes' ORDER BY time, id",
    "SELECT pod, row_number() OVER (PARTITION BY pod ORDER BY time, id) AS n, reason FROM events WHERE pod IS NOT NULL ORDER BY pod, n",
    "SELECT signal, count(*) AS n FROM (SELECT unnest(signals) AS signal FROM events) GROUP BY signal ORDER BY signal",
    "SELECT i.experiment, count(e.id) AS n FROM incidents i JOIN events e ON array_has(i.evidence_ids, e.id) GROUP BY i.experiment ORDER BY i.experiment",
    "SELECT kind, (SELECT count(*) FROM events) AS n FROM objects GROUP BY kind ORDER BY kind",
    "SELECT node FROM events WHERE node IS NOT NULL UNION SELECT name FROM objects WHERE kind = 'Node' ORDER BY 1",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n, (SELECT count(*) FROM events) AS e FROM t ORDER BY n",
];

/// The examples of the documentation.
fn examples() -> Vec<String> {
    let text = std::fs::read_to_string("docs/sql.md").unwrap();
    let parts = text.split("```sql\n").skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().trim().to_owned())
        .collect()
}

/// Rows in one order, where a statement names none.
fn rows(csv: &str) -> Vec<String> {
    let mut rows: Vec<String> = csv.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A lake and a cluster of Ballista over it.
struct Cluster {
    folder: tempfile::TempDir,
    lake: String,
    scheduler: String,
    executors: Vec<Process>,
    master: Process,
}

fn free() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Cluster {
    fn start(executors: usize, import: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (store, lake) = (at("store"), at("lake"));
        std::fs::create_dir(&lake).unwrap();
        let home = folder.path();
        run(home, &[&["import"], import, &["--store", &store]].concat());
        run(home, &["store", "push", &lake, "--store", &store]);
        let listen = format!("127.0.0.1:{}", free());
        let scheduler = format!("df://{listen}");
        let master = spawn(
            home,
            &["ballista", "scheduler", "--listen", &listen],
            "scheduler on",
        );
        let mut cluster = Self {
            folder,
            lake,
            scheduler,
            executors: Vec::new(),
            master,
        };
        for _ in 0..executors {
            cluster.executor();
        }
        cluster
    }

    /// One more executor.
    fn executor(&mut self) {
        let listen = format!("127.0.0.1:{}", free());
        let (scheduler, lake) = (&self.scheduler, &self.lake);
        let args = ["ballista", "executor", "--scheduler", scheduler, "--listen"];
        let more = [&listen, "--tasks", "2", "--store", lake];
        let started = spawn(
            self.folder.path(),
            &[&args[..], &more].concat(),
            "An executor",
        );
        self.executors.push(started);
    }

    fn ask(&self, statement: &str, more: &[&str]) -> (Option<i32>, String, String) {
        let args = ["sql", statement, "--store", &self.lake, "--no-fetch"];
        let shown = ["--format", "csv", "--quiet"];
        output(self.folder.path(), &[&args[..], &shown, more].concat())
    }

    fn on_ballista(&self, statement: &str) -> String {
        let (code, out, err) = self.ask(statement, &["--ballista", &self.scheduler]);
        assert_eq!(code, Some(0), "{statement}: {err}");
        out
    }

    fn here(&self, statement: &str) -> String {
        let (code, out, err) = self.ask(statement, &[]);
        assert_eq!(code, Some(0), "{statement}: {err}");
        out
    }

    /// A service over the lake, with Ballista or without.
    fn service(&self, config: &str, is_distributed: bool) -> Service {
        let mut config = config.to_owned();
        if is_distributed {
            config = format!("[store]\nballista = '{}'\n{config}", self.scheduler);
        }
        let home = self.folder.path().display().to_string();
        let env = [("HOME".to_owned(), home)];
        let folder = tempfile::tempdir().unwrap();
        Service::over(&self.lake, &config, &["--no-fetch"], folder, &env)
    }
}

fn command(home: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whathappened"));
    command
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home);
    command
}

fn output(home: &std::path::Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = command(home, args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn run(home: &std::path::Path, args: &[&str]) {
    let (code, _, err) = output(home, args);
    assert_eq!(code, Some(0), "{args:?}: {err}");
}

/// Starts a process that says when it is there.
fn spawn(home: &std::path::Path, args: &[&str], says: &str) -> Process {
    use std::io::BufRead as _;
    let mut child = command(home, args).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(says) {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "{args:?} ended");
    }
    std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
    Process(child)
}

#[test]
fn every_statement_has_the_rows_that_it_has_without_ballista() {
    let cluster = Cluster::start(2, &LAB);
    let examples = examples();
    assert!(examples.len() >= 10, "{}", examples.len());
    for statement in examples.iter().map(String::as_str).chain(STATEMENTS) {
        let (own, spread) = (cluster.here(statement), cluster.on_ballista(statement));
        assert_eq!(rows(&own), rows(&spread), "{statement}");
        if statement.contains("ORDER BY") {
            assert_eq!(own, spread, "{statement}");
        }
    }
    // What is forbidden stays so, and what fails says why.
    for (statement, why) in [
        ("COPY events TO '/tmp/x.csv'", "not allowed"),
        ("SELECT nothing FROM events", "nothing"),
        ("SELECT CAST(message AS INT) FROM events", "Cannot cast"),
    ] {
        let (code, _, err) = cluster.ask(statement, &["--ballista", &cluster.scheduler]);
        assert_ne!(code, Some(0), "{statement}");
        assert!(err.contains(why), "{statement}: {err}");
    }
}

#[test]
fn a_scheduler_that_is_not_there_is_named() {
    let mut cluster = Cluster::start(0, &[LAB[0]]);
    cluster.master.0.kill().unwrap();
    cluster.master.0.wait().unwrap();
    let named = ["--ballista", &cluster.scheduler];
    let (code, _, err) = cluster.ask("SELECT count(*) FROM events", &named);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("scheduler at http://127.0.0.1:"), "{err}");
    // Small tables need none.
    cluster.on_ballista("SELECT count(*) FROM incidents");
    let (code, _, err) = cluster.ask("SELECT 1", &["--ballista", "localhost:1"]);
    assert_eq!(code, Some(2), "{err}");
    // A store of one's own is read by nobody else.
    let store = cluster.folder.path().join("store").display().to_string();
    let args = ["sql", "SELECT 1", "--store", &store, "--no-fetch"];
    let (code, _, err) = output(cluster.folder.path(), &[&args[..], &named].concat());
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("lake"), "{err}");
}

/// Takes some ten seconds of two executors, and gives one row.
const LONG: &str = "SELECT count(*) AS n FROM events a CROSS JOIN events b WHERE a.id < b.id AND length(concat(a.raw, b.raw)) >= 0";

#[test]
fn an_executor_that_is_killed_loses_no_row() {
    let mut cluster = Cluster::start(2, &LAB);
    let events: u64 = value(&cluster.here("SELECT count(*) AS n FROM events"));
    let right = events * (events - 1) / 2;
    let begun = Instant::now();
    assert_eq!(value(&cluster.on_ballista(LONG)), right);
    let whole = begun.elapsed();
    let killed = cluster.executors.remove(0);
    let begun = Instant::now();
    let told = std::thread::scope(|scope| {
        let (asked, after) = (&cluster, whole / 3);
        let asking = scope.spawn(move || asked.on_ballista(LONG));
        std::thread::sleep(after);
        drop(killed);
        asking.join().unwrap()
    });
    assert_eq!(value(&told), right);
    // It is missed after some 20 s; then another one does its work as well.
    let took = begun.elapsed();
    assert!(
        took < whole * 3 + Duration::from_secs(40),
        "{took:?}, {whole:?}"
    );
}

#[test]
fn a_statement_whose_only_executor_is_killed_ends_before_its_time() {
    let mut cluster = Cluster::start(1, &LAB);
    let killed = cluster.executors.remove(0);
    let begun = Instant::now();
    let named = ["--ballista", &cluster.scheduler, "--timeout", "5m"];
    let (code, err) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| cluster.ask(ENDLESS, &named));
        busy(&killed);
        drop(killed);
        let (code, _, err) = asking.join().unwrap();
        (code, err)
    });
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("all executors were lost"), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(90), "{err}");
    // Whoever comes next works.
    cluster.executor();
    cluster.on_ballista("SELECT count(*) FROM events");
}

fn value(csv: &str) -> u64 {
    csv.lines().nth(1).unwrap().trim().parse().unwrap()
}

/// Takes hours.
const ENDLESS: &str = "SELECT count(*) FROM events a CROSS JOIN events b CROSS JOIN events c WHERE a.id <> b.id AND b.raw < concat(c.raw, a.raw)";

#[test]
fn a_statement_that_takes_too_long_is_ended_everywhere() {
    let cluster = Cluster::start(2, &LAB);
    let named = ["--ballista", &cluster.scheduler, "--timeout", "4s"];
    let (code, _, err) = cluster.ask(ENDLESS, &named);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("longer than"), "{err}");
    idle(&cluster);
    let service = cluster.service("[serve.sql]\ntimeout = '4s'\n", true);
    let answer = service.sql(ENDLESS.as_bytes(), &[]);
    assert_ne!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("longer than"), "{}", answer.text());
    idle(&cluster);
    assert_eq!(service.sql(b"SELECT count(*) FROM events", &[]).status, 200);
}

#[test]
fn a_statement_that_nobody_waits_for_is_ended_everywhere() {
    use std::os::unix::process::CommandExt as _;
    let cluster = Cluster::start(1, &LAB);
    let executor = &cluster.executors[0];
    // Ctrl-C, which a terminal sends to all that was started from it.
    let args = ["sql", ENDLESS, "--store", &cluster.lake, "--no-fetch"];
    let named = ["--ballista", &cluster.scheduler];
    let mut asking = command(cluster.folder.path(), &[&args[..], &named].concat());
    asking.stdout(Stdio::null()).stderr(Stdio::null());
    let mut asking = asking.process_group(0).spawn().unwrap();
    busy(executor);
    // `dash` does not know `--` here.
    let pressed = format!("kill -INT -{}", asking.id());
    let pressed = Command::new("sh").args(["-c", &pressed]).status();
    assert!(pressed.unwrap().success());
    assert_eq!(asking.wait().unwrap().code(), Some(130));
    idle(&cluster);
    // A client of a service that goes away.
    let service = cluster.service("", true);
    let mut gone = service.connect();
    let base = service.base();
    let head = format!(
        "POST /api/v1/sql HTTP/1.1\r\nhost: {}\r\ncontent-type: application/sql\r\ncontent-length: {}\r\n\r\n{ENDLESS}",
        base.trim_start_matches("http://"),
        ENDLESS.len()
    );
    std::io::Write::write_all(&mut gone, head.as_bytes()).unwrap();
    busy(executor);
    drop(gone);
    idle(&cluster);
    assert_eq!(service.sql(b"SELECT count(*) FROM events", &[]).status, 200);
}

/// Hundredths of a second that a process has computed.
fn computed(process: &Process) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", process.0.id())).unwrap();
    let rest = text.rsplit_once(')').unwrap().1;
    let fields: Vec<u64> = rest
        .split_whitespace()
        .map(|f| f.parse().unwrap_or(0))
        .collect();
    fields[11] + fields[12]
}

/// Waits until an executor works.
#[track_caller]
fn busy(executor: &Process) {
    let (begun, before) = (Instant::now(), computed(executor));
    while computed(executor) - before < 100 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is done");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Two seconds after the end of a statement executors do nothing any more.
#[track_caller]
fn idle(cluster: &Cluster) {
    std::thread::sleep(Duration::from_secs(2));
    let used = || cluster.executors.iter().map(computed).sum::<u64>();
    let before = used();
    std::thread::sleep(Duration::from_secs(1));
    let used = used() - before;
    assert!(
        used < 20,
        "executors computed {used} hundredths of a second"
    );
}

#[test]
fn a_restricted_caller_sees_the_same_rows_on_ballista() {
    let cluster = Cluster::start(2, &LAB);
    let config =
        "[[serve.caller]]\nname = 'few'\ntoken_file = 'TOKEN'\nnamespaces = ['research']\n";
    let token = cluster.folder.path().join("token");
    std::fs::write(&token, "token-of-research-0001").unwrap();
    let config = config.replace("TOKEN", token.to_str().unwrap());
    let [own, spread] = [false, true].map(|on| cluster.service(&config, on));
    let caller = [
        "authorization: Bearer token-of-research-0001",
        "accept: text/csv",
    ];
    let all = cluster.here("SELECT * FROM events ORDER BY time, id");
    for statement in examples().iter().map(String::as_str).chain(STATEMENTS) {
        let [own, spread] = [&own, &spread].map(|one| one.sql(statement.as_bytes(), &caller));
        assert_eq!(own.status, spread.status, "{statement}: {}", spread.text());
        let (own, spread) = (own.text(), spread.text());
        assert_eq!(rows(&own), rows(&spread), "{statement}");
        if statement.starts_with("SELECT * FROM events") {
            assert!(own.len() < all.len() && own.lines().count() > 1, "{own}");
        }
    }
}
