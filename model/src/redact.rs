//! Secrets never reach a table, an answer or a log.
//!
//! One pass looks for words that stand near secrets; only there a pattern is
//! tried, anchored at the word, so text without secrets costs next to nothing
//! and uids, hashes and image digests are left alone.
//!
//! | file | idea |
//! |---|---|
//! | `forms` | tokens that are known by their form, and what stands in URLs, headers and commands |
//! | `vendors` | more of them: tokens of vendors |
//! | `services` | and more |
//! | `accounts` | a name with its password, as protocols, statements and programs write it |
//! | `jwk` | the private members of a key in JSON |
//! | `commands` | options of commands whose values are secrets |
//! | `key_words` | the words in the names of such keys |
//! | `keyed` | the value that belongs to a key such as `password` |
//! | `assigned` | what stands behind the sign of a key |
//! | `pattern` | one of many patterns, compiled when it is first needed |
//! | `pass` | whether `pass` is a password or a round of some work |
//! | `beside` | its other places: the next cell of a table or a pair, the field before it |
//! | `yaml` | what YAML puts between a key and its value: blocks and tags |
//! | `value` | where a value begins and ends, and whether it can be a secret |
//! | `block` | private keys over several lines, long runs of base64 |
//! | `secret_object` | Kubernetes' Secrets, of which every value goes |
//! | `views` | the same text decoded, or as the words of a list read side by side |
//! | `words` | the words of a command that stand apart: parameters of an address, numbered fields |
//! | `dressed` | the text without colours and the signs of HTML |
//! | `lines` | what the lines before a line say about it |
//! | `fields` | maps, lists of arguments, whole observations |

mod accounts;
mod assigned;
mod beside;
mod block;
mod commands;
mod dressed;
mod fields;
mod forms;
mod jwk;
mod key_words;
mod keyed;
mod lines;
mod pass;
mod pattern;
mod secret_object;
mod services;
mod value;
mod vendors;
mod views;
mod words;
mod yaml;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use regex::Regex;

pub use fields::{arguments, fact, observation, value, version};
use forms::{SecretForm, SecretShape};
use key_words::KEYS;
use keyed::Keys;
pub use lines::{Lines, hidden_in_raw, without};
use pattern::Pattern;
use views::{Hints, TextView};

/// What stands in the place of a secret.
pub const MASK: &str = "[redacted]";

/// Which rules these are: it grows with them, so that what was kept under fewer of
/// them is known.
pub const RULES: i64 = 11;

/// What is farther behind a hint is looked at for others first.
const BESIDE: usize = 24;

/// What to try where a hint is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// A pattern of [`all_forms`].
    Form(usize),
    /// The options of a command.
    Command(usize),
    /// The value that belongs to a key such as `password`.
    Password,
    /// The same for words that also name harmless things: `token`, `secret`.
    Keyed,
    /// The same for words that mostly name harmless things: `pass`, `routing_key`.
    Weak,
    /// `pass` and `pw`: a password, or one of several rounds.
    Pass,
    /// What tells that a Secret of Kubernetes is near.
    Object,
    /// A private key.
    Block,
    /// What an account or a token goes before.
    Behind,
    /// A key in JSON.
    Jwk,
    /// Nothing here, but maybe where the words of a list are read side by side.
    Elsewhere,
}

struct Patterns {
    hints: AhoCorasick,
    /// What each hint calls for, in the order in which it is tried.
    rules: Vec<Vec<Rule>>,
    forms: Vec<Pattern>,
    commands: Vec<Pattern>,
    members: Regex,
    keys: Keys,
}

