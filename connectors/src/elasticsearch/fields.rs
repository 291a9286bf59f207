//! Which fields hold what: discovered, since every shipper names them otherwise.

use std::collections::BTreeSet;

use super::answer::FieldCapabilities;
use super::options::ElasticsearchOptions;
use crate::log_store::{LabelNames, label_name};

/// Fields of the time.
const TIMES: [&str; 4] = ["@timestamp", "timestamp", "time", "ts"];

/// Fields of the line: ECS and Logstash, Fluent Bit, `OpenTelemetry`, others, systemd's
/// journal.
pub(super) const MESSAGES: [&str; 8] = [
    "message",
    "log",
    "body.text",
    "body",
    "Body",
    "msg",
    "event.original",
    "MESSAGE",
];

/// Of pods, where fields cannot be looked up.
const GUESSES: [&str; 5] = [
    "kubernetes.pod.name",
    "kubernetes.pod_name",
    "resource.attributes.k8s.pod.name",
    "kubernetes.namespace",
    "kubernetes.namespace_name",
];

/// How a value is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// The whole value is one term.
    Term,
    /// The value is taken apart into words.
    Phrase,
}

/// A field that is searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) by: Match,
}

/// How exact stored times are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    Millis,
    Nanos,
    /// Some indices have the one, some the other.
    Mixed,
}

/// Which fields hold what.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    /// Indices that the pattern names and that we may see; `None` where not known.
    pub(super) indices: Option<usize>,
    pub(super) time: String,
    pub(super) resolution: Resolution,
    pub(super) message: Vec<Field>,
    pub(super) pod: Vec<Field>,
    pub(super) namespace: Vec<Field>,
    pub(super) node: Vec<Field>,
    /// Experiments and workloads.
    pub(super) experiment: Vec<Field>,
}

/// Patterns of all fields of interest, in portions that fit into a URL.
pub(super) fn patterns(options: &ElasticsearchOptions) -> Vec<String> {
    const PORTION: usize = 2_000;
    let names = &options.names;
    let labels = [
        &names.pod,
        &names.namespace,
        &names.node,
        &names.host,
        &names.experiment,
    ];
    let mut all: BTreeSet<String> = labels
        .into_iter()
        .flatten()
        .cloned()
        .chain(LabelNames::workloads().map(str::to_owned))
        .flat_map(|name| {
            if name.contains('_') {
                // Any of `.`, `-` and `_`; what it finds too much is left out later.
                vec![format!("{}*", name.replace('_', "*"))]
            } else {
                vec![format!("{name}.keyword"), name]
            }
        })
        .collect();
    let messages = options.message_fields.iter().map(String::as_str);
    for name in messages.chain(MESSAGES) {
        all.insert(name.to_owned());
        all.insert(format!("{name}.keyword"));
    }
    all.extend(TIMES.map(str::to_owned));
    all.extend(options.time_field.clone());
    let mut portions: Vec<String> = Vec::new();
    for pattern in all {
        match portions.last_mut() {
            Some(last) if last.len() + pattern.len() < PORTION => {
                last.push(',');
                last.push_str(&pattern);
            }
            _ => portions.push(pattern),
        }
    }
    portions
}

