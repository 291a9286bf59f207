//! The parts of the tool's JSON answer that are judged. Nothing else of it is relied on.

use serde::Deserialize;
use serde_json::Value;

use crate::time::Time;
use crate::truth::Run;

/// An answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Runs under the name, newest first.
    pub runs: Vec<AnsweredRun>,
    /// The main incident first.
    pub incidents: Vec<Incident>,
    /// What each source could and could not show.
    pub coverage: Vec<Coverage>,
}

/// What one source could show.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// `complete`, `truncated`, `expired`, …
    pub status: String,
}

/// A run as the tool sees it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AnsweredRun {
    /// The root object's uid, else its names.
    pub id: String,
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: Option<String>,
    /// How it stands.
    pub state: String,
}

/// A cause and what followed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Incident {
    /// Cause id.
    pub cause: String,
    /// How far it is to be believed.
    pub level: String,
    /// What happened, in words.
    pub summary: String,
    /// `main`, `recovered`, …
    pub role: String,
    /// The run it ended or hurt.
    pub run_id: Option<String>,
    /// Who did it.
    pub actor: Option<Actor>,
    /// The earliest death.
    pub first_victim: Option<Victim>,
    /// Those that cannot be told apart from it.
    pub first_victims: Vec<Victim>,
    /// Pods that were struck themselves.
    pub victims: Vec<Victim>,
    /// Pods that died because others had.
    pub collateral: Vec<Victim>,
    /// From cause to effect.
    pub chain: Vec<Link>,
    /// The records that prove it.
    pub evidence: Vec<Value>,
    /// Records that are evidence against it.
    pub against: Vec<Value>,
    /// What was missing, and what it would have shown.
    pub would_have_told: Vec<String>,
}

/// Who did it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Actor {
    /// Name.
    pub name: String,
}

/// A pod that died.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Victim {
    /// Name.
    pub pod: String,
    /// When it died.
    pub time: Option<String>,
    /// First instant that it can no longer have been.
    pub time_hi: Option<String>,
}

/// A step from cause to effect.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Link {
    /// When.
    pub time: Option<String>,
    /// `cause`, `mechanism`, `death`, …
    pub role: String,
    /// In words.
    pub text: String,
    /// `asserted`, `inferred`, …
    pub edge: Option<String>,
    /// Which of the evidence tells of it.
    pub event_ids: Vec<String>,
}

impl Incident {
    /// Whether it bears the id of this run, or of something of it.
    fn is_of(&self, run: &Run) -> bool {
        let id = self.run_id.as_ref();
        id.is_some_and(|id| run.uids.contains(id))
    }

    /// The earliest instant at which a step can have been, by the evidence that tells of it.
    #[must_use]
    pub(super) fn earliest(&self, link: &Link) -> Option<Time> {
        let of_evidence = self.evidence.iter().filter_map(|row| {
            let id = row["id"].as_str()?;
            let lo = row["time_lo"].as_str().and_then(Time::parse)?;
            link.event_ids.iter().any(|one| one == id).then_some(lo)
        });
        let stated = link.time.as_deref().and_then(Time::parse);
        of_evidence.chain(stated).min()
    }
}

impl Answer {
    /// The main incident; none where all there is is of a run before the one that was asked for.
    #[must_use]
    pub fn main(&self) -> Option<&Incident> {
        self.incidents.first().filter(|one| one.role != "earlier")
    }

    /// The main incident about a run. What calls its own end that of an earlier run is about it all the same.
    #[must_use]
    pub fn about(&self, run: &Run) -> Option<&Incident> {
        let first = self.incidents.first();
        first.filter(|one| one.role != "earlier" || one.is_of(run))
    }

    /// What it leads with that is of a run before the one that was asked for.
    #[must_use]
    pub fn of_earlier(&self, run: &Run) -> Option<&Incident> {
        let first = self.incidents.first();
        first.filter(|one| one.role == "earlier" && !one.is_of(run))
    }

    /// Whether it says of anything that it is missing or against it: why it is not surer.
    #[must_use]
    pub fn explains_uncertainty(&self) -> bool {
        let lacks = |one: &Coverage| one.status != "complete";
        self.coverage.iter().any(lacks)
            || self
                .main()
                .is_some_and(|main| !main.would_have_told.is_empty() || !main.against.is_empty())
    }
}

/// Whether a level is more than a guess.
#[must_use]
pub fn is_claimed(level: &str) -> bool {
    matches!(level, "established" | "supported")
}

/// Levels in order.
#[must_use]
pub fn rank(level: &str) -> u8 {
    match level {
        "established" => 3,
        "supported" => 2,
        "hypothesis" => 1,
        _ => 0,
    }
}
