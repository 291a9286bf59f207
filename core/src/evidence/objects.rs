//! Versions of objects, each body kept once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use whathappened_model::event::{Origin, SourceKind};
use whathappened_model::object::{ObjectBody, ObjectKey, ObjectVersion};
use whathappened_model::time::{Nanos, Stamp};

/// One version of an object.
#[derive(Clone, Debug)]
pub struct Version {
    /// `metadata.resourceVersion`, where it is a number.
    pub revision: Option<u64>,
    /// A time at which it was true.
    pub at: Option<Stamp>,
    /// The object was gone.
    pub deleted: bool,
    /// Who made this version, where that was seen.
    pub by: Option<String>,
    /// What it was.
    pub body: Arc<ObjectBody>,
    /// The connector.
    pub source_kind: SourceKind,
    /// Whether Kubernetes itself showed it, whoever told it most exactly.
    pub listed: bool,
    /// Where it was read.
    pub origin: Origin,
}

/// All objects by key, in key order.
#[derive(Debug, Default)]
pub struct Objects {
    pub(super) versions: BTreeMap<ObjectKey, Vec<Version>>,
    bodies: HashMap<[u8; 32], Arc<ObjectBody>>,
    pub(super) read: u64,
}

impl Objects {
    /// Takes in a version; a copy of a known one changes nothing.
    pub fn add(&mut self, version: ObjectVersion) {
        self.read += 1;
        let text = serde_json::to_vec(&version.body).unwrap_or_default();
        let digest = *blake3::hash(&text).as_bytes();
        let body = Arc::clone(
            self.bodies
                .entry(digest)
                .or_insert_with(|| Arc::new(version.body)),
        );
        let versions = self.versions.entry(version.key).or_default();
        let same = versions.iter_mut().find(|known| {
            known.deleted == version.deleted
                && known.revision == version.revision
                && (known.revision.is_some() || known.at == version.at)
                && Arc::ptr_eq(&known.body, &body)
        });
        let found = Version {
            revision: version.revision,
            at: version.at,
            deleted: version.deleted,
            by: version.by,
            body,
            source_kind: version.source_kind,
            listed: version.source_kind == SourceKind::Kubernetes,
            origin: version.origin,
        };
        match same {
            // Of two copies the one with the narrower time is kept, then the lower origin.
            Some(known) => {
                let rank = |version: &Version| {
                    (
                        version.at.map_or(i64::MAX, Stamp::width),
                        version.source_kind,
                        version.origin.clone(),
                    )
                };
                let by = known.by.take().max(found.by.clone());
                let listed = known.listed || found.listed;
                if rank(&found) < rank(known) {
                    *known = found;
                }
                known.by = by;
                known.listed = listed;
            }
            None => versions.push(found),
        }
    }

    /// Puts the versions of each object in order: by revision where both have
    /// one (comparable since Kubernetes 1.35, and numbers of one etcd before),
    /// else by time. To be called once, when everything is read.
    pub fn settle(&mut self) {
        for versions in self.versions.values_mut() {
            versions.sort_by(|a, b| {
                let by_time = || a.at.cmp(&b.at);
                let by_revision = match (a.revision, b.revision) {
                    (Some(a), Some(b)) => a.cmp(&b),
                    _ => by_time(),
                };
                by_revision
                    .then_with(|| a.deleted.cmp(&b.deleted))
                    .then_with(by_time)
                    .then_with(|| a.source_kind.cmp(&b.source_kind))
                    .then_with(|| a.origin.cmp(&b.origin))
            });
        }
        self.bodies = HashMap::new();
    }

    /// What objects were whose bodies are `such`, to be put right. Each version has a body of its own afterwards.
    pub(crate) fn bodies_mut(
        &mut self,
        such: fn(&ObjectBody) -> bool,
    ) -> impl Iterator<Item = (&mut Option<Stamp>, &mut ObjectBody)> {
        let versions = self.versions.values_mut().flatten();
        versions
            .filter(move |one| such(&one.body))
            .map(|one| (&mut one.at, Arc::make_mut(&mut one.body)))
    }

    /// Every object with its versions, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&ObjectKey, &[Version])> {
        self.versions
            .iter()
            .map(|(key, versions)| (key, versions.as_slice()))
    }

    /// The latest time at which any object is known to have been as it was read.
    #[must_use]
    pub fn latest(&self) -> Option<Nanos> {
        let versions = self.versions.values().flatten();
        versions
            .filter_map(|version| version.at)
            .filter(|at| *at != Stamp::OPEN)
            .map(|at| at.lo)
            .max()
    }

    /// How many object records were read, copies included.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }
}
