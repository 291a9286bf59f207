//! `accuracy`: cases are judged as they say, and false blame fails the run.

use std::path::Path;

use super::whathappened;

const POD: &str = r#"{"kind":"Pod","metadata":{"name":"run-0","namespace":"lab","uid":"6f1f2f6e-3a51-4f0e-8a53-0d7f7f1a4b10","creationTimestamp":"2026-02-03T10:00:00Z"},"spec":{"nodeName":"n1","containers":[{"name":"main","image":"x"}]},"status":{"phase":"Failed","containerStatuses":[{"name":"main","restartCount":0,"state":{"terminated":{"exitCode":137,"reason":"OOMKilled","startedAt":"2026-02-03T10:00:05Z","finishedAt":"2026-02-03T10:10:00Z"}}}]}}"#;

fn case(folder: &Path, name: &str, expect: &str, input: &str) {
    let folder = folder.join(name);
    std::fs::create_dir_all(folder.join("input")).unwrap();
    std::fs::write(folder.join("expect.json"), expect).unwrap();
    std::fs::write(folder.join("input/pods.json"), input).unwrap();
}

fn expect(cause: &str, must_not: &str) -> String {
    format!(
        r#"{{"object":"pod/run-0","level":"pod","cause":["{cause}"],"must_not":["{must_not}"]}}"#
    )
}

fn judge(folder: &Path) -> (Option<i32>, serde_json::Value) {
    let (code, out, errors) = whathappened(&[
        "accuracy",
        folder.to_str().unwrap(),
        "/nowhere",
        "--format",
        "json",
    ]);
    (
        code,
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{errors}")),
    )
}

#[test]
fn right_answers_pass() {
    let folder = tempfile::tempdir().unwrap();
    case(
        folder.path(),
        "oom",
        &expect("code.host_oom", "ops.manual_delete"),
        POD,
    );
    // Nothing of Kubernetes is in it, so no answer is owed.
    case(
        folder.path(),
        "bare",
        &expect("hw.gpu", "code.host_oom"),
        "{\"eventName\":\"x\"}",
    );
    let (code, report) = judge(folder.path());
    assert_eq!(code, Some(0), "{report:#}");
    let verdicts: Vec<&str> = ["0", "1"]
        .iter()
        .filter_map(|at| report.pointer(&format!("/cases/{at}/verdict"))?.as_str())
        .collect();
    assert_eq!(verdicts, ["unknown", "right"]);
    assert_eq!(
        report["cases"][1]["baselines"]["container's exit"],
        "code.host_oom"
    );
    assert_eq!(report["skipped"][0], "no /nowhere");
}

#[test]
fn wrong_answers_that_are_owed_and_false_blame_fail() {
    for (cause, must_not, verdict) in [
        ("hw.gpu", "hw.nic", "wrong"),
        ("hw.gpu", "code.host_oom", "FALSE BLAME"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        case(folder.path(), "oom", &expect(cause, must_not), POD);
        let (code, report) = judge(folder.path());
        assert_eq!(code, Some(4), "{report:#}");
        assert_eq!(report["cases"][0]["verdict"], verdict);
    }
}

#[test]
fn a_healthy_cluster_is_blamed_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = r#"{"object":"ns/lab","level":"cluster","cause":["none.running"]}"#;
    case(
        folder.path(),
        "well",
        cluster,
        &POD.replace("OOMKilled", "Completed")
            .replace("137", "0")
            .replace("Failed", "Succeeded"),
    );
    case(folder.path(), "ill", cluster, POD);
    let (code, report) = judge(folder.path());
    assert_eq!(code, Some(4));
    assert_eq!(
        (
            &report["cases"][0]["verdict"],
            &report["cases"][1]["verdict"]
        ),
        (&"FALSE BLAME".into(), &"right".into())
    );
}

#[test]
fn the_bundled_recording_is_right_in_all_it_holds() {
    let bundled = Path::new("fixtures/lab-cluster");
    let (code, report) = judge(bundled);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["cases"].as_array().map(Vec::len), Some(8));
}

/// What is right needs no row of its own: the counts say it.
#[test]
fn only_wrong_answers_are_listed() {
    let (code, out, err) = whathappened(&["accuracy", "fixtures/lab-cluster"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        !out.contains("verdict") && out.contains("scored by"),
        "{out}"
    );
    let folder = tempfile::tempdir().unwrap();
    case(folder.path(), "oom", &expect("hw.gpu", "hw.nic"), POD);
    let (_, out, _) = whathappened(&["accuracy", folder.path().to_str().unwrap()]);
    assert!(
        out.contains("code.host_oom") && out.contains("wrong"),
        "{out}"
    );
    assert!(!out.contains("remark"), "{out}");
}
