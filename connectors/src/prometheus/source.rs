//! Prometheus as a source of a question.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use futures::future::{BoxFuture, join_all};

use super::api::Api;
use super::check;
use super::cover::Measured;
use super::emit::{self, Emitter};
use super::names::{Labels, Names, OF_NODES, OF_PODS, label};
use super::options::PrometheusOptions;
use super::plan::{IN_DETAIL, Plan, QueryWindow, plan};
use super::selector::{any_of, batches, selector};
use super::wire::Series;
use crate::connector::{Connector, FetchRequest, Health, Scope};
use crate::coverage::Coverage;
use crate::event::{Origin, SourceKind};
use crate::http::{Client, HttpError};
use crate::log_store::Span;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND};

/// Machines and pods of one request.
const NODES_AT_ONCE: usize = 25;
const PODS_AT_ONCE: usize = 100;

/// Devices and file systems of single pods, which are many and tell nothing.
const DEVICES: (&str, &str, &str) = (
    "device",
    "!~",
    "(?:veth|cali|lxc|cni|flannel|docker|br-|tunl|vxlan|nodelocaldns|dummy|kube-).*|lo",
);
const FILESYSTEMS: (&str, &str, &str) = (
    "fstype",
    "!~",
    "tmpfs|overlay|squashfs|ramfs|iso9660|nsfs|fuse.*",
);

/// Pods that export metrics, by what is in their names.
const EXPORTERS: (&str, &str, &str) = ("pod", "=~", ".*(?:exporter|dcgm).*");

/// A Prometheus, to be asked.
#[derive(Debug)]
pub struct Prometheus {
    pub(super) name: String,
    place: String,
    pub(super) api: Api,
}

/// What one part of the question gave.
#[derive(Debug, Default)]
struct PartResult {
    series: Vec<Series>,
    warnings: BTreeSet<String>,
    failures: Vec<HttpError>,
    /// Some request was answered.
    answered: bool,
}

impl PartResult {
    fn take<T>(&mut self, answer: Result<(T, Vec<String>), HttpError>) -> Option<T> {
        match answer {
            Ok((got, warnings)) => {
                self.answered = true;
                self.warnings.extend(warnings);
                Some(got)
            }
            Err(failure) => {
                self.failures.push(failure);
                None
            }
        }
    }
}

impl Prometheus {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// Says which option is missing or does not make sense.
    pub fn new(options: &PrometheusOptions) -> Result<Self, HttpError> {
        let client = Client::new(options.http()?)?;
        let tenant = options.reach.org_id.as_deref();
        let tenant = tenant.map_or_else(String::new, |tenant| format!(" tenant {tenant}"));
        Ok(Self {
            name: options.name.clone(),
            place: format!("{}{tenant}", client.address()),
            api: Api { client },
        })
    }

    async fn read(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        if fetch_request.scope == Scope::default() {
            return self.alerts(fetch_request, sink).await;
        }
        let plan = plan(fetch_request);
        let mut measured = Measured::of(fetch_request, &plan);
        if plan.nodes.is_empty() && plan.pods.is_empty() {
            return vec![measured.nobody(&self.name)];
        }
        let known = plan.moments.nodes.keys().cloned();
        let known = Names::of(known);
        let parts: Vec<(&QueryWindow, Vec<&str>, bool)> = plan
            .nodes
            .iter()
            .map(|one| (one, NODES_AT_ONCE, true))
            .chain(plan.pods.iter().map(|one| (one, PODS_AT_ONCE, false)))
            .flat_map(|(stretch, most, of_nodes)| {
                let names: Vec<&str> = stretch.names.iter().map(String::as_str).collect();
                let parts = batches(&names, most).into_iter();
                parts.map(move |names| (stretch, names, of_nodes))
            })
            .collect();
        let requested = parts.iter().map(|(stretch, names, of_nodes)| {
            let known = &known;
            async move {
                match of_nodes {
                    true => {
                        self.of_nodes(known, stretch, names, fetch_request.deadline)
                            .await
                    }
                    false => (
                        Names::default(),
                        self.of_pods(stretch, names, fetch_request.deadline).await,
                    ),
                }
            }
        });
        let answers = join_all(requested).await;
        for ((stretch, names, of_nodes), (learned, mut part)) in parts.iter().zip(answers) {
            let learned = if *of_nodes { learned } else { known.clone() };
            if *of_nodes {
                let twice = only_one_cluster(&learned, &mut part.series);
                part.warnings.extend(twice);
            }
            let emitted = self.emitted(
                &learned,
                &plan,
                (stretch.span, fetch_request.now),
                &part.series,
            );
            measured.took(names.len(), *of_nodes, &part.series);
            measured.note(part.answered, part.warnings, part.failures);
            measured.emitted(&emitted);
            if !emitted.is_empty() {
                sink.observe(emitted);
            }
        }
        if measured.is_empty() {
            measured.is_retained = self.anything(fetch_request, &plan).await;
        }
        // What waits has not begun to be measured, but its queue has.
        if measured.is_answered() {
            self.queues(fetch_request, &plan, (&mut measured, sink))
                .await;
        }
        measured.rows(&self.name, fetch_request.now)
    }

