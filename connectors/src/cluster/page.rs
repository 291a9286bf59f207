//! A page of a list, taken apart without looking into its items.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::RequestError;
use super::error::short;

/// The items and where they stand.
#[derive(Debug)]
pub(super) struct ListPage<'a> {
    pub(super) items: Vec<&'a RawValue>,
    pub(super) resource_version: String,
    /// The token of the next page; empty on the last.
    pub(super) next: String,
    /// How many more there are, where the server says.
    pub(super) remaining: i64,
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: Metadata,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    code: Option<u16>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    next: Option<String>,
    remaining_item_count: Option<i64>,
}

/// Reads a page.
pub(super) fn read(body: &str) -> Result<ListPage<'_>, RequestError> {
    let wire: RawPage<'_> = serde_json::from_str(body).map_err(|error| {
        let start: String = body.chars().take(60).collect();
        RequestError::Garbage(format!("{error}; it starts with {:?}", short(&start)))
    })?;
    if wire.kind == "Status" {
        return Err(RequestError::Status {
            code: wire.code.unwrap_or_default(),
            message: short(&wire.message.unwrap_or_default()),
            next: wire.metadata.next,
        });
    }
    if !wire.kind.ends_with("List") {
        return Err(RequestError::Garbage(format!(
            "expected a list, got {:?}",
            wire.kind
        )));
    }
    Ok(ListPage {
        items: wire.items.unwrap_or_default(),
        resource_version: wire.metadata.resource_version.unwrap_or_default(),
        next: wire.metadata.next.unwrap_or_default(),
        remaining: wire.metadata.remaining_item_count.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_what_is_none() {
        let page = read(r#"{"kind":"PodList","metadata":{"resourceVersion":"5","continue":"x","remainingItemCount":3},"items":[{"a":1}]}"#).unwrap();
        assert_eq!(
            (page.items.len(), page.next.as_str(), page.remaining),
            (1, "x", 3)
        );
        let empty = read(r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":null}"#);
        assert!(empty.unwrap().items.is_empty());
        assert!(matches!(
            read("<html>login</html>"),
            Err(RequestError::Garbage(_))
        ));
        assert!(matches!(
            read(r#"{"kind":"Pod"}"#),
            Err(RequestError::Garbage(_))
        ));
        let gone = read(r#"{"kind":"Status","code":410,"metadata":{"continue":"y"}}"#);
        assert!(gone.unwrap_err().is_expired());
    }
}
