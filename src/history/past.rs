//! What is known of machines' faults, of recordings or of the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_connectors::time::Nanos;
use whathappened_core::world::Bearers;
use whathappened_store::Snapshot;

use super::episode::{Episode, episodes};
use super::mark::{self, Mark, Mend};
use crate::answer::Machine;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::gather;

/// Faults of some machines.
#[derive(Debug)]
pub struct Past {
    marks: Vec<Mark>,
    mends: Vec<Mend>,
    bearers: Bearers,
    begins: Option<Nanos>,
}

impl Past {
    /// The faults that a case tells of.
    ///
    /// # Errors
    /// When facts cannot be read back.
    pub fn of_case(case: &Case) -> Result<Self, Error> {
        let (mut marks, mends) = mark::of_case(case)?;
        marks.sort();
        let known = case.world.evidence.rows().iter();
        let begins = known.map(|row| row.time.lo).filter(|at| *at != Nanos::MIN);
        Ok(Self {
            marks,
            mends,
            bearers: Bearers::of(&case.world),
            begins: begins.min(),
        })
    }

    /// What the store has of some machines in a window: their records, and the
    /// incidents that were explained by them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_store(
        snapshot: &Snapshot<'_>,
        names: &BTreeSet<String>,
        window: (Nanos, Nanos),
        rules: &Arc<Rules>,
    ) -> Result<Self, Error> {
        let found = snapshot.of_machines(names, window)?;
        let case = gather::of_found(found, Vec::new(), Arc::clone(rules))?;
        let mut past = Self::of_case(&case)?;
        // That a machine failed is nobody's own; whom it hurt is not told.
        if snapshot.permits_every_source() {
            let kept = snapshot.incidents_of_machines(names, window)?;
            let kept: Vec<gather::Kept> = kept.iter().filter_map(gather::told).collect();
            past.add(&kept);
        }
        past.begins = snapshot.begins();
        Ok(past)
    }

    /// Adds incidents that were explained before.
    pub(super) fn add(&mut self, kept: &[gather::Kept]) {
        let marks = kept
            .iter()
            .filter_map(|one| mark::of_incident(&one.incident));
        self.marks.extend(marks);
        self.marks.sort();
    }

    /// From when on anything is known.
    pub(super) fn begins(&self) -> Option<Nanos> {
        self.begins
    }

    /// The faults of a machine, oldest first. Where no instance is named, of the
    /// one that it was at a time, and without a time of no known one.
    pub(super) fn episodes(&self, machine: &Machine, at: Option<Nanos>) -> Vec<Episode> {
        let who = Who::of(machine, at, &self.bearers);
        let own = self
            .marks
            .iter()
            .filter(|one| who.is(&one.node, one.instance.as_deref(), one.time, &self.bearers));
        let mended: Vec<Nanos> = self
            .mends
            .iter()
            .filter(|one| who.is(&one.node, one.instance.as_deref(), one.time, &self.bearers))
            .map(|one| one.time)
            .collect();
        episodes(own, &mended)
    }
}

/// One machine: a name is not an identity.
struct Who<'a> {
    node: &'a str,
    instance: Option<String>,
    /// Only what is of no known instance.
    unnamed: bool,
}

impl<'a> Who<'a> {
    fn of(machine: &'a Machine, at: Option<Nanos>, bearers: &Bearers) -> Self {
        let node = machine.node.as_deref().unwrap_or_default();
        let told = machine.instance.as_deref().map(str::to_lowercase);
        let then = || bearers.at(node, at?).map(str::to_owned);
        Self {
            node,
            instance: told.or_else(then),
            unnamed: at.is_none(),
        }
    }

    /// Whether a record is of it: of its instance, else of its name at a time at
    /// which no other instance bore that.
    fn is(&self, node: &str, instance: Option<&str>, at: Nanos, bearers: &Bearers) -> bool {
        let same_name = !node.is_empty() && node == self.node;
        match (instance, &self.instance) {
            (Some(one), Some(other)) => one == other,
            (None, Some(own)) if same_name => match bearers.at(node, at) {
                Some(then) => then == own,
                // Nothing tells who bore the name then; that it was another is told
                // where any other ever bore it, or this one came later.
                None => bearers
                    .of_name(node)
                    .iter()
                    .all(|one| one.id == *own && one.from <= at),
            },
            (None, None) if same_name => bearers.at(node, at).is_none(),
            // An instance is named, and which one is asked about is not known.
            (Some(one), None) if same_name && !self.unnamed => {
                bearers.of_name(node).iter().all(|other| other.id == one)
            }
            _ => false,
        }
    }
}
