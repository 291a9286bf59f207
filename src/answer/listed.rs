//! A run in a list: how it stands, why, and whose it is.

use serde::Serialize;
use utoipa::ToSchema;
use whathappened_core::death::RunState;
use whathappened_core::resolve::rank_names;
use whathappened_model::time::{Nanos, Stamp};
use whathappened_model::word_list::Words as _;

use super::word_schemas::RunStateWord;
use super::{Incident, Level, Run};

/// A run in a list.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct ListedRun {
    /// The label or annotation that names its experiment, else its own name.
    pub experiment: String,
    /// Kind of the root object.
    pub kind: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its state; null for a run of a store that was not explained.
    #[schema(value_type = Option<RunStateWord>)]
    pub state: Option<RunState>,
    /// What ended it; null if nothing did, or if it was not explained.
    pub cause: Option<String>,
    /// How well that is proven.
    pub level: Option<Level>,
    /// When that was, else when it ended; of a run that was not explained, when it was
    /// last seen.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// The owner of the run, if known.
    pub owner: Option<String>,
    /// When it was made, or first seen.
    #[schema(format = DateTime)]
    pub started: Option<String>,
    /// When its last pod was over, where all are.
    #[schema(format = DateTime)]
    pub ended: Option<String>,
    /// Generations of its gang.
    pub attempts: Option<usize>,
    /// Pods it had in all.
    pub pods: u64,
    /// Its id.
    pub id: Option<String>,
    /// The label or annotation that names its experiment, where there is one.
    #[serde(skip)]
    pub label: Option<String>,
    /// From when to when records tell of it, in nanoseconds.
    #[serde(skip)]
    pub seen: Option<(i64, i64)>,
    /// Until when it, or the cluster that it is in, was heard of, in nanoseconds.
    #[serde(skip)]
    pub last_heard: Option<i64>,
}

/// What is wrong with a state that is asked for and that no run has.
#[must_use]
pub fn no_state(asked: Option<&str>) -> Option<String> {
    let asked = asked?;
    let states: Vec<&str> = RunState::ALL.iter().map(|(_, word, _)| *word).collect();
    if states.iter().any(|state| state.eq_ignore_ascii_case(asked)) {
        return None;
    }
    let near = rank_names(asked, states.iter().map(|state| (*state).to_owned()));
    let near = near
        .first()
        .map_or_else(String::new, |near| format!("did you mean {near}? "));
    Some(format!(
        "{asked:?} is not a run state; {near}A run is {}",
        states.join(", ").replace(", unknown", " or unknown")
    ))
}

impl ListedRun {
    /// Puts runs in the order in which they are listed: the newest first, as of the time
    /// that is shown.
    pub fn sort(list: &mut [Self]) {
        let time = |one: &Self| {
            let time = one.time.as_deref().or(one.started.as_deref());
            time.and_then(Stamp::parse).map(|stamp| stamp.lo)
        };
        list.sort_by(|a, b| {
            let names = |one: &Self| {
                let names = (one.namespace.clone(), one.name.clone(), one.kind.clone());
                (names, one.id.clone())
            };
            time(b).cmp(&time(a)).then_with(|| names(a).cmp(&names(b)))
        });
    }

    /// The same with what explaining it told: the run, and what led its answer.
    #[must_use]
    pub fn reported(mut self, run: Option<&Run>, incident: Option<&Incident>) -> Self {
        if let Some(run) = run {
            self.state = Some(run.state);
            self.owner.clone_from(&run.owner);
            self.attempts = Some(run.attempts.len());
            self.started = run.start.clone().or(self.started);
            self.ended.clone_from(&run.end);
            // Of what goes on, when it was last heard of hangs on what was read.
            self.time.clone_from(&run.end);
        }
        let incident = incident.filter(|incident| !incident.cause.starts_with("none."));
        if let Some(incident) = incident {
            self.cause = Some(incident.cause.clone());
            self.level = Some(incident.level);
            self.actor = incident.actor.as_ref().map(|actor| actor.name.clone());
            self.time = incident.time.clone().or(self.time);
        }
        self
    }

    /// Whether it was heard of in a window.
    #[must_use]
    pub fn is_seen_in(&self, (from, to): (Nanos, Nanos)) -> bool {
        let known = self.seen;
        known.is_some_and(|(first, last)| last >= from && first <= to)
    }

    /// Whether it is one of those asked for.
    #[must_use]
    pub fn is(&self, owner: Option<&str>, namespace: Option<&str>, state: Option<&str>) -> bool {
        let is = |asked: Option<&str>, reported: Option<&str>| {
            asked.is_none_or(|asked| {
                reported.is_some_and(|reported| reported.eq_ignore_ascii_case(asked))
            })
        };
        // Who is called alice@lab.example is asked for as alice as well.
        let local = |name: &str| name.split('@').next().unwrap_or(name).to_lowercase();
        let owned = owner.is_none_or(|asked| {
            let reported = self.owner.as_deref();
            reported.is_some_and(|reported| local(reported) == local(asked))
        });
        owned
            && is(namespace, self.namespace.as_deref())
            && is(state, self.state.map(RunState::as_str))
    }
}
