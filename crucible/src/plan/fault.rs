//! What can go wrong, and what people do afterwards.

use serde::{Deserialize, Serialize};

/// What can go wrong. Each is played by a function of its own in `fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Fault {
    // The program's own end.
    Exception,
    ConfigOrInput,
    BadCommand,
    CudaOom,
    HostOom,
    Segfault,
    Deadline,
    Liveness,
    Readiness,
    StorageLimit,
    Divergence,
    BareKill,
    Flapping,
    // The scheduler and quota.
    Preempted,
    KueuePreempted,
    Quota,
    MissingAccount,
    Admission,
    NoCapacity,
    NoSuchNode,
    NodePressure,
    // People and operators.
    HostMaintenance,
    NodeUpgrade,
    Drained,
    DrainBlocked,
    Tainted,
    NodeDeleted,
    ScaleDown,
    PodsDeleted,
    JobDeleted,
    NamespaceDeleted,
    ScaledToZero,
    ConfigChange,
    // Clouds.
    HostError,
    SpotReclaimed,
    InstanceTerminated,
    CapacityExhausted,
    CloudQuota,
    Outage,
    // Hardware.
    Gpu,
    GpuMemory,
    NvLink,
    Nic,
    Disk,
    Memory,
    Thermal,
    // Nodes.
    Silent,
    KernelPanic,
    SystemOom,
    Runtime,
    Driver,
    Reboot,
    Shutdown,
    // What a run depends on.
    ImagePull,
    Secret,
    Volume,
    Storage,
    Dns,
    Redis,
    Service,
    ControlPlane,
    SandboxNetwork,
    // Hangs.
    Hang,
    NoProgress,
    // What clusters have besides; drawn apart.
    FailurePolicy,
    RetryLoop,
    Quarantined,
    KueueWaits,
    InitFails,
    // Nothing ends, but it looks like it.
    XidElsewhere,
    TaintElsewhere,
    MaintenanceCancelled,
    DrainOfFinished,
    NodeBlip,
}

impl Fault {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Exception,
        Self::ConfigOrInput,
        Self::BadCommand,
        Self::CudaOom,
        Self::HostOom,
        Self::Segfault,
        Self::Deadline,
        Self::Liveness,
        Self::Readiness,
        Self::StorageLimit,
        Self::Divergence,
        Self::BareKill,
        Self::Flapping,
        Self::Preempted,
        Self::KueuePreempted,
        Self::Quota,
        Self::MissingAccount,
        Self::Admission,
        Self::NoCapacity,
        Self::NoSuchNode,
        Self::NodePressure,
        Self::HostMaintenance,
        Self::NodeUpgrade,
        Self::Drained,
        Self::DrainBlocked,
        Self::Tainted,
        Self::NodeDeleted,
        Self::ScaleDown,
        Self::PodsDeleted,
        Self::JobDeleted,
        Self::NamespaceDeleted,
        Self::ScaledToZero,
        Self::ConfigChange,
        Self::HostError,
        Self::SpotReclaimed,
        Self::InstanceTerminated,
        Self::CapacityExhausted,
        Self::CloudQuota,
        Self::Outage,
        Self::Gpu,
        Self::GpuMemory,
        Self::NvLink,
        Self::Nic,
        Self::Disk,
        Self::Memory,
        Self::Thermal,
        Self::Silent,
        Self::KernelPanic,
        Self::SystemOom,
        Self::Runtime,
        Self::Driver,
        Self::Reboot,
        Self::Shutdown,
        Self::ImagePull,
        Self::Secret,
        Self::Volume,
        Self::Storage,
        Self::Dns,
        Self::Redis,
        Self::Service,
        Self::ControlPlane,
        Self::SandboxNetwork,
        Self::Hang,
        Self::NoProgress,
        Self::XidElsewhere,
        Self::TaintElsewhere,
        Self::MaintenanceCancelled,
        Self::DrainOfFinished,
        Self::NodeBlip,
    ];

    /// Those that are drawn apart, so that the seeds of the others stay as they are.
    pub const MORE: &[Self] = &[
        Self::FailurePolicy,
        Self::RetryLoop,
        Self::Quarantined,
        Self::KueueWaits,
        Self::InitFails,
    ];

    /// Those that only look like the end of a run.
    #[must_use]
    pub fn is_look_alike(self) -> bool {
        matches!(
            self,
            Self::XidElsewhere
                | Self::TaintElsewhere
                | Self::MaintenanceCancelled
                | Self::DrainOfFinished
                | Self::NodeBlip
        )
    }

    /// Those that only a Job, or what has one, can have.
    #[must_use]
    pub fn is_of_jobs(self) -> bool {
        matches!(
            self,
            Self::Deadline
                | Self::KueuePreempted
                | Self::KueueWaits
                | Self::FailurePolicy
                | Self::RetryLoop
                | Self::Quota
                | Self::MissingAccount
                | Self::Admission
                | Self::ControlPlane
        )
    }

    /// Those that keep a run from starting; they are in place when it is made.
    #[must_use]
    pub fn is_before_start(self) -> bool {
        matches!(
            self,
            Self::Quota
                | Self::MissingAccount
                | Self::Admission
                | Self::NoCapacity
                | Self::NoSuchNode
                | Self::CapacityExhausted
                | Self::CloudQuota
                | Self::ImagePull
                | Self::Secret
                | Self::Volume
                | Self::SandboxNetwork
                | Self::Runtime
                | Self::BadCommand
                | Self::ControlPlane
                | Self::Readiness
                | Self::KueueWaits
                | Self::InitFails
        )
    }
}

/// What people and controllers do after a death, on the same machines and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Aftermath {
    TaintNode,
    DrainNode,
    RebootNode,
    DeleteNode,
    DeleteRun,
    DeleteNamespace,
    Rerun,
    XidLater,
    SameNameElsewhere,
}

impl Aftermath {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::TaintNode,
        Self::DrainNode,
        Self::RebootNode,
        Self::DeleteNode,
        Self::DeleteRun,
        Self::DeleteNamespace,
        Self::Rerun,
        Self::XidLater,
        Self::SameNameElsewhere,
    ];
}
