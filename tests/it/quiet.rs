//! Logs that were given and told nothing.

use serde_json::{Value, json};

use crate::whathappened;

#[test]
fn a_log_of_a_healthy_machine_was_read_and_told_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pod = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "train-0", "namespace": "ml", "uid": "u", "creationTimestamp": "2026-11-20T10:00:00Z" },
        "spec": { "nodeName": "gpu-1", "containers": [] }, "status": { "phase": "Failed" } });
    std::fs::write(folder.path().join("pod.json"), pod.to_string()).unwrap();
    let from = folder.path().to_str().unwrap();
    let kernel = || -> Vec<Value> {
        let args = ["train-0", "--from", from, "--format", "json", "--quiet"];
        let (_, out, err) = whathappened(&args);
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        let rows = answer["coverage"].as_array().unwrap().iter();
        rows.filter(|row| row["resource"] == "kernel")
            .cloned()
            .collect()
    };
    let without = kernel();
    assert_eq!(without.len(), 1, "{without:?}");
    assert_eq!(without[0]["status"], "not_configured");
    let lines: Vec<String> = (10..40)
        .map(|second| {
            format!(
                "2026-11-20T10:00:{second}.000000+00:00 gpu-1 CRON[{second}]: (root) CMD (true)\n"
            )
        })
        .collect();
    std::fs::write(folder.path().join("syslog"), lines.concat()).unwrap();
    let with = kernel();
    assert_eq!(with.len(), 1, "{with:?}");
    assert_eq!(with[0]["status"], "complete", "{with:?}");
    assert_eq!(with[0]["rows"], 0);
    let detail = with[0]["detail"].as_str().unwrap();
    assert!(detail.contains("syslog"), "{detail}");
}
