//! Lists of the Events that a question concerns.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event_filter::EventFilter;
use super::fetch::ListJob;
use super::list::ListTarget;
use super::selector;
use crate::listing::{ListedObject, NameFilter};
use crate::observation::Observation;

/// All Events of a namespace, or of all, of which some are taken.
pub(super) fn of(
    targets: &[ListTarget],
    namespace: Option<&str>,
    keep: &Arc<EventFilter>,
) -> Vec<ListJob> {
    let mut jobs = with(targets, namespace, "");
    for job in &mut jobs {
        job.keep = Some(Arc::clone(keep));
    }
    jobs
}

/// Events about something: fields of its reference and their values.
pub(super) fn about(
    targets: &[ListTarget],
    namespace: Option<&str>,
    fields: &[(&str, &str)],
) -> Vec<ListJob> {
    let mut jobs = with(targets, namespace, "");
    for job in &mut jobs {
        let of = match job.target.resource.group.as_str() {
            "" => "involvedObject",
            _ => "regarding",
        };
        let fields = fields
            .iter()
            .map(|(field, value)| format!("{of}.{field}={value}"));
        let fields: Vec<String> = fields.collect();
        job.select = selector::fields(&fields.join(","));
    }
    jobs
}

/// Lists of Events, each in a namespace where one is named, with a selector of fields.
pub(super) fn with(targets: &[ListTarget], namespace: Option<&str>, fields: &str) -> Vec<ListJob> {
    let targets = (0..).zip(targets);
    targets
        .filter(|(_, target)| target.resource.is_events())
        .filter_map(|(of, target)| {
            let inside = match (target.namespace.as_deref(), namespace) {
                (None, one) | (one, None) => one,
                (Some(own), Some(one)) => (own == one).then_some(Some(own))?,
            };
            let whole = ListJob::whole(of, target.clone());
            let target = ListTarget {
                resource: target.resource.clone(),
                namespace: inside.map(str::to_owned),
            };
            let select = match fields {
                "" => String::new(),
                fields => selector::fields(fields),
            };
            Some(ListJob {
                target,
                select,
                ..whole
            })
        })
        .collect()
}

/// What an Event is about, as (kind, namespace, name), where that bears the name of the question.
pub(super) fn bearer(
    one: &Observation,
    filter: &dyn NameFilter,
) -> Option<(String, String, String)> {
    let Observation::Event(event) = one else {
        return None;
    };
    let of = &event.entities;
    let (kind, name) = match (&of.pod, &of.workload_kind, &of.workload) {
        (Some(pod), ..) => ("Pod", pod),
        (None, Some(kind), Some(name)) => (kind.as_str(), name),
        _ => return None,
    };
    let namespace = of.namespace.as_deref().unwrap_or_default();
    let none = BTreeMap::new();
    let object = ListedObject {
        kind,
        namespace,
        name,
        labels: &none,
        annotations: &none,
    };
    let has_rank = filter.ranks(&object).iter().any(Option::is_some);
    has_rank.then(|| (kind.to_owned(), namespace.to_owned(), name.clone()))
}
