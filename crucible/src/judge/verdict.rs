//! Whether the tool's main answer is right.

use serde::Serialize;

use super::answer::{Incident, is_claimed};
use super::tool::Reply;
use crate::truth::{Run, Seen};

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    /// The most upstream act of which anything was written.
    Right,
    /// An act further down the true chain.
    Downstream,
    /// Something that struck it before, and from which it recovered.
    Earlier,
    /// A consequence, taken for the cause.
    Symptom,
    /// It says that it does not know.
    Unknown,
    /// It says that it does not know, or guesses so from an exit code, and nothing was written.
    Fair,
    /// It gives no answer at all.
    NoAnswer,
    /// A wrong guess, or a state that is not so.
    Wrong,
    /// All is well, although a death stands in the records.
    FalseFine,
    /// Something innocent is blamed with confidence.
    FalseBlame,
}

impl Verdict {
    /// In a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Downstream => "downstream",
            Self::Earlier => "earlier",
            Self::Symptom => "symptom",
            Self::Unknown => "unknown",
            Self::Fair => "fair",
            Self::NoAnswer => "no answer",
            Self::Wrong => "wrong",
            Self::FalseFine => "false fine",
            Self::FalseBlame => "FALSE BLAME",
        }
    }
}

/// A judged answer.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Whether it is right.
    pub verdict: Verdict,
    /// What it said.
    pub cause: String,
    /// How sure it was.
    pub level: String,
    /// What would have been right.
    pub right: Vec<String>,
    /// How much of the cause was written.
    pub seen: Seen,
    /// Whether it named who died first.
    pub first: Option<bool>,
    /// Whether it named the victims.
    pub victims: Option<bool>,
    /// Whether it named the collateral.
    pub collateral: Option<bool>,
    /// Whether it named who did it.
    pub actor: Option<bool>,
    /// What it said in words, or why it said nothing.
    pub said: String,
}

impl Judged {
    /// Whether something innocent is blamed at this level.
    #[must_use]
    pub fn is_false_blame_at(&self, level: &str) -> bool {
        self.verdict == Verdict::FalseBlame && self.level == level
    }
}

/// Judges an answer about a run.
#[must_use]
pub fn judge(run: &Run, reply: &Reply) -> Judged {
    let right: Vec<String> = run.right().into_iter().map(str::to_owned).collect();
    let seen = run.evidence();
    let mut judged = Judged {
        verdict: Verdict::NoAnswer,
        cause: "none given".to_owned(),
        level: String::new(),
        right,
        seen,
        first: None,
        victims: None,
        collateral: None,
        actor: None,
        said: String::new(),
    };
    let (main, earlier) = match reply {
        Reply::Error(error) => {
            judged.said.clone_from(error);
            return judged;
        }
        Reply::Answer(answer) => (answer.about(run), answer.of_earlier(run)),
    };
    // What is said of a run before counts as well.
    if let Some(earlier) = earlier.filter(|one| is_claimed(&one.level))
        && !run.before.contains(&earlier.cause)
    {
        judged.cause.clone_from(&earlier.cause);
        judged.level.clone_from(&earlier.level);
        judged.said.clone_from(&earlier.summary);
        judged.verdict = Verdict::FalseBlame;
        return judged;
    }
    let Some(main) = main else {
        if seen == Seen::Nothing && run.death_seen == Seen::Nothing {
            judged.verdict = Verdict::Fair;
        }
        judged.said = "no incident".to_owned();
        return judged;
    };
    judged.cause.clone_from(&main.cause);
    judged.level.clone_from(&main.level);
    judged.said.clone_from(&main.summary);
    judged.verdict = verdict(run, main);
    if judged.verdict == Verdict::Right && run.is_broken() && run.died.is_some() {
        details(run, main, &mut judged);
    }
    judged
}

