//! Exit codes as a shell says them.

/// The last of the signals that have a name: the rest are for programs that agree on them.
const LAST_NAMED: i32 = 31;

/// A pair of Slurm's, `code:signal`, as a shell would say it. What its step daemon ends with where it could not start the program,
/// or where memory ran out, is written as a signal and is none: `0:53`, `0:125`. That is `None`.
#[must_use]
pub fn of_pair((code, signal): (i32, i32)) -> Option<i32> {
    match (code, signal) {
        (0, 0) => Some(0),
        (0, 1..=LAST_NAMED) => Some(128 + signal),
        (0, _) => None,
        (code, _) => Some(code),
    }
}

#[cfg(test)]
mod tests {
    use super::of_pair;

    #[test]
    fn what_is_no_signal_is_no_exit_code() {
        assert_eq!(of_pair((0, 0)), Some(0));
        assert_eq!(of_pair((1, 0)), Some(1));
        assert_eq!(of_pair((0, 9)), Some(137));
        assert_eq!(of_pair((0, 53)), None);
        assert_eq!(of_pair((0, 125)), None);
    }
}
