//! One question at several times: during, just after, when the Events are gone, after later deeds on
//! the same machines and names, and from a collector's store.

mod compare;
mod store;

use std::path::Path;
use std::rc::Rc;

use crate::case::{Case, begin, plan_deeds, to_the_end};
use crate::judge::{Broken, Reply, Tool, judge};
use crate::observe::{Recorded, record, truth_of, write_all};
use crate::plan::{Aftermath, LogForm, Observe, Plan};
use crate::rng::Rng;
use crate::run::{Row, ask, signature};
use crate::time::{MIN, SEC, Time};

/// When a question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Something has begun that ends the run, or will; else it runs.
    During,
    /// Within minutes of the end.
    JustAfter,
    /// More than an hour later, when the API server keeps no Event of it.
    EventsGone,
    /// After the same machines and names were used for other things.
    LaterDeeds,
    /// At last, from what a collector had watched and stored.
    Store,
}

impl Moment {
    /// In tables, and the name of a folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::During => "during",
            Self::JustAfter => "just-after",
            Self::EventsGone => "events-gone",
            Self::LaterDeeds => "later-deeds",
            Self::Store => "from-a-store",
        }
    }
}

/// One world as somebody recorded it at one time.
#[derive(Clone, Debug)]
pub struct View {
    /// When.
    pub moment: Moment,
    /// The world then.
    pub case: Rc<Case>,
    /// What was recorded.
    pub recorded: Recorded,
}

/// When each look is.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    during: Time,
    just_after: Time,
    gone: Time,
    /// When people begin to do other things, and when that is looked at.
    deeds: (Time, Time),
}

/// A plan in which something is done afterwards, so that there is something to look at.
#[must_use]
pub fn with_deeds(mut plan: Plan) -> Plan {
    let mut rng = Rng::stream(plan.seed, "later");
    while plan.deeds.len() < 2 {
        match rng.pick(Aftermath::ALL) {
            // A run of the same name is another run, and then that one is asked for: seldom.
            Some(Aftermath::Rerun) if !rng.chance(25) => {}
            Some(deed) if !plan.deeds.contains(deed) => plan.deeds.push(*deed),
            _ => {}
        }
    }
    plan
}

/// All looks at a plan, in the order of their times; the store last.
#[must_use]
pub fn views(plan: &Plan) -> Vec<View> {
    let times = schedule(plan);
    let mut moments = vec![
        (times.during, Moment::During),
        (times.just_after, Moment::JustAfter),
        (times.gone, Moment::EventsGone),
        (times.deeds.1, Moment::LaterDeeds),
    ];
    moments.sort();
    let last = moments.last().map_or(times.gone, |last| last.0);
    if plan.seed.is_multiple_of(4) {
        moments.push((last, Moment::Store));
    }
    moments
        .into_iter()
        .map(|(now, moment)| view(plan, times, now, moment))
        .collect()
}

fn schedule(plan: &Plan) -> Schedule {
    let mut rng = Rng::stream(plan.seed, "times");
    let horizon = plan.start.plus(rng.secs(70 * 60, 110 * 60));
    let mut world = begin(plan);
    to_the_end(&mut world, horizon);
    let now = world.now;
    let ended = world.loads.first().and_then(|load| load.ended);
    let ended = ended.unwrap_or(now);
    let truth = truth_of(&Case { world, now }, &[], String::new());
    let root = truth
        .runs
        .first()
        .and_then(|run| run.layers.first())
        .map_or(plan.start.plus(2 * MIN), |layer| layer.time);
    let root = root.max(plan.start.plus(MIN));
    let during = Time(rng.range(root.plus(SEC).0, ended.plus(-SEC).0.max(root.plus(SEC).0)));
    let just_after = ended.max(during).plus(rng.secs(8, 90));
    let mut gone = ended.plus(rng.secs(65 * 60, 100 * 60));
    // The last deed begins at most 200 s after the one before it.
    let takes = 200 * SEC * i64::try_from(plan.deeds.len()).unwrap_or(0);
    let begin_deeds = if rng.chance(50) {
        just_after.plus(rng.secs(60, 300))
    } else {
        gone.plus(rng.secs(60, 300))
    };
    let look = begin_deeds.plus(takes + rng.secs(120, 400));
    if gone > begin_deeds {
        gone = gone.max(look.plus(MIN));
    }
    Schedule {
        during,
        just_after,
        gone,
        deeds: (begin_deeds, look),
    }
}

/// The world is played anew for each look: it cannot be copied.
fn view(plan: &Plan, times: Schedule, now: Time, moment: Moment) -> View {
    let mut world = begin(plan);
    if now > times.deeds.0 {
        world.run_until(times.deeds.0);
        plan_deeds(
            &mut world,
            &plan.deeds,
            &mut Rng::stream(plan.seed, "deeds"),
        );
    }
    world.run_until(now);
    let case = Rc::new(Case { world, now });
    let recorded = record(&case, &observers(plan, moment));
    View {
        moment,
        case,
        recorded,
    }
}

/// Who looks once sees what is there, and what logs and the cloud have kept; a collector saw all of it.
fn observers(plan: &Plan, moment: Moment) -> Observe {
    let drawn = plan.observe.clone();
    let is_store = moment == Moment::Store;
    let logs = match drawn.logs {
        LogForm::Kubectl | LogForm::Raw if is_store => LogForm::Files,
        kept => kept,
    };
    Observe {
        watches: is_store,
        lists: !is_store && !drawn.text,
        text: !is_store && drawn.text,
        logs,
        gap: None,
        damage: None,
        ..drawn
    }
}

/// Asks at each time, and compares the answers.
pub fn ask_views(views: &[View], folder: &Path, tool: &mut Tool) -> Vec<Row> {
    let mut asked = Vec::new();
    for view in views {
        let to = folder.join(view.moment.name());
        std::fs::remove_dir_all(&to).ok();
        if write_all(&view.recorded.files, &to).is_err() {
            continue;
        }
        asked.extend(compare::TimedAnswer::new(view, ask_view(view, &to, tool)));
        std::fs::remove_dir_all(&to).ok();
    }
    compare::all(&mut asked);
    asked.into_iter().map(|one| one.row).collect()
}

fn ask_view(view: &View, input: &Path, tool: &mut Tool) -> Option<(Row, Reply)> {
    let run = view.recorded.truth.runs.first().filter(|run| run.seen)?;
    let skew = view.case.world.plan.observe.skew_s.abs() * SEC;
    let (mut row, mut reply) = ask(&view.recorded, 0, &run.ask(), input, skew, tool);
    row.variant = view.moment.name().to_owned();
    if view.moment == Moment::Store {
        let stored = store::ask(tool.path(), input, &run.ask());
        let from_store = signature(&stored);
        if from_store != row.signature {
            row.broken.push(Broken {
                which: 'k',
                how: format!("files: {} -> store: {from_store}", row.signature),
            });
        }
        row.judged = judge(run, &stored);
        row.signature = from_store;
        reply = stored;
    }
    Some((row, reply))
}
