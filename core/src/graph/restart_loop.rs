//! Runs that are begun anew from one checkpoint again and again: they make steps, lose them, and get no further.

use std::collections::BTreeMap;

use whathappened_model::event::Event;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, Stamp};

use super::{EntityGraph, Fact, Task};
use crate::evidence::{Evidence, SpillError};
use crate::graph::Root;
use crate::signals::named;

/// So many times from one checkpoint are no bad luck.
const OFTEN: usize = 3;

/// A checkpoint that was loaded, by all ranks at one time.
#[derive(Clone, Debug)]
struct Load {
    time: Stamp,
    fact: Fact,
    /// Which one: its step, else its path.
    which: String,
    /// The step of it, where its line says so.
    step: Option<i64>,
}

/// Adds facts of runs that went on from one checkpoint again and again to the end of what is known, with steps in between.
pub(super) fn note(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let found = facts(&graph.pods, &mut graph.evidence, &graph.facts)?;
    graph.facts.extend(found);
    Ok(())
}

fn facts(
    pods: &Table<Task>,
    evidence: &mut Evidence,
    facts: &[Fact],
) -> Result<Vec<Fact>, SpillError> {
    let Some(loaded) = evidence.symbols.find(named::LOG_CHECKPOINT_LOADED) else {
        return Ok(Vec::new());
    };
    let saved = evidence.symbols.find(named::LOG_CHECKPOINT_SAVED);
    let mut by_run: BTreeMap<Root, (Vec<Load>, Nanos)> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.time != Stamp::OPEN) {
        let (Some(number), Some(pod)) = (fact.pod, pods.get(fact.pod)) else {
            continue;
        };
        let run = Root::of(number, pod);
        if fact.signal == loaded {
            let event = evidence.event(fact.row)?;
            let run = by_run.entry(run).or_insert((Vec::new(), Nanos::MIN));
            run.0.extend(load(fact, &event));
        } else if Some(fact.signal) == saved {
            let run = by_run.entry(run).or_insert((Vec::new(), Nanos::MIN));
            run.1 = run.1.max(fact.time.lo);
        }
    }
    by_run.retain(|_, (loads, _)| loads.len() >= OFTEN);
    let mut found = Vec::new();
    for (run, (mut loads, last_saved)) in by_run {
        loads.sort_by(|a, b| (a.time, &a.which, a.fact.id).cmp(&(b.time, &b.which, b.fact.id)));
        let steps = steps_of(pods, run);
        if let Some(one) = last_loop(&loads, &steps, last_saved) {
            let words = one.words();
            let (first, last) = (one.begin, one.end);
            let row = last.fact.row;
            if let Some(row_of) = evidence.rows().get(row) {
                let base = Fact::of_row(row, row_of, loaded);
                found.push((base, first.time, last.clone(), one.times, words));
            }
        }
    }
    let symbols = &mut evidence.symbols;
    let signal = symbols.number(named::LOG_RESTART_LOOP);
    let found = found
        .into_iter()
        .map(|(base, first, last, times, words)| Fact {
            signal,
            pod: last.fact.pod,
            time: first,
            onset: first.lo,
            end: Some(last.time),
            count: u64::try_from(times).unwrap_or(1),
            detail: symbols.number(&words),
            ..base
        });
    Ok(found.collect())
}

/// What a line says of the checkpoint that was loaded.
fn load(fact: &Fact, event: &Event) -> Option<Load> {
    let path = event
        .attribute("path")
        .map(|path| path.trim_end_matches(['.', ',', ')', '"', '\'', '/']));
    // `/ckpt/step_1000`, `/ckpt/iter_0001000`, `global_step1000`: the last number of the last part.
    let in_path = path.and_then(|path| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let name = name.split('.').next().unwrap_or_default();
        let digits = name
            .rsplit(|sign: char| !sign.is_ascii_digit())
            .find(|part| !part.is_empty());
        digits?.parse::<i64>().ok()
    });
    let step = event
        .attribute("step")
        .and_then(|step| step.parse::<i64>().ok())
        .or(in_path);
    let which = match (step, path) {
        (Some(step), _) => step.to_string(),
        (None, Some(path)) => path.to_owned(),
        (None, None) => return None,
    };
    Some(Load {
        time: fact.time,
        fact: *fact,
        which,
        step,
    })
}