fn verdict(run: &Run, main: &Incident) -> Verdict {
    let cause = main.cause.as_str();
    let chain = run.chain();
    let right = run.right();
    let death_written = run.death_seen > Seen::Nothing
        || (run.died.is_none() && run.layers.iter().any(|layer| layer.seen > Seen::Nothing));
    if right.contains(&cause) {
        return Verdict::Right;
    }
    // What is further up than the records that are known to tell of it is as right.
    let upstream = run
        .layers
        .iter()
        .take_while(|layer| layer.seen == Seen::Nothing)
        .any(|layer| layer.causes.iter().any(|one| one == cause));
    if upstream {
        return Verdict::Right;
    }
    if chain.contains(cause) {
        // Where nothing of it was written, any act of the chain is as good.
        let anything = run.layers.iter().any(|layer| layer.seen > Seen::Nothing);
        return if anything {
            Verdict::Downstream
        } else {
            Verdict::Right
        };
    }
    let anything = run.layers.iter().any(|layer| layer.seen > Seen::Nothing);
    if run.state == "completed"
        && run.done_seen == Seen::Nothing
        && main.level != "established"
        && (cause == "unknown" || cause.starts_with("none."))
    {
        return Verdict::Fair;
    }
    if run.last.iter().any(|one| one == cause) {
        return if anything {
            Verdict::Downstream
        } else {
            Verdict::Fair
        };
    }
    if cause == "unknown" {
        return if !anything && run.is_broken() {
            Verdict::Fair
        } else {
            Verdict::Unknown
        };
    }
    // What was cleared away by nobody who is seen was deleted, as far as the records go.
    let guessed = main.level == "hypothesis"
        && (matches!(
            cause,
            "code.exception" | "code.segfault" | "ops.manual_delete"
        ) || cause.starts_with("none."));
    if !anything && run.is_broken() && guessed {
        return Verdict::Fair;
    }
    if cause == "none.running" && !anything && run.state == "stuck" {
        return Verdict::Fair;
    }
    if cause == "none.running"
        && run.death_seen == Seen::Nothing
        && run.died.is_some()
        && run.state == "running"
    {
        return Verdict::Fair;
    }
    if cause.starts_with("none.") {
        return if run.is_broken() && death_written && is_claimed(&main.level) {
            Verdict::FalseFine
        } else {
            Verdict::Wrong
        };
    }
    // What came after the first death did not end the run, where that death is on record.
    let came_later =
        anything && run.death_seen > Seen::Nothing && run.later.iter().any(|one| one == cause);
    if run.history.iter().any(|one| one == cause) && !came_later {
        return Verdict::Earlier;
    }
    if run.symptoms.iter().any(|one| one == cause) && main.level != "established" && !came_later {
        if !anything && run.is_broken() {
            return Verdict::Fair;
        }
        return Verdict::Symptom;
    }
    if is_claimed(&main.level) {
        Verdict::FalseBlame
    } else {
        Verdict::Wrong
    }
}

fn details(run: &Run, main: &Incident, judged: &mut Judged) {
    if run.death_seen > Seen::Nothing {
        judged.first = Some(
            main.first_victim
                .as_ref()
                .is_some_and(|victim| run.first.contains(&victim.pod)),
        );
        judged.victims = Some(same(&run.victims, &main.victims));
        judged.collateral = Some(same(&run.collateral, &main.collateral));
    }
    // Who did it can only be told where a record names the act.
    // and the name itself was written; a process ends by nobody's hand.
    let is_named = run.actor_written && !main.cause.starts_with("code.");
    if is_named
        && run
            .layers
            .first()
            .is_some_and(|layer| layer.seen == Seen::Named)
    {
        judged.actor = Some(
            main.actor
                .as_ref()
                .is_some_and(|actor| run.actors.contains(&actor.name)),
        );
    }
}

fn same(expected: &[String], got: &[super::answer::Victim]) -> bool {
    let mut got: Vec<&str> = got.iter().map(|victim| victim.pod.as_str()).collect();
    got.sort_unstable();
    got.dedup();
    got == expected.iter().map(String::as_str).collect::<Vec<_>>()
}
