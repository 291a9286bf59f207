//! What is wrong with a configuration file, as a person can mend it.

use std::fmt;

use whathappened_connectors::LOG_STORES;
use whathappened_core::resolve::rank_names;

/// Something wrong in the file: where, what, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The line, from 1.
    line: usize,
    /// The line itself.
    text: String,
    /// What is wrong with it.
    why: String,
    /// What to do about it, where the one does not say the other.
    hint: Option<&'static str>,
}

impl ConfigError {
    /// A flaw of one line of the file.
    pub(super) fn at(file: &str, line: usize, why: impl Into<String>) -> Self {
        let text = file.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        Self {
            line,
            text: text.trim().to_owned(),
            why: why.into(),
            hint: None,
        }
    }

    /// The same, with what to do about it.
    pub(super) fn with_hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    /// What to do about it, where what is wrong does not say so.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    /// What the reader of TOML says, in words for people who never saw its types.
    pub(super) fn of(error: &toml::de::Error, file: &str) -> Self {
        let start = error.span().map_or(0, |span| span.start).min(file.len());
        let before = file.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let flaw = Self::at(file, line, "");
        let mut headers = before.lines().map(str::trim);
        let header = headers.rfind(|line| line.starts_with('['));
        let section = header.map_or("", |header| header.trim_matches(['[', ']', ' ']));
        let why = explained(section, &flaw.text, error.message());
        Self { why, ..flaw }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)?;
        // Secrets stand behind an equals sign; what is left of it says where to look.
        let key = self.text.split('=').next().unwrap_or_default().trim();
        if key.is_empty() || self.why.contains(key) {
            return Ok(());
        }
        write!(f, " (at {key})")
    }
}

/// A message in words; `section` is the one that the line stands in.
fn explained(section: &str, line: &str, message: &str) -> String {
    unknown(line, message)
        .or_else(|| misplaced(section, line, message))
        .unwrap_or_else(|| message.replace('\n', " "))
}

/// A word that is none of those there are: a section, a key or a value.
fn unknown(line: &str, message: &str) -> Option<String> {
    let what = message.strip_prefix("unknown ")?;
    let mut quoted = what.split('`').skip(1).step_by(2);
    let word = quoted.next()?;
    let known: Vec<String> = quoted.map(str::to_owned).collect();
    let is_section = what.starts_with("field") && line.starts_with('[');
    let show = |word: &str| match (is_section, what.starts_with("variant")) {
        (true, _) => format!("[{word}]"),
        (_, true) => format!("{word:?}"),
        _ => word.to_owned(),
    };
    let kind = match (is_section, what.starts_with("variant")) {
        (true, _) => "section",
        (_, true) => "value",
        _ => "field",
    };
    Some(format!(
        "there is no {kind} {}{}",
        show(word),
        nearest(word, &known, &show)
    ))
}

/// The likeliest of the names there are, else all of them.
pub(super) fn nearest(word: &str, known: &[String], show: &dyn Fn(&str) -> String) -> String {
    match rank_names(word, known.iter().cloned()).first() {
        Some(near) => format!("; did you mean {}?", show(near)),
        None if known.is_empty() => String::new(),
        None => {
            let all: Vec<String> = known.iter().map(|one| show(one)).collect();
            format!("; there are {}", all.join(", "))
        }
    }
}

