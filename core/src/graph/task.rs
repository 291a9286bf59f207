//! A pod and where and when it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use whathappened_model::event::SourceKind;
use whathappened_model::object::ObjectBody;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::InstanceRecord;
use super::last_words::Failures;
use super::learn::is_refusal;
use super::pace::Pace;
use crate::graph::WorkloadRow;
use crate::symbols::Symbol;

mod progress;
mod reports;
mod untimed;

pub use progress::Progress;
pub(super) use progress::RECENT;
pub(crate) use reports::Reports;
pub(super) use untimed::UntimedLog;

/// One end of one container.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// When.
    pub time: Stamp,
    /// Which container.
    pub container: Symbol,
    /// Whether it is an init container.
    pub init: bool,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// What the status claims: `OOMKilled`, `Error`, `Completed`, …
    pub reason: Symbol,
}

/// What a member of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// A pod.
    Pod,
    /// A machine in a cloud.
    Instance,
    /// A batch job: all of its steps, on all of its machines.
    Job,
    /// A log of which nothing else is known.
    Log,
}

impl TaskKind {
    /// The name used in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::Instance => "Instance",
            Self::Job => "SlurmJob",
            Self::Log => "Log",
        }
    }
}

/// A pod, from every record that speaks of it. A cloud instance or a batch job
/// that is a run's own is one as well: they begin, are somewhere and end alike.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it is.
    pub kind: TaskKind,
    /// `metadata.uid`, where any record had it.
    pub uid: Symbol,
    /// Its namespace.
    pub namespace: Symbol,
    /// Its name, which others may bear at other times.
    pub name: Symbol,
    /// The node it was bound to; an instance is its own.
    pub node: Symbol,
    /// The zone of an instance, as its records say.
    pub zone: Symbol,
    /// Further machines that a batch job was on.
    pub more_nodes: Vec<Symbol>,
    /// What its sources call the cluster that it is in, in order.
    pub clusters: Vec<(SourceKind, Symbol)>,
    /// When it was made.
    pub created: Option<Stamp>,
    /// When it was bound to its node.
    pub bound: Option<Stamp>,
    /// When its first container started.
    pub started: Option<Stamp>,
    /// When its last container ended.
    pub ended: Option<Stamp>,
    /// When its deletion was first asked for.
    pub deletion_requested: Option<Stamp>,
    /// When its object was last seen without such a request.
    pub(crate) unasked: Option<Nanos>,
    /// When the object was seen gone.
    pub gone: Option<Stamp>,
    /// First and last time that any record speaks of it.
    pub seen: Option<(Nanos, Nanos)>,
    /// The last phase seen.
    pub phase: Option<String>,
    /// The workload that controls it.
    pub owner: Option<WorkloadRow>,
    /// Its root: the workload on top of the owner chain, [`None`] for a bare pod.
    pub root: Option<WorkloadRow>,
    /// Who made it, from the audit log.
    pub made_by: Symbol,
    /// Its rank in the gang.
    pub rank: Option<i32>,
    /// The last version of the object.
    pub body: Option<Arc<ObjectBody>>,
    /// Every end of a container that any record tells, in time order.
    pub exits: Vec<Exit>,
    /// Ends that were only measured, until all records are read.
    pub(super) heard: Vec<Exit>,
    /// Starts of main containers, in time order.
    pub starts: Vec<Stamp>,
    /// What containers wait for in the last version that shows them: `CrashLoopBackOff`, …
    pub waits: Vec<String>,
    /// `status.reason` of the pod, with its time: `Evicted`, `NodeShutdown`, …
    pub verdict: Option<(Stamp, String)>,
    /// Last word on readiness and since when.
    pub ready: Option<(Stamp, bool)>,
    /// Since when it had not been ready, as its versions show, before it was ready again.
    pub(super) ready_again: Option<Stamp>,
    /// The scheduler found no place for it (first time).
    pub unplaced: Option<Stamp>,
    /// The kubelet reports trouble starting it (first time).
    pub stuck: Option<Stamp>,
    /// The kubelet stops its containers (first time).
    pub stopped: Option<Stamp>,
    /// What was printed of its beginning without a time.
    pub(crate) printed: PrintedWait,
    /// When an autoscaler told that it sends it away.
    pub(super) sent_away: Option<Stamp>,
    /// An autoscaler told that it could not send it away.
    pub(super) removal_failed: bool,
    /// Ends of containers of which only their kubelet's word is known that it starts them again.
    pub(crate) restarted: Vec<Exit>,
    /// Its end was asked for, at a time that nobody knows.
    pub(crate) is_asked: bool,
    /// When its kubelet reported of it, where no more than that is told.
    pub(crate) reports: Reports,
    /// The kubelet holds a failed container back (last time told).
    pub held_back: Option<Stamp>,
    /// When somebody else than its process ended it, as Events and conditions tell.
    pub kills: Vec<Stamp>,
    /// When its Job had counted it as ended.
    pub untracked: Option<Stamp>,
    /// By when its Job had counted its index as completed.
    pub index_done: Option<Stamp>,
    /// When its log last said that all was done.
    pub logged_done: Option<Stamp>,
    /// When its log last told that it ends, whatever ended it.
    pub logged_over: Option<Stamp>,
    /// When its log last told what a program ends with, unless it goes on.
    pub logged_end: Option<Stamp>,
    /// When its log last told that it was asked to stop.
    pub logged_stop: Option<Stamp>,
    /// When its log last told that a GPU computes wrongly, for which the program ends.
    pub logged_wrong: Option<Stamp>,
    /// Whether it wrote, in its log, long after it told of a failure and long before it told that it ends.
    pub spoke_between: bool,
    /// When its log last told of a failure that ends a program.
    pub last_words: Option<Stamp>,
    /// All failures that its log told of.
    pub failures: Failures,
    /// The rank that did, where it names itself.
    pub(super) words_of: Option<i32>,
    /// The file in which it did.
    pub words_in: Symbol,
    /// Whether it is an error that only its own code and data make.
    pub words_are_own: bool,
    /// The last line of it that tells of that failure, from 1.
    pub words_end: u64,
    /// Whether lines follow it there that have no time of their own.
    pub wrote_after_words: bool,
    /// When it last wrote anything.
    pub last_line: Option<Stamp>,
    /// The group of machines that a record of the group counts an instance among.
    pub group: Symbol,
    /// What records tell of an instance's life, in time order.
    pub signs: Vec<InstanceRecord>,
    /// The experiments that a log store's labels or tags say its lines are of.
    pub tags: BTreeSet<Symbol>,
    /// Files of logs that are perhaps its own, and of another of its workload's else.
    pub stray_logs: BTreeSet<Symbol>,
    /// What people called it in an experiment tracker.
    pub called: BTreeSet<Symbol>,
    /// The folders of trackers' files that are its own, by the last part of their paths.
    pub folders: BTreeSet<Symbol>,
    /// The files that lay in a folder of an instance's name.
    pub(crate) log_files: BTreeSet<Symbol>,
    /// Where in its log the lines of each of its files stand, where it has several: they are numbered from there.
    pub(crate) log_places: BTreeMap<Symbol, u64>,
    /// The journals of its service that its log was read from.
    pub(crate) journals: BTreeSet<Symbol>,
    /// What its log says last, where the lines have no times.
    pub untimed: UntimedLog,
    /// The training steps that its log tells of.
    pub progress: Option<Box<Progress>>,
    /// How long its training steps took.
    pub pace: Pace,
    /// How its versions show its end, in the order in which the cluster stored them.
    pub(super) stored: Stored,
}

