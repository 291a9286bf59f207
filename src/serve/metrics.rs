//! How the service is doing, for Prometheus, probes and the log.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use whathappened_model::time::{Nanos, SECOND};
use whathappened_store::{Status, Store, StoreError};

use super::{CollectorHandle, Service, api};

/// Bounds of what is measured in seconds.
const SECONDS: [f64; 12] = [
    0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0,
];

static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts to count; once in a process, however many services there are.
fn handle() -> Option<&'static PrometheusHandle> {
    let started = HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets(&SECONDS).ok()?;
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        describe();
        Some(handle)
    });
    started.as_ref()
}

fn describe() {
    describe_gauge!(
        "whathappened_collector_lag_seconds",
        Unit::Seconds,
        "Time since the data of a source was last known to be complete"
    );
    describe_gauge!(
        "whathappened_collector_up",
        "Whether a source responded to the last query"
    );
    describe_gauge!(
        "whathappened_collector_told",
        "Facts and versions received from a source since the start"
    );
    describe_gauge!(
        "whathappened_collector_errors",
        "How often a source did not respond since the start"
    );
    describe_gauge!(
        "whathappened_collector_gaps",
        "Gaps of a source that were recorded since the start"
    );
    describe_gauge!(
        "whathappened_collector_facts",
        "Facts and versions received from all sources since the start"
    );
    describe_gauge!(
        "whathappened_collector_new_facts",
        "Facts and versions received that were new to the store"
    );
    describe_gauge!(
        "whathappened_collector_queue",
        "Batches waiting to be written to the store"
    );
    describe_gauge!(
        "whathappened_collector_queue_most",
        "Capacity of the queue of batches"
    );
    describe_histogram!(
        "whathappened_collector_commit_seconds",
        Unit::Seconds,
        "Duration of writes to the store, one transaction each"
    );
    describe_counter!(
        "whathappened_store_errors_total",
        "Failed writes to the store"
    );
    describe_gauge!(
        "whathappened_store_bytes",
        Unit::Bytes,
        "Size of the store, by part"
    );
    describe_gauge!("whathappened_store_rows", "Rows in the store, by part");
    describe_gauge!("whathappened_store_segments", "Segments in the store");
    describe_gauge!("whathappened_store_damaged_segments", "Damaged segments");
    describe_gauge!(
        "whathappened_store_unlisted_segments",
        "Segments in the store's folder that its index does not know"
    );
    describe_gauge!(
        "whathappened_store_lost_rows",
        "Rows of damaged segments that answers do not include"
    );
    describe_counter!(
        "whathappened_hooks_total",
        "Bodies pushed, by hook and outcome"
    );
    describe_counter!(
        "whathappened_syslog_lines_total",
        "Lines received, by transport and outcome"
    );
    describe_counter!(
        "whathappened_answers_total",
        "Answers, by where they were asked for (api, slack) and outcome"
    );
    describe_histogram!(
        "whathappened_answer_seconds",
        Unit::Seconds,
        "How long answers took, by where they were asked for"
    );
    describe_counter!(
        "whathappened_http_requests_total",
        "Requests, by route, method and code"
    );
    describe_histogram!(
        "whathappened_http_seconds",
        Unit::Seconds,
        "Duration of requests, by route"
    );
}

/// `/metrics`, `/healthz`, `/readyz`.
pub(super) fn routes() -> Router<Arc<Service>> {
    handle();
    Router::new()
        .route("/metrics", get(metrics_text))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}

/// Counts requests and writes the access log: route, code and time, nothing of
/// what was asked.
pub(super) async fn track(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().to_string();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let code = response.status().as_u16();
    let took = began.elapsed();
    counter!("whathappened_http_requests_total", "route" => route.clone(), "method" => method.clone(), "code" => code.to_string())
        .increment(1);
    histogram!("whathappened_http_seconds", "route" => route.clone()).record(took);
    // Probes come every few seconds and say nothing.
    if matches!(route.as_str(), "/healthz" | "/readyz" | "/metrics") && code < 500 {
        tracing::debug!(method, route, code, ms = took.as_millis(), "request");
    } else {
        tracing::info!(method, route, code, ms = took.as_millis(), "request");
    }
    response
}

/// Counts an answer; `face` is that through which it was asked for, `outcome` a
/// word such as `answered` or `unknown_name`.
pub(super) fn answered(face: &'static str, outcome: &'static str, began: Instant) {
    counter!("whathappened_answers_total", "face" => face, "outcome" => outcome).increment(1);
    histogram!("whathappened_answer_seconds", "face" => face).record(began.elapsed());
}

/// What is told whom a web page may have made ask.
const REFUSED: &str = "use the machine's address, as Prometheus does, or send a caller's token\n";

