//! What series tell: pure, of a live answer as of one in a file.

pub(crate) mod alert;
mod apart;
mod change;
mod container;
mod cpu;
mod curve;
mod gpu;
mod kube;
mod memory;
mod node;
mod placed;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::{Labels, Names, label, pod};
use super::wire::{Sample, Series};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp};

/// A scrape takes a moment, and its time is that of its beginning.
const SCRAPE: Nanos = SECOND;

/// When deaths were, by whom they were of.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeathTimes {
    /// Of pods, by namespace (empty where unknown) and name.
    pub(crate) pods: BTreeMap<(String, String), Vec<Nanos>>,
    /// Of what was on nodes.
    pub(crate) nodes: BTreeMap<String, Vec<Nanos>>,
    /// Nobody says: a file. Then a series' own end is what there is to look at.
    pub(crate) unknown: bool,
}

impl DeathTimes {
    /// The deaths of a pod.
    pub(crate) fn of_pod(&self, namespace: Option<&str>, pod: &str) -> Option<&[Nanos]> {
        let key = |namespace: &str| (namespace.to_owned(), pod.to_owned());
        let own = self.pods.get(&key(namespace.unwrap_or_default()));
        own.or_else(|| self.pods.get(&key(""))).map(Vec::as_slice)
    }
}

/// Tells what series mean.
pub(crate) struct Emitter<'a> {
    /// Whose series are whose.
    pub(crate) names: &'a Names,
    /// When deaths were.
    pub(crate) moments: &'a DeathTimes,
    /// Where the series are from.
    pub(crate) origin: Origin,
    /// When we got them; `None` for files.
    pub(crate) observed: Option<Nanos>,
    /// From when on was asked; what was so before has not begun then.
    pub(crate) from: Option<Nanos>,
}

/// A container: its namespace, pod and name, empty where it is not known.
type ContainerKey = [String; 3];

/// What a fact is about.
#[derive(Clone, Copy, Debug)]
struct FactSubject<'a> {
    node: Option<&'a str>,
    namespace: Option<&'a str>,
    pod: Option<&'a str>,
    container: Option<&'a str>,
}

impl<'a> FactSubject<'a> {
    fn node(node: &'a str) -> Self {
        Self {
            node: Some(node),
            namespace: None,
            pod: None,
            container: None,
        }
    }
}

impl Emitter<'_> {
    /// Everything that the series tell, in an order of their own.
    pub(crate) fn emit(&self, series: &[Series]) -> Vec<Observation> {
        let mut emitted = Vec::new();
        gpu::emit(self, series, &mut emitted);
        node::emit(self, series, &mut emitted);
        apart::emit(self, series, &mut emitted);
        kube::emit(self, series, &mut emitted);
        container::emit(self, series, &mut emitted);
        memory::emit(self, series, &mut emitted);
        cpu::emit(self, series, &mut emitted);
        alert::emit(self, series, &mut emitted);
        curve::emit(self, series, &mut emitted);
        placed::emit(self, series, &mut emitted);
        emitted.sort_by_key(|event| (event.time, event.id));
        let boxed = emitted.into_iter().map(Box::new);
        boxed.map(Observation::Event).collect()
    }

    fn fact(&self, fact: &str, what: &[&str], time: Stamp, of: FactSubject<'_>) -> Event {
        let seconds = time.hi.div_euclid(SECOND).to_string();
        let mut parts = vec![fact, "metric"];
        let whose = [
            of.node.filter(|_| of.pod.is_none()),
            of.namespace,
            of.pod,
            of.container,
        ];
        parts.extend(whose.map(Option::unwrap_or_default));
        parts.extend_from_slice(what);
        parts.push(&seconds);
        let mut event = Event::new(EventId::of(&parts), fact, time, SourceKind::Prometheus);
        let own = |text: Option<&str>| text.map(str::to_owned);
        event.entities.node = own(of.node);
        event.entities.namespace = own(of.namespace);
        event.entities.pod = own(of.pod);
        event.entities.container = own(of.container);
        event.observed = self.observed;
        event.origin = self.origin.clone();
        event
    }

    /// The namespace, pod and container that a series is of; not for the pod as a whole or
    /// its sandbox.
    fn container_key(&self, one: &Series) -> Option<ContainerKey> {
        let whose = self.of_pod(&one.labels)?;
        let container = whose.container.filter(|name| *name != "POD")?;
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        Some([text(whose.namespace), text(whose.pod), container.to_owned()])
    }

    /// A container, with the node of its pod where that is known.
    fn container<'k>(&'k self, [namespace, pod, container]: [&'k str; 3]) -> FactSubject<'k> {
        let some = |text: &'k str| Some(text).filter(|text| !text.is_empty());
        FactSubject {
            node: self.names.of_pod(some(namespace), pod),
            namespace: some(namespace),
            pod: Some(pod),
            container: some(container),
        }
    }

    /// The pod and container that a series is of, with the node where it is known.
    fn of_pod<'l>(&'l self, labels: &'l Labels) -> Option<FactSubject<'l>> {
        let (namespace, name) = pod(labels)?;
        Some(FactSubject {
            node: self.names.of_pod(namespace, name),
            namespace,
            pod: Some(name),
            container: super::names::container(labels),
        })
    }
}

/// Of GPUs and machines, what all that are asked about are asked for.
pub(super) fn light() -> Vec<&'static str> {
    [
        &gpu::LIGHT[..],
        &node::LIGHT,
        &kube::METRICS,
        &alert::METRICS,
    ]
    .concat()
}

/// What the machines are asked for beside it where something died first.
pub(super) fn detail() -> Vec<&'static str> {
    [
        &gpu::DETAIL[..],
        &node::DETAIL,
        &apart::METRICS,
        &cpu::OF_NODES,
        &curve::OF_GPUS,
    ]
    .concat()
}

/// What pods that died are asked for.
pub(super) fn of_pods() -> Vec<&'static str> {
    [
        &memory::METRICS[..],
        &container::METRICS,
        &cpu::OF_PODS,
        &alert::METRICS,
    ]
    .concat()
}

/// How long queues are, of which no machine and no pod is asked.
pub(super) const OF_QUEUES: [&str; 3] = curve::OF_QUEUES;

/// The series of some metrics.
fn of<'s>(series: &'s [Series], names: &'s [&str]) -> impl Iterator<Item = &'s Series> {
    let is = |one: &&Series| names.contains(&metric(&one.labels));
    series.iter().filter(is)
}

fn metric(labels: &Labels) -> &str {
    label(labels, "__name__").unwrap_or_default()
}

/// The record: a series' labels and the samples that tell.
fn raw(labels: &Labels, samples: &[Sample]) -> String {
    let values: Vec<Value> = samples
        .iter()
        .map(|sample| json!([crate::time::rfc3339(sample.at), sample.value]))
        .collect();
    // Whoever exports a metric can write anything into a label.
    let text = json!({ "metric": labels, "values": values }).to_string();
    redact(&text).into_owned()
}

/// Bytes for people.
fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut left = value;
    let mut unit = 0;
    while left >= 1_024.0 && unit + 1 < UNITS.len() {
        left /= 1_024.0;
        unit += 1;
    }
    format!("{left:.1} {}", UNITS[unit])
}

/// A percentage as whole numbers.
#[expect(
    clippy::cast_possible_truncation,
    reason = "percentages are small numbers"
)]
fn percent(part: f64, whole: f64) -> i64 {
    (100.0 * part / whole).round().clamp(0.0, 1e6) as i64
}