/// What Events that were printed with no more than their ages tell of the beginning of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrintedWait {
    /// The scheduler found no place.
    pub(crate) unplaced: bool,
    /// The kubelet reports trouble starting it.
    pub(crate) stuck: bool,
}

/// What the order of an object's versions says of its end, whatever clocks say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// It was over before anybody asked for its end.
    pub(super) ended_first: bool,
    /// A time at which the first version that shows it over was true.
    pub(super) over: Option<Stamp>,
    /// Whether that time is the API server's.
    pub(super) by_server: bool,
}

impl Task {
    /// Whether its container ended once, and runs again by its own word: that it keeps ending is likely, and not seen.
    #[must_use]
    pub fn runs_again(&self) -> bool {
        let restarts = self.body.iter().flat_map(|body| body.restarts.values());
        restarts.copied().max() == Some(1)
            && self.phase.as_deref() == Some("Running")
            && self.waits.is_empty()
            && self.ready.is_some_and(|(_, ready)| ready)
    }

    /// Whether all that tells when its end was asked for is its kubelet's word that it has come: whoever asks leaves a grace period,
    /// and the kubelet that is done sets it to nothing, and the time to its own. Who asks for the end of one that is over leaves the
    /// same, unless it was seen to be over before.
    #[must_use]
    pub fn is_confirmed_only(&self) -> bool {
        const CONFIRMS: Nanos = 10 * SECOND;
        let Some(body) = self.body.as_ref() else {
            return false;
        };
        let confirmed = body
            .deletion_requested
            .filter(|confirmed| self.deletion_requested == Some(*confirmed));
        let ends = self.exits.iter().filter(|exit| !exit.init);
        let end = ends
            .map(|exit| exit.time)
            .filter(|end| *end != Stamp::OPEN)
            .max();
        body.deletion_grace_s == Some(0)
            && !self.stored.ended_first
            && confirmed.zip(end).is_some_and(|(confirmed, end)| {
                (-SECOND..=CONFIRMS).contains(&confirmed.lo.saturating_sub(end.lo))
            })
    }

    /// Whether its object names no owner any more, though it had one.
    pub(crate) fn is_released(&self) -> bool {
        let body = self.body.as_ref();
        self.owner.is_some()
            && self.uid.is_some()
            && body.is_some_and(|body| body.owners.is_empty())
    }

