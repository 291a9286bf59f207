//! Canaries in every place, looked for in every way out: what decoders let pass is told by
//! their own test (`connectors/tests/canary.rs`), with every kind; here some of them go all
//! the way.

#[path = "../canary/mod.rs"]
pub(crate) mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::service::Service;
pub(crate) use planted::{HARMLESS, Kind, Planted};

/// Of so many kinds one is planted here; `CANARY_EVERY=1` plants them all.
const EVERY: usize = 8;

const TABLES: [&str; 10] = [
    "events",
    "objects",
    "tenures",
    "runs",
    "experiments",
    "incidents",
    "collateral",
    "coverage",
    "deaths",
    "links",
];

/// The same where the service is sent everything piece by piece.
const EVERY_SENT: usize = 16;

/// What was seen, by kind and place, with the ways out.
pub(crate) struct Seen<'a> {
    kinds: &'a [Kind],
    planted: &'a Planted,
    left: BTreeMap<(usize, usize), BTreeSet<String>>,
    /// Ways out that showed the harmless words, and how many.
    pub(crate) told: BTreeMap<String, usize>,
    /// Ways out that were looked at.
    ways: BTreeSet<String>,
}

impl<'a> Seen<'a> {
    pub(crate) fn of(kinds: &'a [Kind], planted: &'a Planted) -> Self {
        Self {
            kinds,
            planted,
            left: BTreeMap::new(),
            told: BTreeMap::new(),
            ways: BTreeSet::new(),
        }
    }

    pub(crate) fn look(&mut self, way: &str, out: &[u8]) {
        if !out.is_empty() {
            self.ways.insert(way.to_owned());
        }
        for (of, _) in self.planted.trap.seen(out) {
            if of.0 == HARMLESS {
                *self.told.entry(way.to_owned()).or_default() += 1;
            } else {
                self.left.entry(of).or_default().insert(way.to_owned());
            }
        }
    }

    fn run(&mut self, way: &str, args: &[&str]) {
        let out = Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(args)
            .env_clear()
            .env("HOME", "/nonexistent")
            .output()
            .unwrap();
        self.look(way, &out.stdout);
        for frame in unpacked(&out.stdout) {
            self.look(way, &frame);
        }
        self.look(&format!("{way} (stderr)"), &out.stderr);
    }

    /// All that a question, in these formats, a statement or a report is answered with.
    fn ask(&mut self, from: &[&str], name: &str, formats: &[&str]) {
        for format in formats {
            let args = ["*", "--explain", "--timeline", "0", "--format", format];
            self.run(
                &format!("{name} answer {format}"),
                &[&args[..], from].concat(),
            );
        }
        let one = ["k000", "--explain", "--timeline", "0"];
        self.run(&format!("{name} answer of one"), &[&one[..], from].concat());
        for table in TABLES {
            let statement = format!("SELECT * FROM {table}");
            let args = ["sql", &statement, "--format", "ndjson"];
            self.run(&format!("{name} sql {table}"), &[&args[..], from].concat());
        }
        for (way, statement) in [
            ("parquet", "SELECT * FROM events"),
            (
                "aggregate",
                "SELECT string_agg(raw, ' ') AS r, string_agg(attributes, ' ') AS a, string_agg(origin, ' ') AS o FROM events",
            ),
            (
                "error",
                "SELECT CAST(message AS INT) FROM events WHERE message IS NOT NULL",
            ),
            (
                "error of raw",
                "SELECT arrow_cast(raw, 'Int64') FROM events",
            ),
        ] {
            let format = if way == "parquet" { "parquet" } else { "json" };
            let args = ["sql", statement, "--format", format];
            self.run(&format!("{name} sql {way}"), &[&args[..], from].concat());
        }
        for args in [
            &["experiments", "--format", "json"][..],
            &[
                "report",
                "--format",
                "html",
                "--since",
                "2026-11-01",
                "-o",
                "-",
            ],
            &["node", "gpu-000", "--format", "json"],
            &["upcoming", "k000", "--format", "json"],
        ] {
            self.run(&format!("{name} {}", args[0]), &[args, from].concat());
        }
    }

    /// Every file below a folder, with what is packed in it.
    pub(crate) fn files(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.files(&path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            self.look("files", &bytes);
            for frame in unpacked(&bytes) {
                self.look("files, unpacked", &frame);
            }
        }
    }

