//! Which pod or workload a record speaks of: by uid, else by name and time.

use std::collections::HashMap;
use std::sync::Arc;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{Task, TaskKind, Workload, job};
use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::SignalTraits;
use crate::symbols::Symbol;

/// How long after its end records of a pod still arrive (logs, events of its clean-up).
const AFTERLIFE: Nanos = 600 * SECOND;

/// Pods by uid and by name.
#[derive(Debug, Default)]
pub(super) struct Pods {
    pub(super) all: Table<Task>,
    /// What signals say of themselves.
    pub(super) traits: Arc<SignalTraits>,
    by_uid: HashMap<Symbol, TaskRow>,
    by_name: HashMap<(Symbol, Symbol), Vec<TaskRow>>,
    by_bare_name: HashMap<Symbol, Vec<TaskRow>>,
    /// Those that printed Events tell of, and that bore their names before others that were printed as objects.
    earlier: HashMap<(Symbol, Symbol), TaskRow>,
    /// Which batch job a number means.
    pub(super) jobs: job::Numbers,
}

impl Pods {
    /// The pod of a uid, made where it is new.
    pub(super) fn of_uid(&mut self, uid: Symbol, namespace: Symbol, name: Symbol) -> TaskRow {
        if let Some(known) = self.by_uid.get(&uid) {
            return *known;
        }
        let number = self.push(Task::new(TaskKind::Pod, uid, namespace, name));
        self.by_uid.insert(uid, number);
        number
    }

    /// Gives the uid that records use to the pod of that name that was printed without one, if it
    /// had begun when the first of them was written.
    pub(super) fn adopt(&mut self, uid: Symbol, namespace: Symbol, name: Symbol, first: Nanos) {
        if self.by_uid.contains_key(&uid) {
            return;
        }
        let named = self.by_name.get(&(namespace, name));
        let printed = named.into_iter().flatten().copied().find(|number| {
            self.all.get(*number).is_some_and(|pod| {
                let begun = pod.known_begin().unwrap_or(Nanos::MIN);
                !pod.uid.is_some() && pod.gone.is_none() && begun.saturating_sub(SECOND) <= first
            })
        });
        if let Some(number) = printed {
            self.by_uid.insert(uid, number);
            if let Some(pod) = self.all.get_mut(number) {
                pod.uid = uid;
            }
        }
    }

    /// Another uid that records use for a pod.
    pub(super) fn also_known_as(&mut self, uid: Symbol, number: TaskRow) {
        self.by_uid.entry(uid).or_insert(number);
    }

    pub(super) fn find_uid(&self, uid: Symbol) -> Option<TaskRow> {
        self.by_uid.get(&uid).copied()
    }

    /// The pod that bore a name at a time; made where none did.
    pub(super) fn of_name(&mut self, namespace: Symbol, name: Symbol, at: Nanos) -> TaskRow {
        self.find_name(namespace, name, at)
            .unwrap_or_else(|| self.push(Task::new(TaskKind::Pod, Symbol::NONE, namespace, name)))
    }

    /// The pod that bore a name at a time, where any is known.
    pub(super) fn find_name(&self, namespace: Symbol, name: Symbol, at: Nanos) -> Option<TaskRow> {
        let named = if namespace.is_some() {
            let exact = self
                .by_name
                .get(&(namespace, name))
                .map_or(&[][..], Vec::as_slice);
            // An object dumped without its namespace is the pod of that name.
            let bare = self
                .by_name
                .get(&(Symbol::NONE, name))
                .map_or(&[][..], Vec::as_slice);
            if exact.is_empty() { bare } else { exact }
        } else {
            self.by_bare_name.get(&name).map_or(&[][..], Vec::as_slice)
        };
        self.alive(named, at)
    }

