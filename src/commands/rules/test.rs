//! `whathappened rules test`: every example through the whole tool.

use std::io::Write as _;
use std::sync::Arc;

use whathappened_connectors::recording::{Input, Options};

use super::show::{examples_of, unknown};
use super::user_rules::UserRules;
use crate::answer::Incident;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::explain::examples::{Example, Examples};
use crate::report::{self, Question};

/// An example that did not come out as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedExample {
    /// The file.
    pub file: String,
    /// The example.
    pub example: String,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub got: String,
    /// There is no such example at all.
    pub is_lacking: bool,
}

/// What became of all examples.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Examples of causes that were run.
    pub causes: usize,
    /// Examples of signals that were run.
    pub signals: usize,
    /// Those that did not come out as written, and rules without the examples they need.
    pub wrong: Vec<FailedExample>,
}

impl std::fmt::Display for FailedExample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}: expected {}, got {}",
            self.file, self.example, self.expected, self.got
        )
    }
}

pub(super) async fn run(own: &UserRules, names: &[String]) -> Result<(), Error> {
    let report = check_all(own, names).await?;
    let failed = |error| Error::Io {
        path: "standard output".to_owned(),
        error,
    };
    let mut out = anstream::AutoStream::auto(std::io::stdout()).lock();
    for wrong in &report.wrong {
        writeln!(out, "{wrong}").map_err(failed)?;
    }
    let all = report.causes + report.signals;
    let counts = format!("{} of causes, {} of signals", report.causes, report.signals);
    if report.wrong.is_empty() {
        writeln!(out, "{all} examples passed ({counts}).").map_err(failed)?;
        return out.flush().map_err(failed);
    }
    out.flush().map_err(failed)?;
    let lacking = report.wrong.iter().filter(|wrong| wrong.is_lacking).count();
    let wrong = report.wrong.len() - lacking;
    let mut reported = Vec::new();
    if all > 0 {
        reported.push(format!("{wrong} of {all} examples failed ({counts})"));
    }
    if lacking > 0 {
        let s = if lacking == 1 { "" } else { "s" };
        reported.push(format!("{lacking} kind{s} of example missing"));
    }
    Err(Error::Failed(reported.join("; ")))
}

/// Runs every example of the built-in rules and of a folder, or of those named.
///
/// # Errors
/// A rule that cannot be used, a name that no rule bears.
pub async fn check(folder: Option<&std::path::Path>, names: &[String]) -> Result<Report, Error> {
    check_all(&UserRules::read(folder)?, names).await
}

async fn check_all(own: &UserRules, names: &[String]) -> Result<Report, Error> {
    let rules = Arc::new(own.load()?);
    let mut report = Report::default();
    let mut met = vec![false; names.len()];
    // Without names everything is wanted.
    let mut wanted = |own_names: &[&str]| {
        let mut any = names.is_empty();
        for (met, _) in met
            .iter_mut()
            .zip(names)
            .filter(|(_, name)| own_names.contains(&name.as_str()))
        {
            *met = true;
            any = true;
        }
        any
    };
    let causes: Vec<(String, String)> = rules
        .causes
        .iter()
        .map(|rule| (rule.file.clone(), rule.cause.clone()))
        .collect();
    for (rule_file, cause) in &causes {
        let file = examples_of(rule_file);
        if !wanted(&[cause, rule_file, &file, rule_file.trim_end_matches(".sql")]) {
            continue;
        }
        let text = own
            .examples
            .iter()
            .find(|(name, _)| *name == file)
            .map_or("", |(_, text)| text);
        let examples = Examples::parse(&file, if text.is_empty() { "{}" } else { text })
            .map_err(|error| Error::Usage(error.to_string()))?;
        for (list, word) in [(&examples.fires, "fires"), (&examples.silent, "silent")] {
            if list.is_empty() {
                let expected = format!("at least one example under `{word}:`");
                report.wrong.push(FailedExample {
                    file: file.clone(),
                    example: cause.clone(),
                    expected,
                    got: "none".to_owned(),
                    is_lacking: true,
                });
            }
        }
        for (example, fires) in examples.all() {
            report.causes += 1;
            if let Some((expected, got)) = one(&rules, cause, example, fires).await? {
                report.wrong.push(FailedExample {
                    file: file.clone(),
                    example: example.name.clone(),
                    expected,
                    got,
                    is_lacking: false,
                });
            }
        }
    }
    let signals = rules.signals.test_of(&mut |signal| {
        wanted(&[
            &signal.name,
            &signal.written,
            &signal.file,
            signal.file.trim_end_matches(".toml"),
        ])
    });
    report.signals = signals.checked;
    report
        .wrong
        .extend(signals.failures.into_iter().map(|failure| FailedExample {
            file: failure.file,
            example: format!("{}, {}", failure.signal, failure.example),
            expected: "the example to pass".to_owned(),
            got: failure.problem,
            is_lacking: false,
        }));
    // A file of one's own may hold no rule, only more of a built-in signal.
    let files = own.files();
    let mut asked = names.iter().zip(&met);
    match asked.find(|(name, met)| !**met && !files.contains(name)) {
        Some((name, _)) => Err(unknown(&rules, name)),
        None => Ok(report),
    }
}

