//! From a name to everything that may be meant by it. What is found here is
//! loaded; which of it the name means is settled there, by the same tiers.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use whathappened_core::resolve::{LABELS, Name};

use super::closure::closure;
use super::heard::HEARD;
use super::sums::{self, ENTITY};
use super::update::{ANNOTATIONS, GANG, JOBS, LOG};
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
pub(super) const OWNED_BY: &str = "owner = ?1 AND owner <> ''";

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
    pub(super) fn note_wrong(&self) {
        self.wrong.set(self.wrong.get() + 1);
    }
}

pub(super) fn query(
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

/// Whether anything is known but such logs.
pub(crate) fn has_others(look: CatalogueView<'_>) -> rusqlite::Result<bool> {
    let others = "kind NOT IN ('Log', 'Gang', 'Heard')";
    let one: Option<i64> = look
        .db
        .prepare_cached(&format!("SELECT 1 FROM entities WHERE {others} LIMIT 1"))?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(one.is_some())
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

pub(super) fn of_identity(
    look: CatalogueView<'_>,
    identity: &str,
) -> rusqlite::Result<Vec<Entity>> {
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
pub(super) fn identity(one: &Entity) -> Cow<'_, str> {
    match one.uid.as_str() {
        "" => Cow::Owned(one.identity()),
        uid => Cow::Borrowed(uid),
    }
}

/// What kind of thing has which name in which namespace.
pub(super) fn name_of(one: &Entity) -> (&str, &str, &str) {
    (&one.kind, &one.namespace, &one.name)
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