    /// The pod that bore a name at a time and was there by another: of one that was made later, it is
    /// an earlier one of that name, made where none is known.
    pub(super) fn of_name_by(
        &mut self,
        namespace: Symbol,
        name: Symbol,
        at: Nanos,
        (by, recorded_at): (Nanos, Stamp),
    ) -> TaskRow {
        let found = self.of_name(namespace, name, at);
        let is_another = self.all.get(found).is_some_and(|pod| {
            let made_later = pod.created.is_some_and(|created| created.lo > by);
            made_later || was_printed_before(pod.created, recorded_at) || runs_unharmed(pod, at, by)
        });
        if is_another {
            return self.push(Task::new(TaskKind::Pod, Symbol::NONE, namespace, name));
        }
        found
    }

    /// The pod that bore a name at a time, as a record tells that may have been printed: of one that was made later
    /// than its age tells, it is an earlier one of that name.
    pub(super) fn of_name_recorded(
        &mut self,
        namespace: Symbol,
        name: Symbol,
        recorded_at: Stamp,
    ) -> TaskRow {
        let found = self.of_name(namespace, name, recorded_at.lo);
        let made = self.all.get(found).and_then(|pod| pod.created);
        if was_printed_before(made, recorded_at) {
            return self.push(Task::new(TaskKind::Pod, Symbol::NONE, namespace, name));
        }
        found
    }

    /// The pod that bore a name before the one that an object shows.
    pub(super) fn earlier(&mut self, namespace: Symbol, name: Symbol) -> TaskRow {
        if let Some(known) = self.earlier.get(&(namespace, name)) {
            return *known;
        }
        let number = self.push(Task::new(TaskKind::Pod, Symbol::NONE, namespace, name));
        self.earlier.insert((namespace, name), number);
        number
    }

    /// Who bore a name before another is of the same workload: only one that keeps names makes a pod anew under its own.
    pub(super) fn inherit(&mut self) {
        for (key, number) in &self.earlier {
            let named = self.by_name.get(key).into_iter().flatten();
            let later = named.filter(|other| *other != number);
            let of_workload = later
                .filter_map(|other| self.all.get(*other))
                .find(|other| other.owner.is_some());
            let Some((owner, rank)) = of_workload.map(|other| (other.owner, other.rank)) else {
                continue;
            };
            if let Some(pod) = self.all.get_mut(*number)
                && pod.owner.is_none()
            {
                pod.owner = owner;
                pod.rank = pod.rank.or(rank);
            }
        }
    }

    /// The pod that a printed object speaks of: one of its name that was not gone before
    /// it began, else a new one.
    pub(super) fn printed(&mut self, namespace: Symbol, name: Symbol, begin: Nanos) -> TaskRow {
        let found = self.of_name(namespace, name, begin);
        let gone = self.all.get(found).and_then(|pod| pod.gone);
        if gone.is_some_and(|gone| gone.hi < begin) {
            return self.push(Task::new(TaskKind::Pod, Symbol::NONE, namespace, name));
        }
        found
    }

    /// Of pods of one name, the one that lived at a time: the latest one that
    /// had begun by then, else the first one to begin after it.
    fn alive(&self, named: &[TaskRow], at: Nanos) -> Option<TaskRow> {
        let begin = |number: &TaskRow| {
            self.all
                .get(*number)
                .and_then(Task::begin)
                .unwrap_or(Nanos::MIN)
        };
        if named.len() < 2 {
            return named.first().copied();
        }
        let begun = named
            .iter()
            .filter(|number| begin(number).saturating_sub(SECOND) <= at);
        let latest = begun
            .max_by_key(|number| (begin(number), self.end(**number)))
            .copied();
        latest.or_else(|| named.iter().min_by_key(|number| begin(number)).copied())
    }

    fn end(&self, number: TaskRow) -> Nanos {
        self.all
            .get(number)
            .and_then(|pod| pod.seen)
            .map_or(Nanos::MAX, |(_, last)| last.saturating_add(AFTERLIFE))
    }

