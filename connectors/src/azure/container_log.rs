//! Lines of containers as Log Analytics keeps them (`ContainerLogV2`): rows of `az monitor log-analytics query`, and the
//! portal's export in CSV.

use chrono::NaiveDateTime;
use serde_json::{Map, Value};

use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord, RecordedLine, Table};
use crate::event::{Entities, SourceKind};
use crate::observation::Rejection;
use crate::time::{Nanos, Stamp};

/// The export in CSV.
pub(crate) const ROWS_CSV: Table = Table {
    recognise: |columns| {
        columns.iter().any(|name| is_time(name)) && {
            let has = |name: &str| columns.iter().any(|column| column == name);
            has("LogMessage") && has("PodName")
        }
    },
    record: |columns, values| {
        let named = columns.iter().zip(values);
        named
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect()
    },
};

/// `TimeGenerated`; the portal writes the zone behind it.
fn is_time(column: &str) -> bool {
    column == "TimeGenerated" || column.starts_with("TimeGenerated [")
}

/// Whether it is a row of that table.
pub(super) fn is_row(fields: &Fields) -> bool {
    fields.contains_key("LogMessage")
        && fields.contains_key("PodName")
        && fields.keys().any(|name| is_time(name))
}

/// Decodes it.
///
/// # Errors
/// Says why a row is of no use.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let malformed = |why: &str| Rejection::Malformed(format!("a row of ContainerLogV2 {why}"));
    let time = time(fields).ok_or_else(|| malformed("without a time in UTC"))?;
    // A line in JSON is kept as an object.
    let text = match fields.get("LogMessage") {
        Some(Value::String(text)) => text.clone(),
        Some(object @ Value::Object(_)) => object.to_string(),
        _ => return Err(malformed("whose LogMessage is no text")),
    };
    let text_of = |name: &str| field::text(fields, &[name]).filter(|text| !text.is_empty());
    let entities = Entities {
        namespace: text_of("PodNamespace").map(str::to_owned),
        pod: text_of("PodName").map(str::to_owned),
        container: text_of("ContainerName").map(str::to_owned),
        node: text_of("Computer").map(str::to_owned),
        ..Entities::default()
    };
    emitted.lines.push(RecordedLine {
        stream: text_of("ContainerId").unwrap_or_default().to_owned(),
        time,
        text,
        source_kind: SourceKind::ContainerLog,
        entities,
        severity: text_of("LogLevel")
            .filter(|level| !level.eq_ignore_ascii_case("unknown"))
            .map(str::to_uppercase),
        attributes: Map::new(),
        line: record.origin.line,
    });
    Ok(())
}

/// RFC 3339, or `11/21/2026, 3:20:27.000 PM` under `TimeGenerated [UTC]`. Of another zone the portal does not say which.
fn time(fields: &Fields) -> Option<Stamp> {
    let text = |name: &str| field::text(fields, &[name]);
    let written = text("TimeGenerated").or_else(|| text("TimeGenerated [UTC]"))?;
    let of_portal = || {
        let time = NaiveDateTime::parse_from_str(written, "%m/%d/%Y, %I:%M:%S%.f %p").ok()?;
        let lo = time.and_utc().timestamp_nanos_opt()?;
        const MILLISECOND: Nanos = 1_000_000;
        Some(Stamp {
            lo,
            hi: lo.saturating_add(MILLISECOND),
        })
    };
    Stamp::parse(written).or_else(of_portal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Origin;

    fn line(record: &Fields) -> Result<RecordedLine, Rejection> {
        assert!(is_row(record));
        let mut emitted = ForeignOutput::default();
        let origin = Origin {
            file: "query_data.csv".into(),
            line: 7,
        };
        decode(
            ForeignRecord {
                fields: record,
                within: "",
                origin: &origin,
            },
            &mut emitted,
        )?;
        Ok(emitted.lines.remove(0))
    }

    fn row(time: &str, columns: &[&str]) -> Fields {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        assert!((ROWS_CSV.recognise)(&columns));
        let values = [time, "gpu-7", "trainer", "lm-0-abcde", "research", "step 1"];
        (ROWS_CSV.record)(&columns, &values.map(str::to_owned))
    }

    #[test]
    fn a_row_is_a_line_of_its_pod() {
        let columns = |time: &'static str| {
            [
                time,
                "Computer",
                "ContainerName",
                "PodName",
                "PodNamespace",
                "LogMessage",
            ]
        };
        for (column, written) in [
            ("TimeGenerated [UTC]", "11/21/2026, 3:20:27.000 PM"),
            ("TimeGenerated", "2026-11-21T15:20:27.000Z"),
        ] {
            let line = line(&row(written, &columns(column))).unwrap();
            assert_eq!(line.time, Stamp::parse("2026-11-21T15:20:27.000Z").unwrap());
            assert_eq!(line.entities.pod.as_deref(), Some("lm-0-abcde"));
            assert_eq!(line.entities.namespace.as_deref(), Some("research"));
            assert_eq!(line.entities.node.as_deref(), Some("gpu-7"));
            assert_eq!((line.text.as_str(), line.line), ("step 1", 7));
        }
        let local = row(
            "11/21/2026, 3:20:27.000 PM",
            &columns("TimeGenerated [Local Time]"),
        );
        assert!(line(&local).is_err(), "whose clock that is nothing says");
    }
}
