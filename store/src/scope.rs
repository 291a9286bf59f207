//! From a name to the rows that tell what happened to it: first who and where,
//! then everything about those.

use std::collections::BTreeSet;
use std::fmt;

use whathappened_core::resolve::Name;
use whathappened_model::listing::RelatedNames;
use whathappened_model::machine::Machine;
use whathappened_model::time::{Nanos, SECOND};

use crate::catalogue::{self, Entity, Heard, Root};
use crate::error::StoreError;
use crate::record::{Class, Fact, Object, job_id};
use crate::segment::SubjectKey;
use crate::snapshot::{Snapshot, machine};

/// How long before a run its machines are looked at: maintenance is announced ahead.
const BEFORE: Nanos = 7 * 86_400 * SECOND;
/// How long before a run an outage may have begun that it died of.
const LASTING: Nanos = 86_400 * SECOND;
/// How long after a run records of it still arrive.
const AFTER: Nanos = 86_400 * SECOND;
/// Pods of others that are looked up because a record names them.
const MOST_OTHERS: usize = 200;

/// How a name was found in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchTier {
    /// A label's value.
    Label(&'static str),
    /// An annotation's value.
    Annotation(&'static str),
    /// A workload's name.
    Workload,
    /// A pod's name.
    Pod,
    /// A cloud instance's name or id.
    Instance,
    /// The beginning of pods' names.
    Stem,
    /// A namespace.
    Namespace,
    /// A machine's name.
    Machine,
}

impl fmt::Display for MatchTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(key) => write!(f, "label {key}"),
            Self::Annotation(key) => write!(f, "annotation {key}"),
            Self::Workload => f.write_str("workload name"),
            Self::Pod => f.write_str("pod name"),
            Self::Instance => f.write_str("instance"),
            Self::Stem => f.write_str("stem of pod names"),
            Self::Namespace => f.write_str("namespace"),
            Self::Machine => f.write_str("machine"),
        }
    }
}

/// What the store has about a name.
#[derive(Clone, Debug)]
pub struct ScopedRows {
    /// How the name was found.
    pub tier: MatchTier,
    /// Facts; one may come twice, with different witnesses.
    pub facts: Vec<Fact>,
    /// Versions of objects; one may come twice.
    pub objects: Vec<Object>,
    /// Older runs of the name that were not loaded.
    pub left_out: usize,
    /// From when to when the runs lived.
    pub window: (Nanos, Nanos),
    /// What each source of the store told on each day.
    pub heard: Vec<Heard>,
    /// What these rows name beside the run, and the run's own names: whoever fetches more asks for these.
    pub related: RelatedNames,
}

impl ScopedRows {
    /// The clusters that the facts were seen in, as far as they tell.
    #[must_use]
    pub fn clusters(&self) -> BTreeSet<String> {
        clusters(&self.facts)
    }
}

pub(crate) fn find(snapshot: &Snapshot<'_>, name: &Name) -> Result<Option<ScopedRows>, StoreError> {
    let Some((tier, entities, left_out)) =
        catalogue::family(snapshot.look(), name).map_err(snapshot.failed())?
    else {
        return Ok(None);
    };
    if entities.iter().all(catalogue::is_of_logs) {
        let found = lone_logs(snapshot, tier, near(life(&entities)))?;
        // Beside anything else that is known, whose a tracker's files are is told by that.
        let is_log = |fact: &Fact| {
            let log = catalogue::lone_log(&fact.event);
            log.is_some_and(|log| entities.iter().any(|one| one.name == log))
        };
        let is_gang = entities.iter().any(|one| one.kind == catalogue::GANG);
        let is_alone = is_gang || found.facts.iter().any(is_log);
        let others = || catalogue::has_others(snapshot.look()).map_err(snapshot.failed());
        return Ok((is_alone || !others()?).then_some(found));
    }
    of_entities(snapshot, tier, &entities, left_out).map(Some)
}

/// Reads the rows of some roots' own places, of which each is found in memory then.
pub(crate) fn read_ahead(snapshot: &Snapshot<'_>, roots: &[&Root]) -> Result<(), StoreError> {
    let mut own: BTreeSet<SubjectKey> = BTreeSet::new();
    let mut window = (Nanos::MAX, Nanos::MIN);
    for root in roots {
        let name = root.as_name();
        let family = catalogue::family(snapshot.look(), &name).map_err(snapshot.failed())?;
        let Some((_, entities, _)) = family else {
            continue;
        };
        if entities.iter().all(catalogue::is_of_logs) {
            continue;
        }
        let near = near(life(&entities));
        window = (near.0.min(window.0), near.1.max(window.1));
        own.extend(places(&entities));
    }
    if window.0 <= window.1 {
        snapshot.warm::<Object>(&own, (Nanos::MIN, Nanos::MAX))?;
        snapshot.warm::<Fact>(&own, window)?;
    }
    Ok(())
}

