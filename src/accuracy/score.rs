//! Counts over all cases.

use std::collections::BTreeMap;

use super::baseline::BASELINES;
use super::judge::Verdict;
use super::run::QuestionResult;

/// What became of some questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// How many were asked.
    pub asked: usize,
    /// Answered with a right cause.
    pub right: usize,
    /// Answered with a cause that must not be named.
    pub false_blame: usize,
    /// Not answered.
    pub unknown: usize,
}

/// A score for each kind of question, and for all of them.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// By who answers: this tool first, then the baselines; then by level, then
    /// `all`, and those of `all` to which an answer is owed.
    pub rows: Vec<(String, String, Score)>,
}

impl Score {
    fn add(&mut self, verdict: Verdict) {
        self.asked += 1;
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Unknown => self.unknown += 1,
            Verdict::FalseBlame => self.false_blame += 1,
            Verdict::Wrong => {}
        }
    }

    /// Part of the questions, in whole percent.
    #[must_use]
    pub fn percent(&self, part: usize) -> usize {
        (part * 100 + self.asked / 2)
            .checked_div(self.asked)
            .unwrap_or(0)
    }
}

/// Counts what was judged.
#[must_use]
pub fn scores(judged: &[QuestionResult]) -> Scores {
    let mut rows = Vec::new();
    let who = std::iter::once("whathappened").chain(BASELINES);
    for (number, who) in who.enumerate() {
        let mut by_level: BTreeMap<&str, Score> = BTreeMap::new();
        let (mut all, mut owed) = (Score::default(), Score::default());
        for one in judged {
            let verdict = match number.checked_sub(1) {
                None => one.verdict,
                Some(baseline) => one.baseline_verdict(baseline),
            };
            by_level.entry(&one.level).or_default().add(verdict);
            all.add(verdict);
            if one.owed {
                owed.add(verdict);
            }
        }
        rows.extend(
            by_level
                .into_iter()
                .map(|(level, score)| (who.to_owned(), level.to_owned(), score)),
        );
        rows.push((who.to_owned(), "all".to_owned(), all));
        rows.push((who.to_owned(), "owed".to_owned(), owed));
    }
    Scores { rows }
}