/// Runs one example.
async fn one(
    rules: &Arc<Rules>,
    cause: &str,
    example: &Example,
    fires: bool,
) -> Result<Option<(String, String)>, Error> {
    let folder = tempfile::tempdir().map_err(|error| Error::Io {
        path: "a temporary folder".to_owned(),
        error,
    })?;
    write(folder.path(), example).map_err(|error| Error::Io {
        path: folder.path().display().to_string(),
        error,
    })?;
    let case = Case::read(
        &[Input::Path(folder.path().into())],
        &Options::default(),
        Arc::clone(rules),
        &mut |_, _| {},
    )?;
    let question = Question {
        name: example.ask.clone(),
        ..Question::default()
    };
    let problem = match report::answer(&case, &question).await {
        Ok(answer) => judge(cause, example, fires, &answer.incidents),
        Err(Error::UnknownName { name, .. }) => {
            Some((format!("{name} to be found"), "no match".to_owned()))
        }
        Err(error) => return Err(error),
    };
    let problem = problem.or_else(|| {
        let rejected = case.summary.rejected.first()?;
        Some((
            "every record to be used".to_owned(),
            format!("{}: {}", rejected.origin, rejected.why),
        ))
    });
    Ok(problem)
}

/// The input as a capture would lie on a disk.
fn write(folder: &std::path::Path, example: &Example) -> std::io::Result<()> {
    let mut records = String::new();
    for record in &example.input {
        records.push_str(&record.to_string());
        records.push('\n');
    }
    std::fs::write(folder.join("records.ndjson"), records)?;
    for log in &example.logs {
        // The place of a log in a must-gather says whose it is.
        let place = format!(
            "namespaces/{}/pods/{}/{}/{}/logs",
            log.namespace, log.pod, log.container, log.container
        );
        let place = folder.join(place);
        std::fs::create_dir_all(&place)?;
        std::fs::write(place.join("current.log"), log.lines.join("\n") + "\n")?;
    }
    for log in &example.hosts {
        let place = folder.join(format!("nodes/{}", log.host));
        std::fs::create_dir_all(&place)?;
        std::fs::write(place.join("syslog"), log.lines.join("\n") + "\n")?;
    }
    Ok(())
}

/// What was expected and what came, where they differ.
fn judge(
    cause: &str,
    example: &Example,
    fires: bool,
    incidents: &[Incident],
) -> Option<(String, String)> {
    let main = incidents.first();
    let led = main.map_or_else(
        || "no incident".to_owned(),
        |main| format!("{} ({})", main.cause, main.level),
    );
    if !fires {
        if let Some(blamed) = incidents.iter().find(|incident| incident.cause == cause) {
            return Some((format!("no {cause}"), format!("{cause} ({})", blamed.level)));
        }
        let instead = example.cause.as_deref()?;
        return (main.map(|main| main.cause.as_str()) != Some(instead))
            .then(|| (instead.to_owned(), led));
    }
    let level = example.level.as_deref().unwrap_or_default();
    let Some(main) = main.filter(|main| main.cause == cause && main.level.as_str() == level) else {
        return Some((format!("{cause} ({level})"), led));
    };
    let actor = main.actor.as_ref().map(|actor| actor.name.as_str());
    let first = main.first_victim.as_ref().map(|victim| victim.pod.as_str());
    for (what, expected, got) in [
        ("actor", example.actor.as_deref(), actor),
        ("first victim", example.first_victim.as_deref(), first),
    ] {
        if expected.is_some() && expected != got {
            return Some((
                format!("the {what} {}", expected.unwrap_or_default()),
                got.unwrap_or("nobody").to_owned(),
            ));
        }
    }
    None
}
