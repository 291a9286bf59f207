//! A loss that stands still. It is told beside the answer and explains nothing: that a training learns nothing ends no
//! program, and what is wrong with it no record tells.

use whathappened_model::time::{Nanos, SECOND, rfc3339};

use super::drawn::{Line, speakers};
use crate::case::Case;
use crate::error::Error;
use whathappened_core::resolve::Run;

/// How long it has to last, and how many values have to say so: evaluations and pauses are shorter.
const LASTS: Nanos = 3_600 * SECOND;
const VALUES: usize = 20;

/// What values may differ by, as a part of them: the digits that a log rounds off. Losses of different batches always
/// differ by more, however little is learnt.
const SAME: f64 = 1e-4;

/// Says so where the loss of a run's latest attempt did not change any more.
pub(super) fn note(case: &Case, run: &Run) -> Result<Option<String>, Error> {
    let Some(speaker) = speakers(case, run).last().copied() else {
        return Ok(None);
    };
    Ok(standstill(&super::drawn::read(case, speaker)?).map(|one| one.words()))
}

/// A stretch in which a loss stayed what it was, to the end of what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Standstill {
    from: Nanos,
    step: Option<i64>,
    to: Nanos,
    loss: f64,
    values: usize,
}

impl Standstill {
    fn words(&self) -> String {
        let Self {
            from, to, values, ..
        } = self;
        let step = self
            .step
            .map_or_else(String::new, |step| format!(" step {step} at"));
        let minutes = (to - from) / (60 * SECOND);
        let (hours, minutes) = (minutes / 60, minutes % 60);
        let begin = rfc3339(from - from.rem_euclid(SECOND));
        format!(
            "The loss has not changed since{step} {begin}: it was {} in all {values} values that were read of the {hours} h {minutes} min after that.",
            self.loss
        )
    }
}

/// Lines are in order of time.
fn standstill(lines: &[Line]) -> Option<Standstill> {
    let with_loss = lines
        .iter()
        .filter_map(|line| Some((line, line.loss.filter(|loss| loss.is_finite())?)));
    let with_loss: Vec<(&Line, f64)> = with_loss.collect();
    let (last, loss) = *with_loss.last()?;
    let is_same = |other: f64| (other - loss).abs() <= SAME * loss.abs();
    let stood = with_loss
        .iter()
        .rev()
        .take_while(|(_, other)| is_same(*other));
    let stood: Vec<&(&Line, f64)> = stood.collect();
    let (first, _) = **stood.last()?;
    let lasts = last.time.saturating_sub(first.time) >= LASTS;
    (lasts && stood.len() >= VALUES).then_some(Standstill {
        from: first.time,
        step: first.step,
        to: last.time,
        loss,
        values: stood.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss every minute.
    fn lines(losses: impl IntoIterator<Item = f64>) -> Vec<Line> {
        let lines = (0..).zip(losses).map(|(minute, loss)| Line {
            time: minute * 60 * SECOND,
            step: Some(minute * 10),
            loss: Some(loss),
            ..Line::default()
        });
        lines.collect()
    }

    #[test]
    fn a_loss_that_stays_the_same_for_an_hour_is_told() {
        let falls = (0..30).map(|one| 4.0 - f64::from(one) * 0.05);
        let stands = std::iter::repeat_n(2.303, 90);
        let found = standstill(&lines(falls.chain(stands))).unwrap();
        assert_eq!((found.step, found.values), (Some(300), 90));
        assert_eq!(
            found.words(),
            "The loss has not changed since step 300 at 1970-01-01T00:30:00Z: it was 2.303 in all 90 values that were \
             read of the 1 h 29 min after that."
        );
    }

    #[test]
    fn what_moves_or_has_not_lasted_is_none() {
        let noisy = (0..200).map(|one| 2.3 + f64::from(one % 7) * 0.002);
        assert_eq!(standstill(&lines(noisy)), None);
        assert_eq!(standstill(&lines(std::iter::repeat_n(2.3, 50))), None);
        // Few values say little, however long that is.
        let mut rare = lines(std::iter::repeat_n(2.3, 10));
        for line in &mut rare {
            line.time *= 60;
        }
        assert_eq!(standstill(&rare), None);
        // It moved again.
        let again = std::iter::repeat_n(2.3, 100).chain([2.1]);
        assert_eq!(standstill(&lines(again)), None);
        assert_eq!(standstill(&[]), None);
    }
}
