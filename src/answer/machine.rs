//! Machines in an answer: which one an incident is of, and its earlier faults.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A machine as an incident's records name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Machine {
    /// Name of the node or host.
    pub node: Option<String>,
    /// The cloud's id of the instance that the node was then.
    pub instance: Option<String>,
    /// The physical host below, where a record names it.
    pub host: Option<String>,
    /// The GPU, if the root cause is about one.
    pub gpu: Option<Gpu>,
    /// The incident is a fault of this machine, not of the workload and not of a person or tool.
    pub at_fault: bool,
}

/// A GPU, as its records identify it.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
pub struct Gpu {
    /// Its own id, `GPU-…`.
    pub uuid: Option<String>,
    /// Where it sits on the bus: `0000:9b:00`.
    pub pci: Option<String>,
    /// Its index on its host.
    pub index: Option<i32>,
}

impl Gpu {
    /// Whether two records speak of one GPU of a machine.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (&self.uuid, &other.uuid, &self.pci, &other.pci) {
            (Some(a), Some(b), ..) => a == b,
            (_, _, Some(a), Some(b)) => a == b,
            _ => self.index.is_some() && self.index == other.index,
        }
    }
}

/// Earlier faults of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MachineHistory {
    /// The machine: a node's name, else an instance's id.
    pub machine: String,
    /// The maximum number of days it looked back.
    #[schema(minimum = 1)]
    pub days: u32,
    /// Since when records are at hand, within those days.
    #[schema(format = DateTime)]
    pub since: String,
    /// Faults since then, this incident included where `with_this` says so.
    #[schema(minimum = 1)]
    pub count: usize,
    /// This incident is itself one of them.
    pub with_this: bool,
    /// The earlier ones, oldest first.
    pub faults: Vec<PastFault>,
}

/// One fault of a machine: records of it that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PastFault {
    /// Its first record's time.
    #[schema(format = DateTime)]
    pub time: String,
    /// Its last record's time.
    #[schema(format = DateTime)]
    pub end: String,
    /// Cause id, such as `hw.gpu`.
    pub cause: String,
    /// What its record names: `Xid 79`.
    pub what: Option<String>,
    /// The GPU that it is about, if known.
    pub gpu: Option<Gpu>,
    /// It is the GPU that this incident is about.
    pub same_gpu: bool,
    /// How many records report it; 0 if only an explained incident does.
    pub records: usize,
    /// The first of them, at most eight.
    pub event_ids: Vec<String>,
}
