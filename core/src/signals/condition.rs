//! One `when` of a signal, compiled.

use std::borrow::Cow;

use serde_json::Value;
use whathappened_model::event::Event;

use super::error::SignalError;
use super::file::When;
use super::pattern::{Pattern, PatternSource, patterns};
use super::values::{AnyOf, ExitCodes};

/// Conditions that must all hold. Facts and exact reasons are in the index
/// and are not looked at again.
#[derive(Debug)]
pub(super) struct Condition {
    /// Which signal it is a condition of.
    pub(super) signal: u32,
    object: Vec<String>,
    reason_match: Option<Pattern>,
    reason_not: Vec<Pattern>,
    message: Vec<Pattern>,
    message_not: Vec<Pattern>,
    actor: Vec<Pattern>,
    actor_class: Vec<String>,
    severity: Vec<String>,
    exit_code: Option<ExitCodes>,
    source_kind: Vec<String>,
    attributes: Vec<(String, Vec<String>)>,
    attributes_not: Vec<(String, Vec<String>)>,
    attributes_match: Vec<(String, Pattern)>,
    attributes_unlike: Vec<(String, Pattern)>,
    absent: Vec<String>,
    captures: bool,
    /// Whether it is one of ours that does not say which program has to have written it.
    pub(super) of_any_program: bool,
}

impl Condition {
    /// `rule` and `part` say where in `file` it stands.
    pub(super) fn compile(
        (place, part): (PatternSource<'_>, usize),
        signal: u32,
        when: &When,
    ) -> Result<Self, SignalError> {
        let many = |field: &str, texts: &Option<AnyOf>| match texts {
            Some(texts) => patterns(place, &format!("when {part}, {field}"), texts),
            None => Ok(Vec::new()),
        };
        let one = |field: &str, text: &String| {
            let texts = AnyOf(vec![text.clone()]);
            let mut compiled = patterns(place, &format!("when {part}, {field}"), &texts)?;
            Ok::<_, SignalError>(compiled.remove(0))
        };
        let exact = |texts: &Option<AnyOf>| texts.clone().unwrap_or_default().0;
        let pairs = |map: &std::collections::BTreeMap<String, AnyOf>| {
            map.iter()
                .map(|(key, any)| (key.clone(), any.0.clone()))
                .collect()
        };
        let mut condition = Self {
            signal,
            object: exact(&when.object),
            reason_match: when
                .reason_match
                .as_ref()
                .map(|text| one("reason_match", text))
                .transpose()?,
            reason_not: many("reason_not", &when.reason_not)?,
            message: many("message", &when.message)?,
            message_not: many("message_not", &when.message_not)?,
            actor: many("actor", &when.actor)?,
            actor_class: exact(&when.actor_class),
            severity: exact(&when.severity),
            exit_code: when.exit_code.clone(),
            source_kind: exact(&when.source_kind),
            attributes: pairs(&when.attributes),
            attributes_not: pairs(&when.attributes_not),
            attributes_match: Vec::new(),
            attributes_unlike: Vec::new(),
            absent: when.absent.0.clone(),
            captures: false,
            of_any_program: place.trusted
                && !when.attributes.contains_key("program")
                && !when.attributes_match.contains_key("program"),
        };
        for (key, text) in &when.attributes_match {
            let pattern = one(&format!("attributes_match.{key}"), text)?;
            condition.attributes_match.push((key.clone(), pattern));
        }
        for (key, text) in &when.attributes_unlike {
            let pattern = one(&format!("attributes_unlike.{key}"), text)?;
            condition.attributes_unlike.push((key.clone(), pattern));
        }
        let captures = condition
            .capturing()
            .any(|pattern| pattern.names().next().is_some());
        condition.captures = captures;
        Ok(condition)
    }

    fn capturing(&self) -> impl Iterator<Item = &Pattern> {
        let attributes = self.attributes_match.iter().map(|(_, pattern)| pattern);
        self.reason_match
            .iter()
            .chain(&self.message)
            .chain(&self.actor)
            .chain(attributes)
    }

    /// The attributes that its patterns set.
    pub(super) fn capture_names(&self) -> impl Iterator<Item = String> {
        self.capturing().flat_map(Pattern::names).map(str::to_owned)
    }

    /// Whether everything holds; `class` is asked only where it matters.
    pub(super) fn holds<'a>(&self, event: &Event, class: impl FnOnce() -> Option<&'a str>) -> bool {
        let message = event.message.as_deref();
        one_of(&self.object, event.object_kind.as_deref())
            && one_of(&self.severity, event.severity.as_deref())
            && one_of(&self.source_kind, Some(event.source_kind.as_str()))
            && self
                .exit_code
                .as_ref()
                .is_none_or(|codes| event.exit_code.is_some_and(|code| codes.contains(code)))
            && self
                .attributes
                .iter()
                .all(|(key, values)| one_of(values, text(event, key).as_deref()))
            && self.attributes_not.iter().all(|(key, values)| {
                text(event, key).is_none_or(|text| !values.iter().any(|value| *value == text))
            })
            && self
                .absent
                .iter()
                .all(|key| text(event, key).is_none_or(|text| text.is_empty()))
            && self
                .reason_match
                .as_ref()
                .is_none_or(|pattern| pattern.is_in(event.reason.as_deref()))
            && !self
                .reason_not
                .iter()
                .any(|pattern| pattern.is_in(event.reason.as_deref()))
            && any_found(&self.message, message)
            && !self
                .message_not
                .iter()
                .any(|pattern| pattern.is_in(message))
            && any_found(&self.actor, event.actor.as_deref())
            && self
                .attributes_match
                .iter()
                .all(|(key, pattern)| pattern.is_in(text(event, key).as_deref()))
            && !self
                .attributes_unlike
                .iter()
                .any(|(key, pattern)| pattern.is_in(text(event, key).as_deref()))
            && (self.actor_class.is_empty() || one_of(&self.actor_class, class()))
    }

    /// Adds what the named groups caught. Of several patterns of one field
    /// the first that matches speaks.
    pub(super) fn captures(&self, event: &Event, into: &mut Vec<(String, String)>) {
        if !self.captures {
            return;
        }
        catch(self.reason_match.as_slice(), event.reason.as_deref(), into);
        catch(&self.message, event.message.as_deref(), into);
        catch(&self.actor, event.actor.as_deref(), into);
        for (key, pattern) in &self.attributes_match {
            catch(
                std::slice::from_ref(pattern),
                text(event, key).as_deref(),
                into,
            );
        }
    }
}

fn one_of(wanted: &[String], have: Option<&str>) -> bool {
    wanted.is_empty() || have.is_some_and(|have| wanted.iter().any(|text| text == have))
}

fn any_found(patterns: &[Pattern], text: Option<&str>) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_in(text))
}

fn catch(patterns: &[Pattern], text: Option<&str>, into: &mut Vec<(String, String)>) {
    let Some(text) = text else { return };
    let Some((pattern, caught)) = patterns.iter().find_map(|p| Some((p, p.captures(text)?))) else {
        return;
    };
    for name in pattern.names() {
        if let Some(value) = caught.name(name).filter(|value| !value.is_empty()) {
            into.push((name.to_owned(), value.as_str().to_owned()));
        }
    }
}

fn text<'a>(event: &'a Event, key: &str) -> Option<Cow<'a, str>> {
    match event.attributes.get(key)? {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}
