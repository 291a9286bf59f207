//! Selectors, written so that names are names and nothing more.

use std::fmt::Write as _;

/// The most characters of one pattern of names; more are asked for apart.
pub(super) const LONGEST: usize = 8_000;

/// One of these values, exactly.
pub(super) fn any_of<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let escaped: Vec<String> = values.into_iter().map(regex::escape).collect();
    escaped.join("|")
}

/// A selector: the metrics of these names, with conditions on labels.
pub(super) fn selector(metrics: &[&str], conditions: &[(&str, &str, &str)]) -> String {
    let mut out = match metrics {
        [one] => format!("{{__name__=\"{one}\""),
        several => format!("{{__name__=~\"{}\"", several.join("|")),
    };
    for (label, how, value) in conditions {
        // Writing to a String cannot fail.
        let _ = write!(out, ",{label}{how}\"{}\"", quoted(value));
    }
    out.push('}');
    out
}

fn quoted(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Parts of a list whose patterns are not too long.
pub(super) fn batches<'a>(values: &[&'a str], most: usize) -> Vec<Vec<&'a str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut length = 0;
    for value in values {
        let own = regex::escape(value).len() + 1;
        match all.last_mut() {
            Some(last) if last.len() < most && length + own <= LONGEST => {
                last.push(value);
                length += own;
            }
            _ => {
                all.push(vec![value]);
                length = own;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_a_selector() {
        let pattern = any_of(["a.b", "c\"} or up"]);
        assert_eq!(
            selector(&["m"], &[("node", "=~", &pattern)]),
            r#"{__name__="m",node=~"a\\.b|c\"\\} or up"}"#
        );
        assert_eq!(selector(&["a", "b"], &[]), r#"{__name__=~"a|b"}"#);
    }

    #[test]
    fn long_lists_are_asked_for_in_parts() {
        let long = "n".repeat(3_000);
        let parts = batches(&[&long, &long, &long, "x"], 100);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(batches(&["a", "b", "c"], 2).len(), 2);
    }
}
