//! Who wrote a line: words that a program quotes are not what happened to it, or its machine.

use whathappened_model::event::Event;

/// Whether a program's line says of itself that it is no more than information: it quotes the
/// words of an error, tells what it looks for, or what it got over.
pub(super) fn says_calmly(event: &Event) -> bool {
    /// A level stands behind a time and a name.
    const NEAR: usize = 48;
    let Some(text) = event.message.as_deref() else {
        return false;
    };
    if event.fact != "log.line" || text.contains('\n') || text.contains("NCCL") {
        return false;
    }
    let words = text.split(|at: char| !at.is_ascii_alphanumeric());
    let level = words
        .take_while(|word| word.as_ptr().addr() - text.as_ptr().addr() <= NEAR)
        .find(|word| {
            matches!(
                *word,
                "DEBUG" | "INFO" | "WARNING" | "WARN" | "ERROR" | "FATAL"
            )
        });
    matches!(level, Some("DEBUG" | "INFO"))
}

/// What a kernel tells of, and services that watch its hardware.
const OF_KERNEL: [&str; 3] = ["gpu.", "kernel.", "nic."];

/// Whether a signal is what a kernel tells of.
pub(super) fn is_of_kernel(signal: &str) -> bool {
    OF_KERNEL.iter().any(|stem| signal.starts_with(stem))
}

/// Whether a record is of an exception that ends no program, as Python says itself.
pub(super) fn is_ignored_exception(event: &Event) -> bool {
    let text = event.message.as_deref().unwrap_or_default();
    let before = text.split_once("Traceback (most recent call last)");
    event.fact == "log.line"
        && before.is_some_and(|(before, _)| {
            before
                .lines()
                .any(whathappened_model::ignored_exception::is_announced)
        })
}

/// Programs that hand on what the kernel wrote, or watch its hardware.
const WATCH_HARDWARE: [&str; 19] = [
    "abrt",
    "dcgm",
    "dmesg",
    "edac",
    "fabricmanager",
    "gpud",
    "ipmi",
    "journal",
    "kernel",
    "klogd",
    "mcelog",
    "mmfs",
    "node-problem-detector",
    "nv-",
    "nvidia",
    "nvme",
    "opensm",
    "rasdaemon",
    "smartd",
];

/// Whether a machine's log names a program that neither is the kernel nor watches hardware: it
/// prints words, a prompt or a user's note among them.
pub(super) fn is_other_program(event: &Event) -> bool {
    event.fact == "node.log"
        && event.attribute("program").is_some_and(|program| {
            let program = program.to_ascii_lowercase();
            !program.is_empty()
                && !WATCH_HARDWARE
                    .iter()
                    .any(|known| program.starts_with(known))
        })
}

#[cfg(test)]
mod tests {
    use whathappened_model::event::{EventId, SourceKind};
    use whathappened_model::time::Stamp;

    use super::*;
    use crate::signals::Ruleset;

    #[test]
    fn an_exception_that_python_ignores_ends_nothing() {
        let signals = |text: &str| {
            let id = EventId::of(&[text]);
            let mut event = Event::new(id, "log.line", Stamp::OPEN, SourceKind::ContainerLog);
            event.message = Some(text.to_owned());
            Ruleset::shared().classify(&mut event);
            event.signals
        };
        let traceback = "Traceback (most recent call last):\n  File \"/w/t.py\", line 1, in f\nAssertionError: can only test a child process";
        assert!(signals(traceback).contains(&"log.traceback".to_owned()));
        for before in [
            "Exception ignored in: <function _Iter.__del__ at 0x7f>",
            "(RayTrainWorker pid=7) Exception ignored in: <function f at 0x7f>",
            "Error in atexit._run_exitfuncs:",
        ] {
            assert!(
                signals(&format!("{before}\n{traceback}")).is_empty(),
                "{before}"
            );
        }
    }

    #[test]
    fn what_a_program_quotes_is_not_its_machines() {
        let signals = |program: Option<&str>, text: &str| {
            let mut event = Event::new(
                EventId::of(&[text]),
                "node.log",
                Stamp::OPEN,
                SourceKind::NodeLog,
            );
            event.set_attribute("program", program);
            event.message = Some(text.to_owned());
            Ruleset::shared().classify(&mut event);
            event.signals
        };
        let panic = "Kernel panic - not syncing: Fatal exception in interrupt";
        for program in [None, Some("kernel"), Some("node-problem-detector")] {
            assert_eq!(signals(program, panic), ["kernel.panic"], "{program:?}");
        }
        for program in ["python3", "docker/trainer", "containerd", "sshd", "auditd"] {
            assert!(signals(Some(program), panic).is_empty(), "{program}");
        }
        let own = "memory failed: an ECC error";
        assert!(!signals(Some("dcgmi"), own).is_empty());
    }
}