    /// The instance or batch job of an id, made where it is new. Pods never find
    /// these by name: a machine may be called like a pod.
    pub(super) fn of_id(&mut self, kind: TaskKind, id: Symbol, name: Symbol) -> TaskRow {
        let number = self.by_uid.get(&id).copied().unwrap_or_else(|| {
            let number = self.all.push(Task::new(kind, id, Symbol::NONE, name));
            self.by_uid.insert(id, number);
            number
        });
        if let Some(one) = self.all.get_mut(number)
            && !one.name.is_some()
        {
            one.name = name;
        }
        number
    }

    /// The instances of a name.
    pub(super) fn instances_of_name(&self, name: Symbol) -> Vec<TaskRow> {
        self.all
            .numbered()
            .filter(|(_, one)| one.kind == TaskKind::Instance && one.name == name)
            .map(|(number, _)| number)
            .collect()
    }

    /// Adds one that none of the others is.
    pub(super) fn push(&mut self, pod: Task) -> TaskRow {
        let (namespace, name) = (pod.namespace, pod.name);
        let number = self.all.push(pod);
        self.by_name
            .entry((namespace, name))
            .or_default()
            .push(number);
        self.by_bare_name.entry(name).or_default().push(number);
        number
    }
}

/// Whether two times are as inexact as ages that one command printed are: counted back from one moment, however
/// little is known of it, they have an order.
pub(super) fn are_ages(one: Stamp, other: Stamp) -> bool {
    const INEXACT: Nanos = 10 * SECOND;
    let inexact = one.width() > INEXACT && one != Stamp::OPEN && other != Stamp::OPEN;
    inexact && one.width().saturating_sub(other.width()).saturating_abs() <= SECOND
}

/// Whether something was told of a name, by the ages that were printed, before the one who bears it was made.
fn was_printed_before(made: Option<Stamp>, recorded_at: Stamp) -> bool {
    const APART: Nanos = 4 * SECOND;
    made.is_some_and(|made| {
        are_ages(made, recorded_at) && made.lo > recorded_at.lo.saturating_add(APART)
    })
}

/// Whether a pod that may have been made after something ended its name's bearer is there later and has
/// never ended: the times of printed records are too wide to tell which came first.
fn runs_unharmed(pod: &Task, at: Nanos, by: Nanos) -> bool {
    let may_be_later = pod.begin().is_some_and(|begun| begun > at);
    let is_there = pod.unasked.is_some_and(|seen| seen > by) && pod.gone.is_none();
    let runs = pod.phase.as_deref() == Some("Running") && pod.exits.is_empty();
    let restarted = pod
        .body
        .as_ref()
        .is_some_and(|body| body.restarts.values().any(|restarts| *restarts > 0));
    may_be_later && is_there && runs && !restarted
}

/// Workloads by uid and by name.
#[derive(Debug, Default)]
pub(super) struct Workloads {
    pub(super) all: Table<Workload>,
    /// The earliest time at which a record speaks of each.
    heard: Table<Workload, Stamp>,
    by_uid: HashMap<Symbol, WorkloadRow>,
    by_name: HashMap<(Symbol, Symbol, Symbol), Vec<WorkloadRow>>,
}

impl Workloads {
    /// The workload of a uid, else the one that bore the names at a time; made where it is new.
    ///
    /// Records without a uid (an audit log of metadata) and those with one speak of the
    /// same workload where nothing of that name began between them.
    pub(super) fn of(
        &mut self,
        kind: Symbol,
        uid: Symbol,
        namespace: Symbol,
        name: Symbol,
        at: Stamp,
    ) -> WorkloadRow {
        let known = if uid.is_some() {
            self.by_uid.get(&uid).copied().or_else(|| {
                self.named(kind, namespace, name, at)
                    .filter(|found| self.is_without_uid(*found))
                    .filter(|found| self.begin(*found).lo.saturating_sub(SECOND) <= at.lo)
            })
        } else {
            self.named(kind, namespace, name, at)
        };
        let number = known.unwrap_or_else(|| self.push(kind, namespace, name, at));
        if let Some(heard) = self.heard.get_mut(number) {
            heard.lo = heard.lo.min(at.lo);
            heard.hi = heard.hi.min(at.hi);
        }
        if uid.is_some() && !self.by_uid.contains_key(&uid) {
            self.by_uid.insert(uid, number);
            if let Some(workload) = self.all.get_mut(number) {
                workload.uid = uid;
            }
        }
        number
    }

