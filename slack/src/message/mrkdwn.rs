//! Slack's markup, made of pieces so that text from outside stays text.

use super::limits::{clip, length, visible};

/// Text in Slack's markup. Whatever is put in is shown as it is: it is escaped
/// when the markup is written, cannot mention anybody, and cannot end a code
/// span or fence that it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mrkdwn(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Bold,
    Italic,
    Code,
    Fence,
    Link(String),
    /// A moment in seconds since 1970, which Slack shows in each reader's time.
    Date(i64),
}

impl Mrkdwn {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    #[must_use]
    pub fn say(self, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref(), Kind::Plain)
    }

    /// Adds bold text.
    #[must_use]
    pub fn bold(self, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref(), Kind::Bold)
    }

    /// Adds text in italics.
    #[must_use]
    pub fn italic(self, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref(), Kind::Italic)
    }

    /// Adds a name as code.
    #[must_use]
    pub fn code(self, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref(), Kind::Code)
    }

    /// Adds lines as they were written, in a fence of their own.
    #[must_use]
    pub fn fence(self, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref().trim_end(), Kind::Fence)
    }

    /// Adds a link, or just its text where the address cannot be one.
    #[must_use]
    pub fn link(self, url: &str, text: impl AsRef<str>) -> Self {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        if !is_web || url.contains(['|', '<', '>', ' ']) || url.contains(char::is_control) {
            return self.say(text);
        }
        self.with(text.as_ref(), Kind::Link(url.to_owned()))
    }

    /// Adds a moment, in seconds since 1970, that Slack shows in the reader's own
    /// time; `text` is for who cannot see that.
    #[must_use]
    pub fn date(self, seconds: i64, text: impl AsRef<str>) -> Self {
        self.with(text.as_ref(), Kind::Date(seconds))
    }

    /// Adds other markup.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    fn with(mut self, text: &str, kind: Kind) -> Self {
        if !text.is_empty() {
            self.0.push(Piece {
                text: visible(text),
                kind,
            });
        }
        self
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| piece.text.trim().is_empty())
    }

    /// The same without markup, for those who have it read to them.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            text.push_str(&piece.text);
        }
        text
    }

    /// As markup.
    #[must_use]
    pub fn markup(&self) -> String {
        let mut markup = String::new();
        for piece in &self.0 {
            piece.write(&mut markup);
        }
        markup
    }

    /// At most so long as markup; what is cut ends in a `…`.
    #[must_use]
    pub fn clipped(&self, limit: usize) -> Self {
        if length(&self.markup()) <= limit {
            return self.clone();
        }
        let mut kept = Self::new();
        let mut markup = String::new();
        for piece in &self.0 {
            let before = markup.len();
            piece.write(&mut markup);
            if length(&markup) < limit {
                kept.0.push(piece.clone());
                continue;
            }
            markup.truncate(before);
            // Escaping makes one character five at most, so that the longest
            // piece that fits is found from above.
            let mut room = limit.saturating_sub(length(&markup));
            while room > 1 {
                let cut = Piece {
                    text: clip(&piece.text, room),
                    kind: piece.kind.clone(),
                };
                cut.write(&mut markup);
                let over = length(&markup).saturating_sub(limit);
                if over == 0 {
                    kept.0.push(cut);
                    return kept;
                }
                markup.truncate(before);
                room = room.saturating_sub(over.div_ceil(5).max(1));
            }
            return kept.say("…");
        }
        kept
    }
}

impl Piece {
    fn write(&self, markup: &mut String) {
        let text = &self.text;
        match &self.kind {
            Kind::Plain => markup.push_str(&escape(text)),
            Kind::Bold => wrapped(markup, text, '*'),
            Kind::Italic => wrapped(markup, text, '_'),
            Kind::Code => wrapped(markup, &text.replace('\n', " "), '`'),
            Kind::Fence => {
                if !markup.is_empty() && !markup.ends_with('\n') {
                    markup.push('\n');
                }
                markup.push_str("```\n");
                markup.push_str(&escape(text));
                markup.push_str("\n```");
            }
            Kind::Link(url) => {
                let text = escape(text).replace('|', "\u{2223}").replace('\n', " ");
                markup.push_str(&format!("<{}|{text}>", url.replace('&', "&amp;")));
            }
            Kind::Date(seconds) => {
                let text = escape(text).replace('|', "\u{2223}").replace('\n', " ");
                markup.push_str(&format!(
                    "<!date^{seconds}^{{date_short_pretty}} {{time_secs}}|{text}>"
                ));
            }
        }
    }
}

