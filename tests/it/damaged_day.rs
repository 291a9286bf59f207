//! An import into a day of which something that was stored cannot be read: it says so, loses nothing and adds no
//! fact twice, whoever imports.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::service::Service;
use crate::whathappened;

const INPUT: &str = "fixtures/gke-host-maintenance/input";

/// What can be wrong with a segment.
const WAYS: [&str; 5] = ["a bit", "cut", "empty", "gone", "a folder"];

/// The largest segment of facts.
fn segment(store: &Path) -> PathBuf {
    let days = std::fs::read_dir(store.join("events")).unwrap().flatten();
    let files = days.flat_map(|day| std::fs::read_dir(day.path()).unwrap().flatten());
    let files = files.map(|file| (file.metadata().unwrap().len(), file.path()));
    files.max().unwrap().1
}

fn damage(store: &Path, way: &str) {
    let path = segment(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    match way {
        "a bit" => std::fs::write(&path, bytes).unwrap(),
        "cut" => std::fs::write(&path, &bytes[..middle]).unwrap(),
        "empty" => std::fs::write(&path, "").unwrap(),
        _ => {
            std::fs::remove_file(&path).unwrap();
            if way == "a folder" {
                std::fs::create_dir(&path).unwrap();
            }
        }
    }
}

/// A line of a machine of the day of the fixture, which the store does not have yet.
fn more(folder: &Path) -> String {
    let path = folder.join("gpu-new-1.log");
    let line =
        "gpu-new-1 kernel: Out of memory: Killed process 4711 (python) total-vm:1kB, anon-rss:1kB";
    std::fs::write(&path, format!("2026-04-09T10:00:00+00:00 {line}\n")).unwrap();
    path.display().to_string()
}

/// How many facts a store has, and how many different ones.
fn facts(store: &str) -> (String, String) {
    let statement = "SELECT count(*) AS n, count(DISTINCT id) AS m FROM events";
    let (code, out, err) = whathappened(&[
        "sql",
        statement,
        "--store",
        store,
        "--no-fetch",
        "--format",
        "csv",
    ]);
    assert_eq!(code, Some(0), "{err}");
    (out, err)
}

fn import(store: &str, paths: &[&str]) -> String {
    let (code, _, err) = whathappened(&[&["import", "--store", store], paths].concat());
    assert_eq!(code, Some(0), "{err}");
    err
}

#[test]
fn an_import_into_a_damaged_day_says_so_and_makes_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let more = more(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let whole = at("whole");
    import(&whole, &[INPUT, &more]);
    let (expected, err) = facts(&whole);
    assert!(!err.contains("damaged"), "{err}");
    for way in WAYS {
        let store = at(way);
        import(&store, &[INPUT]);
        damage(Path::new(&store), way);
        let said = import(&store, &[INPUT, &more]);
        assert!(
            said.contains("is damaged") && said.contains("store repair"),
            "{way}: {said}"
        );
        assert_eq!(facts(&store).0, expected, "{way}");
        // Again, and after what can be read was recovered.
        let said = import(&store, &[&more, INPUT]);
        assert!(said.contains("is damaged"), "{way}: {said}");
        assert_eq!(facts(&store).0, expected, "{way}");
        let (code, _, err) = whathappened(&["store", "repair", "--store", &store]);
        assert_eq!(code, Some(0), "{way}: {err}");
        assert_eq!(facts(&store).0, expected, "{way}");
    }
}

#[test]
fn an_upload_into_a_damaged_day_is_answered_with_a_warning() {
    for way in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let more = more(folder.path());
        let line = std::fs::read(&more).unwrap();
        let store = folder.path().join("store");
        let text = store.display().to_string();
        import(&text, &[INPUT]);
        let upload = |service: &Service, bytes: &[u8]| {
            let kind = ["content-type: application/octet-stream"];
            let said = service.ask("POST", "/api/v1/imports", &kind, bytes);
            assert_eq!(said.status, 200, "{way}: {}", said.text());
            said.json()
        };
        let number = |out: &str| -> (u64, u64) {
            let row = out.lines().nth(1).unwrap().trim_end().to_owned();
            let (all, different) = row.split_once(',').unwrap();
            (all.parse().unwrap(), different.parse().unwrap())
        };
        let before = number(&facts(&text).0).0;
        damage(&store, way);
        let service = Service::over(&text, "", &["--no-fetch"], folder, &[]);
        assert_eq!(upload(&service, &line)["new"], 1, "{way}");
        assert_eq!(upload(&service, &line)["new"], 0, "{way}");
        // What is damaged was part of this.
        let files = std::fs::read_dir(INPUT).unwrap().flatten();
        let files = files.map(|file| std::fs::read(file.path()).unwrap());
        let said: Vec<Value> = files.map(|file| upload(&service, &file)).collect();
        let warned = said.iter().any(|one| {
            let first = one["warnings"][0].as_str();
            first.is_some_and(|warning| warning.contains("is damaged"))
        });
        assert!(warned, "{way}: {said:?}");
        let (all, different) = number(&facts(&text).0);
        assert_eq!((all, different), (before + 1, all), "{way}");
    }
}
