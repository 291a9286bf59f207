//! What runs are of: the objects on top of their owner chains, with what is below them.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use whathappened_core::graph::{deployment_of, makers};
use whathappened_core::resolve::LABELS;

use super::lookup::{CatalogueView, all, identity, is_of_logs, name_of};
use super::sums;
use super::update::{GANG, LOG, TAGGED};
use super::{Entity, Root};

/// What is below a root.
#[derive(Default)]
struct Below<'a> {
    pods: u64,
    /// The plainest label of it or of any of them.
    experiment: Option<(i64, &'a str)>,
    /// When the last of several pods of its name was heard of.
    last: Option<i64>,
}

/// Objects on top of their owner chains, pods that nobody owns among them,
/// that lived in a window, in order of (last, kind, namespace, name). All of the
/// catalogue is read once: that is quicker than asking it for each run.
pub(crate) fn roots(look: CatalogueView<'_>, from: i64, to: i64) -> rusqlite::Result<Vec<Root>> {
    let entities = all(look)?;
    let labels = labels(look, entities.len())?;
    // Only owners are looked up. They are few among pods, of which there may be a million.
    let owners: HashSet<&str> = entities.iter().map(|one| one.owner.as_str()).collect();
    let known: HashMap<Cow<'_, str>, usize> = entities
        .iter()
        .enumerate()
        .map(|(number, one)| (identity(one), number))
        .filter(|(name, _)| owners.contains(&**name))
        .collect();
    // A pod that some records name without its uid is the one that others name with it. Those without
    // are few, and of a million others no list is made.
    let (without, with): (Vec<&Entity>, Vec<&Entity>) =
        entities.iter().partition(|one| one.uid.is_empty());
    let without: HashSet<(&str, &str, &str)> = without.into_iter().map(name_of).collect();
    let with_uid: HashSet<(&str, &str, &str)> = match without.is_empty() {
        true => HashSet::new(),
        false => {
            let with = with.into_iter().map(name_of);
            with.filter(|name| without.contains(name)).collect()
        }
    };
    let is_twin = |one: &Entity| one.uid.is_empty() && with_uid.contains(&name_of(one));
    let mut named: HashMap<(&str, &str, &str), usize> = HashMap::new();
    // Nothing is made by a pod.
    let makers_of_any = entities.iter().enumerate();
    for (number, one) in makers_of_any.filter(|(_, one)| one.kind != "Pod") {
        // Of several generations the newest comes first.
        named.entry(name_of(one)).or_insert(number);
    }
    // A pod of which only Events tell has no owner here; its name says what made it.
    let maker = |one: &Entity| {
        if one.kind != "Pod" || !one.owner.is_empty() {
            return None;
        }
        makers(&one.name).find_map(|(kind, name)| {
            let found = *named.get(&(kind, one.namespace.as_str(), name))?;
            let maker = entities.get(found)?;
            (maker.first <= one.last).then_some(found)
        })
    };
    // Pods of one name that nobody owns follow each other: they are of one run, the first's.
    let mut bare: HashMap<(&str, &str), usize> = HashMap::new();
    for (number, one) in entities.iter().enumerate() {
        if one.kind == "Pod" && one.owner.is_empty() && !is_twin(one) && maker(one).is_none() {
            let first = bare.entry((&one.namespace, &one.name)).or_insert(number);
            let earlier = |other: &Entity| (one.first, &one.uid) < (other.first, &other.uid);
            if entities.get(*first).is_some_and(earlier) {
                *first = number;
            }
        }
    }
    let bare = |number: usize| {
        let one = entities.get(number)?;
        let is_bare = one.kind == "Pod" && one.owner.is_empty();
        let first = bare.get(&(one.namespace.as_str(), one.name.as_str()));
        first.copied().filter(|_| is_bare)
    };
    // The machine under a node is a place of pods; a group is one by its instances.
    let has_instances = entities.iter().any(|one| one.kind == "Instance");
    let on = entities.iter().filter(|_| has_instances);
    let nodes: HashSet<&str> = on.map(|one| one.node.as_str()).collect();
    let is_place = |one: &Entity| match one.kind.as_str() {
        "Instance" => nodes.contains(one.name.as_str()),
        "Experiment" | "InstanceGroup" => true,
        _ => false,
    };
    let mut sums: BTreeMap<usize, Below<'_>> = BTreeMap::new();
    for (number, one) in entities.iter().enumerate() {
        if one.kind == "CronJob" || is_twin(one) || is_place(one) {
            continue;
        }
        let start = maker(one).unwrap_or(number);
        let top = top(&entities, &known, &named, start);
        let top = bare(top).unwrap_or(top);
        let sum = sums.entry(top).or_default();
        // Those that followed the root under its name lived on.
        if bare(number).is_some() && one.first <= one.last {
            sum.last = sum.last.max(Some(one.last));
        }
        let (pods, experiment) = (&mut sum.pods, &mut sum.experiment);
        let members = ["Pod", "Instance", "SlurmJob", LOG, TAGGED];
        // What a tracker calls a run and the folder of its files are one.
        let is_alias = one.kind == LOG && one.owner.starts_with("Log/");
        *pods += u64::from(members.contains(&one.kind.as_str()) && !is_alias);
        if let Some(label) = labels.get(&*identity(one)) {
            let label = (label.0, label.1.as_str());
            *experiment = Some(experiment.map_or(label, |before| before.min(label)));
        }
    }
    let mut roots: Vec<Root> = sums
        .into_iter()
        .filter_map(|(number, sum)| {
            let one = entities.get(number)?;
            Some((one, one.last.max(sum.last.unwrap_or(one.last)), sum))
        })
        .filter(|(one, last, _)| *last >= from && one.first <= to)
        .map(|(one, last, sum)| Root {
            kind: one.kind.clone(),
            namespace: one.namespace.clone(),
            name: one.name.clone(),
            uid: one.uid.clone(),
            experiment: sum.experiment.map(|(_, name)| name.to_owned()),
            pods: sum.pods,
            first: one.first,
            last,
        })
        .collect();
    // Beside anything else that is known, nobody can say that a log is a run of its own.
    if entities.iter().any(|one| !is_of_logs(one)) {
        roots.retain(|root| root.kind != LOG && root.kind != GANG);
    }
    roots.sort_by(|a, b| (a.last, a).cmp(&(b.last, b)));
    Ok(roots)
}