impl Fields {
    /// What the caps of all fields of interest say.
    pub(super) fn of(caps: &FieldCapabilities, options: &ElasticsearchOptions) -> Self {
        let names = &options.names;
        let of = |wanted: &[String]| -> Vec<Field> {
            let mut found = Vec::new();
            for name in wanted {
                let fields = caps
                    .fields
                    .keys()
                    .filter(|field| label_name(field) == *name);
                for field in fields {
                    found.extend(searched(field, caps));
                }
            }
            found
        };
        let workloads: Vec<String> = LabelNames::workloads().map(str::to_owned).collect();
        let nodes = names.machines();
        let configured = options.message_fields.iter().map(String::as_str);
        let message: Vec<Field> = configured
            .chain(MESSAGES)
            .filter_map(|name| search_field(name, caps))
            .collect();
        let is_date = |name: &str| {
            let types = caps.fields.get(name)?;
            let found = (types.contains_key("date"), types.contains_key("date_nanos"));
            match found {
                (true, false) => Some(Resolution::Millis),
                (false, true) => Some(Resolution::Nanos),
                (true, true) => Some(Resolution::Mixed),
                (false, false) => None,
            }
        };
        let time = match &options.time_field {
            Some(name) => Some((name.as_str(), is_date(name).unwrap_or(Resolution::Mixed))),
            None => TIMES.iter().find_map(|name| Some((*name, is_date(name)?))),
        };
        let (time, resolution) = time.unwrap_or((TIMES[0], Resolution::Mixed));
        Self {
            indices: Some(caps.indices.len()),
            time: time.to_owned(),
            resolution,
            message,
            pod: of(&names.pod),
            namespace: of(&names.namespace),
            node: of(&nodes),
            experiment: [of(&names.experiment), of(&workloads)].concat(),
        }
    }

    /// What is usual, where we may not look.
    pub(super) fn guessed(options: &ElasticsearchOptions) -> Self {
        let both = |name: &str| {
            ["", ".keyword"].map(|suffix| Field {
                name: format!("{name}{suffix}"),
                by: Match::Term,
            })
        };
        let of = |wanted: &[String]| -> Vec<Field> {
            let known = GUESSES
                .iter()
                .filter(|name| wanted.contains(&label_name(name)));
            known.flat_map(|name| both(name)).collect()
        };
        let names = &options.names;
        let mut message: Vec<&str> = options.message_fields.iter().map(String::as_str).collect();
        message.extend(&MESSAGES[..2]);
        Self {
            indices: None,
            time: options.time_field.clone().unwrap_or(TIMES[0].to_owned()),
            resolution: Resolution::Mixed,
            message: message
                .into_iter()
                .map(|name| Field {
                    name: name.to_owned(),
                    by: Match::Phrase,
                })
                .collect(),
            pod: of(&names.pod),
            namespace: of(&names.namespace),
            node: ["host.name", "kubernetes.node.name", "kubernetes.host"]
                .iter()
                .flat_map(|name| both(name))
                .collect(),
            experiment: Vec::new(),
        }
    }
}

const TERMS: [&str; 5] = ["keyword", "constant_keyword", "wildcard", "flattened", "ip"];
const WORDS: [&str; 2] = ["text", "match_only_text"];

fn is_of(name: &str, caps: &FieldCapabilities, types: &[&str]) -> bool {
    caps.fields.get(name).is_some_and(|caps| {
        let mut caps = caps.iter();
        caps.any(|(kind, cap)| cap.searchable && types.contains(&kind.as_str()))
    })
}

/// How a name in this field is looked for; both ways where indices differ.
fn searched(name: &str, caps: &FieldCapabilities) -> Vec<Field> {
    let mut found = Vec::new();
    if is_of(name, caps, &TERMS) {
        found.push(Field {
            name: name.to_owned(),
            by: Match::Term,
        });
    }
    if is_of(name, caps, &WORDS) {
        let exact = format!("{name}.keyword");
        let has_exact = is_of(&exact, caps, &TERMS);
        found.push(Field {
            name: if has_exact { exact } else { name.to_owned() },
            by: if has_exact {
                Match::Term
            } else {
                Match::Phrase
            },
        });
    }
    found
}

/// How words in this field are looked for.
fn search_field(name: &str, caps: &FieldCapabilities) -> Option<Field> {
    let by = if is_of(name, caps, &WORDS) {
        Match::Phrase
    } else if is_of(name, caps, &TERMS) {
        Match::Term
    } else {
        return None;
    };
    Some(Field {
        name: name.to_owned(),
        by,
    })
}
