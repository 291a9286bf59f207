//! `whathappened store status`

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use indicatif::HumanBytes;
use serde_json::{Value, json};
use whathappened_model::time::rfc3339;
use whathappened_store::{Limits, Status, Store};

#[cfg(feature = "lake")]
use super::lake;
use super::{Damage, count};
use crate::cli::{OutputArgs, StoreArgs};
use crate::commands::{clock, common, settings};
use crate::error::Error;
use crate::render::{self, Format};

pub(super) fn run(stored: &StoreArgs, output: &OutputArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    #[cfg(feature = "lake")]
    if let Some(url) = &config.store.index_of {
        return lake::status(&config, url, output);
    }
    let store = Store::open_to_read(&config.store_path()?)?;
    let status = store.status()?;
    if output.format == Format::Json {
        common::print(&format!(
            "{:#}\n",
            to_json(&store, &status, &config.limits())
        ))?;
        return well(&store, &status);
    }
    let rows = lines(&store, &status, &config.limits());
    let what: StringArray = rows.iter().map(|(what, _)| Some(*what)).collect();
    let value: StringArray = rows.iter().map(|(_, value)| Some(value.as_str())).collect();
    let batch = RecordBatch::try_from_iter([
        ("what", Arc::new(what) as ArrayRef),
        ("value", Arc::new(value)),
    ])
    .map_err(datafusion::error::DataFusionError::from)?;
    let style = common::style(output);
    let out = &mut std::io::stdout().lock();
    render::rows(&batch.schema(), &[batch], output.format, &style, out)?;
    well(&store, &status)
}

/// A store that is damaged is a failure, however it is told.
fn well(store: &Store, status: &Status) -> Result<(), Error> {
    if status.is_well() {
        return Ok(());
    }
    let damage = Damage {
        database: !status.database.is_empty(),
        rows: 0,
        segments: status.damaged.len(),
        unlisted: status.unlisted.len(),
    };
    Err(Error::Damaged(format!(
        "{}: {}",
        store.root().display(),
        damage.words()
    )))
}

/// One object, with bytes as numbers and times in RFC 3339, for programs.
fn to_json(store: &Store, status: &Status, limits: &Limits) -> Value {
    let texts = |all: Vec<String>| Value::from(all);
    json!({
        "folder": store.root().display().to_string(),
        "format": whathappened_store::FORMAT,
        "facts": status.facts,
        "object_versions": status.versions,
        "not_yet_in_segments": status.hot,
        "pods_and_workloads": status.entities,
        "incidents": status.incidents,
        "from": status.from.map(rfc3339),
        "to": status.to.map(rfc3339),
        "day_folders": status.days,
        "segments": status.segments,
        "segment_bytes": status.segment_bytes,
        "database_bytes": status.database_bytes,
        "bytes": status.segment_bytes.saturating_add(status.database_bytes),
        "max_bytes": limits.max_bytes,
        "damaged": texts(status.damaged.iter().map(ToString::to_string).collect()),
        "database_damaged": texts(status.database.iter().map(ToString::to_string).collect()),
        "not_in_the_index": texts(status.unlisted.iter().map(ToString::to_string).collect()),
        "redacted_by_older_rules": status.outdated,
        "what_to_do": status.hint(),
    })
}

fn lines(store: &Store, status: &Status, limits: &Limits) -> Vec<(&'static str, String)> {
    let time = |at: Option<i64>| at.map_or_else(String::new, rfc3339);
    let mut lines = vec![
        ("folder", store.root().display().to_string()),
        ("format", whathappened_store::FORMAT.to_string()),
        ("facts", status.facts.to_string()),
        ("object versions", status.versions.to_string()),
        ("not yet in segments", status.hot.to_string()),
        ("pods and workloads", status.entities.to_string()),
        ("incidents", status.incidents.to_string()),
        ("from", time(status.from)),
        ("to", time(status.to)),
        ("oldest", age(status.from)),
        ("day folders", status.days.to_string()),
        ("segments", status.segments.to_string()),
        ("size of segments", size(status.segment_bytes)),
        ("size of the database", size(status.database_bytes)),
        ("size", share(status, limits)),
    ];
    lines.extend(
        status
            .damaged
            .iter()
            .map(|one| ("damaged", one.to_string())),
    );
    if status.outdated > 0 {
        let outdated = count(
            usize::try_from(status.outdated).unwrap_or(usize::MAX),
            "segment",
        );
        lines.push(("redacted by older rules", outdated));
    }
    let unlisted = status.unlisted.iter();
    lines.extend(unlisted.map(|file| ("not in the index", file.clone())));
    lines.extend(
        status
            .database
            .iter()
            .map(|detail| ("damaged", format!("store.db: {detail}"))),
    );
    lines.extend(status.hint().map(|hint| ("what to do", hint.to_owned())));
    lines
}

/// Bytes as people count them; at the end as they are, for scripts.
fn size(bytes: u64) -> String {
    let shown = HumanBytes(bytes).to_string();
    if bytes < 1_024 {
        return shown;
    }
    format!("{shown} ({bytes} B)")
}

/// All of it, and how much that is of what it may be.
fn share(status: &Status, limits: &Limits) -> String {
    let bytes = status.segment_bytes.saturating_add(status.database_bytes);
    let most = limits.max_bytes;
    let percent = u128::from(bytes) * 100 / u128::from(most.max(1));
    format!(
        "{} of {} ({percent} %)",
        HumanBytes(bytes),
        HumanBytes(most)
    )
}

/// How long ago the oldest record was.
fn age(from: Option<i64>) -> String {
    let Some(age) = from.map(|from| clock::now().saturating_sub(from)) else {
        return String::new();
    };
    const HOUR: i64 = 3_600_000_000_000;
    match age / HOUR {
        hours @ ..48 => format!("{} h ago", hours.max(0)),
        hours => format!("{} d ago", hours / 24),
    }
}
