//! What launchers report of the process that ended first: which one it was, and the signal that ended it.
//!
//! Only a signal that no process gets for another's end counts. Who gives up waiting for a peer exits or aborts
//! (SIGABRT), and who is stopped by its launcher gets SIGTERM: a report of such a process names a follower.

use whathappened_core::death::Death;
use whathappened_core::graph::{Fact, TaskRow};
use whathappened_core::signals::named;
use whathappened_model::event::Event;

use super::context::ReportContext;
use super::symptom::at_its_end;
use crate::explain::gang::Finding;

/// The number of a signal, its name, and the word that shells and srun have for it.
type Signal = (i32, &'static str, &'static str);

/// Signals that end a process for a reason of its own, or by somebody's will.
const SIGNALS: [Signal; 6] = [
    (4, "SIGILL", "Illegal instruction"),
    (7, "SIGBUS", "Bus error"),
    (8, "SIGFPE", "Floating point exception"),
    (9, "SIGKILL", "Killed"),
    (11, "SIGSEGV", "Segmentation fault"),
    (31, "SIGSYS", "Bad system call"),
];

/// What launchers stop processes with.
const SIGTERM: Signal = (15, "SIGTERM", "Terminated");

/// The process that a launcher noticed first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    /// `rank 4`, `local rank 3`, `process 417`.
    process: String,
    /// The machine, where it is named.
    place: Option<String>,
    /// The number and the name of the signal.
    signal: (i32, &'static str),
}

impl ReportContext<'_> {
    /// Which process of the run was ended by a signal, as the launcher of a member says: of the member itself, else
    /// of the only other one that says so. `None` where launchers blame several.
    pub(super) fn killed_process(&self, finding: &Finding, death: &Death) -> Option<String> {
        let (whose, report) = match self.report_of(death) {
            Some(report) => ("its ".to_owned(), report),
            None => {
                let others = finding.deaths().filter_map(|other| self.death(other));
                let others = others.filter(|other| other.pod != death.pod);
                let mut reports = others
                    .filter_map(|other| Some((self.member(other.pod)?, self.report_of(other)?)));
                let (first, report) = reports.next()?;
                if reports.any(|(_, other)| other != report) {
                    return None;
                }
                (format!("{first}'s "), report)
            }
        };
        let (number, name) = report.signal;
        // Whom a launcher's own log, beside those of its processes, tells of.
        let rank = self.graph().pods.get(death.pod).and_then(|pod| pod.rank);
        if let Some(who) = whose.strip_suffix("'s ")
            && rank.is_some_and(|rank| report.process == format!("rank {rank}"))
        {
            return Some(format!(
                "was ended by signal {number} ({name}), as {who} reports; nothing in the input shows why."
            ));
        }
        let own = self.member(death.pod);
        let place = report.place;
        let place = place.filter(|place| own.as_ref() != Some(place) && place != "localhost");
        let place = place.map_or_else(String::new, |place| format!(" on {place}"));
        Some(format!(
            "ended because {whose}{}{place} was ended by signal {number} ({name}); nothing in the input shows why.",
            report.process
        ))
    }

    fn member(&self, pod: Option<TaskRow>) -> Option<String> {
        let graph = self.graph();
        let pod = graph.pods.get(pod)?;
        Some(graph.name(pod.name).to_owned())
    }

    /// What the launcher in one member's log says.
    fn report_of(&self, death: &Death) -> Option<Report> {
        let graph = self.graph();
        let near: Vec<&Fact> = self
            .facts_of(death.pod)
            .filter(|fact| at_its_end(death, fact))
            .collect();
        let of = |signal: &str| -> Vec<Event> {
            let facts = near.iter().filter(|fact| graph.name(fact.signal) == signal);
            facts
                .filter_map(|fact| graph.evidence.event(fact.row).ok())
                .collect()
        };
        let tables = of(named::LAUNCHER_ROOT_CAUSE);
        let coded = |event: &&Event| event.attribute("code").is_some();
        if let Some(table) = tables.iter().find(coded) {
            // It names the first, whom no launcher had stopped yet; that another process ended on a signal says nothing more.
            return report(std::slice::from_ref(table), &[SIGTERM]);
        }
        let mpi = of(named::MPI_PROCESS_DIED);
        if !mpi.is_empty() {
            return report(&mpi, &[]);
        }
        // srun tells of tasks that it stopped in the words of those that ended by themselves.
        let stopped = of(named::LAUNCHER_TEARDOWN_STEP);
        let is_after = |event: &Event| {
            let mut stops = stopped.iter().map(|stop| &stop.origin);
            stops.any(|stop| stop.file == event.origin.file && stop.line < event.origin.line)
        };
        let workers = of(named::LAUNCHER_WORKER_FAILED);
        let mut workers = workers.iter().filter(|event| !is_after(event));
        workers.find_map(|worker| report(std::slice::from_ref(worker), &[]))
    }
}

/// A report in one record, or in several of one report: some say where it was and what ended it in lines of their own.
/// `also` are signals that count beside [`SIGNALS`].
fn report(events: &[Event], also: &[Signal]) -> Option<Report> {
    let first = |key: &str| events.iter().find_map(|event| event.attribute(key));
    let signal = events.iter().find_map(|event| signal_of(event, also))?;
    let process = match (first("failed_rank"), first("local_rank"), first("pid")) {
        (Some(rank), ..) => format!("rank {}", single(rank)?),
        (None, Some(local), _) => format!("local rank {local}"),
        (None, None, Some(pid)) => format!("process {pid}"),
        (None, None, None) => return None,
    };
    let place = first("on_node").or_else(|| first("failed_host"));
    Some(Report {
        process,
        place: place.map(str::to_owned),
        signal,
    })
}

/// One rank, and not a list of them, of which nobody knows who was first.
fn single(ranks: &str) -> Option<&str> {
    ranks
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(ranks)
}

/// The signal that ended a process, where it is one of [`SIGNALS`].
fn signal_of(event: &Event, also: &[Signal]) -> Option<(i32, &'static str)> {
    let code = event.attribute("code").and_then(|code| code.parse().ok());
    let number = code.filter(|code: &i32| *code < 0).map(|code| -code);
    let word = event
        .attribute("signal")
        .or_else(|| event.attribute("detail"));
    let is_it = |(value, name, shell): &&Signal| {
        number == Some(*value)
            || word.is_some_and(|word| {
                word == *name || word.starts_with(shell) || word.parse::<i32>().ok() == Some(*value)
            })
    };
    let mut known = SIGNALS.iter().chain(also);
    known.find(is_it).map(|(number, name, _)| (*number, *name))
}
