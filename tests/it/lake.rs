//! A lake answers, byte for byte, what the stores that were pushed to it would.
#![cfg(feature = "lake")]

use std::path::Path;
use std::process::Command;

use crate::live::Cluster;
use crate::s3::S3;
use crate::service::Service;

/// One folder for whoever asks: its stores and the indexes of lakes.
struct Person {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl Person {
    fn new(env: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            folder: tempfile::tempdir().unwrap(),
            env: env.iter().map(owned).collect(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A folder for a lake.
    fn lake(&self) -> String {
        let path = self.path("lake");
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .envs(self.env.iter().cloned())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    fn well(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {err}");
        out
    }

    fn import(&self, store: &str, paths: &[&str]) -> String {
        let store = self.path(store);
        self.well(&[&["import"], paths, &["--store", &store]].concat());
        store
    }

    fn ask(&self, store: &str, question: &[&str]) -> String {
        let args = [question, &["--store", store, "--no-fetch", "--quiet"]].concat();
        self.well(&args)
    }
}

/// Questions about what the bundled incident tells.
const QUESTIONS: [&[&str]; 8] = [
    &["gpt2-small-7f3", "--format", "json"],
    &["gpt2-small-7f3"],
    &["node/gke-train-a100-pool-7c1d-0004", "--format", "json"],
    &["experiments", "--format", "json"],
    &[
        "sql",
        "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM events",
        "--format",
        "csv",
    ],
    &[
        "sql",
        "SELECT reason, count(*) AS n FROM events GROUP BY reason ORDER BY n DESC, reason",
        "--format",
        "csv",
    ],
    &[
        "sql",
        "SELECT * FROM events WHERE node = 'gke-train-a100-pool-7c1d-0004' ORDER BY time, id",
        "--format",
        "ndjson",
    ],
    &[
        "sql",
        "SELECT kind, namespace, name, uid, valid_from, node, phase FROM objects ORDER BY kind, namespace, name, uid, valid_from, phase",
        "--format",
        "csv",
    ],
];

const INPUT: &str = "fixtures/lab-cluster/input";
const LOKI: &str = "fixtures/lab-cluster/loki";

#[track_caller]
fn same(person: &Person, store: &str, lake: &str, questions: &[&[&str]]) {
    for question in questions {
        let (own, shared) = (person.ask(store, question), person.ask(lake, question));
        assert!(!own.is_empty(), "{question:?}");
        assert!(own == shared, "{question:?}:\n{own}\nis not\n{shared}");
    }
}

#[test]
fn a_lake_gives_the_bytes_that_its_store_gives() {
    let person = Person::new(&[]);
    let (store, lake) = (person.import("store", &[INPUT, LOKI]), person.lake());
    person.well(&["store", "push", &lake, "--store", &store]);
    same(&person, &store, &lake, &QUESTIONS);
    // What was explained for a statement goes along with the next push.
    let causes: &[&str] = &[
        "sql",
        "SELECT experiment, cause, level FROM incidents ORDER BY experiment, cause",
        "--format",
        "csv",
    ];
    let told = person.ask(&store, causes);
    person.well(&["store", "push", &lake, "--store", &store]);
    assert_eq!(person.ask(&lake, causes), told);
    person.well(&["store", "compact", "--store", &lake]);
    person.well(&["store", "vacuum", "--store", &lake]);
    same(&person, &store, &lake, &QUESTIONS);
    served_alike(&person, &store, &lake);
    let status = person.well(&["store", "status", "--store", &lake, "--format", "csv"]);
    assert!(
        status.contains("\nevents,") || status.contains("events,"),
        "{status}"
    );
    let (_, _, err) = person.run(&["gpt2-small-7f3", "--store", &lake]);
    assert!(err.contains("lake's data files"), "{err}");
}

#[test]
fn incidents_of_every_kind_are_told_alike_from_a_lake() {
    for (case, name) in [
        ("aks-host-fault", "vit-l-5"),
        ("eks-spot-reclaim", "rlhf-2"),
        ("gce-vm-experiment", "ppo-17"),
        ("gke-host-maintenance", "moe-8b"),
        ("gke-host-maintenance", "node/gke-train-a3-7c1e2d90-4fkq"),
        ("gke-recycled-name", "sft-3"),
    ] {
        let person = Person::new(&[]);
        let input = format!("fixtures/{case}/input");
        let (store, lake) = (person.import("store", &[&input]), person.lake());
        person.well(&["store", "push", &lake, "--store", &store]);
        same(&person, &store, &lake, &[&[name, "--format", "json"]]);
    }
}

#[test]
fn stores_of_many_are_one_answer_and_what_two_know_is_there_once() {
    let person = Person::new(&[]);
    let cases = ["gke-host-maintenance", "eks-spot-reclaim", "aks-host-fault"];
    let inputs: Vec<String> = cases
        .iter()
        .map(|case| format!("fixtures/{case}/input"))
        .collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let (whole, lake) = (person.import("whole", &inputs), person.lake());
    for (number, input) in inputs.iter().enumerate() {
        // Each also knows what the first knows.
        let store = person.import(&format!("store-{number}"), &[inputs[0], input]);
        person.well(&["store", "push", &lake, "--store", &store]);
    }
    let count: &[&str] = &[
        "sql",
        "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM events",
        "--format",
        "csv",
    ];
    same(
        &person,
        &whole,
        &lake,
        &[
            count,
            &["moe-8b", "--format", "json"],
            &["rlhf-2", "--format", "json"],
            &["vit-l-5", "--format", "json"],
        ],
    );
}

#[test]
fn a_lake_takes_nothing_in_but_what_is_pushed() {
    let person = Person::new(&[]);
    let (store, lake) = (person.import("store", &[INPUT]), person.lake());
    person.well(&["store", "push", &lake, "--store", &store]);
    for args in [
        &["import", INPUT, "--store", &lake][..],
        &["collect", "--store", &lake],
        &["store", "repair", "--store", &lake],
        &["store", "retain", "--store", &lake],
        &["store", "push", &lake, "--store", &lake],
    ] {
        let (code, _, err) = person.run(args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains("lake"), "{args:?}: {err}");
    }
    let (code, _, err) = person.run(&["x", "--store", &person.path("nothing/"), "--no-fetch"]);
    assert_eq!(code, Some(1), "{err}");
    let nowhere = format!("file://{}", person.path("nowhere"));
    let (code, _, err) = person.run(&["x", "--store", &nowhere, "--no-fetch"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("there is no lake here"), "{err}");
}

#[test]
fn what_is_collected_is_flushed_and_answered_from_the_lake() {
    let (cluster, person) = (Cluster::start(""), Person::new(&[]));
    let (config, store) = (cluster.path("kubeconfig"), person.path("own"));
    let lake = person.path("lake/made/here");
    let flush = ["--lake", &lake, "--flush-every", "1s", "--for", "5s"];
    let from = ["--kubeconfig", &config, "--store", &store];
    person.well(&[&["collect"], &flush[..], &from[..]].concat());
    let seen: &[&str] = &[
        "sql",
        "SELECT pod, message, cluster FROM events WHERE reason = 'SeenLive'",
        "--format",
        "csv",
    ];
    let told = "pod,message,cluster\r\nlate-0,told by the watch,c1a57e2\r\n";
    assert_eq!(person.ask(&lake, seen), told);
    let answer = person.ask(&lake, &["gpt2-small-7f3", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["incidents"][0]["cause"], "node.not_ready");
    // The collector keeps nothing that the lake has.
    let status = person.well(&["store", "status", "--store", &store, "--format", "csv"]);
    assert!(status.contains("\nfacts,0\r\n"), "{status}");
}

#[test]
fn a_store_of_the_older_layout_is_migrated() {
    let person = Person::new(&[]);
    let (store, lake) = (person.import("store", &[INPUT, LOKI]), person.lake());
    person.well(&["store", "compact", "--store", &store]);
    let old = person.path("old");
    let segments: Vec<_> = ["events", "objects"]
        .into_iter()
        .flat_map(|table| parquet(&Path::new(&store).join(table)))
        .map(|path| {
            let file = path
                .strip_prefix(&store)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let to = Path::new(&old).join(&file);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            let bytes = std::fs::copy(&path, to).unwrap();
            serde_json::json!({"file": file, "bytes": bytes})
        })
        .collect();
    let manifest = serde_json::json!({"format": 1, "segments": segments});
    std::fs::write(Path::new(&old).join("manifest.json"), manifest.to_string()).unwrap();
    let (code, _, err) = person.run(&["store", "push", &old, "--store", &store]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("store migrate"), "{err}");
    person.well(&["store", "migrate", &old, &lake]);
    same(&person, &store, &lake, &QUESTIONS[4..]);
    // What sources could not show was not in that layout.
    let answer = person.ask(&lake, &["gpt2-small-7f3", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["incidents"][0]["cause"], "node.not_ready");
}

/// The files of a table of a store.
fn parquet(folder: &Path) -> Vec<std::path::PathBuf> {
    let all = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let files = all(folder).into_iter().flat_map(|day| all(&day));
    files
        .filter(|path| path.extension().is_some_and(|of| of == "parquet"))
        .collect()
}

/// A service over a lake answers as one over the store does, each statement in a process that
/// reads the lake by itself.
fn served_alike(person: &Person, store: &str, lake: &str) {
    let [own, shared] = [store, lake].map(|store| {
        let folder = tempfile::tempdir().unwrap();
        let mut env = person.env.clone();
        env.push(("HOME".to_owned(), person.path("")));
        Service::over(store, "", &["--no-fetch"], folder, &env)
    });
    for statement in [
        "SELECT count(*) AS n, min(time) AS first FROM events",
        "SELECT kind, name, node FROM objects ORDER BY kind, name, node, valid_from",
        "SELECT experiment, cause, level FROM incidents ORDER BY experiment, cause",
        "SELECT step, role FROM why('gpt2-small-7f3') ORDER BY step",
    ] {
        let [own, shared] = [&own, &shared].map(|one| one.sql(statement.as_bytes(), &[]));
        assert_eq!(own.status, 200, "{statement}: {}", own.text());
        assert_eq!(own.text(), shared.text(), "{statement}");
    }
    let [own, shared] = [&own, &shared].map(|one| one.get("/api/v1/answers/gpt2-small-7f3", &[]));
    assert_eq!((own.status, own.text()), (200, shared.text()));
}

#[test]
fn a_lake_on_s3_gives_the_bytes_that_its_store_gives() {
    let Some(s3) = S3::start() else {
        whathappened_loopback::skipped("no moto_server");
        return;
    };
    let person = Person::new(&s3.env());
    let store = person.import("store", &[INPUT, LOKI]);
    let lake = "s3://lab/some/folder";
    person.well(&["store", "push", lake, "--store", &store]);
    same(&person, &store, lake, &QUESTIONS);
    person.well(&["store", "compact", "--store", lake]);
    same(&person, &store, lake, &QUESTIONS[..2]);
    served_alike(&person, &store, lake);
    assert!(!Path::new("s3:").exists());
}
