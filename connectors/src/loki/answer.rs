//! The answer as it is on the wire.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::log_store::Labels;

#[derive(Deserialize)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) data: Option<Data<'a>>,
    /// What Loki says is wrong with an answer that it gives all the same.
    #[serde(default)]
    pub(super) warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(super) struct Data<'a> {
    #[serde(rename = "resultType", default)]
    pub(super) result_type: String,
    #[serde(borrow, default)]
    pub(super) result: Vec<&'a RawValue>,
    /// `categorize-labels`, where what is known of a line is not merged into
    /// the labels of its stream.
    #[serde(rename = "encodingFlags", default)]
    pub(super) flags: Option<Vec<String>>,
}

/// One element of the result of a metric query.
#[derive(Deserialize)]
pub(super) struct Series<'a> {
    /// Each a time in seconds and a number as text.
    #[serde(borrow, default)]
    pub(super) values: Vec<(f64, Cow<'a, str>)>,
}

/// One element of the result.
#[derive(Deserialize)]
pub(super) struct Stream<'a> {
    pub(super) stream: Option<Labels>,
    #[serde(borrow, default)]
    pub(super) values: Vec<Entry<'a>>,
    pub(super) metric: Option<IgnoredAny>,
}

/// One line.
pub(super) struct Entry<'a> {
    pub(super) time: Cow<'a, str>,
    pub(super) line: Cow<'a, str>,
    pub(super) about: LineMetadata,
}

/// What is known of one line beside its stream's labels.
#[derive(Default, Deserialize)]
pub(super) struct LineMetadata {
    #[serde(rename = "structuredMetadata", default)]
    pub(super) metadata: Labels,
    #[serde(default)]
    pub(super) parsed: Labels,
    /// What was sent with the line, where it is kept in the form in which it is sent.
    #[serde(flatten)]
    pub(super) sent: Map<String, Value>,
}

impl LineMetadata {
    /// All of it, by name.
    pub(super) fn merged(self) -> Labels {
        let mut all = self.parsed;
        let texts = self
            .sent
            .into_iter()
            .filter_map(|(name, value)| match value {
                Value::String(text) => Some((name, text)),
                _ => None,
            });
        all.extend(texts);
        // What the query parsed out of the line may hide what is known of it.
        all.extend(self.metadata);
        all
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Entry<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct StreamElements;

        impl<'de> Visitor<'de> for StreamElements {
            type Value = Entry<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time and a line")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut elements: A,
            ) -> Result<Self::Value, A::Error> {
                let missing = |n| de::Error::invalid_length(n, &"a time and a line");
                let Text(time) = elements.next_element()?.ok_or_else(|| missing(0))?;
                let Text(line) = elements.next_element()?.ok_or_else(|| missing(1))?;
                let about = elements.next_element()?.unwrap_or_default();
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Entry { time, line, about })
            }
        }

        from.deserialize_seq(StreamElements)
    }
}

/// Text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
