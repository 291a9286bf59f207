//! Real entries, served as the API would: they tell the same as in a file.

use std::path::Path;

use serde_json::Value;

use super::server::Cloud;
use super::*;
use crate::connector::Window;
use crate::contract::{Input, Options, yaml_to_json};
use crate::recording::read;

/// The entries of a recorded file.
fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let value = match path.extension().and_then(|end| end.to_str()) {
        Some("yaml") => yaml_to_json(&text).unwrap_or_default(),
        _ => serde_json::from_str(&text).unwrap_or_default(),
    };
    let all = match value {
        Value::Array(all) => all,
        Value::Object(mut one) => match one.remove("entries") {
            Some(Value::Array(all)) => all,
            _ => vec![Value::Object(one)],
        },
        _ => Vec::new(),
    };
    all.into_iter()
        .filter(|one| one["logName"].is_string())
        .collect()
}

#[tokio::test]
async fn recorded_entries_are_found_and_tell_the_same_as_in_a_file() {
    let folder = Path::new("../../shared/recordings/gcp");
    let Ok(files) = std::fs::read_dir(folder) else {
        return whathappened_loopback::skipped("no ../shared");
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let (mut served, mut compared) = (0, 0);
    for path in paths {
        for entry in entries(&path) {
            let name = entry["logName"].as_str().unwrap();
            let live = ["%2Fsystem_event", "%2Factivity", "visibility"];
            if !live.iter().any(|end| name.ends_with(end)) {
                continue;
            }
            let project = name.split('/').nth(1).unwrap().to_owned();
            let Some(time) = entry["timestamp"].as_str().and_then(Stamp::parse) else {
                continue;
            };
            // The same entry alone in a file.
            let copy = tempfile::tempdir().unwrap();
            let file = copy.path().join("entry.json");
            std::fs::write(&file, entry.to_string()).unwrap();
            let mut recorded = Vec::new();
            read(&[Input::Path(file)], &Options::default(), &mut recorded);

            let resource = entry["protoPayload"]["resourceName"]
                .as_str()
                .unwrap_or_default();
            let fake = Cloud {
                entries: vec![entry.clone()],
                ..Cloud::default()
            }
            .start();
            let mut options = options(&fake);
            options.projects = vec![project.clone()];
            let mut fetch_request = about(Vec::new());
            fetch_request.now = time.lo + 3_600 * crate::time::SECOND;
            fetch_request.window = Window {
                from: Some(time.lo - crate::time::SECOND),
                to: Some(time.hi),
            };
            // By the machine's name where it has one, else everything.
            let machine = crate::machine::Machine::gce(resource);
            if let Some(name) = machine.as_ref().and_then(|machine| machine.name.as_ref()) {
                fetch_request.scope.nodes.push(Entity {
                    name: name.clone(),
                    ..Entity::default()
                });
            }
            let (emitted, _) = fetch(&open(options), &fetch_request).await;
            let ids = |all: &[Observation]| -> Vec<_> {
                events(all)
                    .iter()
                    .map(|event| (event.id, event.time))
                    .collect()
            };
            served += 1;
            let is_kubernetes = entry["protoPayload"]["serviceName"] == "k8s.io";
            if !is_kubernetes && !ids(&recorded).is_empty() {
                assert_eq!(
                    ids(&emitted),
                    ids(&recorded),
                    "{} {}",
                    path.display(),
                    fake.requests().len()
                );
                compared += 1;
            }
        }
    }
    println!("{served} recorded entries served, {compared} found and compared");
    assert!(compared >= 30, "{compared} of {served}");
}

#[tokio::test]
async fn recorded_pages_are_read_page_by_page() {
    use super::super::entries::Page;
    let folder = Path::new("../../shared/recordings/gcp");
    let page = |name: &str| {
        let path = folder.join(format!(
            "iapdesktop-ListLogEntriesParser-Read_WhenPage{name}.json"
        ));
        let body = std::fs::read(path).ok()?;
        let fake = Fake::start(move |_| {
            whathappened_loopback::Reply::Text(200, String::from_utf8(body.clone()).unwrap())
        });
        Some(fake)
    };
    for (name, count, more) in [
        ("HasDataAndNextPageToken", 1, true),
        ("IsEmpty", 0, false),
        ("OnlyHasNextPageToken", 0, true),
    ] {
        let Some(fake) = page(name) else {
            return whathappened_loopback::skipped("no ../shared");
        };
        let client = crate::http::Client::new(crate::http::HttpOptions::new(fake.url())).unwrap();
        let answer = client
            .send(&crate::http::Request::get("x"), soon())
            .await
            .unwrap();
        let page = Page::of(&answer).unwrap();
        assert_eq!(
            (page.entries.len(), page.next.is_some()),
            (count, more),
            "{name}"
        );
    }
}
