//! From what came of several requests to one row: its status, what is said of it, and what it would have shown.

use super::{Coverage, Status};
use crate::time::Nanos;

/// What came of the requests that one row speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Whether anything was answered.
    pub answered: bool,
    failures: Vec<(Status, String)>,
}

impl Tally {
    /// Of requests of which some were answered, or none.
    #[must_use]
    pub fn of(answered: bool) -> Self {
        Self {
            answered,
            failures: Vec::new(),
        }
    }

    /// Notes what was not obtained and why. What is said already is not said twice.
    pub fn failed(&mut self, status: Status, why: String) {
        let failure = (status, why);
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    /// Takes in what came of other requests.
    pub fn join(&mut self, other: &Self) {
        self.answered |= other.answered;
        for (status, why) in &other.failures {
            self.failed(*status, why.clone());
        }
    }

    /// Whether something was not obtained.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// The worst of what was not obtained, in whatever order it came.
    #[must_use]
    pub fn worst(&self) -> Option<Status> {
        let rank = |status: &Status| match status {
            Status::Complete => 0,
            Status::Expired | Status::Sampled | Status::NotConfigured => 1,
            Status::Truncated => 2,
            Status::Failed => 3,
            Status::Denied => 4,
        };
        let all = self.failures.iter().map(|(status, _)| *status);
        all.max_by_key(rank)
    }

    /// How well the source answered: of what was answered in part the rest is missing, and where
    /// nothing failed it is `otherwise`.
    #[must_use]
    pub fn status(&self, otherwise: Status) -> Status {
        match self.worst() {
            Some(_) if self.answered => Status::Truncated,
            Some(worst) => worst,
            None => otherwise,
        }
    }

    /// Why something was not obtained, in the order in which it happened.
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.failures.iter().map(|(_, why)| why.as_str())
    }
}

/// The first of some reasons, and how many there are more: `and 3 reasons more`.
#[must_use]
pub fn first_reasons<'a>(
    reasons: impl IntoIterator<Item = &'a str>,
    most: usize,
    more: &str,
) -> Vec<String> {
    let mut reasons: Vec<String> = reasons.into_iter().map(str::to_owned).collect();
    let left = reasons.len().saturating_sub(most);
    reasons.truncate(most);
    if left > 0 {
        reasons.push(format!("and {left} {more}"));
    }
    reasons
}

impl Coverage {
    /// The row over what was asked for.
    #[must_use]
    pub fn asked(self, span: Option<(Nanos, Nanos)>) -> Self {
        Self {
            asked_from: span.map(|(from, _)| from),
            asked_to: span.map(|(_, to)| to),
            ..self
        }
    }

    /// The row with the time of which everything was obtained, if of any.
    #[must_use]
    pub fn got(self, span: Option<(Nanos, Nanos)>) -> Self {
        Self {
            got_from: span.map(|(from, _)| from),
            got_to: span.map(|(_, to)| to),
            ..self
        }
    }

    /// The row with how well the source answered, and what there is to say of it.
    #[must_use]
    pub fn ended(self, status: Status, details: &[String]) -> Self {
        Self {
            status,
            detail: Some(details.join("; ")).filter(|details| !details.is_empty()),
            ..self
        }
    }

    /// The row with what the source would have shown, where it did not show all of it.
    #[must_use]
    pub fn lacking(self, shows: &str) -> Self {
        Self {
            would_have_shown: (self.status != Status::Complete).then(|| shows.to_owned()),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(answered: bool, failures: &[Status]) -> Tally {
        let mut tally = Tally::of(answered);
        for (number, status) in failures.iter().enumerate() {
            tally.failed(*status, format!("why {number}"));
        }
        tally
    }

    #[test]
    fn part_of_an_answer_is_truncated_and_none_is_as_bad_as_the_worst() {
        use Status::{Complete, Denied, Expired, Failed, Sampled, Truncated};
        for (answered, failures, otherwise, status) in [
            (false, &[][..], Complete, Complete),
            (true, &[], Expired, Expired),
            (true, &[Failed], Complete, Truncated),
            (true, &[Sampled], Complete, Truncated),
            (false, &[Failed], Complete, Failed),
            (false, &[Sampled], Complete, Sampled),
            (false, &[Sampled, Failed], Complete, Failed),
            (false, &[Denied, Failed], Complete, Denied),
            (false, &[Failed, Denied], Complete, Denied),
        ] {
            let found = tally(answered, failures).status(otherwise);
            assert_eq!(found, status, "{answered} {failures:?}");
        }
    }

    #[test]
    fn what_is_said_is_said_once() {
        let mut one = tally(false, &[Status::Failed]);
        one.failed(Status::Failed, "why 0".to_owned());
        one.join(&tally(true, &[Status::Failed, Status::Denied]));
        assert_eq!(one.reasons().collect::<Vec<_>>(), ["why 0", "why 1"]);
        assert!(one.answered && one.has_failed());
    }

    #[test]
    fn of_many_reasons_the_first_are_said() {
        let all = ["a", "b", "c"];
        assert_eq!(first_reasons(all, 3, "reasons more"), all);
        let two = first_reasons(all, 2, "reasons more");
        assert_eq!(two, ["a", "b", "and 1 reasons more"]);
    }

    #[test]
    fn a_row_says_what_it_lacks() {
        let row = || {
            Coverage::new("loki", "logs")
                .asked(Some((1, 9)))
                .got(Some((2, 9)))
        };
        let whole = row().ended(Status::Complete, &[]).lacking("lines");
        assert_eq!((whole.asked_from, whole.got_from), (Some(1), Some(2)));
        assert_eq!((whole.detail, whole.would_have_shown), (None, None));
        let said = ["a".to_owned(), "b".to_owned()];
        let part = row().ended(Status::Truncated, &said).lacking("lines");
        assert_eq!(part.detail.as_deref(), Some("a; b"));
        assert_eq!(part.would_have_shown.as_deref(), Some("lines"));
    }
}