/// Every pattern that is known by its form.
fn all_forms() -> impl Iterator<Item = &'static SecretForm> {
    forms::FORMS
        .iter()
        .chain(accounts::FORMS)
        .chain(vendors::FORMS)
        .chain(services::FORMS)
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let mut hints: Vec<Cow<'_, str>> = Vec::new();
    let mut rules: Vec<Vec<Rule>> = Vec::new();
    let mut known: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut add = |hint: Cow<'static, str>, rule: Rule| {
        // Where a space divides two words, a tab may.
        let tabbed = hint.contains(' ').then(|| hint.replace(' ', "\t").into());
        for hint in [Some(hint), tabbed].into_iter().flatten() {
            let number = *known.entry(hint.clone()).or_insert(hints.len());
            if number == hints.len() {
                hints.push(hint);
                rules.push(Vec::new());
            }
            rules[number].push(rule);
        }
    };
    for (number, form) in all_forms().enumerate() {
        for hint in form.hints {
            add((*hint).into(), Rule::Form(number));
        }
    }
    for (number, command) in commands::COMMANDS.iter().enumerate() {
        for hint in command.hints {
            add((*hint).into(), Rule::Command(number));
        }
    }
    for (hint, rule) in KEYS {
        add((*hint).into(), *rule);
    }
    for hint in block::HINTS {
        add((*hint).into(), Rule::Block);
    }
    for hint in accounts::BEHIND {
        add(hint.into(), Rule::Behind);
    }
    for hint in jwk::HINTS {
        add((*hint).into(), Rule::Jwk);
    }
    for hint in secret_object::HINTS {
        add((*hint).into(), Rule::Object);
    }
    for hint in views::hints() {
        add(hint.into(), Rule::Elsewhere);
    }
    let hints = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(hints.iter().map(|hint| hint.as_bytes()))
        .ok()?;
    let forms = all_forms().map(|form| Pattern::new(form.pattern));
    let commands = commands::COMMANDS.iter();
    let commands = commands.map(|command| Pattern::new(command.options));
    Some(Patterns {
        hints,
        rules,
        forms: forms.collect(),
        commands: commands.collect(),
        members: jwk::members()?,
        keys: Keys::new(),
    })
});

/// Takes secrets out of a text.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(patterns) = PATTERNS.as_ref() else {
        // The patterns are constants and tested; if they ever failed to build,
        // showing nothing is the safe side.
        return Cow::Borrowed(MASK);
    };
    masked(text, patterns.all(text))
}

/// The same for a record whose text was cut into pieces: a secret goes on behind a
/// seam, which is what stands between two pieces.
#[must_use]
pub fn pieces<'t>(text: &'t str, seams: &[Range<usize>]) -> Cow<'t, str> {
    let Some(patterns) = PATTERNS.as_ref() else {
        return Cow::Borrowed(MASK);
    };
    let mut found = patterns.all(text);
    let whole = TextView::without(text, seams);
    let mut more = Vec::new();
    for (secret, _) in patterns.all(&whole.text) {
        more.extend(whole.in_record(secret));
    }
    if !more.is_empty() {
        merge(&mut found, more);
    }
    masked(text, found)
}

/// Where the secrets of a text are.
fn found(text: &str) -> Vec<Range<usize>> {
    let found = PATTERNS.as_ref().map(|patterns| patterns.all(text));
    let found = found.into_iter().flatten();
    found.map(|(range, _)| range).collect()
}

fn masked(text: &str, found: Vec<SecretSpan>) -> Cow<'_, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (secret, mask) in found {
        out.push_str(&text[done..secret.start]);
        out.push_str(&mask);
        done = secret.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Where a secret is, and what to put in its place.
