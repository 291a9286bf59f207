//! What is known of machines' faults, of recordings or of the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_core::graph::NameTenures;
use whathappened_model::time::Nanos;
use whathappened_store::Snapshot;

use super::episode::{Episode, episodes};
use super::fault_record::{self, FaultRecord, Recovery};
use crate::answer::Machine;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::fetch;

/// Faults of some machines.
#[derive(Debug)]
pub struct PastFaults {
    marks: Vec<FaultRecord>,
    recoveries: Vec<Recovery>,
    name_tenures: NameTenures,
    begins: Option<Nanos>,
}

impl PastFaults {
    /// The faults that a case tells of.
    ///
    /// # Errors
    /// When facts cannot be read back.
    pub fn of_case(case: &Case) -> Result<Self, Error> {
        let (mut marks, recoveries) = fault_record::of_case(case)?;
        marks.sort();
        let known = case.graph.evidence.rows().iter();
        let begins = known.map(|row| row.time.lo).filter(|at| *at != Nanos::MIN);
        Ok(Self {
            marks,
            recoveries,
            name_tenures: NameTenures::of(&case.graph),
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
        let case = fetch::of_found(found, Vec::new(), Arc::clone(rules))?;
        let mut past = Self::of_case(&case)?;
        // That a machine failed is nobody's own; whom it hurt is not told.
        if snapshot.permits_every_source() {
            let stored = snapshot.incidents_of_machines(names, window)?;
            let stored: Vec<fetch::IncidentOfRun> =
                stored.iter().filter_map(fetch::from_stored).collect();
            past.add(&stored);
        }
        past.begins = snapshot.begins();
        Ok(past)
    }

    /// Adds incidents that were explained before.
    pub(super) fn add(&mut self, stored: &[fetch::IncidentOfRun]) {
        let marks = stored
            .iter()
            .filter_map(|one| fault_record::of_incident(&one.incident));
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
        let who = MachineKey::of(machine, at, &self.name_tenures);
        let own = self.marks.iter().filter(|one| {
            who.is(
                &one.node,
                one.instance.as_deref(),
                one.time,
                &self.name_tenures,
            )
        });
        let mended: Vec<Nanos> = self
            .recoveries
            .iter()
            .filter(|one| {
                who.is(
                    &one.node,
                    one.instance.as_deref(),
                    one.time,
                    &self.name_tenures,
                )
            })
            .map(|one| one.time)
            .collect();
        episodes(own, &mended)
    }
}

/// One machine: a name is not an identity.
struct MachineKey<'a> {
    node: &'a str,
    instance: Option<String>,
    /// Only what is of no known instance.
    unnamed: bool,
}

impl<'a> MachineKey<'a> {
    fn of(machine: &'a Machine, at: Option<Nanos>, name_tenures: &NameTenures) -> Self {
        let node = machine.node.as_deref().unwrap_or_default();
        let reported = machine.instance.as_deref().map(str::to_lowercase);
        let then = || name_tenures.at(node, at?).map(str::to_owned);
        Self {
            node,
            instance: reported.or_else(then),
            unnamed: at.is_none(),
        }
    }

    /// Whether a record is of it: of its instance, else of its name at a time at
    /// which no other instance bore that.
    fn is(
        &self,
        node: &str,
        instance: Option<&str>,
        at: Nanos,
        name_tenures: &NameTenures,
    ) -> bool {
        let same_name = !node.is_empty() && node == self.node;
        match (instance, &self.instance) {
            (Some(one), Some(other)) => one == other,
            (None, Some(own)) if same_name => match name_tenures.at(node, at) {
                Some(then) => then == own,
                // Nothing tells who bore the name then; that it was another is told
                // where any other ever bore it, or this one came later.
                None => name_tenures
                    .of_name(node)
                    .iter()
                    .all(|one| one.id == *own && one.from <= at),
            },
            (None, None) if same_name => name_tenures.at(node, at).is_none(),
            // An instance is named, and which one is asked about is not known.
            (Some(one), None) if same_name && !self.unnamed => name_tenures
                .of_name(node)
                .iter()
                .all(|other| other.id == one),
            _ => false,
        }
    }
}