/// All logs of a time of which nobody says whose they are: which of them are of one run is
/// told by all of them.
pub(crate) fn lone_logs(
    snapshot: &Snapshot<'_>,
    tier: MatchTier,
    window: (Nanos, Nanos),
) -> Result<ScopedRows, StoreError> {
    let nothing = BTreeSet::from([(Class::Other, String::new(), String::new())]);
    let mut facts: Vec<Fact> = snapshot.places(&nothing, window)?;
    // The files of an experiment tracker may be of one of these logs.
    let is_of_tracker = |fact: &Fact| whathappened_model::tracker::is_fact(&fact.event.fact);
    facts.retain(|fact| catalogue::lone_log(&fact.event).is_some() || is_of_tracker(fact));
    Ok(ScopedRows {
        tier,
        facts,
        objects: Vec::new(),
        left_out: 0,
        window,
        heard: snapshot.heard()?,
        related: RelatedNames::default(),
    })
}

/// When records of what lived may have been told.
fn near((first, last): (Nanos, Nanos)) -> (Nanos, Nanos) {
    (
        first.saturating_sub(3_600 * SECOND),
        last.saturating_add(AFTER),
    )
}

/// Everything about some entities: their own rows, what these name, and their machines.
pub(crate) fn of_entities(
    snapshot: &Snapshot<'_>,
    tier: MatchTier,
    entities: &BTreeSet<Entity>,
    left_out: usize,
) -> Result<ScopedRows, StoreError> {
    let always = (Nanos::MIN, Nanos::MAX);
    let (first, last) = life(entities);
    let near = near((first, last));
    let own = places(entities);
    let mut objects: Vec<Object> = snapshot.places(&own, always)?;
    let mut facts: Vec<Fact> = snapshot.places(&own, near)?;

    let mut around = around(&objects, &facts);
    let other = catalogue::others(snapshot.look(), &around.uids, &around.named)
        .map_err(snapshot.failed())?;
    let mut more: BTreeSet<SubjectKey> = places(&other);
    more.extend(around.claims.iter().cloned());
    let more: BTreeSet<SubjectKey> = more.difference(&own).cloned().collect();
    objects.extend(snapshot.places::<Object>(&more, always)?);
    facts.extend(snapshot.places::<Fact>(&more, near)?);

    // Facts of machines, and of nothing in particular: autoscalers tell those.
    let wide = (first.saturating_sub(BEFORE), near.1);
    let clusters = clusters(&facts);
    let of_machines = |wanted: &BTreeSet<SubjectKey>| -> Result<Vec<Fact>, StoreError> {
        let mut found = snapshot.places::<Fact>(wanted, wide)?;
        found.retain(|fact| !is_of_another(fact, &clusters));
        Ok(found)
    };
    objects.extend(snapshot.places::<Object>(&around.machines, always)?);
    facts.extend(of_machines(&around.machines)?);
    // The instances under those machines: some records know only their ids.
    let known = instances(snapshot, &objects, &facts)?;
    let under: BTreeSet<SubjectKey> = known.difference(&around.machines).cloned().collect();
    objects.extend(snapshot.places::<Object>(&under, always)?);
    facts.extend(of_machines(&under)?);
    around.machines.extend(under);
    let nothing = BTreeSet::from([(Class::Other, String::new(), String::new())]);
    let lasting = (first.saturating_sub(LASTING), near.1);
    facts.extend(snapshot.places::<Fact>(&nothing, lasting)?);
    Ok(ScopedRows {
        tier,
        facts,
        objects,
        left_out,
        window: (first, last),
        heard: snapshot.heard()?,
        related: related(entities, around),
    })
}

/// The clusters that facts were seen in, as far as they are known by what identifies
/// them: clouds and log stores call them by names of their own.
fn clusters(facts: &[Fact]) -> BTreeSet<String> {
    facts
        .iter()
        .filter_map(seen_in)
        .map(str::to_owned)
        .collect()
}

fn seen_in(fact: &Fact) -> Option<&str> {
    Some(catalogue::cluster(&fact.event)).filter(|cluster| !cluster.is_empty())
}

/// Whether a fact is about a machine of another cluster, which has the same name there.
fn is_of_another(fact: &Fact, clusters: &BTreeSet<String>) -> bool {
    let seen_in = seen_in(fact);
    seen_in.is_some_and(|cluster| !clusters.is_empty() && !clusters.contains(cluster))
}

fn life(entities: &BTreeSet<Entity>) -> (Nanos, Nanos) {
    let known = || entities.iter().filter(|one| one.first <= one.last);
    (
        known().map(|one| one.first).min().unwrap_or(Nanos::MIN),
        known().map(|one| one.last).max().unwrap_or(Nanos::MAX),
    )
}

