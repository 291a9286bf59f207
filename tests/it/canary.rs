//! Canaries in every place, looked for in every way out: what decoders let pass is told by
//! their own test (`connectors/tests/canary.rs`), with every kind; here some of them go all
//! the way.

#[path = "../canary/mod.rs"]
mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::service::Service;
use planted::{HARMLESS, Kind, Planted};

/// Of so many kinds one is planted here; `CANARY_EVERY=1` plants them all.
const EVERY: usize = 4;

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

/// What was seen, by kind and place, with the ways out.
struct Seen<'a> {
    kinds: &'a [Kind],
    planted: &'a Planted,
    left: BTreeMap<(usize, usize), BTreeSet<String>>,
    /// Ways out that showed the harmless words, and how many.
    told: BTreeMap<String, usize>,
}

impl<'a> Seen<'a> {
    fn of(kinds: &'a [Kind], planted: &'a Planted) -> Self {
        Self {
            kinds,
            planted,
            left: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    fn look(&mut self, way: &str, out: &[u8]) {
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
    fn files(&mut self, folder: &Path) {
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

    fn end(self) {
        let count = self.left.len();
        let leaks: Vec<String> = self
            .left
            .iter()
            .take(40)
            .map(|((kind, place), ways)| {
                format!(
                    "{} @ {}: {ways:?}",
                    self.kinds[*kind].name, self.planted.places[*place]
                )
            })
            .collect();
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
fn some() -> Vec<Kind> {
    let every = std::env::var("CANARY_EVERY").map_or(EVERY, |every| every.parse().unwrap());
    let kinds = planted::kinds().into_iter().enumerate();
    let kinds = kinds.filter(|(number, _)| *number == HARMLESS || number % every == 1 % every);
    kinds.map(|(_, kind)| kind).collect()
}

#[test]
fn no_canary_leaves_by_files_and_a_store() {
    let kinds = some();
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
    seen.end();
}

#[test]
fn no_canary_leaves_by_the_service() {
    const TOKEN: &str = "a-token-for-the-hook-0001";
    let kinds = some();
    let planted = planted::plant(&kinds, 1);
    let folder = tempfile::tempdir().unwrap();
    planted.write(folder.path());
    let config = format!("[serve.hooks.generic]\ntoken = '{TOKEN}'\n");
    let service = Service::start(&[folder.path().to_str().unwrap()], &config);
    let mut seen = Seen::of(&kinds, &planted);
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
        for accept in ["application/json", "text/markdown", "text/plain"] {
            let told = service.get(path, &[&format!("accept: {accept}")]);
            seen.look(path, &told.body);
        }
    }
    for table in TABLES {
        let told = service.sql(format!("SELECT * FROM {table}").as_bytes(), &[]);
        seen.look(&format!("sql {table}"), &told.body);
    }
    // What is sent to it: answers quote it, and so may its log and its trail.
    for (name, text) in &planted.files {
        if !name.contains('/') {
            let path = format!("/api/v1/imports?name={name}");
            let told = service.ask("POST", &path, &[], text.as_bytes());
            seen.look(&path, &told.body);
        }
    }
    let push = format!("authorization: Bearer {TOKEN}");
    for name in ["events.json", "cluster.json", "audit.log"] {
        let told = service.ask(
            "POST",
            "/hooks/generic",
            &[&push],
            planted.files[name].as_bytes(),
        );
        seen.look("/hooks/generic", &told.body);
    }
    for text in &planted.statements {
        let statement = format!("SELECT '{}'", text.replace('\'', "''"));
        // The statement itself is the caller's own; what is kept of it is not.
        service.sql(statement.as_bytes(), &[]);
    }
    seen.files(service.folder.path());
    assert!(seen.told.contains_key("sql events"), "{:?}", seen.told);
    seen.end();
}
