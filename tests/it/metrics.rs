//! A question that asks a Prometheus, an Alertmanager and a Grafana, played by
//! small servers: what was measured turns a claim, or stands in for a kernel's log.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::play::{Fields, field, play};

/// When the lab's container was killed, in seconds.
const KILLED: i64 = 1_795_274_565;

/// One series with a sample every 15 s up to a time.
fn series(labels: &Value, to: i64, values: &[f64]) -> Value {
    let first = to - 15 * i64::try_from(values.len()).unwrap();
    let sample = |(number, value): (i64, &f64)| json!([first + 15 * number, value.to_string()]);
    let values: Vec<Value> = (1..).zip(values).map(sample).collect();
    json!({ "metric": labels, "values": values })
}

/// The series whose labels fit the names that a selector has.
fn found<'s>(all: &'s [Value], selector: &str) -> Vec<&'s Value> {
    let selector = selector.replace('\\', "");
    let fits = |one: &&Value| {
        let labels = one["metric"].as_object().unwrap();
        let has = |name: &str| {
            labels[name]
                .as_str()
                .is_some_and(|value| selector.contains(value))
        };
        let by = ["pod", "Hostname", "node"];
        let named = by.iter().any(|name| {
            labels.contains_key(*name) && selector.contains(&format!(",{name}=~\"")) && has(name)
        });
        has("__name__") && named
    };
    all.iter().filter(fits).collect()
}

fn prometheus(path: &str, fields: &Fields, all: &[Value]) -> (u16, Value) {
    let data = match path {
        "/api/v1/series" => {
            let wanted = fields.iter().filter(|(name, _)| name == "match[]");
            let all = wanted.flat_map(|(_, selector)| found(all, selector));
            Value::Array(all.map(|one| one["metric"].clone()).collect())
        }
        "/api/v1/query" => {
            json!({ "resultType": "matrix", "result": found(all, field(fields, "query")) })
        }
        _ => return (404, Value::String("404 page not found".to_owned())),
    };
    (200, json!({ "status": "success", "data": data }))
}

struct Lab {
    folder: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
}

impl Lab {
    /// A store with some input, and a Prometheus that has some series.
    fn of(input: &str, all: Vec<Value>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, _) = play(move |path, fields| prometheus(path, fields, &all));
        let lab = Self {
            folder,
            env: vec![("PROMETHEUS_URL", address)],
        };
        let (code, _, err) = lab.run(&["import", input]);
        assert_eq!(code, Some(0), "{err}");
        lab
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let store = self.folder.path().join("store");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(args)
            .arg("--store")
            .arg(store)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .envs(self.env.iter().map(|(name, value)| (*name, value)))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    fn ask(&self, name: &str) -> Value {
        let (code, out, err) = self.run(&[name, "--format", "json"]);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str(&out).unwrap()
    }
}

fn memory(used: &[f64]) -> Vec<Value> {
    let of = |name: &str| {
        json!({ "__name__": name, "namespace": "research", "pod": "musenet-piano-3-0-b92gw",
            "container": "trainer", "resource": "memory" })
    };
    vec![
        series(&of("container_memory_working_set_bytes"), KILLED, used),
        series(
            &of("kube_pod_container_resource_limits"),
            KILLED,
            &[100.0; 4],
        ),
    ]
}

#[test]
fn measured_memory_bears_out_an_oom_claim_or_speaks_against_it() {
    for (used, level) in [
        (&[][..], "supported"),
        (&[60.0, 80.0, 96.0, 98.0], "established"),
        (&[20.0, 20.0, 20.0, 20.0], "hypothesis"),
        (&[70.0, 70.0, 70.0, 70.0], "supported"),
    ] {
        let lab = Lab::of("fixtures/lab-cluster/input", memory(used));
        let answer = lab.ask("musenet-piano-3");
        let main = &answer["incidents"][0];
        assert_eq!(main["cause"], "code.host_oom", "{used:?}");
        assert_eq!(main["level"], level, "{used:?}: {main:#}");
    }
}

/// A job whose only pod failed with a code and said nothing.
fn silent_job() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "vit-9", "namespace": "lab",
        "uid": "6a1d8c7e-0000-4000-8000-000000000001", "creationTimestamp": "2026-03-01T10:00:00Z" },
        "status": { "failed": 1, "conditions": [{ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
            "lastTransitionTime": "2026-03-01T11:00:05Z" }] } });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "vit-9-0-abcde", "namespace": "lab",
        "uid": "6a1d8c7e-0000-4000-8000-000000000002", "creationTimestamp": "2026-03-01T10:00:01Z",
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "vit-9", "controller": true,
            "uid": "6a1d8c7e-0000-4000-8000-000000000001" }] },
        "spec": { "nodeName": "gpu-7", "containers": [{ "name": "main", "image": "x" }] },
        "status": { "phase": "Failed", "startTime": "2026-03-01T10:00:05Z", "containerStatuses": [{ "name": "main",
            "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 1, "reason": "Error",
            "startedAt": "2026-03-01T10:00:10Z", "finishedAt": "2026-03-01T11:00:00Z" } } }] } });
    let mut text = String::new();
    for one in [job, pod] {
        writeln!(text, "{one}").unwrap();
    }
    std::fs::write(file.path(), text).unwrap();
    file
}

