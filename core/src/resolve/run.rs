//! Runs: one root object each, with the generations of its gang.

use std::collections::{BTreeMap, HashSet};

use whathappened_connectors::time::Nanos;

use crate::life::{End, State};
use crate::world::{Kind, NO, World, indexed};

/// Labels and annotations that name an experiment, the plainest first.
const EXPERIMENT: [&str; 5] = [
    "experiment",
    "experiment-name",
    "experiment_name",
    "run",
    "run-name",
];

/// What a run is the run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// A workload on top of its owner chain.
    Workload(u32),
    /// A pod or cloud instance that nobody owns.
    Pod(u32),
}

/// One generation of a gang.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// Its pods, in world order.
    pub pods: Vec<u32>,
}

/// All pods of one root object.
#[derive(Clone, Debug)]
pub struct Run {
    /// The root object.
    pub root: Root,
    /// Its pods, in world order.
    pub pods: Vec<u32>,
    /// Generations of the gang, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it began, as far as any record tells.
    pub begin: Option<Nanos>,
}

impl Run {
    /// A stable id: the root's uid, else its names.
    #[must_use]
    pub fn id(&self, world: &World) -> String {
        let (uid, kind, namespace, name) = self.names(world);
        if uid.is_empty() {
            format!("{kind}/{namespace}/{name}")
        } else {
            uid.to_owned()
        }
    }

    /// Uid, kind, namespace and name of the root.
    #[must_use]
    pub fn names<'a>(&self, world: &'a World) -> (&'a str, &'a str, &'a str, &'a str) {
        match self.root {
            Root::Workload(number) => {
                world
                    .workloads
                    .get(number as usize)
                    .map_or(("", "", "", ""), |one| {
                        (
                            world.name(one.uid),
                            world.name(one.kind),
                            world.name(one.namespace),
                            world.name(one.name),
                        )
                    })
            }
            Root::Pod(number) => world
                .pods
                .get(number as usize)
                .map_or(("", "", "", ""), |pod| {
                    let name = if pod.name.is_some() {
                        pod.name
                    } else {
                        pod.uid
                    };
                    (
                        world.name(pod.uid),
                        pod.kind.as_str(),
                        world.name(pod.namespace),
                        world.name(name),
                    )
                }),
        }
    }

    /// The experiment it is of, by a label or annotation, else by the root's own
    /// name; and what says so.
    #[must_use]
    pub fn experiment(&self, world: &World) -> (String, String) {
        let root = match self.root {
            Root::Workload(root) => world
                .workloads
                .get(root as usize)
                .and_then(|one| one.body.as_ref()),
            Root::Pod(_) => None,
        };
        let pods = || {
            self.pods
                .iter()
                .filter_map(|pod| world.pods.get(*pod as usize)?.body.as_ref())
        };
        let found = EXPERIMENT.iter().find_map(|key| {
            root.into_iter().chain(pods()).find_map(|body| {
                let label = body.labels.get(*key).map(|value| (value, "label"));
                let (value, what) =
                    label.or_else(|| Some((body.annotations.get(*key)?, "annotation")))?;
                (!value.is_empty()).then(|| (value.clone(), format!("{what} {key}")))
            })
        });
        let (_, kind, _, name) = self.names(world);
        found.unwrap_or_else(|| (name.to_owned(), format!("name of the {kind}")))
    }

    /// The attempt that a pod belongs to, from 1.
    #[must_use]
    pub fn attempt_of(&self, pod: u32) -> u32 {
        let found = self
            .attempts
            .iter()
            .position(|attempt| attempt.pods.contains(&pod));
        u32::try_from(found.unwrap_or(0)).unwrap_or(0) + 1
    }
}

/// All runs of a world, in order of (begin, id), oldest first.
#[must_use]
pub fn runs(world: &World, ends: &[End]) -> Vec<Run> {
    let mut pods_of: BTreeMap<Root, Vec<u32>> = BTreeMap::new();
    let number = |index: usize| u32::try_from(index).unwrap_or(NO);
    let mut bare: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let carriers: HashSet<u32> = world
        .carriers
        .values()
        .flatten()
        .map(|carrier| carrier.member)
        .collect();
    for (index, pod) in world.pods.iter().enumerate() {
        // The machine under a node is a place, and whoever was on it is told of.
        if carriers.contains(&number(index)) {
            continue;
        }
        let root = if pod.kind == Kind::Instance && pod.root == NO {
            Root::Pod(number(index))
        } else if pod.root == NO {
            // Bare pods of one name follow each other: they are attempts of one run.
            let name = (world.name(pod.namespace), world.name(pod.name));
            Root::Pod(*bare.entry(name).or_insert(number(index)))
        } else {
            Root::Workload(pod.root)
        };
        pods_of.entry(root).or_default().push(number(index));
    }
    // A workload that never got a pod is a run too: quota, queue or admission held it.
    let makes_runs = |kind: &str| {
        !matches!(
            kind,
            "CronJob" | "Workload" | "PersistentVolumeClaim" | "RayService"
        )
    };
    let spoken_of: HashSet<u32> = world.said.iter().map(|(workload, _)| *workload).collect();
    for (index, workload) in world.workloads.iter().enumerate() {
        let known = workload.body.is_some() || spoken_of.contains(&number(index));
        let top = workload.owner == NO
            || world
                .workloads
                .get(workload.owner as usize)
                .is_some_and(|owner| world.name(owner.kind) == "CronJob");
        if top
            && known
            && makes_runs(world.name(workload.kind))
            && whathappened_connectors::kubernetes::is_workload(world.name(workload.kind))
        {
            pods_of.entry(Root::Workload(number(index))).or_default();
        }
    }
    let mut found: Vec<Run> = pods_of
        .into_iter()
        .map(|(root, pods)| {
            let attempts = attempts(world, &pods, ends);
            let made = match root {
                Root::Workload(number) => world
                    .workloads
                    .get(number as usize)
                    .and_then(|one| one.created),
                Root::Pod(_) => None,
            };
            let first = pods
                .iter()
                .filter_map(|pod| world.pods.get(*pod as usize)?.begin())
                .min();
            Run {
                root,
                pods,
                attempts,
                begin: made
                    .map(|stamp| stamp.lo)
                    .filter(|begin| *begin != Nanos::MIN)
                    .or(first),
            }
        })
        .collect();
    found.sort_by_cached_key(|run| (run.begin, run.id(world)));
    found
}

