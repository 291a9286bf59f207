//! Whether a Prometheus can be used: reachable, allowed, how far back, clock,
//! and which exporters it scrapes.

use std::time::Instant;

use super::source::Prometheus;
use crate::connector::{Connector as _, Health, Permission, Skew, Verdict};
use crate::time::{Nanos, SECOND};

const DAY: Nanos = 86_400 * SECOND;

/// How far back is looked, in days.
const BACK: [Nanos; 7] = [1, 7, 14, 30, 90, 180, 360];

/// What each exporter would tell, by a metric that it has.
const EXPORTERS: [(&str, &str, &str); 6] = [
    (
        "DCGM_FI_DEV_XID_ERRORS",
        "GPUs (dcgm-exporter)",
        "faults of GPUs without a kernel log",
    ),
    (
        "node_boot_time_seconds",
        "machines (node-exporter)",
        "reboots, out-of-memory kills, network links",
    ),
    (
        "kube_node_status_condition",
        "nodes (kube-state-metrics)",
        "when nodes were not ready, closed, tainted",
    ),
    (
        "container_memory_working_set_bytes",
        "containers (cAdvisor)",
        "memory before a container was killed",
    ),
    (
        "kube_pod_container_resource_limits",
        "limits (kube-state-metrics)",
        "memory against its limit",
    ),
    ("ALERTS", "alerts (rules)", "which alerts fired"),
];

pub(super) async fn check(one: &Prometheus, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: one.name().to_owned(),
        place: one.place().to_owned(),
        ..Health::default()
    };
    let names: Vec<&str> = EXPORTERS.iter().map(|(name, ..)| *name).collect();
    let query = format!(
        "count by (__name__) ({{__name__=~\"{}\"}})",
        names.join("|")
    );
    let start = Instant::now();
    let found = match one.api.instant(&query, now, deadline).await {
        Ok((found, answer)) => {
            if let Some(date) = answer.date() {
                let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
                health.skew = Some(Skew {
                    by: date + SECOND / 2 - (now + took / 2),
                    within: SECOND / 2 + took / 2,
                });
            }
            found
        }
        Err(failure) if failure.is_denied() => {
            health.permissions.push(Permission {
                what: "POST api/v1/query".to_owned(),
                verdict: Verdict::Denied,
                shows: "everything".to_owned(),
                detail: Some(format!("{failure}; {}", failure.hint())),
            });
            health.unreachable = Some(format!("{failure}; {}", failure.hint()));
            return health;
        }
        Err(failure) => {
            health.unreachable = Some(format!("{failure}; {}", failure.hint()));
            return health;
        }
    };
    let has = |name: &str| {
        let names = |labels: &super::Labels| labels.get("__name__").is_some_and(|is| is == name);
        found.series.iter().any(|one| names(&one.labels))
    };
    for (name, what, shows) in EXPORTERS {
        if !has(name) {
            health
                .notes
                .push(format!("has no {what} metrics, which would show {shows}"));
        }
    }
    // Kin of Prometheus do not tell either.
    let build = one
        .api
        .status("buildinfo", deadline)
        .await
        .unwrap_or_default();
    health.version = build["version"].as_str().map(str::to_owned);
    let run = one
        .api
        .status("runtimeinfo", deadline)
        .await
        .unwrap_or_default();
    if let Some(retention) = run["storageRetention"].as_str() {
        health
            .notes
            .push(format!("retains its samples for {retention}"));
    }
    for days in BACK {
        let at = now - days * DAY;
        let found = one
            .api
            .instant("count({__name__=\"up\"})", at, deadline)
            .await;
        match found {
            Ok((got, _)) if !got.series.is_empty() => health.reaches_back_to = Some(at),
            _ => break,
        }
    }
    health
}