/// 2026-03-01T11:00:00Z.
const FAILED: i64 = 1_772_362_800;

fn xid(values: &[f64]) -> Value {
    let labels = json!({ "__name__": "DCGM_FI_DEV_XID_ERRORS", "Hostname": "gpu-7", "gpu": "3", "UUID": "GPU-3",
        "pci_bus_id": "00000000:9B:00.0" });
    series(&labels, FAILED + 60, values)
}

#[test]
fn a_new_xid_in_dcgm_explains_what_no_kernel_log_tells() {
    let job = silent_job();
    let path = job.path().display().to_string();
    let new: Vec<f64> = [0.0; 8].into_iter().chain([79.0; 8]).collect();
    for (values, cause) in [(new, "hw.gpu"), (vec![79.0; 16], "code.exception")] {
        let lab = Lab::of(&path, vec![xid(&values)]);
        let answer = lab.ask("vit-9");
        let main = &answer["incidents"][0];
        assert_eq!(main["cause"], cause, "{main:#}");
        if cause == "hw.gpu" {
            assert_eq!(main["level"], "supported");
            assert!(
                main["summary"].as_str().unwrap().contains("Xid 79"),
                "{main:#}"
            );
        }
    }
}

#[test]
fn an_xid_of_the_kernel_and_of_dcgm_is_one_with_two_witnesses() {
    let job = silent_job();
    let kernel = tempfile::Builder::new().suffix(".log").tempfile().unwrap();
    std::fs::write(
        kernel.path(),
        "2026-03-01T10:59:00.250000+00:00 gpu-7 kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n",
    )
    .unwrap();
    let new: Vec<f64> = [0.0; 8].into_iter().chain([79.0; 8]).collect();
    let lab = Lab::of(&job.path().display().to_string(), vec![xid(&new)]);
    let (code, _, err) = lab.run(&["import", &kernel.path().display().to_string()]);
    assert_eq!(code, Some(0), "{err}");
    let answer = lab.ask("vit-9");
    let main = &answer["incidents"][0];
    assert_eq!(main["cause"], "hw.gpu", "{main:#}");
    let lines = answer["timeline"].as_array().unwrap().iter();
    let of_xid: Vec<&Value> = lines
        .filter(|line| {
            line["text"]
                .as_str()
                .is_some_and(|text| text.contains("Xid"))
        })
        .collect();
    assert_eq!(of_xid.len(), 1, "{of_xid:#?}");
    assert_eq!(
        of_xid[0]["seen_by"],
        json!(["node_log", "prometheus"]),
        "{:#}",
        of_xid[0]
    );
}

#[test]
fn silences_and_notes_stand_on_the_timeline_and_a_dead_source_is_a_row() {
    let job = silent_job();
    let mut lab = Lab::of(&job.path().display().to_string(), Vec::new());
    let (alertmanager, _) = play(|path, _| match path {
        "/api/v2/alerts" => (200, json!([])),
        _ => (
            200,
            json!([{ "id": "1", "status": { "state": "expired" }, "comment": "new cooling", "createdBy": "alice",
                "startsAt": "2026-03-01T10:30:00Z", "endsAt": "2026-03-01T12:00:00Z",
                "matchers": [{ "name": "node", "value": "gpu-7", "isRegex": false, "isEqual": true }] }]),
        ),
    });
    let (grafana, _) = play(|_, _| {
        (
            200,
            json!([{ "id": 1, "time": (FAILED - 600) * 1_000, "timeEnd": 0, "dashboardUID": "x",
                "text": "Deployed gateway 1.41", "tags": ["deploy"], "newState": "", "login": "bob" }]),
        )
    });
    lab.env = vec![
        ("PROMETHEUS_URL", "http://127.0.0.1:9".to_owned()),
        ("ALERTMANAGER_URL", alertmanager),
        ("GRAFANA_URL", grafana),
        ("GRAFANA_TOKEN", "t".to_owned()),
    ];
    let answer = lab.ask("vit-9");
    let text = answer["timeline"].to_string();
    assert!(text.contains("alerts silenced: new cooling"), "{text}");
    assert!(
        text.contains("noted: Deployed gateway 1.41 (by bob)"),
        "{text}"
    );
    let mut rows = answer["coverage"].as_array().unwrap().iter();
    let dead = rows.find(|row| row["source"] == "prometheus" && row["resource"] == "metrics");
    assert_eq!(dead.unwrap()["status"], "failed", "{dead:?}");
    assert_eq!(answer["incidents"][0]["level"], "hypothesis");
}
