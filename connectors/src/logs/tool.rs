//! Lines as tools that read logs print them: whose they are, then the line.
//!
//! | tool | a line |
//! |---|---|
//! | `kubectl logs --prefix` | `[pod/name/container] text` |
//! | `logcli query` | `2026-11-21T15:20:27Z {pod="name", namespace="ns"} text` |
//! | `logcli -o jsonl` | `{"labels":{…},"line":"text","timestamp":"…"}` |
//! | `aws logs tail` | `2026-11-21T15:20:27.000000+00:00 stream text` |
//! | `stern` | `name container text`, `ns name container text` |
//! | `kail` | `ns/name[container]: text` |
//!
//! `logcli -o raw` prints the text alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::clock::{self, Clock};
use crate::contract::LabelNames;
use crate::contract::labels_of_stream;
use crate::contract::looks_made;
use crate::event::Entities;
use crate::time::Stamp;

/// A line with whose it is.
#[derive(Debug, PartialEq)]
pub(super) struct AttributedLine<'l> {
    pub(super) whose: Entities,
    /// When the store says it was.
    pub(super) time: Option<Stamp>,
    pub(super) content: Cow<'l, str>,
}

/// What the tool has said on lines of its own.
#[derive(Debug, Default)]
pub(super) struct ToolLayout {
    /// Pods that stern announced.
    announced: BTreeSet<(String, String)>,
    /// Labels that logcli tells once for all lines.
    common: BTreeMap<String, String>,
    names: LabelNames,
    /// The lines are stern's, as several in a row show.
    pub(super) stern: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Jsonl<'l> {
    labels: BTreeMap<String, String>,
    #[serde(borrow)]
    line: Cow<'l, str>,
    #[serde(borrow)]
    timestamp: Cow<'l, str>,
}

impl ToolLayout {
    /// Takes the tool's part off a line; `None` where there is none.
    pub(super) fn take<'l>(&mut self, line: &'l str) -> Option<AttributedLine<'l>> {
        match line.as_bytes().first()? {
            b'[' => prefixed(line),
            b'{' => self.jsonl(line),
            b'2' => self.logcli(line).or_else(|| self.aws_tail(line)),
            b'+' => {
                self.announce(line);
                None
            }
            0x1b => painted(line),
            b'a'..=b'z' | b'0'..=b'9' => kail(line).or_else(|| self.announced(line)),
            _ => None,
        }
    }

    fn jsonl<'l>(&self, line: &'l str) -> Option<AttributedLine<'l>> {
        if !line.contains("\"labels\"") {
            return None;
        }
        let record: Jsonl<'_> = serde_json::from_str(line).ok()?;
        Some(AttributedLine {
            whose: self.entities(record.labels),
            time: Some(Stamp::parse(&record.timestamp)?),
            content: record.line,
        })
    }

    fn logcli<'l>(&mut self, line: &'l str) -> Option<AttributedLine<'l>> {
        if let Some((_, labels)) = line.split_once(" Common labels: ") {
            self.common = labels_of(labels)?.0;
            return None;
        }
        if line.as_bytes().get(10) != Some(&b'T') {
            return None;
        }
        let (Clock::Full(time), end) = clock::leading(line)? else {
            return None;
        };
        let rest = line.get(end..)?.trim_start_matches([' ', '\t']);
        let (labels, rest) = labels_of(rest)?;
        Some(AttributedLine {
            whose: self.entities(labels),
            time: Some(time),
            content: Cow::Borrowed(rest.strip_prefix([' ', '\t']).unwrap_or(rest)),
        })
    }

    /// The stream's name tells whose the line is, where it ends in a container's id.
    fn aws_tail<'l>(&self, line: &'l str) -> Option<AttributedLine<'l>> {
        const ID: usize = 64;
        let (time, rest) = line.split_once(' ')?;
        let (stream, content) = rest.split_once(' ')?;
        if stream.len() <= ID || !stream.contains('_') {
            return None;
        }
        let time = Stamp::parse(time)?;
        let whose = self.names.entities(&labels_of_stream(stream));
        whose.pod.is_some().then_some(AttributedLine {
            whose,
            time: Some(time),
            content: Cow::Borrowed(content),
        })
    }

    fn entities(&self, mut labels: BTreeMap<String, String>) -> Entities {
        for (name, value) in &self.common {
            labels.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self.names.entities(&labels)
    }

    /// `+ name › container`, perhaps with a namespace before the name.
    fn announce(&mut self, line: &str) {
        let Some((pod, container)) = line
            .strip_prefix("+ ")
            .and_then(|rest| rest.split_once(" › "))
        else {
            return;
        };
        let pod = pod.rsplit(' ').next().unwrap_or(pod);
        if is_name(pod) && is_name(container.trim()) && self.announced.len() < 10_000 {
            let container = container.trim().to_owned();
            self.announced.insert((pod.to_owned(), container));
        }
    }

    fn announced<'l>(&self, line: &'l str) -> Option<AttributedLine<'l>> {
        if self.announced.is_empty() && !self.stern {
            return None;
        }
        let known = |pod: &str, container: &str| {
            (self.stern && ends_made(pod) && is_name(container))
                || self
                    .announced
                    .contains(&(pod.to_owned(), container.to_owned()))
        };
        let (first, rest) = line.split_once(' ')?;
        let (second, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if known(first, second) {
            return Some(emitted(None, first, second, rest));
        }
        let (third, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        (is_name(first) && known(second, third)).then(|| emitted(Some(first), second, third, rest))
    }
}

/// Whether the line may be stern's: a made pod name, then a container's.
pub(super) fn may_be_stern(line: &str) -> bool {
    let mut words = line.split(' ');
    words.next().is_some_and(ends_made) && words.next().is_some_and(is_name)
}

