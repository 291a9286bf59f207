//! What the cluster agent writes when it bundles Events: the Events of one
//! object, equal ones counted, in one text of Markdown.
//!
//! ```text
//! %%%
//! 3 **BackOff**: Back-off restarting failed container
//!  1 **Failed**: Error: ImagePullBackOff
//!
//!  _Events emitted by the kubelet seen at <last> since <first>_
//!
//!  %%%
//! ```

use std::sync::LazyLock;

use regex::Regex;

/// One Event of a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BundledEvent {
    pub(super) count: u64,
    pub(super) reason: String,
    pub(super) message: String,
}

static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]*(\d{1,10}) \*\*([^*\n]{1,128})\*\*: ").ok());

/// The Events in a text; none where it is no bundle.
pub(super) fn events(text: &str) -> Vec<BundledEvent> {
    let Some(item) = ITEM
        .as_ref()
        .filter(|_| text.trim_start().starts_with("%%%"))
    else {
        return Vec::new();
    };
    // A tilde would strike the text out, so it was escaped.
    let text = text.replace("\\~", "~");
    let end = text.find("_Events emitted by the ").unwrap_or(text.len());
    let body = &text[..end];
    let starts: Vec<_> = item.captures_iter(body).collect();
    let begin = |n: usize| starts.get(n).and_then(|found| found.get(0));
    let mut out = Vec::new();
    for (n, found) in starts.iter().enumerate() {
        let Some(head) = found.get(0) else { continue };
        let next = begin(n + 1).map_or(body.len(), |next| next.start());
        out.push(BundledEvent {
            count: found[1].parse().unwrap_or(1),
            reason: found[2].to_owned(),
            message: body[head.end()..next].trim().to_owned(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_taken_apart() {
        let text = "%%% \n3 **BackOff**: Back-off restarting \\~x\nof two lines\n 1 **Failed**: Error: no\n \n _Events emitted by the kubelet seen at 2026-11-21 15:20:15 +0000 UTC since 2026-11-21 15:00:00 +0000 UTC_ \n\n %%%";
        let found = events(text);
        let emitted: Vec<_> = found
            .iter()
            .map(|one| (one.count, one.reason.as_str(), one.message.as_str()))
            .collect();
        assert_eq!(
            emitted,
            [
                (3, "BackOff", "Back-off restarting ~x\nof two lines"),
                (1, "Failed", "Error: no")
            ]
        );
        assert!(events("3 **BackOff**: said in a plain text").is_empty());
        assert!(events("%%% \n nothing %%%").is_empty());
    }
}
