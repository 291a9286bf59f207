//! Which lines are worth reading at all.
//!
//! Nearly every line of a machine's log means nothing for a training run, and
//! there are millions. One search for the words below over whole blocks finds
//! the few that may; only these are taken apart. Every pattern that a signal
//! tries on `node.log` needs one of these words in what it matches: a test of
//! the signals holds each example against [`tells`].
//!
//! A person's own signals look for words of their own, which nobody can know
//! here: whoever loads the rules says them once ([`also_look_for`]), before
//! anything is read.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Words of lines that may mean something.
const TELLING: &[&str] = &[
    // GPUs and their switches
    "NVRM: Xid",
    "SXid (",
    "fallen off the bus",
    "RmInitAdapter failed",
    "NVRM: API mismatch",
    "Driver/library version mismatch",
    "GPU likely needs to be reset",
    "NVSwitch fatal error",
    "XidCriticalError",
    // network cards and buses
    "Port module event",
    "Link DOWN",
    "Link ACTIVE",
    ": Fatal error ",
    "Health issue observed",
    "handling bad device",
    ": Link down",
    ": Link up",
    "Link is Down",
    "health compromised",
    "health poll failed",
    "assert_var",
    "insufficient power on the PCIe",
    "AER: ",
    "PCIe Bus Error",
    // memory, processors
    "Hardware Error]",
    "EDAC ",
    "ncorrected hardware memory error",
    "Memory failure: 0x",
    "achine check",
    "critical temperature reached",
    "HARDWARE PROTECTION",
    "pciehp",
    "fork rejected by pids",
    "Will cause a leak of a command resource",
    "dmin queue is closed",
    // the kernel
    "oom-kill",
    "ut of memory: Kill",
    "ut of memory (oom_kill_allocating_task): Kill",
    "invoked oom-killer",
    "killed by the OOM killer",
    "Kernel panic",
    "BUG: ",
    "general protection fault",
    "divide error",
    "Oops: ",
    "soft lockup",
    "hard LOCKUP",
    "rcu: INFO",
    "blocked for more than",
    "segfault at ",
    "traps: ",
    "file-max limit",
    "conntrack: table full",
    "System clock wrong by",
    "System clock was stepped",
    "Can't synchronise",
    "time jump detected",
    "Munge decode failed",
    // storage
    "nfs: server",
    "Lock reclaim failed",
    "LustreError",
    "I/O error",
    "emounting filesystem read-only",
    "EXT4-fs error",
    "Shutting down filesystem",
    "reset controller",
    "Disabling device after reset",
    "Disk failure on",
    "critical medium error",
    // starting and stopping
    "Linux version ",
    "will reboot now",
    "will power off now",
    "ystem is rebooting",
    "ystem is powering",
    "ower key pressed",
    "target Reboot",
    "target System Reboot",
    "target Power",
    "target System Power",
    "target Shutdown",
    "target System Shutdown",
    "target - System Reboot",
    "Shutting down.",
    "Syncing filesystems and block devices",
    "to remaining processes",
    "Journal stopped",
    "reboot: ",
    "shutting down for system",
    "Watchdog timeout",
    "watchdog did not stop",
    "hardware watchdog",
    "detected shutdown event",
    // who asked for it
    "/reboot",
    "/shutdown",
    "/poweroff",
    "/halt",
    "systemctl reboot",
    "systemctl stop",
    "systemctl restart",
    "systemctl kill",
    "/kill ",
    "/pkill ",
    "/killall ",
    "COMMAND=kill ",
    "COMMAND=pkill ",
    "COMMAND=killall ",
    "sending SIGTERM to process",
    "sending SIGKILL to process",
    "systemctl poweroff",
    "chassis power",
    // the runtime and the kubelet
    "Failed with result 'signal",
    "ain process exited",
    "result of limit",
    // (How their services are described, whether they stop or have stopped.)
    "containerd container r",
    "Runtime Interf",
    "ocker Appl",
    "Stopped containerd",
    "Stopped crio",
    "Stopped docker",
    "Starting apt-daily-upgrade",
    "Starting dnf-automatic-install",
    "Starting Daily apt upgrade",
    "runtime time limit",
    "systemd-oomd killed",
    "Killed /kubepods",
    "msg=\"Stopping /",
    "State.ExitCode=",
    "Failed with result 'core-dump",
    "Failed with result 'watchdog",
    "Failed with result 'oom-kill",
    "Failed with result 'timeout",
    "PLEG is not healthy",
    "(containerd-shim",
    "(conmon",
    "(docker-containe",
    "upgrade containerd",
    "upgrade docker",
    "upgrade cri-o",
    "upgrade moby",
    "upgrade runc",
    "attempting to reclaim",
    // upgrades and tools
    "reboot-required",
    "Shutdown msg:",
    "will be upgraded",
    "Reboot required",
    "ommanding reboot",
    "raining node",
    "resources updated",
    "exception handlers",
    "action restart",
    "] restarted",
    "Status transition from",
    "owering off",
    "arking node broken",
    // Slurm
    "slurmstepd: error",
    "Could not open std",
    "CANCELLED AT",
    // which GPU sits where: lines after it are told with the GPU's own name
    PLACES,
];

/// The driver's line that says which GPU sits where; it means nothing by itself.
pub(super) const PLACES: &str = "NVRM: GPU at ";

/// What systemd says first of a unit that it was asked to stop.
const STOPPING: &str = "Stopping ";

