//! What series tell, and what they must not.

use serde_json::{Value, json};

use crate::event::{Event, Origin};
use crate::observation::Observation;
use crate::prometheus::Names;
use crate::prometheus::emit::{DeathTimes, Emitter};
use crate::prometheus::wire::{self, Series};
use crate::time::{Nanos, SECOND};

/// Noon of a day, in seconds.
pub(super) const NOON: i64 = 1_790_000_000;

/// A series of labels and values, one each step of seconds from a second of the day on.
pub(super) fn series(labels: &Value, from: i64, step: i64, values: &[f64]) -> Value {
    let at = |number: usize| NOON + from + step * i64::try_from(number).unwrap();
    let values: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(number, value)| json!([at(number), value.to_string()]))
        .collect();
    json!({ "metric": labels, "values": values })
}

fn read(all: &[Value]) -> Vec<Series> {
    wire::of_data("matrix", &json!(all).to_string()).unwrap()
}

fn events_with(all: &[Value], moments: &DeathTimes) -> Vec<Event> {
    let names = Names::of(["gpu-1".to_owned(), "gpu-2".to_owned()]);
    let emitter = Emitter {
        names: &names,
        moments,
        origin: Origin::default(),
        observed: None,
        from: Some(NOON * SECOND),
    };
    let emitted = emitter.emit(&read(all)).into_iter();
    emitted
        .map(|one| match one {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect()
}

pub(super) fn emit(all: &[Value]) -> Vec<Event> {
    let unknown = true;
    events_with(
        all,
        &DeathTimes {
            unknown,
            ..DeathTimes::default()
        },
    )
}

fn second(at: Nanos) -> i64 {
    at.div_euclid(SECOND) - NOON
}

fn gpu(metric: &str, number: &str) -> Value {
    json!({ "__name__": metric, "Hostname": "gpu-1", "gpu": number, "UUID": format!("GPU-{number}"),
            "pci_bus_id": "00000000:18:00.0" })
}

#[test]
fn only_a_change_of_the_last_xid_is_a_fact() {
    let xid = "DCGM_FI_DEV_XID_ERRORS";
    let old = series(&gpu(xid, "0"), 0, 15, &[43.0, 43.0, 43.0]);
    let new = series(&gpu(xid, "1"), 0, 15, &[0.0, 0.0, 79.0, 79.0]);
    let emitted = emit(&[old, new]);
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    let event = &emitted[0];
    assert_eq!(
        (event.fact.as_str(), event.gpu),
        ("metric.gpu.xid", Some(1))
    );
    assert_eq!(event.attribute("xid"), Some("79"));
    assert_eq!(event.attribute("gpu_pci"), Some("0000:18:00"));
    assert_eq!(event.entities.node.as_deref(), Some("gpu-1"));
    // The exporter may be 30 s behind the GPU, and a scrape takes a moment.
    assert_eq!(
        (second(event.time.lo), second(event.time.hi)),
        (15 - 30, 31)
    );
}

#[test]
fn newer_exporters_put_the_number_into_labels() {
    let of = |code: &str, from, values: &[f64]| {
        let mut labels = gpu("DCGM_FI_DEV_XID_ERRORS", "0");
        labels["err_code"] = json!(code);
        series(&labels, from, 15, values)
    };
    let emitted = emit(&[
        of("0", 0, &[0.0, 0.0]),
        of("48", 30, &[48.0]),
        of("45", 45, &[45.0, 45.0]),
    ]);
    let emitted: Vec<(&str, Option<&str>)> = emitted
        .iter()
        .map(|one| (one.attribute("xid").unwrap(), one.attribute("follows_xid")))
        .collect();
    assert_eq!(emitted, [("48", None), ("45", Some("48"))]);
    // A series that is new with an old number says nothing.
    assert!(emit(&[of("79", 30, &[79.0, 79.0])]).is_empty());
}

#[test]
fn counters_of_gpus_that_rise_are_told_and_blanks_are_not() {
    let dbe = series(
        &gpu("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "0"),
        0,
        15,
        &[0.0, 0.0, 2.0],
    );
    let blank = series(
        &gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0"),
        0,
        15,
        &[0.0, 9_223_372_036_854_775_794.0],
    );
    let emitted = emit(&[dbe, blank]);
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    assert_eq!(emitted[0].attribute("counter"), Some("ecc_dbe"));
    assert_eq!(emitted[0].attribute("rise"), Some("2"));
}

#[test]
fn a_gpu_whose_samples_end_before_those_of_others_is_gone() {
    let xid = "DCGM_FI_DEV_XID_ERRORS";
    let gone = series(&gpu(xid, "0"), 0, 15, &[0.0; 4]);
    let here = series(&gpu(xid, "1"), 0, 15, &[0.0; 20]);
    let emitted = emit(&[gone, here.clone()]);
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    assert_eq!(
        (emitted[0].fact.as_str(), second(emitted[0].time.lo)),
        ("metric.gpu.gone", 45)
    );
    // The whole exporter stopped: that is no GPU.
    assert!(emit(&[here]).is_empty());
}

#[test]
fn a_boot_is_one_that_came_after_the_scrape_before() {
    let of = |values: &[f64]| {
        let labels = json!({ "__name__": "node_boot_time_seconds", "instance": "gpu-1:9100" });
        emit(&[series(&labels, 0, 60, values)])
    };
    let noon = f64::from(1_790_000_000);
    let emitted = of(&[noon - 9e5, noon - 9e5, noon + 90.0]);
    assert_eq!(emitted.len(), 1);
    assert_eq!(emitted[0].fact, "metric.node.boot");
    assert_eq!(
        (second(emitted[0].time.lo), second(emitted[0].time.hi)),
        (88, 93)
    );
    // The clock was set, or wanders.
    assert!(of(&[noon - 9e5, noon - 8e5]).is_empty());
    assert!(of(&[noon - 9e5, noon - 9e5 + 1.0]).is_empty());
}

#[test]
fn what_kube_state_metrics_saw_change_of_a_node_is_told_between_two_scrapes() {
    let ready = |status: &str, values: &[f64]| {
        let labels = json!({ "__name__": "kube_node_status_condition", "condition": "Ready",
            "status": status, "exported_node": "gpu-2", "node": "gpu-1" });
        series(&labels, 0, 30, values)
    };
    let of = |name: &str, more: &Value, from, values: &[f64]| {
        let mut labels = json!({ "__name__": name, "node": "gpu-2" });
        labels
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        series(&labels, from, 30, values)
    };
    let taint = json!({ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" });
    let emitted = emit(&[
        ready("true", &[1.0, 1.0, 0.0]),
        ready("false", &[0.0, 0.0, 0.0]),
        ready("unknown", &[0.0, 0.0, 1.0]),
        of(
            "kube_node_spec_unschedulable",
            &json!({}),
            0,
            &[0.0, 1.0, 1.0],
        ),
        of("kube_node_spec_taint", &taint, 60, &[1.0]),
        of(
            "kube_node_spec_taint",
            &json!({ "key": "always", "effect": "NoSchedule" }),
            0,
            &[1.0; 3],
        ),
    ]);
    let emitted: Vec<(&str, i64, i64)> = emitted
        .iter()
        .map(|one| (one.fact.as_str(), second(one.time.lo), second(one.time.hi)))
        .collect();
    assert_eq!(emitted.len(), 3, "{emitted:?}");
    assert!(emitted.contains(&("k8s.node.cordoned", 0, 31)));
    assert!(emitted.contains(&("k8s.node.condition", 30, 61)));
    assert!(emitted.contains(&("k8s.node.taint", 30, 61)));
}

fn container(metric: &str, from: i64, values: &[f64]) -> Value {
    let labels = json!({ "__name__": metric, "namespace": "lab", "pod": "run-0", "container": "main",
        "resource": "memory" });
    series(&labels, from, 15, values)
}

/// The level of the memory of a container that died two minutes after noon.
fn memory(used: &[f64], mark: Option<f64>) -> Option<String> {
    let mut all = vec![
        container("container_memory_working_set_bytes", 0, used),
        container("kube_pod_container_resource_limits", 0, &[100.0]),
    ];
    all.extend(mark.map(|mark| container("container_memory_max_usage_bytes", 0, &[mark])));
    let mut moments = DeathTimes::default();
    let key = ("lab".to_owned(), "run-0".to_owned());
    moments.pods.insert(key, vec![(NOON + 120) * SECOND]);
    let emitted = events_with(&all, &moments);
    assert!(emitted.len() < 2, "{emitted:#?}");
    emitted.first()?.attribute("level").map(str::to_owned)
}

#[test]
fn memory_near_its_limit_speaks_for_an_oom_and_far_from_it_against() {
    let level = |used: &[f64], mark| memory(used, mark).unwrap();
    assert_eq!(
        level(&[40.0, 60.0, 97.0, 20.0, 20.0, 20.0, 20.0, 20.0], None),
        "near"
    );
    assert_eq!(level(&[40.0; 8], None), "far");
    assert_eq!(level(&[70.0; 8], None), "between");
    // The high-water mark says that there was more between two samples.
    assert_eq!(level(&[40.0; 8], Some(99.0)), "between");
    // The last sample is too old to say anything against anybody.
    assert_eq!(level(&[40.0; 2], None), "between");
    assert_eq!(memory(&[], None), None);
}

#[test]
fn a_container_is_short_of_processors_where_it_is_held_back_for_minutes() {
    let counter = |each: f64| {
        (0..40)
            .map(|sample| f64::from(sample) * each)
            .collect::<Vec<_>>()
    };
    let told = |throttled: &[f64]| {
        emit(&[
            container("container_cpu_cfs_periods_total", 0, &counter(150.0)),
            container("container_cpu_cfs_throttled_periods_total", 0, throttled),
        ])
    };
    let all = told(&counter(120.0));
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0].fact, "metric.container.cpu");
    assert_eq!(all[0].attribute("percent"), Some("80"));
    assert_eq!(second(all[0].time.lo), 0);
    assert_eq!(second(all[0].end.unwrap().lo), 585);
    // Now and then, and for two minutes only.
    assert!(told(&counter(30.0)).is_empty());
    let start = (0..40).map(|sample| f64::from(sample.min(8)) * 140.0);
    assert!(told(&start.collect::<Vec<_>>()).is_empty());
}

#[test]
fn a_machine_is_short_of_processors_where_its_tasks_wait() {
    let labels = json!({ "__name__": "node_pressure_cpu_waiting_seconds_total", "node": "gpu-1" });
    let waiting = |each: f64| {
        (0..40)
            .map(|sample| f64::from(sample) * each)
            .collect::<Vec<_>>()
    };
    let all = emit(&[series(&labels, 0, 15, &waiting(12.0))]);
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0].fact, "metric.node.cpu");
    assert_eq!(all[0].entities.node.as_deref(), Some("gpu-1"));
    assert!(emit(&[series(&labels, 0, 15, &waiting(3.0))]).is_empty());
}

#[test]
fn alerts_that_fired_have_a_beginning_and_an_end() {
    let labels = json!({ "__name__": "ALERTS", "alertname": "GpuXid", "alertstate": "firing",
        "Hostname": "gpu-1", "severity": "critical" });
    let since = json!({ "__name__": "ALERTS_FOR_STATE", "alertname": "GpuXid", "Hostname": "gpu-1",
        "severity": "critical" });
    let active = f64::from(1_790_000_000) - 60.0;
    let emitted = emit(&[
        series(&labels, 60, 30, &[1.0; 4]),
        series(&since, 0, 30, &[active; 8]),
    ]);
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    let event = &emitted[0];
    assert_eq!(event.reason.as_deref(), Some("GpuXid"));
    assert_eq!(event.severity.as_deref(), Some("critical"));
    assert_eq!((second(event.time.lo), second(event.time.hi)), (30, 61));
    assert_eq!(second(event.end.unwrap().lo), 150);
    assert_eq!(event.entities.node.as_deref(), Some("gpu-1"));
    // It fired before we looked: it began when its condition did, at the earliest.
    let emitted = emit(&[
        series(&labels, 0, 30, &[1.0; 4]),
        series(&since, 0, 30, &[active; 8]),
    ]);
    assert_eq!(second(emitted[0].time.lo), -60);
    let pending =
        json!({ "__name__": "ALERTS", "alertname": "X", "alertstate": "pending", "node": "gpu-1" });
    assert!(emit(&[series(&pending, 0, 30, &[1.0; 4])]).is_empty());
}

#[test]
fn the_end_of_a_container_has_the_time_that_the_kubelet_told() {
    let of = |name: &str, value: f64| {
        let labels = json!({ "__name__": name, "namespace": "lab", "pod": "run-0", "container": "main",
            "reason": "OOMKilled" });
        series(&labels, 60, 30, &[value])
    };
    let emitted = emit(&[
        of(
            "kube_pod_container_status_last_terminated_timestamp",
            f64::from(1_790_000_000) + 42.0,
        ),
        of("kube_pod_container_status_last_terminated_exitcode", 137.0),
        of("kube_pod_container_status_last_terminated_reason", 1.0),
    ]);
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    assert_eq!(emitted[0].fact, "k8s.container.terminated");
    assert_eq!(emitted[0].exit_code, Some(137));
    assert_eq!(emitted[0].reason.as_deref(), Some("OOMKilled"));
    assert_eq!(second(emitted[0].time.lo), 42);
}

#[test]
fn counters_of_machines_and_failed_scrapes_are_told() {
    let of = |name: &str, more: &Value, values: &[f64]| {
        let mut labels = json!({ "__name__": name, "instance": "gpu-1:9100", "job": "node" });
        labels
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        series(&labels, 0, 30, values)
    };
    let none = json!({});
    let emitted = emit(&[
        of("node_vmstat_oom_kill", &none, &[3.0, 4.0]),
        of(
            "node_infiniband_link_downed_total",
            &json!({ "device": "mlx5_0", "port": "1" }),
            &[0.0, 1.0],
        ),
        of("up", &none, &[1.0, 0.0, 0.0]),
        of("node_memory_MemAvailable_bytes", &none, &[1.0, 50.0]),
        of("node_memory_MemTotal_bytes", &none, &[100.0, 100.0]),
        of(
            "node_filesystem_avail_bytes",
            &json!({ "mountpoint": "/" }),
            &[500.0, 1.0],
        ),
        of(
            "node_filesystem_size_bytes",
            &json!({ "mountpoint": "/" }),
            &[1000.0],
        ),
    ]);
    let facts: Vec<&str> = emitted.iter().map(|one| one.fact.as_str()).collect();
    for fact in [
        "metric.node.counter",
        "metric.target.down",
        "metric.node.memory",
        "metric.node.filesystem",
    ] {
        assert!(facts.contains(&fact), "{fact}: {facts:?}");
    }
    let memory = emitted
        .iter()
        .find(|one| one.fact == "metric.node.memory")
        .unwrap();
    assert_eq!(memory.attribute("left"), Some("exhausted"));
}
