//! What a signal says of itself beside what it means, so that nothing else needs to know it by name.
//!
//! An entry says whether the signal begins a state and what ends that, which dependency several
//! share that it tells of, where it stands in a machine's history, whether it is weak, who enforces it, and to
//! which classes it belongs. What a general signal says of a state, a dependency and its place holds for the
//! special ones whose names go on from its own, a person's among them, unless they say otherwise; a
//! `[[family]]` says it for a name that is no signal. Classes are of the signal alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use whathappened_model::words;

use super::file::{Enforcer, Family, Signal};

/// What several signals have in common that code asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignalClass {
    /// What a program writes when it fails and ends.
    LastWords,
    /// With such a line a program or its launcher ends, whatever ended it.
    ClosingLine,
    /// With such a line a program ends, unless it goes on: it counts where it is the last of a log.
    MayEnd,
    /// What could not be started makes no step.
    NotStarted,
    /// A process says that it failed itself, not that another did.
    OwnFailure,
    /// Another process of the gang is gone.
    PeerGone,
    /// A process waited in vain for another of its gang, which may be there.
    KeptWaiting,
    /// A process did not reach the others of its gang, or what they were to do together failed.
    Unreached,
    /// A machine stopped or booted: what ran on it is lost.
    Boots,
    /// A machine is going down, or is up again.
    GoesDown,
    /// Somebody asks that a machine goes down now, which it may refuse.
    AsksDown,
    /// A machine was started anew, repaired or let in again: a fault told afterwards is another one.
    Repairs,
    /// Slurm has no answer from a machine.
    Unanswered,
    /// A device is lost or broken: no program that has it goes on.
    Final,
    /// A program writes it again and again while something that it needs is not there.
    KeepsFailing,
    /// Somebody noticed that a workload does not go on as it did, or acted upon it.
    Reaction,
    /// A machine is taken down, or was.
    TakesDown,
    /// Somebody reached the API and asked for the end of a pod, which no lost machine brings about by itself.
    AsksEnd,
    /// A kubelet ends a pod for it by itself.
    ByKubelet,
    /// Nothing that anybody asks for: everything goes on as it should.
    Calm,
    /// Its own record comes late, also where a kernel writes it.
    ReportedLate,
    /// systemd's own act, or that of a tool that replaces containers, ends a service.
    StopsUnit,
    /// It may name the process that failed first, of several that somebody looks after.
    NamesFailed,
    /// A workload's pods are held back or refused, or nobody looks after it.
    HoldsBack,
    /// What a pod waits for is still kept for the one before it, elsewhere.
    HeldElsewhere,
    /// One rank writes of the times of all.
    ComparesRanks,
    /// An agent of a machine has stopped: the programs there run on without it until somebody acts.
    AgentDown,
}

impl SignalClass {
    /// Each with its name in files and what it means there.
    pub const ALL: [(Self, &'static str); 27] = [
        (Self::LastWords, "last_words"),
        (Self::ClosingLine, "closing_line"),
        (Self::MayEnd, "may_end"),
        (Self::NotStarted, "not_started"),
        (Self::OwnFailure, "own_failure"),
        (Self::PeerGone, "peer_gone"),
        (Self::KeptWaiting, "kept_waiting"),
        (Self::Unreached, "unreached"),
        (Self::Boots, "boots"),
        (Self::GoesDown, "goes_down"),
        (Self::AsksDown, "asks_down"),
        (Self::Repairs, "repairs"),
        (Self::Unanswered, "unanswered"),
        (Self::Final, "final"),
        (Self::KeepsFailing, "keeps_failing"),
        (Self::Reaction, "reaction"),
        (Self::TakesDown, "takes_down"),
        (Self::AsksEnd, "asks_end"),
        (Self::ByKubelet, "by_kubelet"),
        (Self::Calm, "calm"),
        (Self::ReportedLate, "reported_late"),
        (Self::StopsUnit, "stops_unit"),
        (Self::NamesFailed, "names_failed"),
        (Self::HoldsBack, "holds_back"),
        (Self::HeldElsewhere, "held_elsewhere"),
        (Self::ComparesRanks, "compares_ranks"),
        (Self::AgentDown, "agent_down"),
    ];

    /// The class of a name in a file.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(class, _)| class)
    }
}

