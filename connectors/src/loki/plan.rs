//! Whose lines are asked for how: a question about pods, nodes or a name to queries.
//!
//! Collectors differ in what they make of a pod's name: the label of a stream, a
//! fact about each line (structured metadata), or nothing but a part of the line.
//! Which labels there are is known before ([`Schema`]); streams that have the
//! label are asked by it, and only streams without it by the other ways, so no
//! line comes twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::logql::{MatchOp, Matcher, Query, as_words, label_name, literal, one_of};
use crate::log_store::{EvidenceWords, LabelNames, LineSubject, PodRef, StoredLine};

/// Labels of which nearly every stream has one, those that most have first.
const COMMON: [&str; 6] = [
    "service_name",
    "job",
    "namespace",
    "app",
    "container",
    "host",
];

/// Selectors that are asked one after the other to look at all streams.
const BASES: usize = 6;

/// Labels beside those of workloads that may bear an experiment's name.
const NAMED: [&str; 8] = [
    "app",
    "app_kubernetes_io_instance",
    "app_kubernetes_io_name",
    "service_name",
    "service",
    "job_name",
    "release",
    "job",
];

/// Which names are labels of streams in some stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Schema {
    pub(super) labels: BTreeSet<String>,
}

/// Whose line a line must be to be one of those meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineOwnership {
    /// Of these pods of this namespace, as far as the line tells.
    Pods(Option<String>, BTreeSet<String>),
    /// Of no pod.
    Nobodys,
    /// Whoever's the query gives.
    Anyones,
}

/// One query and what to make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) query: Query,
    pub(super) whose: LineOwnership,
    /// All lines of its streams have to be looked at: first see whether there
    /// are such streams.
    pub(super) looks_at_all: bool,
    /// What must be said of lines found so.
    pub(super) note: Option<&'static str>,
}

impl Schema {
    /// Those of some names that are labels here, as Loki writes them.
    pub(super) fn labels_of(&self, names: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for name in names.iter().map(|name| label_name(name)) {
            if self.labels.contains(&name) && !found.contains(&name) {
                found.push(name);
            }
        }
        found
    }

    /// Selectors that together fit nearly all streams and none twice, for those
    /// without any of these labels cannot be asked for.
    pub(super) fn everything(&self) -> Vec<Vec<Matcher>> {
        let common = COMMON.iter().copied();
        let common = common.filter(|name| self.labels.contains(*name));
        let rare = self.labels.iter().map(String::as_str);
        let rare = rare.filter(|name| !COMMON.contains(name) && !name.starts_with("__"));
        let labels: Vec<String> = common.chain(rare).take(BASES).map(str::to_owned).collect();
        first_of(&labels, ".+").collect()
    }
}

impl Plan {
    fn of(query: Query, whose: LineOwnership) -> Self {
        Self {
            query,
            whose,
            looks_at_all: false,
            note: None,
        }
    }

    fn looking_at_all(query: Query, whose: LineOwnership) -> Self {
        Self {
            looks_at_all: true,
            ..Self::of(query, whose)
        }
    }

    /// The query for lines with a telling word.
    pub(super) fn evidence(&self, evidence: &EvidenceWords) -> Query {
        let mut query = self.query.clone();
        let words = one_of(evidence.words.iter().map(|word| word.part.as_str()));
        let words = format!("(?i)({words})");
        // Lines first: this is what Loki is quick at.
        let evidence = Query::default().fitting(&words);
        query.filters.splice(0..0, evidence.filters);
        query
    }

    /// Whether a line is one of those meant. Takes what a collector wrote into
    /// the line of a pod that no label names.
    pub(super) fn keeps(&self, names: &LabelNames, line: &mut StoredLine) -> bool {
        match &self.whose {
            LineOwnership::Anyones => true,
            LineOwnership::Nobodys => value(line, &names.pod).is_none(),
            LineOwnership::Pods(namespace, pods) => {
                if self.note.is_some() {
                    collectors_own(line);
                }
                let other = value(line, &names.namespace)
                    .zip(namespace.as_deref())
                    .is_some_and(|(is, wanted)| is != wanted);
                !other && value(line, &names.pod).is_none_or(|pod| pods.contains(pod))
            }
        }
    }
}

