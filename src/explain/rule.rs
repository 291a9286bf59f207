//! Cause rules: one SQL file each, with a header that carries everything else.

mod compared;
mod placeholders;

use std::collections::BTreeMap;

use whathappened_core::resolve::rank_names;
use whathappened_model::coverage::EvidenceKind;

use crate::answer::Level;
use placeholders::unknown_placeholder;

pub use placeholders::PLACEHOLDERS;

/// A rule that cannot be used, and where.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {why}")]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// Line of the header, from 1.
    pub line: usize,
    /// What is wrong and what to write instead.
    pub why: String,
}

/// Evidence that could overturn a verdict: `logs: the traceback`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverturningEvidence {
    /// Its kind.
    pub by: EvidenceKind,
    /// The whole line, for people.
    pub line: String,
}

/// One root cause and how it is recognised.
#[derive(Clone, Debug)]
pub struct Rule {
    /// File name, for people.
    pub file: String,
    /// Cause id, such as `sched.preempted`.
    pub cause: String,
    /// The cause in a few words.
    pub title: String,
    /// How far upstream it acts: of two roots as well proven, the higher wins.
    pub rank: i64,
    /// The highest level it can reach.
    pub level: Level,
    /// Signals of which at least one must be there for the rule to say anything.
    /// A trailing `*` stands for any ending.
    pub needs: Vec<String>,
    /// Signals of machines that are an incident even where nobody is known to
    /// have died of them. A trailing `*` stands for any ending.
    pub alone: Vec<String>,
    /// What kind of evidence could overturn it, and what it would have told.
    pub overturned_by: Vec<OverturningEvidence>,
    /// What happened, with `{placeholders}`.
    pub summary: String,
    /// Other words for it, by the signals of the root: the first that matches counts.
    pub summaries_of: Vec<(Vec<String>, String)>,
    /// Other titles, by the signals of the root: the first that matches counts.
    pub titles_of: Vec<(Vec<String>, String)>,
    /// What to do now.
    pub advice: Vec<String>,
    /// What to do instead, by the signals of the root.
    pub advices_of: Vec<(Vec<String>, String)>,
    /// The statement.
    pub sql: String,
    /// The whole file.
    pub text: String,
}

const KEYS: [&str; 12] = [
    "cause",
    "title",
    "title_of",
    "rank",
    "level",
    "needs",
    "alone",
    "overturned_by",
    "summary",
    "summary_of",
    "advice",
    "advice_of",
];