/// Text between two signs; spaces stay outside, where Slack wants them, and the
/// sign itself cannot be inside.
fn wrapped(markup: &mut String, text: &str, sign: char) {
    let inner = text.trim();
    if inner.is_empty() {
        markup.push_str(text);
        return;
    }
    let start = &text[..text.len() - text.trim_start().len()];
    let end = &text[text.trim_end().len()..];
    let stand_in = match sign {
        '*' => "\u{2217}",
        '_' => "\u{ff3f}",
        _ => "\u{2cb}",
    };
    let inner = escape(inner).replace(sign, stand_in);
    markup.push_str(&format!("{start}{sign}{inner}{sign}{end}"));
}

/// The three signs that begin markup of Slack's own, a backtick, with which code
/// begins, and words that tell everybody.
pub(super) fn escape(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('`', "\u{2cb}");
    quiet(&escaped)
}

/// `@here` and its like, with a joiner in it that nobody sees. Slack should not
/// look for them in our messages; a log line that wakes up a firm would be too
/// high a price for trusting that.
pub(super) fn quiet(text: &str) -> String {
    const LOUD: [&str; 4] = ["here", "channel", "everyone", "group"];
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        out.push(c);
        let rest = &text[at + c.len_utf8()..];
        let is_loud = |word: &str| {
            rest.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        if c == '@' && LOUD.iter().any(|word| is_loud(word)) {
            out.push('\u{2060}');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        let evil = "<!channel> <@U1> <https://x|y> & ``` @here *b* @Everyone";
        let markup = Mrkdwn::new()
            .say(evil)
            .bold(evil)
            .code(evil)
            .fence(evil)
            .link("https://a.example/?b&c", evil)
            .date(60, evil)
            .markup();
        assert!(!markup.contains("<!channel"), "{markup}");
        assert!(!markup.contains("<@"), "{markup}");
        assert!(!markup.contains("@here") && !markup.contains("@Everyone"));
        assert!(!markup.contains("<https://x"), "{markup}");
        // The one fence is ours, and closed.
        assert_eq!(markup.matches("```").count(), 2, "{markup}");
        assert!(markup.contains("<https://a.example/?b&amp;c|&lt;!channel&gt;"));
        assert!(markup.contains("<!date^60^{date_short_pretty} {time_secs}|&lt;!ch"));
        assert_eq!(Mrkdwn::new().say("a & b").markup(), "a &amp; b");
        assert_eq!(Mrkdwn::new().say("&lt;").markup(), "&amp;lt;");
    }

    #[test]
    fn signs_stand_where_slack_reads_them() {
        let markup = |text: Mrkdwn| text.markup();
        assert_eq!(markup(Mrkdwn::new().bold(" a*b ")), " *a\u{2217}b* ");
        assert_eq!(markup(Mrkdwn::new().code("a\n`b")), "`a \u{2cb}b`");
        assert_eq!(markup(Mrkdwn::new().italic("  ")), "  ");
        assert_eq!(
            markup(Mrkdwn::new().say("x").fence("a\nb\n")),
            "x\n```\na\nb\n```"
        );
        for address in ["javascript:x", "https://a|b", "https://a b", "a"] {
            assert_eq!(markup(Mrkdwn::new().link(address, "t")), "t", "{address}");
        }
    }

    #[test]
    fn what_is_cut_is_whole_markup_still() {
        let long = Mrkdwn::new()
            .say("before ")
            .fence("<&>".repeat(900))
            .say("after");
        for limit in [12, 20, 21, 22, 23, 24, 60, 500, 2_700, 4_000] {
            let cut = long.clipped(limit);
            let markup = cut.markup();
            assert!(length(&markup) <= limit, "{limit}: {}", length(&markup));
            assert_eq!(markup.matches("```").count() % 2, 0, "{limit}");
            assert!(
                markup.ends_with('…') || markup.ends_with("…\n```"),
                "{limit}: {markup}"
            );
            // No entity is cut.
            let rest = markup
                .replace("&lt;", "")
                .replace("&amp;", "")
                .replace("&gt;", "");
            assert!(!rest.contains('&'), "{limit}: {rest}");
        }
        assert!(
            length(&long.clipped(2_700).markup()) > 2_600,
            "little is wasted"
        );
        let short = Mrkdwn::new().say("a");
        assert_eq!(short.clipped(1), short);
        let emoji = Mrkdwn::new().say("🚀".repeat(100)).clipped(51);
        assert_eq!(length(&emoji.markup()), 51);
    }
}