/// What labels or else metadata say under the first of some names.
fn value<'l>(line: &'l StoredLine, names: &[String]) -> Option<&'l str> {
    names
        .iter()
        .find_map(|name| line.labels.get(name).or_else(|| line.metadata.get(name)))
        .map(String::as_str)
        .filter(|value| !value.is_empty())
}

/// Fluent Bit writes what it knows into the line, `{"log", "kubernetes": {…}}`.
fn collectors_own(line: &mut StoredLine) {
    if !line.text.starts_with('{') || !line.text.contains("\"kubernetes\"") {
        return;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(&line.text) else {
        return;
    };
    let Some(Value::Object(known)) = fields.get("kubernetes") else {
        return;
    };
    for (name, value) in known {
        if let Value::String(value) = value {
            let name = format!("kubernetes_{}", label_name(name));
            line.metadata.insert(name, value.clone());
        }
    }
}

/// Queries in tiers: the next is only asked where the one before gave nothing.
pub(super) fn plan(about: &LineSubject, names: &LabelNames, schema: &Schema) -> Vec<Vec<Plan>> {
    let tiers = match about {
        LineSubject::Pods(pods) => of_pods(pods, names, schema),
        LineSubject::Nodes(nodes) => of_nodes(nodes, names, schema),
        LineSubject::Experiment(name) => of_experiment(name.trim(), names, schema),
    };
    tiers.into_iter().filter(|tier| !tier.is_empty()).collect()
}

fn of_pods(pods: &[PodRef], names: &LabelNames, schema: &Schema) -> Vec<Vec<Plan>> {
    let mut by_namespace: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.name.is_empty()) {
        let namespace = pod.namespace.as_deref().filter(|name| !name.is_empty());
        by_namespace.entry(namespace).or_default().insert(&pod.name);
    }
    let labels = schema.labels_of(&names.pod);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for (namespace, pods) in by_namespace {
        let whose = LineOwnership::Pods(
            namespace.map(str::to_owned),
            pods.iter().map(|pod| (*pod).to_owned()).collect(),
        );
        let pattern = one_of(pods.iter().copied());
        for mut streams in first_of(&labels, &pattern) {
            streams.extend(within(namespace, names, schema));
            first.push(Plan::of(Query::of(streams), whose.clone()));
        }
        let unnamed: Vec<Matcher> = labels.iter().map(|name| Matcher::missing(name)).collect();
        let conditions = in_metadata(&names.pod, &pattern);
        for mut streams in places(namespace, names, schema) {
            streams.extend(unnamed.iter().cloned());
            let query = Query::of(streams);
            if !conditions.is_empty() {
                let requested = query.clone().any(&conditions);
                first.push(Plan::looking_at_all(requested, whose.clone()));
            }
            if labels.is_empty() {
                let words = as_words(pods.iter().copied());
                // The plain texts come first, which Loki finds without a pattern.
                let query = query.fitting(&pattern).fitting(&words);
                last.push(Plan {
                    note: Some("no label names pods: lines that contain a pod's name were used"),
                    ..Plan::looking_at_all(query, whose.clone())
                });
            }
        }
    }
    vec![first, last]
}

fn of_nodes(nodes: &[String], names: &LabelNames, schema: &Schema) -> Vec<Vec<Plan>> {
    let nodes: BTreeSet<&str> = nodes
        .iter()
        .map(String::as_str)
        .filter(|name| !name.is_empty())
        .collect();
    if nodes.is_empty() {
        return Vec::new();
    }
    let pattern = one_of(nodes.iter().copied());
    let known = names.machines();
    let labels = schema.labels_of(&known);
    let pods = schema.labels_of(&names.pod);
    let no_pod = || pods.iter().map(|name| Matcher::missing(name));
    let by_label = first_of(&labels, &pattern).map(|mut streams| {
        streams.extend(no_pod());
        Plan::of(Query::of(streams), LineOwnership::Nobodys)
    });
    let by_label: Vec<Plan> = by_label.collect();
    let unnamed: Vec<Matcher> = labels.iter().map(|name| Matcher::missing(name)).collect();
    let conditions = in_metadata(&known, &pattern);
    let by_metadata = schema.everything().into_iter().map(|mut streams| {
        streams.extend(no_pod());
        streams.extend(unnamed.clone());
        Plan::looking_at_all(Query::of(streams).any(&conditions), LineOwnership::Nobodys)
    });
    vec![by_label, by_metadata.collect()]
}

