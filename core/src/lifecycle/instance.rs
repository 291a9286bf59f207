//! How a cloud instance ended, as often as it did: it may be started again.

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::last_words::{ended, given_up};
use super::went_down::Downs;
use super::{End, Mode, Restart, State};
use crate::graph::{
    EntityGraph, Exit, InstanceChange, InstanceRecord, Progress, Task, TaskKind, TaskRow,
};
use crate::symbols::Symbol;

/// A machine that is switched off stops its services first; its cloud may tell of it later.
const GOING_DOWN: Nanos = 120 * SECOND;

/// Records of one end come within this long of each other: a notice, what the
/// platform did, and what its group cleaned up.
const ONE_END: Nanos = 900 * SECOND;

/// When the work on each instance was first told to be done, by number of the
/// instance. A machine that is deleted after that has lost nothing.
pub(super) fn done(graph: &EntityGraph) -> HashMap<TaskRow, Stamp> {
    let symbols = &graph.evidence.symbols;
    let mut found = HashMap::new();
    let Some(done) = symbols.find(named::LOG_TRAINING_DONE) else {
        return found;
    };
    let mut by_name: HashMap<Symbol, Vec<TaskRow>> = HashMap::new();
    for (number, one) in graph.pods.numbered() {
        if one.kind == TaskKind::Instance {
            by_name.entry(one.node).or_default().push(number);
        }
    }
    for fact in graph.facts.iter().filter(|fact| fact.signal == done) {
        // A log in a folder of the machine's name does not name it in its lines.
        let is_instance = |number: &TaskRow| {
            let own = graph.pods.get(*number);
            own.is_some_and(|own| own.kind == TaskKind::Instance)
        };
        let own = fact.pod.as_ref().filter(|number| is_instance(number));
        for number in by_name.get(&fact.node).into_iter().flatten().chain(own) {
            let holds = graph.pods.get(*number).is_some_and(|one| {
                let (from, to) = one.stay();
                (from..to).contains(&fact.time.lo)
            });
            if holds {
                found.entry(*number).or_insert(fact.time);
            }
        }
    }
    found
}

/// What the kernels of machines say of the end of what ran on them, by the machine's name, in
/// time order.
pub(super) fn crashes(graph: &EntityGraph) -> HashMap<Symbol, Vec<InstanceRecord>> {
    let mut found: HashMap<Symbol, Vec<InstanceRecord>> = HashMap::new();
    for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
        let what = match graph.name(fact.signal) {
            named::KERNEL_PANIC => InstanceChange::Lost,
            named::KERNEL_OOM_KILL | named::KERNEL_OOM_KILL_LIMIT | named::KERNEL_OOM_KILL_NODE => {
                InstanceChange::ProgramKilled
            }
            _ => continue,
        };
        // A record without a time may be of any boot.
        if fact.time != Stamp::OPEN {
            found.entry(fact.node).or_default().push(InstanceRecord {
                time: fact.time,
                what,
                word: Symbol::NONE,
                operation: Symbol::NONE,
            });
        }
    }
    found
}

/// What is told of an instance's life, by its cloud and its own kernel, in time order.
fn signs<'a>(one: &'a Task, crashes: &'a [InstanceRecord]) -> Vec<&'a InstanceRecord> {
    let (from, to) = one.stay();
    let wrote = one.last_line.map(|line| line.lo);
    let during = crashes.iter().filter(|crash| {
        let survived = wrote.is_some_and(|wrote| wrote > crash.time.hi.saturating_add(CLOCKS));
        (from..to).contains(&crash.time.lo) && !survived
    });
    let mut all: Vec<&InstanceRecord> = one.signs.iter().chain(during).collect();
    all.sort_by_key(|sign| (sign.time.lo, sign.time.hi, sign.what));
    all
}

/// Who writes of a failure without a time had written before no longer ago than this, or some steps.
const SILENT: Nanos = 60 * SECOND;