/// Something of another kind than what belongs there.
fn misplaced(section: &str, line: &str, message: &str) -> Option<String> {
    let (found, wanted) = message
        .strip_prefix("invalid type: ")?
        .split_once(", expected ")?;
    let name = line.trim_matches(['[', ']', ' ']);
    if wanted == "a sequence" && line.starts_with('[') {
        return Some(format!(
            "there can be several of these, so they take double brackets: write [[{name}]]"
        ));
    }
    if line.starts_with("[[") {
        return Some(format!(
            "there is only one of these, so it takes single brackets: write [{name}]"
        ));
    }
    let (key, value) = line
        .split_once('=')
        .map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
    if wanted.starts_with("struct ") || wanted.starts_with("a table") || wanted == "a map" {
        let field = match key {
            "store" => format!("path = {value}"),
            "prometheus" | "alertmanager" | "grafana" => format!("url = {value}"),
            key => match LOG_STORES.iter().find(|(kind, _)| kind.as_str() == key) {
                Some((_, store)) => format!("{} = {value}", store.key.0),
                None => "its fields".to_owned(),
            },
        };
        let whole = match section {
            "" => key.to_owned(),
            section => format!("{section}.{key}"),
        };
        return Some(format!(
            "{key} is a section and cannot be {}: write [{whole}] on a line of its own, and {field} on the lines below it",
            plain(found)
        ));
    }
    let write = match wanted {
        "a boolean" => "true or false, without quotes".to_owned(),
        "a string" | "path string" => "a text in quotes".to_owned(),
        "a sequence" => "a list: [\"one\", \"two\"]".to_owned(),
        _ if is_number(wanted) => "a whole number without quotes, such as 10".to_owned(),
        other => other.to_owned(),
    };
    // A number without a unit is no age and no size.
    let such = match key {
        _ if !matches!(wanted, "a string" | "path string") => None,
        "max_age" => Some("\"90d\""),
        "timeout" => Some("\"30s\""),
        "max_size" | "max_upload" | "max_body" | "max_memory" | "cache_size" => Some("\"2GiB\""),
        _ => None,
    };
    match such {
        Some(such) => Some(format!("{key} must be a text such as {such}")),
        None => Some(format!("{key} cannot be {}: write {write}", plain(found))),
    }
}

fn is_number(wanted: &str) -> bool {
    let digits = wanted.trim_start_matches(['u', 'i']);
    matches!(digits, "8" | "16" | "32" | "64" | "size")
}

/// A kind of value without the value, which may be secret.
fn plain(found: &str) -> &'static str {
    match found.split([' ', '`']).next().unwrap_or_default() {
        "string" => "a text",
        "map" => "a section",
        "sequence" => "a list",
        "integer" => "a number",
        "floating" => "a fraction",
        "boolean" => "true or false",
        _ => "this",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    /// What was accepted in silence, or refused in words of the program's own types.
    #[test]
    fn each_flaw_names_its_line_and_what_to_write() {
        for (text, line, reported) in [
            (
                "store = \"s1\"\n",
                1,
                "write [store] on a line of its own, and path = \"s1\"",
            ),
            (
                "\n[serve.caller]\nname = 'a'\n",
                2,
                "write [[serve.caller]]",
            ),
            ("[[store]]\npath = 'x'\n", 1, "write [store]"),
            (
                "[sreve]\nlisten = 'x'\n",
                1,
                "no section [sreve]; did you mean [serve]?",
            ),
            (
                "[serve]\nlisen = 'x'\n",
                2,
                "no field lisen; did you mean listen?",
            ),
            (
                "[serve.hooks.generic]\ntokn = 'x'\n",
                2,
                "did you mean token?",
            ),
            (
                "[serve.hooks]\ngeneric = 'abc'\n",
                2,
                "write [serve.hooks.generic] on a line",
            ),
            (
                "[serve.hooks.alertmanger]\ntoken = 'x'\n",
                1,
                "did you mean alertmanager?",
            ),
            ("[prometheus]\nurl = 'prom:9090'\n", 2, "http://prom:9090"),
            (
                "loki = 'http://x'\n",
                1,
                "write [loki] on a line of its own, and addr = 'http://x'",
            ),
            (
                "[logs]\nrequests = '10'\n",
                2,
                "a whole number without quotes",
            ),
            (
                "[store]\nmax_age = 90\n",
                2,
                "max_age must be a text such as \"90d\"",
            ),
            (
                "[kubernetes]\nenabled = 'yes'\n",
                2,
                "true or false, without quotes",
            ),
            (
                "[[serve.caller]]\nname = 'a'\nrights = ['aks']\n",
                3,
                "there are \"ask\", \"sql\", \"import\"",
            ),
            ("[loki.labels]\npodd = ['x']\n", 2, "did you mean pod?"),
            ("[serve.sql]\nat_once = 0\n", 2, "at_once"),
            ("[kubernetes\n", 1, "unclosed"),
        ] {
            let why = Config::parse(text).unwrap_err().to_string();
            let place = format!("line {line}: ");
            assert!(
                why.starts_with(&place) && why.contains(reported),
                "{text}{why}"
            );
            assert!(
                !why.contains("struct ") && !why.contains("loki.example"),
                "{why}"
            );
        }
    }
}
