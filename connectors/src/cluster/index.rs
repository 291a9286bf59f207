//! Who there is in a cluster, by names, labels and owners alone: a few hundred bytes an object, so
//! that those of a large cluster fit. What a question concerns is found here, as the store's
//! catalogue finds it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use whathappened_model::table::{RowNumber, Table};

use super::head::{Head, HeadOwner};
use crate::kind::normal_kind;
use crate::listing::{ListedObject, NameFilter};

/// What a list of the index is of.
#[derive(Clone, Debug)]
pub(super) struct IndexedList {
    pub(super) kind: Arc<str>,
    pub(super) namespaced: bool,
}

/// An object, or an owner that no list has.
#[derive(Debug)]
pub(super) struct Indexed {
    /// Number of its list; `None` of what only others name.
    pub(super) list: Option<u16>,
    pub(super) kind: Arc<str>,
    pub(super) namespace: Arc<str>,
    pub(super) name: Box<str>,
    uid: Arc<str>,
    owner: Option<ObjectRow>,
    ranks: [Option<u32>; 2],
    /// Places in the filter's labels, and values.
    pub(super) labels: Box<[(u8, Arc<str>)]>,
}

/// The number of an object.
pub(super) type ObjectRow = RowNumber<Indexed>;

/// An owner as objects name it.
#[derive(Debug)]
struct NamedOwner {
    kind: Arc<str>,
    namespace: Arc<str>,
    name: Box<str>,
    uid: Arc<str>,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) lists: Vec<IndexedList>,
    pub(super) objects: Table<Indexed>,
    /// Owners, and which of them each object names, until they are linked.
    owners: Table<NamedOwner>,
    named_owners: Table<Indexed, Option<RowNumber<NamedOwner>>>,
    owner_of_uid: HashMap<Arc<str>, RowNumber<NamedOwner>>,
    words: HashSet<Arc<str>>,
    /// Numbers of objects, sorted by uid and by namespace and name.
    by_uid: Vec<ObjectRow>,
    by_name: Vec<ObjectRow>,
    children: HashMap<ObjectRow, Vec<ObjectRow>>,
}

