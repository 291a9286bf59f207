//! What a log collector puts around a line.

use std::borrow::Cow;

use serde::Deserialize;

use super::clock::{self, Clock};
use super::runner;
use crate::time::Stamp;

/// A line out of its wrapper.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnwrappedLine<'l> {
    /// When the collector got it.
    pub(super) time: Option<Clock>,
    pub(super) content: Cow<'l, str>,
    /// The runtime cut the line here; the next one goes on.
    pub(super) partial: bool,
}

/// Docker's json-file.
#[derive(Deserialize)]
struct Docker<'l> {
    #[serde(borrow)]
    log: Cow<'l, str>,
    time: Cow<'l, str>,
    /// A shipper's own object around the line says more.
    #[serde(default)]
    kubernetes: Option<serde::de::IgnoredAny>,
}

/// Takes off what the container runtime or `kubectl logs --timestamps` added.
pub(super) fn unwrap(line: &str) -> UnwrappedLine<'_> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.starts_with('{')
        && let Ok(docker) = serde_json::from_str::<Docker<'_>>(line)
        && docker.kubernetes.is_none()
        && let Some(time) = Stamp::parse(&docker.time)
    {
        let partial = !docker.log.ends_with('\n');
        let content = match docker.log {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(['\n', '\r'])),
            Cow::Owned(text) => Cow::Owned(text.trim_end_matches(['\n', '\r']).to_owned()),
        };
        return UnwrappedLine {
            time: Some(Clock::Full(time)),
            content,
            partial,
        };
    }
    let plain = |time: Option<Stamp>, content| UnwrappedLine {
        time: time.map(Clock::Full),
        content: Cow::Borrowed(content),
        partial: false,
    };
    if let Some(passed_on) = runner::unwrap(line) {
        return UnwrappedLine {
            time: Some(passed_on.clock),
            content: passed_on.content,
            partial: false,
        };
    }
    if !line.starts_with("20") || line.as_bytes().get(10) != Some(&b'T') {
        return plain(None, line);
    }
    let Some((Clock::Full(time), end)) = clock::leading(line) else {
        return plain(None, line);
    };
    let Some(rest) = line[end..].strip_prefix([' ', '\t']) else {
        // A line that was empty has nothing after its time.
        return if end == line.len() {
            plain(Some(time), "")
        } else {
            plain(None, line)
        };
    };
    let cri = rest
        .strip_prefix("stdout ")
        .or_else(|| rest.strip_prefix("stderr "));
    let Some(tagged) = cri else {
        return plain(Some(time), rest);
    };
    let (tags, content) = tagged.split_once(' ').unwrap_or((tagged, ""));
    match tags.split(':').next() {
        Some("F") => plain(Some(time), content),
        Some("P") => UnwrappedLine {
            partial: true,
            ..plain(Some(time), content)
        },
        _ => plain(Some(time), rest),
    }
}

/// A line without its wrapper, for stores that keep the time apart.
pub(crate) fn content(line: &str) -> Cow<'_, str> {
    unwrap(line).content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_come_off() {
        let time = Stamp::parse("2026-11-21T15:20:39.123456789Z").map(Clock::Full);
        for (line, content, partial) in [
            (
                "2026-11-21T15:20:39.123456789Z stdout F hello there",
                "hello there",
                false,
            ),
            ("2026-11-21T15:20:39.123456789Z stderr P hel", "hel", true),
            ("2026-11-21T15:20:39.123456789Z stdout F ", "", false),
            ("2026-11-21T15:20:39.123456789Z stdout F", "", false),
            ("2026-11-21T15:20:39.123456789Z", "", false),
            ("2026-11-21T15:20:39.123456789Z hello", "hello", false),
            (
                "2026-11-21T15:20:39.123456789Z stdout is closed",
                "stdout is closed",
                false,
            ),
            (
                r#"{"log":"hello\n","stream":"stdout","time":"2026-11-21T15:20:39.123456789Z"}"#,
                "hello",
                false,
            ),
            (
                r#"{"log":"hel","stream":"stdout","time":"2026-11-21T15:20:39.123456789Z"}"#,
                "hel",
                true,
            ),
        ] {
            assert_eq!(
                unwrap(line),
                UnwrappedLine {
                    time,
                    content: content.into(),
                    partial
                },
                "{line}"
            );
        }
        for line in [
            "hello",
            "2026-11-21 15:20:39,123 INFO x",
            "{\"log\":1}",
            "2026-11-21T15:20:39Zx",
        ] {
            assert_eq!(
                unwrap(line),
                UnwrappedLine {
                    time: None,
                    content: line.into(),
                    partial: false
                }
            );
        }
    }
}