    /// How long queues were, around the times that pods are looked at, else machines. They are of nobody, and
    /// nothing but a picture rests on them: where they cannot be had, the rest is as complete without them.
    async fn queues(
        &self,
        fetch_request: &FetchRequest,
        plan: &Plan,
        (measured, sink): (&mut Measured, &mut (dyn Sink + Send)),
    ) {
        let stretches = match plan.pods.as_slice() {
            [] => &plan.nodes,
            pods => pods,
        };
        let wanted = selector(&emit::OF_QUEUES, &[]);
        let requested = stretches.iter().map(|stretch| {
            let answer = self
                .api
                .samples(&wanted, stretch.span, fetch_request.deadline);
            async move { (stretch.span, answer.await) }
        });
        for (span, answer) in join_all(requested).await {
            match answer {
                Ok(got) => {
                    let spans = (span, fetch_request.now);
                    let emitted = self.emitted(&Names::default(), plan, spans, &got.series);
                    if !emitted.is_empty() {
                        sink.observe(emitted);
                    }
                }
                Err(failure) => measured.beside(format!("lengths of queues: {failure}")),
            }
        }
    }

    fn emitted(
        &self,
        names: &Names,
        plan: &Plan,
        (span, now): (Span, Nanos),
        series: &[Series],
    ) -> Vec<Observation> {
        let emitter = Emitter {
            names,
            moments: &plan.moments,
            origin: Origin {
                file: self.name.as_str().into(),
                line: 0,
            },
            observed: Some(now),
            from: Some(span.from),
        };
        emitter.emit(series)
    }

    /// Who is who, then which labels name the machines, then their samples.
    async fn of_nodes(
        &self,
        known: &Names,
        stretch: &QueryWindow,
        names: &[&str],
        deadline: Instant,
    ) -> (Names, PartResult) {
        let mut part = PartResult::default();
        let mut learned = known.clone();
        let own = any_of(names.iter().copied());
        let who = [
            selector(&["kube_node_info"], &[("node", "=~", &own)]),
            selector(&["kube_node_info"], &[("exported_node", "=~", &own)]),
            selector(&["kube_pod_info"], &[("node", "=~", &own), EXPORTERS]),
            selector(&["node_uname_info"], &[("nodename", "=~", &own)]),
        ];
        let answer = self.api.series(&who, stretch.span, deadline).await;
        let Some(found) = part.take(answer) else {
            return (learned, part);
        };
        for labels in &found {
            learned.learn(labels);
        }
        let light = emit::light();
        let addresses: Vec<&str> = learned
            .addresses()
            .filter(|(_, node)| names.contains(node))
            .map(|(address, _)| address)
            .collect();
        let targets = any_of(names.iter().copied().chain(addresses));
        let targets = format!("(?:{targets})(?:[.:].*)?");
        let exporters: Vec<&str> = learned
            .pods()
            .filter(|(_, node)| names.contains(node))
            .map(|(pod, _)| pod)
            .collect();
        let mut which: Vec<String> = OF_NODES
            .iter()
            .map(|key| {
                let value = if key.ends_with("instance") {
                    &targets
                } else {
                    &own
                };
                selector(&light, &[(key, "=~", value), DEVICES])
            })
            .collect();
        if !exporters.is_empty() {
            let own = any_of(exporters);
            which.push(selector(&light, &[("pod", "=~", &own), DEVICES]));
        }
        let answer = self.api.series(&which, stretch.span, deadline).await;
        let Some(found) = part.take(answer) else {
            return (learned, part);
        };
        let values = values(&learned, &found, names);
        for (key, values) in &values {
            let all: Vec<&str> = values.keys().map(String::as_str).collect();
            self.samples(&mut part, &light, (key, &all), (stretch.span, deadline))
                .await;
            let first = stretch.names.iter().take(IN_DETAIL);
            let first: BTreeSet<&str> = first.map(String::as_str).collect();
            let closer: Vec<&str> = values
                .iter()
                .filter(|(_, node)| first.contains(node.as_str()))
                .map(|(value, _)| value.as_str())
                .collect();
            if !closer.is_empty() {
                let detail = emit::detail();
                self.samples(&mut part, &detail, (key, &closer), (stretch.span, deadline))
                    .await;
            }
        }
        (learned, part)
    }

