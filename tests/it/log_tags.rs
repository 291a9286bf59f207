//! Runs that nothing but a log store's label or tag names.

use serde_json::{Value, json};

use super::whathappened;

/// 2026-11-24T10:00:00Z in nanoseconds.
const START: i64 = 1_795_514_400_000_000_000;

/// A stream of one label set, a line a second.
fn stream(labels: &Value, lines: &[&str]) -> Value {
    let values: Vec<Value> = (0..)
        .zip(lines)
        .map(|(second, line)| json!([(START + second * 1_000_000_000).to_string(), line]))
        .collect();
    json!({ "stream": labels, "values": values })
}

/// The answer from the files, and the same from a store that they were imported into.
fn ask(name: &str, streams: &[Value]) -> [Value; 2] {
    let folder = tempfile::tempdir().unwrap();
    let answer = json!({"status": "success", "data": {"resultType": "streams", "result": streams}});
    let file = folder.path().join("loki.json");
    std::fs::write(&file, answer.to_string()).unwrap();
    let (file, store) = (file.to_str().unwrap(), folder.path().join("store"));
    let store = store.to_str().unwrap();
    let (code, _, err) = whathappened(&["import", file, "--store", store]);
    assert_eq!(code, Some(0), "{err}");
    [&["--from", file][..], &["--store", store, "--no-fetch"]].map(|place| {
        let (_, out, err) = whathappened(&[&[name, "--format", "json"], place].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
    })
}

const FAILS: [&str; 4] = [
    "step 10 loss=4.1 rank=1",
    "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in <module>\n    main()\nValueError: bad shard",
    "",
    "",
];

#[test]
fn bare_machines_are_one_run_under_the_experiment_that_their_lines_name() {
    let of = |host: &str| json!({ "experiment": "protein-fold-12", "hostname": host, "service_name": "trainer" });
    let answers = ask(
        "protein-fold-12",
        &[
            stream(
                &of("gpu-07"),
                &["step 10 loss=4.1 rank=0", "step 20 loss=3.9 rank=0"],
            ),
            stream(&of("gpu-08"), &FAILS),
            stream(
                &json!({ "experiment": "other", "hostname": "gpu-09", "service_name": "trainer" }),
                &["RuntimeError: CUDA error: an illegal memory access was encountered"],
            ),
        ],
    );
    for reported in answers {
        let main = &reported["incidents"][0];
        assert_eq!(main["cause"], "code.exception", "{main:#}");
        assert_eq!(main["first_victim"]["pod"], "gpu-08");
        assert_eq!(reported["matched_by"], "name of Experiment", "{reported:#}");
    }
}

#[test]
fn pods_of_which_only_logs_are_known_are_found_by_the_experiment_that_these_name() {
    let of = |pod: &str| json!({ "experiment": "protein-fold-12", "namespace": "lab", "pod": pod, "container": "main" });
    let answers = ask(
        "protein-fold-12",
        &[
            stream(&of("trainer-0"), &["step 10 loss=4.1 rank=0"]),
            stream(&of("trainer-1"), &FAILS),
        ],
    );
    for reported in answers {
        let main = &reported["incidents"][0];
        assert_eq!(main["cause"], "code.exception", "{main:#}");
        assert_eq!(main["first_victim"]["pod"], "trainer-1");
    }
}