words! {
    /// What kind of thing happened to a machine.
    pub fixed MachineEventKind else State {
        /// A fault of the machine.
        Fault = "fault",
        /// Maintenance of it, or the announcement of it.
        Maintenance = "maintenance",
        /// An upgrade of its software.
        Upgrade = "upgrade",
        /// A reboot.
        Reboot = "reboot",
        /// It was added or removed to match the load.
        Scaling = "scaling",
        /// It was cordoned or drained.
        Drain = "drain",
        /// Another action of its cloud.
        Cloud = "cloud",
        /// Another change of its state.
        State = "state",
    }
}

/// Where a signal may say that it stands in a machine's history, in the order in which they go first; the rest is
/// [`MachineEventKind::State`].
pub const LANES: [MachineEventKind; 7] = [
    MachineEventKind::Fault,
    MachineEventKind::Maintenance,
    MachineEventKind::Upgrade,
    MachineEventKind::Reboot,
    MachineEventKind::Scaling,
    MachineEventKind::Drain,
    MachineEventKind::Cloud,
];

/// What may become of a cloud instance; what it means is told in `graph/instance.rs`.
pub const INSTANCE_CHANGES: [&str; 10] = [
    "refused",
    "made",
    "runs",
    "moved",
    "taken",
    "lost",
    "shut_down",
    "reset",
    "stopped",
    "deleted",
];

/// The lane of a word in a file of signals.
pub(super) fn lane(word: &str) -> Option<MachineEventKind> {
    LANES.into_iter().find(|lane| lane.as_str() == word)
}

/// A dependency that several share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedDependency {
    /// In words: `name resolution`.
    pub what: Arc<str>,
    /// Troubles are alike only where they name one target.
    pub by_target: bool,
}

#[derive(Clone, Debug, Default)]
struct Traits {
    state_ends: Option<Arc<[String]>>,
    shared: Option<SharedDependency>,
    lane: Option<MachineEventKind>,
    weak: bool,
    enforced_by: Option<Arc<Enforcer>>,
    quoted_as_info: Option<bool>,
    keeps_from_starting: Option<bool>,
    instance: Option<String>,
    classes: Vec<SignalClass>,
}

/// What all signals say of themselves.
#[derive(Clone, Debug, Default)]
pub struct SignalTraits {
    by_name: HashMap<String, Traits>,
    families: BTreeMap<String, Traits>,
    by_class: BTreeMap<SignalClass, Vec<String>>,
}

impl SignalTraits {
    pub(super) fn family(&mut self, family: Family) {
        let known = self.families.entry(family.name).or_default();
        known.state_ends = family.state_ends.map(Arc::from).or(known.state_ends.take());
        let own = family.lane.as_deref().and_then(lane);
        known.lane = own.or(known.lane);
        let enforced_by = family.enforced_by.map(Arc::new);
        known.enforced_by = enforced_by.or(known.enforced_by.take());
        known.quoted_as_info = family.quoted_as_info.or(known.quoted_as_info);
    }

    /// Adds what an entry says, which is of an entry of the same name in another file as well.
    pub(super) fn signal(&mut self, name: &str, signal: &Signal) {
        let known = self.by_name.entry(name.to_owned()).or_default();
        if let Some(ends) = &signal.state_ends {
            known.state_ends = Some(ends.as_slice().into());
        }
        if let Some(what) = &signal.shared {
            known.shared = Some(SharedDependency {
                what: what.as_str().into(),
                by_target: signal.shared_by_target,
            });
        }
        known.lane = signal.lane.as_deref().and_then(lane).or(known.lane);
        known.weak |= signal.weak;
        if let Some(enforcer) = &signal.enforced_by {
            known.enforced_by = Some(Arc::new(enforcer.clone()));
        }
        known.quoted_as_info = signal.quoted_as_info.or(known.quoted_as_info);
        known.keeps_from_starting = signal.keeps_from_starting.or(known.keeps_from_starting);
        if signal.instance.is_some() {
            known.instance.clone_from(&signal.instance);
        }
        for class in signal
            .is
            .iter()
            .filter_map(|class| SignalClass::parse(class))
        {
            if !known.classes.contains(&class) {
                known.classes.push(class);
                let all = self.by_class.entry(class).or_default();
                all.push(name.to_owned());
                all.sort_unstable();
            }
        }
    }

