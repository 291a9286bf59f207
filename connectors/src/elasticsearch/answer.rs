//! Answers as they are on the wire.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// `GET /`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Info {
    #[serde(default)]
    pub(super) cluster_name: String,
    #[serde(default)]
    pub(super) version: Version,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Version {
    #[serde(default)]
    pub(super) number: String,
    /// `opensearch`; Elasticsearch has none.
    pub(super) distribution: Option<String>,
}

/// `_field_caps`: of each field, by type.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FieldCapabilities {
    #[serde(default)]
    pub(super) indices: Vec<IgnoredAny>,
    #[serde(default)]
    pub(super) fields: BTreeMap<String, BTreeMap<String, FieldCapability>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FieldCapability {
    #[serde(default)]
    pub(super) searchable: bool,
}

/// An opened point in time: Elasticsearch says `id`, `OpenSearch` `pit_id`.
#[derive(Debug, Deserialize)]
pub(super) struct OpenedPit {
    #[serde(alias = "pit_id")]
    pub(super) id: String,
}

/// `_search`.
#[derive(Debug, Deserialize)]
pub(super) struct SearchAnswer {
    #[serde(default)]
    timed_out: bool,
    pub(super) pit_id: Option<String>,
    #[serde(rename = "_shards", default)]
    shards: Shards,
    #[serde(rename = "_clusters", default)]
    clusters: Clusters,
    #[serde(default)]
    pub(super) hits: Hits,
    #[serde(default)]
    pub(super) aggregations: Value,
}

#[derive(Debug, Default, Deserialize)]
struct Shards {
    #[serde(default)]
    total: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    failures: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Clusters {
    #[serde(default)]
    total: u64,
    #[serde(default)]
    skipped: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    partial: u64,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Hits {
    #[serde(default)]
    total: Value,
    #[serde(default)]
    pub(super) hits: Vec<Hit>,
}

/// One document.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Hit {
    #[serde(rename = "_index", default)]
    pub(super) index: String,
    #[serde(rename = "_id", default)]
    pub(super) id: String,
    #[serde(rename = "_seq_no")]
    pub(super) seq_no: Option<i64>,
    #[serde(rename = "_source")]
    pub(super) source: Option<Map<String, Value>>,
    #[serde(default)]
    pub(super) sort: Vec<Value>,
}

impl SearchAnswer {
    /// How it falls short of what was asked for, in words.
    pub(super) fn shortfalls(&self) -> Vec<String> {
        let mut short = Vec::new();
        if self.timed_out {
            short.push("the search timed out on some shards".to_owned());
        }
        let Shards {
            total,
            failed,
            failures,
        } = &self.shards;
        if *failed > 0 {
            let why = failures
                .first()
                .and_then(|failure| failure.pointer("/reason/reason")?.as_str())
                .map_or(String::new(), |why| {
                    format!(": {}", crate::redact::redact(why))
                });
            short.push(format!("{failed} of {total} shards did not answer{why}"));
        }
        let clusters = &self.clusters;
        let missing = clusters.skipped + clusters.failed + clusters.partial;
        if missing > 0 {
            short.push(format!(
                "{missing} of {} remote clusters did not answer in full",
                clusters.total
            ));
        }
        short
    }

    /// No index was searched at all.
    pub(super) fn is_of_nothing(&self) -> bool {
        self.shards.total == 0 && self.clusters.total == 0
    }

    /// Whether any document matched.
    pub(super) fn found_any(&self) -> bool {
        let total = &self.hits.total;
        let count = total.get("value").unwrap_or(total).as_u64();
        count.is_some_and(|count| count > 0) || !self.hits.hits.is_empty()
    }
}