type SecretSpan = (Range<usize>, Cow<'static, str>);

impl Patterns {
    /// Every secret of a text, however it is read, in order; none overlaps another.
    fn all(&self, text: &str) -> Vec<SecretSpan> {
        let mut hints = Hints::of(text);
        let mut found = self.plain(text, &mut hints);
        let mut more: Vec<Range<usize>> = Vec::new();
        views::of(text, &hints, &mut |view| {
            for (secret, _) in self.plain(&view.text, &mut Hints::of("")) {
                more.extend(view.in_record(secret));
            }
            // What is encoded may be dressed, or the words of a command.
            let mut within = |inner: &TextView| {
                for (secret, _) in self.plain(&inner.text, &mut Hints::of("")) {
                    for part in inner.in_record(secret) {
                        more.extend(view.in_record(part));
                    }
                }
            };
            words::numbered(&view.text, &mut within);
            if let Some(inner) = dressed::undressed(&view.text) {
                within(&inner);
            }
        });
        if !more.is_empty() {
            merge(&mut found, more);
        }
        found
    }

    /// Every secret of a text as it stands. `hints` gets the places of all hints.
    fn plain(&self, text: &str, hints: &mut Hints) -> Vec<SecretSpan> {
        let mut found: Vec<SecretSpan> = Vec::new();
        let mut objects: Vec<usize> = Vec::new();
        let mut more: Vec<Range<usize>> = Vec::new();
        let mut done = 0;
        let mut at = 0;
        while let Some(hint) = self.hints.find(Input::new(text).range(at..)) {
            // A shorter word may begin within this one: `htpasswd=…`.
            at = hint.start() + 1;
            hints.add(hint.start());
            for rule in &self.rules[hint.pattern().as_usize()] {
                match rule {
                    Rule::Object if secret_object::is_secret(text, hint.range()) => {
                        objects.push(hint.start());
                    }
                    Rule::Jwk => jwk::values(text, hint.start(), &self.members, &mut more),
                    Rule::Behind => more.extend(accounts::before(text, hint.range())),
                    Rule::Command(number) => {
                        commands::options(text, hint.range(), *number, &self.commands, &mut more);
                    }
                    rule => {
                        let secret = self.secret(text, hint.range(), *rule);
                        let Some(secret) = secret.filter(|(range, _)| range.start >= done) else {
                            continue;
                        };
                        // Between a command and its password other secrets may stand.
                        let is_far = secret.0.start > hint.end() + BESIDE;
                        if is_far && *rule != Rule::Block && secret.1 == MASK {
                            more.push(secret.0);
                        } else {
                            done = secret.0.end;
                            at = at.max(done).max(hint.end());
                            found.push(secret);
                        }
                    }
                }
            }
        }
        block::runs(text, &mut found);
        secret_object::values(text, &objects, &mut more);
        if !more.is_empty() {
            merge(&mut found, more);
        }
        found
    }

    fn secret(&self, text: &str, hint: Range<usize>, rule: Rule) -> Option<SecretSpan> {
        let number = match rule {
            Rule::Form(number) => number,
            Rule::Block => return Some((block::of(text, hint.start)?, MASK.into())),
            Rule::Command(_) | Rule::Object | Rule::Elsewhere | Rule::Behind | Rule::Jwk => {
                return None;
            }
            Rule::Password | Rule::Keyed | Rule::Weak | Rule::Pass => {
                return self.keys.secret(text, hint, rule);
            }
        };
        let form = all_forms().nth(number)?;
        if form.is_word && value::starts_inside_word(text, hint.start) {
            return None;
        }
        let Some(pattern) = self.forms.get(number)?.regex() else {
            return Some((hint.start..text.len(), MASK.into()));
        };
        let captures = pattern.captures(&text[hint.start..])?;
        // Of groups of these names the pattern says enough as well.
        let named = || captures.name("plain").or_else(|| captures.name("password"));
        let (secret, needs) = match captures.get(1).or_else(named) {
            Some(secret) => (secret, form.needs),
            None => (
                captures.iter().skip(2).flatten().next()?,
                SecretShape::Random,
            ),
        };
        let emitted = secret.as_str();
        let fits = match needs {
            SecretShape::Nothing => true,
            SecretShape::Random => value::is_random(emitted),
            SecretShape::BothCases => value::has_both_cases(emitted),
            SecretShape::Mixed => value::is_mixed(emitted, 0),
        };
        if !fits || value::names_no_secret(emitted) {
            return None;
        }
        let range = hint.start + secret.start()..hint.start + secret.end();
        Some((range, MASK.into()))
    }
}

/// Adds what other readings of a text found to what is found already; what overlaps
/// becomes one.
fn merge(found: &mut Vec<SecretSpan>, more: Vec<Range<usize>>) {
    found.extend(more.into_iter().map(|part| (part, MASK.into())));
    // Of equal ones what was found first stays first, with its own mask.
    found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
    let mut apart: Vec<SecretSpan> = Vec::with_capacity(found.len());
    for (range, mask) in found.drain(..) {
        match apart.last_mut().filter(|(last, _)| range.start < last.end) {
            Some((last, _)) if range.end <= last.end => {}
            Some((last, whole)) => {
                last.end = range.end;
                *whole = MASK.into();
            }
            None => apart.push((range, mask)),
        }
    }
    *found = apart;
}

#[cfg(test)]
mod tests;
