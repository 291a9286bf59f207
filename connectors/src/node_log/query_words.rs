//! What a log store is asked for, so that it gives the lines that mean something.
//!
//! Stores that look for parts of lines are asked for the words by which the
//! reader itself finds lines ([`super::filter`]). Stores that know only whole
//! words are asked for these: each line that means something holds one of them.

/// Whole words in sequence, in lower case; what stands between them does not count.
pub(crate) const PHRASES: &[&str] = &[
    // GPUs, their switches, network cards and buses
    "nvrm xid",
    "nvrm gpu at",
    "sxid",
    "nvswitch fatal error",
    "fallen off the bus",
    "rminitadapter failed",
    "api mismatch",
    "driver library version mismatch",
    "gpu likely needs to be reset",
    "xidcriticalerror",
    "port module event",
    "link down",
    "link up",
    "link is down",
    "health compromised",
    "health poll failed",
    "assert_var",
    "insufficient power on the pcie",
    "aer",
    "pcie bus error",
    "pciehp",
    "critical temperature reached",
    "hardware protection shutdown",
    "fork rejected by pids",
    "cause a leak of a command resource",
    "admin queue is closed",
    // memory, processors, the kernel
    "hardware error",
    "edac",
    "hardware memory error",
    "memory failure",
    "machine check",
    "oom kill",
    "oom killer",
    "main process exited",
    "result of limit",
    "runtime time limit",
    "systemd oomd killed",
    "killed kubepods",
    "sending sigterm to process",
    "sending sigkill to process",
    "systemctl stop",
    "systemctl restart",
    "systemctl kill",
    "out of memory",
    "kernel panic",
    "bug",
    "general protection fault",
    "divide error",
    "oops",
    "soft lockup",
    "hard lockup",
    "rcu info",
    "blocked for more than",
    "segfault at",
    "traps",
    "file max limit",
    "nf_conntrack table full",
    "system clock wrong by",
    "system clock was stepped",
    "can t synchronise",
    "time jump detected",
    "munge decode failed",
    // storage
    "nfs server",
    "lock reclaim failed",
    "lustreerror",
    "i o error",
    "remounting filesystem read only",
    "ext4 fs error",
    "shutting down filesystem",
    "reset controller",
    "disabling device after reset",
    "disk failure on",
    "critical medium error",
    // starting and stopping
    "linux version",
    "reboot",
    "rebooting",
    "shutdown",
    "poweroff",
    "halt",
    "will power off",
    "system is powering",
    "power key pressed",
    "target power",
    "target system power",
    "shutting down",
    "syncing filesystems and block devices",
    "to remaining processes",
    "journal stopped",
    "watchdog timeout",
    "watchdog did not stop",
    "hardware watchdog",
    "chassis power",
    // the runtime, the kubelet, tools
    "failed with result",
    "pleg is not healthy",
    "containerd shim",
    "conmon",
    "docker containe",
    "upgrade containerd",
    "upgrade docker",
    "upgrade cri o",
    "upgrade moby",
    "upgrade runc",
    "msg stopping",
    "stopping",
    "stopped containerd",
    "stopped crio",
    "stopped docker",
    "stopped container runtime",
    "starting apt daily upgrade",
    "starting dnf automatic install",
    "starting daily apt upgrade",
    "state exitcode",
    "bin kill",
    "command kill",
    "bin pkill",
    "command pkill",
    "bin killall",
    "command killall",
    "attempting to reclaim",
    "will be upgraded",
    "draining node",
    "resources updated",
    "exception handlers",
    "action restart",
    "restarted",
    "status transition from",
    "powering off",
    "marking node broken",
    "slurmstepd",
    "cancelled at",
];

/// Whether a store that knows only whole words would give this line.
#[must_use]
pub fn is_asked_for(text: &str) -> bool {
    let words = words(text);
    PHRASES
        .iter()
        .any(|phrase| words.contains(&self::words(phrase)))
}

/// The words of a text in lower case, each between spaces.
fn words(text: &str) -> String {
    let mut out = String::from(" ");
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => out.extend(c.to_lowercase()),
            _ if out.ends_with(' ') => {}
            _ => out.push(' '),
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_whole_and_in_sequence() {
        assert!(is_asked_for("kernel: NVRM: Xid (PCI:0000:9b:00): 79, x"));
        assert!(is_asked_for(
            "kernel: blk_update_request: I/O error, dev sda"
        ));
        assert!(is_asked_for("EXT4-fs error (device sda1)"));
        for line in [
            "debugging is on",
            "kubelet: SyncLoop ADD",
            "sshd: session opened",
        ] {
            assert!(!is_asked_for(line), "{line}");
        }
        // Phrases are words as a store has them.
        for phrase in PHRASES {
            assert_eq!(words(phrase).trim(), *phrase);
        }
    }
}