    async fn of_pods(
        &self,
        stretch: &QueryWindow,
        names: &[&str],
        deadline: Instant,
    ) -> PartResult {
        let mut part = PartResult::default();
        let metrics = emit::of_pods();
        for key in &OF_PODS[..3] {
            self.samples(&mut part, &metrics, (key, names), (stretch.span, deadline))
                .await;
        }
        // What is exported is also under the exporter's own pod.
        part.series.sort_by(|a, b| a.labels.cmp(&b.labels));
        part.series.dedup_by(|a, b| a.labels == b.labels);
        part
    }

    /// Samples of the series whose label has one of these values; of fewer at
    /// once where that many are too much.
    async fn samples(
        &self,
        part: &mut PartResult,
        metrics: &[&str],
        (key, values): (&str, &[&str]),
        (span, deadline): (Span, Instant),
    ) {
        let mut waiting: Vec<Vec<&str>> = batches(values, usize::MAX);
        waiting.reverse();
        while let Some(mut some) = waiting.pop() {
            let own = any_of(some.iter().copied());
            let wanted = selector(metrics, &[(key, "=~", &own), DEVICES, FILESYSTEMS]);
            let got = self.api.samples(&wanted, span, deadline).await;
            match got {
                Err(failure) if is_too_much(&failure) && some.len() > 1 => {
                    let rest = some.split_off(some.len() / 2);
                    waiting.push(rest);
                    waiting.push(some);
                }
                got => {
                    let got = part.take(got.map(|got| (got.series, got.warnings)));
                    part.series.extend(got.unwrap_or_default());
                }
            }
        }
    }

    /// Whether anything at all is kept of the time.
    async fn anything(&self, fetch_request: &FetchRequest, plan: &Plan) -> Option<bool> {
        let all = || plan.nodes.iter().chain(&plan.pods).map(|one| one.span);
        let (from, to) = (
            all().map(|one| one.from).min()?,
            all().map(|one| one.to).max()?,
        );
        let seconds = (to - from).div_euclid(SECOND).max(1);
        let query = format!("count(count_over_time({{__name__=\"up\"}}[{seconds}s]))");
        let found = self.api.instant(&query, to, fetch_request.deadline).await;
        found.ok().map(|(got, _)| !got.series.is_empty())
    }
}

/// More samples than the server loads, or than we take.
fn is_too_much(failure: &HttpError) -> bool {
    let words = failure.to_string();
    failure.is_too_much() || (failure.code() == Some(422) && words.contains("too many"))
}

/// Of each label that names machines, its values and whose they are.
fn values(
    names: &Names,
    found: &[Labels],
    wanted: &[&str],
) -> BTreeMap<&'static str, BTreeMap<String, String>> {
    let mut all: BTreeMap<&'static str, BTreeMap<String, String>> = BTreeMap::new();
    for labels in found {
        let by_label = names.by_label(labels);
        // By its pod: there its own place is as good a handle.
        let key = by_label.as_ref().map(|(key, _)| *key).or_else(|| {
            let keys = OF_NODES.iter().rev();
            keys.copied().find(|key| label(labels, key).is_some())
        });
        let node = by_label
            .map(|(_, node)| node)
            .or_else(|| names.node(labels));
        let (Some(key), Some(node)) = (key, node) else {
            continue;
        };
        if let Some(value) = label(labels, key).filter(|_| wanted.contains(&node.as_str())) {
            all.entry(key).or_default().insert(value.to_owned(), node);
        }
    }
    all
}

/// Machines of one name in several clusters cannot be told apart: they are left
/// out, and that is said.
fn only_one_cluster(names: &Names, series: &mut Vec<Series>) -> Vec<String> {
    let mut clusters: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in series.iter() {
        if let (Some(node), Some(cluster)) =
            (names.node(&one.labels), label(&one.labels, "cluster"))
        {
            clusters.entry(node).or_default().insert(cluster.to_owned());
        }
    }
    clusters.retain(|_, clusters| clusters.len() > 1);
    if clusters.is_empty() {
        return Vec::new();
    }
    series.retain(|one| {
        names
            .node(&one.labels)
            .is_none_or(|node| !clusters.contains_key(&node))
    });
    let emitted = clusters.iter().map(|(node, clusters)| {
        let clusters: Vec<&str> = clusters.iter().map(String::as_str).collect();
        format!(
            "{node} is a machine in several clusters ({}): it was left out",
            clusters.join(", ")
        )
    });
    emitted.collect()
}

impl Connector for Prometheus {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Prometheus
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.read(fetch_request, sink))
    }
}
