//! What a person typed, as Slack hands it on.

/// What a person typed, with Slack's markup taken away again: entities decoded,
/// `<#C1|name>` and `<https://x|x>` shown as their names, typographic quotes and
/// dashes of phones as those of keyboards, in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wording(String);

impl Wording {
    /// Reads a text of Slack's.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            plain.push_str(&rest[..start]);
            let Some(end) = rest[start..].find('>') else {
                rest = &rest[start..];
                break;
            };
            plain.push_str(&shown(&rest[start + 1..start + end]));
            rest = &rest[start + end + 1..];
        }
        plain.push_str(rest);
        let decoded = plain
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        let typed: String = decoded.chars().map(keyboard).collect();
        let words: Vec<&str> = typed.split_whitespace().collect();
        // Phones make one dash of two.
        Self(words.join(" ").replace('\u{2014}', "--"))
    }

    /// The text in one line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text without mentions of `user` before it, as a message to it begins.
    #[must_use]
    pub fn after_mention(&self, user: Option<&str>) -> Self {
        let mut rest = self.0.as_str();
        while let Some(word) = rest.split(' ').next()
            && word.starts_with('@')
            && user.is_none_or(|user| word[1..] == *user)
        {
            rest = rest[word.len()..].trim_start();
            if user.is_none() {
                break;
            }
        }
        Self(rest.to_owned())
    }
}

/// What stands for something between angle brackets.
fn shown(marked: &str) -> String {
    let (target, label) = match marked.split_once('|') {
        Some((target, label)) => (target, Some(label)),
        None => (marked, None),
    };
    match target.chars().next() {
        // A person's id, by which alone it can be told who is meant.
        Some('@') => format!("@{}", &target[1..]),
        Some('#' | '!') => label.unwrap_or(&target[1..]).to_owned(),
        // No markup of Slack's but typed as it is: `<password>x</password>` has to stay
        // what it is, so that it is known for a secret.
        _ if label.is_none() && !target.contains(':') => format!("<{marked}>"),
        _ => label.unwrap_or(target).to_owned(),
    }
}

/// What the key on a keyboard would have written.
fn keyboard(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
        '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_found_again() {
        for (slack, typed) in [
            ("llama-7b", "llama-7b"),
            ("  a\n b\t", "a b"),
            ("a &amp;&lt;b&gt;", "a &<b>"),
            ("&amp;lt;", "&lt;"),
            ("<@U1|bob> <#C2|general>", "@U1 general"),
            ("<https://x.example/y|x.example/y>", "x.example/y"),
            ("<http://llama.run|llama.run>", "llama.run"),
            (
                "\u{201c}run\u{201d} \u{2013}pod \u{2014}since",
                "\"run\" -pod --since",
            ),
            ("<!channel>", "channel"),
            ("a < b", "a < b"),
            ("<key>x</key>", "<key>x</key>"),
            ("<mailto:a@x.example|a@x.example>", "a@x.example"),
            ("<https://x.example>", "https://x.example"),
            ("", ""),
        ] {
            assert_eq!(Wording::new(slack).as_str(), typed, "{slack:?}");
        }
    }

    #[test]
    fn mentions_before_it_are_taken_away() {
        let said = Wording::new("<@U0BOT> <@U0BOT> why <@U2>");
        assert_eq!(said.after_mention(Some("U0BOT")).as_str(), "why @U2");
        assert_eq!(Wording::new("<@U0BOT>").after_mention(None).as_str(), "");
        let other = Wording::new("<@U2> hello");
        assert_eq!(other.after_mention(Some("U0BOT")), other);
    }
}
