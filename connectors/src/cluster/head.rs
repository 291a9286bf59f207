//! Items of lists, as far as they are needed to tell what they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::list::{ItemReader, ReadPage};
use crate::observation::Rejection;
use crate::time::{Nanos, Stamp};

/// Asks for names, labels and owners alone. A server that does not know this gives the whole
/// objects, which have them, too.
pub(super) const METADATA_ONLY: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/// An object without its body.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) metadata: HeadMetadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct HeadMetadata {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) uid: String,
    pub(super) labels: Option<BTreeMap<String, String>>,
    pub(super) annotations: Option<BTreeMap<String, String>>,
    pub(super) owner_references: Option<Vec<HeadOwner>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct HeadOwner {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) controller: Option<bool>,
}

/// Reads names, labels and owners.
#[derive(Debug)]
pub(super) struct HeadReader;

impl ItemReader for HeadReader {
    type Out = Head;

    const ACCEPT: Option<&'static str> = Some(METADATA_ONLY);

    fn read(
        &self,
        item: &str,
        _number: u64,
        _observed: Nanos,
        page: &mut ReadPage<Head>,
    ) -> Result<(), Rejection> {
        let head: Head =
            serde_json::from_str(item).map_err(|error| Rejection::Malformed(error.to_string()))?;
        page.taken += 1;
        page.out.push(head);
        Ok(())
    }
}

/// Of what an Event is and when it was last: the rest is decoded only where that concerns the question.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EventHead<'a> {
    #[serde(borrow)]
    metadata: EventName<'a>,
    #[serde(borrow, alias = "regarding")]
    involved_object: Regarding<'a>,
    #[serde(borrow, alias = "deprecatedLastTimestamp")]
    last_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    event_time: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "note")]
    message: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EventName<'a> {
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Regarding<'a> {
    #[serde(borrow)]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

fn text<'t>(text: &'t Option<Cow<'_, str>>) -> &'t str {
    text.as_deref().unwrap_or_default()
}

impl EventHead<'_> {
    /// The kind of what it is about, told apart from others of the same word.
    pub(super) fn kind(&self) -> String {
        let of = &self.involved_object;
        crate::kind::normal_kind(text(&of.kind), text(&of.api_version))
    }

    /// The namespace of what it is about.
    pub(super) fn namespace(&self) -> &str {
        match text(&self.involved_object.namespace) {
            "" => text(&self.metadata.namespace),
            namespace => namespace,
        }
    }

    pub(super) fn name(&self) -> &str {
        text(&self.involved_object.name)
    }

    /// The words of its message.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        text(&self.message).split_whitespace()
    }

    /// When it last occurred: the server forgets by that.
    pub(super) fn last(&self) -> Option<Nanos> {
        [&self.last_timestamp, &self.event_time]
            .into_iter()
            .find_map(|at| Stamp::parse(at.as_deref()?))
            .map(|at| at.lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_tells_of_what_it_is_in_both_groups() {
        let core = r#"{"metadata":{"namespace":"ml","name":"a.1"},"involvedObject":{"kind":"Pod","name":"a","uid":"u"},"lastTimestamp":"2026-11-21T15:30:00Z","eventTime":null,"message":"x\"y"}"#;
        let new = r#"{"metadata":{"namespace":"ml","name":"a.1"},"regarding":{"kind":"Pod","name":"a","uid":"u","namespace":"ml"},"deprecatedLastTimestamp":null,"eventTime":"2026-11-21T15:30:00.000000Z"}"#;
        for text in [core, new] {
            let head: EventHead<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(
                (head.kind().as_str(), head.namespace(), head.name()),
                ("Pod", "ml", "a")
            );
            assert!(head.last().is_some());
        }
    }
}
