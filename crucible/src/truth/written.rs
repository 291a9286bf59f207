//! What the records that were written tell, and of whom.

use std::collections::{BTreeMap, BTreeSet};

use super::{Seen, seen};
use crate::observe::File;
use crate::world::{ActId, Death, Tag, World};

/// What was written and whole.
#[derive(Debug)]
pub struct Written<'a> {
    files: &'a [File],
    /// What records tell that are about no object.
    free: BTreeSet<Tag>,
    /// What machines and clouds tell.
    of_machines: BTreeSet<Tag>,
    /// Uids of pods and of what made them.
    owned: BTreeSet<String>,
    /// What the records about each object tell, by its uid.
    pub of: BTreeMap<String, BTreeSet<Tag>>,
}

impl<'a> Written<'a> {
    /// What these files tell.
    #[must_use]
    pub fn new(files: &'a [File], w: &World) -> Self {
        let mut written = Self {
            files,
            free: BTreeSet::new(),
            of_machines: BTreeSet::new(),
            owned: owned(w),
            of: BTreeMap::new(),
        };
        for file in files {
            let of_machine = matches!(file.source.as_str(), "hosts" | "cloud" | "metrics");
            for record in file.whole() {
                let tags = record.tags.iter().copied();
                match &record.subject {
                    Some(subject) => {
                        if let Some(known) = written.of.get_mut(subject) {
                            known.extend(tags);
                        } else {
                            written.of.insert(subject.clone(), tags.collect());
                        }
                    }
                    None if of_machine => written.of_machines.extend(tags),
                    None => written.free.extend(tags),
                }
            }
        }
        written
    }

    /// Whether a word stands in any record, or in the name of a file.
    #[must_use]
    pub fn mentions(&self, word: &str) -> bool {
        self.files.iter().any(|file| {
            file.path.contains(word)
                || file.head.contains(word)
                || file.whole().any(|record| record.text.contains(word))
        })
    }

    /// What is told of a run: by records about itself, and by others that are about no other
    /// run; by those of a machine only where some record says that the pod was there.
    #[must_use]
    pub fn of_run(&self, w: &World, pod: Option<usize>, uids: &[String]) -> BTreeSet<Tag> {
        let placed = pod.and_then(|at| w.pods.get(at)).is_none_or(|pod| {
            let node = pod.node.and_then(|node| w.nodes.get(node));
            node.is_none_or(|node| self.is_placed(&pod.uid, &node.name))
        });
        let is_node = |uid: &str| {
            w.nodes
                .iter()
                .any(|node| node.uid == uid || node.name == uid)
        };
        let mut tags = self.free.clone();
        if placed {
            tags.extend(&self.of_machines);
        }
        for (subject, own) in &self.of {
            let counts = if uids.contains(subject) {
                true
            } else if is_node(subject) {
                placed
            } else {
                !self.owned.contains(subject)
            };
            if counts {
                tags.extend(own);
            }
        }
        tags
    }

    /// What is right of an end of a run: the most upstream act of which something is told, and what is further up.
    #[must_use]
    pub fn written_acts(&self, w: &World, death: &Death, uids: &[String]) -> Vec<ActId> {
        let tags = self.of_run(w, Some(death.pod), uids);
        let has_name = |id: ActId| w.graph.get(id).is_some_and(|act| !act.causes.is_empty());
        let chain = w.graph.chain(death.act);
        let is_written = |id: &ActId| has_name(*id) && seen(*id, &tags) > Seen::Nothing;
        let first = chain.iter().position(is_written).map_or(0, |at| at + 1);
        chain.into_iter().take(first).collect()
    }

    fn is_placed(&self, uid: &str, node: &str) -> bool {
        let in_a_slice = uid.replace('-', "_");
        self.files.iter().any(|file| {
            let of_node = file.head.contains(node) || file.path.contains(node);
            file.whole().any(|record| {
                if record.subject.as_deref() == Some(uid) {
                    of_node || record.text.contains(node)
                } else {
                    of_node && (record.text.contains(&in_a_slice) || record.text.contains(uid))
                }
            })
        })
    }
}

fn owned(w: &World) -> BTreeSet<String> {
    let pods = w.pods.iter().map(|pod| &pod.uid);
    let jobs = w.jobs.iter().map(|job| &job.uid);
    let roots = w.loads.iter().map(|load| &load.uid);
    let sets = w.loads.iter().filter_map(|load| load.set.as_ref());
    let sets = sets.map(|set| &set.1);
    pods.chain(jobs).chain(roots).chain(sets).cloned().collect()
}