async fn metrics_text(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    if !api::may_read_metrics(&service, &headers) {
        return (StatusCode::FORBIDDEN, REFUSED).into_response();
    }
    let Some(handle) = handle() else {
        return (StatusCode::NOT_FOUND, "metrics are not available here\n").into_response();
    };
    if let Some(collecting) = &service.collecting {
        of_collecting(collecting, (service.clock)());
    }
    match status(&service).await {
        Ok(status) => of_store(&status),
        Err(error) => tracing::warn!(%error, "the size of the store could not be determined"),
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    handle.run_upkeep();
    (kind, handle.render()).into_response()
}

async fn status(service: &Arc<Service>) -> Result<Status, StoreError> {
    let path = service.store.clone();
    let read = move || Store::open_to_read(&path)?.status();
    match tokio::task::spawn_blocking(read).await {
        Ok(status) => status,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
fn of_collecting(collecting: &CollectorHandle, now: Nanos) {
    for ((source, place, resource), line) in collecting.collector_status.lines() {
        let of = [("source", source), ("place", place), ("resource", resource)];
        if let Some(until) = line.until {
            let lag = (now - until).max(0) as f64 / SECOND as f64;
            gauge!("whathappened_collector_lag_seconds", &of).set(lag);
        }
        let up = if line.error.is_none() { 1.0 } else { 0.0 };
        gauge!("whathappened_collector_up", &of).set(up);
        gauge!("whathappened_collector_told", &of).set(line.reported as f64);
        gauge!("whathappened_collector_errors", &of).set(line.errors as f64);
        gauge!("whathappened_collector_gaps", &of).set(line.gaps as f64);
    }
    let totals = collecting.collector_status.totals();
    gauge!("whathappened_collector_facts").set(totals.reported as f64);
    gauge!("whathappened_collector_new_facts").set(totals.new as f64);
    let (waits, most) = collecting.intake.depth();
    gauge!("whathappened_collector_queue").set(waits as f64);
    gauge!("whathappened_collector_queue_most").set(most as f64);
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floating point")]
fn of_store(status: &Status) {
    for (part, bytes) in [
        ("segments", status.segment_bytes),
        ("database", status.database_bytes),
    ] {
        gauge!("whathappened_store_bytes", "part" => part).set(bytes as f64);
    }
    for (part, rows) in [
        ("facts", status.facts),
        ("versions", status.versions),
        ("hot", status.hot),
        ("entities", status.entities),
        ("incidents", status.incidents),
    ] {
        gauge!("whathappened_store_rows", "part" => part).set(rows as f64);
    }
    gauge!("whathappened_store_segments").set(status.segments as f64);
    gauge!("whathappened_store_damaged_segments").set(status.damaged.len() as f64);
    gauge!("whathappened_store_unlisted_segments").set(status.unlisted.len() as f64);
    gauge!("whathappened_store_lost_rows").set(status.lost() as f64);
}

/// Bytes that are written to see whether there is room.
const PROBE: usize = 64 << 10;

/// Why nothing can be written beside the store; `None` where something can.
async fn room(store: &Path) -> Option<String> {
    let probe = store.join(".room");
    let tried = tokio::task::spawn_blocking(move || {
        let written = std::fs::write(&probe, vec![0; PROBE]);
        // What is left of it is written over by the next one.
        let _removed = std::fs::remove_file(&probe);
        written
    });
    let error = tried.await.ok()?.err()?;
    Some(match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
        _ => format!("cannot write to the store: {error}"),
    })
}

/// Whether it can answer and keep: the store can be read, and written where
/// something is collected, and who comes next is not sent away. A source that does not answer is no reason to be
/// restarted.
async fn ready(State(service): State<Arc<Service>>) -> Response {
    let broken = service
        .collecting
        .as_ref()
        .and_then(|collecting| collecting.collector_status.broken());
    let full = service.doors.full().map(str::to_owned);
    let unaudited = service
        .audit
        .waits()
        .map(|why| format!("the audit trail cannot be written: {why}"));
    let no_room = || async {
        service.collecting.as_ref()?;
        room(&service.store).await
    };
    let why = match broken.or(full).or(unaudited) {
        Some(why) => Some(why),
        None => no_room().await,
    };
    let why = match why {
        Some(why) => Some(why),
        None => status(&service).await.err().map(|error| error.to_string()),
    };
    match why {
        None => (StatusCode::OK, "ready\n".to_owned()).into_response(),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs leave to mount a small tmpfs.
    #[tokio::test]
    async fn on_a_full_disk_nobody_is_ready() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(room(folder.path()).await, None);
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=32k", "tmpfs"])
            .arg(folder.path())
            .output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            return whathappened_loopback::skipped("no leave to mount a tmpfs");
        }
        let reported = room(folder.path()).await;
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        let unmounted = std::process::Command::new("umount")
            .arg(folder.path())
            .status();
        assert!(unmounted.unwrap().success());
        assert_eq!((reported.as_deref(), left), (Some("the disk is full"), 0));
    }
}