    pub(crate) fn end(self, test: &'static str) {
        let count = self.left.len();
        let mut leaks: Vec<String> = self
            .left
            .iter()
            .map(|((kind, place), ways)| {
                format!(
                    "{} @ {}: {ways:?}",
                    self.kinds[*kind].name, self.planted.places[*place]
                )
            })
            .collect();
        let row = planted::Row {
            test,
            kinds: self.kinds.len() - 1,
            places: self.planted.places.len(),
            ways: self.ways.len(),
            planted: self.planted.trap.len(),
            left: count,
        };
        row.report(&leaks);
        leaks.truncate(40);
        assert!(
            count == 0,
            "{count} of {} left: {leaks:#?}",
            self.planted.trap.len()
        );
    }
}

/// What stands in the frames of zstd in some bytes: the pages of Parquet.
fn unpacked(bytes: &[u8]) -> Vec<Vec<u8>> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut frames = Vec::new();
    for (at, begin) in bytes.windows(MAGIC.len()).enumerate() {
        if begin == MAGIC
            && let Ok(frame) = zstd::stream::read::Decoder::new(&bytes[at..])
        {
            let mut out = Vec::new();
            let _cut = std::io::Read::read_to_end(&mut frame.single_frame(), &mut out);
            frames.push(out);
        }
    }
    frames
}

/// Some kinds, in every place.
pub(crate) fn some(every: usize) -> Vec<Kind> {
    let every = std::env::var("CANARY_EVERY").map_or(every, |every| every.parse().unwrap());
    let kinds = planted::kinds().into_iter().enumerate();
    let kinds = kinds.filter(|(number, _)| *number == HARMLESS || number % every == 1 % every);
    kinds.map(|(_, kind)| kind).collect()
}

#[test]
fn no_canary_leaves_by_files_and_a_store() {
    let kinds = some(EVERY);
    let planted = planted::plant(&kinds, 1);
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    planted.write(&input);
    let input = input.to_str().unwrap();
    let store = folder.path().join("store");
    let store_path = store.to_str().unwrap();
    let mut seen = Seen::of(&kinds, &planted);
    let all = ["table", "json", "ndjson", "md", "csv", "html", "parquet"];
    seen.ask(&["--from", input], "files", &all);
    seen.run("import", &["import", input, "--store", store_path]);
    let since = ["explain", "--since", "2026-11-01T00:00:00Z", "--no-fetch"];
    seen.run("explain", &[&since[..], &["--store", store_path]].concat());
    seen.files(&store);
    // What is written in each format is the same, wherever it comes from.
    seen.ask(&["--store", store_path, "--no-fetch"], "store", &["json"]);
    // Each way out was one: the harmless words were seen.
    for way in [
        "files sql events",
        "store sql events",
        "store sql parquet",
        "store sql aggregate",
        "store sql objects",
        "files answer json",
        "store answer json",
        "store answer of one",
        "files, unpacked",
    ] {
        assert!(seen.told.contains_key(way), "{way}: {:?}", seen.told);
    }
    seen.end("files and a store");
}

/// What a service is configured with: whatever may be sent to it, and a log of everything.
const TOKEN: &str = "a-token-for-the-hook-0001";

