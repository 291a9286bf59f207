//! Names of what others own, to be found in texts and hidden there.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use rusqlite::Connection;

use super::mentions::{self, HidePolicy};
use super::name_finder::{NameFinder, parts};
use super::public_names::{self, EVERYWHERE, SYSTEM};
use super::readings::readings;
use super::{OUTSIDE, may_see, workload_names};
use crate::access::Access;
use crate::catalogue::{ENTITY, LOG, TAGGED, is_entity_whole, sum_column};

/// What stands where a name was.
pub(super) const HIDDEN: &str = "[hidden]";

/// Letters of the shortest uid that is like no other word.
const LEAST: usize = 8;

/// Letters of the longest word that may hold a name of the caller's own.
const LONGEST: usize = 512;

/// Who owns which names.
#[derive(Debug, Default)]
pub(super) struct ProtectedNames {
    /// Names and uids of the caller's own.
    own: HashSet<String>,
    /// Those of others.
    others: HashSet<String>,
    /// Names of machines, which belong to nobody.
    machines: HashSet<String>,
    /// Names and ids of instances that are no machines under nodes but members
    /// of experiments.
    members: HashSet<String>,
    /// All words of others that are nobody else's.
    all: NameFinder,
    /// What may not stand in a text of the caller's own: names of others' pods,
    /// their uids, and names of others' namespaces.
    foreign: NameFinder,
    /// Names of others' workloads and experiments, in lower case.
    workloads: HashSet<String>,
    /// Those of them that tell whose they are wherever they stand.
    telling: NameFinder,
    /// Namespaces of others that the catalogue knows, in lower case.
    namespaces: HashSet<String>,
    /// The caller's own, in lower case.
    permitted: HashSet<String>,
}

impl HidePolicy for ProtectedNames {
    fn is_foreign(&self, namespace: &str) -> bool {
        !self.permitted.contains(namespace) && !public_names::is_public(namespace)
    }

    fn is_known(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    fn is_workload(&self, name: &str) -> bool {
        self.workloads.contains(name)
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }
}

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
    pub(super) fn read(db: &Connection, access: &Access) -> rusqlite::Result<Self> {
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
        words.telling = NameFinder::new(named.clone().filter(|word| {
            let word = word.to_ascii_lowercase();
            workload_names::is_telling(&word)
        }));
        let workloads = named.map(lower).collect();
        // Alone and in other people's words an ordinary word names no namespace.
        let named = namespaces.iter().filter(|name| {
            let name = name.to_ascii_lowercase();
            words.is_foreign(&name) && !public_names::is_ordinary(&name)
        });
        // Where a name may have no hyphen, programs write another sign.
        let telling = pods
            .iter()
            .filter(|name| workload_names::is_telling(&name.to_ascii_lowercase()));
        let joined: Vec<String> = telling
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

    /// Whether a record that names no namespace is about the caller's own, by
    /// the uid of its pod, else by a name that nobody else bears.
    pub(super) fn is_own(&self, uid: Option<&str>, name: Option<&str>) -> bool {
        let own = |word: &str| self.own.contains(word) && !self.others.contains(word);
        match (uid, name) {
            (Some(uid), _) if own(uid) => true,
            (Some(uid), _) if self.others.contains(uid) => false,
            (_, Some(name)) => own(name),
            _ => false,
        }
    }

    /// Whether an instance is a member of an experiment of others.
    pub(super) fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    /// A text without any name of others; `None` where it has none.
    pub(super) fn hide_all(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| self.all.ranges(lower))
    }

    /// A text without what is found in it, however it is read.
    fn hide(&self, text: &str, find: &dyn Fn(&str) -> Vec<Range<usize>>) -> Option<String> {
        let mut ranges = Vec::new();
        for (begin, piece) in pieces(text) {
            for reading in readings(piece) {
                let mut found = find(&reading.lower);
                found.retain(|place| !self.is_within_own(&reading.lower, place));
                let places = found.iter().map(|place| reading.place(place));
                ranges.extend(places.map(|place| begin + place.start..begin + place.end));
            }
        }
        cover(text, ranges)
    }

