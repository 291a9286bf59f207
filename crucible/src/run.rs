//! Judges the tool over many seeds.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::case::{self, Case};
use crate::judge::{Broken, Judged, Question, Reply, Tool, check, judge};
use crate::observe::{Recorded, record, write_recorded};
use crate::plan::{Plan, draw};
use crate::rng::Rng;
use crate::time::SEC;
use crate::times;
use crate::truth::Run;

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tool.
    pub tool: PathBuf,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How many at a time.
    pub jobs: usize,
    /// A process for each question.
    pub one_shot: bool,
    /// Where failing cases are kept.
    pub keep: Option<PathBuf>,
    /// Where cases are written.
    pub scratch: PathBuf,
    /// Whether records are also shuffled, doubled and dropped.
    pub perturb: bool,
    /// Whether the same is asked at several times instead.
    pub times: bool,
}

impl Options {
    /// The plan of a seed.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        let plan = draw(seed);
        if self.times {
            times::with_deeds(plan)
        } else {
            plan
        }
    }
}

/// One question about one run, judged.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Row {
    /// The seed.
    pub seed: u64,
    /// The fault that happened to the run that was asked for.
    pub fault: String,
    /// What was recorded.
    pub observers: String,
    /// How it was asked for.
    pub ask: String,
    /// Whether it is the run of which the case is.
    pub main: bool,
    /// Whether it is broken.
    pub broken_run: bool,
    /// What became of it.
    pub judged: Judged,
    /// What must hold and does not.
    pub broken: Vec<Broken>,
    /// How the records were changed; empty where they were not.
    pub variant: String,
    /// What the tool said, in a form that can be compared.
    pub signature: String,
}

impl Row {
    /// Whether it counts as a failure of the tool.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        use crate::judge::Verdict;
        !self.broken.is_empty() || !matches!(self.judged.verdict, Verdict::Right | Verdict::Fair)
    }

    /// Whether something innocent is blamed, at any level, or what is broken is called well.
    #[must_use]
    pub fn is_false(&self) -> bool {
        use crate::judge::Verdict;
        matches!(
            self.judged.verdict,
            Verdict::FalseBlame | Verdict::FalseFine
        )
    }
}

