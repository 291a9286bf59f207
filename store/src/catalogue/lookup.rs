//! From a name to everything that may be meant by it. What is found here is
//! loaded; which of it the name means is settled there, by the same tiers.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, Row, params};
use whathappened_core::graph::{deployment_of, is_queue_entry, makers};
use whathappened_core::resolve::{LABELS, Name};

use super::heard::HEARD;
use super::sums::{self, ENTITY};
use super::update::{ANNOTATIONS, GANG, JOBS, LOG, TAGGED};
use super::{Entity, Root};
use crate::access_filter::AccessFilter;
use crate::scope::MatchTier;

/// Runs of one name that are loaded, the newest ones.
const MOST_RUNS: usize = 200;

/// An entity, and whether its row is what was written. Its columns are those of [`ENTITY`], by their
/// places: there may be a million of them, and looking up a name takes as long as reading one.
fn entity(row: &Row<'_>) -> rusqlite::Result<(Entity, bool)> {
    let is_whole = sums::is_whole(row)?;
    let one = Entity {
        kind: row.get(0)?,
        namespace: row.get(1)?,
        name: row.get(2)?,
        uid: row.get(3)?,
        owner: row.get(4)?,
        node: row.get(5)?,
        first: row.get(6)?,
        last: row.get(7)?,
    };
    Ok((one, is_whole))
}

/// The index holds only those that have an owner, which the condition must say.
const OWNED_BY: &str = "owner = ?1 AND owner <> ''";

/// As above, of those that are somewhere.
const ON_NODE: &str = "node = ?1 AND node <> ''";

/// The catalogue as one caller may see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatalogueView<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) access_filter: &'a AccessFilter,
    /// How many rows turned out not to be what was written.
    pub(crate) wrong: &'a Cell<u64>,
}

impl CatalogueView<'_> {
    fn note_wrong(&self) {
        self.wrong.set(self.wrong.get() + 1);
    }
}

fn query(
    look: CatalogueView<'_>,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<Entity>> {
    let sum = sums::column(look.db, "entities")?;
    let sql = format!("SELECT {ENTITY}, {sum} FROM entities WHERE {condition}");
    let mut found = Vec::new();
    for row in look.db.prepare_cached(&sql)?.query_map(values, entity)? {
        let (one, is_whole) = row?;
        if !is_whole {
            look.note_wrong();
            // Whose it is may be what is wrong.
            if !look.access_filter.is_whole() {
                continue;
            }
        }
        // What sources told when is no entity.
        if one.kind != HEARD && look.access_filter.entity(&one) {
            found.push(one);
        }
    }
    // The newest first; all that is in the way of one another is compared here, not in the database.
    found.sort_unstable_by(|a, b| {
        let newest = b.last.cmp(&a.last);
        newest.then_with(|| (name_of(a), &a.uid).cmp(&(name_of(b), &b.uid)))
    });
    Ok(found)
}

/// Whether it is known from logs alone of which nobody says whose they are.
pub(crate) fn is_of_logs(one: &Entity) -> bool {
    one.kind == LOG || one.kind == GANG
}

/// Whether there are logs of which nobody says whose they are.
pub(crate) fn has_lone_logs(look: CatalogueView<'_>) -> rusqlite::Result<bool> {
    Ok(!query(look, "kind = 'Log'", &[])?.is_empty())
}

/// Whether something has no owner.
pub(crate) fn is_on_top(look: CatalogueView<'_>, root: &Root) -> rusqlite::Result<bool> {
    let condition = "uid = ?1 AND kind = ?2 AND namespace = ?3 AND name = ?4";
    let found = query(
        look,
        condition,
        &[&root.uid, &root.kind, &root.namespace, &root.name],
    )?;
    Ok(found.iter().all(|one| one.owner.is_empty()))
}

