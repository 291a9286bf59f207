//! Observers: what of a world was recorded, in the formats in which it is.

mod audit;
mod files;
mod gke;
mod hosts;
mod lists;
mod logs;
mod metrics;
mod outside;
mod spoil;
mod text;
mod text_parts;

use std::path::Path;

use crate::case::Case;
use crate::plan::{Damage, LogForm, Observe, Policy};
use crate::rng::Rng;
use crate::time::Time;
use crate::truth::{self, Truth, Written};
use crate::world::ActId;

pub use files::{File, Record, write_all};
pub use spoil::{cut, double, shuffle};

/// What was recorded of a case.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The files.
    pub files: Vec<File>,
    /// What is true, and how much of it was written.
    pub truth: Truth,
}

/// Records a case.
#[must_use]
pub fn record(case: &Case, observe: &Observe) -> Recorded {
    let mut files = gather(case, observe);
    let mut rng = Rng::stream(case.world.plan.seed, "damage");
    match observe.damage {
        Some(Damage::Doubled) => double(&mut files, &mut rng),
        Some(Damage::Shuffled) => shuffle(&mut files, &mut rng),
        Some(Damage::Cut) => cut(&mut files, &mut rng),
        None => {}
    }
    let truth = truth_of(case, &files, observe.name());
    Recorded { files, truth }
}

/// What is true of a case of which these files were written.
#[must_use]
pub fn truth_of(case: &Case, files: &[File], observers: String) -> Truth {
    let written = Written::new(files, &case.world);
    let mut truth = truth::of(case, &written, observers);
    if let Some(run) = truth.runs.first_mut() {
        run.actor_written = run.actors.iter().any(|name| written.mentions(name));
    }
    truth
}

fn gather(case: &Case, observe: &Observe) -> Vec<File> {
    let mut files = Vec::new();
    if observe.lists {
        lists::lists(case, &mut files);
    }
    if observe.text {
        text::session(case, &mut files);
    }
    if observe.watches {
        lists::watches(case, gap(case, observe), &mut files);
    }
    if observe.audit != Policy::None {
        audit::log(case, observe.audit, &mut files);
    }
    if observe.logs != LogForm::None {
        logs::logs(case, observe.logs, &mut files);
    }
    if observe.cloud {
        outside::records(case, &mut files);
    }
    if observe.hosts {
        hosts::lines(case, observe, &mut files);
        hosts::controllers(case, &mut files);
    }
    if observe.metrics {
        metrics::answers(case, &mut files);
    }
    files.retain(|file| !file.records.is_empty());
    apart(&mut files);
    files
}

/// Pods of one name in two namespaces have a file each: whoever saves the second one does not overwrite the first.
fn apart(files: &mut [File]) {
    let mut taken = std::collections::BTreeSet::new();
    for file in files {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let (folder, name) = (folder.to_owned(), name.to_owned());
        let mut turn = 2;
        while !taken.insert(file.path.clone()) {
            file.path = format!("{folder}/{turn}/{name}");
            turn += 1;
        }
    }
}

/// When nobody watched.
fn gap(case: &Case, observe: &Observe) -> Option<(Time, Time)> {
    let (from, to) = observe.gap?;
    let start = case.world.plan.start;
    let whole = case.now.since(start);
    let part = |percent: u8| start.plus(whole / 100 * i64::from(percent));
    Some((part(from), part(to)))
}

/// Records a case into a folder: `input/`, `truth.json` and `expect.json`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_case(case: &Case, observe: &Observe, folder: &Path) -> std::io::Result<Recorded> {
    let recorded = record(case, observe);
    write_recorded(&recorded, folder)?;
    Ok(recorded)
}

/// The first records that tell of an act: file and line of the record.
fn files_about(files: &[File], act: Option<ActId>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let at = file
            .whole()
            .position(|record| record.tags.iter().any(|tag| Some(tag.act) == act));
        found.extend(at.map(|at| format!("{}, record {}", file.path, at + 1)));
    }
    found
}

/// Writes what was recorded into a folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write_recorded(recorded: &Recorded, folder: &Path) -> std::io::Result<()> {
    write_all(&recorded.files, &folder.join("input"))?;
    let mut truth = recorded.truth.clone();
    for layer in truth.runs.iter_mut().flat_map(|run| &mut run.layers) {
        layer.told_by = files_about(&recorded.files, layer.act);
    }
    let truth = serde_json::to_string_pretty(&truth).unwrap_or_default();
    std::fs::write(folder.join("truth.json"), truth)?;
    let expect = crate::expect::of(&recorded.truth);
    std::fs::write(
        folder.join("expect.json"),
        serde_json::to_string_pretty(&expect).unwrap_or_default(),
    )
}
