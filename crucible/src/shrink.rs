//! The smallest case that fails in the same way.

use std::path::Path;

use crate::case;
use crate::judge::Tool;
use crate::observe::{Recorded, record, truth_of, write_recorded};
use crate::plan::{LogForm, Plan, Policy};
use crate::run::{Options, Row, ask_all, one};

/// How a question fails: what is the same for as long as it is the same failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    main: bool,
    verdict: crate::judge::Verdict,
    cause: String,
    level: String,
    broken: Vec<char>,
    seen: crate::truth::Seen,
}

impl Failure {
    /// The failure of a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        let mut broken: Vec<char> = row.broken.iter().map(|one| one.which).collect();
        broken.dedup();
        Self {
            main: row.main,
            verdict: row.judged.verdict,
            cause: row.judged.cause.clone(),
            level: row.judged.level.clone(),
            broken,
            seen: row.judged.seen,
        }
    }
}

/// Makes the case of a seed smaller while it fails in the same way, and writes it.
/// Gives what was left, in words.
///
/// # Errors
/// When the seed does not fail, or the case cannot be written.
pub fn shrink(plan: &Plan, options: &Options, output: &Path) -> std::io::Result<String> {
    let mut tool = Tool::new(&options.tool, options.one_shot);
    let folder = options.scratch.join("shrink");
    let mut count = 0;
    let rows = one(plan, &folder.join("0"), &mut tool, options);
    // The gravest of its failures.
    let Some(worst) = rows
        .iter()
        .filter(|row| row.is_bad() && row.variant.is_empty())
        .max_by_key(|row| {
            (
                row.judged.verdict,
                row.broken.len(),
                row.broken_run,
                row.main,
            )
        })
    else {
        return Err(std::io::Error::other(format!(
            "seed {} does not fail",
            plan.seed
        )));
    };
    let failure = Failure::of(worst);
    let mut fails = |plan: &Plan| {
        count += 1;
        let rows = one(plan, &folder.join(count.to_string()), &mut tool, options);
        std::fs::remove_dir_all(folder.join(count.to_string())).ok();
        rows.iter().any(|row| Failure::of(row) == failure)
    };
    let mut plan = plan.clone();
    loop {
        let smaller = smaller(&plan).into_iter().find(|smaller| fails(smaller));
        match smaller {
            Some(smaller) => plan = smaller,
            None => break,
        }
    }
    let case = case::play(&plan);
    let mut recorded = record(&case, &plan.observe);
    let mut asked = 0;
    let mut still = |recorded: &Recorded| {
        asked += 1;
        let to = folder.join(format!("r{asked}"));
        let rows = ask_all(&case, recorded, &to, &mut tool);
        std::fs::remove_dir_all(&to).ok();
        rows.iter().any(|row| Failure::of(row) == failure)
    };
    // What proves that all was well must stay, and nothing here knows which record that is.
    if worst.broken_run {
        fewer_files(&case, &mut recorded, &mut still);
        fewer_records(&case, &mut recorded, &mut still);
    }
    std::fs::create_dir_all(output)?;
    write_recorded(&recorded, output)?;
    let records: usize = recorded.files.iter().map(|file| file.records.len()).sum();
    let story = format!(
        "Seed {} of the crucible, made smaller: {} said {} · {} ({}); invariants broken: {:?}.\nFaults left: {:?}; deeds left: {:?}; {} workloads, {} files, {records} records.\n",
        plan.seed,
        worst.ask,
        failure.cause,
        failure.level,
        failure.verdict.name(),
        failure.broken,
        plan.faults.iter().map(|one| one.fault).collect::<Vec<_>>(),
        plan.deeds,
        plan.loads.len(),
        recorded.files.len()
    );
    std::fs::write(output.join("story.md"), &story)?;
    Ok(story)
}

/// All plans that leave one thing out.
fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut found = Vec::new();
    for at in (1..plan.loads.len()).rev() {
        let mut less = plan.clone();
        less.loads.remove(at);
        less.faults.retain(|one| one.load != at);
        for fault in &mut less.faults {
            if fault.load > at {
                fault.load -= 1;
            }
        }
        found.push(less);
    }
    for at in (0..plan.deeds.len()).rev() {
        let mut less = plan.clone();
        less.deeds.remove(at);
        found.push(less);
    }
    for at in (0..plan.faults.len()).rev() {
        let mut less = plan.clone();
        less.faults.remove(at);
        found.push(less);
    }
    type Change = fn(&mut Plan) -> bool;
    let changes: [Change; 10] = [
        |plan| std::mem::take(&mut plan.observe.damage.take()).is_some(),
        |plan| plan.observe.gap.take().is_some(),
        |plan| std::mem::take(&mut plan.observe.skew_s) != 0,
        |plan| std::mem::take(&mut plan.observe.zone_min) != 0,
        |plan| std::mem::replace(&mut plan.observe.audit, Policy::None) != Policy::None,
        |plan| std::mem::replace(&mut plan.observe.logs, LogForm::None) != LogForm::None,
        |plan| std::mem::take(&mut plan.observe.cloud),
        |plan| std::mem::take(&mut plan.observe.hosts),
        |plan| std::mem::take(&mut plan.observe.metrics),
        |plan| plan.observe.lists && std::mem::take(&mut plan.observe.watches),
    ];
    for change in changes {
        let mut less = plan.clone();
        if change(&mut less) {
            found.push(less);
        }
    }
    found
}

fn fewer_files(
    case: &case::Case,
    recorded: &mut Recorded,
    fails: &mut impl FnMut(&Recorded) -> bool,
) {
    let mut at = recorded.files.len();
    while at > 0 {
        at -= 1;
        let mut files = recorded.files.clone();
        files.remove(at);
        let less = Recorded {
            truth: truth_of(case, &files, recorded.truth.observers.clone()),
            files,
        };
        if !less.files.is_empty() && fails(&less) {
            *recorded = less;
        }
    }
}

/// Halves, quarters and so on of each file's records are left out.
fn fewer_records(
    case: &case::Case,
    recorded: &mut Recorded,
    fails: &mut impl FnMut(&Recorded) -> bool,
) {
    for file in 0..recorded.files.len() {
        let mut size = recorded
            .files
            .get(file)
            .map_or(0, |file| file.records.len())
            .div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while recorded
                .files
                .get(file)
                .is_some_and(|file| from < file.records.len())
            {
                let mut files = recorded.files.clone();
                if let Some(file) = files.get_mut(file) {
                    let to = (from + size).min(file.records.len());
                    file.records.drain(from..to);
                }
                let less = Recorded {
                    truth: truth_of(case, &files, recorded.truth.observers.clone()),
                    files,
                };
                if fails(&less) {
                    *recorded = less;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
    }
    recorded.files.retain(|file| !file.records.is_empty());
}
