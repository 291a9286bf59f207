//! What is written outside of the API server.

use serde_json::Value;

use super::truth::Tag;
use crate::time::Time;

/// A line of a container.
#[derive(Clone, Debug)]
pub struct LogLine {
    /// When the runtime read it.
    pub time: Time,
    /// The pod.
    pub pod: usize,
    /// The container.
    pub container: &'static str,
    /// Which start of the container.
    pub restart: u32,
    /// Whether it went to standard error.
    pub error: bool,
    /// Without its line break.
    pub text: String,
    /// What it tells.
    pub tags: Vec<Tag>,
}

/// Who wrote a line on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unit {
    Kernel,
    Kubelet,
    Containerd,
    Systemd,
    /// The machine's own controller: a line of its event log.
    Bmc,
}

impl Unit {
    /// As syslog writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Kubelet => "kubelet",
            Self::Containerd => "containerd",
            Self::Systemd => "systemd",
            Self::Bmc => "bmc",
        }
    }
}

/// A line of a machine.
#[derive(Clone, Debug)]
pub struct HostLine {
    /// When, by a true clock.
    pub time: Time,
    /// When its kernel started.
    pub booted: Time,
    /// The node.
    pub node: usize,
    /// Who wrote it.
    pub unit: Unit,
    /// What.
    pub text: String,
    /// What it tells.
    pub tags: Vec<Tag>,
}

/// A record of the cloud.
#[derive(Clone, Debug)]
pub struct CloudRecord {
    /// What it is about, by its own time.
    pub time: Time,
    /// When it could first be read.
    pub received: Time,
    /// The record.
    pub body: Value,
    /// What it tells.
    pub tags: Vec<Tag>,
}

/// What Prometheus measures here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Part of the time in which a container was held back at its limit of CPU, in percent.
    Throttled,
    /// Part of the time in which tasks of a machine waited for a processor, in percent.
    Waiting,
    /// Part of the time in which a GPU was slowed down for heat, in percent.
    Heat,
    /// Part of the time in which a GPU was slowed down for power, in percent.
    Power,
}

/// Something measured over a time that is not as usual.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// What.
    pub what: Quantity,
    /// Of which machine.
    pub node: usize,
    /// Of which pod.
    pub pod: Option<usize>,
    /// From when.
    pub from: Time,
    /// How much.
    pub percent: i64,
    /// Why, where something came of it.
    pub act: Option<super::ActId>,
}
