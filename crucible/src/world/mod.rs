//! The simulated world: one queue of things to come, and what is true.

mod api;
mod client;
mod event;
mod load;
mod node;
mod pod;
mod record;
mod truth;

use std::collections::BTreeMap;
use std::fmt;

pub use api::{Api, Ask, Call, Change, Key, Kind, Rev};
pub use client::Client;
pub use event::{Involved, LIFE, Source};
pub use load::{Job, Load, Pace, PodFault, Stage, StartFailure, State};
pub use node::{Node, Taint};
pub use pod::{Condition, Container, Ended, Owner, Phase, Pod, Running};
pub use record::{CloudRecord, HostLine, LogLine, Measured, Quantity, Unit};
pub use truth::{Act, ActId, Attribution, Graph, Tag, claims, names};

use crate::plan::{LoadKind, Plan};
use crate::rng::Rng;
use crate::time::Time;

/// Something that will be done.
pub type Task = Box<dyn FnOnce(&mut World)>;

/// How a pod is tied to what ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Relation {
    /// It was struck itself.
    Victim,
    /// It died because others of its gang had.
    Collateral,
}

/// One end of a container or pod.
#[derive(Clone, Debug)]
pub struct Death {
    /// Which pod.
    pub pod: usize,
    /// When its end began: the request, the exit, or the loss of its node.
    pub time: Time,
    /// Its own place in the graph.
    pub act: ActId,
    /// How it is tied to its cause.
    pub tie: Relation,
    /// Whether the pod itself ended with it.
    pub last: bool,
}

/// Steps after which a world is stopped.
const MOST: u64 = 200_000;

/// The world.
pub struct World {
    /// What was planned.
    pub plan: Plan,
    /// The true time.
    pub now: Time,
    /// Chance.
    pub rng: Rng,
    queue: BTreeMap<(Time, u64), Task>,
    order: u64,
    done: u64,
    /// Whether it had to be stopped because it never came to rest.
    pub runaway: bool,
    /// The API server.
    pub api: Api,
    /// All nodes there ever were.
    pub nodes: Vec<Node>,
    /// All pods there ever were.
    pub pods: Vec<Pod>,
    /// All workloads.
    pub loads: Vec<Load>,
    /// All Jobs, those of a `JobSet` included.
    pub jobs: Vec<Job>,
    /// Why things happened.
    pub graph: Graph,
    /// Every death.
    pub deaths: Vec<Death>,
    /// What the containers wrote.
    pub logs: Vec<LogLine>,
    /// What the machines wrote.
    pub hosts: Vec<HostLine>,
    /// What the cloud recorded.
    pub cloud: Vec<CloudRecord>,
    /// What a Prometheus measured that is not as usual.
    pub measured: Vec<Measured>,
    /// Events that may still be counted up, and the burst of each source.
    pub(crate) events: event::Correlator,
    /// Namespaces that are being deleted.
    pub closed: Vec<String>,
    /// Ids of why the cloud gives no machines.
    pub refused: Vec<&'static str>,
    /// Budgets that allow no eviction, by namespace.
    pub budgets: Vec<String>,
    /// Who of those that run the cluster is not there.
    pub down: Down,
}

/// Why parts of the control plane do nothing, where they do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Down {
    /// The scheduler.
    pub scheduler: Option<ActId>,
    /// The controller manager, with all controllers that are Kubernetes' own.
    pub controllers: Option<ActId>,
}

impl Down {
    /// What keeps a workload that is made now from its work; a bare pod needs no controller.
    #[must_use]
    pub fn of(&self, kind: LoadKind) -> Option<ActId> {
        let controllers = self.controllers.filter(|_| kind != LoadKind::Pod);
        self.scheduler.or(controllers)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("now", &self.now)
            .field("pods", &self.pods.len())
            .field("queue", &self.queue.len())
            .finish_non_exhaustive()
    }
}

