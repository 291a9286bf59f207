//! A fact as the rules see it.

use whathappened_model::event::{EventId, SourceKind};
use whathappened_model::time::{Nanos, Stamp};

use crate::evidence::EvidenceRow;
use crate::graph::{TaskRow, WorkloadRow};
use crate::symbols::Symbol;

/// How far something planned or announced has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The record does not tell.
    Unstated,
    /// It is to come.
    Announced,
    /// It has begun.
    Started,
    /// It was done, at that moment.
    Acted,
    /// It is over.
    Ended,
}

impl Phase {
    /// The phase of a record's own word.
    #[must_use]
    pub fn parse(word: Option<&str>) -> Self {
        match word {
            Some("announced") => Self::Announced,
            Some("started") => Self::Started,
            Some("acted") => Self::Acted,
            Some("ended") => Self::Ended,
            _ => Self::Unstated,
        }
    }

    /// That word.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Unstated => None,
            Self::Announced => Some("announced"),
            Self::Started => Some("started"),
            Self::Acted => Some("acted"),
            Self::Ended => Some("ended"),
        }
    }
}

/// One signal of one record. A record with two signals is two facts.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The record's row in the evidence.
    pub row: EvidenceRow,
    /// The record.
    pub id: EventId,
    /// What it means.
    pub signal: Symbol,
    /// When it happened.
    pub time: Stamp,
    /// The earliest that what it tells of can have begun: some things are reported late.
    pub onset: Nanos,
    /// When it ended or was last seen.
    pub end: Option<Stamp>,
    /// How often it was seen.
    pub count: u64,
    /// The pod it is about, if any.
    pub pod: Option<TaskRow>,
    /// The workload it is about, if any.
    pub workload: Option<WorkloadRow>,
    /// The node it is about or was seen on.
    pub node: Symbol,
    /// The cloud instance it is about.
    pub instance: Symbol,
    /// How far what it announces has come.
    pub phase: Phase,
    /// The operation or announcement that it is part of.
    pub operation: Symbol,
    /// Regions and zones that it is about, in one spelling, parted by spaces.
    pub places: Symbol,
    /// The pod that had the device that it is about, by name.
    pub holder: Symbol,
    /// What its source calls the cluster that it is from.
    pub cluster: Symbol,
    /// The node pool or group of machines that it is about: `cluster/pool`, in lower case.
    pub pool: Symbol,
    /// When what it announces is due.
    pub due: Option<Stamp>,
    /// From when on it announced nothing any more: it was moved, called off, or over.
    pub withdrawn: Option<Nanos>,
    /// Its container.
    pub container: Symbol,
    /// Who did it.
    pub actor: Symbol,
    /// Another pod that it names (created, deleted, preemptor), if any.
    pub other: Option<TaskRow>,
    /// What it is about beside entities: a resource, a condition, an exception.
    pub detail: Symbol,
    /// What a program could not reach: a name, an address.
    pub target: Symbol,
    /// A process's exit code.
    pub exit_code: Option<i32>,
    /// The rank that it is about.
    pub rank: Option<i32>,
    /// Whether it is a line of a log.
    pub is_line: bool,
    /// Whether it is a line of a log that reads like one of a kernel or a machine's own services.
    pub is_of_kernel: bool,
    /// Whether it is a line of a log that its own logger gives a level below error.
    pub is_mild: bool,
    /// Whether its lines stand in the middle of a text that a program printed.
    pub is_amid_text: bool,
    /// The connector.
    pub source_kind: SourceKind,
}
