//! What stays in memory of a fact.

use whathappened_model::event::{Event, EventId, Origin, SourceKind};
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::spill::SpillOffset;
use crate::request::was_done;
use crate::symbols::{Symbol, SymbolTable};

/// Reasons of Events of the end of a pod.
const ENDINGS: [&str; 4] = ["Evicted", "Killing", "Preempted", "TaintManagerEviction"];

/// Attributes of records of Slurm that are times by the clock of the record.
const OTHER_TIMES: [&str; 3] = ["last_step_ended", "started", "until"];

/// How far a record tells by which clock its time is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// It names its zone, or has none.
    #[default]
    Named,
    /// It names none: UTC is assumed.
    Local,
    /// It has no time but that of the line before or after it.
    Neighbour,
}

impl Clock {
    fn of(event: &Event) -> Self {
        match event.attribute("time_inferred") {
            Some("zone" | "year") => Self::Local,
            Some("previous" | "next") => Self::Neighbour,
            _ => Self::Named,
        }
    }
}

/// A fact's identity, times, witnesses and main entities.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The fact.
    pub id: EventId,
    /// When it happened.
    pub time: Stamp,
    /// The latest end or last occurrence that any witness told.
    pub end: Option<Stamp>,
    /// The highest count that any witness told.
    pub count: u64,
    /// Uid of the pod it is about.
    pub pod_uid: Symbol,
    /// Name of the pod it is about.
    pub pod: Symbol,
    /// Namespace of what it is about.
    pub namespace: Symbol,
    /// Node it is about or was seen on.
    pub node: Symbol,
    /// The cloud's id of the instance it is about.
    pub instance: Symbol,
    /// Name of the workload it is about.
    pub workload: Symbol,
    /// The experiment that it names itself.
    pub experiment: Symbol,
    /// The machine that it names as no more than where it comes from.
    pub host: Symbol,
    /// The kind of fact.
    pub fact: Symbol,
    /// Whether the rules know what it means.
    pub has_signal: bool,
    /// Whether it is an Event of the end of a pod.
    pub ends_pod: bool,
    /// Whether it is about a pod that bore its name before the one that an object shows.
    pub(crate) of_earlier: bool,
    /// Whether its time is that of something to come: when it was announced, nothing says.
    pub(crate) is_ahead: bool,
    /// Whether it tells a day and no year.
    pub(crate) lacks_year: bool,
    /// By which clock its time is.
    pub(crate) clock: Clock,
    /// By how much that time was moved, since the zone was found out.
    moved: Nanos,
    pub(super) place: SpillOffset,
    seen_by: u32,
    source_kind: SourceKind,
    /// Only breaks links between copies that differ.
    content: u32,
    file: Symbol,
    line: u32,
}

/// Whether a request to make something was refused, or only tried.
fn made_nothing(event: &Event) -> bool {
    event.fact == "k8s.audit.create" && !was_done(event)
}

/// Whether what a cloud announces bears no other time than that for which it announces it.
fn is_ahead(event: &Event) -> bool {
    let due = event.attribute("not_before").and_then(Stamp::parse);
    event.attribute("phase") == Some("announced") && due.is_some_and(|due| due.lo == event.time.lo)
}

impl Row {
    pub(super) fn new(
        event: &Event,
        seen_by: &[SourceKind],
        body: &[u8],
        symbols: &mut SymbolTable,
    ) -> Self {
        // What was not made is not there.
        let pod = event.entities.pod.as_deref();
        let pod = pod.filter(|_| !made_nothing(event));
        Self {
            id: event.id,
            time: event.time,
            end: event.end,
            count: event.count.unwrap_or(0),
            pod_uid: symbols.optional(event.entities.pod_uid.as_deref()),
            pod: symbols.optional(pod),
            namespace: symbols.optional(event.entities.namespace.as_deref()),
            node: symbols.optional(event.entities.node.as_deref()),
            instance: symbols.optional(event.entities.instance.as_deref()),
            workload: symbols.optional(event.entities.workload.as_deref()),
            experiment: symbols.optional(event.entities.experiment.as_deref()),
            host: symbols.optional(event.entities.host.as_deref()),
            fact: symbols.number(&event.fact),
            has_signal: !event.signals.is_empty(),
            is_ahead: is_ahead(event),
            ends_pod: event.fact == "k8s.event"
                && event
                    .reason
                    .as_deref()
                    .is_some_and(|reason| ENDINGS.contains(&reason)),
            of_earlier: event.attribute("earlier_pod").is_some(),
            lacks_year: event.attribute("time_without_year").is_some(),
            clock: Clock::of(event),
            moved: 0,
            place: SpillOffset::default(),
            seen_by: seen_by.iter().fold(0, |all, kind| all | bit(*kind)),
            source_kind: event.source_kind,
            content: crc32fast::hash(body),
            file: symbols.number(&event.origin.file),
            line: u32::try_from(event.origin.line).unwrap_or(u32::MAX),
        }
    }

