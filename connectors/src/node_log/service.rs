//! What systemd says of a service, and who else speaks in its journal.

use std::sync::LazyLock;

use regex::Regex;

use super::boot::USER_MANAGER;
use super::line::HostLine;
use super::sniff;
use crate::observation::Observation;

/// The service that a line of systemd is about, without `.service`. Older systems call a unit that starts or stops by its
/// description, which says nothing.
pub(super) fn unit_of(message: &str) -> Option<&str> {
    const ACTS: [&str; 9] = [
        "Started ",
        "Starting ",
        "Stopping ",
        "Stopped ",
        "Finished ",
        "Failed to start ",
        "Reloading ",
        "Reloaded ",
        "Unit ",
    ];
    let named = ACTS.iter().find_map(|act| message.strip_prefix(act));
    let word = named.unwrap_or(message).split(' ').next()?;
    let word = match named {
        Some(_) => word.trim_end_matches('.'),
        None => word.strip_suffix(':')?,
    };
    word.strip_suffix(".service")
        .filter(|unit| !unit.is_empty())
}

/// What follows `train.service: ` in systemd's words.
const STATES: [&str; 20] = [
    "A process of this unit",
    "Changed ",
    "Consumed ",
    "Control process exited",
    "Deactivated successfully",
    "Failed with result",
    "Killing process",
    "Main process exited",
    "main process exited",
    "Scheduled restart job",
    "Sent signal",
    "Service RestartSec=",
    "Service has no hold-off",
    "Service hold-off",
    "Service reached runtime",
    "Service runtime time limit",
    "Start request repeated",
    "State '",
    "Succeeded.",
    "Watchdog timeout",
];

/// The service that a line is about which `journalctl -o cat` printed without its speaker, where systemd wrote it.
pub(super) fn unit_of_bare(message: &str) -> Option<&str> {
    let unit = unit_of(message)?;
    let state = || {
        let rest = message.get(unit.len()..)?.strip_prefix(".service: ")?;
        let known = STATES.iter().any(|state| rest.starts_with(state));
        (known || rest.starts_with("systemd-oomd killed")).then_some(())
    };
    // `Started train.service - LLM training.`
    let act = || {
        let rest = message.split_once(".service")?.1;
        rest.starts_with(" - ").then_some(())
    };
    state().or_else(act).map(|()| unit)
}

/// Who says a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker<'l> {
    /// systemd, the machine's or a user's.
    Systemd,
    /// The kernel, and who else only speaks of the machine.
    Machine,
    /// Some program, and the service that it is of where the line says so.
    Program(&'l str, Option<&'l str>),
}

impl<'l> Speaker<'l> {
    pub(super) fn of(line: &'l HostLine) -> Self {
        let Some(program) = line.program.as_deref() else {
            return Self::Machine;
        };
        // `-o with-unit` prints where others print who speaks: `user@1000.service/train.service`.
        let last = program.rsplit('/').next().unwrap_or(program);
        if matches!(last, "systemd" | "init.scope") || last == USER_MANAGER {
            return Self::Systemd;
        }
        if line.of_kernel() || sniff::is_daemon(line) {
            return Self::Machine;
        }
        let unit = last.strip_suffix(".service");
        let unit_name = line.unit.as_deref();
        let unit_name = unit_name.and_then(|unit| unit.strip_suffix(".service"));
        Self::Program(program, unit.or(unit_name))
    }
}

/// Says of what was found from some place on which lines of a program are of which service and machine.
pub(super) fn sign(
    found: &mut [Observation],
    from: usize,
    unit: Option<&str>,
    machine: Option<&str>,
) {
    for one in found.iter_mut().skip(from) {
        if let Observation::Event(event) = one
            && event.fact == "log.line"
        {
            event.set_attribute("unit", unit);
            event.set_attribute("machine", machine);
            event.set_attribute("journal", Some("systemd"));
        }
    }
}

