//! How some objects are asked for with few requests: by a label that they have in common, else by
//! their names, else all of their namespace.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use url::form_urlencoded::byte_serialize;

use super::index::{Index, Indexed, ObjectRow};

/// Objects that are asked for by name although they share a label.
const FEW: usize = 4;

/// How many more objects a label may bring than are wanted.
const MOST_BESIDE: usize = 4;

/// One list of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    /// Number of the list that they were found in.
    pub(super) list: u16,
    /// Their namespace; empty where they have none.
    pub(super) namespace: String,
    /// The selector of the query, with its `&` before it; all of the namespace where empty.
    pub(super) select: String,
}

/// A selector of fields as part of a query.
pub(super) fn fields(selector: &str) -> String {
    let selector: String = byte_serialize(selector.as_bytes()).collect();
    format!("&fieldSelector={selector}")
}

fn label(key: &str, value: &str) -> String {
    let selector = format!("{key}={value}");
    let selector: String = byte_serialize(selector.as_bytes()).collect();
    format!("&labelSelector={selector}")
}

/// The lists by which some objects are read, in order of their lists and namespaces.
pub(super) fn selections(
    index: &Index,
    wanted: &BTreeSet<ObjectRow>,
    labels: &[&str],
) -> Vec<Selection> {
    let mut groups: BTreeMap<(u16, &str), Vec<&Indexed>> = BTreeMap::new();
    for one in wanted.iter().filter_map(|number| index.get(*number)) {
        if let Some(list) = one.list {
            groups.entry((list, &*one.namespace)).or_default().push(one);
        }
    }
    let mut all = Vec::new();
    for ((list, namespace), members) in groups {
        let is_namespaced = index
            .lists
            .get(usize::from(list))
            .is_some_and(|list| list.namespaced);
        let selection = |select: String| Selection {
            list,
            namespace: namespace.to_owned(),
            select,
        };
        if members.len() > FEW {
            let here = index.objects.iter();
            let here = here.filter(|one| one.list == Some(list) && &*one.namespace == namespace);
            let here: Vec<&Indexed> = here.collect();
            if is_namespaced && members.len() * 2 > here.len() {
                all.push(selection(String::new()));
                continue;
            }
            if let Some((place, value)) = shared_label(&members, &here)
                && let Some(key) = labels.get(usize::from(place))
            {
                all.push(selection(label(key, &value)));
                continue;
            }
        }
        let names: BTreeSet<&str> = members.iter().map(|one| &*one.name).collect();
        let by_name = names
            .iter()
            .map(|name| selection(fields(&format!("metadata.name={name}"))));
        all.extend(by_name);
    }
    all
}

/// The label that all of some objects have, and the fewest others.
fn shared_label(members: &[&Indexed], here: &[&Indexed]) -> Option<(u8, Arc<str>)> {
    let (first, rest) = members.split_first()?;
    let shared = first
        .labels
        .iter()
        .filter(|label| rest.iter().all(|one| one.labels.contains(label)));
    let mut bearers: HashMap<&(u8, Arc<str>), usize> = shared.map(|label| (label, 0)).collect();
    for label in here.iter().flat_map(|one| one.labels.iter()) {
        if let Some(count) = bearers.get_mut(label) {
            *count += 1;
        }
    }
    let fewest = bearers
        .into_iter()
        .min_by_key(|(label, count)| (*count, *label));
    let (label, count) = fewest?;
    (count <= members.len() * MOST_BESIDE).then(|| label.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::head::{Head, HeadMetadata};
    use super::super::index::IndexedList;
    use super::*;
    use crate::listing::{ListedObject, NameFilter};

    struct Nobody;

    impl NameFilter for Nobody {
        fn labels(&self) -> &'static [&'static str] {
            &["app", "job-name"]
        }
        fn ranks(&self, _: &ListedObject<'_>) -> [Option<u32>; 2] {
            [None; 2]
        }
        fn guessed_from(&self) -> u32 {
            0
        }
        fn is_pattern(&self) -> bool {
            false
        }
        fn name(&self) -> &str {
            ""
        }
        fn nearest(&self, _: BTreeSet<String>) -> Vec<String> {
            Vec::new()
        }
    }

    /// Jobs of ten pods each in one namespace, all of one app.
    fn index(jobs: usize) -> Index {
        let mut index = Index::default();
        index.lists.push(IndexedList {
            kind: "Pod".into(),
            namespaced: true,
        });
        for number in 0..jobs * 10 {
            let job = format!("job-{}", number / 10);
            let labels = [("app", "train"), ("job-name", &*job)];
            let labels: BTreeMap<String, String> = labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into();
            let metadata = HeadMetadata {
                name: format!("{job}-{}", number % 10),
                namespace: "ml".to_owned(),
                uid: number.to_string(),
                labels: Some(labels),
                ..HeadMetadata::default()
            };
            index.add(0, Head { metadata }, &Nobody);
        }
        index.link(&Nobody);
        index
    }

    fn selected(index: &Index, wanted: std::ops::Range<usize>) -> Vec<String> {
        let wanted = wanted.filter_map(ObjectRow::at).collect();
        let all = selections(index, &wanted, Nobody.labels());
        all.into_iter().map(|one| one.select).collect()
    }

    #[test]
    fn a_gang_is_asked_for_by_its_label() {
        let many = index(50);
        assert_eq!(selected(&many, 20..30), ["&labelSelector=job-name%3Djob-2"]);
        assert_eq!(
            selected(&many, 20..22),
            [
                "&fieldSelector=metadata.name%3Djob-2-0",
                "&fieldSelector=metadata.name%3Djob-2-1"
            ]
        );
        assert_eq!(selected(&index(1), 0..10), [""]);
    }

    #[test]
    fn owners_and_their_pods_are_one_family() {
        let many = index(3);
        assert_eq!(many.family().len(), 0);
        assert_eq!(many.of_uid("7"), ObjectRow::at(7));
        let named: Vec<ObjectRow> = many.of_name("ml", "job-1-3").collect();
        assert_eq!(Some(named), ObjectRow::at(13).map(|one| vec![one]));
        assert!(many.names().contains("job-2"));
    }
}
