//! Whether an answer is what a case expects.

use serde_json::Value;

use super::expect::{Expectation, Experiment};
use crate::answer::{Incident, Level, Victim};

/// What became of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verdict {
    Right,
    Unknown,
    Wrong,
    FalseBlame,
}

impl Verdict {
    /// The word in the report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Unknown => "unknown",
            Self::Wrong => "wrong",
            Self::FalseBlame => "FALSE BLAME",
        }
    }
}

/// A verdict, the incident it is about, and what was not as expected.
pub(super) struct JudgedAnswer<'a> {
    pub(super) verdict: Verdict,
    pub(super) incident: Option<&'a Incident>,
    pub(super) remark: String,
}

/// Judges an answer by what is expected of one thing.
pub(super) fn one<'a>(expect: &Expectation, incidents: &'a [Incident]) -> JudgedAnswer<'a> {
    if let Some(blamed) = blamed(incidents, &expect.must_not) {
        return blame(blamed);
    }
    match expect.level.as_str() {
        "cluster" => cluster(incidents),
        "record" => record(expect, incidents),
        _ => named(expect, incidents.first()),
    }
}

/// Judges an answer by what is expected of one experiment of a recording.
pub(super) fn experiment<'a>(expect: &Experiment, incidents: &'a [Incident]) -> JudgedAnswer<'a> {
    if let Some(blamed) = blamed(incidents, &expect.must_not) {
        return blame(blamed);
    }
    let main = incidents.first();
    let verdict = verdict(main, &expect.cause);
    let Some(incident) = main.filter(|_| verdict == Verdict::Right) else {
        return JudgedAnswer {
            verdict,
            incident: main,
            remark: String::new(),
        };
    };
    let remark = differences(expect, incident).join("; ");
    let verdict = if remark.is_empty() {
        Verdict::Right
    } else {
        Verdict::Wrong
    };
    JudgedAnswer {
        verdict,
        incident: main,
        remark,
    }
}

fn blame(incident: &Incident) -> JudgedAnswer<'_> {
    JudgedAnswer {
        verdict: Verdict::FalseBlame,
        incident: Some(incident),
        remark: "must not be named".to_owned(),
    }
}

/// An incident that is more than a guess.
fn is_claimed(incident: &Incident) -> bool {
    incident.level >= Level::Supported
}

fn blamed<'a>(incidents: &'a [Incident], must_not: &[String]) -> Option<&'a Incident> {
    incidents
        .iter()
        .find(|incident| is_claimed(incident) && must_not.contains(&incident.cause))
}

fn verdict(main: Option<&Incident>, right: &[String]) -> Verdict {
    let cause = main.map_or("unknown", |main| main.cause.as_str());
    if right.iter().any(|one| one == cause) {
        Verdict::Right
    } else if cause == "unknown" {
        Verdict::Unknown
    } else {
        Verdict::Wrong
    }
}

fn all_right(expect: &Expectation) -> Vec<String> {
    expect
        .cause
        .iter()
        .chain(&expect.also_acceptable)
        .cloned()
        .collect()
}

fn named<'a>(expect: &Expectation, main: Option<&'a Incident>) -> JudgedAnswer<'a> {
    JudgedAnswer {
        verdict: verdict(main, &all_right(expect)),
        incident: main,
        remark: String::new(),
    }
}

/// Nothing that is more than a guess may be blamed on a healthy cluster.
fn cluster(incidents: &[Incident]) -> JudgedAnswer<'_> {
    match incidents
        .iter()
        .find(|incident| is_claimed(incident) && !incident.cause.starts_with("none."))
    {
        Some(blamed) => JudgedAnswer {
            verdict: Verdict::FalseBlame,
            incident: Some(blamed),
            remark: "the cluster is healthy".to_owned(),
        },
        None => JudgedAnswer {
            verdict: Verdict::Right,
            incident: None,
            remark: "nothing is blamed".to_owned(),
        },
    }
}

/// One of the incidents has the cause, cites the record that proves it and carries its time.
fn record<'a>(expect: &Expectation, incidents: &'a [Incident]) -> JudgedAnswer<'a> {
    let right = all_right(expect);
    let mut near = None;
    for incident in incidents
        .iter()
        .filter(|incident| right.contains(&incident.cause))
    {
        let Some(proof) = incident
            .evidence
            .iter()
            .find(|row| holds(row, &expect.evidence))
        else {
            near = near.or(Some((incident, "the record that proves it is not cited")));
            continue;
        };
        if proof.get("time").and_then(Value::as_str) == incident.time.as_deref() {
            return JudgedAnswer {
                verdict: Verdict::Right,
                incident: Some(incident),
                remark: String::new(),
            };
        }
        near = near.or(Some((
            incident,
            "its time is not that of the record that proves it",
        )));
    }
    if let Some((incident, remark)) = near {
        return JudgedAnswer {
            verdict: Verdict::Wrong,
            incident: Some(incident),
            remark: remark.to_owned(),
        };
    }
    // Guesses about other things say nothing about this record.
    match incidents.iter().find(|incident| is_claimed(incident)) {
        Some(other) => JudgedAnswer {
            verdict: Verdict::Wrong,
            incident: Some(other),
            remark: String::new(),
        },
        None => JudgedAnswer {
            verdict: Verdict::Unknown,
            incident: incidents.first(),
            remark: String::new(),
        },
    }
}

/// Whether all strings stand in one record, wherever in it.
fn holds(row: &Value, strings: &[String]) -> bool {
    let text = texts(row);
    strings.iter().all(|string| text.contains(string))
}

/// All text of a row: `raw` is JSON in a string, so it must not be escaped again.
fn texts(row: &Value) -> String {
    match row {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(texts).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// What is not as expected beside the cause.
fn differences(expect: &Experiment, incident: &Incident) -> Vec<String> {
    let mut found = Vec::new();
    let first = incident
        .first_victim
        .as_ref()
        .map(|victim| victim.pod.as_str());
    if expect.first_victim.is_some() && expect.first_victim.as_deref() != first {
        found.push(format!("first victim {}", first.unwrap_or("nobody")));
    }
    for (what, expected, got) in [
        ("victims", &expect.victims, &incident.victims),
        ("collateral", &expect.collateral, &incident.collateral),
    ] {
        let Some(expected) = expected else { continue };
        let (expected, got) = (
            sorted(expected.iter().map(String::as_str)),
            sorted(pods(got)),
        );
        if expected != got {
            found.push(format!(
                "{what} {}",
                if got.is_empty() {
                    "none".to_owned()
                } else {
                    got.join(", ")
                }
            ));
        }
    }
    if let Some(actors) = &expect.actor {
        let actor = incident
            .actor
            .as_ref()
            .map_or("nobody", |actor| actor.name.as_str());
        if !actors.iter().any(|one| one == actor) {
            found.push(format!("actor {actor}"));
        }
    }
    if let Some(preemptor) = &expect.preemptor
        && !incident.summary.contains(preemptor.as_str())
    {
        found.push(format!("the summary does not name {preemptor}"));
    }
    found
}

fn pods(victims: &[Victim]) -> impl Iterator<Item = &str> {
    victims.iter().map(|victim| victim.pod.as_str())
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
