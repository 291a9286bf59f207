//! The world that the evidence speaks of: pods, workloads and nodes by
//! identity, who owned whom and who was where, and the facts about them.

mod bearer;
mod build;
mod carrier;
mod claims;
mod clocks;
mod collectives;
mod fact;
mod history;
mod identity;
mod instance;
mod job;
mod learn;
mod parent;
mod pod;
mod pool;
mod progress;
mod repeated;
mod rows;
mod scheduling;
mod undated;
mod whereabouts;
mod witness;
mod workload;

pub use bearer::{Bearer, Bearers};
pub use carrier::{Carrier, Carriers};
pub use fact::{Fact, NO, Phase};
pub use instance::{Sign, What, instance_group};
pub(crate) use parent::indexed;
pub use parent::makers;
pub use pod::{Exit, Kind, Pod, Progress};
pub use pool::Membership;
pub use whereabouts::{Map, Whereabouts, Within};
pub use workload::Workload;

use std::collections::{BTreeSet, HashSet};

use whathappened_connectors::time::Nanos;

use crate::evidence::{Evidence, SpillError};
use crate::signals::Ruleset;
use crate::symbols::Sym;

/// Everything that is known, tied together.
#[derive(Debug)]
pub struct World {
    /// The facts themselves.
    pub evidence: Evidence,
    /// Every pod, in order of (namespace, name, creation, uid).
    pub pods: Vec<Pod>,
    /// Every workload, in order of (namespace, kind, name, creation, uid).
    pub workloads: Vec<Workload>,
    /// What the records mean, in order of (time, signal, id).
    pub facts: Vec<Fact>,
    /// For each row of evidence the pod it is about, [`NO`] for none.
    pub pod_of_row: Vec<u32>,
    /// Which cloud instances carried which nodes.
    pub carriers: Carriers,
    /// In which region and zone machines were.
    pub whereabouts: Map,
    /// Which signals speak of which workloads.
    pub said: HashSet<(u32, Sym)>,
    /// What others saw of the troubles that these facts tell of, where a store knows.
    pub elsewhere: Vec<crate::shared::Elsewhere>,
    /// The latest record time: what "now" means for recorded input.
    pub now: Option<Nanos>,
}

impl World {
    /// Ties the evidence together.
    ///
    /// # Errors
    /// When facts cannot be read back from the temporary file.
    pub fn build(evidence: Evidence, ruleset: &Ruleset) -> Result<Self, SpillError> {
        build::build(evidence, ruleset)
    }

    /// Whether any record says this of a workload.
    #[must_use]
    pub fn says(&self, workload: u32, signal: &str) -> bool {
        self.evidence
            .symbols
            .find(signal)
            .is_some_and(|signal| self.said.contains(&(workload, signal)))
    }

    /// A workload and all that it owns, directly or through others.
    #[must_use]
    pub fn family(&self, root: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([root]);
        // Owner chains are short; a cycle in hostile input must still end.
        for _ in 0..16 {
            let before = found.len();
            let owned = (0..).zip(&self.workloads);
            let owned: Vec<u32> = owned
                .filter(|(_, one)| one.owner != NO && found.contains(&one.owner))
                .map(|(number, _)| number)
                .collect();
            found.extend(owned);
            if found.len() == before {
                break;
            }
        }
        found
    }

    /// The instance that carried a node at a time.
    #[must_use]
    pub fn carrier(&self, node: Sym, at: Nanos) -> Option<Carrier> {
        carrier::at(&self.carriers, node, at)
    }

    /// Whether a fact is about a machine, not about what ran on it.
    #[must_use]
    pub fn is_of_machine(&self, fact: &Fact) -> bool {
        let member = self.pods.get(fact.pod as usize);
        fact.workload == NO && member.is_none_or(|one| one.kind == Kind::Instance)
    }

    /// A name that the evidence uses.
    #[must_use]
    pub fn name(&self, sym: Sym) -> &str {
        self.evidence.symbols.name(sym)
    }
}