    /// Whether what was found is a part of a name of the caller's own, or of a machine's.
    fn is_within_own(&self, lower: &str, place: &Range<usize>) -> bool {
        let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '.');
        let (before, behind) = (&lower[..place.start], &lower[place.end..]);
        let start = before.trim_end_matches(goes_on).len();
        let end = lower.len() - behind.trim_start_matches(goes_on).len();
        let token = &lower[start..end];
        if token.len() == place.len() || token.len() > LONGEST {
            return false;
        }
        let parts: Vec<Range<usize>> = parts(token)
            .into_iter()
            .map(|part| start + part.start..start + part.end)
            .collect();
        let begins = parts.iter().filter(|part| part.start <= place.start);
        begins.into_iter().any(|first| {
            let ends = parts.iter().filter(|part| part.end >= place.end);
            ends.into_iter().any(|last| {
                let is_longer = last.end - first.start > place.len();
                let name = &lower[first.start..last.end];
                is_longer && (self.own.contains(name) || self.machines.contains(name))
            })
        })
    }

    /// What a record says of a machine, without any name of others, also of those that
    /// no catalogue knows; `None` where it has none.
    pub(super) fn hide_told(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| {
            let mut ranges = self.all.ranges(lower);
            ranges.extend(mentions::find(lower, self));
            ranges
        })
    }

    /// A text of the caller's own without the names of others' pods, workloads and
    /// namespaces; `None` where it has none.
    pub(super) fn hide_foreign(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| {
            let mut ranges = self.foreign.ranges(lower);
            let telling = self.telling.ranges(lower).into_iter();
            ranges.extend(telling.filter(|place| workload_names::stands(lower, place)));
            ranges.extend(mentions::find(lower, self));
            ranges
        })
    }

    /// Whether a value under a name is the name of a namespace of others.
    pub(super) fn is_foreign_namespace(&self, key: &str, value: &str) -> bool {
        // `ns/name`; a job of another scheduler has none.
        if matches!(key, "preemptor" | "other_pod")
            && let Some((namespace, _)) = value.split_once('/')
        {
            return namespace != "slurm" && self.is_foreign(&namespace.to_ascii_lowercase());
        }
        let is_key = key.to_ascii_lowercase().ends_with("namespace");
        is_key
            && !value.is_empty()
            && value != HIDDEN
            && self.is_foreign(&value.to_ascii_lowercase())
    }

    /// Hides every name of others in a text.
    pub(super) fn hide_in(&self, text: &mut String) {
        if let Some(hidden) = self.hide_all(text) {
            *text = hidden;
        }
    }
}

/// A text in pieces that overlap by more than a name and what is told of it, each with
/// where it begins: what a long one is decoded into is much longer than itself.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const PIECE: usize = 256 << 10;
    const OVERLAP: usize = 2 << 10;
    let mut begin = Some(0);
    std::iter::from_fn(move || {
        let from = begin?;
        let to = text.ceil_char_boundary(from + PIECE + OVERLAP);
        let next = text.ceil_char_boundary(from + PIECE);
        begin = Some(next).filter(|_| to < text.len());
        Some((from, &text[from..to]))
    })
}

/// A text with some ranges of it hidden; those that overlap are hidden as one.
pub(super) fn cover(text: &str, mut ranges: Vec<Range<usize>>) -> Option<String> {
    if ranges.is_empty() {
        return None;
    }
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut hidden = String::with_capacity(text.len());
    let mut reported = 0;
    for range in ranges {
        if range.start >= reported {
            hidden.push_str(&text[reported..range.start]);
            hidden.push_str(HIDDEN);
        }
        reported = reported.max(range.end);
    }
    hidden.push_str(&text[reported..]);
    Some(hidden)
}

#[cfg(test)]
mod tests {
    use super::{HashSet, NameFinder, ProtectedNames};

