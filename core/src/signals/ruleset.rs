//! All signals together, indexed by what an event says first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::line_word::LineWord;
use whathappened_model::time::{Nanos, SECOND};

use super::actor::{ActorClass, class_of};
use super::condition::Condition;
use super::error::{SignalError, did_you_mean};
use super::expand::{expand, rule_error};
use super::file::{self, Example, Signal};
use super::known::{known_lane, known_traits};
use super::pattern::PatternSource;
use super::scan::Scanner;
use super::traits::SignalTraits;
use super::words::{LineWords, OF_LINES};
use super::{built_in, named, speaker};

/// A signal as `rules list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalInfo {
    /// Its name, dotted.
    pub name: String,
    /// One sentence.
    pub title: String,
    /// The file that defines it.
    pub file: String,
    /// The name as written there: a signal for every kind of actor is written once.
    pub written: String,
    /// The attributes that its patterns set.
    pub captures: Vec<String>,
    /// It alone says little.
    pub weak: bool,
}

impl SignalInfo {
    /// The title with what a reader is to know beside it.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.weak {
            true => format!("{}; weak", self.title),
            false => self.title.clone(),
        }
    }
}

/// A signal and what proves it right.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) info: SignalInfo,
    pub(super) examples: Vec<Example>,
    pub(super) counter_examples: Vec<Example>,
}

/// The conditions for events of one fact.
#[derive(Debug, Default)]
struct FactRules {
    by_reason: HashMap<String, Vec<u32>>,
    /// Without a reason, with a message.
    scanner: Scanner,
    /// With neither.
    rest: Vec<u32>,
}

/// Signals, ready to classify events.
#[derive(Debug)]
pub struct Ruleset {
    pub(super) rules: Vec<Rule>,
    conditions: Vec<Condition>,
    facts: HashMap<String, FactRules>,
    actors: Vec<ActorClass>,
    /// How late signals may be reported, by name; of one in several files the latest.
    lags: BTreeMap<String, Nanos>,
    /// What lines of programs and of machines must hold to matter, in the order of [`OF_LINES`].
    words: [LineWords; 2],
    traits: Arc<SignalTraits>,
    files: Vec<(String, String)>,
    version: String,
}

impl Ruleset {
    /// The signals that are compiled in.
    pub fn built_in() -> Result<Self, SignalError> {
        Self::load(std::iter::empty::<(String, String)>())
    }