impl World {
    /// An empty world at its start.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self {
            now: plan.start,
            rng: Rng::stream(plan.seed, "world"),
            plan,
            queue: BTreeMap::new(),
            order: 0,
            done: 0,
            runaway: false,
            api: Api::default(),
            nodes: Vec::new(),
            pods: Vec::new(),
            loads: Vec::new(),
            jobs: Vec::new(),
            graph: Graph::default(),
            deaths: Vec::new(),
            logs: Vec::new(),
            hosts: Vec::new(),
            cloud: Vec::new(),
            measured: Vec::new(),
            events: event::Correlator::default(),
            closed: Vec::new(),
            refused: Vec::new(),
            budgets: Vec::new(),
            down: Down::default(),
        }
    }

    /// Does this at a time; what is planned for one moment is done in the order of planning.
    pub fn at(&mut self, time: Time, task: impl FnOnce(&mut Self) + 'static) {
        self.order += 1;
        self.queue
            .insert((time.max(self.now), self.order), Box::new(task));
    }

    /// Does this later.
    pub fn after(&mut self, nanos: i64, task: impl FnOnce(&mut Self) + 'static) {
        self.at(self.now.plus(nanos), task);
    }

    /// Does this after a time between two numbers of milliseconds.
    pub fn soon(&mut self, low: i64, high: i64, task: impl FnOnce(&mut Self) + 'static) {
        let lag = self.rng.millis(low, high);
        self.after(lag, task);
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Time) {
        while let Some((&(time, order), _)) = self.queue.first_key_value() {
            if time > end {
                break;
            }
            // No world is this busy: something in it turns in a circle.
            self.done += 1;
            if self.done > MOST {
                self.runaway = true;
                break;
            }
            self.now = time;
            if let Some(task) = self.queue.remove(&(time, order)) {
                task(self);
            }
        }
        self.now = end;
    }

    /// Adds an act to the graph, now.
    pub fn act(
        &mut self,
        what: impl Into<String>,
        causes: &[&'static str],
        from: Option<ActId>,
    ) -> ActId {
        self.graph.add(Act {
            time: self.now,
            what: what.into(),
            causes: causes.to_vec(),
            actors: Vec::new(),
            from,
        })
    }

    /// Adds an act of somebody, known by any of these names.
    pub fn deed(
        &mut self,
        what: impl Into<String>,
        causes: &[&'static str],
        actors: &[&str],
        from: Option<ActId>,
    ) -> ActId {
        self.graph.add(Act {
            time: self.now,
            what: what.into(),
            causes: causes.to_vec(),
            actors: actors.iter().map(|&name| name.to_owned()).collect(),
            from,
        })
    }

    /// The first node on which a workload has no pod.
    pub fn node_without(&self, load: usize) -> Option<usize> {
        let has_pod = |at: &usize| {
            let mut pods = self.pods.iter();
            pods.any(|pod| pod.load == load && pod.node == Some(*at))
        };
        (0..self.nodes.len()).find(|at| !has_pod(at))
    }

    /// Name of a node; empty where there is none.
    pub fn node_name(&self, node: usize) -> String {
        let node = self.nodes.get(node);
        node.map(|node| node.name.clone()).unwrap_or_default()
    }

    /// A container or pod begins to end, unless it is dead already. Gives the death.
    pub fn die(&mut self, pod: usize, by: ActId, tie: Relation, last: bool) -> Option<ActId> {
        let body = self.pods.get_mut(pod)?;
        if let Some(act) = body.death {
            return Some(act);
        }
        let act = self.graph.add(Act {
            time: self.now,
            what: format!("{} died", body.name),
            causes: Vec::new(),
            actors: Vec::new(),
            from: Some(by),
        });
        if last {
            body.death = Some(act);
        }
        self.deaths.push(Death {
            pod,
            time: self.now,
            act,
            tie,
            last,
        });
        Some(act)
    }
}
