//! How a machine's life before a start ended, as far as its log shows.

use super::line::HostLine;
use super::reader::Parse;

/// What stands before the first line of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BootCause {
    /// It was shut down.
    ShutDown,
    /// The log just ends, though it shows the machine at work: a crash, a
    /// reset, a loss of power.
    Nothing,
    /// The log does not reach back, or is one service's alone.
    Unknown,
}

impl BootCause {
    /// For the attribute `shutdown_before`.
    pub(super) fn word(self) -> Option<&'static str> {
        match self {
            Self::ShutDown => Some("yes"),
            Self::Nothing => Some("no"),
            Self::Unknown => None,
        }
    }
}

/// Whether it is the first line of the kernel.
pub(super) fn starts(line: &HostLine) -> bool {
    line.of_kernel() && line.message.starts_with("Linux version ")
}

/// Lines looked back at.
const LINES: usize = 120;

/// The last lines of an orderly end.
pub(super) const ENDS: &[&str] = &[
    "Journal stopped",
    "Shutting down.",
    "Syncing filesystems and block devices",
    "to remaining processes",
    "reboot: Restarting system",
    "reboot: Power down",
    "will reboot now",
    "will power off now",
    "ystem is rebooting",
    "ystem is powering down",
    "target Shutdown",
    "target System Shutdown",
    "target Reboot",
    "target System Reboot",
    "target Power",
    "target System Power",
    "target Final Step",
    "shutting down for system",
];

/// Whether a text is of an orderly end.
fn ends(text: &str) -> bool {
    ENDS.iter().any(|end| text.contains(end))
}

/// Whether a line is of an orderly end of the machine. Each user who is logged
/// in has a systemd of their own, which reaches the same targets when they
/// leave: only that of process 1 speaks for the machine.
pub(super) fn is_end(line: &HostLine) -> bool {
    ends(&line.message) && !of_user(line)
}

fn of_user(line: &HostLine) -> bool {
    match line.program.as_deref() {
        Some("systemd") => line.pid.as_deref().is_some_and(|pid| pid != "1"),
        Some(program) => program == USER_MANAGER,
        None => false,
    }
}

/// What a user's own systemd is called where its record tells it by another
/// thing than its process.
pub(super) const USER_MANAGER: &str = "user-systemd";

/// Looks back from a start through what came before it.
pub(super) fn before(earlier: &[u8], block: &[u8], parse: Parse) -> BootCause {
    let all = block
        .rsplit(|&b| b == b'\n')
        .chain(earlier.rsplit(|&b| b == b'\n'));
    let mut programs = std::collections::BTreeSet::new();
    let lines = all.filter(|line| !line.is_empty()).take(LINES);
    for text in lines {
        let text = String::from_utf8_lossy(text);
        if text.starts_with("-- ") {
            continue;
        }
        let line = parse(&text).ok().flatten();
        if ends(&text) && !line.as_ref().is_some_and(of_user) {
            return BootCause::ShutDown;
        }
        // A service that was stopped may be all this log is about.
        if text.contains(": Stopping ") || text.contains(": Stopped ") {
            return BootCause::Unknown;
        }
        programs.extend(line.and_then(|line| line.program));
    }
    // The log of a whole machine has lines of many.
    if programs.len() >= 3 {
        BootCause::Nothing
    } else {
        BootCause::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Result<Option<HostLine>, String> {
        Ok(super::super::line::parse(line))
    }

    #[test]
    fn an_end_without_words_is_told_from_an_orderly_one() {
        let busy = "Nov 21 15:20:27 n1 kernel: x\nNov 21 15:20:27 n1 sshd[7]: x\nNov 21 15:20:27 n1 kubelet[9]: x\n";
        assert_eq!(before(b"", busy.as_bytes(), text), BootCause::Nothing);
        let orderly = format!(
            "{busy}Nov 21 15:20:27 n1 systemd-journald[5]: Journal stopped\n-- Boot 1 --\n"
        );
        assert_eq!(before(b"", orderly.as_bytes(), text), BootCause::ShutDown);
        assert_eq!(before(orderly.as_bytes(), b"", text), BootCause::ShutDown);
        let left = format!("{busy}Nov 21 15:20:27 n1 systemd[4321]: Reached target Shutdown.\n");
        assert_eq!(before(b"", left.as_bytes(), text), BootCause::Nothing);
        let one = "Nov 21 15:20:27 n1 slurmd[9]: x\n";
        assert_eq!(before(b"", one.as_bytes(), text), BootCause::Unknown);
        assert_eq!(before(b"", b"", text), BootCause::Unknown);
    }
}
