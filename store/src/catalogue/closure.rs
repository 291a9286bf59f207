//! Whom something is of and what is of it, as far as records or names tell.

use std::collections::BTreeSet;

use whathappened_core::graph::{deployment_of, is_queue_entry, makers};

use super::Entity;
use super::lookup::{CatalogueView, OWNED_BY, of_identity, query};

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