impl Rule {
    /// Parses a rule file: `-- key: value` lines, then one SELECT.
    ///
    /// # Errors
    /// Names the line and what is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, RuleError> {
        let fail = |line: usize, why: String| RuleError {
            file: file.to_owned(),
            line,
            why,
        };
        let mut header: BTreeMap<&str, Vec<(usize, String)>> = BTreeMap::new();
        let mut is_header = true;
        for (index, line) in text.lines().enumerate() {
            is_header &= line.starts_with("--");
            let Some(comment) = line.strip_prefix("--") else {
                continue;
            };
            let Some((key, value)) = comment.trim().split_once(':') else {
                continue;
            };
            let Some(key) = KEYS.iter().find(|known| **known == key.trim()) else {
                if is_header && is_key(key.trim()) {
                    let known = KEYS.iter().map(|one| (*one).to_owned());
                    let near = rank_names(key.trim(), known).into_iter().next();
                    let near = near.map_or_else(
                        || format!("the keys are {}", KEYS.join(", ")),
                        |near| format!("did you mean `-- {near}:`?"),
                    );
                    let why = format!("there is no key `{}`; {near}", key.trim());
                    return Err(fail(index + 1, why));
                }
                continue;
            };
            header
                .entry(key)
                .or_default()
                .push((index + 1, value.trim().to_owned()));
        }
        let one = |key: &str| match header.get(key).map(Vec::as_slice) {
            Some([(line, value)]) if !value.is_empty() => Ok((*line, value.clone())),
            Some([_, (line, _), ..]) => {
                Err(fail(*line, format!("`-- {key}:` appears twice; keep one")))
            }
            _ => Err(fail(1, format!("the header has no `-- {key}: …`"))),
        };
        let all = |key: &str| -> Vec<String> {
            header
                .get(key)
                .into_iter()
                .flatten()
                .map(|(_, value)| value.clone())
                .collect()
        };
        let (line, rank) = one("rank")?;
        let rank = rank
            .parse()
            .map_err(|_| fail(line, format!("rank is {rank:?}; write a whole number")))?;
        let (line, level) = one("level")?;
        let level = Level::parse(&level).ok_or_else(|| {
            fail(
                line,
                format!("level is {level:?}; write established, supported or hypothesis"),
            )
        })?;
        let (line, cause) = one("cause")?;
        if cause.split('.').count() != 2 {
            return Err(fail(
                line,
                format!(
                    "cause is {cause:?}; write two words with a dot between, as in sched.preempted"
                ),
            ));
        }
        let sql: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("--"))
            .collect::<Vec<_>>()
            .join("\n");
        if sql.trim().is_empty() {
            return Err(fail(
                text.lines().count().max(1),
                "there is no SELECT".to_owned(),
            ));
        }
        let (_, summary) = one("summary")?;
        let by_signal = |key: &str| {
            let mut found = Vec::new();
            for (line, value) in header.get(key).into_iter().flatten() {
                let (signals, template) = value.split_once(": ").ok_or_else(|| {
                    fail(
                        *line,
                        format!("write `-- {key}: SIGNAL, SIGNAL: the sentence`"),
                    )
                })?;
                found.push((list(&[signals.to_owned()]), template.trim().to_owned()));
            }
            Ok::<_, RuleError>(found)
        };
        let (summaries_of, titles_of, advices_of) = (
            by_signal("summary_of")?,
            by_signal("title_of")?,
            by_signal("advice_of")?,
        );
        for key in ["summary", "summary_of", "advice", "advice_of"] {
            for (line, template) in header.get(key).into_iter().flatten() {
                if let Some(why) = unknown_placeholder(key, template) {
                    return Err(fail(*line, why));
                }
            }
        }
        let mut overturned_by = Vec::new();
        for (line, text) in header.get("overturned_by").into_iter().flatten() {
            let word = text.split(':').next().unwrap_or_default().trim();
            let by = EvidenceKind::parse(word).ok_or_else(|| {
                let words = EvidenceKind::ALL.map(EvidenceKind::as_str).join(", ");
                fail(
                    *line,
                    format!(
                        "overturned_by starts with {word:?}, which is not a kind of evidence; \
                         write one of {words}, a colon, and what it would have shown"
                    ),
                )
            })?;
            overturned_by.push(OverturningEvidence {
                by,
                line: text.clone(),
            });
        }
        Ok(Self {
            file: file.to_owned(),
            cause,
            title: one("title")?.1,
            rank,
            level,
            needs: list(&all("needs")),
            alone: list(&all("alone")),
            overturned_by,
            summary,
            summaries_of,
            titles_of,
            advice: all("advice"),
            advices_of,
            sql: sql.trim().trim_end_matches(';').to_owned(),
            text: text.to_owned(),
        })
    }

    /// The sentence for a root of a signal.
    #[must_use]
    pub fn summary_of(&self, signal: &str) -> &str {
        let own = self
            .summaries_of
            .iter()
            .find(|(signals, _)| is_among(signal, signals));
        own.map_or(&self.summary, |(_, template)| template)
    }

    /// What to call the cause for a root of a signal.
    #[must_use]
    pub fn title_of(&self, signal: &str) -> &str {
        let mut own = self.titles_of.iter();
        let own = own.find(|(signals, _)| is_among(signal, signals));
        own.map_or(&self.title, |(_, title)| title)
    }

    /// What to do about a root of a signal.
    #[must_use]
    pub fn advice_of(&self, signal: &str) -> Vec<&String> {
        let own = self.advices_of.iter();
        let own: Vec<&String> = own
            .filter(|(signals, _)| is_among(signal, signals))
            .map(|(_, advice)| advice)
            .collect();
        if own.is_empty() {
            self.advice.iter().collect()
        } else {
            own
        }
    }

    /// Whether any signal that the rule needs is among those present.
    pub fn may_apply<'a>(&self, mut present: impl Iterator<Item = &'a str>) -> bool {
        self.needs.is_empty() || present.any(|signal| is_among(signal, &self.needs))
    }

    /// Whether a machine's signal is an incident of this cause by itself.
    #[must_use]
    pub fn is_alone(&self, signal: &str) -> bool {
        is_among(signal, &self.alone)
    }
}

