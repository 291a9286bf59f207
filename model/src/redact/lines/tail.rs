//! A line that ends where a value should begin: `--password`, `"password":`,
//! `password: Some(`. The next line is read as if it stood in one text with it.

use std::ops::Range;

use super::super::fields::may_be_secret;
use super::super::found;

/// A longer line is no argument and no field of its own.
const LONGEST: usize = 200;
/// Lines between that say nothing.
const EMPTY: usize = 2;

/// What was said so far, without its value.
#[derive(Debug)]
pub(super) struct Tail {
    text: String,
    empty: usize,
}

impl Tail {
    /// Whether a line ends so. It is asked of every line.
    pub(super) fn opened(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let is_signed = match text.as_bytes().last()? {
            b':' | b'=' | b'(' | b',' | b'"' | b'\'' => true,
            // An option stands before nothing else.
            last if last.is_ascii_alphanumeric() => {
                let word = text.rsplit([' ', '\t']).next().unwrap_or_default();
                // A header that was broken behind the name of its scheme.
                let is_scheme = ["bearer", "basic", "token"]
                    .iter()
                    .any(|scheme| word.eq_ignore_ascii_case(scheme));
                if is_scheme && text.to_ascii_lowercase().contains("authorization") {
                    return Some(Self {
                        text: text.to_owned(),
                        empty: 0,
                    });
                }
                if !word.starts_with('-') {
                    return None;
                }
                false
            }
            _ => return None,
        };
        let rest = text.trim_end_matches([' ', ':', '=', ',', '"', '\'']);
        let rest = match rest.strip_suffix('(') {
            Some(call) => call
                .trim_end_matches(|letter: char| letter.is_ascii_alphanumeric())
                .trim_end_matches([' ', ':', '=', '"', '\'']),
            None => rest,
        };
        let part = |letter: char| !(letter.is_ascii_alphanumeric() || "_-.".contains(letter));
        let key = rest.rsplit(part).next().unwrap_or_default();
        // Behind a comma or a quote only an option waits for what follows, and a field of a form.
        let is_listed = text.ends_with(',') || (is_signed && text.ends_with(['"', '\'']));
        let opens_text = text.ends_with("\"\"\"") || text.ends_with("'''");
        let is_form = text.contains("form-data; name=");
        let waits = !is_listed || key.starts_with('-') || opens_text || is_form;
        (waits && may_be_secret(key)).then(|| Self {
            text: text.to_owned(),
            empty: 0,
        })
    }

    /// The secret in the next line, and whether it may still come.
    pub(super) fn hidden(&mut self, text: &str) -> (Option<Range<usize>>, bool) {
        if text.trim().is_empty() && self.empty < EMPTY {
            self.empty += 1;
            self.text.push('\n');
            return (None, true);
        }
        if text.len() > LONGEST {
            return (None, false);
        }
        let from = self.text.len() + 1;
        let joined = format!("{}\n{text}", self.text);
        let hidden = found(&joined).into_iter().find(|range| range.start >= from);
        (
            hidden.map(|range| range.start - from..range.end - from),
            false,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_goes_on_below_loses_its_token() {
        let mut tail = Tail::opened("INFO Authorization: Bearer").unwrap();
        assert_eq!(tail.hidden("  Ab3dE5fGh1jK7mNp"), (Some(2..18), false));
        assert!(Tail::opened("the bearer").is_none());
        assert!(Tail::opened("authorization is basic work").is_none());
    }
}