    /// The copy that is kept: the highest count, then the most precise time,
    /// then the rank of sources, then place, then content.
    pub(super) fn is_better_than(&self, kept: &Self, symbols: &SymbolTable) -> bool {
        let rank = |row: &Self| {
            (
                std::cmp::Reverse(row.count),
                row.time.width(),
                row.time.lo,
                row.source_kind,
            )
        };
        let place = |row: &Self| (symbols.name(row.file).to_owned(), row.line);
        rank(self)
            .cmp(&rank(kept))
            .then_with(|| place(self).cmp(&place(kept)))
            .then_with(|| self.content.cmp(&kept.content))
            .is_lt()
    }

    pub(super) fn placed(self, place: SpillOffset) -> Self {
        Self { place, ..self }
    }

    pub(super) fn with_witnesses_of(self, other: &Self) -> Self {
        Self {
            seen_by: self.seen_by | other.seen_by,
            end: self.end.max(other.end),
            count: self.count.max(other.count),
            ..self
        }
    }

    /// The same, seen by the other's witnesses as well.
    pub(super) fn seen_with(self, other: &Self) -> Self {
        Self {
            seen_by: self.seen_by | other.seen_by,
            ..self
        }
    }

    pub(super) fn grow(&mut self, count: Option<u64>, last: Option<Stamp>) {
        self.count = self.count.max(count.unwrap_or(0));
        if last.is_some_and(|last| last.hi > self.time.hi) {
            self.end = self.end.max(last);
        }
        self.seen_by |= bit(SourceKind::KubernetesAudit);
    }

    /// Moves it to the time that it is of in another zone.
    pub(super) fn shift(&mut self, by: Nanos) {
        self.time = self.time.shift(by);
        self.end = self.end.map(|end| end.shift(by));
        self.moved = self.moved.saturating_add(by);
    }

    /// Whether it was moved so.
    pub(crate) fn was_moved(&self) -> bool {
        self.moved != 0
    }

    /// Moves the time of its body likewise.
    pub(super) fn place(&self, event: &mut Event) {
        if self.moved != 0 && event.time != Stamp::OPEN {
            event.time = event.time.shift(self.moved);
            event.end = event.end.map(|end| end.shift(self.moved));
            event.set_attribute("time_inferred", Some("container"));
            for other in OTHER_TIMES
                .iter()
                .filter(|_| self.source_kind == SourceKind::Slurm)
            {
                let moved = event.attribute(other).and_then(Stamp::parse);
                let moved = moved.map(|time| rfc3339(time.lo.saturating_add(self.moved)));
                if moved.is_some() {
                    event.set_attribute(other, moved);
                }
            }
        }
    }

    /// Puts back what merging learned.
    pub(super) fn finish(&self, event: &mut Event, symbols: &SymbolTable) {
        self.place(event);
        event.end = self.end;
        event.count = (self.count > 0).then_some(self.count);
        event.origin = Origin {
            file: symbols.name(self.file).into(),
            line: u64::from(self.line),
        };
    }

    /// Connectors that witnessed it, in rank order.
    pub fn seen_by(&self) -> impl Iterator<Item = SourceKind> + use<> {
        let seen = self.seen_by;
        SourceKind::ALL
            .into_iter()
            .filter(move |kind| seen & bit(*kind) != 0)
    }

    /// The connector of the copy that is kept.
    #[must_use]
    pub fn source_kind(&self) -> SourceKind {
        self.source_kind
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> Symbol {
        self.file
    }

    /// The line of that file it starts at, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        u64::from(self.line)
    }

    /// The last instant it can speak of.
    #[must_use]
    pub fn last(&self) -> Nanos {
        self.end
            .map_or(self.time.hi, |end| end.hi.max(self.time.hi))
    }
}

fn bit(kind: SourceKind) -> u32 {
    1 << (kind as u8)
}
