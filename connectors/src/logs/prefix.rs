//! What stands before a line's own text: colours, and which worker said it.

use std::borrow::Cow;

/// Which worker of several that write to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Speaker {
    /// The prefix as written, `[rank3]:`.
    pub(crate) prefix: String,
    pub(crate) rank: Option<i32>,
}

/// Drops terminal colours and other control sequences.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.peek() {
            // CSI: parameters, then one final byte.
            Some('[') => {
                chars.next();
                while chars
                    .next()
                    .is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c))
                {}
            }
            // OSC: up to BEL or ESC \.
            Some(']') => {
                let mut before = ' ';
                for c in chars.by_ref() {
                    if c == '\u{7}' || (before == '\u{1b}' && c == '\\') {
                        break;
                    }
                    before = c;
                }
            }
            Some(_) => {
                chars.next();
            }
            None => {}
        }
    }
    Cow::Owned(out)
}

/// Splits `[rank3]: text`, `[default7]:text`, `(Worker pid=7) text`.
pub(super) fn split(text: &str) -> (Speaker, &str) {
    if let Some(inside) = text.strip_prefix('[')
        && let Some((name, rest)) = inside.split_once(']')
    {
        let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let word = &name[..name.len() - digits.len()];
        if matches!(word, "rank" | "default" | "Rank")
            && let Some(after) = rest.strip_prefix(':')
            && let Ok(rank) = digits.parse()
        {
            let prefix = text[..text.len() - after.len()].to_owned();
            return (
                Speaker {
                    prefix,
                    rank: Some(rank),
                },
                after.strip_prefix(' ').unwrap_or(after),
            );
        }
    }
    if text.starts_with('(')
        && let Some((inside, rest)) = text[1..].split_once(") ")
        && inside.len() < 120
        && inside.contains("pid=")
    {
        return (
            Speaker {
                prefix: format!("({inside})"),
                rank: None,
            },
            rest,
        );
    }
    (Speaker::default(), text)
}

/// `rank=3` or `[Rank 3]` in the text; never `local_rank`, which is not unique.
pub(super) fn rank_in(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"ank").find_map(|at| {
        let start = at
            .checked_sub(1)
            .filter(|&start| matches!(bytes[start], b'r' | b'R'))?;
        let before = start.checked_sub(1).map(|at| bytes[at]);
        let global = text[..start].ends_with("global_");
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') && !global {
            return None;
        }
        let rest = &text[at + 3..];
        let rest = rest.strip_prefix('"').unwrap_or(rest);
        let number = match rest.as_bytes().first()? {
            b'=' | b':' => rest[1..].trim_start_matches([' ', '"']),
            b' ' if before == Some(b'[') => &rest[1..],
            _ => return None,
        };
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        number[..digits].parse().ok().filter(|_| digits <= 6)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go() {
        assert_eq!(plain("\u{1b}[31mERROR\u{1b}[0m x"), "ERROR x");
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{1b}"), "x");
        assert_eq!(plain("é"), "é");
    }

    #[test]
    fn the_speaker_is_told() {
        assert_eq!(split("[rank3]: Traceback").0.rank, Some(3));
        assert_eq!(split("[rank3]:   File \"x\"").1, "  File \"x\"");
        assert_eq!(split("[default7]:Traceback").1, "Traceback");
        assert_eq!(
            split("[rank0]:[E1218 20:43:21.1 x]").1,
            "[E1218 20:43:21.1 x]"
        );
        assert_eq!(
            split("(WorkerDict pid=26110, ip=10.0.0.1) Traceback").1,
            "Traceback"
        );
        for text in [
            "[INFO] x",
            "[rank]: x",
            "(a) b",
            "[rank99999999999]: x",
            "[",
            "plain",
        ] {
            assert_eq!(split(text), (Speaker::default(), text));
        }
    }

    #[test]
    fn a_rank_is_taken_only_where_it_is_named() {
        assert_eq!(rank_in("step=10 tokens_per_s=97022 rank=0"), Some(0));
        assert_eq!(rank_in("[Rank 5] Watchdog caught"), Some(5));
        assert_eq!(rank_in("{\"rank\": 12}"), Some(12));
        assert_eq!(rank_in("local_rank: 2, global_rank=7"), Some(7));
        for text in [
            "local_rank=2",
            "waiting for rank 3",
            "rank",
            "franks=1",
            "rank=x",
            "rank=12345678",
        ] {
            assert_eq!(rank_in(text), None, "{text}");
        }
    }
}
