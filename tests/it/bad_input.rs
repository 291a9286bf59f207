//! Bad input is counted and explained; the rest is used.

use std::io::Write as _;

use crate::whathappened;

/// A pod that ended by itself, as `kubectl get -o json` prints it, on one line.
fn pod(name: &str, finished: &str) -> String {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": "2026-03-01T10:00:00Z"},
        "spec": {"nodeName": "n1", "restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated":
            {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-03-01T10:00:05Z", "finishedAt": finished}}}]},
    })
    .to_string()
}

/// Asks for `pod/good` over the given files.
fn ask(files: &[(&str, Vec<u8>)]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let (code, out, err) = whathappened(&["pod/good", "--from", folder.path().to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("code.host_oom"), "{out}");
    (out, err)
}

fn good() -> (&'static str, Vec<u8>) {
    (
        "good.json",
        pod("good", "2026-03-01T10:20:00Z").into_bytes(),
    )
}

#[test]
fn a_truncated_file_is_used_as_far_as_it_goes_and_lowers_the_verdict() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for number in 0..2_000 {
        writeln!(
            packed,
            "{}",
            pod(&format!("p{number}"), "2026-03-01T10:20:00Z")
        )
        .unwrap();
    }
    let mut packed = packed.finish().unwrap();
    packed.truncate(packed.len() / 2);
    let (out, err) = ask(&[good(), ("cut.gz", packed)]);
    assert!(
        err.contains("incomplete: ") && err.contains("cut.gz"),
        "{err}"
    );
    assert!(out.contains("truncated"), "{out}");
}

#[test]
fn wrong_types_clocks_and_encodings_cost_only_themselves() {
    let mut latin = b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"caf\xe9\"},\"status\":{}}\n".to_vec();
    latin.extend_from_slice(b"\xff\xfe\xfd\x00garbage\n");
    let wrong = [
        r#"{"kind":"Pod","metadata":{"name":17,"labels":[1,2]},"status":"no"}"#,
        r#"{"kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"good","namespace":"lab"},"count":"many","reason":5}"#,
        r#"{"kind":"Node","metadata":{"name":"n9"},"status":{"conditions":{"type":"Ready"}}}"#,
        r#"{"kind":"Pod""#,
        "[]",
        "null",
    ];
    let clocks = [
        pod("early", "1970-01-01T00:00:00Z"),
        pod("late", "2099-12-31T23:59:59Z"),
    ];
    let (_, err) = ask(&[
        good(),
        ("latin.json", latin),
        ("wrong.ndjson", wrong.join("\n").into_bytes()),
        ("clocks.ndjson", clocks.join("\n").into_bytes()),
    ]);
    assert!(err.contains("wrong.ndjson:1"), "{err}");
    assert!(err.contains("metadata.name"), "{err}");
}

#[test]
fn a_hundred_thousand_copies_are_one_fact() {
    let line = pod("good", "2026-03-01T10:20:00Z") + "\n";
    let (out, err) = ask(&[("copies.ndjson", line.repeat(100_000).into_bytes())]);
    assert!(err.contains("Read 100000 records"), "{err}");
    assert!(out.contains("run 1 of 1"), "{out}");
}

#[test]
fn an_endless_line_is_refused_and_what_follows_is_read() {
    let mut bytes = vec![b'x'; 40 << 20];
    bytes.push(b'\n');
    bytes.extend(pod("good", "2026-03-01T10:20:00Z").bytes());
    let (_, err) = ask(&[("endless.ndjson", bytes), good()]);
    assert!(err.contains("endless.ndjson"), "{err}");
}

#[test]
fn nothing_at_all_is_not_taken_for_an_unknown_name() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none.log");
    std::fs::write(&none, "").unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for path in [&none, &empty] {
        let path = path.to_str().unwrap();
        let (code, _, err) = whathappened(&["pod/good", "--from", path]);
        assert_eq!(code, Some(2), "{err}");
        assert!(
            err.contains(&format!("nothing could be read: {path} is empty")),
            "{err}"
        );
    }
}

