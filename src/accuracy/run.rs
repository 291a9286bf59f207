//! Asks the questions of all cases.

use std::path::Path;
use std::sync::Arc;

use whathappened_connectors::recording::{Input, Options};
use whathappened_core::resolve::{Name, resolve};
use whathappened_model::time::Stamp;

use super::baseline::guesses;
use super::expect::{Expectation, Experiment, File};
use super::judge::{JudgedAnswer, Verdict, experiment, one};
use super::{baseline, folders};
use crate::answer::Incident;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::report::{self, Question};

/// One question and what became of it.
#[derive(Clone, Debug)]
pub struct QuestionResult {
    /// The case's folder.
    pub case: String,
    /// What was asked.
    pub asked: String,
    /// The kind of question; `experiment` for those of a recording.
    pub level: String,
    /// Causes that are right, the accepted ones last.
    pub expected: Vec<String>,
    /// Causes that must not be named.
    pub must_not: Vec<String>,
    /// The cause that came.
    pub got: String,
    /// Its level; empty where nothing came.
    pub got_level: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What was not as expected, or which input is not read yet.
    pub remark: String,
    /// The input is such that an answer is owed.
    pub owed: bool,
    /// The causes that the baselines name.
    pub baselines: [Option<&'static str>; baseline::BASELINES.len()],
}

impl QuestionResult {
    /// Whether it fails the run: false blame, or no right answer where one is owed.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::FalseBlame || (self.owed && self.verdict != Verdict::Right)
    }

    /// What a baseline's cause would be judged as.
    #[must_use]
    pub fn baseline_verdict(&self, number: usize) -> Verdict {
        let cause = self.baselines.get(number).copied().flatten();
        let healthy = self.level == "cluster";
        match cause {
            None if healthy || self.expected.iter().any(|one| one == "unknown") => Verdict::Right,
            None => Verdict::Unknown,
            Some(cause) if self.expected.iter().any(|one| one == cause) => Verdict::Right,
            Some(cause) if healthy || self.must_not.iter().any(|one| one == cause) => {
                Verdict::FalseBlame
            }
            Some(_) => Verdict::Wrong,
        }
    }
}

/// Reads a case and asks its questions.
///
/// # Errors
/// When `expect.json` cannot be read, or a rule fails.
pub async fn run(folder: &Path, rules: &Arc<Rules>) -> Result<Vec<QuestionResult>, Error> {
    let path = folder.join("expect.json");
    let wrong = |error: String| Error::Usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file = File::parse(&text).map_err(wrong)?;
    if let Some(why) = file.unknown_cause(&text, &rules.causes) {
        return Err(wrong(why));
    }
    let inputs: Vec<Input> = folders::inputs(folder)
        .into_iter()
        .map(Input::Path)
        .collect();
    let case = Case::read(
        &inputs,
        &Options::default(),
        Arc::clone(rules),
        &mut |_, _| {},
    )?;
    let name = folders::name(folder);
    let mut judged = Vec::new();
    match &file {
        File::One(expect) => judged.push(ask_one(&case, &name, expect).await?),
        File::Many(experiments) => {
            for (asked, expect) in experiments {
                judged.push(ask_experiment(&case, &name, asked, expect).await?);
            }
        }
    }
    Ok(judged)
}

async fn ask_one(case: &Case, name: &str, expect: &Expectation) -> Result<QuestionResult, Error> {
    let everything = matches!(expect.level.as_str(), "record" | "cluster");
    let asked = if everything {
        "*"
    } else {
        expect.object.as_str()
    };
    let incidents = ask(case, asked).await?;
    let judgement = match &incidents {
        Some(incidents) => one(expect, incidents),
        None => JudgedAnswer {
            verdict: unfound(&expect.cause),
            incident: None,
            remark: "nothing of that name".to_owned(),
        },
    };
    let judged = judged(case, asked, judgement, incidents.as_deref())?;
    let expected = expect
        .cause
        .iter()
        .chain(&expect.also_acceptable)
        .cloned()
        .collect();
    Ok(QuestionResult {
        case: name.to_owned(),
        level: expect.level.clone(),
        asked: expect.object.clone(),
        expected,
        must_not: expect.must_not.clone(),
        ..judged
    })
}

async fn ask_experiment(
    case: &Case,
    name: &str,
    asked: &str,
    expect: &Experiment,
) -> Result<QuestionResult, Error> {
    let incidents = ask(case, asked).await?;
    let judgement = match &incidents {
        Some(incidents) => experiment(expect, incidents),
        None => JudgedAnswer {
            verdict: unfound(&expect.cause),
            incident: None,
            remark: "nothing of that name".to_owned(),
        },
    };
    let judged = judged(case, asked, judgement, incidents.as_deref())?;
    Ok(QuestionResult {
        case: name.to_owned(),
        level: "experiment".to_owned(),
        asked: asked.to_owned(),
        expected: expect.cause.clone(),
        must_not: expect.must_not.clone(),
        ..judged
    })
}

/// A name that is not found is no answer.
fn unfound(expected: &[String]) -> Verdict {
    if expected.iter().any(|cause| cause == "unknown") {
        Verdict::Right
    } else {
        Verdict::Unknown
    }
}

async fn ask(case: &Case, name: &str) -> Result<Option<Vec<Incident>>, Error> {
    let question = Question {
        name: name.to_owned(),
        ..Question::default()
    };
    match report::answer(case, &question).await {
        Ok(answer) => Ok(Some(answer.incidents)),
        Err(Error::UnknownName { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn judged(
    case: &Case,
    asked: &str,
    judgement: JudgedAnswer<'_>,
    incidents: Option<&[Incident]>,
) -> Result<QuestionResult, Error> {
    let runs = resolve(&case.graph, &case.runs, &Name::parse(asked)).runs;
    let first = incidents
        .and_then(<[Incident]>::first)
        .and_then(|main| main.first_victim.as_ref());
    let failed_at = first
        .and_then(|victim| Stamp::parse(victim.time.as_deref()?))
        .map(|stamp| stamp.lo);
    let unread = unread(case);
    let none = if judgement.verdict == Verdict::Right {
        "nothing"
    } else {
        "unknown"
    };
    let remark = [judgement.remark, unread.clone().unwrap_or_default()];
    Ok(QuestionResult {
        case: String::new(),
        asked: String::new(),
        level: String::new(),
        expected: Vec::new(),
        must_not: Vec::new(),
        got: judgement
            .incident
            .map_or(none, |one| one.cause.as_str())
            .to_owned(),
        got_level: judgement
            .incident
            .map_or("", |one| one.level.as_str())
            .to_owned(),
        verdict: judgement.verdict,
        remark: remark
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        owed: unread.is_none(),
        baselines: guesses(case, &runs, failed_at)?,
    })
}

/// Why no answer is owed: what the case was captured with is not read yet.
fn unread(case: &Case) -> Option<String> {
    let files = &case.summary.files;
    if let Some(file) = files
        .iter()
        .find(|file| file.form.starts_with("kubectl's output"))
    {
        return Some(format!("not read yet: {}", file.form));
    }
    let objects = !case.graph.evidence.objects.is_empty();
    let reported = objects || case.graph.evidence.rows().iter().any(|row| row.has_signal);
    (!reported).then(|| "not read yet: no rule knows what anything here means".to_owned())
}
