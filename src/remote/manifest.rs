//! The list of segments that count.

use serde::{Deserialize, Serialize};
use whathappened_store::{FORMAT, Segment, Table};

/// Its name beside the data.
pub(super) const NAME: &str = "manifest.json";

/// The segments of a store at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the store.
    pub format: i64,
    /// Which store it is of; older programs did not say.
    #[serde(default)]
    pub store: Option<String>,
    /// The segments, in order of (table, day, number).
    pub segments: Vec<ManifestSegment>,
}

/// A segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSegment {
    /// `events` or `objects`.
    pub table: String,
    /// Its path below the manifest's folder.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The earliest time in it, in nanoseconds.
    pub time_from: i64,
    /// The latest time in it, in nanoseconds.
    pub time_to: i64,
}

impl Manifest {
    pub(super) fn of<'a>(store: String, segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        let listed = |segment: &Segment| ManifestSegment {
            table: segment.table.as_str().to_owned(),
            file: segment.file.clone(),
            rows: segment.rows,
            bytes: segment.bytes,
            time_from: segment.time_from,
            time_to: segment.time_to,
        };
        Self {
            format: FORMAT,
            store: Some(store),
            segments: segments.into_iter().map(listed).collect(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|error| format!("{NAME}: {error}"))?;
        if manifest.format > FORMAT {
            return Err(format!(
                "format {}; this version supports formats up to {FORMAT}: use a newer version of whathappened",
                manifest.format
            ));
        }
        Ok(manifest)
    }

    /// Why a store may not be pushed over this one, where it may not: what a manifest
    /// does not list is removed, and another store's segments are not on ours.
    pub(super) fn refuses(&self, store: &str) -> Option<String> {
        let owner = self.store.as_deref().filter(|owner| *owner != store)?;
        Some(format!(
            "this location belongs to another store ({owner}), and pushing this one ({store}) \
             would remove its segments; push to a folder of its own, or remove {NAME} there if \
             that store no longer exists"
        ))
    }

    /// The segments of a table.
    pub fn of_table(&self, table: Table) -> impl Iterator<Item = &ManifestSegment> {
        self.segments
            .iter()
            .filter(move |listed| listed.table == table.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_format_is_refused() {
        let reported = Manifest::parse(br#"{"format":99,"segments":[]}"#).unwrap_err();
        assert!(reported.contains("format 99"), "{reported}");
        assert!(Manifest::parse(b"<html>").unwrap_err().starts_with(NAME));
    }

    #[test]
    fn only_its_own_store_is_pushed_over_it() {
        let of = |text: &str| Manifest::parse(text.as_bytes()).unwrap();
        let there = of(r#"{"format":1,"store":"aa","segments":[]}"#);
        assert_eq!(there.refuses("aa"), None);
        let reported = there.refuses("bb").unwrap();
        assert!(reported.contains("another store (aa)"), "{reported}");
        // What an older program pushed says nothing of whose it is.
        assert_eq!(of(r#"{"format":1,"segments":[]}"#).refuses("bb"), None);
    }
}
