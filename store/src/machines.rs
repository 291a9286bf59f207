//! What is kept of machines: their own rows, who was on them, and the incidents
//! that they were at the root of. Nothing else is read.

use std::collections::BTreeSet;

use whathappened_core::resolve::rank_names;
use whathappened_model::listing::RelatedNames;
use whathappened_model::time::Nanos;

use crate::catalogue::{self, Entity};
use crate::error::StoreError;
use crate::incidents::{self, StoredIncident};
use crate::record::{Fact, Object};
use crate::scope::{self, MatchTier, ScopedRows};
use crate::segment::SubjectKey;
use crate::snapshot::{ALWAYS, Snapshot, machine};

impl ScopedRows {
    /// The names of nodes that a machine's rows show it under, and the name it was asked by.
    #[must_use]
    pub fn machine_names(&self, asked: &str) -> BTreeSet<String> {
        let of_objects = self
            .objects
            .iter()
            .map(|one| &one.version.key)
            .filter(|key| key.kind == "Instance" || key.kind == "Node")
            .map(|key| key.name.clone());
        let of_facts = self
            .facts
            .iter()
            .filter_map(|fact| fact.event.entities.node.clone());
        let mut names: BTreeSet<String> = of_objects.chain(of_facts).collect();
        names.insert(asked.to_owned());
        names.remove("");
        names
    }
}

