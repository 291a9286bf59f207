//! What is said of what was read and what was not.

use std::collections::BTreeSet;

use super::names::label;
use super::plan::Plan;
use super::wire::Series;
use crate::connector::FetchRequest;
use crate::coverage::{Coverage, Status, Tally};
use crate::http::HttpError;
use crate::log_store::Span;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// What was measured.
pub(super) const METRICS: &str = "metrics";

/// Which alerts fired.
pub(super) const ALERTS: &str = "alerts";

const SHOWS: &str = "GPU faults seen by DCGM, machine metrics, and memory usage against its limits";
const ALERTS_SHOW: &str = "which alerts fired about these pods and machines";

/// Samples are there some seconds after they were scraped.
const LAG: Nanos = 60 * SECOND;

/// Exporters by a metric that each of them has.
const EXPORTERS: [(&str, &str); 4] = [
    ("DCGM_", "GPUs (dcgm-exporter)"),
    ("node_", "machines (node-exporter)"),
    ("kube_", "Kubernetes objects (kube-state-metrics)"),
    ("container_", "containers (cAdvisor)"),
];

/// What came of the question.
#[derive(Debug)]
pub(super) struct Measured {
    span: Option<Span>,
    left_out: Vec<String>,
    nodes: usize,
    pods: usize,
    series: u64,
    alerts: u64,
    came: Tally,
    warnings: BTreeSet<String>,
    exporters: BTreeSet<&'static str>,
    /// What could not be read of that on which no verdict rests.
    beside: BTreeSet<String>,
    /// Whether anything at all is kept of the time, where that was asked.
    pub(super) is_retained: Option<bool>,
}

impl Measured {
    pub(super) fn of(fetch_request: &FetchRequest, plan: &Plan) -> Self {
        let all = || plan.nodes.iter().chain(&plan.pods).map(|one| one.span);
        let from = all().map(|span| span.from).min();
        let to = all().map(|span| span.to).max();
        let span = from.zip(to).map(|(from, to)| Span { from, to });
        let window = fetch_request.window.from.zip(fetch_request.window.to);
        Self {
            span: span.or(window.map(|(from, to)| Span { from, to })),
            left_out: plan.left_out.clone(),
            nodes: 0,
            pods: 0,
            series: 0,
            alerts: 0,
            came: Tally::default(),
            warnings: BTreeSet::new(),
            exporters: BTreeSet::new(),
            beside: BTreeSet::new(),
            is_retained: None,
        }
    }

    pub(super) fn took(&mut self, names: usize, of_nodes: bool, series: &[Series]) {
        *(if of_nodes {
            &mut self.nodes
        } else {
            &mut self.pods
        }) += names;
        for one in series {
            let metric = label(&one.labels, "__name__").unwrap_or_default();
            if metric.starts_with("ALERTS") {
                continue;
            }
            self.series += 1;
            let known = EXPORTERS
                .iter()
                .find(|(prefix, _)| metric.starts_with(prefix));
            self.exporters.extend(known.map(|(prefix, _)| *prefix));
        }
    }

    pub(super) fn note(
        &mut self,
        answered: bool,
        warnings: BTreeSet<String>,
        failures: Vec<HttpError>,
    ) {
        self.came.answered |= answered;
        self.warnings.extend(warnings);
        for failure in failures {
            let why = format!("{failure}; {}", failure.hint());
            self.came.failed(failure.status(), why);
        }
    }

    pub(super) fn emitted(&mut self, emitted: &[Observation]) {
        let alerts = emitted
            .iter()
            .filter(|one| matches!(one, Observation::Event(event) if event.fact == "alert.fired"));
        self.alerts += u64::try_from(alerts.count()).unwrap_or(u64::MAX);
    }

    /// Notes what could not be read of that on which no verdict rests.
    pub(super) fn beside(&mut self, what: String) {
        self.beside.insert(what);
    }

    /// Whether anything was answered.
    pub(super) fn is_answered(&self) -> bool {
        self.came.answered
    }

    /// Whether all was answered and nothing was there.
    pub(super) fn is_empty(&self) -> bool {
        self.series == 0 && !self.came.has_failed()
    }

    /// The row where there is nobody to ask about.
    pub(super) fn nobody(&self, source: &str) -> Coverage {
        Coverage {
            detail: Some("there is no known machine or pod failure to query for".to_owned()),
            ..Coverage::new(source, METRICS).asked(self.span.map(ends))
        }
    }

    /// The row for alerts where nothing else was asked for.
    pub(super) fn of_alerts(&self, source: &str, now: Nanos) -> Vec<Coverage> {
        let mut rows = self.rows(source, now);
        rows.retain(|row| row.resource == ALERTS);
        rows
    }

    /// A row for what was measured and one for alerts.
    pub(super) fn rows(&self, source: &str, now: Nanos) -> Vec<Coverage> {
        let mut parts: Vec<String> = self.came.reasons().map(str::to_owned).collect();
        if !self.warnings.is_empty() {
            let words: Vec<&str> = self.warnings.iter().map(String::as_str).collect();
            parts.push(format!("it reports: {}", words.join("; ")));
        }
        parts.extend(self.left_out.iter().cloned());
        let mut of_metrics = parts.clone();
        if self.is_empty() {
            of_metrics.push(match self.is_retained {
                Some(false) => {
                    "nothing is stored for that time: it is older than the retention, or nothing was scraped".to_owned()
                }
                _ => format!(
                    "none of {} machines and {} pods is known there by any of the usual labels",
                    self.nodes, self.pods
                ),
            });
        } else if self.came.answered {
            let missing: Vec<&str> = EXPORTERS
                .iter()
                .filter(|(prefix, _)| !self.exporters.contains(prefix))
                .map(|(_, words)| *words)
                .collect();
            if !missing.is_empty() {
                of_metrics.push(format!("no metrics for {}", missing.join(", ")));
            }
        }
        of_metrics.extend(self.beside.iter().cloned());
        let whole = self.span.map(|span| Span {
            to: span.to.min(now.saturating_sub(LAG)),
            ..span
        });
        let row = |resource: &str, rows: u64, parts: &[String], shows: &str| {
            let status = self.status(rows);
            let got = whole.filter(|_| matches!(status, Status::Complete | Status::Sampled));
            let row = Coverage {
                rows,
                ..Coverage::new(source, resource)
            };
            row.asked(self.span.map(ends))
                .got(got.map(ends))
                .ended(status, parts)
                .lacking(shows)
        };
        vec![
            row(ALERTS, self.alerts, &parts, ALERTS_SHOW),
            row(METRICS, self.series, &of_metrics, SHOWS),
        ]
    }

    /// Of a row that holds `rows` records: what is there has not expired, whatever else is not.
    fn status(&self, rows: u64) -> Status {
        self.came.status(if !self.warnings.is_empty() {
            Status::Truncated
        } else if rows == 0 && self.is_empty() && self.is_retained == Some(false) {
            Status::Expired
        } else if !self.left_out.is_empty() {
            Status::Sampled
        } else {
            Status::Complete
        })
    }
}

fn ends(span: Span) -> (Nanos, Nanos) {
    (span.from, span.to)
}
