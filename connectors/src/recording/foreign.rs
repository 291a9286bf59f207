//! JSON records that are not of Kubernetes, and who decodes them.
//!
//! A record that the Kubernetes decoder turns away is shown to each [`Decoder`]
//! in turn; the first that recognises it by its keys decodes it. A new kind of
//! record is one line in [`DECODERS`]; those of log stores are in their registration.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::contract::{ForeignDecoder as Decoder, ForeignOutput, ForeignRecord as Record};
use crate::event::Origin;
use crate::observation::Rejection;
use crate::{
    LOG_STORES, alertmanager, aws, azure, gcp, grafana, node_log, opentelemetry, prometheus, slurm,
    torch_error, tracker,
};

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
        recognise: aws::recognise,
        decode: aws::decode,
        yaml: aws::YAML_KEYS,
    },
    Decoder {
        recognise: azure::recognise,
        decode: azure::decode,
        yaml: azure::YAML_KEYS,
    },
    prometheus::ANSWER,
    alertmanager::ALERT,
    alertmanager::SILENCE,
    grafana::ANNOTATION,
    opentelemetry::LOGS,
    torch_error::ERROR_FILE,
    tracker::MLFLOW_META,
    tracker::WANDB_METADATA,
    tracker::WANDB_SUMMARY,
];

/// All of them; those of log stores come last.
fn decoders() -> impl Iterator<Item = &'static Decoder> {
    let of_stores = LOG_STORES.iter().flat_map(|(_, store)| store.decoders);
    DECODERS.iter().chain(of_stores)
}

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
    let found = decoders().find(|decoder| (decoder.recognise)(record.fields, record.within));
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
        decoders().any(|decoder| (decoder.recognise)(fields, within))
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
    decoders().any(|decoder| decoder.yaml.contains(&key))
}