/// A new generation begins with a pod that takes the place of one that ended:
/// the same slot again, or any new pod after a death where slots are not named.
fn attempts(world: &World, pods: &[u32], ends: &[End]) -> Vec<Attempt> {
    let mut in_order: Vec<u32> = pods.to_vec();
    in_order.sort_by_key(|pod| {
        (
            world
                .pods
                .get(*pod as usize)
                .and_then(crate::world::Pod::begin),
            *pod,
        )
    });
    let mut attempts: Vec<Attempt> = Vec::new();
    for pod in in_order {
        let begin = world
            .pods
            .get(pod as usize)
            .and_then(crate::world::Pod::begin);
        // Of bare pods with one name there is one at a time.
        let bare = world
            .pods
            .get(pod as usize)
            .is_some_and(|new| new.root == NO);
        let replaces = bare
            || attempts.last().is_some_and(|attempt| {
                attempt.pods.iter().any(|earlier| {
                    let ended = || over(world, *earlier, ends);
                    took_place(world, *earlier, pod)
                        && begin.is_some_and(|begin| ended().is_some_and(|ended| ended <= begin))
                })
            });
        match attempts.last_mut() {
            Some(attempt) if !replaces => attempt.pods.push(pod),
            _ => attempts.push(Attempt { pods: vec![pod] }),
        }
    }
    for attempt in &mut attempts {
        attempt.pods.sort_unstable();
    }
    attempts
}

/// When a pod was over: its end, or, of one that waited in its place of a gang and of which
/// only Events told, when they last did.
fn over(world: &World, pod: u32, ends: &[End]) -> Option<Nanos> {
    let end = ends.get(pod as usize)?;
    let waited = matches!(end.state, State::NeverScheduled | State::StuckStarting);
    let one = world.pods.get(pod as usize)?;
    let told = one
        .seen
        .filter(|_| waited && one.rank.is_some() && one.body.is_none());
    end.final_time()
        .map(|end| end.lo)
        .or(told.map(|(_, last)| last))
}

/// Whether a pod stands where an earlier one stood in its gang. Of one that is known from
/// Events alone only its rank is.
fn took_place(world: &World, earlier: u32, pod: u32) -> bool {
    let index = |pod: u32| {
        let name = world.pods.get(pod as usize)?.name;
        indexed(world.name(name))
    };
    if index(earlier).is_some_and(|index_before| index(pod) == Some(index_before)) {
        return true;
    }
    let (before, after) = (slot(world, earlier), slot(world, pod));
    match (&before, &after) {
        (Some((None, before)), Some((_, after))) | (Some((_, before)), Some((None, after))) => {
            // A Job that its set made anew bears the name of the one before.
            let owner = |pod: u32| {
                let number = world.pods.get(pod as usize)?.owner;
                let owner = world.workloads.get(number as usize)?;
                Some((owner.kind, owner.name, owner.owner))
            };
            before == after && owner(earlier) == owner(pod)
        }
        _ => before == after,
    }
}

/// The place in the gang that a pod takes: the group it is of, where its labels are
/// known, and its rank there.
fn slot(world: &World, pod: u32) -> Option<(Option<String>, i32)> {
    const GROUPS: [&str; 5] = [
        "jobset.sigs.k8s.io/replicatedjob-name",
        "training.kubeflow.org/replica-type",
        "leaderworkerset.sigs.k8s.io/group-index",
        "volcano.sh/task-spec",
        "ray.io/group",
    ];
    let pod = world.pods.get(pod as usize)?;
    let rank = pod.rank?;
    let group = pod.body.as_ref().map(|body| {
        let labels = &body.labels;
        let group = GROUPS.iter().find_map(|key| labels.get(*key));
        let index = labels.get("jobset.sigs.k8s.io/job-index");
        format!(
            "{}/{}",
            group.map_or("", String::as_str),
            index.map_or("", String::as_str)
        )
    });
    Some((group, rank))
}
