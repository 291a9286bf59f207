//! Whether a file begins as a host's log.

use memchr::memmem;

use super::line::{self, HostLine, LineTime};
use super::{filter, service};
use crate::contract::FileHead;
use crate::logs::clock::Clock;

/// `journalctl -o json`: the cursor and the time are in every record.
pub(super) fn is_journal_json(head: &FileHead<'_>) -> bool {
    let first = head.bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    first.starts_with(b"{") && memmem::find(first, b"\"__REALTIME_TIMESTAMP\"").is_some()
}

/// `journalctl -o export`
pub(super) fn is_journal_export(head: &FileHead<'_>) -> bool {
    head.bytes.starts_with(b"__CURSOR=") || head.bytes.starts_with(b"__REALTIME_TIMESTAMP=")
}

/// Programs whose lines only a host's log has.
const DAEMONS: &[&str] = &[
    "kernel",
    "systemd",
    "sshd",
    "sudo",
    "su",
    "CRON",
    "crond",
    "cron",
    "kubelet",
    "hyperkube",
    "containerd",
    "dockerd",
    "crio",
    "dbus-daemon",
    "dbus",
    "NetworkManager",
    "chronyd",
    "ntpd",
    "rsyslogd",
    "auditd",
    "audit",
    "slurmctld",
    "slurmd",
    "earlyoom",
    "slurmstepd",
    "slurmdbd",
    "init",
    "snapd",
    "udevd",
    "polkitd",
    "dhclient",
    "maas",
];

/// Whether what speaks is one of the programs that only hosts run.
pub(super) fn is_daemon(line: &HostLine) -> bool {
    line.program.as_deref().is_some_and(|program| {
        DAEMONS.contains(&program)
            || program.starts_with("systemd-")
            || program.starts_with("maas.")
    })
}

/// Most lines have a host's form, and some were said by what only hosts run.
pub(super) fn is_host_log(head: &FileHead<'_>) -> bool {
    let (mut all, mut of_host, mut sure) = (0_u32, 0_u32, 0_u32);
    let mut of_owner = OwnDaemons::default();
    for text in head.lines(400) {
        if text.starts_with("-- ") || text.starts_with('#') {
            let heading = ["-- Logs begin at", "-- Journal begins at", "-- Boot "];
            sure += u32::from(heading.iter().any(|start| text.starts_with(start)));
            continue;
        }
        all += 1;
        let Some(line) = line::parse(text) else {
            continue;
        };
        of_host += 1;
        // Other logs have such brackets and dates, too; none has the kernel's.
        let uptime = matches!(line.when, LineTime::Uptime { .. });
        let dated =
            matches!(line.when, LineTime::Clock(Clock::NoYear { .. })) && line.host.is_some();
        let levels = line.facility.is_some();
        let large = line::is_supercomputer(text);
        sure += u32::from(uptime || dated || levels || large || is_daemon(&line));
        of_owner.see(&line);
    }
    (sure > 0 || of_owner.is_recognised()) && of_host * 10 >= all * 6
}

/// Lines of daemons that nobody knows here, which somebody's own signals may be of: their file is a machine's log
/// where it says of one machine what these signals look for, or where nothing else than daemons speak in it.
#[derive(Default)]
struct OwnDaemons {
    host: Option<String>,
    /// A program that trains speaks in it.
    trains: bool,
    /// Another machine speaks in it, or a line names no process.
    is_other: bool,
    /// A line holds what is looked for.
    is_found: bool,
}

impl OwnDaemons {
    fn see(&mut self, line: &HostLine) {
        let (Some(host), Some(program)) = (&line.host, &line.program) else {
            return;
        };
        let first = self.host.get_or_insert_with(|| host.clone());
        self.is_other |= first != host || line.pid.is_none();
        self.trains |= service::may_train(program)
            || service::trains(&line.message)
            || service::breaks(&line.message);
        self.is_found |= filter::names_owner(&line.message);
    }

    fn is_recognised(&self) -> bool {
        let is_of_daemons = self.host.is_some() && !self.is_other && filter::has_owner();
        !self.trains && (self.is_found || is_of_daemons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(text: &str) -> bool {
        is_host_log(&FileHead {
            bytes: text.as_bytes(),
            text,
        })
    }

    #[test]
    fn logs_of_hosts_are_told_from_logs_of_programs() {
        for text in [
            "[    0.000000] Linux version 6.8.0\n[    0.000001] Command line: x\n",
            "[Sat Nov 21 15:20:27 2026] NVRM: x\n",
            "Nov 21 15:20:27 gpu-7 systemd[1]: x\nNov 21 15:20:28 gpu-7 app[2]: x\n",
            "2026-11-21T15:20:27+0000 gpu-7 kernel: x\n",
            "-- Logs begin at Sat 2026-11-21 09:10:29 UTC, end at x. --\n-- No entries --\n",
            "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n",
            "kern  :warn  : 2026-11-21T15:20:27,123456+00:00 x\n",
            "<6>1 2026-11-21T15:20:27Z gpu-7 app 7 - - x\n",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "2026-11-21T15:20:27Z stdout F step 1\n",
            "2026-11-21T15:20:27Z trainer rank0: step 1\n",
            "2026-11-21 15:20:27,123 INFO trainer: step 1\n",
            "I1121 15:20:27.000001 1 main.go:1] x\n",
            "[rank0]: Traceback (most recent call last):\n",
            "step 1 loss 2\nNov 21 15:20:27 gpu-7 systemd[1]: x\nstep 2\nstep 3\n",
            "",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