    /// What the entry says, else the nearest family that does.
    fn inherited<'t, T>(&'t self, signal: &str, of: impl Fn(&'t Traits) -> Option<T>) -> Option<T> {
        if let Some(value) = self.by_name.get(signal).and_then(&of) {
            return Some(value);
        }
        let mut name = signal;
        while let Some((wider, _)) = name.rsplit_once('.') {
            let general = [self.families.get(wider), self.by_name.get(wider)];
            if let Some(value) = general.into_iter().flatten().find_map(&of) {
                return Some(value);
            }
            name = wider;
        }
        None
    }

    /// Whether a signal is of a class.
    #[must_use]
    pub fn is(&self, signal: &str, class: SignalClass) -> bool {
        let known = self.by_name.get(signal);
        known.is_some_and(|known| known.classes.contains(&class))
    }

    /// Whether a process says with a signal that it misses another of its gang: that one is gone, keeps it waiting or is out
    /// of reach.
    #[must_use]
    pub fn misses_another(&self, signal: &str) -> bool {
        let classes = [
            SignalClass::PeerGone,
            SignalClass::KeptWaiting,
            SignalClass::Unreached,
        ];
        classes.iter().any(|class| self.is(signal, *class))
    }

    /// Whether one of several signals is of a class.
    #[must_use]
    pub fn any(&self, signals: &[String], class: SignalClass) -> bool {
        signals.iter().any(|signal| self.is(signal, class))
    }

    /// All signals of a class, by name.
    #[must_use]
    pub fn of(&self, class: SignalClass) -> &[String] {
        self.by_class.get(&class).map_or(&[], Vec::as_slice)
    }

    /// How the names of signals begin that end the state which this one begins: none where nothing
    /// is known to. `None` for what is no state.
    #[must_use]
    pub fn state_ends(&self, signal: &str) -> Option<&[String]> {
        self.inherited(signal, |traits| traits.state_ends.as_deref())
    }

    /// The dependency whose trouble the signal tells of.
    #[must_use]
    pub fn shared(&self, signal: &str) -> Option<&SharedDependency> {
        self.inherited(signal, |traits| traits.shared.as_ref())
    }

    /// Where the signal stands in a machine's history, one of [`LANES`].
    #[must_use]
    pub fn lane(&self, signal: &str) -> Option<MachineEventKind> {
        self.inherited(signal, |traits| traits.lane)
    }

    /// Who enforces what the signal says, where no record names anyone.
    #[must_use]
    pub fn enforced_by(&self, signal: &str) -> Option<&Enforcer> {
        self.inherited(signal, |traits| traits.enforced_by.as_deref())
    }

    /// Whether a program that writes the signal's words as information did not die of them.
    pub(super) fn is_quoted_as_info(&self, signal: &str) -> bool {
        self.inherited(signal, |traits| traits.quoted_as_info)
            .unwrap_or(false)
    }

    /// Whether a pod cannot start for it.
    #[must_use]
    pub fn keeps_from_starting(&self, signal: &str) -> bool {
        self.inherited(signal, |traits| traits.keeps_from_starting)
            .unwrap_or(false)
    }

    /// What became of a cloud instance, one of [`INSTANCE_CHANGES`].
    #[must_use]
    pub fn instance(&self, signal: &str) -> Option<&str> {
        self.inherited(signal, |traits| traits.instance.as_deref())
    }

    /// Whether the signal alone says little.
    #[must_use]
    pub fn is_weak(&self, signal: &str) -> bool {
        self.by_name.get(signal).is_some_and(|known| known.weak)
    }
}