fn of_experiment(name: &str, names: &LabelNames, schema: &Schema) -> Vec<Vec<Plan>> {
    if name.is_empty() {
        return Vec::new();
    }
    let exact = literal(name);
    let any = |query| Plan::of(query, LineOwnership::Anyones);
    let by = |labels: &[String], pattern: &str| -> Vec<Plan> {
        each_once(labels, pattern)
            .map(|streams| any(Query::of(streams)))
            .collect()
    };
    let workloads: Vec<String> = LabelNames::workloads()
        .chain(NAMED)
        .map(str::to_owned)
        .collect();
    // promtail writes a job as `namespace/name`.
    let workload = format!("(.*/)?{exact}");
    let stem = format!("{exact}(-.*)?");
    let mut conditions = in_metadata(&names.experiment, &exact);
    conditions.extend(in_metadata(&workloads, &exact));
    conditions.extend(in_metadata(&names.pod, &stem));
    let all = || {
        let selectors = schema.everything().into_iter();
        selectors.map(|streams| Plan::looking_at_all(Query::of(streams), LineOwnership::Anyones))
    };
    let by_metadata = all().map(|plan| Plan {
        query: plan.query.any(&conditions),
        ..plan
    });
    let by_words = all().map(|plan| Plan {
        query: plan.query.holding(name).fitting(&as_words([name])),
        note: Some("no label has this name: lines that contain it were used"),
        ..plan
    });
    vec![
        by(&schema.labels_of(&names.experiment), &exact),
        by(&schema.labels_of(&workloads), &workload),
        by(&schema.labels_of(&names.pod), &stem),
        by_metadata.collect(),
        by_words.collect(),
    ]
}

/// For each label the streams that have it and none of those before it.
fn first_of<'l>(labels: &'l [String], pattern: &'l str) -> impl Iterator<Item = Vec<Matcher>> + 'l {
    labels.iter().enumerate().map(move |(at, name)| {
        let mut streams = vec![Matcher::new(name, MatchOp::Fits, pattern)];
        streams.extend(labels[..at].iter().map(|name| Matcher::missing(name)));
        streams
    })
}

/// For each label the streams in which it fits and none of those before it does.
pub(super) fn each_once<'l>(
    labels: &'l [String],
    pattern: &'l str,
) -> impl Iterator<Item = Vec<Matcher>> + 'l {
    labels.iter().enumerate().map(move |(at, name)| {
        let mut streams = vec![Matcher::new(name, MatchOp::Fits, pattern)];
        let before = labels[..at].iter();
        streams.extend(before.map(|name| Matcher::new(name, MatchOp::FitsNot, pattern)));
        streams
    })
}

/// Streams of this namespace, and those that name none.
fn within(namespace: Option<&str>, names: &LabelNames, schema: &Schema) -> Vec<Matcher> {
    let Some(namespace) = namespace else {
        return Vec::new();
    };
    let pattern = format!("{}|", literal(namespace));
    let labels = schema.labels_of(&names.namespace);
    labels
        .iter()
        .map(|name| Matcher::new(name, MatchOp::Fits, pattern.as_str()))
        .collect()
}

/// Selectors that together fit the streams of a namespace where one is named by
/// labels, else all.
fn places(namespace: Option<&str>, names: &LabelNames, schema: &Schema) -> Vec<Vec<Matcher>> {
    let labels = schema.labels_of(&names.namespace);
    match namespace {
        Some(namespace) if !labels.is_empty() => first_of(&labels, &literal(namespace)).collect(),
        _ => schema.everything(),
    }
}

