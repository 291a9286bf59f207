//! What a list tells of objects without their bodies, and which of them a question is about.
//!
//! A large cluster is not read in full for one run: names, labels and owners of everything are
//! listed, and the objects that the name concerns are read by those.

use std::collections::{BTreeMap, BTreeSet};

/// An object as a list of metadata shows it.
#[derive(Clone, Copy, Debug)]
pub struct ListedObject<'a> {
    /// Its kind, told apart from others of the same word.
    pub kind: &'a str,
    /// Its namespace; empty where it has none.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: &'a BTreeMap<String, String>,
}

/// Which objects bear the name of a question.
pub trait NameFilter: Send + Sync {
    /// Labels that name runs: they are kept of every object, to ask for those of one run at once.
    fn labels(&self) -> &'static [&'static str];

    /// How an object bears the name in each way in which the name may be read, the lower the
    /// plainer. Of each way, only the plainest counts in the end.
    fn ranks(&self, object: &ListedObject<'_>) -> [Option<u32>; 2];

    /// From this rank on a name is a guess: what only Events tell of may bear it more plainly.
    fn guessed_from(&self) -> u32;

    /// Whether the name is a pattern, so that no server can look for it.
    fn is_pattern(&self) -> bool;

    /// The name itself.
    fn name(&self) -> &str;

    /// Up to five of some names that are nearest to the one asked for.
    fn nearest(&self, known: BTreeSet<String>) -> Vec<String>;
}

/// What the rows about a run name beside it: each is read for the answer as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelatedNames {
    /// The run's own pods and workloads, by namespace and name.
    pub subjects: BTreeSet<(String, String)>,
    /// Nodes, and instances by name or id.
    pub machines: BTreeSet<String>,
    /// Volume claims, by namespace and name.
    pub claims: BTreeSet<(String, String)>,
    /// Others by uid: who preempted a pod.
    pub uids: BTreeSet<String>,
    /// Others by namespace and name.
    pub named: BTreeSet<(String, String)>,
}