/// The state an instance was last seen in, and every end that it outlived.
pub(super) fn end(
    graph: &EntityGraph,
    one: &Task,
    done: Option<Stamp>,
    crashes: &[InstanceRecord],
    downs: &Downs<'_>,
) -> End {
    // One that could not be made, and of which nothing else is told, never was.
    let refused = one.signs.first().filter(|first| {
        let alike = |sign: &InstanceRecord| sign.what == InstanceChange::Refused;
        alike(first) && one.signs.iter().all(alike)
    });
    if let Some(refused) = refused {
        return End {
            state: State::NeverScheduled,
            mode: Mode::None,
            time: refused.time,
            exit: None,
            restarts: Vec::new(),
        };
    }
    let (mut ends, mut runs) = (Vec::<&InstanceRecord>::new(), true);
    let are_on_record = one
        .signs
        .iter()
        .any(|sign| sign.what == InstanceChange::Made);
    // What is told after an end, of a program that wrote nothing since, is told of that end.
    let wrote_since = |end: &InstanceRecord| {
        let since = end.time.hi.saturating_add(CLOCKS);
        one.last_line.is_some_and(|line| line.lo > since)
    };
    for sign in signs(one, crashes) {
        let is_repeated = ends.last().is_some_and(|end| {
            let near = sign.time.lo.saturating_sub(end.time.hi) <= ONE_END;
            let silent = one.last_line.is_some() || sign.what == InstanceChange::Reset;
            end.what == InstanceChange::Reset && near && silent && !wrote_since(end)
        });
        if is_repeated && (!sign.begins() || sign.what == InstanceChange::Reset) {
            continue;
        }
        let was_running = match sign.what {
            InstanceChange::Refused => continue,
            InstanceChange::Made | InstanceChange::Runs | InstanceChange::Moved => {
                runs = true;
                continue;
            }
            InstanceChange::Reset => {
                ends.extend(Some(sign).filter(|_| runs));
                continue;
            }
            // What befalls only those that run tells that it ran again, unless
            // it is one more record of the same end.
            InstanceChange::Taken
            | InstanceChange::Lost
            | InstanceChange::ProgramKilled
            | InstanceChange::ShutDown => {
                let last = ends.last().map_or(Nanos::MIN, |last| last.time.hi);
                // Who asks for its end is on record, and who asks for its start would be.
                let asked = ends.last().is_some_and(|last| match last.what {
                    InstanceChange::Stopped | InstanceChange::Deleted => true,
                    // One that shut itself down stays off until somebody asks.
                    InstanceChange::ShutDown => are_on_record,
                    _ => false,
                });
                runs || !asked && sign.time.lo.saturating_sub(last) > ONE_END
            }
            InstanceChange::Stopped | InstanceChange::Deleted => {
                // A stop that is only under way: the program wrote on until the record that follows.
                let was_under_way = ends.last().is_some_and(|end| {
                    end.what == InstanceChange::Stopped && !runs && wrote_since(end)
                });
                ends.pop_if(|_| was_under_way);
                runs || was_under_way
            }
        };
        if was_running {
            ends.push(sign);
        }
        runs = false;
    }
    // A machine that is there again runs nothing of what ended with it, unless that writes on.
    let silent = Progress::may_be_silent(one.progress.as_deref(), ONE_END);
    let ended_there = |end: &InstanceRecord| {
        one.last_line.is_some_and(|wrote| {
            wrote.lo <= end.time.hi.saturating_add(CLOCKS)
                && end.time.lo.saturating_sub(wrote.hi) <= silent
        })
    };
    // What wrote nothing since an end ended then, whatever became of its machine afterwards.
    let first = ends
        .iter()
        .position(|end| one.last_line.is_some() && !wrote_since(end));
    let is_followed = first.is_some_and(|first| first + 1 < ends.len());
    ends.truncate(first.map_or(usize::MAX, |first| first.saturating_add(1)));
    let gone = !runs || is_followed || ends.last().is_some_and(|end| ended_there(end));
    let mut last = ends.pop_if(|_| gone);
    // What had ended is not ended again by who switches its machine off.
    // Nor was what made steps for minutes after that: its own end, where any is known, came later.
    let outlived = |end: &&InstanceRecord| {
        let steps = one.progress.as_deref();
        steps.is_some_and(|steps| steps.last.lo > end.time.hi.saturating_add(GOING_DOWN))
    };
    let by = last.filter(|end| !outlived(end));
    let failed =
        failed(one, by).filter(|failure| by.is_none() || !another_worked_on(graph, one, *failure));
    let service = service_end(graph, one, by, downs);
    if failed.is_some() || service.is_some() {
        last = None;
    }
    let restarts: Vec<Restart> = ends
        .into_iter()
        .map(|sign| Restart {
            exit: exit(sign),
            mode: mode(sign),
        })
        .collect();
    let since = one
        .created
        .or(one.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);
    if let Some(service) = service.filter(|end| failed.is_none_or(|failed| end.time <= failed)) {
        return End {
            restarts,
            ..service
        };
    }
    let (state, mode, time) = match (last, done) {
        (Some(sign), Some(done)) if done.lo <= sign.time.lo => {
            (State::Completed, Mode::None, sign.time)
        }
        (Some(sign), _) => (State::Died, mode(sign), sign.time),
        (None, _) => match (failed, finished(one, done)) {
            (Some(failed), _) => (State::Died, Mode::Exited, failed),
            (None, Some(done)) => (State::Completed, Mode::None, done),
            (None, None) => (State::Running, Mode::None, since),
        },
    };
    End {
        state,
        mode,
        time,
        exit: last.map(exit),
        restarts,
    }
}

