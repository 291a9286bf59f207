//! What the rows of one question mean for the next.

use whathappened_connectors::coverage::{Coverage, Mode, Status};

/// How a question went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// Everything that the source will ever say of that stretch, by now.
    Well,
    /// Some of it; asking again, or for less at a time, may give the rest.
    Short,
    /// Nothing: the source does not answer.
    Not,
}

/// Judges by the rows that are of the stretch; what is said of the present is
/// asked for again anyway, unless the source knows nothing else.
pub(super) fn judge(rows: &[Coverage]) -> Went {
    let only_now = rows.iter().all(|row| row.mode != Mode::Interval);
    let of_stretch = || {
        rows.iter()
            .filter(|row| row.mode == Mode::Interval || only_now)
    };
    let is_short = |row: &&Coverage| matches!(row.status, Status::Failed | Status::Truncated);
    if !of_stretch().any(|row| is_short(&row)) {
        // Denied stays denied however often it is asked.
        return Went::Well;
    }
    if of_stretch().all(|row| row.status == Status::Failed) {
        return Went::Not;
    }
    Went::Short
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
            (vec![activity(Status::Complete)], Went::Well),
            (
                vec![activity(Status::Complete), instances(Status::Failed)],
                Went::Well,
            ),
            (
                vec![activity(Status::Complete), health(Status::Denied)],
                Went::Well,
            ),
            (
                vec![activity(Status::Complete), health(Status::Failed)],
                Went::Short,
            ),
            (vec![activity(Status::Truncated)], Went::Short),
            (
                vec![activity(Status::Failed), instances(Status::Complete)],
                Went::Not,
            ),
            (vec![instances(Status::Failed)], Went::Not),
            (vec![instances(Status::Failed); 2], Went::Not),
            (
                vec![instances(Status::Failed), instances(Status::Complete)],
                Went::Short,
            ),
            (Vec::new(), Went::Well),
        ] {
            assert_eq!(judge(&rows), went, "{rows:?}");
        }
    }
}
