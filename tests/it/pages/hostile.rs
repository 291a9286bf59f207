//! Names and texts that attack a page: they stay text.

use serde_json::{Value, json};

use super::attacks::ATTACKS;
use super::browser::Browser;
use super::{incidents, judge};
use crate::service::Service;

/// A word of a million letters.
fn long_word() -> String {
    "w".repeat(1_000_000)
}

/// A job that failed, with attacks in every text that somebody can choose.
fn recording() -> Value {
    let all = ATTACKS.join(" ");
    let mut items = Vec::new();
    for (number, attack) in ATTACKS.iter().enumerate() {
        let (job, pod) = (format!("train-{number}"), format!("train-{number}-0"));
        let uid = |name: &str| format!("{name}-uid");
        let meta = |name: &str| {
            json!({"name": name, "namespace": "ml", "uid": uid(name), "resourceVersion": "100",
                "creationTimestamp": "2026-11-20T10:00:00Z", "annotations": {"owner": attack, "note": all},
                "labels": {"experiment": attack, "job-name": job}})
        };
        let mut of_pod = meta(&pod);
        of_pod["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid(&job), "controller": true}]);
        items.push(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(&job), "spec": {"parallelism": 1},
            "status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True", "reason": attack, "message": all,
                "lastTransitionTime": "2026-11-20T10:31:00Z"}]}}));
        items.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": of_pod,
            "spec": {"nodeName": format!("node-{attack}"), "restartPolicy": "Never",
                "containers": [{"name": attack, "image": attack, "command": [attack]}]},
            "status": {"phase": "Failed", "startTime": "2026-11-20T10:00:05Z", "containerStatuses": [{"name": attack,
                "state": {"terminated": {"exitCode": 1, "reason": attack, "message": format!("Traceback (most recent call last):\n  File \"{attack}\"\nRuntimeError: {all}"),
                "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:30:30Z"}}}]}}));
        items.push(json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": attack, "message": all,
            "metadata": meta(&format!("{pod}.1")), "source": {"component": attack, "host": attack}, "count": 1,
            "involvedObject": {"kind": "Pod", "namespace": "ml", "name": pod, "uid": uid(&pod)},
            "firstTimestamp": "2026-11-20T10:30:00Z", "lastTimestamp": "2026-11-20T10:30:00Z"}));
    }
    items.push(json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "Failed", "message": long_word(),
        "metadata": {"name": "train-0-0.2", "namespace": "ml", "uid": "long-uid", "resourceVersion": "101"},
        "source": {"component": "kubelet"}, "count": 1,
        "involvedObject": {"kind": "Pod", "namespace": "ml", "name": "train-0-0", "uid": "train-0-0-uid"},
        "firstTimestamp": "2026-11-20T10:29:00Z", "lastTimestamp": "2026-11-20T10:29:00Z"}));
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// What the processes of these jobs wrote: an attack a line, and in what they died of.
fn logs(folder: &std::path::Path) {
    for (number, attack) in ATTACKS.iter().enumerate() {
        let own = format!("cluster-resources/pods/logs/ml/train-{number}-0");
        let own = folder.join(own);
        std::fs::create_dir_all(&own).unwrap();
        let line =
            |second: usize, text: &str| format!("2026-11-20T10:30:{second:02}.000000000Z {text}\n");
        // A line is a line, whatever stands in it.
        let one = |text: &str| text.replace(['\n', '\r'], " ");
        let mut text = String::new();
        for (at, other) in ATTACKS.iter().enumerate() {
            text += &line(at / 2, &format!("ERROR: {}", one(other)));
        }
        text += &line(25, "Traceback (most recent call last):");
        text += &line(
            25,
            &format!("  File \"/srv/{}.py\", line 7, in <module>", one(attack)),
        );
        text += &line(25, &format!("RuntimeError: {}", one(attack)));
        std::fs::write(own.join("trainer.log"), text).unwrap();
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn hostile_names_are_only_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.json");
    std::fs::write(&file, recording().to_string()).unwrap();
    logs(folder.path());
    let service = Service::start(&[folder.path().to_str().unwrap()], "");
    // The lines arrived: they are on the pages that are opened below.
    let told = service.sql(
        b"SELECT count(*) AS n FROM events WHERE message LIKE '%window.pwned%' AND source_kind = 'container_log'",
        &[],
    );
    assert!(
        told.json()[0]["n"].as_u64().unwrap() > 20,
        "{}",
        told.text()
    );
    let base = service.base();
    let mut paths: Vec<String> = ["/", "/fleet?since=7d"].map(str::to_owned).to_vec();
    let all = incidents(&service, &[]);
    assert!(!all.is_empty());
    paths.extend(
        all.iter()
            .map(|one| format!("/i/{}", one["incident"]["id"].as_str().unwrap())),
    );
    for attack in ATTACKS {
        paths.push(format!("/x/{}", encoded("train-0")));
        paths.push(format!(
            "/sql?q={}",
            encoded(&format!(
                "SELECT '{}' AS \"{}\"",
                attack.replace('\'', "''"),
                attack.replace('"', "")
            ))
        ));
        paths.push(format!("/login?next={}", encoded(attack)));
    }
    paths.push(format!("/sql?q={}", encoded("SELECT * FROM events")));
    paths.push(format!("/sql?q={}", encoded("SELECT * FROM objects")));
    for attack in ATTACKS {
        let told = service.get(&format!("/suggest?q={}", encoded(attack)), &[]);
        assert!(
            told.head.contains("content-type: application/json"),
            "{}",
            told.head
        );
    }
    paths.sort();
    paths.dedup();
    // As it is sent, whatever a browser makes of it.
    let missing: Vec<String> = ATTACKS
        .iter()
        .flat_map(|attack| {
            [
                format!("/x/{}", encoded(attack)),
                format!("/node/{}", encoded(attack)),
                format!("/i/{}", encoded(attack)),
            ]
        })
        .collect();
    for path in paths.iter().chain(&missing) {
        let text = service.get(path, &[]).text();
        for raw in [
            "<script>window",
            "<img src",
            "<svg onload",
            "href=\"javascript:",
            "\u{202e}",
            "\u{200b}",
        ] {
            let own = path.starts_with("/sql") && !raw.starts_with('<');
            assert!(own || !text.contains(raw), "{path}: {raw}");
        }
    }
    let Some(mut browser) = Browser::start() else {
        return;
    };
    for path in &paths {
        let opened = browser.open(&format!("{base}{path}"));
        judge(&opened, &base, path);
        assert_eq!(browser.eval("typeof window.pwned"), "undefined", "{path}");
        let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(
            wide.as_i64().unwrap() <= 0,
            "{path} is {wide} pixels too wide"
        );
        // Every record of the picture can be pointed at and shown, whatever it says.
        browser.eval(
            "(async () => { const stage = document.getElementById('canvas'); if (!stage) return; stage.focus(); \
             for (let at = 0; at < 6; at += 1) for (const key of ['n', 'Enter']) { stage.focus(); \
             stage.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); } })()",
        );
        assert_eq!(browser.eval("typeof window.pwned"), "undefined", "{path}");
    }
    judge(&browser.seen(), &base, "the last page");
    for path in &missing {
        browser.open(&format!("{base}{path}"));
        assert_eq!(browser.eval("typeof window.pwned"), "undefined", "{path}");
    }
}

/// Elements of the page as the browser has it, one after the other: what the script makes of its data as well.
const ELEMENTS: &str = "(async () => { for (const details of document.querySelectorAll('details')) details.open = true; \
    const numbers = [...Records.numbers.keys()]; const shown = []; \
    for (const row of numbers) { Records.pick({ row, text: '', at: 0, to: 0, count: 1, lane: '' }, false); \
    shown.push([...document.querySelectorAll('#picked *')].map((one) => one.localName).join(' ')); } \
    return [...document.querySelectorAll('*')].map((one) => one.localName).join(' ') + ' | ' + shown.join(' | '); })()";

/// A job that failed, with a text where names and words are free.
fn recording_of(text: &str) -> Value {
    let meta = |name: &str| {
        json!({"name": name, "namespace": "ml", "uid": format!("{name}-uid"), "resourceVersion": "100",
            "creationTimestamp": "2026-11-20T10:00:00Z", "annotations": {"note": text}, "labels": {"job-name": "train", "team": text}})
    };
    let mut pod = meta("train-0");
    pod["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "train-uid", "controller": true}]);
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("train"), "spec": {"parallelism": 1},
            "status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                "message": format!("said {text}"), "lastTransitionTime": "2026-11-20T10:31:00Z"}]}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": pod,
            "spec": {"nodeName": "node-1", "restartPolicy": "Never", "containers": [{"name": "main", "image": text, "command": [text]}]},
            "status": {"phase": "Failed", "startTime": "2026-11-20T10:00:05Z", "containerStatuses": [{"name": "main",
                "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": format!("said {text}"),
                "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:30:30Z"}}}]}},
        {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "BackOff", "message": format!("said {text}"),
            "metadata": meta("train-0.1"), "source": {"component": "kubelet", "host": "node-1"}, "count": 1,
            "involvedObject": {"kind": "Pod", "namespace": "ml", "name": "train-0", "uid": "train-0-uid"},
            "firstTimestamp": "2026-11-20T10:30:00Z", "lastTimestamp": "2026-11-20T10:30:00Z"},
    ]})
}

