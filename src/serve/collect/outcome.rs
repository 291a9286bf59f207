//! What the rows of one question mean for the next.

use whathappened_model::coverage::{Coverage, Mode, Status};

/// How a question went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollOutcome {
    /// Everything that the source will ever say of that stretch, by now.
    Well,
    /// Some of it; asking again, or for less at a time, may give the rest.
    Short,
    /// Nothing: the source does not answer.
    Not,
}

/// Judges by the rows that are of the stretch; what is said of the present is
/// asked for again anyway, unless the source knows nothing else.
pub(super) fn judge(rows: &[Coverage]) -> PollOutcome {
    let only_now = rows.iter().all(|row| row.mode != Mode::Interval);
    let of_stretch = || {
        rows.iter()
            .filter(|row| row.mode == Mode::Interval || only_now)
    };
    let is_short = |row: &&Coverage| matches!(row.status, Status::Failed | Status::Truncated);
    if !of_stretch().any(|row| is_short(&row)) {
        // Denied stays denied however often it is asked.
        return PollOutcome::Well;
    }
    if of_stretch().all(|row| row.status == Status::Failed) {
        return PollOutcome::Not;
    }
    PollOutcome::Short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_down_when_all_of_it_is() {
        let row = |resource: &str, mode, status| Coverage {
            mode,
            status,
            ..Coverage::new("aws", resource)
        };
        let (interval, snapshot) = (Mode::Interval, Mode::Snapshot);
        let activity = |status| row("activity", interval, status);
        let health = |status| row("health", interval, status);
        let instances = |status| row("instances", snapshot, status);
        for (rows, went) in [
            (vec![activity(Status::Complete)], PollOutcome::Well),
            (
                vec![activity(Status::Complete), instances(Status::Failed)],
                PollOutcome::Well,
            ),
            (
                vec![activity(Status::Complete), health(Status::Denied)],
                PollOutcome::Well,
            ),
            (
                vec![activity(Status::Complete), health(Status::Failed)],
                PollOutcome::Short,
            ),
            (vec![activity(Status::Truncated)], PollOutcome::Short),
            (
                vec![activity(Status::Failed), instances(Status::Complete)],
                PollOutcome::Not,
            ),
            (vec![instances(Status::Failed)], PollOutcome::Not),
            (vec![instances(Status::Failed); 2], PollOutcome::Not),
            (
                vec![instances(Status::Failed), instances(Status::Complete)],
                PollOutcome::Short,
            ),
            (Vec::new(), PollOutcome::Well),
        ] {
            assert_eq!(judge(&rows), went, "{rows:?}");
        }
    }
}