/// Nothing known is no answer that nothing happened.
#[test]
fn records_of_unknown_kinds_alone_are_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("foreign.json");
    std::fs::write(&file, "{\"foo\":1}\n").unwrap();
    std::fs::write(folder.path().join("empty.txt"), "").unwrap();
    for path in [file.as_path(), folder.path()] {
        let (code, out, err) = whathappened(&["*", "--from", path.to_str().unwrap()]);
        assert_eq!(code, Some(2), "{out}{err}");
        let why = "foreign.json: 1 record of an unknown kind";
        assert!(err.contains("nothing could be used: "), "{err}");
        assert!(err.contains(why), "{err}");
        assert!(err.contains("hint: "), "{err}");
    }
    // What is beside them is an answer.
    let pods = folder.path().join("pods.json");
    std::fs::write(
        &pods,
        "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[]}",
    )
    .unwrap();
    let (code, out, err) = whathappened(&["*", "--from", folder.path().to_str().unwrap()]);
    assert_eq!(code, Some(0), "{out}{err}");
}

/// What a file of which nothing is left held nobody knows: it may have been what would have overturned the verdict.
#[test]
fn a_file_cut_off_before_its_first_record_lowers_the_verdict() {
    let of = |name: &str| std::fs::read(format!("fixtures/aks-host-fault/input/{name}")).unwrap();
    let objects = || ("objects.jsonl", of("objects.jsonl"));
    let folder = tempfile::tempdir().unwrap();
    let level = |files: &[(&str, Vec<u8>)]| {
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let from = folder.path().to_str().unwrap();
        let (_, out, err) = whathappened(&["vit-l-5", "--from", from, "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_str(&out).expect(&err);
        let told = &answer["incidents"][0];
        format!("{} {}", told["cause"], told["level"]).replace('"', "")
    };
    assert_eq!(level(&[objects()]), "node.not_ready established");
    let activity = of("activity-log.json");
    let cut = ("activity-log.json", activity[..700].to_vec());
    assert_eq!(level(&[objects(), cut]), "node.not_ready supported");
    let whole = ("activity-log.json", activity);
    assert_eq!(level(&[objects(), whole]), "cloud.host_error supported");
}

/// A list shows how a pod stood when it was printed; what somebody asked for later stood in the audit log.
#[test]
fn a_run_is_not_known_to_run_where_the_audit_log_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let object = |kind: &str, name: &str, more: serde_json::Value| {
        let mut object = serde_json::json!({
            "apiVersion": "v1", "kind": kind,
            "metadata": { "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": "2026-11-24T09:00:00Z" },
        });
        let fields = object.as_object_mut().unwrap();
        fields.extend(more.as_object().cloned().unwrap_or_default());
        object.to_string()
    };
    let spec = serde_json::json!({ "nodeName": "g1", "containers": [{ "name": "main" }] });
    let ready = serde_json::json!([{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-24T09:00:03Z" }]);
    let state = serde_json::json!({ "running": { "startedAt": "2026-11-24T09:00:02Z" } });
    let containers =
        serde_json::json!([{ "name": "main", "ready": true, "restartCount": 0, "state": state }]);
    let status = serde_json::json!({ "phase": "Running", "startTime": "2026-11-24T09:00:01Z",
        "conditions": ready, "containerStatuses": containers });
    let pod = object(
        "Pod",
        "solo",
        serde_json::json!({ "spec": spec, "status": status }),
    );
    std::fs::write(folder.path().join("pods.json"), pod).unwrap();
    let record = crate::deletions::record(
        "get",
        "alice",
        "2026-11-24T09:00:02.500000Z",
        &serde_json::json!({ "resource": "pods", "namespace": "ml", "name": "solo" }),
        "/api/v1/namespaces/ml/pods/solo",
        &serde_json::json!({}),
    );
    for (cut, level) in [(0, "established"), (40, "supported")] {
        let log = format!("{record}\n{record}");
        let log = &log[..log.len() - cut];
        std::fs::write(folder.path().join("audit.log"), log).unwrap();
        let from = folder.path().to_str().unwrap();
        let (_, out, err) = whathappened(&["pod/ml/solo", "--from", from, "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_str(&out).expect(&err);
        let told = &answer["incidents"][0];
        assert_eq!(told["cause"], "none.running", "{answer:#}");
        assert_eq!(told["level"], level, "{answer:#}");
    }
}
