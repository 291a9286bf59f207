//! Who there is: pods and workloads, who owned them, from when to when, and
//! under which names people ask for them.

mod closure;
mod heard;
pub(crate) mod kept_roots;
mod lookup;
mod roots;
mod sums;
mod update;

use serde::{Deserialize, Serialize};
use whathappened_core::resolve::Name;

pub(crate) use closure::{above, closure, others};
pub use heard::Heard;
pub(crate) use heard::{HEARD, cluster, heard};
pub(crate) use lookup::{
    CatalogueView, all, family, has_lone_logs, has_others, is_of_logs, is_on_top, machines,
    nearest, on_node,
};
pub(crate) use roots::roots;
pub(crate) use sums::{
    ENTITY, column as sum_column, count_wrong, forget_wrong, is_whole as is_entity_whole,
    keep_missing_sums, lacks_sums,
};
pub(crate) use update::{CatalogueUpdate, GANG, LOG, TAGGED, lone_log};

/// A pod or a workload, as far as the catalogue knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity {
    /// `Pod`, `Job`, `PyTorchJob`, …
    pub kind: String,
    /// Its namespace; empty where no record says.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty where no record says.
    pub uid: String,
    /// The owner's uid, else its `kind/namespace/name`; empty for none.
    pub owner: String,
    /// The node of a pod; empty where unknown.
    pub node: String,
    /// The earliest time that a record of it tells, in nanoseconds.
    pub first: i64,
    /// The latest time that a record of it tells, in nanoseconds.
    pub last: i64,
}

/// An object on top of its owner chain: what runs are of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Root {
    /// Its kind; `Pod` for one that nobody owns.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty where no record says.
    pub uid: String,
    /// The label or annotation that names its experiment.
    pub experiment: Option<String>,
    /// How many pods were below it.
    pub pods: u64,
    /// The earliest time that a record of it tells, in nanoseconds.
    pub first: i64,
    /// The latest time that a record of it tells, in nanoseconds.
    pub last: i64,
}

impl Root {
    /// By what it is asked for.
    #[must_use]
    pub fn as_name(&self) -> Name {
        Name {
            kind: Some(self.kind.clone()),
            namespace: Some(self.namespace.clone()).filter(|namespace| !namespace.is_empty()),
            name: self.name.clone(),
        }
    }
}

impl Entity {
    /// By what others call it their owner: its uid, else `kind/namespace/name`.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.uid.is_empty() {
            format!("{}/{}/{}", self.kind, self.namespace, self.name)
        } else {
            self.uid.clone()
        }
    }
}