/// Words of lines that tell when others were.
const TIMING: &[&str] = &[
    "audit(",
    "setting system clock to",
    "boot_time=",
    "Starting Chef",
    "Run complete in",
    // Of these, a service by its unit's name means something: [`stops_a_service`].
    STOPPING,
    "Node ID: ",
    // Its daemons speak of other machines; what they say is read in `slurm`.
    "slurmctld",
    "slurmd",
    // Their own files do not say whose they are on each line.
    "JobId=",
    "] update_node: ",
    "] drain_nodes: ",
    "ot responding",
    "now responding",
    "ResumeTimeout",
    "has authentication error",
    "count reported lower than configured",
    "returned to service",
    "reboot request queued",
    "Prolog/Epilog failure",
    "Prolog or job env setup failure",
    "-- Boot ",
    "-- Reboot --",
    "-- Logs begin at",
    "-- Journal begins at",
    // A text that is no text: journalctl prints bytes as numbers.
    "\"MESSAGE\":[",
    "\"MESSAGE\" : [",
];

fn search(words: impl Iterator<Item = &'static str>) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok()
}

static TELLS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| search(TELLING.iter().copied()));

static ANY: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| search(TELLING.iter().chain(TIMING).copied()));

/// Words that are not built in, and the searches with them.
#[derive(Debug)]
struct ExtraWords {
    words: Vec<String>,
    /// These words alone, in any case.
    tells: AhoCorasick,
    /// These and all others, in any case: one pass finds more than it must,
    /// and [`tells`] decides.
    any: AhoCorasick,
}

static OWN: RwLock<Option<Arc<ExtraWords>>> = RwLock::new(None);

fn own() -> Option<Arc<ExtraWords>> {
    OWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Looks for these words, too, wherever a machine's lines are read from now on.
/// Letters count in any case. Words that were said before stay.
///
/// # Errors
/// When there are too many to search for.
pub fn also_look_for(words: impl IntoIterator<Item = String>) -> Result<(), String> {
    let mut kept = OWN.write().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<String> = kept.as_ref().map_or_else(Vec::new, |own| own.words.clone());
    all.extend(words);
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Ok(());
    }
    let search = |words: &mut dyn Iterator<Item = &str>| {
        AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(words)
            .map_err(|error| error.to_string())
    };
    let built_in = TELLING.iter().chain(TIMING).copied();
    let tells = search(&mut all.iter().map(String::as_str))?;
    let any = search(&mut built_in.chain(all.iter().map(String::as_str)))?;
    *kept = Some(Arc::new(ExtraWords {
        words: all,
        tells,
        any,
    }));
    Ok(())
}

/// Whether a line may mean something to somebody's own signals.
pub(super) fn tells_owner(text: &str) -> bool {
    own().is_some_and(|own| own.tells.is_match(text))
}

/// Whether systemd stops a service that it names. Who logs out ends services
/// of their own (`user@1000.service`) on any healthy machine: not those.
fn stops_a_service(text: &str) -> bool {
    text.split_once(STOPPING).is_some_and(|(_, unit)| {
        let unit = unit.split_whitespace().next().unwrap_or_default();
        unit.trim_end_matches('.').ends_with(".service") && !unit.starts_with("user")
    })
}

/// Whether a line may mean something.
#[must_use]
pub fn tells(text: &str) -> bool {
    TELLS.as_ref().is_none_or(|words| words.is_match(text))
        || stops_a_service(text)
        || tells_owner(text)
}

/// What one of must stand in a line that may mean something.
pub(crate) fn words() -> &'static [&'static str] {
    TELLING
}

/// The first place from `from` on where something stands that is worth reading.
pub(super) fn next(block: &[u8], from: usize) -> Option<usize> {
    let own = own();
    let Some(words) = own.as_ref().map(|own| &own.any).or(ANY.as_ref()) else {
        return (from < block.len()).then_some(from);
    };
    words.find(&block[from..]).map(|found| from + found.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_healthy_machines_say_is_passed_over() {
        for line in [
            "systemd[1]: Reached target Network is Online.",
            "systemd[1]: Started Session 4 of user root.",
            "CRON[77]: (root) CMD (run-parts /etc/cron.hourly)",
            "sshd[77]: Accepted publickey for alice from 10.0.0.5",
            "kernel: EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode",
            "kubelet[9]: I1121 15:20:27.000001 9 kubelet.go:1] \"SyncLoop ADD\"",
            "systemd[1]: Stopping User Manager for UID 1000...",
            "systemd[1]: Stopping user@1000.service - User Manager for UID 1000...",
            "hyperkube[9]: I1121 reflector.go:225] Stopping reflector *v1.Secret (0s) from object",
        ] {
            assert!(!tells(line), "{line}");
        }
        assert!(tells(
            "systemd[1]: Stopping train.service - LLM training..."
        ));
        assert!(tells(
            "kernel: NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."
        ));
        let block = b"a\nb audit(1\n";
        assert_eq!(next(block, 0), Some(4));
        assert_eq!(next(block, 5), None);
    }

    #[test]
    fn words_of_somebodys_own_signals_are_looked_for_too() {
        let line = "kernel: coolantd: Loop 3 of the manifold ran dry";
        let block = format!("a\n{line}\n");
        assert!(!tells(line) && next(block.as_bytes(), 0).is_none());
        also_look_for(["of the manifold ran dry".to_owned()]).unwrap();
        also_look_for(["quench detected".to_owned()]).unwrap();
        assert!(tells(line) && tells("Quench Detected in magnet 4"));
        assert!(!tells("kernel: coolantd: all loops are filled"));
        assert!(next(block.as_bytes(), 0).is_some());
        assert!(tells("kernel: NVRM: Xid (PCI:0000:9b:00): 79, x"));
    }
}
