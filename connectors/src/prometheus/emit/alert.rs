//! The history of alerts, from the metrics that Prometheus keeps of its own.

use std::collections::BTreeMap;

use super::super::names::{Labels, OF_NODES, label, pod};
use super::super::wire::{Sample, Series};
use super::change::interval;
use super::{Emitter, FactSubject, of, raw};
use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

const FIRING: &str = "ALERTS";
const SINCE: &str = "ALERTS_FOR_STATE";

/// What is asked for.
pub(in crate::prometheus) const METRICS: [&str; 2] = [FIRING, SINCE];

/// Firing is told at each evaluation; after this long without it, it is over.
const OVER: Nanos = 300 * SECOND;

/// Longest list of labels in a message.
const WORDS: usize = 300;

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let mut since: BTreeMap<Labels, &Series> = BTreeMap::new();
    for one in of(series, &[SINCE]) {
        since.insert(own(&one.labels), one);
    }
    for one in of(series, &[FIRING]) {
        if label(&one.labels, "alertstate") != Some("firing") {
            continue;
        }
        let labels = own(&one.labels);
        let active = since.get(&labels).copied();
        for run in runs(&one.samples) {
            out.extend(firing(emitter, one, &labels, (run, active)));
        }
    }
}

/// The alert's own labels.
fn own(labels: &Labels) -> Labels {
    let mut labels = labels.clone();
    labels.remove("__name__");
    labels.remove("alertstate");
    labels
}

/// Stretches without a pause.
fn runs(samples: &[Sample]) -> Vec<&[Sample]> {
    let pause = OVER.max(4 * interval(samples));
    samples
        .chunk_by(|a, b| b.at - a.at <= pause)
        .filter(|run| run.iter().any(|sample| sample.value > 0.0))
        .collect()
}

fn firing(
    emitter: &Emitter<'_>,
    one: &Series,
    labels: &Labels,
    (run, active): (&[Sample], Option<&Series>),
) -> Option<Event> {
    let (first, last) = (run.first()?, run.last()?);
    let name = label(labels, "alertname")?;
    let step = interval(&one.samples);
    // Since when its condition held, before it fired.
    let active = active.and_then(|series| {
        let at = series
            .samples
            .iter()
            .rev()
            .find(|sample| sample.at <= last.at)?;
        #[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at")]
        (1.0..9e9)
            .contains(&at.value)
            .then_some(at.value as Nanos * SECOND)
    });
    let fired_before = emitter
        .from
        .is_none_or(|from| first.at.saturating_sub(from) <= step);
    let mut begin = first.at.saturating_sub(step);
    if fired_before {
        begin = active.unwrap_or(begin).min(begin);
    }
    let time = Stamp {
        lo: begin,
        hi: first.at + SECOND,
    };
    let whose = place(emitter, name, labels);
    let text: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let began = active.unwrap_or(first.at).div_euclid(SECOND).to_string();
    let mut event = emitter.fact("alert.fired", &[], time, whose.as_of());
    let mut parts = vec!["alert.fired", "metric", began.as_str()];
    parts.extend(text.iter().map(String::as_str));
    event.id = crate::event::EventId::of(&parts);
    event.end = Some(Stamp::exact(last.at));
    event.severity = label(labels, "severity").map(str::to_owned);
    event.reason = Some(name.to_owned());
    let mut words = text.join(", ");
    if words.len() > WORDS {
        let cut = (0..=WORDS).rev().find(|at| words.is_char_boundary(*at));
        words.truncate(cut.unwrap_or(0));
        words.push('…');
    }
    event.message = Some(words);
    event.set_attribute("alertname", Some(name));
    event.set_attribute("active_since", active.map(crate::time::rfc3339));
    event.raw = raw(&one.labels, &[*first, *last]);
    Some(event)
}

/// What an alert is about.
pub(crate) struct AlertSubject {
    pub(crate) node: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) pod: Option<String>,
}

impl AlertSubject {
    fn as_of(&self) -> FactSubject<'_> {
        FactSubject {
            node: self.node.as_deref(),
            namespace: self.namespace.as_deref(),
            pod: self.pod.as_deref(),
            container: None,
        }
    }
}

fn place(emitter: &Emitter<'_>, name: &str, labels: &Labels) -> AlertSubject {
    let unknown = emitter.moments.unknown;
    let is_known = |namespace: Option<&str>, pod: &str| {
        unknown || emitter.moments.of_pod(namespace, pod).is_some()
    };
    about(emitter.names, (name, labels), &is_known, unknown)
}

/// What an alert of a name and labels is about: a pod that is known, else a
/// machine. Alerts on machines often carry the exporter's own pod; where any pod
/// may be meant, one with a machine beside it is taken for that.
pub(crate) fn about(
    names: &super::super::Names,
    (alert, labels): (&str, &Labels),
    is_known: &dyn Fn(Option<&str>, &str) -> bool,
    any: bool,
) -> AlertSubject {
    let named = OF_NODES[..5].iter().any(|key| label(labels, key).is_some());
    let of_node = alert.starts_with("KubeNode") || alert.starts_with("Node") || (any && named);
    let node = names.node(labels);
    let found = pod(labels).filter(|(namespace, pod)| is_known(*namespace, pod));
    match found {
        Some((namespace, pod)) if node.is_none() || !of_node => AlertSubject {
            node: None,
            namespace: namespace.map(str::to_owned),
            pod: Some(pod.to_owned()),
        },
        _ => AlertSubject {
            node,
            namespace: None,
            pod: None,
        },
    }
}
