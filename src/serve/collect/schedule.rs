//! How often which sources are asked, and how they are late.

use std::time::Duration;

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND};

const MINUTE: Nanos = 60 * SECOND;
const HOUR: Nanos = 60 * MINUTE;
const DAY: Nanos = 24 * HOUR;

/// How a source is asked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PollSchedule {
    /// The pause between two questions.
    pub(super) every: Duration,
    /// How late a record may come: each question reaches back over what the one
    /// before asked for by this much.
    pub(super) late: Nanos,
    /// The longest stretch of one question, for catching up.
    pub(super) slice: Nanos,
    /// How far back there is anything.
    pub(super) keeps: Nanos,
    /// How far back the first question of all reaches.
    pub(super) first: Nanos,
    /// The resource that its outages and gaps are told of, and what it would have shown.
    pub(super) gap: (&'static str, &'static str),
}

/// The habit with sources of a kind; `None` for those that are only asked when
/// somebody has a question: log stores keep their lines for days, and reading
/// all lines of all pods twice would help nobody.
pub(super) fn of(kind: SourceKind) -> Option<PollSchedule> {
    let usual = PollSchedule {
        every: Duration::from_secs(300),
        late: 15 * MINUTE,
        slice: 6 * HOUR,
        keeps: 90 * DAY,
        first: DAY,
        gap: ("activity", "what happened to the machines in the meantime"),
    };
    let alerts = ("alerts", "which alerts fired in the meantime");
    Some(match kind {
        // CloudTrail is up to 15 minutes late, and two lookups a second are allowed.
        SourceKind::Aws => PollSchedule {
            late: 20 * MINUTE,
            ..usual
        },
        SourceKind::Gcp => PollSchedule {
            keeps: 400 * DAY,
            ..usual
        },
        // The activity log says up to 20 minutes.
        SourceKind::Azure => PollSchedule {
            late: 25 * MINUTE,
            ..usual
        },
        // Accounting writes a job's end within seconds.
        SourceKind::Slurm => usual,
        // It says what fires now; what came and went between two questions is not there.
        SourceKind::Alertmanager => PollSchedule {
            every: Duration::from_secs(60),
            late: 0,
            keeps: 10 * MINUTE,
            first: MINUTE,
            gap: alerts,
            ..usual
        },
        // Rules are evaluated each minute or so, and keep the history of their alerts.
        SourceKind::Prometheus => PollSchedule {
            late: 10 * MINUTE,
            slice: 2 * HOUR,
            keeps: 15 * DAY,
            gap: alerts,
            ..usual
        },
        _ => return None,
    })
}
