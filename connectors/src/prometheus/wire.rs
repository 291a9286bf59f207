//! Answers of the API, taken apart.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::names::Labels;
use crate::http::{Answer, HttpError};
use crate::time::{Nanos, SECOND};

/// What "not supported" looks like where it leaks into a sample: DCGM's blank
/// values of 64 bits are this and a little more.
const BLANK: f64 = 9.2e18;

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// When it was scraped, to the millisecond.
    pub(crate) at: Nanos,
    /// Finite, and no blank.
    pub(crate) value: f64,
}

/// One series: who it is of, and its samples in time order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) labels: Labels,
    pub(crate) samples: Vec<Sample>,
}

/// What a query gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QueryResult {
    pub(crate) series: Vec<Series>,
    /// Why it may be less than there is, in the server's words.
    pub(crate) warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Envelope<'a, T> {
    status: Option<String>,
    data: Option<T>,
    #[serde(borrow, rename = "error")]
    error: Option<&'a RawValue>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
    /// `VictoriaMetrics`' word for it.
    #[serde(default, rename = "isPartial")]
    is_partial: bool,
}

/// The `data` of a query's answer.
#[derive(Deserialize)]
struct Data {
    #[serde(rename = "resultType")]
    kind: String,
    result: Box<RawValue>,
}

#[derive(Deserialize)]
struct RawSeries {
    metric: Labels,
    #[serde(default)]
    values: Vec<(Number, String)>,
    value: Option<(Number, String)>,
}

/// The series of a query's answer.
pub(super) fn series(answer: &Answer) -> Result<QueryResult, HttpError> {
    let (data, warnings): (Option<Data>, _) = open(answer)?;
    let series = match data {
        Some(data) => of_data(&data.kind, data.result.get())
            .map_err(|error| HttpError::Garbage(error.to_string()))?,
        None => Vec::new(),
    };
    Ok(QueryResult { series, warnings })
}

/// The label sets that `/series` gives.
pub(super) fn label_sets(answer: &Answer) -> Result<(Vec<Labels>, Vec<String>), HttpError> {
    let (data, warnings) = open(answer)?;
    Ok((data.unwrap_or_default(), warnings))
}

/// Any other `data`, as JSON.
pub(super) fn value(answer: &Answer) -> Result<serde_json::Value, HttpError> {
    Ok(open(answer)?.0.unwrap_or_default())
}

fn open<T: for<'de> Deserialize<'de>>(
    answer: &Answer,
) -> Result<(Option<T>, Vec<String>), HttpError> {
    let envelope: Envelope<'_, T> = answer.json()?;
    if envelope.status.as_deref() != Some("success") {
        let reason = envelope.error.map_or("no status", RawValue::get);
        return Err(HttpError::Garbage(reason.to_owned()));
    }
    let mut warnings = envelope.warnings.unwrap_or_default();
    if envelope.is_partial {
        warnings.push("the answer is partial".to_owned());
    }
    Ok((envelope.data, warnings))
}

/// The series of the `result` of a query. Scalars and strings are none.
pub(super) fn of_data(kind: &str, result: &str) -> serde_json::Result<Vec<Series>> {
    if !matches!(kind, "matrix" | "vector") {
        return Ok(Vec::new());
    }
    let found: Vec<RawSeries> = serde_json::from_str(result)?;
    let mut all: Vec<Series> = found.into_iter().map(of_found).collect();
    all.sort_by(|a, b| a.labels.cmp(&b.labels));
    Ok(all)
}

fn of_found(found: RawSeries) -> Series {
    let emitted = found.values.into_iter().chain(found.value);
    let mut samples: Vec<Sample> = emitted
        .filter_map(|(at, value)| {
            Some(Sample {
                at: moment(&at.to_string())?,
                value: number(&value)?,
            })
        })
        .collect();
    samples.sort_by_key(|sample| sample.at);
    samples.dedup_by_key(|sample| sample.at);
    Series {
        labels: found.metric,
        samples,
    }
}

/// A time in seconds as its digits say it: arithmetic with floats would move it.
pub(crate) fn moment(text: &str) -> Option<Nanos> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: Nanos = whole.parse().ok()?;
    let mut nanos = 0;
    for place in 0..9 {
        let digit = match fraction.as_bytes().get(place) {
            Some(digit) if digit.is_ascii_digit() => i64::from(digit - b'0'),
            Some(_) => return None,
            None => 0,
        };
        nanos = nanos * 10 + digit;
    }
    whole.checked_mul(SECOND)?.checked_add(nanos)
}

/// A sample's value; `None` for what is none: NaN, infinities, blanks.
fn number(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && value.abs() < BLANK).then_some(value)
}

/// Series that are one but for some labels, in the order of the rest.
pub(super) fn grouped<'s, K: Ord>(
    series: impl Iterator<Item = &'s Series>,
    key: impl Fn(&'s Series) -> K,
) -> BTreeMap<K, Vec<&'s Series>> {
    let mut groups: BTreeMap<K, Vec<&Series>> = BTreeMap::new();
    for one in series {
        groups.entry(key(one)).or_default().push(one);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_millisecond() {
        assert_eq!(moment("1795270119.812"), Some(1_795_270_119_812_000_000));
        assert_eq!(moment("1795270134"), Some(1_795_270_134 * SECOND));
        assert_eq!(moment("1795270134.53"), Some(1_795_270_134_530_000_000));
        for text in ["", "1e9", "1.2e3", "x", "99999999999999"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_dropped() {
        let text = r#"[{"metric":{"__name__":"m"},"values":[
            [1.5,"NaN"],[2,"+Inf"],[3,"-Inf"],[4,"9223372036854776000"],[5,"79"],[4.5,"1e3"]]}]"#;
        let got = of_data("matrix", text).unwrap();
        let values: Vec<f64> = got[0].samples.iter().map(|one| one.value).collect();
        assert_eq!(values, [1_000.0, 79.0]);
        assert!(of_data("scalar", "[1,\"2\"]").unwrap().is_empty());
        assert!(of_data("matrix", "{}").is_err());
    }
}