    fn words() -> ProtectedNames {
        let words = ["zebrateam", "data", "pod-of-zebra-0"].map(str::to_owned);
        ProtectedNames {
            foreign: NameFinder::new([&words[0], &words[2]].into_iter()),
            namespaces: HashSet::from([words[0].clone(), words[1].clone()]),
            permitted: HashSet::from(["team-a".to_owned()]),
            own: HashSet::from(["mine-0".to_owned()]),
            ..ProtectedNames::default()
        }
    }

    #[test]
    fn no_text_of_ones_own_names_a_namespace_of_others() {
        let words = words();
        for (text, hidden) in [
            (
                "preempted by pod pod-of-zebra-0 in namespace zebrateam",
                "preempted by pod [hidden] in namespace [hidden]",
            ),
            (
                "evicted for namespace zebrateam's quota",
                "evicted for namespace [hidden]'s quota",
            ),
            (
                "could not reach pod-of-zebra-0.zebrateam.svc.cluster.local:80",
                "could not reach [hidden].svc.cluster.local:80",
            ),
            (
                "could not reach [hidden].zebrateam.svc",
                "could not reach [hidden].[hidden].svc",
            ),
            (
                "http://[hidden].secretsvc.ghostns.svc",
                "http://[hidden].[hidden].svc",
            ),
            (
                "/var/log/pods/zebrateam_[hidden]_41b7/t/0.log full",
                "/var/log/pods/[hidden]_[hidden]_41b7/t/0.log full",
            ),
            (
                "/var/log/pods/ghostns_ghost-0_41b7/t/0.log",
                "/var/log/pods/[hidden]_41b7/t/0.log",
            ),
            (
                "/var/log/containers/ghost-0_ghostns_main-1a.log",
                "/var/log/containers/[hidden]_main-1a.log",
            ),
            (
                "ZEBRATEAM and Zebrateam hold it",
                "[hidden] and [hidden] hold it",
            ),
            (
                "ClusterQueue zebrateam-queue",
                "ClusterQueue [hidden]-queue",
            ),
            (
                "system:serviceaccount:ghostns:robot",
                "system:serviceaccount:[hidden]:[hidden]",
            ),
            (
                "system:serviceaccounts:ghostns",
                "system:serviceaccounts:[hidden]",
            ),
            (r#"in namespace "ghostns""#, r#"in namespace "[hidden]""#),
            (
                r#"namespaces "ghostns" not found"#,
                r#"namespaces "[hidden]" not found"#,
            ),
            (
                "/api/v1/namespaces/ghostns/pods/ghostpod-7?x",
                "/api/v1/namespaces/[hidden]/pods/[hidden]?x",
            ),
            (
                "ns=ghostns ns/ghostns/x",
                "ns=[hidden] ns/[hidden]/[hidden]",
            ),
            (
                r#""namespace":"data","data":1"#,
                r#""namespace":"[hidden]","data":1"#,
            ),
            (
                r#"\"namespace\":\"ghostns\""#,
                r#"\"namespace\":\"[hidden]\""#,
            ),
            ("k8s.namespace.name=ghostns", "k8s.namespace.name=[hidden]"),
            ("POD_NAMESPACE=ghostns", "POD_NAMESPACE=[hidden]"),
            (
                "kubectl --namespace ghostns",
                "kubectl --namespace [hidden]",
            ),
            (
                "the namespace data holds data",
                "the namespace [hidden] holds data",
            ),
            (
                "pod mine-0 lost to pod ghost-7 in namespace ghostns",
                "pod mine-0 lost to pod [hidden] in namespace [hidden]",
            ),
            (
                r#"{"kind":"Pod","name":"ghost","namespace":"ghostns"}"#,
                r#"{"kind":"Pod","name":"[hidden]","namespace":"[hidden]"}"#,
            ),
            (
                "namespaces: ghostns, other",
                "namespaces: [hidden], [hidden]",
            ),
            ("é namespace=ghostns é", "é namespace=[hidden] é"),
            (
                "Preempted by ghostns/ghost-0 on node n-1",
                "Preempted by [hidden]/[hidden] on node n-1",
            ),
            (
                "evict for pod ghostns/ghost.x-0, evicted by ghostns/robot",
                "evict for pod [hidden]/[hidden], evicted by [hidden]/[hidden]",
            ),
            (
                r#"pod="ghostns/ghost-0" pods="[ghostns/ghost-1]""#,
                r#"pod="[hidden]/[hidden]" pods="[[hidden]/[hidden]]""#,
            ),
            (
                "restarting main in pod ghost-0_ghostns(41b7c0de-1111-4222-8333-444455556666)",
                "restarting main in pod [hidden](41b7c0de-1111-4222-8333-444455556666)",
            ),
            (
                "bound to claim ghostns/ghost-pvc",
                "bound to claim [hidden]/[hidden]",
            ),
            (
                "kubectl -n ghostns get pods",
                "kubectl -n [hidden] get pods",
            ),
            (
                r#"matchLabels: {"kubernetes.io/metadata.name":"ghostns"}"#,
                r#"matchLabels: {"kubernetes.io/metadata.name":"[hidden]"}"#,
            ),
            (
                "spiffe://cluster.local/ns/ghostns/sa/robot",
                "spiffe://cluster.local/ns/[hidden]/sa/[hidden]",
            ),
        ] {
            let reported = words.hide_foreign(text);
            assert_eq!(reported.as_deref(), Some(hidden), "{text}");
            let again = words.hide_foreign(hidden);
            assert_eq!(again, None, "hidden twice: {hidden}");
        }
    }

    #[test]
    fn a_name_in_a_long_text_is_hidden_wherever_it_is_cut() {
        let words = words();
        let border = 256 << 10;
        for at in [
            0,
            border - 12,
            border - 1,
            border,
            border + 2_040,
            3 * border,
        ] {
            let text = format!(
                "{} %2Fzebrateam%2F {}",
                "é".repeat(at / 2),
                "x".repeat(border)
            );
            let hidden = words.hide_foreign(&text).unwrap();
            assert_eq!(hidden, text.replace("zebrateam", "[hidden]"), "{at}");
        }
    }

    #[test]
    fn what_tells_of_no_other_namespace_stays_as_it_is() {
        let words = words();
        for text in [
            "namespace team-a of pod mine-0",
            "namespace is terminating",
            "the namespace quota is exceeded for nodes",
            "in namespace kube-system and namespace monitoring",
            "system:serviceaccount:kube-system:job-controller",
            "web.team-a.svc.cluster.local",
            "/var/log/pods/team-a_mine-0_41b7/t/0.log",
            "/api/v1/namespaces/team-a/pods/mine-0",
            "took 120 ns/op, 5 ns: fast; ns=12",
            r#"{"namespace":"team-a","name":"x","data":{}}"#,
            r#"{"namespace":"","name":"x"}"#,
            r#"{"kind":"Namespace","verb":"get"}"#,
            "training of zebrateams on data",
            "namespaces are many",
            "Preempted by team-a/mine-0 on node n-1",
            r#"pod="team-a/mine-0" job 3/4 pods and/or nodes"#,
            "pod mine-0_team-a(41b7c0de-1111-4222-8333-444455556666) restarts",
            "image registry/pod/python:3 of service http/80, deployment apps/v1",
            "pod /data/pod/main.py and pod data/pod/main.py",
            "job mine-0/worker-1 has pods 1/2 ready",
            "mpirun -n eight pod; head -n lines",
            "kubectl -n team-a get pods; kubectl -n 3",
            r#""name":"nvidia/gpu","limits":{"pods":"1"}"#,
            "pod nvidia.com/gpu taint, pod topology.kubernetes.io/zone",
            "",
        ] {
            assert_eq!(words.hide_foreign(text), None, "{text}");
        }
    }
}