#[test]
fn the_file_of_a_hostile_recording_has_the_elements_of_a_harmless_one() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut elements = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("input");
        let logs = input.join("cluster-resources/pods/logs/ml/train-0");
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(input.join("objects.json"), recording_of(text).to_string()).unwrap();
        let line = |text: &str| format!("2026-11-20T10:30:20.000000000Z {text}\n");
        let one = text.replace(['\n', '\r'], " ");
        let log = line("Traceback (most recent call last):")
            + &line("  File \"/srv/train.py\", line 7, in <module>")
            + &line(&format!("RuntimeError: said {one}"));
        std::fs::write(logs.join("main.log"), log).unwrap();
        let page = folder.path().join("page.html");
        let (input, page) = (input.to_str().unwrap(), page.to_str().unwrap());
        let args = [
            "train", "--from", input, "-q", "--format", "html", "-o", page,
        ];
        let (code, _, err) = crate::whathappened(&args);
        assert_eq!(code, Some(0), "{text:?}: {err}");
        let base = format!("file://{page}");
        judge(&browser.open(&base), &base, text);
        assert_eq!(browser.eval("typeof window.pwned"), "undefined", "{text:?}");
        let drawn = browser.eval(ELEMENTS);
        judge(&browser.seen(), &base, text);
        drawn.as_str().unwrap().to_owned()
    };
    let wanted = elements("nothing but a few harmless words");
    assert!(wanted.matches(" pre").count() > 3, "{wanted}");
    for attack in ATTACKS {
        assert_eq!(elements(attack), wanted, "{attack:?}");
    }
}

#[test]
fn a_word_of_a_megabyte_does_not_fill_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let word = "a".repeat(1_000_000);
    let mut recording = recording_of(&word);
    recording["items"][1]["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] =
        json!(word);
    recording["items"][2]["source"]["component"] = json!(word);
    std::fs::write(folder.path().join("objects.json"), recording.to_string()).unwrap();
    let input = folder.path().to_str().unwrap();
    for more in [&[][..], &["--explain"], &["--format", "md"]] {
        let args = [&["train", "--from", input, "-q", "--width", "80"], more].concat();
        let (code, out, err) = crate::whathappened(&args);
        assert_eq!(code, Some(0), "{err}");
        assert!(out.len() < 40_000, "{more:?}: {} bytes", out.len());
    }
}
