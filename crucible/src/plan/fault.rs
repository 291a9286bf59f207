//! What can go wrong.

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
    // Classes of published failure studies; drawn apart.
    SlowMachine,
    SlowSteps,
    SlowLoader,
    CpuStarved,
    Crash,
    LoaderDies,
    Limits,
    Credentials,
    RateLimited,
    Mismatched,
    FewerGpus,
    Versions,
    Rendezvous,
    Watchdog,
    Licence,
    Clock,
    Conntrack,
    Corruption,
    Pcie,
    Links,
    XidOfProgram,
    GpuFirmware,
    GpuMemoryKinds,
    Lockup,
    Power,
    Board,
    ImageKinds,
    KueueEvicted,
    // Who runs a cluster and is not there; drawn apart.
    SchedulerDown,
    ControllersDown,
    DevicePlugin,
    // What the tool has learnt since; drawn apart (`plan/recent.rs`).
    SlowRank,
    HangMissing,
    KubeletDead,
    RuntimeDies,
    NetworkAgent,
    NamesDown,
    ProxyDown,
    MembersRefused,
    Threads,
    PidPressure,
    RackPower,
    Leak,
    // Nothing ends, but it looks like it.
    XidElsewhere,
    TaintElsewhere,
    MaintenanceCancelled,
    DrainOfFinished,
    NodeBlip,
    // The same records as of a class, where they did no harm; drawn apart.
    LongPause,
    ThrottledAsUsual,
    XidOfOther,
    XidAtEnd,
    RowsRemapped,
    LinkBlip,
    ShortLockup,
    PcieCorrected,
    PowerSpare,
    ConntrackIdle,
    Warned,
    // The same of what was learnt since.
    SlowPassed,
    UnevenRanks,
    RuntimeBlip,
    KubeletBlip,
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

    /// Classes of published failure studies, drawn apart (`plan/classes.rs`), the more often the
    /// larger their share or the danger of false blame.
    pub const CLASSES: &[(Self, u64)] = &[
        (Self::SlowMachine, 5),
        (Self::SlowSteps, 3),
        (Self::SlowLoader, 2),
        (Self::CpuStarved, 4),
        (Self::Crash, 3),
        (Self::LoaderDies, 4),
        (Self::Limits, 3),
        (Self::Credentials, 3),
        (Self::RateLimited, 3),
        (Self::Mismatched, 2),
        (Self::FewerGpus, 3),
        (Self::Versions, 4),
        (Self::Rendezvous, 3),
        (Self::Watchdog, 2),
        (Self::Licence, 1),
        (Self::Clock, 2),
        (Self::Conntrack, 2),
        (Self::Corruption, 3),
        (Self::Pcie, 3),
        (Self::Links, 4),
        (Self::XidOfProgram, 5),
        (Self::GpuFirmware, 3),
        (Self::GpuMemoryKinds, 3),
        (Self::Lockup, 3),
        (Self::Power, 2),
        (Self::Board, 2),
        (Self::ImageKinds, 3),
        (Self::KueueEvicted, 2),
    ];

    /// Who runs a cluster and is not there. None of these is in `ALL`.
    pub const ABSENT: &[Self] = &[
        Self::SchedulerDown,
        Self::ControllersDown,
        Self::DevicePlugin,
    ];

    /// What the tool has learnt since the others were drawn, the more often the more kinds it has.
    pub const RECENT: &[(Self, u64)] = &[
        (Self::SlowRank, 6),
        (Self::HangMissing, 5),
        (Self::KubeletDead, 3),
        (Self::RuntimeDies, 3),
        (Self::NetworkAgent, 2),
        (Self::NamesDown, 2),
        (Self::ProxyDown, 2),
        (Self::MembersRefused, 5),
        (Self::Threads, 3),
        (Self::PidPressure, 2),
        (Self::RackPower, 3),
        (Self::Leak, 4),
        (Self::SlowPassed, 4),
        (Self::UnevenRanks, 2),
        (Self::RuntimeBlip, 2),
        (Self::KubeletBlip, 2),
        (Self::SchedulerDown, 2),
        (Self::ControllersDown, 2),
        (Self::DevicePlugin, 2),
    ];

    /// Of those, what did no harm.
    pub const RECENT_HARMLESS: &[Self] = &[
        Self::SlowPassed,
        Self::UnevenRanks,
        Self::RuntimeBlip,
        Self::KubeletBlip,
    ];

    /// What befalls a run that works, one of several.
    pub const OF_SEVERAL: &[Self] = &[
        Self::Exception,
        Self::CudaOom,
        Self::HostOom,
        Self::Segfault,
        Self::BareKill,
        Self::Divergence,
        Self::StorageLimit,
        Self::Preempted,
        Self::NodePressure,
        Self::HostMaintenance,
        Self::Drained,
        Self::Tainted,
        Self::NodeDeleted,
        Self::ScaleDown,
        Self::PodsDeleted,
        Self::HostError,
        Self::SpotReclaimed,
        Self::InstanceTerminated,
        Self::Gpu,
        Self::GpuMemory,
        Self::NvLink,
        Self::Nic,
        Self::Disk,
        Self::Memory,
        Self::Silent,
        Self::KernelPanic,
        Self::SystemOom,
        Self::Driver,
        Self::Reboot,
        Self::Shutdown,
        Self::Storage,
        Self::Dns,
        Self::Redis,
        Self::Service,
        Self::LoaderDies,
        Self::Credentials,
        Self::Pcie,
        Self::XidOfProgram,
        Self::GpuFirmware,
        Self::Power,
        Self::Threads,
        Self::RackPower,
    ];

    /// The same records as of a class, where they did no harm.
    pub const HARMLESS: &[Self] = &[
        Self::LongPause,
        Self::ThrottledAsUsual,
        Self::XidOfOther,
        Self::XidAtEnd,
        Self::RowsRemapped,
        Self::LinkBlip,
        Self::ShortLockup,
        Self::PcieCorrected,
        Self::PowerSpare,
        Self::ConntrackIdle,
        Self::Warned,
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
        ) || Self::HARMLESS.contains(&self)
            || Self::RECENT_HARMLESS.contains(&self)
    }

    /// Those in which a run goes on, more slowly.
    #[must_use]
    pub fn is_slow(self) -> bool {
        matches!(
            self,
            Self::SlowMachine
                | Self::SlowSteps
                | Self::SlowLoader
                | Self::CpuStarved
                | Self::SlowRank
        )
    }

    /// Those that only a Job, or what has one, can have.
    #[must_use]
    pub fn is_of_jobs(self) -> bool {
        matches!(
            self,
            Self::Deadline
                | Self::KueuePreempted
                | Self::KueueEvicted
                | Self::KueueWaits
                | Self::FailurePolicy
                | Self::RetryLoop
                | Self::Quota
                | Self::MissingAccount
                | Self::Admission
                | Self::ControlPlane
                | Self::ControllersDown
                | Self::MembersRefused
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
                | Self::Versions
                | Self::FewerGpus
                | Self::Rendezvous
                | Self::ImageKinds
                | Self::SchedulerDown
                | Self::ControllersDown
                | Self::DevicePlugin
                | Self::NetworkAgent
                | Self::MembersRefused
        )
    }

    /// Those that only a cloud can do.
    #[must_use]
    pub fn is_of_clouds(self) -> bool {
        matches!(
            self,
            Self::HostMaintenance
                | Self::HostError
                | Self::SpotReclaimed
                | Self::InstanceTerminated
                | Self::ScaleDown
        )
    }

    /// Those that only a program with a GPU can have.
    #[must_use]
    pub fn is_of_gpus(self) -> bool {
        matches!(
            self,
            Self::Gpu
                | Self::GpuMemory
                | Self::NvLink
                | Self::Driver
                | Self::CudaOom
                | Self::Quarantined
                | Self::XidOfProgram
                | Self::GpuFirmware
                | Self::GpuMemoryKinds
                | Self::FewerGpus
                | Self::Pcie
                | Self::DevicePlugin
                | Self::Versions
        )
    }

    /// Those that are about the ranks of a gang, and how fast each is.
    #[must_use]
    pub fn is_of_ranks(self) -> bool {
        matches!(
            self,
            Self::SlowRank | Self::SlowPassed | Self::UnevenRanks | Self::HangMissing
        )
    }
}