/// Conditions on what is known of single lines.
fn in_metadata(names: &[String], pattern: &str) -> Vec<Matcher> {
    let mut found: Vec<Matcher> = Vec::new();
    for name in names.iter().map(|name| label_name(name)) {
        if !found.iter().any(|one| one.name == name) {
            found.push(Matcher::new(&name, MatchOp::Fits, pattern));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(labels: &[&str]) -> Schema {
        Schema {
            labels: labels.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn pods(namespace: Option<&str>, names: &[&str]) -> LineSubject {
        let pod = |name: &&str| PodRef {
            namespace: namespace.map(str::to_owned),
            name: (*name).to_owned(),
        };
        LineSubject::Pods(names.iter().map(pod).collect())
    }

    fn queries(about: &LineSubject, labels: &[&str]) -> Vec<Vec<String>> {
        let tiers = plan(about, &LabelNames::default(), &schema(labels));
        tiers
            .iter()
            .map(|tier| tier.iter().map(|plan| plan.query.to_string()).collect())
            .collect()
    }

    #[test]
    fn pods_are_asked_by_label_and_other_streams_by_metadata() {
        let tiers = queries(
            &pods(Some("n"), &["a.1", "b"]),
            &["namespace", "pod", "service_name"],
        );
        assert_eq!(tiers.len(), 1);
        assert_eq!(tiers[0][0], r#"{pod=~"a\\.1|b",namespace=~"n|"}"#);
        assert!(
            tiers[0][1]
                .starts_with(r#"{namespace=~"n",pod=""} | pod=~"a\\.1|b" or k8s_pod_name=~"#),
            "{tiers:?}"
        );
    }

    #[test]
    fn two_names_for_one_thing_give_no_line_twice() {
        let tiers = queries(&pods(None, &["a"]), &["pod", "k8s_pod_name"]);
        assert_eq!(tiers[0][0], r#"{pod=~"a"}"#);
        assert_eq!(tiers[0][1], r#"{k8s_pod_name=~"a",pod=""}"#);
        let experiment = LineSubject::Experiment("x.1".to_owned());
        let tiers = queries(&experiment, &["app", "job", "pod"]);
        assert_eq!(tiers[0][0], r#"{app=~"(.*/)?x\\.1"}"#);
        assert_eq!(tiers[0][1], r#"{job=~"(.*/)?x\\.1",app!~"(.*/)?x\\.1"}"#);
        assert_eq!(tiers[1], [r#"{pod=~"x\\.1(-.*)?"}"#]);
        assert_eq!(tiers.len(), 4);
        assert!(tiers[3][0].starts_with(r#"{job=~".+"} |= "x.1" |~ "#));
    }

    #[test]
    fn where_no_label_names_pods_lines_are_looked_at() {
        let tiers = queries(&pods(Some("n"), &["a"]), &["job"]);
        assert!(tiers[0][0].starts_with(r#"{job=~".+"} | pod=~"a" or "#));
        assert!(tiers[1][0].starts_with(r#"{job=~".+"} |~ "a" |~ "#));
        assert!(queries(&pods(Some("n"), &["a"]), &[]).is_empty());
    }

    #[test]
    fn nodes_are_asked_without_their_pods() {
        let nodes = LineSubject::Nodes(vec!["g-1".to_owned()]);
        let tiers = queries(&nodes, &["node_name", "hostname", "pod", "job"]);
        assert_eq!(tiers[0][0], r#"{node_name=~"g-1",pod=""}"#);
        assert_eq!(tiers[0][1], r#"{hostname=~"g-1",node_name="",pod=""}"#);
        assert!(tiers[1][0].starts_with(r#"{job=~".+",pod="",node_name="",hostname=""} | "#));
    }

    #[test]
    fn telling_words_are_asked_for_first_and_in_any_case() {
        let plans = plan(
            &pods(None, &["a"]),
            &LabelNames::default(),
            &schema(&["job"]),
        );
        let evidence = |about: &LineSubject| plans[0][0].evidence(&about.evidence()).to_string();
        let query = evidence(&pods(None, &["a"]));
        assert!(
            query.starts_with(r#"{job=~".+"} |~ "(?i)(error|exception|"#),
            "{query}"
        );
        let query = evidence(&LineSubject::Nodes(vec!["g-1".to_owned()]));
        assert!(query.contains("nvrm: xid|"), "{query}");
        assert!(query.len() < 5_000, "old versions refuse longer ones");
    }
}