fn listening(import: &[&str], options: &[&str]) -> Service {
    let config = format!(
        "[serve.hooks.generic]\ntoken = '{TOKEN}'\n[serve.hooks.kubernetes-audit]\ntoken = '{TOKEN}'\n\
[serve.syslog]\nlisten = '127.0.0.1:0'\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").to_str().unwrap().to_owned();
    if !import.is_empty() {
        let args = [&["import"], import, &["--store", &store]].concat();
        let (code, _, err) = crate::whathappened(&args);
        assert_eq!(code, Some(0), "{err}");
    }
    let options = [&["--no-fetch"][..], options].concat();
    let env = [("WHATHAPPENED_LOG", "warn,whathappened=debug")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Service::over(&store, &config, &options, folder, &env)
}

/// Everything that a service says to those who ask.
fn ask_the_service(seen: &mut Seen<'_>, service: &Service) {
    for path in [
        "/api/v1/answers/%2A",
        "/api/v1/answers/k000",
        "/api/v1/answers/node%2Fgpu-000",
        "/api/v1/timelines/%2A?limit=1000",
        "/api/v1/experiments?limit=1000",
        "/api/v1/incidents?limit=1000",
        "/api/v1/coverage?limit=1000",
        "/api/v1/nodes/gpu-000",
        "/api/v1/upcoming/k000",
        "/",
        "/fleet?since=90d",
        "/x/k000",
        "/node/gpu-000",
        "/sql?q=SELECT%20*%20FROM%20events",
        "/metrics",
    ] {
        // A page has one form.
        let forms = if path.starts_with("/api/") { 3 } else { 1 };
        let accepted = ["application/json", "text/markdown", "text/plain"];
        for accept in accepted.iter().take(forms) {
            let told = service.get(path, &[&format!("accept: {accept}")]);
            seen.look(path, &told.body);
        }
    }
    for table in TABLES {
        let told = service.sql(format!("SELECT * FROM {table}").as_bytes(), &[]);
        seen.look(&format!("sql {table}"), &told.body);
    }
}

/// Everything that a service is sent: answers quote it, and so may its log and its trail.
fn send_to_the_service(seen: &mut Seen<'_>, service: &Service, planted: &Planted) {
    for (name, text) in &planted.files {
        if !name.contains('/') {
            let path = format!("/api/v1/imports?name={name}");
            let told = service.ask("POST", &path, &[], text.as_bytes());
            seen.look("imports", &told.body);
        }
    }
    let push = format!("authorization: Bearer {TOKEN}");
    let is_json = |name: &&String| name.ends_with("json") || *name == "audit.log";
    for name in planted.files.keys().filter(is_json) {
        for hook in ["generic", "kubernetes-audit"] {
            let path = format!("/hooks/{hook}");
            let told = service.ask("POST", &path, &[&push], planted.files[name].as_bytes());
            seen.look(&path, &told.body);
        }
    }
    for text in &planted.statements {
        let statement = format!("SELECT '{}'", text.replace('\'', "''"));
        // The statement itself is the caller's own; what is kept of it is not.
        service.sql(statement.as_bytes(), &[]);
    }
}

/// Lines of machines over the network; waits until they are in the store.
fn send_lines(service: &Service, planted: &Planted) {
    let log = service.log();
    let log = String::from_utf8_lossy(&log);
    let (_, address) = log.split_once("syslog on ").unwrap();
    let end = address.find(['"', ' ', '\n']).unwrap();
    let mut to = TcpStream::connect(&address[..end]).unwrap();
    to.write_all(planted.files["messages.log"].as_bytes())
        .unwrap();
    to.write_all(planted.files["dmesg.log"].as_bytes()).unwrap();
    drop(to);
    let begun = Instant::now();
    let count = b"SELECT count(*) AS n FROM events WHERE node LIKE 'dm-%'";
    while service.sql(count, &[]).text().contains("\"n\":0") {
        assert!(begun.elapsed() < Duration::from_secs(60), "no line came");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn no_canary_leaves_by_the_service() {
    let kinds = some(EVERY);
    let planted = planted::plant(&kinds, 1);
    let folder = tempfile::tempdir().unwrap();
    planted.write(folder.path());
    let service = listening(&[folder.path().to_str().unwrap()], &[]);
    let mut seen = Seen::of(&kinds, &planted);
    ask_the_service(&mut seen, &service);
    send_to_the_service(&mut seen, &service, &planted);
    seen.files(service.folder.path());
    seen.look("service log", &service.log());
    assert!(seen.told.contains_key("sql events"), "{:?}", seen.told);
    seen.end("the service");
}

/// What comes over the network takes another way in than a file.
#[test]
fn no_canary_leaves_by_a_service_that_was_sent_everything() {
    let kinds = some(EVERY_SENT);
    let planted = planted::plant(&kinds, 1);
    let service = listening(&[], &["--log-json"]);
    let mut seen = Seen::of(&kinds, &planted);
    send_lines(&service, &planted);
    send_to_the_service(&mut seen, &service, &planted);
    ask_the_service(&mut seen, &service);
    seen.files(service.folder.path());
    let log = service.log();
    let is_json = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
    let mut lines = log
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    assert!(lines.any(is_json), "{}", String::from_utf8_lossy(&log));
    seen.look("service log in JSON", &log);
    for way in ["sql events", "sql objects", "files, unpacked"] {
        assert!(seen.told.contains_key(way), "{way}: {:?}", seen.told);
    }
    seen.end("a service that was sent all");
}
