//! The API server: what is stored under which version, and who asked for it.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::World;
use super::client::Client;
use super::truth::Tag;
use crate::time::{MS, Time};

/// Kinds of object that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Kind {
    Namespace,
    Node,
    Pod,
    Job,
    JobSet,
    Deployment,
    ReplicaSet,
    StatefulSet,
    PyTorchJob,
    ResourceQuota,
    PodDisruptionBudget,
    PersistentVolumeClaim,
    ConfigMap,
    Workload,
    Event,
}

impl Kind {
    /// All of them, in the order in which lists are written.
    pub const ALL: &[Self] = &[
        Self::Namespace,
        Self::Node,
        Self::Pod,
        Self::Job,
        Self::JobSet,
        Self::Deployment,
        Self::ReplicaSet,
        Self::StatefulSet,
        Self::PyTorchJob,
        Self::ResourceQuota,
        Self::PodDisruptionBudget,
        Self::PersistentVolumeClaim,
        Self::ConfigMap,
        Self::Workload,
        Self::Event,
    ];

    /// As in `kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Node => "Node",
            Self::Pod => "Pod",
            Self::Job => "Job",
            Self::JobSet => "JobSet",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::PyTorchJob => "PyTorchJob",
            Self::ResourceQuota => "ResourceQuota",
            Self::PodDisruptionBudget => "PodDisruptionBudget",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::ConfigMap => "ConfigMap",
            Self::Workload => "Workload",
            Self::Event => "Event",
        }
    }

    /// As in a path.
    #[must_use]
    pub fn resource(self) -> &'static str {
        match self {
            Self::Namespace => "namespaces",
            Self::Node => "nodes",
            Self::Pod => "pods",
            Self::Job => "jobs",
            Self::JobSet => "jobsets",
            Self::Deployment => "deployments",
            Self::ReplicaSet => "replicasets",
            Self::StatefulSet => "statefulsets",
            Self::PyTorchJob => "pytorchjobs",
            Self::ResourceQuota => "resourcequotas",
            Self::PodDisruptionBudget => "poddisruptionbudgets",
            Self::PersistentVolumeClaim => "persistentvolumeclaims",
            Self::ConfigMap => "configmaps",
            Self::Workload => "workloads",
            Self::Event => "events",
        }
    }

    /// Its group; empty for the core.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Self::Job => "batch",
            Self::JobSet => "jobset.x-k8s.io",
            Self::PyTorchJob => "kubeflow.org",
            Self::Deployment | Self::ReplicaSet | Self::StatefulSet => "apps",
            Self::PodDisruptionBudget => "policy",
            Self::Workload => "kueue.x-k8s.io",
            _ => "",
        }
    }

    /// Its version within the group.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::JobSet => "v1alpha2",
            Self::Workload => "v1beta1",
            _ => "v1",
        }
    }

    /// As in `apiVersion`.
    #[must_use]
    pub fn api_version(self) -> String {
        match self.group() {
            "" => self.version().to_owned(),
            group => format!("{group}/{}", self.version()),
        }
    }

    fn is_namespaced(self) -> bool {
        !matches!(self, Self::Node | Self::Namespace)
    }
}

/// How an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Change {
    Added,
    Modified,
    Deleted,
}

impl Change {
    /// As a watch writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Kind.
    pub kind: Kind,
    /// Namespace; empty for a node.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
}

/// One version of an object.
#[derive(Clone, Debug)]
pub struct Rev {
    /// When it was written.
    pub time: Time,
    /// Its resourceVersion.
    pub version: u64,
    /// How it changed.
    pub change: Change,
    /// Which object.
    pub key: Key,
    /// All of it.
    pub object: Rc<Value>,
    /// What it tells.
    pub tags: Vec<Tag>,
}

/// One request, as the audit log keeps it.
#[derive(Clone, Debug)]
pub struct Call {
    /// When it was received.
    pub time: Time,
    /// When it was answered.
    pub done: Time,
    /// By whom.
    pub by: Client,
    /// `create`, `patch`, …
    pub verb: &'static str,
    /// Of what.
    pub key: Key,
    /// `status`, `eviction`, `binding`, or empty.
    pub sub: &'static str,
    /// HTTP status.
    pub code: u16,
    /// What was sent.
    pub request: Option<Rc<Value>>,
    /// What was answered.
    pub response: Option<Rc<Value>>,
    /// What it tells.
    pub tags: Vec<Tag>,
    /// Its id.
    pub id: String,
}

