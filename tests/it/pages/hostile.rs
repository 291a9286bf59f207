//! Names and texts that attack a page: they stay text.

use serde_json::{Value, json};

use super::browser::Browser;
use super::{incidents, judge};
use crate::service::Service;

const ATTACKS: [&str; 40] = [
    "<script>window.pwned=1</script>",
    "\"><img src=x onerror=window.pwned=1>",
    "</title></textarea><svg onload=window.pwned=1>",
    "\u{202e}gnorw\u{202c} \u{200b}\u{2066}x",
    "javascript:window.pwned=1",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "'; DROP TABLE incidents; --",
    "&lt;b&gt; &#x3c;script&#x3e;",
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1//",
    "--><img src=x onerror=window.pwned=1>",
    "]]><svg><script>window.pwned=1</script>",
    "\\u003cscript>window.pwned=1</script>",
    "\";window.pwned=1;//",
    "');window.pwned=1;//",
    "`${window.pwned=1}`",
    "__proto__",
    "constructor",
    "toString",
    "{\"__proto__\":{\"pwned\":1}}",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<a href=\"javascript:window.pwned=1\">click</a>",
    "<base href=\"https://evil.example/\">",
    "<meta http-equiv=refresh content=\"0;url=https://evil.example/\">",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{display:none}</style>",
    "\" style=\"position:fixed;inset:0\" x=\"",
    "' onmouseover='window.pwned=1",
    "<math><mtext></mtext><mglyph><style></math><img src onerror=window.pwned=1>",
    "<object data=//evil.example></object>",
    "\u{2028}window.pwned=1\u{2029}",
    "\u{feff}\u{200f}\u{202d}\u{2067}mixed\u{2069}",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m",
    "a\tb\u{b}c\u{c}d\u{7f}e",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "العربية שלום",
    "../../../../etc/passwd",
    "//evil.example/%2e%2e",
    "%3Cscript%3Ewindow.pwned%3D1%3C/script%3E",
    "=cmd|' /C calc'!A0",
];

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

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn hostile_names_are_only_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.json");
    std::fs::write(&file, recording().to_string()).unwrap();
    let service = Service::start(&[file.to_str().unwrap()], "");
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