pub(crate) fn places(entities: &BTreeSet<Entity>) -> BTreeSet<SubjectKey> {
    let mut wanted = BTreeSet::new();
    for one in entities {
        if one.kind == "Instance" {
            wanted.extend([&one.name, &one.uid].map(|name| machine(name)));
            continue;
        }
        if one.kind == catalogue::TAGGED {
            wanted.insert(machine(&one.node));
            continue;
        }
        if one.kind == "SlurmJob" {
            let number = one.uid.rsplit('/').next().unwrap_or(&one.uid);
            wanted.insert((Class::Subject, String::new(), job_id(number)));
        }
        for namespace in [one.namespace.as_str(), ""] {
            wanted.insert((Class::Subject, namespace.to_owned(), one.name.clone()));
        }
        // A kernel names the pod of a process by its uid alone.
        for namespace in [one.namespace.as_str(), ""] {
            if !one.uid.is_empty() {
                wanted.insert((Class::Subject, namespace.to_owned(), one.uid.clone()));
            }
        }
    }
    wanted
}

/// The cloud instances that machines are, as far as nodes, inventories and facts tell.
pub(crate) fn instances(
    snapshot: &Snapshot<'_>,
    objects: &[Object],
    facts: &[Fact],
) -> Result<BTreeSet<SubjectKey>, StoreError> {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for version in objects.iter().map(|object| &object.version) {
        match version.key.kind.as_str() {
            "Instance" => ids.extend(Some(version.key.uid.clone())),
            "Node" => {
                let reported = version.body.provider_id.as_deref();
                ids.extend(
                    reported
                        .and_then(Machine::parse_provider_id)
                        .and_then(|one| one.id),
                );
            }
            _ => {}
        }
    }
    ids.extend(
        facts
            .iter()
            .filter_map(|fact| fact.event.entities.instance.clone()),
    );
    ids.remove("");
    let named = catalogue::others(snapshot.look(), &ids, &BTreeSet::new());
    let named = named.map_err(snapshot.failed())?;
    let names = named
        .into_iter()
        .filter(|one| one.kind == "Instance" && !one.name.is_empty())
        .map(|one| one.name);
    Ok(names
        .chain(ids.clone())
        .map(|name| machine(&name))
        .collect())
}

/// What the rows of an experiment name beside it.
#[derive(Default)]
struct NamedBeside {
    machines: BTreeSet<SubjectKey>,
    /// Volume claims and namespaces.
    claims: BTreeSet<SubjectKey>,
    uids: BTreeSet<String>,
    named: BTreeSet<(String, String)>,
}

fn around(objects: &[Object], facts: &[Fact]) -> NamedBeside {
    let mut around = NamedBeside::default();
    let subject =
        |namespace: &str, name: &str| (Class::Subject, namespace.to_owned(), name.to_owned());
    for object in objects {
        let version = &object.version;
        let namespace = &version.key.namespace;
        if let Some(node) = &version.body.node {
            around.machines.insert(machine(node));
        }
        for claim in &version.body.claims {
            around.claims.insert(subject(namespace, claim));
        }
        for name in ["", namespace] {
            around.claims.insert(subject(name, namespace));
        }
        if let Some(queue) = version.body.labels.get("kueue.x-k8s.io/queue-name") {
            around.claims.insert(subject(namespace, queue));
        }
    }
    for fact in facts {
        let event = &fact.event;
        let namespace = event.entities.namespace.as_deref().unwrap_or_default();
        let of = &event.entities;
        for name in [&of.node, &of.instance, &of.host].into_iter().flatten() {
            around.machines.insert(machine(name));
        }
        let listed = event
            .attributes
            .get("nodes")
            .and_then(|list| list.as_array());
        for name in listed.into_iter().flatten().filter_map(|one| one.as_str()) {
            around.machines.insert(machine(name));
        }
        for name in ["", namespace] {
            around.claims.insert(subject(name, namespace));
        }
        if let Some(claim) = event.attribute("claim") {
            around.claims.insert(subject(namespace, claim));
        }
        if let Some(queue) = event.attribute("queue") {
            around.claims.insert(subject("", queue));
        }
        for key in ["preemptor_uid", "other_uid"] {
            if let Some(uid) = event
                .attribute(key)
                .filter(|_| around.uids.len() < MOST_OTHERS)
            {
                around.uids.insert(uid.to_owned());
            }
        }
        if let Some(name) = event
            .attribute("other_pod")
            .filter(|_| around.named.len() < MOST_OTHERS)
        {
            let elsewhere = event.attribute("other_namespace").unwrap_or(namespace);
            around.named.insert((elsewhere.to_owned(), name.to_owned()));
        }
    }
    around
}

/// The names by which a source may be asked for more of all that.
fn related(entities: &BTreeSet<Entity>, around: NamedBeside) -> RelatedNames {
    let of_machine = [catalogue::TAGGED, "Instance", "SlurmJob"];
    let own = entities
        .iter()
        .filter(|one| !of_machine.contains(&one.kind.as_str()) && !catalogue::is_of_logs(one))
        .map(|one| (one.namespace.clone(), one.name.clone()));
    let names =
        |places: BTreeSet<SubjectKey>| places.into_iter().map(|(_, space, name)| (space, name));
    RelatedNames {
        subjects: own.collect(),
        machines: names(around.machines).map(|(_, name)| name).collect(),
        claims: names(around.claims).collect(),
        uids: around.uids,
        named: around.named,
    }
}