impl Index {
    fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let new: Arc<str> = word.into();
        self.words.insert(Arc::clone(&new));
        new
    }

    /// Takes an object of a list in.
    pub(super) fn add(&mut self, list: u16, head: Head, filter: &dyn NameFilter) {
        let Some(of) = self.lists.get(usize::from(list)).cloned() else {
            return;
        };
        let head = head.metadata;
        let labels = head.labels.unwrap_or_default();
        let annotations = head.annotations.unwrap_or_default();
        let listed = ListedObject {
            kind: &of.kind,
            namespace: &head.namespace,
            name: &head.name,
            labels: &labels,
            annotations: &annotations,
        };
        let is_run = is_run(&of.kind);
        let ranks = if is_run {
            filter.ranks(&listed)
        } else {
            [None; 2]
        };
        let own: Vec<(u8, Arc<str>)> = (0..)
            .zip(filter.labels())
            .filter_map(|(place, key)| Some((place, labels.get(*key)?)))
            .map(|(place, value)| (place, self.word(value)))
            .collect();
        let namespace = self.word(&head.namespace);
        // The catalogue takes the same one of several.
        let owners = head.owner_references.unwrap_or_default();
        let owner = owners
            .iter()
            .find(|owner| owner.controller == Some(true))
            .or_else(|| owners.first())
            .filter(|owner| is_run && owner.kind != "Node");
        let owner = owner.map(|owner| self.owner(owner, &namespace));
        self.named_owners.push(owner);
        self.objects.push(Indexed {
            list: Some(list),
            kind: of.kind,
            namespace,
            name: head.name.into(),
            uid: head.uid.into(),
            owner: None,
            ranks,
            labels: own.into(),
        });
    }

    fn owner(&mut self, owner: &HeadOwner, namespace: &Arc<str>) -> RowNumber<NamedOwner> {
        let uid: Arc<str> = owner.uid.as_str().into();
        let identity = if uid.is_empty() {
            format!("{}/{namespace}/{}", owner.kind, owner.name).into()
        } else {
            Arc::clone(&uid)
        };
        if let Some(known) = self.owner_of_uid.get(&identity) {
            return *known;
        }
        let kind = self.word(&normal_kind(&owner.kind, &owner.api_version));
        let number = self.owners.push(NamedOwner {
            kind,
            namespace: Arc::clone(namespace),
            name: owner.name.as_str().into(),
            uid,
        });
        self.owner_of_uid.insert(identity, number);
        number
    }

    /// Adds what only Events or the store tell of; nothing where an object is known under that name.
    pub(super) fn add_unlisted(
        &mut self,
        (kind, namespace, name): (&str, &str, &str),
        filter: &dyn NameFilter,
    ) {
        let (kind, space) = (self.word(kind), self.word(namespace));
        self.push_unlisted(kind, space, name.into(), "".into(), filter);
    }

    fn push_unlisted(
        &mut self,
        kind: Arc<str>,
        namespace: Arc<str>,
        name: Box<str>,
        uid: Arc<str>,
        filter: &dyn NameFilter,
    ) -> ObjectRow {
        let none = BTreeMap::new();
        let listed = ListedObject {
            kind: &kind,
            namespace: &namespace,
            name: &name,
            labels: &none,
            annotations: &none,
        };
        let ranks = filter.ranks(&listed);
        self.named_owners.push(None);
        self.objects.push(Indexed {
            list: None,
            kind,
            namespace,
            name,
            uid,
            owner: None,
            ranks,
            labels: Box::default(),
        })
    }

    /// Ties objects to their owners, once all lists are read.
    pub(super) fn link(&mut self, filter: &dyn NameFilter) {
        self.owner_of_uid = HashMap::new();
        self.sort();
        let mut rows: Table<NamedOwner, ObjectRow> = Table::default();
        for one in std::mem::take(&mut self.owners) {
            let known = self.of_uid(&one.uid).filter(|_| !one.uid.is_empty());
            rows.push(known.unwrap_or_else(|| {
                self.push_unlisted(one.kind, one.namespace, one.name, one.uid, filter)
            }));
        }
        let named = std::mem::take(&mut self.named_owners);
        for (number, object) in self.objects.numbered_mut() {
            object.owner = rows.get(named.get(number).copied().flatten()).copied();
            if let Some(owner) = object.owner {
                self.children.entry(owner).or_default().push(number);
            }
        }
        self.sort();
    }

    /// Puts what was added into its places.
    pub(super) fn sort(&mut self) {
        let mut by_uid: Vec<ObjectRow> = self.objects.numbers().collect();
        let mut by_name = by_uid.clone();
        by_uid.sort_by_key(|number| (self.get(*number).map(|one| &*one.uid), *number));
        by_name.sort_by_key(|number| (self.get(*number).map(Indexed::full_name), *number));
        (self.by_uid, self.by_name) = (by_uid, by_name);
    }

    pub(super) fn get(&self, number: ObjectRow) -> Option<&Indexed> {
        self.objects.get(number)
    }

    /// The object of a uid.
    pub(super) fn of_uid(&self, uid: &str) -> Option<ObjectRow> {
        let of = |number: &ObjectRow| self.get(*number).map(|one| &*one.uid);
        let at = self.by_uid.partition_point(|number| of(number) < Some(uid));
        let found = self.by_uid.get(at).copied();
        found.filter(|number| of(number) == Some(uid))
    }

    /// What bears a name in a namespace, of whatever kind.
    pub(super) fn of_name<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = ObjectRow> + 'a {
        let of = |number: &ObjectRow| self.get(*number).map(Indexed::full_name);
        let wanted = Some((namespace, name));
        let at = self.by_name.partition_point(|number| of(number) < wanted);
        let from = self.by_name.get(at..).unwrap_or_default();
        from.iter()
            .copied()
            .take_while(move |number| of(number) == wanted)
    }

    /// The plainest rank under which anything bears the name, in either way to read it.
    pub(super) fn best(&self) -> Option<u32> {
        self.best_of_each().into_iter().flatten().min()
    }

    fn best_of_each(&self) -> [Option<u32>; 2] {
        let best = |way: usize| self.objects.iter().filter_map(|one| one.ranks[way]).min();
        [best(0), best(1)]
    }

    /// Everything that the name may mean with all it owns and is owned by: as the catalogue of the
    /// store has it, so that nothing is missing there that a full list would have brought.
    pub(super) fn family(&self) -> BTreeSet<ObjectRow> {
        let best = self.best_of_each();
        let is_meant = |one: &Indexed| {
            let mut each = one.ranks.into_iter().zip(best);
            each.any(|(rank, best)| rank.is_some() && rank == best)
        };
        let start: Vec<ObjectRow> = self
            .objects
            .numbered()
            .filter(|(_, one)| is_meant(one))
            .map(|(number, _)| number)
            .collect();
        self.closure(start)
    }

    fn closure(&self, start: Vec<ObjectRow>) -> BTreeSet<ObjectRow> {
        let mut known = BTreeSet::new();
        let mut below = Vec::new();
        let (mut queue, mut asked) = (start, true);
        while !queue.is_empty() {
            let mut above = Vec::new();
            for number in queue {
                let Some(one) = self.get(number).filter(|_| known.insert(number)) else {
                    continue;
                };
                above.extend(one.owner);
                // Other runs of a CronJob are not this one.
                if asked || &*one.kind != "CronJob" {
                    below.push(number);
                }
            }
            (queue, asked) = (above, false);
        }
        while let Some(number) = below.pop() {
            let children = self.children.get(&number).into_iter().flatten().copied();
            for child in children.chain(self.made_by_name(number)) {
                if known.insert(child) {
                    below.push(child);
                }
            }
        }
        known
    }

    /// What has no owner but a name that begins with a workload's: pods, and what Kueue queues.
    fn made_by_name(&self, maker: ObjectRow) -> Vec<ObjectRow> {
        let Some(maker) = self.get(maker).filter(|one| &*one.kind != "Pod") else {
            return Vec::new();
        };
        let queued = format!("{}-{}-", maker.kind.to_lowercase(), maker.name);
        let made = self.starting(&maker.namespace, &format!("{}-", maker.name), "Pod");
        made.chain(self.starting(&maker.namespace, &queued, "Workload"))
            .collect()
    }

    /// Objects of a kind without an owner whose names begin so.
    fn starting<'a>(
        &'a self,
        namespace: &'a str,
        stem: &str,
        kind: &'a str,
    ) -> impl Iterator<Item = ObjectRow> + use<'a> {
        let stem = stem.to_owned();
        let of = |number: &ObjectRow| self.get(*number).map(Indexed::full_name);
        let at = self
            .by_name
            .partition_point(|number| of(number) < Some((namespace, &*stem)));
        let from = self.by_name.get(at..).unwrap_or_default();
        from.iter()
            .copied()
            .take_while(move |number| {
                let name = self.get(*number).map(Indexed::full_name);
                name.is_some_and(|(space, name)| space == namespace && name.starts_with(&stem))
            })
            .filter(move |number| {
                let one = self.get(*number);
                one.is_some_and(|one| &*one.kind == kind && one.owner.is_none())
            })
    }

    /// An object and those above it.
    pub(super) fn with_owners(&self, number: ObjectRow) -> Vec<ObjectRow> {
        let up = |number: &ObjectRow| self.get(*number)?.owner;
        std::iter::successors(Some(number), up).take(16).collect()
    }

    /// Names of workloads and values of the labels that name runs.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for one in self.objects.iter().filter(|one| is_run(&one.kind)) {
            names.extend(one.labels.iter().map(|(_, value)| value.to_string()));
            if &*one.kind != "Pod" {
                names.insert(one.name.to_string());
            }
        }
        names
    }

    /// The workloads of a name, else one bearer of a label of that value: enough to know the name.
    pub(super) fn called(&self, name: &str) -> Vec<ObjectRow> {
        let find = |is: &dyn Fn(&Indexed) -> bool| -> Vec<ObjectRow> {
            let numbered = self.objects.numbered();
            numbered
                .filter(|(_, one)| is(one))
                .map(|(number, _)| number)
                .collect()
        };
        let mut found = find(&|one| &*one.name == name && &*one.kind != "Pod");
        if found.is_empty() {
            found = find(&|one| one.labels.iter().any(|(_, value)| &**value == name));
            found.truncate(1);
        }
        found
    }
}

impl Indexed {
    fn full_name(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }
}

/// Whether a kind makes runs or is made by one: nobody asks for a claim or a node by a run's name.
fn is_run(kind: &str) -> bool {
    !matches!(kind, "Node" | "PersistentVolumeClaim")
}
