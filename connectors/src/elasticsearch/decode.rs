//! Documents to lines.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::Hit;
use super::fields::{MESSAGES, Resolution};
use crate::log_store::{
    LabelNames, Labels, MILLISECOND, StoredLine, flatten, label_name, millisecond,
};
use crate::time::{Nanos, SECOND, Stamp};

/// Longer values, and more of them, are no labels.
const MAX_VALUE: usize = 256;
const MAX_METADATA: usize = 40;

/// Parts of documents about the shipper, not about the line.
const NOISE: [&str; 12] = [
    "agent_",
    "ecs_",
    "elastic_agent_",
    "data_stream_",
    "event_",
    "input_",
    "kubernetes_annotations_",
    "kubernetes_node_labels_",
    "kubernetes_namespace_labels_",
    "host_ip",
    "host_mac",
    "host_os_",
];

/// Roots of names that speak of the whole stream.
const OF_STREAM: [&str; 9] = [
    "kubernetes_",
    "resource_",
    "k8s_",
    "orchestrator_",
    "host_",
    "container_",
    "cloud_",
    "service_",
    "log_file_",
];

/// How documents are read; keeps equal labels once.
#[derive(Debug)]
pub(super) struct DocumentDecoder<'n> {
    names: &'n LabelNames,
    /// Fields of the line, the best first.
    message: Vec<&'n str>,
    time: &'n str,
    resolution: Resolution,
    streams: BTreeSet<Arc<Labels>>,
}

impl<'n> DocumentDecoder<'n> {
    pub(super) fn new(
        names: &'n LabelNames,
        message: &'n [String],
        time: &'n str,
        resolution: Resolution,
    ) -> Self {
        let message = message.iter().map(String::as_str).chain(MESSAGES);
        Self {
            names,
            message: message.collect(),
            time,
            resolution,
            streams: BTreeSet::new(),
        }
    }

    /// A document's line.
    ///
    /// # Errors
    /// Says what it lacks.
    pub(super) fn line(&mut self, hit: &Hit, number: u64) -> Result<StoredLine, &'static str> {
        let source = hit.source.as_ref().ok_or("a document without _source")?;
        let id = (!hit.id.is_empty()).then(|| format!("{}/{}", hit.index, hit.id));
        let line = self.of(source, sorted_at(&hit.sort), number)?;
        let order = if line.order == 0 {
            hit.seq_no.unwrap_or(0)
        } else {
            line.order
        };
        Ok(StoredLine { id, order, ..line })
    }

    /// The line that fields make.
    pub(super) fn of(
        &mut self,
        source: &Map<String, Value>,
        sorted: Option<Nanos>,
        number: u64,
    ) -> Result<StoredLine, &'static str> {
        let mut flat = flatten(source);
        let written = flat
            .get(self.time)
            .or_else(|| flat.get("@timestamp"))
            .or_else(|| flat.get("timestamp"));
        let written = written.and_then(|text| moment(text));
        let stamp = stamp(sorted, written, self.resolution).ok_or("a document without a time")?;
        let key = self.message.iter().find(|name| flat.contains_key(**name));
        let key = key.copied();
        let text = key.and_then(|name| flat.remove(name));
        for name in MESSAGES {
            flat.remove(name);
        }
        for name in [self.time, "@timestamp", "@version"] {
            flat.remove(name);
        }
        // The offset in the file is the order in which lines were written.
        let order = flat.remove("log.offset");
        let order = order.and_then(|offset| offset.parse().ok()).unwrap_or(0);
        let (mut labels, mut metadata) = (Labels::new(), Labels::new());
        for (name, value) in flat {
            let name = label_name(&name);
            if NOISE.iter().any(|noise| name.starts_with(noise)) || value.len() > MAX_VALUE {
                continue;
            }
            if self.is_of_stream(&name) {
                labels.insert(name, value);
            } else if metadata.len() < MAX_METADATA {
                metadata.insert(name, value);
            }
        }
        let text = match text {
            Some(text) => text.trim_end_matches(['\n', '\r']).to_owned(),
            // Parsed by the shipper: what it made of the line is the line.
            None if metadata.is_empty() => return Err("a document without a message"),
            None => serde_json::to_string(&std::mem::take(&mut metadata)).unwrap_or_default(),
        };
        Ok(StoredLine {
            stamp,
            text,
            labels: self.shared(labels),
            metadata,
            id: None,
            order,
            number,
        })
    }

    fn is_of_stream(&self, name: &str) -> bool {
        let names = self.names;
        let known = [
            &names.cluster,
            &names.namespace,
            &names.pod,
            &names.pod_uid,
            &names.container,
            &names.node,
            &names.host,
            &names.experiment,
        ];
        OF_STREAM.iter().any(|root| name.starts_with(root))
            || known.iter().any(|names| names.iter().any(|n| n == name))
    }

    fn shared(&mut self, labels: Labels) -> Arc<Labels> {
        if let Some(known) = self.streams.get(&labels) {
            return Arc::clone(known);
        }
        let labels = Arc::new(labels);
        self.streams.insert(Arc::clone(&labels));
        labels
    }
}

/// The time by which a document was sorted: nanoseconds, or text where the server
/// writes dates; milliseconds where it knows no nanoseconds.
pub(super) fn sorted_at(sort: &[Value]) -> Option<Nanos> {
    match sort.first()? {
        Value::Number(number) => {
            let number = number.as_i64()?;
            // Milliseconds of the year 33658 are nanoseconds of January 1970.
            Some(if number.abs() < 1_000_000_000_000_000 {
                number.saturating_mul(MILLISECOND)
            } else {
                number
            })
        }
        Value::String(text) => Some(moment(text)?.lo),
        _ => None,
    }
}

/// A time as documents write it: RFC 3339, without zone (UTC), or a number of
/// seconds or milliseconds since 1970.
pub(super) fn moment(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(if number.abs() < 100_000_000_000 {
            Stamp::second(number.saturating_mul(SECOND))
        } else {
            let lo = number.saturating_mul(MILLISECOND);
            Stamp {
                lo,
                hi: lo.saturating_add(MILLISECOND),
            }
        });
    }
    if let Some((seconds, fraction)) = text.split_once('.')
        && let Ok(seconds) = seconds.parse::<i64>()
        && let digits = fraction.len().min(9)
        && let Ok(part) = fraction.get(..digits)?.parse::<i64>()
    {
        let unit = 10_i64.pow(u32::try_from(9 - digits).ok()?);
        let lo = seconds.checked_mul(SECOND)?.checked_add(part * unit)?;
        return Some(Stamp { lo, hi: lo + unit });
    }
    Stamp::parse(&format!("{}Z", text.replacen(' ', "T", 1)))
}

/// What the index knows, made more exact by what the document says: indices cut
/// times to their resolution.
fn stamp(sorted: Option<Nanos>, written: Option<Stamp>, by: Resolution) -> Option<Stamp> {
    let Some(at) = sorted else {
        return written;
    };
    let exact = by == Resolution::Nanos || at % MILLISECOND != 0;
    if exact {
        return Some(Stamp::exact(at));
    }
    Some(millisecond(at, written))
}