    /// The same, read once for all tests.
    #[cfg(test)]
    #[allow(clippy::unwrap_used, reason = "tests")]
    pub(crate) fn shared() -> &'static Self {
        static RULES: std::sync::LazyLock<Ruleset> =
            std::sync::LazyLock::new(|| Ruleset::built_in().unwrap());
        &RULES
    }

    /// The built-in signals and those of `extra` files, given as name and text.
    ///
    /// A signal that another file has too gains conditions; actor classes of
    /// extra files are tried before the built-in ones. The order of the files
    /// does not matter.
    pub fn load(
        extra: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Result<Self, SignalError> {
        let mut extra: Vec<(String, String)> = extra
            .into_iter()
            .map(|(name, text)| apart(name.into(), text.into()))
            .collect();
        extra.sort();
        let built_in = built_in::FILES
            .iter()
            .map(|&(name, text)| (name.to_owned(), text.to_owned()));
        extra.extend(built_in);
        Self::from_files(extra)
    }

    /// Only these files, in the order in which their actor classes are tried.
    pub(super) fn from_files(files: Vec<(String, String)>) -> Result<Self, SignalError> {
        let mut parsed = Vec::new();
        for (name, text) in &files {
            parsed.push((name.as_str(), file::parse(name, text)?));
        }
        let mut actors = Vec::new();
        for (name, file) in &parsed {
            for class in &file.actor {
                let trusted = trusted(&files, name);
                let (file, rule) = (*name, "");
                let place = PatternSource {
                    file,
                    rule,
                    trusted,
                };
                actors.push(ActorClass::compile(place, class)?);
            }
        }
        let (mut signals, mut plain) = (Vec::new(), Vec::new());
        let mut traits = SignalTraits::default();
        for (name, file) in parsed {
            if let Some(fact) = file
                .words
                .keys()
                .find(|fact| !OF_LINES.contains(&fact.as_str()))
            {
                let near = did_you_mean(fact, OF_LINES.into_iter());
                let problem = format!("only lines have words{near}");
                return Err(rule_error(name, "words", fact, &problem));
            }
            plain.push((file.words, !trusted(&files, name)));
            for family in file.family {
                known_lane(name, &family.name, family.lane.as_deref())?;
                traits.family(family);
            }
            let mut written = BTreeSet::new();
            for signal in file.signal {
                if !written.insert(signal.name.clone()) {
                    return Err(rule_error(name, &signal.name, "name", "is defined twice"));
                }
                expand(name, signal, &actors, &mut signals)?;
            }
        }
        signals.sort_by(|(a, _), (b, _)| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
        for (info, signal) in &signals {
            known_traits(info, signal)?;
            traits.signal(&info.name, signal);
        }
        let version = version(&files);
        let mut ruleset = Self {
            rules: Vec::new(),
            conditions: Vec::new(),
            facts: HashMap::new(),
            actors,
            lags: BTreeMap::new(),
            words: Default::default(),
            traits: Arc::new(traits),
            files,
            version,
        };
        ruleset.known_facts(&signals)?;
        ruleset.words = ruleset.line_words(&plain, &signals);
        ruleset.index(signals)?;
        Ok(ruleset)
    }

    /// Refuses a fact of a person's own file that no record is: the signal would stay silent
    /// for ever.
    fn known_facts(&self, signals: &[(SignalInfo, Signal)]) -> Result<(), SignalError> {
        let (ours, own): (Vec<_>, Vec<_>) = signals
            .iter()
            .partition(|(info, _)| trusted(&self.files, &info.file));
        fn facts(signal: &Signal) -> impl Iterator<Item = &String> {
            signal.when.iter().flat_map(|when| &when.fact.0)
        }
        if ours.is_empty() {
            return Ok(());
        }
        let ours = ours.iter().flat_map(|(_, signal)| facts(signal));
        let known: BTreeSet<&str> = ours.map(String::as_str).chain(UNUSED_FACTS).collect();
        for (info, signal) in own {
            for (part, when) in signal.when.iter().enumerate() {
                let is_known = |fact: &&String| {
                    known.contains(fact.as_str())
                        || fact.starts_with("k8s.audit.")
                        || is_event_of_log_store(fact)
                };
                let Some(unknown) = when.fact.0.iter().find(|fact| !is_known(fact)) else {
                    continue;
                };
                let near = did_you_mean(unknown, known.iter().copied());
                let field = format!("when {}, fact", part + 1);
                let problem = format!("no record has a fact {unknown:?}{near}");
                return Err(rule_error(&info.file, &info.written, &field, &problem));
            }
        }
        Ok(())
    }

    fn line_words(
        &self,
        plain: &[(BTreeMap<String, Vec<String>>, bool)],
        signals: &[(SignalInfo, Signal)],
    ) -> [LineWords; 2] {
        let is_own = |info: &SignalInfo| !trusted(&self.files, &info.file);
        let signals: Vec<_> = signals
            .iter()
            .map(|(info, signal)| (signal, is_own(info)))
            .collect();
        OF_LINES.map(|fact| {
            let plain = plain.iter().flat_map(|(words, own)| {
                let of_fact = words.get(fact).into_iter().flatten();
                of_fact.map(move |word| (word.clone(), *own))
            });
            LineWords::of(fact, plain, &signals)
        })
    }

    fn index(&mut self, signals: Vec<(SignalInfo, Signal)>) -> Result<(), SignalError> {
        let mut scanned = BTreeMap::<String, Vec<(u32, Vec<String>)>>::new();
        for (mut info, signal) in signals {
            let number = count(self.rules.len());
            for (part, when) in signal.when.iter().enumerate() {
                let place = PatternSource {
                    file: &info.file,
                    rule: &info.written,
                    trusted: trusted(&self.files, &info.file),
                };
                let entry = count(self.conditions.len());
                let condition = Condition::compile((place, part + 1), number, when)?;
                info.captures.extend(condition.capture_names());
                self.conditions.push(condition);
                for fact in &when.fact.0 {
                    let rules = self.facts.entry(fact.clone()).or_default();
                    match (&when.reason, &when.message) {
                        (Some(reasons), _) => {
                            for reason in &reasons.0 {
                                rules
                                    .by_reason
                                    .entry(reason.clone())
                                    .or_default()
                                    .push(entry);
                            }
                        }
                        (None, Some(patterns)) => {
                            scanned
                                .entry(fact.clone())
                                .or_default()
                                .push((entry, patterns.0.clone()));
                        }
                        (None, None) => rules.rest.push(entry),
                    }
                }
            }
            info.captures.sort_unstable();
            info.captures.dedup();
            let lag = Nanos::from(signal.reported_within_s) * SECOND;
            if lag > 0 {
                let known = self.lags.entry(info.name.clone()).or_default();
                *known = lag.max(*known);
            }
            self.rules.push(Rule {
                info,
                examples: signal.example,
                counter_examples: signal.counter_example,
            });
        }
        for (fact, entries) in scanned {
            let entries = entries
                .iter()
                .map(|(entry, patterns)| (*entry, patterns.as_slice()));
            self.facts.entry(fact).or_default().scanner = Scanner::new(entries)?;
        }
        Ok(())
    }

    /// A short hash of all files' texts.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Every signal, by name.
    pub fn signals(&self) -> impl Iterator<Item = &SignalInfo> {
        self.rules.iter().map(|rule| &rule.info)
    }

    /// How long before a signal's own time what it tells of may have begun, in nanoseconds:
    /// a kubelet tells of a reboot once it is up again.
    #[must_use]
    pub fn lag(&self, signal: &str) -> Nanos {
        self.lags.get(signal).copied().unwrap_or(0)
    }

    /// What signals say of themselves.
    #[must_use]
    pub fn traits(&self) -> &Arc<SignalTraits> {
        &self.traits
    }

    /// What lines of programs hold that may be evidence: kept however long a log is, and
    /// asked for over a whole run in log stores.
    #[must_use]
    pub fn program_words(&self) -> &[LineWord] {
        &self.words[0].words
    }

    /// What a line of a machine must hold to matter to any signal: nearly all lines are
    /// passed over unread, and never asked for.
    #[must_use]
    pub fn machine_words(&self) -> &[LineWord] {
        &self.words[1].words
    }

    /// The text of a file, as compiled in or given.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(file, _)| file == name)
            .map(|(_, text)| text.as_str())
    }

    /// Every kind of actor with its title, in the order they are tried.
    pub fn actors(&self) -> impl Iterator<Item = (&str, &str)> {
        self.actors
            .iter()
            .map(|class| (class.name.as_str(), class.title.as_str()))
    }

    /// Which kind of actor did it: `user`, `controller`, …
    #[must_use]
    pub fn actor_class(&self, event: &Event) -> Option<&str> {
        class_of(&self.actors, event)
    }

    /// Sets the event's signals, sorted, and adds what patterns captured to
    /// those attributes that it does not have.
    pub fn classify(&self, event: &mut Event) {
        event.signals.clear();
        let mut matching = Vec::new();
        self.candidates(event, &mut matching);
        if matching.is_empty() {
            return;
        }
        // In the order of the rules, so that no file's place decides a capture.
        matching.sort_unstable();
        matching.dedup();
        let mut class = None;
        matching.retain(|&entry| {
            let asked = || *class.get_or_insert_with(|| self.actor_class(event));
            self.conditions[entry as usize].holds(event, asked)
        });
        if speaker::says_calmly(event) {
            matching.retain(|&entry| {
                let name = self.name_of(&self.conditions[entry as usize]);
                !self.traits.is_quoted_as_info(name)
            });
        }
        if speaker::is_ignored_exception(event) {
            return;
        }
        if speaker::is_other_program(event) {
            matching.retain(|&entry| {
                let condition = &self.conditions[entry as usize];
                !(condition.of_any_program && speaker::is_of_kernel(self.name_of(condition)))
            });
        }
        let mut captures = Vec::new();
        for &entry in &matching {
            let condition = &self.conditions[entry as usize];
            condition.captures(event, &mut captures);
            let name = self.name_of(condition);
            if event.signals.last().map(String::as_str) != Some(name) {
                event.signals.push(name.to_owned());
            }
        }
        for (name, value) in captures {
            event.attributes.entry(name).or_insert(Value::String(value));
        }
    }

    fn name_of(&self, condition: &Condition) -> &str {
        &self.rules[condition.signal as usize].info.name
    }

    fn candidates(&self, event: &Event, into: &mut Vec<u32>) {
        let Some(rules) = self.facts.get(&event.fact) else {
            return;
        };
        into.extend(&rules.rest);
        if let Some(entries) = event
            .reason
            .as_ref()
            .and_then(|reason| rules.by_reason.get(reason))
        {
            into.extend(entries);
        }
        if let Some(message) = &event.message {
            rules.scanner.candidates(message, into);
        }
    }

    /// Signals with a pattern for lines of `OF_LINES` that no word finds.
    #[cfg(test)]
    pub(super) fn wordless(&self) -> impl Iterator<Item = &String> {
        self.words.iter().flat_map(|words| &words.wordless)
    }

    /// Signals with a pattern that is tried on every text of `fact`, for want of a literal.
    #[cfg(test)]
    pub(super) fn unguarded(&self, fact: &str) -> Vec<&str> {
        let entries = &self.facts[fact].scanner.unguarded;
        let signals = entries
            .iter()
            .map(|&entry| self.conditions[entry as usize].signal);
        signals
            .map(|signal| self.rules[signal as usize].info.name.as_str())
            .collect()
    }
}

