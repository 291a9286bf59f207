//! Curves for a picture: of a machine's GPUs together, of its memory, of queues.

use serde_json::{Value, json};

use super::emit::{NOON, emit, series};
use super::server::start;
use super::source::{fetch_request, options, requested};
use crate::event::Event;
use crate::prometheus::Prometheus;

fn gpu(metric: &str, number: u8, values: &[f64]) -> Value {
    let labels = json!({ "__name__": metric, "Hostname": "gpu-1", "gpu": number.to_string(), "UUID": format!("GPU-{number}"),
        "exported_pod": "run-of-another-team", "exported_namespace": "their-namespace" });
    series(&labels, 0, 15, values)
}

fn queue(metric: &str, labels: Value, values: &[f64]) -> Value {
    let mut labels = labels;
    labels["__name__"] = json!(metric);
    series(&labels, 0, 15, values)
}

/// The curves among what is told: what each shows, of whom, its limit and its values.
fn curves(all: &[Event]) -> Vec<(String, String, Option<String>, Vec<f64>)> {
    let own = all.iter().filter(|one| one.fact == "metric.curve");
    own.map(|one| {
        let text = |name: &str| one.attribute(name).map(str::to_owned);
        let raw: Value = serde_json::from_str(&one.raw).unwrap();
        let values = raw["values"].as_array().unwrap().iter();
        let whom = one.entities.node.clone().unwrap_or_default();
        (
            text("curve").unwrap(),
            format!("{whom}/{}", text("of").unwrap_or_default()),
            text("limit"),
            values.map(|value| value[1].as_f64().unwrap()).collect(),
        )
    })
    .collect()
}

#[test]
fn gpus_of_a_machine_are_one_curve() {
    let told = emit(&[
        gpu("DCGM_FI_DEV_GPU_UTIL", 0, &[100.0, 100.0, 0.0]),
        gpu("DCGM_FI_DEV_GPU_UTIL", 1, &[100.0, 50.0, 0.0]),
        gpu("DCGM_FI_DEV_FB_USED", 0, &[10.0, 20.0, 30.0]),
        gpu("DCGM_FI_DEV_FB_USED", 1, &[40.0, 10.0, 10.0]),
        gpu("DCGM_FI_DEV_FB_FREE", 0, &[90.0, 80.0, 70.0]),
        gpu("DCGM_FI_DEV_FB_FREE", 1, &[60.0, 90.0, 90.0]),
    ]);
    let mut found = curves(&told);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        found,
        [
            (
                "gpu_memory".to_owned(),
                "gpu-1/the fullest of 2 GPUs".to_owned(),
                Some("100".to_owned()),
                vec![40.0, 20.0, 30.0]
            ),
            (
                "gpu_utilisation".to_owned(),
                "gpu-1/average of 2 GPUs".to_owned(),
                None,
                vec![100.0, 75.0, 0.0]
            ),
        ]
    );
    // What used which of them is nothing that a curve of the machine tells.
    assert!(
        told.iter()
            .all(|one| !one.raw.contains("their-namespace") && !one.raw.contains("GPU-")),
        "{told:#?}"
    );
    assert!(told.iter().all(|one| one.signals.is_empty()));
}

#[test]
fn memory_is_what_is_used_of_all() {
    let node = |metric: &str, values: &[f64]| {
        let labels = json!({ "__name__": metric, "instance": "gpu-1:9100" });
        series(&labels, 0, 15, values)
    };
    let told = emit(&[
        node("node_memory_MemAvailable_bytes", &[90.0, 50.0, 5.0]),
        node("node_memory_MemTotal_bytes", &[100.0; 3]),
    ]);
    let memory = (
        "memory".to_owned(),
        "gpu-1/".to_owned(),
        Some("100".to_owned()),
        vec![10.0, 50.0, 95.0],
    );
    assert_eq!(curves(&told), [memory]);
}

#[test]
fn a_queue_is_as_long_as_its_parts_together_and_its_replicas_count_once() {
    let told = emit(&[
        queue(
            "scheduler_pending_pods",
            json!({"queue": "active", "instance": "a"}),
            &[1.0, 2.0, 3.0],
        ),
        queue(
            "scheduler_pending_pods",
            json!({"queue": "unschedulable", "instance": "a"}),
            &[4.0, 4.0, 4.0],
        ),
        queue(
            "scheduler_pending_pods",
            json!({"queue": "active", "instance": "b"}),
            &[0.0; 3],
        ),
        queue(
            "kueue_pending_workloads",
            json!({"cluster_queue": "research", "status": "active"}),
            &[2.0, 0.0, 1.0],
        ),
        queue(
            "kueue_pending_workloads",
            json!({"cluster_queue": "idle", "status": "active"}),
            &[0.0; 3],
        ),
        queue("slurm_queue_pending", json!({"cluster": "hpc"}), &[30.0; 3]),
    ]);
    let mut found: Vec<(String, Vec<f64>)> = curves(&told)
        .into_iter()
        .map(|one| (one.1, one.3))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        found,
        [
            ("/Slurm of hpc".to_owned(), vec![30.0; 3]),
            ("/queue research".to_owned(), vec![2.0, 0.0, 1.0]),
            ("/the scheduler".to_owned(), vec![5.0, 6.0, 7.0]),
        ]
    );
    assert!(
        told.iter()
            .all(|one| one.entities.namespace.is_none() && one.entities.pod.is_none())
    );
}

#[test]
fn a_long_curve_keeps_its_end_and_a_short_one_is_none() {
    let many: Vec<f64> = (0..1_000).map(f64::from).collect();
    let told = emit(&[gpu("DCGM_FI_DEV_GPU_UTIL", 0, &many)]);
    let (_, whose, _, values) = curves(&told).remove(0);
    assert_eq!(
        (whose.as_str(), values.len(), values.last()),
        ("gpu-1/", 201, Some(&999.0))
    );
    assert!(emit(&[gpu("DCGM_FI_DEV_GPU_UTIL", 0, &[1.0, 2.0])]).is_empty());
}

#[tokio::test]
async fn queues_are_asked_for_beside_what_died() {
    let at = |step: i64| json!([NOON + 60 * step, "3"]);
    let queue = json!({ "metric": {"__name__": "kueue_pending_workloads", "cluster_queue": "research"}, "values": [at(0), at(1), at(2), at(3)] });
    let node = json!({ "metric": {"__name__": "kube_node_info", "node": "gpu-1", "internal_ip": "10.0.0.5"}, "values": [at(0)] });
    let fake = start(vec![queue, node]);
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &[])).await;
    let found = curves(&events);
    assert_eq!(found.len(), 1, "{events:#?}");
    assert_eq!(
        (found[0].1.as_str(), found[0].3.len()),
        ("/queue research", 4)
    );
    // No verdict rests on them, and no row counts them.
    assert!(
        rows.iter().all(|row| row
            .detail
            .as_deref()
            .is_none_or(|detail| !detail.contains("queue"))),
        "{rows:#?}"
    );
}
