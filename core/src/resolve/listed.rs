//! Which objects of a list a name means, by what a list of metadata shows of them. The ranks are
//! the tiers in which the store looks a name up, so that what is listed for a name is what the
//! store then looks for.

use std::collections::BTreeSet;

use whathappened_model::listing::{ListedObject, NameFilter};

use super::matching::rank_names;
use super::name::Name;
use super::tier::LABELS;

/// Labels come first, then annotations, then names, each plainer than what follows.
const ANNOTATIONS: u32 = 1_000;
const WORKLOAD: u32 = 2_000;
const POD: u32 = 2_001;
const STEM: u32 = 3_000;
const NAMESPACE: u32 = 3_001;

/// A name to be looked for in lists of metadata.
#[derive(Clone, Debug)]
pub struct ListedName {
    name: Name,
    /// The word before a name is its kind or its namespace.
    in_namespace: Option<Name>,
}

impl ListedName {
    /// The filter of a name; `None` where the name means everything or a machine, of which lists
    /// of metadata tell too little.
    #[must_use]
    pub fn of(name: &Name) -> Option<Self> {
        let is_whole = name.is_everything() || name.is_machine();
        (!is_whole).then(|| Self {
            in_namespace: name.in_namespace(),
            name: name.clone(),
        })
    }
}

impl NameFilter for ListedName {
    fn labels(&self) -> &'static [&'static str] {
        &LABELS
    }

    fn ranks(&self, object: &ListedObject<'_>) -> [Option<u32>; 2] {
        let inside = self.in_namespace.as_ref();
        [
            rank(&self.name, object),
            inside.and_then(|name| rank(name, object)),
        ]
    }

    fn guessed_from(&self) -> u32 {
        STEM
    }

    fn is_pattern(&self) -> bool {
        self.name.name.contains('*')
    }

    fn name(&self) -> &str {
        &self.name.name
    }

    fn nearest(&self, known: BTreeSet<String>) -> Vec<String> {
        rank_names(&self.name.name, known)
    }
}

fn rank(name: &Name, object: &ListedObject<'_>) -> Option<u32> {
    let is_pattern = name.name.contains('*');
    let wanted = name.namespace.as_deref();
    if wanted.is_none_or(|wanted| wanted == object.namespace) {
        if name.kind.is_none() && !is_pattern {
            let places = || (0..).zip(&LABELS);
            let label = |key: &&str| object.labels.get(*key) == Some(&name.name);
            let annotation = |key: &&str| object.annotations.get(*key) == Some(&name.name);
            if let Some((place, _)) = places().find(|(_, key)| label(key)) {
                return Some(place);
            }
            if let Some((place, _)) = places().find(|(_, key)| annotation(key)) {
                return Some(ANNOTATIONS + place);
            }
        }
        let is_pod = object.kind == "Pod";
        if name.is_kind(object.kind) && name.is(object.name) {
            return Some(if is_pod { POD } else { WORKLOAD });
        }
        let is_stem = !is_pattern && name.kind.as_deref() != Some("Namespace");
        let rest = object.name.strip_prefix(name.name.as_str());
        if is_pod && is_stem && rest.is_some_and(|rest| rest.starts_with('-')) {
            return Some(STEM);
        }
    }
    let of_namespace = name.is_kind("Namespace") && wanted.is_none();
    let is_inside = !object.namespace.is_empty() && name.is(object.namespace);
    (of_namespace && is_inside).then_some(NAMESPACE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The ranks of an object of (kind, namespace, name) with one label.
    fn ranks(typed: &str, what: [&str; 3], label: Option<(&str, &str)>) -> [Option<u32>; 2] {
        let own = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let labels: BTreeMap<String, String> = label.map(own).into_iter().collect();
        let [kind, namespace, name] = what;
        let object = ListedObject {
            kind,
            namespace,
            name,
            labels: &labels,
            annotations: &BTreeMap::new(),
        };
        let filter = ListedName::of(&Name::parse(typed)).unwrap();
        filter.ranks(&object)
    }

    #[test]
    fn a_name_is_borne_in_the_tiers_of_the_store() {
        let pod = ["Pod", "ml", "llm-0"];
        assert_eq!(
            ranks("llm", pod, Some(("experiment", "llm"))),
            [Some(0), None]
        );
        assert_eq!(ranks("llm-0", pod, Some(("app", "x"))), [Some(POD), None]);
        assert_eq!(ranks("llm", pod, None), [Some(STEM), None]);
        assert_eq!(ranks("ll", pod, None), [None, None]);
        assert_eq!(ranks("ml", pod, None), [Some(NAMESPACE), None]);
        assert_eq!(ranks("llm*", pod, None), [Some(POD), None]);
        assert_eq!(ranks("job/llm-0", pod, None), [None, None]);
        assert_eq!(ranks("ml/llm-0", pod, None), [None, Some(POD)]);
        assert_eq!(ranks("pod/other/llm-0", pod, None), [None, None]);
        let job = ["Job", "ml", "llm"];
        assert_eq!(ranks("jobs/llm", job, None), [Some(WORKLOAD), None]);
        assert_eq!(ranks("ns/ml", job, None), [Some(NAMESPACE), None]);
    }

    #[test]
    fn everything_and_machines_are_not_looked_for_in_metadata() {
        for typed in ["*", "node/gpu-1", "instance/i-1"] {
            assert!(ListedName::of(&Name::parse(typed)).is_none(), "{typed}");
        }
    }
}
