//! Cases that exist already, with their records changed: the verdict may become weaker
//! with less evidence, and must not become another.

mod change;
mod input;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::judge::{Answer, Question, Reply, Tool, rank};
use crate::rng::Rng;

pub use change::Change;
pub use input::{Input, Source};

/// What is asked of a case, and what is right.
#[derive(Clone, Debug)]
struct CaseQuestion {
    name: String,
    right: Vec<String>,
    must_not: Vec<String>,
    /// Any of the incidents may be the one.
    any: bool,
}

/// One change of one case that broke what must hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The case.
    pub case: String,
    /// What was done to its records.
    pub change: String,
    /// What was asked.
    pub ask: String,
    /// How.
    pub how: String,
}

/// What all cases came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cases that were read.
    pub cases: usize,
    /// Questions that were asked of changed records.
    pub asked: usize,
    /// Those that broke what must hold.
    pub violations: Vec<Violation>,
    /// Those that became weaker, as they may.
    pub weaker: usize,
    /// Cases that are not right as they stand; they are not judged further.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Adds what another case came to.
    pub fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.asked += other.asked;
        self.weaker += other.weaker;
        self.violations.extend(other.violations);
        self.wrong.extend(other.wrong);
    }
}

/// Changes the records of a case in many ways and asks again.
///
/// # Errors
/// When the case cannot be read or written.
pub fn perturb(
    folder: &Path,
    tool: &mut Tool,
    scratch: &Path,
    seed: u64,
) -> std::io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let Some(asked) = asked(folder)? else {
        return Ok(outcome);
    };
    let input = Input::read(folder)?;
    outcome.cases = 1;
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut rng = Rng::stream(seed, &name);
    let base = scratch.join(&name);
    input.write(&base)?;
    let before: Vec<Reply> = asked
        .iter()
        .map(|one| ask(tool, &base, &one.name))
        .collect();
    std::fs::remove_dir_all(&base)?;
    for change in Change::all(&input, &mut rng) {
        let changed = change.apply(&input, &mut rng);
        let to = scratch.join(format!("{name}-{}", outcome.asked));
        changed.write(&to)?;
        for (one, before) in asked.iter().zip(&before) {
            let renamed = change.rename(&one.name, &input);
            let after = ask(tool, &to, &renamed);
            outcome.asked += 1;
            match compare(one, before, &after, change.is_less()) {
                Comparison::Same => {}
                Comparison::Weaker => outcome.weaker += 1,
                Comparison::Not(how) => outcome.violations.push(Violation {
                    case: name.clone(),
                    change: change.to_string(),
                    ask: one.name.clone(),
                    how,
                }),
            }
        }
        std::fs::remove_dir_all(&to)?;
    }
    for (one, before) in asked.iter().zip(&before) {
        if !is_right(one, before) {
            outcome.wrong.push(format!("{name}: {}", one.name));
        }
    }
    Ok(outcome)
}

/// Folders with an `expect.json`, themselves or one step down.
///
/// # Errors
/// When a folder cannot be listed.
pub fn cases(folders: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in folders {
        if folder.join("expect.json").is_file() {
            found.push(folder.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            inside.push(entry?.path());
        }
        inside.retain(|path| path.join("expect.json").is_file());
        inside.sort();
        found.extend(inside);
    }
    Ok(found)
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn asked(folder: &Path) -> std::io::Result<Option<Vec<CaseQuestion>>> {
    let text = std::fs::read_to_string(folder.join("expect.json"))?;
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        return Ok(None);
    };
    if let Some(many) = value["experiments"].as_object() {
        return Ok(Some(
            many.iter()
                .map(|(name, one)| CaseQuestion {
                    name: name.clone(),
                    right: strings(&one["cause"]),
                    must_not: strings(&one["must_not"]),
                    any: false,
                })
                .collect(),
        ));
    }
    let any = matches!(
        value["level"].as_str(),
        Some("record" | "cluster" | "incident")
    );
    let mut right = strings(&value["cause"]);
    right.extend(strings(&value["also_acceptable"]));
    Ok(value["object"].as_str().map(|object| {
        vec![CaseQuestion {
            name: if any {
                "*".to_owned()
            } else {
                object.to_owned()
            },
            right,
            must_not: strings(&value["must_not"]),
            any,
        }]
    }))
}

fn ask(tool: &mut Tool, folder: &Path, name: &str) -> Reply {
    let from = ["input", "loki"]
        .iter()
        .map(|part| folder.join(part))
        .filter(|path| path.is_dir())
        .collect();
    tool.ask(&Question {
        from,
        name: name.to_owned(),
    })
}

fn is_right(one: &CaseQuestion, reply: &Reply) -> bool {
    match reply {
        Reply::Answer(answer) if one.any => {
            one.right.is_empty()
                || answer
                    .incidents
                    .iter()
                    .any(|incident| one.right.contains(&incident.cause))
        }
        Reply::Answer(answer) => answer
            .main()
            .is_some_and(|main| one.right.contains(&main.cause)),
        Reply::Error(_) => false,
    }
}

enum Comparison {
    Same,
    Weaker,
    Not(String),
}

/// The incident that is compared: the right one where several are told, else the main one.
fn compared(one: &CaseQuestion, answer: &Answer) -> (String, String) {
    let found = if one.any {
        answer
            .incidents
            .iter()
            .find(|incident| one.right.contains(&incident.cause))
    } else {
        answer.main()
    };
    found.map_or_else(
        || ("unknown".to_owned(), "unknown".to_owned()),
        |incident| (incident.cause.clone(), incident.level.clone()),
    )
}

fn compare(one: &CaseQuestion, before: &Reply, after: &Reply, is_less: bool) -> Comparison {
    let Reply::Answer(was) = before else {
        return Comparison::Same;
    };
    let now = match after {
        Reply::Answer(now) => now,
        // With less to read the name may be nowhere.
        Reply::Error(_) if is_less => return Comparison::Weaker,
        Reply::Error(error) => return Comparison::Not(format!("no answer: {error}")),
    };
    if let Some(bad) = now
        .incidents
        .iter()
        .find(|incident| rank(&incident.level) >= 2 && one.must_not.contains(&incident.cause))
    {
        return Comparison::Not(format!("false blame: {} · {}", bad.cause, bad.level));
    }
    let (before, after) = (compared(one, was), compared(one, now));
    if before == after {
        return Comparison::Same;
    }
    let change = format!("{} · {} -> {} · {}", before.0, before.1, after.0, after.1);
    if before.0 == after.0 {
        return if is_less && rank(&after.1) < rank(&before.1) {
            Comparison::Weaker
        } else {
            Comparison::Not(change)
        };
    }
    if is_less && (after.0 == "unknown" || rank(&after.1) <= 1 || one.right.contains(&after.0)) {
        return Comparison::Weaker;
    }
    Comparison::Not(change)
}
