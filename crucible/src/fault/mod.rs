//! What goes wrong, each as it really does, and what is true of it.

mod absent;
mod agents;
mod clouds;
mod crashes;
mod deeds;
mod depends;
mod devices;
mod hardware;
mod kinds;
mod machines;
mod members;
mod more;
mod ops;
mod process;
mod ranks;
mod scarce;
mod slow;
mod startup;
mod words;

use crate::plan::{Fault, Planned};
use crate::world::World;

pub use deeds::play as play_deed;

/// Prepares what is in place before the workload is made.
pub fn prepare(w: &mut World, planned: &Planned) {
    match planned.fault {
        Fault::SchedulerDown | Fault::ControllersDown | Fault::DevicePlugin => {
            absent::prepare(w, planned.fault, planned.load);
        }
        Fault::KueueWaits => more::queued(w, planned.load),
        Fault::InitFails => more::init_fails(w, planned.load),
        Fault::Versions | Fault::Rendezvous => crashes::prepare(w, planned.fault, planned.load),
        Fault::FewerGpus => devices::fewer(w, planned.load),
        Fault::ImageKinds => kinds::image(w, planned.load),
        Fault::LongPause => slow::prepare(w, planned.load),
        Fault::NetworkAgent => agents::network_agent(w, planned.load),
        Fault::MembersRefused => members::prepare(w, planned.load),
        fault if fault.is_of_ranks() => ranks::prepare(w, planned.load),
        fault if fault.is_slow() => slow::prepare(w, planned.load),
        fault => startup::prepare(w, fault, planned.load),
    }
}

/// Lets it go wrong now.
pub fn strike(w: &mut World, planned: &Planned) {
    let load = planned.load;
    match planned.fault {
        Fault::Exception
        | Fault::ConfigOrInput
        | Fault::CudaOom
        | Fault::HostOom
        | Fault::Segfault
        | Fault::Divergence
        | Fault::BareKill
        | Fault::Flapping
        | Fault::Liveness
        | Fault::StorageLimit
        | Fault::Hang
        | Fault::NoProgress => process::strike(w, planned.fault, load),
        Fault::HostMaintenance
        | Fault::HostError
        | Fault::SpotReclaimed
        | Fault::InstanceTerminated
        | Fault::Outage
        | Fault::MaintenanceCancelled => clouds::strike(w, planned.fault, load),
        Fault::Gpu
        | Fault::GpuMemory
        | Fault::NvLink
        | Fault::Nic
        | Fault::Disk
        | Fault::Memory
        | Fault::Thermal
        | Fault::XidElsewhere => hardware::strike(w, planned.fault, load),
        Fault::Silent
        | Fault::KernelPanic
        | Fault::SystemOom
        | Fault::Driver
        | Fault::Reboot
        | Fault::Shutdown
        | Fault::NodePressure
        | Fault::NodeBlip => machines::strike(w, planned.fault, load),
        Fault::Storage | Fault::Dns | Fault::Redis | Fault::Service => {
            depends::strike(w, planned.fault, load);
        }
        Fault::FailurePolicy | Fault::RetryLoop | Fault::Quarantined => {
            more::strike(w, planned.fault, load);
        }
        Fault::SlowMachine
        | Fault::SlowSteps
        | Fault::SlowLoader
        | Fault::CpuStarved
        | Fault::LongPause
        | Fault::ThrottledAsUsual => slow::strike(w, planned.fault, load),
        Fault::Crash
        | Fault::LoaderDies
        | Fault::Limits
        | Fault::Credentials
        | Fault::RateLimited
        | Fault::Mismatched
        | Fault::Watchdog
        | Fault::Licence
        | Fault::Clock
        | Fault::Conntrack
        | Fault::ConntrackIdle
        | Fault::Corruption
        | Fault::Warned => crashes::strike(w, planned.fault, load),
        Fault::Pcie
        | Fault::Links
        | Fault::XidOfProgram
        | Fault::XidOfOther
        | Fault::XidAtEnd
        | Fault::GpuFirmware
        | Fault::GpuMemoryKinds
        | Fault::RowsRemapped
        | Fault::LinkBlip
        | Fault::Lockup
        | Fault::ShortLockup
        | Fault::PcieCorrected
        | Fault::Power
        | Fault::PowerSpare
        | Fault::Board => devices::strike(w, planned.fault, load),
        Fault::KueueEvicted => kinds::evicted(w, load),
        Fault::SlowRank | Fault::SlowPassed | Fault::UnevenRanks | Fault::HangMissing => {
            ranks::strike(w, planned.fault, load);
        }
        Fault::KubeletDead
        | Fault::KubeletBlip
        | Fault::RuntimeDies
        | Fault::RuntimeBlip
        | Fault::NamesDown
        | Fault::ProxyDown => agents::strike(w, planned.fault, load),
        Fault::Threads | Fault::PidPressure | Fault::RackPower | Fault::Leak => {
            scarce::strike(w, planned.fault, load);
        }
        _ => ops::strike(w, planned.fault, load),
    }
}

/// A pod of a workload whose process runs, the same for the same seed.
pub(crate) fn victim(w: &mut World, load: usize) -> Option<usize> {
    let alive: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.load == load && pod.gone.is_none() && pod.alive && !pod.stopping
            })
        })
        .collect();
    w.rng.pick(&alive).copied()
}

/// A node on which a pod of a workload runs.
pub(crate) fn node_of(w: &mut World, load: usize) -> Option<usize> {
    let pod = victim(w, load)?;
    w.pods.get(pod)?.node
}

/// Person who looks after the cluster.
pub(crate) const OPERATOR: &str = "bob@lab.example";