fn is_among(signal: &str, list: &[String]) -> bool {
    list.iter().any(|one| match one.strip_suffix('*') {
        Some(stem) => signal.starts_with(stem),
        None => signal == one,
    })
}

/// Whether a word is written as keys of the header are: prose has capitals, and more than one word.
fn is_key(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|sign| sign == b'_' || sign.is_ascii_lowercase())
}

/// Names with commas between, on one line or several.
fn list(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| line.split(','))
        .map(|one| one.trim().to_owned())
        .filter(|one| !one.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const GOOD: &str = "-- cause: a.b\n-- title: T\n-- rank: 3\n-- level: supported\n-- needs: x.y, z.*\n-- summary: S\nSELECT 1";

    #[test]
    fn a_header_is_read() {
        let rule = Rule::parse("r.sql", GOOD).unwrap();
        assert_eq!(
            (rule.cause.as_str(), rule.rank, rule.sql.as_str()),
            ("a.b", 3, "SELECT 1")
        );
        assert!(rule.may_apply(["z.q"].into_iter()) && rule.may_apply(["x.y"].into_iter()));
        assert!(!rule.may_apply(["x.yy"].into_iter()));
    }

    #[test]
    fn a_misspelt_key_of_the_header_is_told() {
        let text = GOOD.replace(
            "-- summary",
            "-- overtuned_by: audit: who did it\n-- summary",
        );
        let error = Rule::parse("r.sql", &text).unwrap_err().to_string();
        assert!(error.starts_with("r.sql:6: "), "{error}");
        assert!(
            error.contains("did you mean `-- overturned_by:`?"),
            "{error}"
        );
        let prose = GOOD.replace("SELECT", "-- What counts: this\n-- Note: that\nSELECT");
        assert!(Rule::parse("r.sql", &prose).is_ok());
        let comment = GOOD.replace("SELECT 1", "SELECT\n-- only: this\n 1");
        assert!(Rule::parse("r.sql", &comment).is_ok());
    }

    #[test]
    fn errors_name_file_line_and_remedy() {
        let nodee = GOOD.replace("summary: S", "summary: {pod} left {nodee}");
        let error = Rule::parse("r.sql", &nodee).unwrap_err();
        assert!(
            error.to_string().contains("did you mean {node}?"),
            "{error}"
        );
        let nodee = GOOD.replace("SELECT", "-- advice: Look at {nodee}\nSELECT");
        let error = Rule::parse("r.sql", &nodee).unwrap_err().to_string();
        assert!(
            error.starts_with("r.sql:7: ") && error.contains("{node}?"),
            "{error}"
        );
        let error = Rule::parse("r.sql", &GOOD.replace("rank: 3", "rank: high")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "r.sql:3: rank is \"high\"; write a whole number"
        );
        let error = Rule::parse("r.sql", &GOOD.replace("-- title: T\n", "")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "r.sql:1: the header has no `-- title: …`"
        );
    }
}
