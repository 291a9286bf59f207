//! What some rows say of who there is.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use whathappened_core::graph::instance_group;
use whathappened_core::resolve::LABELS;
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::kind::is_workload;
use whathappened_model::time::Nanos;
use whathappened_model::tracker;

use super::Entity;
use super::heard::{HEARD, SourceRow, source_row};
use crate::day::Day;
use crate::record::{Fact, FactOrObject, Object, Record as _, job_id};

mod write;

/// Labels come first, then annotations, each in the order of [`LABELS`].
pub(crate) const ANNOTATIONS: usize = 1_000;

/// Numbers of batch jobs come after all labels.
pub(crate) const JOBS: usize = 2_000;

const INSTANCE: &str = "Instance";
/// A log of which nobody says whose it is, and several such that are of one run.
pub(crate) const LOG: &str = "Log";
pub(crate) const GANG: &str = "Gang";
/// What a machine wrote of an experiment that only a log store's label or tag names.
pub(crate) const TAGGED: &str = "TaggedLog";
/// Pods that nobody owns and that Kueue lets in together.
const PODS: &str = "PodGroup";
const JOB: &str = "SlurmJob";

/// (uid, kind, namespace, name).
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Entities and names, ready to be written in one transaction with the rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatalogueUpdate {
    entities: Vec<Entity>,
    /// Places in `entities` by the hash of the key: most rows speak of what is
    /// known already, and looking that up should cost no memory.
    by_hash: HashMap<u64, Vec<usize>>,
    names: BTreeSet<(String, usize, String)>,
    /// Where in `entities` sources are that told something lately: rows of one come together.
    heard: Vec<HeardPlace>,
}

/// A source's day and its place.
#[derive(Clone, Debug)]
struct HeardPlace {
    source: SourceKind,
    resource: &'static str,
    rough: bool,
    day: Day,
    cluster: String,
    place: usize,
}

impl HeardPlace {
    fn is_of(&self, other: &SourceRow<'_>) -> bool {
        (self.source, self.resource, self.rough, self.day)
            == (other.source, other.resource, other.rough, other.day)
            && self.cluster == other.cluster
    }
}

/// Sources that are looked for among the latest before the catalogue's own list is.
const LATELY: usize = 16;

/// The name of the log that a line stands in, where it says nothing else of where it is from:
/// what the entity graph calls a run that it knows from such a log alone.
pub(crate) fn lone_log(event: &Event) -> Option<&str> {
    let of = &event.entities;
    let has_owner = [&of.pod, &of.workload, &of.node, &of.instance, &of.host]
        .iter()
        .any(|name| name.is_some());
    let is_line = event.fact == "log.line" && event.source_kind == SourceKind::ContainerLog;
    if !is_line || has_owner || event.attribute("slurm_job").is_some() {
        return None;
    }
    let file = &*event.origin.file;
    let name = file.rsplit(['/', '\\', '!']).next().unwrap_or(file);
    Some(if matches!(name, "" | "-") {
        "stdin"
    } else {
        name
    })
}

