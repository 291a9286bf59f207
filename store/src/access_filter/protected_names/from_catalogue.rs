//! Who owns which names, as the catalogue has it.

use std::collections::{BTreeSet, HashSet};

use rusqlite::Connection;

use super::{NameFinder, ProtectedNames};
use crate::access::Access;
use crate::access_filter::mentions::HidePolicy as _;
use crate::access_filter::public_names::{self, EVERYWHERE, SYSTEM};
use crate::access_filter::{OUTSIDE, may_see, workload_names};
use crate::catalogue::{ENTITY, LOG, TAGGED, is_entity_whole, sum_column};

/// Letters of the shortest uid that is like no other word.
const LEAST: usize = 8;

/// A row of the catalogue.
struct Row {
    kind: String,
    namespace: String,
    name: String,
    uid: String,
    node: String,
    owner: String,
}

impl Row {
    fn identity(&self) -> String {
        if self.uid.is_empty() {
            format!("{}/{}/{}", self.kind, self.namespace, self.name)
        } else {
            self.uid.clone()
        }
    }
}

/// What the catalogue has, on the way to [`ProtectedNames`].
#[derive(Default)]
struct CatalogueNames {
    all: BTreeSet<String>,
    pods: BTreeSet<String>,
    workloads: BTreeSet<String>,
    namespaces: BTreeSet<String>,
    machines: HashSet<String>,
    /// Identities of the caller's own.
    bearers: HashSet<String>,
    /// Identities of a cluster's own components.
    system: HashSet<String>,
}

impl ProtectedNames {
    /// Reads the catalogue.
    pub(in crate::access_filter) fn read(
        db: &Connection,
        access: &Access,
    ) -> rusqlite::Result<Self> {
        let mut words = Self::default();
        let mut found = CatalogueNames::default();
        let sum = sum_column(db, "entities")?;
        let mut rows = db.prepare(&format!(
            "SELECT {ENTITY}, {sum} FROM entities WHERE kind <> 'Heard'"
        ))?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let one = Row {
                kind: row.get(0)?,
                namespace: row.get(1)?,
                name: row.get(2)?,
                uid: row.get(3)?,
                owner: row.get(4)?,
                node: row.get(5)?,
            };
            // What is not what was written makes nothing the caller's own.
            if !is_entity_whole(row)? && may_see(access, &one.kind, &one.namespace) {
                continue;
            }
            words.take(one, access, &mut found);
        }
        let mut named = db.prepare("SELECT name, bearer FROM names")?;
        let mut named = named.query([])?;
        while let Some(row) = named.next()? {
            let (name, bearer): (String, String) = (row.get(0)?, row.get(1)?);
            if found.bearers.contains(&bearer) {
                words.own.insert(name);
            } else if !found.system.contains(&bearer) {
                found.workloads.insert(name.clone());
                found.all.insert(name);
            }
        }
        words.own.remove("");
        words.others.remove("");
        let CatalogueNames {
            all,
            pods,
            workloads,
            namespaces,
            machines,
            ..
        } = found;
        let lower = |name: &String| name.to_ascii_lowercase();
        words.permitted = access.namespaces.iter().flatten().map(lower).collect();
        words.namespaces = namespaces.iter().map(lower).collect();
        let free = |word: &String| {
            words.own.contains(word)
                || machines.contains(word)
                || access.permits_namespace(word)
                || EVERYWHERE.contains(&word.as_str())
        };
        words.all = NameFinder::new(all.union(&pods).filter(|word| !free(word)));
        let named = workloads.iter().filter(|word| !free(word));
        words.distinctive = NameFinder::new(named.clone().filter(|word| {
            let word = word.to_ascii_lowercase();
            workload_names::is_distinctive(&word)
        }));
        let workloads = named.map(lower).collect();
        // Alone and in other people's words an ordinary word names no namespace.
        let named = namespaces.iter().filter(|name| {
            let name = name.to_ascii_lowercase();
            words.is_foreign(&name) && !public_names::is_ordinary(&name)
        });
        // Where a name may have no hyphen, programs write another sign.
        let distinctive = pods
            .iter()
            .filter(|name| workload_names::is_distinctive(&name.to_ascii_lowercase()));
        let joined: Vec<String> = distinctive
            .chain(named.clone())
            .map(|name| name.replace('-', "_"))
            .collect();
        let foreign = pods.iter().chain(named).chain(&joined);
        words.foreign = NameFinder::new(foreign.filter(|word| !free(word)));
        words.workloads = workloads;
        words.machines = machines;
        Ok(words)
    }

    fn take(&mut self, one: Row, access: &Access, found: &mut CatalogueNames) {
        let identity = one.identity();
        let Row {
            kind,
            namespace,
            name,
            uid,
            node,
            owner,
        } = one;
        if !node.is_empty() {
            found.machines.insert(node);
        }
        if may_see(access, &kind, &namespace) {
            found.bearers.insert(identity);
            self.own.extend([name, uid]);
            return;
        }
        if kind == "Instance" {
            // Others are machines under nodes, which belong to nobody.
            if owner.starts_with("Experiment/") {
                found.all.extend([name.clone(), uid.clone()]);
                self.members.extend([name, uid]);
            }
            return;
        }
        if namespace == SYSTEM && kind != "Pod" {
            found.system.insert(identity);
            return;
        }
        // Where nobody says whose it is, it may be the caller's own.
        if !namespace.is_empty() {
            self.others.extend([name.clone(), uid.clone()]);
        }
        if kind == "Namespace" {
            found.namespaces.insert(name.clone());
        }
        if kind == "Pod" {
            found.pods.extend([
                uid.replace('-', "_"),
                format!("{namespace}/{name}"),
                name,
                uid,
            ]);
        } else {
            // Of what nobody else can have, no word is an ordinary one.
            if uid.len() >= LEAST && !public_names::is_ordinary(&uid) {
                found.pods.insert(uid.clone());
            }
            if kind != "Namespace" && kind != LOG && kind != TAGGED {
                found.workloads.insert(name.clone());
            }
            found.all.extend([name, uid]);
        }
        if !OUTSIDE.contains(&kind.as_str()) {
            found.namespaces.insert(namespace.clone());
            found.all.insert(namespace);
        }
    }
}