/// Everything that a name may mean with all it owns and is owned by, the tier
/// that matched, and how many older runs were left out.
pub(crate) fn family(
    look: CatalogueView<'_>,
    name: &Name,
) -> rusqlite::Result<Option<(MatchTier, BTreeSet<Entity>, usize)>> {
    let found = match matched(look, name)? {
        // The word before a name is its kind, or else its namespace; a stem takes any kind.
        None | Some((MatchTier::Stem, _)) => {
            let inside = name.in_namespace();
            let inside = inside
                .map(|name| matched(look, &name))
                .transpose()?
                .flatten();
            match inside {
                Some(found) => Some(found),
                None => matched(look, name)?,
            }
        }
        found => found,
    };
    let Some((tier, found)) = found else {
        return Ok(None);
    };
    let left_out = found.len().saturating_sub(limit(tier));
    let start: Vec<Entity> = found.into_iter().take(limit(tier)).collect();
    Ok(Some((tier, closure(look, start)?, left_out)))
}

fn limit(tier: MatchTier) -> usize {
    match tier {
        // A namespace is asked for as a whole.
        MatchTier::Namespace => usize::MAX,
        // Pods: a large gang is one run.
        MatchTier::Pod | MatchTier::Stem => MOST_RUNS * 100,
        _ => MOST_RUNS,
    }
}

fn matched(
    look: CatalogueView<'_>,
    name: &Name,
) -> rusqlite::Result<Option<(MatchTier, Vec<Entity>)>> {
    let in_namespace = |one: &Entity| {
        name.namespace
            .as_deref()
            .is_none_or(|asked| asked == one.namespace)
    };
    let plain = name.kind.is_none() && !name.name.contains('*');
    if plain && let Some(found) = by_word(look, &name.name, &in_namespace)? {
        return Ok(Some(found));
    }
    let named = if name.name.contains('*') {
        let prefix = name.name.split('*').next().unwrap_or_default();
        query(
            look,
            "name >= ?1 AND name < ?2",
            &[&prefix, &format!("{prefix}\u{10ffff}")],
        )?
    } else {
        query(look, "name = ?1", &[&name.name])?
    };
    let (members, workloads): (Vec<Entity>, Vec<Entity>) = named
        .into_iter()
        .filter(|one| name.is_kind(&one.kind) && name.is(&one.name) && in_namespace(one))
        .partition(|one| matches!(one.kind.as_str(), "Pod" | "Instance"));
    let (instances, pods): (Vec<Entity>, Vec<Entity>) =
        members.into_iter().partition(|one| one.kind == "Instance");
    let workloads = if workloads.is_empty() && name.is_kind("SlurmJob") {
        by_number(look, &name.name)?
    } else {
        workloads
    };
    if !workloads.is_empty() {
        return Ok(Some((MatchTier::Workload, workloads)));
    }
    if !pods.is_empty() {
        return Ok(Some((MatchTier::Pod, pods)));
    }
    if name.is_kind("Instance") {
        let by_id = query(look, "uid = ?1", &[&name.name.to_lowercase()])?;
        let mut found = instances;
        found.extend(by_id.into_iter().filter(|one| one.kind == "Instance"));
        if !found.is_empty() {
            return Ok(Some((MatchTier::Instance, found)));
        }
    }
    if !name.name.contains('*') && name.kind.as_deref() != Some("Namespace") {
        let (from, to) = (format!("{}-", name.name), format!("{}.", name.name));
        let mut stems = query(look, "name >= ?1 AND name < ?2", &[&from, &to])?;
        stems.retain(|one| one.kind == "Pod" && in_namespace(one));
        if !stems.is_empty() {
            return Ok(Some((MatchTier::Stem, stems)));
        }
    }
    if name.is_kind("Namespace") && name.namespace.is_none() {
        // Workloads as well: some never got a pod.
        let held = "kind <> 'Namespace' AND kind <> 'PersistentVolumeClaim' AND namespace <> ''";
        let mut all = query(look, held, &[])?;
        all.retain(|one| name.is(&one.namespace));
        if !all.is_empty() {
            return Ok(Some((MatchTier::Namespace, all)));
        }
    }
    Ok(None)
}