/// Facts that records tell and no signal of ours is made of.
const UNUSED_FACTS: [&str; 7] = [
    "k8s.event.grew",
    "k8s.node.deletion_requested",
    named::K8S_POD_BOUND,
    "k8s.pod.created",
    "k8s.workload.created",
    "metric.curve",
    "metric.pod.reason",
];

/// Whether it is what a log store tells beside lines: `<its name>.event`.
fn is_event_of_log_store(fact: &str) -> bool {
    let store = fact.strip_suffix(".event").and_then(SourceKind::parse);
    store.is_some_and(SourceKind::is_log_store)
}

/// A person's own file, whose name says so where a built-in one has it too: which of two files of one name is meant, names alone
/// would not tell.
fn apart(name: String, text: String) -> (String, String) {
    let mut built_in = built_in::FILES.iter();
    let is_other = built_in.any(|(other, built_in)| *other == name && *built_in != text);
    match is_other {
        true => (format!("own/{name}"), text),
        false => (name, text),
    }
}

/// Whether every file of that name is a built-in one.
fn trusted(files: &[(String, String)], name: &str) -> bool {
    let mut named = files.iter().filter(|(file, _)| file == name);
    named.all(|(file, text)| built_in::FILES.contains(&(file, text)))
}

fn version(files: &[(String, String)]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (name, text) in files {
        parts.extend([name.as_str(), text.as_str()]);
    }
    let mut hash = EventId::of(&parts).to_string();
    hash.truncate(12);
    hash
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
