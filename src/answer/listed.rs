//! A run in a list: how it stands, why, and whose it is.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Incident, Run};

/// A run in a list.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct Listed {
    /// The label or annotation that names its experiment, else its own name.
    pub experiment: String,
    /// Kind of the root object.
    pub kind: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// `completed`, `failed`, `running`, `pending`, `deleted` or `unknown`; null for a run
    /// of a store that nobody has explained.
    pub state: Option<String>,
    /// What ended it; null where nothing did, or where nobody has explained it.
    pub cause: Option<String>,
    /// How well that is proven.
    pub level: Option<String>,
    /// When that was, else when it ended, else when it was last seen.
    pub time: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// Whose run it is, where that was seen.
    pub owner: Option<String>,
    /// When it was made, or first seen.
    pub started: Option<String>,
    /// When its last pod was over, where all are.
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
}

impl Listed {
    /// The same with what explaining it told: the run, and what led its answer.
    #[must_use]
    pub fn told(mut self, run: Option<&Run>, incident: Option<&Incident>) -> Self {
        if let Some(run) = run {
            self.state = Some(run.state.clone());
            self.owner.clone_from(&run.owner);
            self.attempts = Some(run.attempts.len());
            self.started = run.start.clone().or(self.started);
            self.ended.clone_from(&run.end);
            self.time = run.end.clone().or(self.time);
        }
        let incident = incident.filter(|incident| !incident.cause.starts_with("none."));
        if let Some(incident) = incident {
            self.cause = Some(incident.cause.clone());
            self.level = Some(incident.level.clone());
            self.actor = incident.actor.as_ref().map(|actor| actor.name.clone());
            self.time = incident.time.clone().or(self.time);
        }
        self
    }

    /// Whether it is one of those asked for.
    #[must_use]
    pub fn is(&self, owner: Option<&str>, namespace: Option<&str>, state: Option<&str>) -> bool {
        let is = |asked: Option<&str>, told: Option<&str>| {
            asked.is_none_or(|asked| told.is_some_and(|told| told.eq_ignore_ascii_case(asked)))
        };
        // Who is called alice@lab.example is asked for as alice as well.
        let local = |name: &str| name.split('@').next().unwrap_or(name).to_lowercase();
        let owned = owner.is_none_or(|asked| {
            let told = self.owner.as_deref();
            told.is_some_and(|told| local(told) == local(asked))
        });
        owned && is(namespace, self.namespace.as_deref()) && is(state, self.state.as_deref())
    }
}