/// Batch jobs of a number.
fn by_number(look: CatalogueView<'_>, number: &str) -> rusqlite::Result<Vec<Entity>> {
    let tier = i64::try_from(JOBS).unwrap_or(i64::MAX);
    let bearers: Vec<String> = look
        .db
        .prepare_cached("SELECT bearer FROM names WHERE name = ?1 AND tier = ?2")?
        .query_map(params![number, tier], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for bearer in &bearers {
        found.extend(query(look, "uid = ?1", &[bearer])?);
    }
    Ok(found)
}

/// The first label, else the first annotation, under which anything bears the name.
fn by_word(
    look: CatalogueView<'_>,
    name: &str,
    in_namespace: &dyn Fn(&Entity) -> bool,
) -> rusqlite::Result<Option<(MatchTier, Vec<Entity>)>> {
    let mut bearers: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    let sum = sums::column(look.db, "names")?;
    let mut found = look.db.prepare_cached(&format!(
        "SELECT name, tier, bearer, {sum} FROM names WHERE name = ?1"
    ))?;
    let rows = found.query_map([name], |row| {
        Ok((row.get(1)?, row.get(2)?, sums::is_name_whole(row)?))
    })?;
    for row in rows {
        let (tier, bearer, is_whole): (i64, String, bool) = row?;
        if !is_whole {
            look.note_wrong();
        }
        bearers.entry(tier).or_default().push(bearer);
    }
    // Several labels carry a name in turn; the plainest that anything bears counts.
    for (tier, bearers) in bearers {
        let mut entities = Vec::new();
        for bearer in &bearers {
            entities.extend(of_identity(look, bearer)?);
        }
        entities.retain(in_namespace);
        if !entities.is_empty() {
            entities.sort_by(|a, b| (b.last, a).cmp(&(a.last, b)));
            return Ok(Some((tier_of(tier), entities)));
        }
    }
    Ok(None)
}

fn tier_of(tier: i64) -> MatchTier {
    let number = usize::try_from(tier).unwrap_or(0);
    if number >= JOBS {
        MatchTier::Workload
    } else if number >= ANNOTATIONS {
        MatchTier::Annotation(LABELS.get(number - ANNOTATIONS).copied().unwrap_or(""))
    } else {
        MatchTier::Label(LABELS.get(number).copied().unwrap_or(""))
    }
}

fn of_identity(look: CatalogueView<'_>, identity: &str) -> rusqlite::Result<Vec<Entity>> {
    let parts: Vec<&str> = identity.splitn(3, '/').collect();
    match parts.as_slice() {
        [kind, namespace, name] => query(
            look,
            "uid = '' AND kind = ?1 AND namespace = ?2 AND name = ?3",
            &[kind, namespace, name],
        ),
        _ => query(look, "uid = ?1", &[&identity]),
    }
}

/// Owners above, then everything below; a `CronJob` is not gone down from
/// unless it was asked for.
pub(crate) fn closure(
    look: CatalogueView<'_>,
    start: Vec<Entity>,
) -> rusqlite::Result<BTreeSet<Entity>> {
    let mut known: BTreeSet<Entity> = BTreeSet::new();
    let mut tops: Vec<Entity> = Vec::new();
    let mut queue: Vec<Entity> = start;
    let mut asked = true;
    while !queue.is_empty() {
        let mut above = Vec::new();
        for one in queue {
            if !known.insert(one.clone()) {
                continue;
            }
            if one.owner.is_empty() {
                above.extend(deployments(look, &one)?);
                above.extend(maker(look, &one)?);
            } else {
                above.extend(of_identity(look, &one.owner)?);
            }
            if asked || one.kind != "CronJob" {
                tops.push(one);
            }
        }
        queue = above;
        asked = false;
    }
    let mut below = tops;
    while let Some(one) = below.pop() {
        let mut children = query(look, OWNED_BY, &[&one.identity()])?;
        if one.kind != "Pod" {
            children.extend(made_by_name(look, &one)?);
            children.extend(queued(look, &one)?);
        }
        for child in children {
            if known.insert(child.clone()) {
                below.push(child);
            }
        }
    }
    Ok(known)
}

/// The Deployment of a replica set that no object of its own tells the owner of.
fn deployments(look: CatalogueView<'_>, one: &Entity) -> rusqlite::Result<Vec<Entity>> {
    let name = deployment_of(&one.name).filter(|_| one.kind == "ReplicaSet");
    let Some(name) = name else {
        return Ok(Vec::new());
    };
    query(
        look,
        "kind = 'Deployment' AND namespace = ?1 AND name = ?2",
        &[&one.namespace, &name],
    )
}

/// What made a pod of which only Events tell: its name says so, where such a thing was there.
fn maker(look: CatalogueView<'_>, one: &Entity) -> rusqlite::Result<Option<Entity>> {
    if one.kind != "Pod" {
        return Ok(None);
    }
    for (kind, name) in makers(&one.name) {
        let condition = "kind = ?1 AND namespace = ?2 AND name = ?3";
        let found = query(look, condition, &[&kind, &one.namespace, &name])?;
        if let Some(maker) = found.into_iter().find(|maker| maker.first <= one.last) {
            return Ok(Some(maker));
        }
    }
    Ok(None)
}

/// Pods of which only Events tell, and replica sets that only their pods name, have no owner in
/// the catalogue, but its name begins theirs.
fn made_by_name(look: CatalogueView<'_>, owner: &Entity) -> rusqlite::Result<Vec<Entity>> {
    let (from, to) = (format!("{}-", owner.name), format!("{}.", owner.name));
    let mut made = query(
        look,
        "name >= ?1 AND name < ?2 AND namespace = ?3",
        &[&from, &to, &owner.namespace],
    )?;
    let is_deployment = owner.kind == "Deployment";
    made.retain(|one| {
        let is_set = || {
            one.kind == "ReplicaSet"
                && is_deployment
                && deployment_of(&one.name) == Some(&owner.name)
        };
        one.owner.is_empty() && (one.kind == "Pod" || is_set())
    });
    Ok(made)
}

/// What Kueue queues of a job, where no object of its own tells the owner.
fn queued(look: CatalogueView<'_>, job: &Entity) -> rusqlite::Result<Vec<Entity>> {
    let stem = format!("{}-{}", job.kind.to_lowercase(), job.name);
    // The sign after `-`: everything that goes on with a `-` stands between.
    let (from, to) = (format!("{stem}-"), format!("{stem}."));
    let mut queued = query(
        look,
        "kind = 'Workload' AND owner = '' AND name >= ?1 AND name < ?2 AND namespace = ?3",
        &[&from, &to, &job.namespace],
    )?;
    queued.retain(|one| is_queue_entry(&one.name, &job.kind, &job.name));
    Ok(queued)
}

/// Entities by uid or by namespace and name: those that other records name.
pub(crate) fn others(
    look: CatalogueView<'_>,
    uids: &BTreeSet<String>,
    named: &BTreeSet<(String, String)>,
) -> rusqlite::Result<BTreeSet<Entity>> {
    let mut found = BTreeSet::new();
    for uid in uids {
        found.extend(query(look, "uid = ?1", &[uid])?);
    }
    for (namespace, name) in named {
        found.extend(query(
            look,
            "name = ?1 AND namespace = ?2",
            &[name, namespace],
        )?);
    }
    above(look, &mut found)?;
    Ok(found)
}

/// Adds the owners of some entities, up to the roots.
pub(crate) fn above(look: CatalogueView<'_>, found: &mut BTreeSet<Entity>) -> rusqlite::Result<()> {
    let mut owners: Vec<Entity> = found.iter().cloned().collect();
    while let Some(one) = owners.pop() {
        if one.owner.is_empty() {
            continue;
        }
        for above in of_identity(look, &one.owner)? {
            if found.insert(above.clone()) {
                owners.push(above);
            }
        }
    }
    Ok(())
}

/// What was on a node, the latest first.
pub(crate) fn on_node(look: CatalogueView<'_>, node: &str) -> rusqlite::Result<Vec<Entity>> {
    query(look, ON_NODE, &[&node])
}

/// Names of workloads, and values of the labels that name experiments.
pub(crate) fn nearest(look: CatalogueView<'_>) -> rusqlite::Result<Vec<String>> {
    if look.access_filter.is_whole() {
        return look
            .db
            .prepare_cached(
                "SELECT name FROM entities WHERE kind <> 'Pod' AND kind <> 'Heard' UNION SELECT name FROM names ORDER BY 1",
            )?
            .query_map(params![], |row| row.get(0))?
            .collect();
    }
    let entities = all(look)?;
    let bearers: HashSet<String> = entities.iter().map(Entity::identity).collect();
    let workloads = entities.into_iter().filter(|one| one.kind != "Pod");
    let mut names: BTreeSet<String> = workloads.map(|one| one.name).collect();
    let mut named = look.db.prepare_cached("SELECT name, bearer FROM names")?;
    let mut named = named.query([])?;
    while let Some(row) = named.next()? {
        if bearers.contains(&row.get::<_, String>(1)?) {
            names.insert(row.get(0)?);
        }
    }
    Ok(names.into_iter().collect())
}

/// Names of machines that anything was on.
pub(crate) fn machines(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached("SELECT DISTINCT node FROM entities WHERE node <> '' ORDER BY 1")?
        .query_map(params![], |row| row.get(0))?
        .collect()
}

/// The same as [`Entity::identity`], copied where it has to be.
fn identity(one: &Entity) -> Cow<'_, str> {
    match one.uid.as_str() {
        "" => Cow::Owned(one.identity()),
        uid => Cow::Borrowed(uid),
    }
}