    /// The workload that was made at a time: no name is given twice, so that what
    /// was heard of before then is another one.
    pub(super) fn made(
        &mut self,
        kind: Symbol,
        uid: Symbol,
        namespace: Symbol,
        name: Symbol,
        at: Stamp,
    ) -> WorkloadRow {
        let before = self
            .named(kind, namespace, name, at)
            .filter(|_| !uid.is_some())
            .filter(|number| {
                let dated = self.all.get(*number);
                dated.is_some_and(|one| one.uid.is_some() || one.created.is_some())
                    && self.begin(*number).hi < at.lo.saturating_sub(2 * SECOND)
            });
        match before {
            Some(_) => self.push(kind, namespace, name, at),
            None => self.of(kind, uid, namespace, name, at),
        }
    }

    fn push(&mut self, kind: Symbol, namespace: Symbol, name: Symbol, at: Stamp) -> WorkloadRow {
        let number = self
            .all
            .push(Workload::new(kind, Symbol::NONE, namespace, name));
        self.heard.push(at);
        self.by_name
            .entry((kind, namespace, name))
            .or_default()
            .push(number);
        number
    }

    fn is_without_uid(&self, number: WorkloadRow) -> bool {
        self.all
            .get(number)
            .is_some_and(|workload| !workload.uid.is_some())
    }

    /// When a workload began: when it was made, else when it was first heard of.
    pub(super) fn begin(&self, number: WorkloadRow) -> Stamp {
        let created = self.all.get(number).and_then(|one| one.created);
        let heard = self.heard.get(number).copied();
        created.or(heard).unwrap_or(Stamp::OPEN)
    }

    /// Whether its own object says that it was made after a time: what is told of its name
    /// then is told of the one before it.
    fn was_made_after(&self, number: WorkloadRow, at: Nanos) -> bool {
        const APART: Nanos = 5 * SECOND;
        self.all.get(number).is_some_and(|one| {
            one.uid.is_some()
                && one
                    .created
                    .is_some_and(|made| made.lo.saturating_sub(APART) > at)
        })
    }

    /// The workload that bore the names at a time, else the first to bear them.
    pub(super) fn named(
        &self,
        kind: Symbol,
        namespace: Symbol,
        name: Symbol,
        at: Stamp,
    ) -> Option<WorkloadRow> {
        let named = self.by_name.get(&(kind, namespace, name))?;
        let begun = named
            .iter()
            .copied()
            .filter(|number| self.begin(*number).lo.saturating_sub(SECOND) <= at.lo);
        begun
            .max_by_key(|number| self.begin(*number).lo)
            .or_else(|| {
                named
                    .iter()
                    .copied()
                    .filter(|number| {
                        let made = self.all.get(*number).and_then(|one| one.created);
                        !self.was_made_after(*number, at.hi) && !was_printed_before(made, at)
                    })
                    .min_by_key(|number| self.begin(*number).lo)
            })
    }

    /// As [`Self::named`] for what is known without a namespace: the workload of that name, where
    /// only one namespace has any.
    pub(super) fn named_anywhere(
        &self,
        kind: Symbol,
        name: Symbol,
        at: Stamp,
    ) -> Option<WorkloadRow> {
        let of_name = |one: &&Workload| one.kind == kind && one.name == name;
        let mut places = self.all.iter().filter(of_name).map(|one| one.namespace);
        let place = places.next()?;
        places
            .all(|other| other == place)
            .then(|| self.named(kind, place, name, at))?
    }
}