/// The top of an owner chain; a `CronJob` makes runs but is none.
fn top(
    entities: &[Entity],
    known: &HashMap<Cow<'_, str>, usize>,
    named: &HashMap<(&str, &str, &str), usize>,
    start: usize,
) -> usize {
    let mut top = start;
    // Owner chains are short; a cycle in hostile input must still end.
    for _ in 0..16 {
        let above = entities
            .get(top)
            .and_then(|one| {
                if !one.owner.is_empty() {
                    return known.get(one.owner.as_str()).copied();
                }
                let name = deployment_of(&one.name).filter(|_| one.kind == "ReplicaSet")?;
                named
                    .get(&("Deployment", one.namespace.as_str(), name))
                    .copied()
            })
            .filter(|above| {
                entities
                    .get(*above)
                    .is_some_and(|one| one.kind != "CronJob")
            });
        match above {
            Some(above) => top = above,
            None => break,
        }
    }
    top
}

/// For each bearer the plainest label that names an experiment and nothing else.
fn labels(
    look: CatalogueView<'_>,
    bearers: usize,
) -> rusqlite::Result<HashMap<String, (i64, String)>> {
    let plain = LABELS
        .iter()
        .position(|label| *label == "run-name")
        .unwrap_or(0);
    let mut found: HashMap<String, (i64, String)> = HashMap::with_capacity(bearers);
    let sum = sums::column(look.db, "names")?;
    let mut rows = look.db.prepare_cached(&format!(
        "SELECT name, tier, bearer, {sum} FROM names WHERE tier <= ?1"
    ))?;
    let mut rows = rows.query([i64::try_from(plain).unwrap_or(0)])?;
    while let Some(row) = rows.next()? {
        if !sums::is_name_whole(row)? {
            look.note_wrong();
        }
        let label = (row.get(1)?, row.get(0)?);
        match found.entry(row.get(2)?) {
            Entry::Occupied(mut before) if label < *before.get() => {
                before.insert(label);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(first) => {
                first.insert(label);
            }
        }
    }
    Ok(found)
}