/// The steps that all members of a run tell of, in order of time.
fn steps_of(pods: &Table<Task>, run: Root) -> Vec<(Nanos, i64)> {
    let members = pods.numbered().filter(|(number, one)| match run {
        Root::Pod(pod) => *number == pod,
        Root::Workload(root) => one.root == Some(root),
    });
    let steps = members.flat_map(|(_, one)| one.pace.steps());
    let mut steps: Vec<(Nanos, i64)> = steps.map(|(time, step, _)| (time, step)).collect();
    steps.sort_unstable();
    steps
}

/// The same checkpoint, loaded again and again.
struct Repeated<'a> {
    /// The second load: from then on it was so.
    begin: &'a Load,
    /// The last one.
    end: &'a Load,
    times: usize,
    /// The furthest step.
    furthest: i64,
}

impl Repeated<'_> {
    fn words(&self) -> String {
        let which = match self.end.step {
            Some(step) => format!("the checkpoint of step {step}"),
            None => format!("the checkpoint {}", self.end.which),
        };
        format!(
            "it went on from {which} {} times, and never came further than step {}",
            self.times, self.furthest
        )
    }
}

/// The loads of one checkpoint at the end of what is known, each after steps that were lost with it.
fn last_loop<'a>(
    loads: &'a [Load],
    steps: &[(Nanos, i64)],
    last_saved: Nanos,
) -> Option<Repeated<'a>> {
    // What is loaded without a step in between is loaded by several ranks, or told twice.
    let mut tries: Vec<&Load> = Vec::new();
    let between = |from: &Load, to: Nanos| {
        let from = from.time.lo;
        let within = steps
            .iter()
            .filter(move |(time, _)| (from..to).contains(time));
        within.map(|(_, step)| *step)
    };
    for load in loads {
        match tries.last() {
            Some(last) if between(last, load.time.lo).next().is_none() => {}
            _ => tries.push(load),
        }
    }
    let last = *tries.last()?;
    let same = tries.iter().rev().take_while(|one| one.which == last.which);
    let mut same: Vec<&Load> = same.copied().collect();
    same.reverse();
    if same.len() < OFTEN {
        return None;
    }
    let ends = same
        .iter()
        .skip(1)
        .map(|next| next.time.lo)
        .chain([Nanos::MAX]);
    let attempts: Vec<Vec<i64>> = same
        .iter()
        .zip(ends)
        .map(|(from, to)| between(from, to).collect())
        .collect();
    let (now, lost) = attempts.split_last()?;
    let furthest = lost.iter().flatten().copied().max()?;
    // Each begins where the checkpoint is and not where the one before had come to: what loads the weights of another training
    // begins at its own first step, and what only looks at a checkpoint goes on.
    let first = |steps: &Vec<i64>| steps.first().copied();
    let begins = first(lost.first()?)?;
    // Of long logs not every step is kept.
    let about = ((furthest - begins) / 4).max(1);
    let anew = |steps: &Vec<i64>| first(steps).is_none_or(|first| (first - begins).abs() <= about);
    let goes_on_from_it = last.step.is_none_or(|step| step > 0 && begins >= step) && begins > 1;
    let gets_on = now.iter().any(|step| *step > furthest) || last_saved > last.time.hi;
    let all = attempts.iter().all(anew) && goes_on_from_it && !gets_on;
    let begin = *same.get(1)?;
    all.then_some(Repeated {
        begin,
        end: last,
        times: same.len(),
        furthest: furthest.max(now.iter().copied().max().unwrap_or(furthest)),
    })
}
