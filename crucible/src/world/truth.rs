//! The true graph: what was done, by whom, because of what.

use serde::Serialize;

use crate::time::Time;

/// An act or a fault in the true graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ActId(pub usize);

/// One act, fault or death.
#[derive(Clone, Debug, Serialize)]
pub struct Act {
    /// When it truly was.
    pub time: Time,
    /// In words.
    pub what: String,
    /// Cause ids that name it rightly; none for a mechanism or a death.
    pub causes: Vec<&'static str>,
    /// Names by which whoever did it is known; none where nobody did.
    pub actors: Vec<String>,
    /// What it came of.
    pub from: Option<ActId>,
}

/// How much a record tells of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Attribution {
    /// A component's word, or a trace of it.
    Claims,
    /// It names the act.
    Names,
}

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Tag {
    /// The act.
    pub act: ActId,
    /// How much of it.
    pub says: Attribution,
}

/// A record that names an act.
#[must_use]
pub fn names(act: ActId) -> Vec<Tag> {
    vec![Tag {
        act,
        says: Attribution::Names,
    }]
}

/// A record that is a component's word for an act.
#[must_use]
pub fn claims(act: ActId) -> Vec<Tag> {
    vec![Tag {
        act,
        says: Attribution::Claims,
    }]
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    acts: Vec<Act>,
}

impl Graph {
    /// Adds an act.
    pub fn add(&mut self, act: Act) -> ActId {
        self.acts.push(act);
        ActId(self.acts.len() - 1)
    }

    /// An act by its id.
    #[must_use]
    pub fn get(&self, id: ActId) -> Option<&Act> {
        self.acts.get(id.0)
    }

    /// From the most upstream act to this one.
    #[must_use]
    pub fn chain(&self, id: ActId) -> Vec<ActId> {
        let mut chain = vec![id];
        let mut at = id;
        while let Some(from) = self.get(at).and_then(|act| act.from) {
            if chain.contains(&from) {
                break;
            }
            chain.push(from);
            at = from;
        }
        chain.reverse();
        chain
    }
}