/// Whether a name ends as one of a pod may, where several lines say so: also controllers that are not of Kubernetes end
/// names in five random letters and digits.
fn ends_made(pod: &str) -> bool {
    let random = |end: &str| {
        let has = |which: fn(&u8) -> bool| end.bytes().any(|byte| which(&byte));
        end.len() == 5 && has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase)
    };
    let ends = |(begin, end): (&str, &str)| begin.contains('-') && random(end);
    looks_made(pod) || is_name(pod) && pod.rsplit_once('-').is_some_and(ends)
}

fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('-')
}

fn emitted<'l>(
    namespace: Option<&str>,
    pod: &str,
    container: &str,
    content: &'l str,
) -> AttributedLine<'l> {
    AttributedLine {
        whose: Entities {
            namespace: namespace.map(str::to_owned),
            pod: Some(pod.to_owned()),
            container: Some(container.to_owned()),
            ..Entities::default()
        },
        time: None,
        content: Cow::Borrowed(content),
    }
}

fn prefixed(line: &str) -> Option<AttributedLine<'_>> {
    let (names, rest) = line.strip_prefix("[pod/")?.split_once("] ")?;
    let (pod, container) = names.split_once('/')?;
    (is_name(pod) && is_name(container)).then(|| emitted(None, pod, container, rest))
}

fn kail(line: &str) -> Option<AttributedLine<'_>> {
    let end = memchr::memchr(b']', line.as_bytes().get(..600).unwrap_or(line.as_bytes()))?;
    let rest = line.get(end + 1..)?.strip_prefix(": ")?;
    let (pod, container) = line.get(..end)?.split_once('[')?;
    let (namespace, pod) = pod.split_once('/')?;
    (is_name(namespace) && is_name(pod) && is_name(container))
        .then(|| emitted(Some(namespace), pod, container, rest))
}

/// stern on a terminal: each name in a colour of its own.
fn painted(line: &str) -> Option<AttributedLine<'_>> {
    let (first, rest) = word(line)?;
    let (second, rest) = word(rest.strip_prefix(' ')?)?;
    if let Some((third, rest)) = rest.strip_prefix(' ').and_then(word)
        && second.contains('-')
    {
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        return Some(emitted(Some(first), second, third, rest));
    }
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    // A level in colour is no pod.
    first
        .contains('-')
        .then(|| emitted(None, first, second, rest))
}

fn word(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let (word, rest) = rest.split_once("\u{1b}[")?;
    let (_, rest) = rest.split_once('m')?;
    is_name(word).then_some((word, rest))
}

/// `{name="value", …}` at the start of `text`, and what follows it.
fn labels_of(text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut rest = text.strip_prefix('{')?;
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once("=\"")?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if name.is_empty() || !name.bytes().all(plain) {
            return None;
        }
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.insert(name.to_owned(), value);
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tool: &mut ToolLayout, line: &str) -> String {
        let Some(emitted) = tool.take(line) else {
            return "none".to_owned();
        };
        let name = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".to_owned());
        let whose = &emitted.whose;
        format!(
            "{} {} {} {} {}",
            name(&whose.namespace),
            name(&whose.pod),
            name(&whose.container),
            emitted
                .time
                .map_or("-".to_owned(), |time| crate::time::rfc3339(time.lo)),
            emitted.content
        )
    }

    #[test]
    fn every_tool_says_whose_line_it_is() {
        let mut tool = ToolLayout::default();
        for (line, want) in [
            ("[pod/p-0/main] x", "- p-0 main - x"),
            ("[pod/p 0/main] x", "none"),
            (
                "2026-11-21T15:20:27Z {pod=\"p-0\", namespace=\"n\"} x {y}",
                "n p-0 - 2026-11-21T15:20:27Z x {y}",
            ),
            (
                "2026-11-21T16:20:27+01:00 {container=\"a\\\"b\", pod=\"p\"} x",
                "- p a\"b 2026-11-21T15:20:27Z x",
            ),
            ("2026-11-21T15:20:27Z {not labels} x", "none"),
            ("2026-11-21T15:20:27Z x", "none"),
            (
                "{\"labels\":{\"pod\":\"p\"},\"line\":\"x\",\"timestamp\":\"2026-11-21T15:20:27Z\"}",
                "- p - 2026-11-21T15:20:27Z x",
            ),
            ("{\"labels\":{},\"msg\":\"x\"}", "none"),
            ("n/p-0[main]: x", "n p-0 main - x"),
            (
                "\u{1b}[36mp-0\u{1b}[0m \u{1b}[96mmain\u{1b}[0m x",
                "- p-0 main - x",
            ),
            (
                "\u{1b}[31mn\u{1b}[0m \u{1b}[36mp-0\u{1b}[0m \u{1b}[96mmain\u{1b}[0m x",
                "n p-0 main - x",
            ),
            ("\u{1b}[32minfo\u{1b}[0m \u{1b}[96mmain\u{1b}[0m x", "none"),
            ("p-0 main x", "none"),
            ("+ p-0 › main", "none"),
            ("p-0 main x y", "- p-0 main - x y"),
            ("n p-0 main x", "n p-0 main - x"),
            ("p-1 main x", "none"),
        ] {
            assert_eq!(shown(&mut tool, line), want, "{line}");
        }
    }

    #[test]
    fn labels_told_once_count_for_all_lines() {
        let mut tool = ToolLayout::default();
        let said = "2026/11/21 15:20:27 Common labels: {namespace=\"n\", pod=\"p\"}";
        assert_eq!(shown(&mut tool, said), "none");
        assert_eq!(
            shown(&mut tool, "2026-11-21T15:20:27Z {} x"),
            "n p - 2026-11-21T15:20:27Z x"
        );
    }
}
