//! Names of what others own, to be found in texts and hidden there.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use rusqlite::Connection;

use super::{OUTSIDE, may_see};
use crate::access::Access;

/// What stands where a name was.
pub(super) const HIDDEN: &str = "[hidden]";

/// Where a cluster's own components are: what they are called is no secret, and
/// says who acted on a machine.
const SYSTEM: &str = "kube-system";

/// Namespaces that every cluster has: their names are no secret.
const EVERYWHERE: [&str; 4] = ["default", SYSTEM, "kube-public", "kube-node-lease"];

/// Who owns which names.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Names and uids of the caller's own.
    own: HashSet<String>,
    /// Those of others.
    others: HashSet<String>,
    /// Names and ids of instances that are no machines under nodes but members
    /// of experiments.
    members: HashSet<String>,
    /// All words of others that are nobody else's.
    all: Finder,
    /// Only what names one pod: its name, its uid, its namespace and name.
    pods: Finder,
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

/// What the catalogue has, on the way to [`Words`].
#[derive(Default)]
struct Found {
    all: BTreeSet<String>,
    pods: BTreeSet<String>,
    machines: HashSet<String>,
    /// Identities of the caller's own.
    bearers: HashSet<String>,
    /// Identities of a cluster's own components.
    system: HashSet<String>,
}

impl Words {
    /// Reads the catalogue.
    pub(super) fn read(db: &Connection, access: &Access) -> rusqlite::Result<Self> {
        let mut words = Self::default();
        let mut found = Found::default();
        let mut rows =
            db.prepare("SELECT kind, namespace, name, uid, node, owner FROM entities")?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let one = Row {
                kind: row.get(0)?,
                namespace: row.get(1)?,
                name: row.get(2)?,
                uid: row.get(3)?,
                node: row.get(4)?,
                owner: row.get(5)?,
            };
            words.take(one, access, &mut found);
        }
        let mut named = db.prepare("SELECT name, bearer FROM names")?;
        let mut named = named.query([])?;
        while let Some(row) = named.next()? {
            let (name, bearer): (String, String) = (row.get(0)?, row.get(1)?);
            if found.bearers.contains(&bearer) {
                words.own.insert(name);
            } else if !found.system.contains(&bearer) {
                found.all.insert(name);
            }
        }
        words.own.remove("");
        words.others.remove("");
        let Found {
            all,
            pods,
            machines,
            ..
        } = found;
        let free = |word: &String| {
            words.own.contains(word)
                || machines.contains(word)
                || access.permits_namespace(word)
                || EVERYWHERE.contains(&word.as_str())
        };
        words.all = Finder::new(all.union(&pods).filter(|word| !free(word)));
        words.pods = Finder::new(pods.iter().filter(|word| !free(word)));
        Ok(words)
    }

    fn take(&mut self, one: Row, access: &Access, found: &mut Found) {
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
        if kind == "Pod" {
            found.pods.extend([
                uid.replace('-', "_"),
                format!("{namespace}/{name}"),
                name,
                uid,
            ]);
        } else {
            found.all.extend([name, uid]);
        }
        if !OUTSIDE.contains(&kind.as_str()) {
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
        self.all.hide(text)
    }

    /// A text without what names a pod of others; `None` where it does not.
    pub(super) fn hide_pods(&self, text: &str) -> Option<String> {
        self.pods.hide(text)
    }

    /// Hides every name of others in a text.
    pub(super) fn hide_in(&self, text: &mut String) {
        if let Some(hidden) = self.hide_all(text) {
            *text = hidden;
        }
    }
}

/// Finds names in texts where nothing of a name goes on before or after them.
#[derive(Debug, Default)]
struct Finder {
    words: HashSet<String>,
    /// For the first part of names how many parts the longest of them has.
    first: HashMap<String, usize>,
}

impl Finder {
    fn new<'a>(words: impl Iterator<Item = &'a String>) -> Self {
        let mut finder = Self::default();
        for word in words {
            let word = word.to_ascii_lowercase();
            let parts = parts(&word);
            // A single letter is in every text.
            let (Some(first), true) = (parts.first(), word.len() > 1) else {
                continue;
            };
            let longest = finder
                .first
                .entry(word[first.clone()].to_owned())
                .or_default();
            *longest = parts.len().max(*longest);
            // What stands around the parts of a label's value is no part of them.
            let end = parts.last().map_or(word.len(), |last| last.end);
            finder.words.insert(word[first.start..end].to_owned());
        }
        finder
    }

    fn hide(&self, text: &str) -> Option<String> {
        if self.words.is_empty() {
            return None;
        }
        let lower = text.to_ascii_lowercase();
        let parts = parts(&lower);
        let mut hidden = String::new();
        let mut told = 0;
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            let longest = self.first.get(&lower[part.clone()]).copied();
            let found = longest.and_then(|longest| {
                let last = (at + longest).min(parts.len());
                (at..last).rev().find(|last| {
                    let end = parts.get(*last).map_or(part.end, |part| part.end);
                    self.words.contains(&lower[part.start..end])
                })
            });
            let Some(last) = found else {
                at += 1;
                continue;
            };
            hidden.push_str(&text[told..part.start]);
            hidden.push_str(HIDDEN);
            told = parts.get(last).map_or(part.end, |part| part.end);
            at = last + 1;
        }
        if told == 0 {
            return None;
        }
        hidden.push_str(&text[told..]);
        Some(hidden)
    }
}

/// The runs of letters and digits of a text.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut begun = None;
    for (at, letter) in text.char_indices() {
        match (letter.is_alphanumeric(), begun) {
            (true, None) => begun = Some(at),
            (false, Some(from)) => {
                parts.push(from..at);
                begun = None;
            }
            _ => {}
        }
    }
    if let Some(from) = begun {
        parts.push(from..text.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::Finder;

    #[test]
    fn a_name_is_hidden_where_it_stands_alone_or_in_a_longer_one() {
        let words = ["blue-0", "blue", "team b/x_y"].map(str::to_owned);
        let finder = Finder::new(words.iter());
        for (text, hidden) in [
            ("pod blue-0 died", "pod [hidden] died"),
            ("BLUE-0.svc:blue", "[hidden].svc:[hidden]"),
            ("blue-01", "[hidden]-01"),
            ("(Team B/x_y) é", "([hidden]) é"),
            ("ü blue", "ü [hidden]"),
        ] {
            assert_eq!(finder.hide(text).as_deref(), Some(hidden), "{text}");
        }
        for text in ["", "bluebird", "é", "team", "0-blues"] {
            assert_eq!(finder.hide(text), None, "{text}");
        }
    }
}