/// A request about to be made.
#[derive(Clone, Debug)]
pub struct Ask {
    /// By whom.
    pub by: Client,
    /// `create`, `patch`, …
    pub verb: &'static str,
    /// `status`, `eviction`, `binding`, or empty.
    pub sub: &'static str,
    /// What is sent.
    pub body: Option<Value>,
    /// What it tells.
    pub tags: Vec<Tag>,
}

impl Ask {
    /// A request without a body.
    #[must_use]
    pub fn new(by: Client, verb: &'static str, sub: &'static str) -> Self {
        Self {
            by,
            verb,
            sub,
            body: None,
            tags: Vec::new(),
        }
    }

    /// With a body.
    #[must_use]
    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// That tells this as well.
    #[must_use]
    pub fn with_tags(mut self, tags: &[Tag]) -> Self {
        self.tags.extend_from_slice(tags);
        self
    }
}

/// What is stored, and all that was asked.
#[derive(Clone, Debug, Default)]
pub struct Api {
    version: u64,
    /// Every version of every object, in order.
    pub revs: Vec<Rev>,
    /// Every request that a policy might keep, in order.
    pub calls: Vec<Call>,
    /// The newest version of every object that exists.
    pub live: BTreeMap<Key, usize>,
}

impl World {
    /// Stores a version of an object and keeps the request that asked for it.
    pub fn put(&mut self, change: Change, key: &Key, mut object: Value, ask: Ask) -> Rc<Value> {
        let step = self.rng.range(1, 3);
        self.api.version += u64::try_from(step).unwrap_or(1);
        if self.api.version < 1000 {
            self.api.version += 48_000;
        }
        object["metadata"]["resourceVersion"] = json!(self.api.version.to_string());
        let object = Rc::new(object);
        let code = if ask.verb == "create" { 201 } else { 200 };
        self.call(key, ask.clone(), code, Some(Rc::clone(&object)));
        self.api.revs.push(Rev {
            time: self.now,
            version: self.api.version,
            change,
            key: key.clone(),
            object: Rc::clone(&object),
            tags: ask.tags,
        });
        if change == Change::Deleted {
            self.api.live.remove(key);
        } else {
            self.api.live.insert(key.clone(), self.api.revs.len() - 1);
        }
        object
    }

    /// Keeps a request that changed nothing that is stored.
    pub fn call(&mut self, key: &Key, ask: Ask, code: u16, response: Option<Rc<Value>>) {
        let took = self.rng.range(2 * MS, 9 * MS);
        let id = self.rng.uuid();
        self.api.calls.push(Call {
            time: self.now.plus(-took),
            done: self.now,
            by: ask.by,
            verb: ask.verb,
            key: key.clone(),
            sub: ask.sub,
            code,
            request: ask.body.map(Rc::new),
            response,
            tags: ask.tags,
            id,
        });
    }

    /// An object as it is now.
    #[must_use]
    pub fn latest(&self, key: &Key) -> Option<Rc<Value>> {
        let at = *self.api.live.get(key)?;
        self.api.revs.get(at).map(|rev| Rc::clone(&rev.object))
    }

    /// Whether an object exists.
    #[must_use]
    pub fn exists(&self, key: &Key) -> bool {
        self.api.live.contains_key(key)
    }
}

impl Key {
    /// The path of a request for it.
    #[must_use]
    pub fn path(&self, verb: &str, sub: &str) -> String {
        let group = self.kind.group();
        let mut path = if group.is_empty() {
            "/api/v1".to_owned()
        } else {
            format!("/apis/{group}/{}", self.kind.version())
        };
        if self.kind.is_namespaced() {
            path.push_str("/namespaces/");
            path.push_str(&self.namespace);
        }
        path.push('/');
        path.push_str(self.kind.resource());
        if verb != "create" || !sub.is_empty() {
            path.push('/');
            path.push_str(&self.name);
        }
        if !sub.is_empty() {
            path.push('/');
            path.push_str(sub);
        }
        path
    }
}