/// Whether a text is one of a training program: it tells of a step or of a loss.
pub(super) fn trains(text: &str) -> bool {
    static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?i)\b(?:global_?|train_?|training )?(?:step|iter(?:ation)?|epoch)['"]?\s*[=:/\[ ]\s*\d+\b.*\bloss\b|\b(?:train_|lm )?loss['"]?\s*[=:]\s*\d|\b(?:train |training |global_)step['"]?\s*[=: ]\s*\d|\d+/\d+ \[[\d:]+<[\d:?]+,.*(?:it/s|s/it)"#,
        )
        .ok()
    });
    STEP.as_ref().is_some_and(|step| step.is_match(text))
}

/// Whether a text begins a traceback of Python.
pub(super) fn breaks(text: &str) -> bool {
    text.trim_end()
        .ends_with("Traceback (most recent call last):")
}

/// Whether a program is called like one that runs what people train with.
pub(super) fn may_train(program: &str) -> bool {
    const RUNNERS: [&str; 7] = [
        "accelerate",
        "deepspeed",
        "mpirun",
        "python",
        "ray",
        "torchrun",
        "train",
    ];
    let last = program.rsplit('/').next().unwrap_or(program);
    RUNNERS.iter().any(|runner| last.starts_with(runner))
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::*;

    #[test]
    fn systemd_names_the_service_that_it_speaks_of() {
        for (message, unit) in [
            ("Started train.service - LLM training.", Some("train")),
            ("Stopping train@3.service...", Some("train@3")),
            (
                "train.service: Main process exited, code=killed, status=9/KILL",
                Some("train"),
            ),
            ("Unit train.service entered failed state.", Some("train")),
            ("Started LLM training.", None),
            ("Started Session 4 of User alice.", None),
            ("train.service", None),
            (".service: x", None),
        ] {
            assert_eq!(unit_of(message), unit, "{message}");
        }
        assert_eq!(
            unit_of_bare("train.service: Failed with result 'oom-kill'."),
            Some("train")
        );
        assert_eq!(
            unit_of_bare("Started train.service - LLM training."),
            Some("train")
        );
        // A program may print a name like that.
        assert_eq!(
            unit_of_bare("train.service: the configuration was read"),
            None
        );
        assert_eq!(unit_of_bare("Started train.service"), None);
    }

    #[test]
    fn who_speaks_is_told_by_name_or_by_unit() {
        let of = |text: &str| {
            let line = line::parse(text).unwrap();
            format!("{:?}", Speaker::of(&line))
        };
        assert_eq!(of("Nov 28 10:00:01 n1 systemd[1]: x"), "Systemd");
        assert_eq!(of("Nov 28 10:00:01 n1 kernel: x"), "Machine");
        assert_eq!(of("Nov 28 10:00:01 n1 sudo[7]: x"), "Machine");
        assert_eq!(
            of("Nov 28 10:00:01 n1 python3[7]: x"),
            "Program(\"python3\", None)"
        );
        let with_unit = "Sat 2026-11-28 10:00:01 CET n1 user@1000.service/train.service[7]: x";
        assert_eq!(
            of(with_unit),
            "Program(\"user@1000.service/train.service\", Some(\"train\"))"
        );
        assert_eq!(
            of("Sat 2026-11-28 10:00:01 UTC n1 init.scope[1]: x"),
            "Systemd"
        );
    }

    #[test]
    fn steps_are_told_from_other_counts() {
        for text in [
            "step 180 loss 2.31",
            "2026-11-28 10:00:01,000 INFO train step=10 loss=4.1667",
            " 45%|####5     | 450/1000 [07:30<09:10,  1.00s/it]",
            " iteration       20/    1000 | lm loss: 1.412743E+01 |",
            "{'loss': 2.31, 'epoch': 1.25}",
        ] {
            assert!(trains(text), "{text}");
        }
        for text in [
            "step 3 of the boot is done",
            "packet loss detected",
            "GET /x 200",
            "iteration 3",
        ] {
            assert!(!trains(text), "{text}");
        }
    }
}
