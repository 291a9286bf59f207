//! The smallest case that fails in the same way.

mod records;

use std::path::Path;
use std::rc::Rc;

use crate::case;
use crate::judge::Tool;
use crate::observe::{record, write_recorded};
use crate::plan::{LogForm, Plan, Policy};
use crate::run::{Options, Row, ask_all, one};
use crate::times::{self, Moment, View};

/// How a question fails: what is the same for as long as it is the same failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    main: bool,
    verdict: crate::judge::Verdict,
    cause: String,
    level: String,
    broken: Vec<char>,
    seen: crate::truth::Seen,
    variant: String,
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
            variant: row.variant.clone(),
        }
    }
}

/// Makes the case of a seed smaller while it fails in the same way, and writes it: a folder for each look that it takes.
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
        .filter(|row| row.is_bad() && (options.times || row.variant.is_empty()))
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
    let mut views = looks(&plan, options);
    let mut asked = 0;
    let mut still = |views: &[View]| {
        asked += 1;
        let to = folder.join(format!("r{asked}"));
        let rows = if options.times {
            times::ask_views(views, &to, &mut tool)
        } else {
            let asks = views.iter();
            asks.flat_map(|view| ask_all(&view.case, &view.recorded, &to, &mut tool))
                .collect()
        };
        std::fs::remove_dir_all(&to).ok();
        rows.iter().any(|row| Failure::of(row) == failure)
    };
    records::fewer_views(&mut views, &mut still);
    // What proves that all was well must stay, and nothing here knows which record that is.
    if worst.broken_run {
        records::fewer_files(&mut views, &mut still);
        records::fewer_records(&mut views, &mut still);
    }
    std::fs::create_dir_all(output)?;
    for view in &views {
        if options.times {
            write_recorded(&view.recorded, &output.join(view.moment.name()))?;
        } else {
            write_recorded(&view.recorded, output)?;
        }
    }
    let story = story(&plan, &worst.ask, &failure, &views);
    std::fs::write(output.join("story.md"), &story)?;
    Ok(story)
}

/// What is recorded of a plan: once, or at each time.
fn looks(plan: &Plan, options: &Options) -> Vec<View> {
    if options.times {
        return times::views(plan);
    }
    let case = Rc::new(case::play(plan));
    let recorded = record(&case, &plan.observe);
    vec![View {
        moment: Moment::JustAfter,
        case,
        recorded,
    }]
}

fn story(plan: &Plan, ask: &str, failure: &Failure, views: &[View]) -> String {
    let files = views.iter().flat_map(|view| &view.recorded.files);
    let records: usize = files.clone().map(|file| file.records.len()).sum();
    let when = match failure.variant.as_str() {
        "" => String::new(),
        variant => format!(", {variant}"),
    };
    format!(
        "Seed {} of the crucible, made smaller: {ask}{when} said {} · {} ({}); invariants broken: {:?}.\nFaults left: {:?}; deeds left: {:?}; {} workloads, {} files, {records} records.\n",
        plan.seed,
        failure.cause,
        failure.level,
        failure.verdict.name(),
        failure.broken,
        plan.faults.iter().map(|one| one.fault).collect::<Vec<_>>(),
        plan.deeds,
        plan.loads.len(),
        files.count()
    )
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