    /// Why its kubelet refused it, where it did: it never started.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        let (_, reason) = self.verdict.as_ref()?;
        let never_ran = self.starts.is_empty() && self.exits.is_empty();
        (never_ran && is_refusal(reason)).then_some(reason)
    }

    /// Whether its object says that its end was asked for.
    pub(crate) fn is_shown_leaving(&self) -> bool {
        let body = self.body.as_ref();
        body.is_some_and(|body| body.deletion_requested.is_some())
    }

    /// Where in its log a line of a file stands.
    #[must_use]
    pub fn place_of_line(&self, file: Symbol, line: u64) -> u64 {
        let begin = self.log_places.get(&file).copied().unwrap_or_default();
        begin.saturating_add(line)
    }

    /// Whether its log has several files.
    #[must_use]
    pub fn has_several_logs(&self) -> bool {
        self.log_places.len() > 1
    }

    /// When somebody first asked for its end.
    #[must_use]
    pub fn first_asked(&self) -> Option<Stamp> {
        let asked = self.deletion_requested.iter().chain(&self.kills);
        asked.min().copied()
    }

    /// The rank whose failure its log told of last, where it names itself.
    #[must_use]
    pub fn words_of(&self) -> Option<i32> {
        self.words_of
    }

    pub(super) fn new(kind: TaskKind, uid: Symbol, namespace: Symbol, name: Symbol) -> Self {
        Self {
            kind,
            uid,
            namespace,
            name,
            node: Symbol::NONE,
            zone: Symbol::NONE,
            more_nodes: Vec::new(),
            clusters: Vec::new(),
            created: None,
            bound: None,
            started: None,
            ended: None,
            deletion_requested: None,
            unasked: None,
            gone: None,
            seen: None,
            phase: None,
            owner: None,
            root: None,
            made_by: Symbol::NONE,
            rank: None,
            body: None,
            exits: Vec::new(),
            heard: Vec::new(),
            starts: Vec::new(),
            waits: Vec::new(),
            reports: Reports::default(),
            verdict: None,
            ready: None,
            ready_again: None,
            unplaced: None,
            stuck: None,
            stopped: None,
            printed: PrintedWait::default(),
            sent_away: None,
            removal_failed: false,
            restarted: Vec::new(),
            is_asked: false,
            held_back: None,
            kills: Vec::new(),
            untracked: None,
            index_done: None,
            logged_done: None,
            logged_over: None,
            logged_end: None,
            spoke_between: false,
            logged_stop: None,
            logged_wrong: None,
            last_words: None,
            failures: Failures::default(),
            words_of: None,
            words_in: Symbol::NONE,
            words_are_own: false,
            words_end: 0,
            wrote_after_words: false,
            last_line: None,
            group: Symbol::NONE,
            signs: Vec::new(),
            tags: BTreeSet::new(),
            stray_logs: BTreeSet::new(),
            called: BTreeSet::new(),
            folders: BTreeSet::new(),
            log_files: BTreeSet::new(),
            log_places: BTreeMap::new(),
            journals: BTreeSet::new(),
            untimed: UntimedLog::default(),
            progress: None,
            pace: Pace::default(),
            stored: Stored::default(),
        }
    }

    /// Widens the time in which it was seen.
    pub(super) fn see(&mut self, from: Nanos, to: Nanos) {
        if from == Nanos::MIN || to == Nanos::MAX {
            return;
        }
        self.seen = Some(
            self.seen
                .map_or((from, to), |(first, last)| (first.min(from), last.max(to))),
        );
    }

    /// The machines it was on, as far as any record tells.
    pub fn machines(&self) -> impl Iterator<Item = Symbol> + '_ {
        let first = Some(self.node).filter(|node| node.is_some());
        first.into_iter().chain(self.more_nodes.iter().copied())
    }

    /// From when to when it was where it was, as far as any record tells.
    #[must_use]
    pub fn stay(&self) -> (Nanos, Nanos) {
        if self.kind == TaskKind::Instance {
            let from = self.created.map_or(Nanos::MIN, |at| at.lo);
            return (from, self.gone.map_or(Nanos::MAX, |at| at.hi));
        }
        // A batch job is made long before it has its machines.
        let allocated = self.started.filter(|_| self.kind == TaskKind::Job);
        let from = self
            .bound
            .or(allocated)
            .or(self.created)
            .map(|stamp| stamp.lo)
            .or(self.begin())
            .unwrap_or(Nanos::MIN);
        let to = self
            .gone
            .or(self.ended)
            .map(|stamp| stamp.hi)
            .or(self.seen.map(|(_, last)| last))
            .unwrap_or(Nanos::MAX);
        (from, to)
    }

    /// When it began, as far as any record tells.
    #[must_use]
    pub fn begin(&self) -> Option<Nanos> {
        self.known_begin()
            .or(self.seen.map(|(first, _)| first))
            .filter(|begin| *begin != Nanos::MIN)
    }

    /// When it began, where a record says so: that it was seen is no beginning.
    #[must_use]
    pub fn known_begin(&self) -> Option<Nanos> {
        // A mirror of a static pod is bound, by its own account, before it was made.
        let reported = self.created.map(|stamp| stamp.lo).or_else(|| {
            [self.bound, self.started]
                .into_iter()
                .flatten()
                .map(|stamp| stamp.lo)
                .min()
        });
        reported.filter(|begin| *begin != Nanos::MIN)
    }
}