/// Judges the seeds; the rows come in the order of the seeds.
#[must_use]
pub fn run(options: &Options) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Row>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..options.jobs.max(1) {
            let (next, rows) = (&next, &rows);
            scope.spawn(move || {
                let mut tool = Tool::new(&options.tool, options.one_shot);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = options.seeds.get(at) else {
                        break;
                    };
                    let plan = options.plan(*seed);
                    let folder = options.scratch.join(format!("w{worker}-{}", plan.seed));
                    let found = one(&plan, &folder, &mut tool, options);
                    std::fs::remove_dir_all(&folder).ok();
                    if let Ok(mut rows) = rows.lock() {
                        rows.extend(found);
                    }
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_default();
    rows.sort_by(|a, b| (a.seed, !a.main, &a.ask).cmp(&(b.seed, !b.main, &b.ask)));
    rows
}

/// Plays, records and judges one plan.
pub fn one(plan: &Plan, folder: &Path, tool: &mut Tool, options: &Options) -> Vec<Row> {
    if options.times {
        return at_times(plan, folder, tool, options);
    }
    let case = case::play(plan);
    let recorded = record(&case, &plan.observe);
    let mut rows = ask_all(&case, &recorded, folder, tool);
    if options.perturb {
        rows.extend(crate::perturb::of_case(
            &case, &recorded, &rows, folder, tool,
        ));
    }
    if let Some(keep) = &options.keep
        && rows.iter().any(Row::is_bad)
    {
        let to = keep.join(format!("seed-{}", plan.seed));
        std::fs::create_dir_all(&to).ok();
        write_recorded(&recorded, &to).ok();
    }
    rows
}

fn at_times(plan: &Plan, folder: &Path, tool: &mut Tool, options: &Options) -> Vec<Row> {
    let views = times::views(plan);
    let rows = times::ask_views(&views, folder, tool);
    if let Some(keep) = &options.keep
        && rows.iter().any(Row::is_bad)
    {
        for view in &views {
            let to = keep
                .join(format!("seed-{}", plan.seed))
                .join(view.moment.name());
            std::fs::create_dir_all(&to).ok();
            write_recorded(&view.recorded, &to).ok();
        }
    }
    rows
}

/// Asks for the run of the case by its name and once otherwise, and for bystanders.
pub fn ask_all(case: &Case, recorded: &Recorded, folder: &Path, tool: &mut Tool) -> Vec<Row> {
    std::fs::remove_dir_all(folder).ok();
    if crate::observe::write_all(&recorded.files, &folder.join("input")).is_err() {
        return Vec::new();
    }
    let truth = &recorded.truth;
    let plan = &case.world.plan;
    let skew = plan.observe.skew_s.abs() * SEC;
    let mut rows = Vec::new();
    for (at, run) in truth
        .runs
        .iter()
        .enumerate()
        .take(3)
        .filter(|(_, run)| run.seen)
    {
        let mut names = vec![run.ask()];
        if at == 0 {
            names.extend(otherwise(
                plan.seed,
                run,
                plan.observe.watches && plan.observe.gap.is_none(),
            ));
        }
        for name in names {
            rows.push(ask_one(
                recorded,
                at,
                &name,
                &folder.join("input"),
                skew,
                tool,
            ));
        }
    }
    rows
}

/// Asks once for a run, by its place in the truth.
pub fn ask_one(
    recorded: &Recorded,
    at: usize,
    name: &str,
    input: &Path,
    skew: i64,
    tool: &mut Tool,
) -> Row {
    ask(recorded, at, name, input, skew, tool).0
}

/// The same, with what the tool said.
pub fn ask(
    recorded: &Recorded,
    at: usize,
    name: &str,
    input: &Path,
    skew: i64,
    tool: &mut Tool,
) -> (Row, Reply) {
    let truth = &recorded.truth;
    let question = Question {
        from: vec![input.to_owned()],
        name: name.to_owned(),
    };
    let reply = tool.ask(&question);
    let run = truth.runs.get(at);
    let broken = match (&reply, run) {
        (Reply::Answer(answer), Some(run)) => check(truth, run, answer, skew),
        _ => Vec::new(),
    };
    let blank = Run::blank();
    let run = run.unwrap_or(&blank);
    let row = Row {
        seed: truth.seed,
        fault: if at == 0 {
            truth.fault.clone()
        } else {
            "bystander".to_owned()
        },
        observers: truth.observers.clone(),
        ask: name.to_owned(),
        main: at == 0,
        broken_run: run.is_broken(),
        judged: judge(run, &reply),
        broken,
        variant: String::new(),
        signature: signature(&reply),
    };
    (row, reply)
}

/// What an answer says of its incidents, whatever the order of the records was.
#[must_use]
pub fn signature(reply: &Reply) -> String {
    match reply {
        Reply::Error(error) => format!("error: {error}"),
        Reply::Answer(answer) => answer
            .incidents
            .iter()
            .map(|one| {
                let pods = |of: &[crate::judge::Victim]| {
                    let mut names: Vec<&str> =
                        of.iter().map(|victim| victim.pod.as_str()).collect();
                    names.sort_unstable();
                    names.join(",")
                };
                let first = one
                    .first_victim
                    .as_ref()
                    .map_or("", |victim| victim.pod.as_str());
                let actor = one.actor.as_ref().map_or("", |actor| actor.name.as_str());
                format!(
                    "{} {} {} by {actor}; first {first}; victims {}; collateral {}",
                    one.role,
                    one.cause,
                    one.level,
                    pods(&one.victims),
                    pods(&one.collateral)
                )
            })
            .collect::<Vec<_>>()
            .join(" | "),
    }
}

/// Another way to ask for a run, where it is not ambiguous.
fn otherwise(seed: u64, run: &Run, labels: bool) -> Option<String> {
    let mut rng = Rng::stream(seed, "ask");
    let mut ways = Vec::new();
    ways.extend(run.label.clone().filter(|_| labels));
    ways.extend(
        run.first
            .first()
            .filter(|_| run.pod_written)
            .map(|pod| format!("pod/{}/{pod}", run.namespace)),
    );
    rng.pick(&ways).cloned()
}