/// How the service ended that the program on an instance ran as, before the end of the instance itself and since it was
/// last started, as the machine's journal tells.
fn service_end(
    graph: &EntityGraph,
    one: &Task,
    end: Option<&InstanceRecord>,
    downs: &Downs<'_>,
) -> Option<End> {
    let exit = one.exits.iter().max_by_key(|exit| exit.time);
    let by = exit.map(|exit| exit.time.lo);
    let kill = one
        .kills
        .iter()
        .filter(|kill| by.is_none_or(|by| (0..=GOING_DOWN).contains(&by.saturating_sub(kill.lo))));
    let kill = kill.max().copied();
    let (mode, time) = match (kill, exit) {
        (Some(kill), _) => (Mode::Killed, kill),
        (None, Some(exit)) => (Mode::Exited, exit.time),
        (None, None) => return None,
    };
    let code = exit.and_then(|exit| exit.exit_code);
    let goes_down = mode == Mode::Killed || matches!(code, Some(0 | 143));
    let apart = if goes_down { GOING_DOWN } else { CLOCKS };
    // A machine that goes down in good order says so before it stops anything: by its own clock a program had ended before.
    let ended_before = || !goes_down && downs.has_first_after(graph, one.node, time, GOING_DOWN);
    let first = end.is_none_or(|end| time.hi.saturating_add(apart) < end.time.lo || ended_before());
    // That a machine was started, or is again, shows nothing of a program that writes a log and wrote nothing since.
    let wrote_since =
        |sign: &InstanceRecord| one.last_line.is_none_or(|line| line.lo > sign.time.hi);
    let mut signs = one.signs.iter();
    let since = signs.any(|sign| sign.begins() && sign.time.lo > time.hi && wrote_since(sign));
    let is_done = mode == Mode::Exited && code == Some(0);
    (first && !since).then(|| End {
        state: if is_done {
            State::Completed
        } else {
            State::Died
        },
        mode: if is_done { Mode::None } else { mode },
        time,
        exit: exit.cloned(),
        restarts: Vec::new(),
    })
}

/// When the work on an instance that runs on was done: no step was made since, and the instance was not started anew.
fn finished(one: &Task, done: Option<Stamp>) -> Option<Stamp> {
    let step = one.progress.as_deref().map(|progress| progress.last.lo);
    let anew = |at: Stamp| {
        let mut signs = one.signs.iter();
        signs.any(|sign| sign.begins() && sign.time.lo > at.hi)
    };
    done.filter(|done| step.is_none_or(|step| step <= done.hi) && !anew(*done))
}

/// When the log of the program on an instance ended in a failure, before the end of the
/// instance itself, and since it was last started.
fn failed(one: &Task, end: Option<&InstanceRecord>) -> Option<Stamp> {
    let failure = given_up(one).or_else(|| ended(one))?;
    // What its only log tells of after the word that all is done ended nothing.
    let step = one.progress.as_deref().map(|progress| progress.last.lo);
    let was_done = one.log_files.len() == 1
        && one
            .logged_done
            .is_some_and(|done| done.lo <= failure.lo && step.is_none_or(|step| step <= done.hi));
    if was_done {
        return None;
    }
    // A line without a time was written soon after the one before it, as far as anybody knows.
    let failure = match end {
        Some(end) if failure.width() > CLOCKS => Stamp {
            hi: failure.hi.min(end.time.lo).max(failure.lo),
            ..failure
        },
        _ => failure,
    };
    // A machine that was reset, and whose program wrote nothing since, is none that it began anew on.
    let since = one.signs.iter().any(|sign| {
        let wrote = one.last_line.is_some_and(|line| line.lo > sign.time.hi);
        let began = sign.what != InstanceChange::Reset || wrote;
        sign.begins() && began && sign.time.lo > failure.hi
    });
    // That it was silent for many steps before it was stopped shows that it did not write in its last moment.
    let silent = Progress::may_be_silent(one.progress.as_deref(), SILENT);
    let by = if failure.width() > CLOCKS {
        failure.lo.saturating_add(silent)
    } else {
        failure.hi.saturating_add(CLOCKS)
    };
    // Nor does a machine that goes down make an error of the program's own code, however soon it goes.
    let own = |end: &InstanceRecord| one.words_are_own && failure.lo <= end.time.lo;
    let first = end.is_none_or(|end| by < end.time.lo || own(end));
    (first && !since).then_some(failure)
}

/// Whether another program on the machine than the one that failed made steps after that: what ended both was not that failure.
fn another_worked_on(graph: &EntityGraph, one: &Task, failure: Stamp) -> bool {
    let program = |file: Symbol| {
        let name = graph.name(file).rsplit(['/', '!']).next();
        name.and_then(|name| name.split('.').next())
    };
    let Some(steps) = one.progress.as_deref() else {
        return false;
    };
    let row = graph.evidence.rows().get(steps.row);
    let is_another = row.is_some_and(|row| program(row.file()) != program(one.words_in));
    one.words_in.is_some() && is_another && steps.went_on_after(failure.lo, None)
}

fn mode(sign: &InstanceRecord) -> Mode {
    match sign.what {
        InstanceChange::Lost => Mode::Lost,
        InstanceChange::ProgramKilled | InstanceChange::ShutDown => Mode::Exited,
        _ => Mode::Killed,
    }
}

fn exit(sign: &InstanceRecord) -> Exit {
    Exit {
        time: sign.time,
        container: Symbol::NONE,
        init: false,
        // A kernel that is out of memory sends SIGKILL.
        exit_code: (sign.what == InstanceChange::ProgramKilled).then_some(137),
        reason: sign.word,
    }
}