impl CatalogueUpdate {
    pub(crate) fn see(&mut self, row: &FactOrObject) {
        self.hear(row);
        match row {
            FactOrObject::Fact(fact) => self.fact(fact),
            FactOrObject::Object(object) => self.object(object),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entities.len() + self.names.len()
    }

    /// Notes that a source told something.
    fn hear(&mut self, row: &FactOrObject) {
        let Some(report) = source_row(row) else {
            return;
        };
        let known = self.heard.iter().find(|one| one.is_of(&report));
        let known = known.map(|one| one.place);
        let place = known.unwrap_or_else(|| {
            let (uid, name) = report.key();
            let place = self.place((&uid, HEARD, "", &name));
            self.heard.truncate(LATELY);
            let one = HeardPlace {
                source: report.source,
                resource: report.resource,
                rough: report.rough,
                day: report.day,
                cluster: report.cluster.to_owned(),
                place,
            };
            self.heard.insert(0, one);
            place
        });
        if let Some(life) = self.entities.get_mut(place) {
            life.first = life.first.min(report.first);
            life.last = life.last.max(report.last);
        }
    }

    fn fact(&mut self, fact: &Fact) {
        let event = &fact.event;
        let of = &event.entities;
        let namespace = of.namespace.as_deref().unwrap_or_default();
        let (first, last) = (event.time.lo, fact.last());
        if let Some(pod) = &of.pod {
            let uid = of.pod_uid.as_deref().unwrap_or_default();
            let pod = self.add((uid, "Pod", namespace, pod), "", first, last);
            if let Some(node) = of.node.as_ref().filter(|node| **node != pod.node) {
                pod.node.clone_from(node);
            }
            // A log store's label names it as the pod's own label would.
            if let Some(experiment) = of.experiment.as_ref().filter(|_| event.fact == "log.line") {
                let bearer = if uid.is_empty() {
                    format!("Pod/{namespace}/{}", of.pod.as_deref().unwrap_or_default())
                } else {
                    uid.to_owned()
                };
                self.names.insert((experiment.clone(), 0, bearer));
            }
        }
        if let Some(log) = lone_log(event) {
            self.add(("", LOG, "", log), "", first, last);
        }
        self.tracked(event, (first, last));
        self.tagged(event, (first, last));
        self.machine_or_job(event, (first, last));
        if let (Some(kind), Some(name)) = (&of.workload_kind, &of.workload)
            && is_workload(kind)
        {
            let about = event.object_kind.as_ref() == Some(kind);
            let uid = event.object_uid.as_deref().filter(|_| about);
            self.add(
                (uid.unwrap_or_default(), kind, namespace, name),
                "",
                first,
                last,
            );
        }
    }

    /// A run that an experiment tracker's files tell of. It is called as its tracker calls it, or else after its folder:
    /// what is known by the folder is of the name once both are told of together.
    fn tracked(&mut self, event: &Event, (first, last): (Nanos, Nanos)) {
        if !tracker::is_fact(&event.fact) {
            return;
        }
        let text = |key: &str| event.attribute(key).filter(|text| !text.is_empty());
        let name = text(tracker::NAME);
        // What has neither steps nor a name nor a place is an experiment, or a project, and no run.
        if event.fact == tracker::RUN && name.is_none() && text(tracker::HOST).is_none() {
            return;
        }
        let Some(folder) = text(tracker::FOLDER).map(tracker::name_of_folder) else {
            return;
        };
        let above = name.filter(|name| *name != folder).map(|name| {
            self.add(("", LOG, "", name), "", first, last);
            format!("{LOG}//{name}")
        });
        let above = above.unwrap_or_default();
        self.add(("", LOG, "", folder), &above, first, last);
    }

    /// An experiment that nothing but a log store's label or tag names.
    fn tagged(&mut self, event: &Event, (first, last): (Nanos, Nanos)) {
        let of = &event.entities;
        let is_known = [&of.pod, &of.workload, &of.instance]
            .iter()
            .any(|name| name.is_some());
        let Some(experiment) = of.experiment.as_deref() else {
            return;
        };
        if is_known || event.fact != "log.line" {
            return;
        }
        let machine = of.node.as_deref().or(of.host.as_deref()).unwrap_or("");
        self.add(("", "Experiment", "", experiment), "", first, last);
        let (name, above) = (
            format!("{experiment}/{machine}"),
            format!("Experiment//{experiment}"),
        );
        let log = self.add(("", TAGGED, "", &name), &above, first, last);
        machine.clone_into(&mut log.node);
    }

    /// Instances and batch jobs that a fact is about.
    fn machine_or_job(&mut self, event: &Event, (first, last): (Nanos, Nanos)) {
        let of = &event.entities;
        if of.pod.is_none()
            && of.workload.is_none()
            && let Some(id) = &of.instance
        {
            let account = event.attribute("account").unwrap_or_default();
            let name = of.node.as_deref().unwrap_or_default();
            let above = self.part_of(
                of.experiment.as_deref(),
                event.attribute("group"),
                account,
                (first, last),
            );
            self.add((id, INSTANCE, account, name), &above, first, last);
        }
        let reported = event.attribute("slurm_job").map(job_id);
        let job = event
            .object_uid
            .as_ref()
            .filter(|_| event.object_kind.as_deref() == Some(JOB))
            .or(reported.as_ref());
        if let Some(job) = job {
            let number = job.rsplit('/').next().unwrap_or(job);
            let name = of.workload.as_deref().unwrap_or(number);
            self.add((job, JOB, "", name), "", first, last);
            self.names.insert((number.to_owned(), JOBS, job.clone()));
        }
    }

    /// What an instance is part of, as others call it: its experiment, else its group.
    fn part_of(
        &mut self,
        experiment: Option<&str>,
        group: Option<&str>,
        account: &str,
        (first, last): (Nanos, Nanos),
    ) -> String {
        let (kind, name) = match (experiment, group) {
            (Some(experiment), _) => ("Experiment", experiment),
            (None, Some(group)) => ("InstanceGroup", group),
            (None, None) => return String::new(),
        };
        self.add(("", kind, account, name), "", first, last);
        format!("{kind}/{account}/{name}")
    }

    /// Logs that turned out to be of one run.
    pub(crate) fn gang(&mut self, gang: &str, logs: &[String], (first, last): (Nanos, Nanos)) {
        self.add(("", GANG, "", gang), "", first, last);
        for log in logs {
            let above = format!("{GANG}//{gang}");
            self.add(("", LOG, "", log), &above, first, last);
        }
    }

    /// A log, or a tracker's folder, that turned out to be of the run of another log.
    pub(crate) fn of_log(&mut self, log: &str, part: &str, (first, last): (Nanos, Nanos)) {
        self.add(("", LOG, "", log), "", first, last);
        self.add(("", LOG, "", part), &format!("{LOG}//{log}"), first, last);
    }

    fn object(&mut self, object: &Object) {
        let version = &object.version;
        let (key, body) = (&version.key, &version.body);
        let other = matches!(key.kind.as_str(), INSTANCE | JOB);
        if key.kind != "Pod" && !other && !is_workload(&key.kind) {
            return;
        }
        let first = body.created.or(version.at).map_or(Nanos::MIN, |at| at.lo);
        let last = object.last().max(first);
        let owner = body
            .owners
            .iter()
            .find(|owner| owner.controller)
            .or_else(|| body.owners.first())
            .filter(|owner| owner.kind != "Node" && key.kind != INSTANCE);
        let above = owner.map_or_else(String::new, |owner| {
            self.add(
                (&owner.uid, &owner.kind, &key.namespace, &owner.name),
                "",
                first,
                last,
            );
            if owner.uid.is_empty() {
                format!("{}/{}/{}", owner.kind, key.namespace, owner.name)
            } else {
                owner.uid.clone()
            }
        });
        let above = if key.kind == INSTANCE {
            let group = instance_group(body);
            self.part_of(body.experiment(), group, &key.namespace, (first, last))
        } else if let Some(group) = body.pod_group().filter(|_| key.kind == "Pod") {
            self.add(("", PODS, &key.namespace, group), "", first, last);
            format!("{PODS}/{}/{group}", key.namespace)
        } else {
            above
        };
        if key.kind == JOB {
            let number = key.uid.rsplit('/').next().unwrap_or(&key.uid);
            self.names.insert((number.to_owned(), JOBS, key.identity()));
        }
        let one = self.add(
            (&key.uid, &key.kind, &key.namespace, &key.name),
            &above,
            first,
            last,
        );
        if let Some(node) = &body.node {
            one.node.clone_from(node);
        }
        // A gang's pods bear the same names: they are kept once, at its owner.
        let bearer = if key.kind == "Pod" && !above.is_empty() {
            above
        } else {
            key.identity()
        };
        for (base, words) in [(0, &body.labels), (ANNOTATIONS, &body.annotations)] {
            for (number, label) in LABELS.iter().enumerate() {
                if let Some(value) = words.get(*label).filter(|value| !value.is_empty()) {
                    self.names
                        .insert((value.clone(), base + number, bearer.clone()));
                }
            }
        }
    }

    fn add(&mut self, key: Key<'_>, owner: &str, first: Nanos, last: Nanos) -> &mut Entity {
        // What has no time is of no day; it must not stretch the life of a name.
        let (first, last) = if first == Nanos::MIN {
            (last, last)
        } else {
            (first, last.max(first))
        };
        let place = self.place(key);
        let life = &mut self.entities[place];
        if !owner.is_empty() {
            owner.clone_into(&mut life.owner);
        }
        if last != Nanos::MIN {
            life.first = life.first.min(first);
            life.last = life.last.max(last);
        }
        life
    }

    /// Where an entity is in the list; it is put there when it is new.
    fn place(&mut self, key: Key<'_>) -> usize {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let places = self.by_hash.entry(hasher.finish()).or_default();
        let known = places.iter().copied().find(|place| {
            self.entities.get(*place).is_some_and(|life| {
                (
                    life.uid.as_str(),
                    life.kind.as_str(),
                    life.namespace.as_str(),
                    life.name.as_str(),
                ) == key
            })
        });
        if let Some(known) = known {
            return known;
        }
        let (uid, kind, namespace, name) = key;
        let place = self.entities.len();
        places.push(place);
        self.entities.push(Entity {
            uid: uid.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            owner: String::new(),
            node: String::new(),
            first: Nanos::MAX,
            last: Nanos::MIN,
        });
        place
    }

    /// Takes in what another catalogue knows of an entity.
    #[cfg(feature = "lake")]
    pub(crate) fn known(&mut self, one: &Entity) {
        let place = self.place((&one.uid, &one.kind, &one.namespace, &one.name));
        let Some(life) = self.entities.get_mut(place) else {
            return;
        };
        life.first = life.first.min(one.first);
        life.last = life.last.max(one.last);
        for (own, value) in [(&mut life.owner, &one.owner), (&mut life.node, &one.node)] {
            if !value.is_empty() {
                own.clone_from(value);
            }
        }
    }

    /// Takes in that something bears a name; `tier` is the label's place.
    #[cfg(feature = "lake")]
    pub(crate) fn named(&mut self, name: String, tier: usize, bearer: String) {
        self.names.insert((name, tier, bearer));
    }

    /// The entities, in the order in which they were seen.
    #[cfg(feature = "lake")]
    pub(crate) fn entities(&self) -> impl Iterator<Item = Entity> + '_ {
        self.entities.iter().cloned()
    }

    /// The names: (name, tier, bearer), in order.
    #[cfg(feature = "lake")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &(String, usize, String)> {
        self.names.iter()
    }
}
