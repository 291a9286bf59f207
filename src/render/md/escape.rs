use std::fmt::Write as _;

use super::super::text;

/// Text that shows as it is: no markup, no mentions, no line breaks.
pub(super) fn escape(value: &str) -> String {
    let value = text::escape(value);
    let mut shown = String::with_capacity(value.len() + 8);
    for (at, c) in value.char_indices() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => {
                shown.push('\\');
                shown.push(c);
            }
            // The comment keeps GitHub from telling a person or linking an issue.
            '@' | '#' if !value[..at].ends_with(char::is_alphanumeric) => {
                let _ = write!(shown, "{c}<!-- -->");
            }
            '-' | '+' if at == 0 => {
                shown.push('\\');
                shown.push(c);
            }
            c => shown.push(c),
        }
    }
    shown
}

/// A name as code. In a table a `|` must be escaped even there.
pub(super) fn code(value: &str) -> String {
    let value = text::escape(value).replace('|', "\\|");
    let longest = value.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match value.trim() {
        "" => String::new(),
        _ if value.starts_with('`') || value.ends_with('`') => format!("{fence} {value} {fence}"),
        _ => format!("{fence}{value}{fence}"),
    }
}

/// Our no-break spaces are of no use here.
pub(super) fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_shows_as_it_is() {
        assert_eq!(
            escape("a|b `c` *d* <img>"),
            "a\\|b \\`c\\` \\*d\\* &lt;img&gt;"
        );
        assert_eq!(
            escape("@everyone see #1, bob@lab"),
            "@<!-- -->everyone see #<!-- -->1, bob@lab"
        );
        assert_eq!(escape("- one\n# two"), "\\- one ↵ #<!-- --> two");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a|b`"), "`` `a\\|b` ``");
        assert_eq!(code(""), "");
    }
}