impl Snapshot<'_> {
    /// What is told of machines of some names or instance ids in a window, what
    /// node objects and inventories say of them at any time, and of the
    /// instances that bore the names.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_machines(
        &self,
        names: &BTreeSet<String>,
        window: (Nanos, Nanos),
    ) -> Result<ScopedRows, StoreError> {
        let mut asked: BTreeSet<SubjectKey> = names.iter().map(|name| machine(name)).collect();
        // An instance may be asked for by its id: its records lie under its name as well.
        let by_id = catalogue::others(self.look(), names, &BTreeSet::new());
        let by_id = by_id.map_err(self.failed())?;
        let instances = by_id.iter().filter(|one| one.kind == "Instance");
        asked.extend(instances.map(|one| machine(&one.name)));
        asked.remove(&machine(""));
        let mut objects: Vec<Object> = self.places(&asked, ALWAYS)?;
        let mut facts: Vec<Fact> = self.places(&asked, window)?;
        let known = scope::instances(self, &objects, &facts)?;
        let under: BTreeSet<SubjectKey> = known.difference(&asked).cloned().collect();
        objects.extend(self.places::<Object>(&under, ALWAYS)?);
        facts.extend(self.places::<Fact>(&under, window)?);
        Ok(ScopedRows {
            tier: MatchTier::Machine,
            facts,
            objects,
            left_out: 0,
            window,
            heard: self.heard()?,
            related: RelatedNames::default(),
        })
    }

    /// Adds the last `most` pods and batch jobs that were on a node in a window,
    /// and their owners, each with its own rows alone: the rest of their gangs
    /// is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn add_guests(
        &self,
        found: &mut ScopedRows,
        node: &str,
        most: usize,
    ) -> Result<(), StoreError> {
        let (from, to) = found.window;
        let mut guests = catalogue::on_node(self.look(), node).map_err(self.failed())?;
        guests.retain(|one| one.first <= to && one.last >= from);
        // The newest first.
        found.left_out += guests.len().saturating_sub(most);
        guests.truncate(most);
        let mut all: BTreeSet<Entity> = guests.into_iter().collect();
        catalogue::above(self.look(), &mut all).map_err(self.failed())?;
        let wanted = scope::places(&all);
        found
            .objects
            .extend(self.places::<Object>(&wanted, ALWAYS)?);
        found
            .facts
            .extend(self.places::<Fact>(&wanted, found.window)?);
        Ok(())
    }

    /// What happened to a machine and, whole, to the runs that were on it last: `most` of
    /// those that lived in `window`. The pods of earlier runs are counted in
    /// [`ScopedRows::left_out`]. `None` where nothing is told of such a machine.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_machine(
        &self,
        name: &str,
        window: (Nanos, Nanos),
        most: usize,
    ) -> Result<Option<ScopedRows>, StoreError> {
        let own = self.of_machines(&BTreeSet::from([name.to_owned()]), ALWAYS)?;
        let mut guests: BTreeSet<Entity> = BTreeSet::new();
        for node in own.machine_names(name) {
            guests.extend(catalogue::on_node(self.look(), &node).map_err(self.failed())?);
        }
        guests.retain(|one| one.first <= window.1 && one.last >= window.0);
        if own.facts.is_empty() && own.objects.is_empty() && guests.is_empty() {
            return Ok(None);
        }
        let (entities, left_out) = self.last_runs(guests, most)?;
        let mut found = scope::of_entities(self, MatchTier::Machine, &entities, left_out)?;
        found.facts.extend(own.facts);
        found.objects.extend(own.objects);
        found.window = ALWAYS;
        Ok(Some(found))
    }

    /// The last `most` runs that some pods are of, whole, and how many of the pods are of
    /// none of them.
    fn last_runs(
        &self,
        pods: BTreeSet<Entity>,
        most: usize,
    ) -> Result<(BTreeSet<Entity>, usize), StoreError> {
        let mut pods: Vec<Entity> = pods.into_iter().collect();
        pods.sort_by(|a, b| (b.last, a).cmp(&(a.last, b)));
        let mut found: BTreeSet<Entity> = BTreeSet::new();
        let (mut runs, mut left_out) = (0, 0);
        for pod in pods {
            if found.contains(&pod) {
                continue;
            }
            if runs == most {
                left_out += 1;
                continue;
            }
            runs += 1;
            let run = catalogue::closure(self.look(), vec![pod]).map_err(self.failed())?;
            found.extend(run);
        }
        Ok((found, left_out))
    }

    /// Kept incidents of some machines in a window, by name or instance id, in
    /// order of (time, id).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents_of_machines(
        &self,
        names: &BTreeSet<String>,
        (from, to): (Nanos, Nanos),
    ) -> Result<Vec<StoredIncident>, StoreError> {
        let read = || {
            let mut found = BTreeSet::new();
            if !crate::db::has(self.look().db, "incident_machines")? {
                return Ok(found);
            }
            for name in names {
                let of_machine = incidents::read(
                    self.look().db,
                    "id IN (SELECT incident FROM incident_machines
                            WHERE name = ?1 AND time BETWEEN ?2 AND ?3)",
                    &[name, &from, &to],
                )?;
                found.extend(of_machine.whole);
            }
            Ok(found)
        };
        let found: BTreeSet<StoredIncident> = read().map_err(self.failed())?;
        Ok(found.into_iter().collect())
    }

    /// Kept incidents of some runs, in order of (time, id).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents_of_runs(
        &self,
        runs: &BTreeSet<String>,
    ) -> Result<Vec<StoredIncident>, StoreError> {
        let mut found = BTreeSet::new();
        for run in runs {
            let of_run = incidents::read(self.look().db, "run_id = ?1", &[run]);
            found.extend(of_run.map_err(self.failed())?.whole);
        }
        Ok(found.into_iter().collect())
    }

    /// Up to five names of machines that are nearest to what was typed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn nearest_machines(&self, typed: &str) -> Result<Vec<String>, StoreError> {
        Ok(rank_names(typed, self.machine_names()?))
    }

    /// Names of all machines that anything was on and that may be seen, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn machine_names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = catalogue::machines(self.look().db).map_err(self.failed())?;
        names.retain(|name| self.permits_machine(name));
        Ok(names)
    }

    /// The earliest time of any kept fact.
    #[must_use]
    pub fn begins(&self) -> Option<Nanos> {
        let segments = self.segments(crate::record::Table::Events).iter();
        let first = segments
            .map(|one| one.time_from)
            .filter(|at| *at != Nanos::MIN);
        let hot = "SELECT min(time) FROM hot WHERE tbl = 0 AND time > ?1";
        let hot = self
            .look()
            .db
            .query_row(hot, [Nanos::MIN], |row| row.get(0));
        first.chain(hot.ok().flatten()).min()
    }
}