/// What kind of thing has which name in which namespace.
fn name_of(one: &Entity) -> (&str, &str, &str) {
    (&one.kind, &one.namespace, &one.name)
}

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
    let labels = labels(look)?;
    let known: HashMap<Cow<'_, str>, usize> = entities
        .iter()
        .enumerate()
        .map(|(number, one)| (identity(one), number))
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
        *pods += u64::from(members.contains(&one.kind.as_str()));
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
fn labels(look: CatalogueView<'_>) -> rusqlite::Result<HashMap<String, (i64, String)>> {
    let plain = LABELS
        .iter()
        .position(|label| *label == "run-name")
        .unwrap_or(0);
    let mut found: HashMap<String, (i64, String)> = HashMap::new();
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

/// Every row of a condition on children and parents: who was of what, where and when.
pub(crate) fn all(look: CatalogueView<'_>) -> rusqlite::Result<Vec<Entity>> {
    query(look, "1", &[])
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Store};

    #[test]
    fn what_a_question_asks_the_catalogue_never_scans_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default()).unwrap();
        for condition in [
            super::OWNED_BY,
            super::ON_NODE,
            "uid = ?1",
            "name = ?1",
            "name >= ?1 AND name < ?2",
            "name = ?1 AND namespace = ?2",
            "uid = '' AND kind = ?1 AND namespace = ?2 AND name = ?3",
            "kind = ?1 AND namespace = ?2 AND name = ?3",
        ] {
            let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM entities WHERE {condition}");
            let values = vec!["x"; condition.matches('?').count()];
            let plan: String = store
                .db
                .query_row(&sql, rusqlite::params_from_iter(values), |row| row.get(3))
                .unwrap();
            assert!(plan.starts_with("SEARCH"), "{condition}: {plan}");
        }
    }
}
