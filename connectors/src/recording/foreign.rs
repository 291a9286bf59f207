//! JSON records that are not of Kubernetes, and who decodes them.
//!
//! A record that the Kubernetes decoder turns away is shown to each [`Decoder`]
//! in turn; the first that recognises it by its keys decodes it. A new kind of
//! record is one line in [`DECODERS`].

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::event::{Origin, SourceKind};
use crate::logs::StoredLine;
use crate::observation::{Observation, Rejection};
use crate::{
    alertmanager, aws, azure, cloudwatch, datadog, elasticsearch, gcp, grafana, log_store,
    node_log, prometheus, slurm,
};

/// A record and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'r> {
    /// The record's own fields.
    pub(crate) fields: &'r Map<String, Value>,
    /// The key of the array it is an item of (`Records`); empty where none.
    pub(crate) within: &'r str,
    pub(crate) origin: &'r Origin,
}

/// What records told. Lines of logs are kept apart: those of one batch are
/// joined where they are one traceback.
#[derive(Debug, Default)]
pub(crate) struct ForeignOutput {
    pub(crate) observations: Vec<Observation>,
    pub(crate) lines: Vec<StoredLine>,
    /// Lines of log stores, as their live answers have them.
    pub(crate) stored: BTreeMap<SourceKind, Vec<log_store::StoredLine>>,
}

impl ForeignOutput {
    /// A line of a log store.
    pub(crate) fn line(&mut self, kind: SourceKind, line: log_store::StoredLine) {
        self.stored.entry(kind).or_default().push(line);
    }
}

/// Who decodes a kind of record.
pub(crate) struct Decoder {
    /// Whether it is such a record: its fields, and the array it is an item of.
    pub(crate) recognise: fn(&Map<String, Value>, &str) -> bool,
    pub(crate) decode: fn(Record<'_>, &mut ForeignOutput) -> Result<(), Rejection>,
    /// Top-level keys by which YAML is known to be such records.
    pub(crate) yaml: &'static [&'static str],
}

/// The first that recognises a record gets it.
const DECODERS: &[Decoder] = &[
    Decoder {
        recognise: gcp::recognise,
        decode: gcp::decode,
        yaml: gcp::YAML_KEYS,
    },
    Decoder {
        recognise: |fields, within| slurm::is_job(fields, within) || slurm::is_node(fields, within),
        decode: slurm::decode,
        yaml: &[],
    },
    Decoder {
        recognise: node_log::recognise,
        decode: node_log::decode,
        yaml: &[],
    },
    Decoder {
        recognise: datadog::recognise,
        decode: datadog::decode,
        yaml: &[],
    },
    Decoder {
        recognise: aws::recognise,
        decode: aws::decode,
        yaml: aws::YAML_KEYS,
    },
    Decoder {
        recognise: azure::recognise,
        decode: azure::decode,
        yaml: azure::YAML_KEYS,
    },
    elasticsearch::HIT,
    elasticsearch::ACTION,
    elasticsearch::DOCUMENT,
    cloudwatch::EVENT,
    cloudwatch::RESULTS,
    cloudwatch::ROW,
    prometheus::ANSWER,
    alertmanager::ALERT,
    alertmanager::SILENCE,
    grafana::ANNOTATION,
];

/// Arrays that answers and files wrap records in. Only objects in them are taken.
pub(super) const WRAPPERS: &[&str] = &[
    "Records",
    "records",
    "value",
    "entries",
    "Events",
    "Reservations",
    "InstanceStatuses",
    "SpotInstanceRequests",
    "Activities",
    "jobs",
    "nodes",
    "events",
    "Members",
    "entities",
    "successfulSet",
    "hits",
];

/// Objects around such an array, as recorders of API calls write them.
const ENVELOPES: &[&str] = &["response", "data", "body", "events-query", "hits"];

/// Envelopes are opened in each other no deeper than this.
const MAX_DEPTH: usize = 4;

/// Only what tells a Kubernetes object.
#[derive(Deserialize)]
struct ObjectHeader {
    #[serde(rename = "apiVersion")]
    api_version: Option<IgnoredAny>,
}

/// Decodes a record; `None` where nobody knows it.
pub(super) fn decode(
    json: &[u8],
    within: &str,
    origin: &Origin,
    emitted: &mut ForeignOutput,
) -> Option<Result<(), Rejection>> {
    let top: ObjectHeader = serde_json::from_slice(json).ok()?;
    if top.api_version.is_some() {
        return None;
    }
    let fields = serde_json::from_slice(json).ok()?;
    let record = Record {
        fields: &fields,
        within,
        origin,
    };
    offer(record, MAX_DEPTH, emitted)
}

fn offer(
    record: Record<'_>,
    depth: usize,
    emitted: &mut ForeignOutput,
) -> Option<Result<(), Rejection>> {
    let found = DECODERS
        .iter()
        .find(|decoder| (decoder.recognise)(record.fields, record.within));
    if let Some(decoder) = found {
        return Some((decoder.decode)(record, emitted));
    }
    if depth == 0 {
        return None;
    }
    let envelope = ENVELOPES
        .iter()
        .find_map(|key| record.fields.get(*key)?.as_object());
    if let Some(fields) = envelope
        && let Some(known) = offer(Record { fields, ..record }, depth - 1, emitted)
    {
        return Some(known);
    }
    let (within, items) = wrapped(record.fields)?;
    let mut known = None;
    for fields in items.iter().filter_map(Value::as_object) {
        let item = Record {
            fields,
            within,
            ..record
        };
        match (offer(item, depth - 1, emitted), &mut known) {
            (Some(Ok(())), known) => *known = Some(Ok(())),
            (Some(error), known @ None) => *known = Some(error),
            _ => {}
        }
    }
    known
}

/// The array of objects that `fields` is only a wrapper of.
fn wrapped(fields: &Map<String, Value>) -> Option<(&'static str, &[Value])> {
    WRAPPERS.iter().find_map(|key| {
        let items = fields.get(*key)?.as_array()?;
        items.first()?.is_object().then_some((*key, &**items))
    })
}

/// Whether somebody knows a record of these fields, or what it wraps.
pub(super) fn is_known(fields: &Map<String, Value>) -> bool {
    let by_decoder = |fields: &Map<String, Value>, within: &str| {
        DECODERS
            .iter()
            .any(|decoder| (decoder.recognise)(fields, within))
    };
    let inside = || {
        let (within, items) = wrapped(fields)?;
        let first = items.first()?.as_object()?;
        Some(by_decoder(first, within))
    };
    by_decoder(fields, "") || inside().unwrap_or(false)
}

/// Whether a top-level key of YAML tells such records.
pub(super) fn is_yaml_key(key: &str) -> bool {
    DECODERS.iter().any(|decoder| decoder.yaml.contains(&key))
}
