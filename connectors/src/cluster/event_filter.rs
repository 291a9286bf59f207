//! Which Events of a namespace concern a question: those are decoded, the others are only looked at.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use super::decode::Decoder;
use super::head::EventHead;
use super::list::{ItemReader, ReadPage};
use crate::kind::is_workload;
use crate::listing::{ListedObject, NameFilter};
use crate::observation::{Observation, Rejection};
use crate::time::Nanos;

/// What Events have to be about.
#[derive(Clone, Default)]
pub(super) struct EventFilter {
    /// Pods and workloads by namespace and name. What is named after one of them, with `-` behind
    /// its name, may have been made by it and be gone.
    pub(super) names: BTreeMap<String, HashSet<String>>,
    /// Machines.
    pub(super) nodes: BTreeSet<String>,
    /// Whatever bears the name of the question.
    pub(super) filter: Option<Arc<dyn NameFilter>>,
    /// Namespaces of which everything but pods, workloads and nodes is taken: claims, quotas.
    pub(super) namespaces: BTreeSet<String>,
}

impl fmt::Debug for EventFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventFilter").finish_non_exhaustive()
    }
}

impl EventFilter {
    /// Adds a pod or workload.
    pub(super) fn add(&mut self, namespace: &str, name: &str) {
        let names = self.names.entry(namespace.to_owned()).or_default();
        names.insert(name.to_owned());
    }

    /// Whether Events about something are taken already.
    pub(super) fn covers(&self, namespace: &str, name: &str) -> bool {
        let Some(names) = self.names.get(namespace) else {
            return false;
        };
        let stems = name.match_indices('-').filter_map(|(at, _)| name.get(..at));
        names.contains(name) || stems.into_iter().any(|stem| names.contains(stem))
    }

    /// Whether a workload says that it made or deleted a pod that is asked about: of one that is gone, nothing
    /// else tells whose it was.
    fn is_maker(&self, kind: &str, head: &EventHead<'_>) -> bool {
        let names = self.names.get(head.namespace());
        let names = names.filter(|_| is_workload(kind));
        names.is_some_and(|names| head.words().any(|word| names.contains(word)))
    }

    /// Whether it is what Kueue queues of a workload: it is named after the workload's kind and name.
    fn is_queued(&self, kind: &str, namespace: &str, name: &str) -> bool {
        let queued = name.split_once('-').filter(|_| kind == "Workload");
        queued.is_some_and(|(_, of)| self.covers(namespace, of))
    }

    fn takes(&self, head: &EventHead<'_>) -> bool {
        let (kind, namespace, name) = (head.kind(), head.namespace(), head.name());
        if kind == "Node" {
            return self.nodes.contains(name);
        }
        if self.covers(namespace, name)
            || self.is_queued(&kind, namespace, name)
            || self.is_maker(&kind, head)
        {
            return true;
        }
        let none = BTreeMap::new();
        let object = ListedObject {
            kind: &kind,
            namespace,
            name,
            labels: &none,
            annotations: &none,
        };
        let is_member = |filter: &Arc<dyn NameFilter>| {
            let ranks = filter.ranks(&object);
            ranks.iter().any(Option::is_some)
        };
        let is_run = kind == "Pod" || is_workload(&kind);
        !is_run && self.namespaces.contains(namespace)
            || self.filter.as_ref().is_some_and(is_member)
    }
}

/// Reads the Events that concern a question.
#[derive(Debug)]
pub(super) struct ConcerningEvents {
    pub(super) decoder: Decoder,
    pub(super) keep: Arc<EventFilter>,
}

impl ItemReader for ConcerningEvents {
    type Out = Observation;

    fn read(
        &self,
        item: &str,
        number: u64,
        observed: Nanos,
        page: &mut ReadPage<Observation>,
    ) -> Result<(), Rejection> {
        // What is no Event by this is for the decoder to refuse.
        let head: Result<EventHead<'_>, _> = serde_json::from_str(item);
        if let Ok(head) = head {
            page.saw(head.last());
            if !self.keep.takes(&head) {
                return Ok(());
            }
        }
        self.decoder.read(item, number, observed, page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_after_a_workload_may_be_of_it() {
        let mut filter = EventFilter::default();
        filter.add("ml", "llm");
        filter.nodes.insert("gpu-1".to_owned());
        filter.namespaces.insert("ml".to_owned());
        let takes = |kind: &str, namespace: &str, name: &str| {
            let text = format!(
                r#"{{"involvedObject":{{"kind":"{kind}","namespace":"{namespace}","name":"{name}"}}}}"#
            );
            filter.takes(&serde_json::from_str(&text).unwrap())
        };
        assert!(takes("Job", "ml", "llm") && takes("Pod", "ml", "llm-0-x7k2p"));
        assert!(takes("Workload", "ml", "job-llm-0a1b2") && !takes("Job", "ml", "job-llm-0a1b2"));
        assert!(takes("Node", "", "gpu-1") && takes("PersistentVolumeClaim", "ml", "data"));
        assert!(!takes("Pod", "ml", "other") && !takes("Pod", "b", "llm-0"));
        assert!(!takes("Node", "", "gpu-2") && !takes("PersistentVolumeClaim", "b", "data"));
    }

    #[test]
    fn who_made_a_pod_that_is_gone_is_told_by_its_makers_event() {
        let mut filter = EventFilter::default();
        filter.add("ml", "llm-0-x7k2p");
        let takes = |kind: &str, namespace: &str, said: &str| {
            let about = format!(r#"{{"kind":"{kind}","namespace":"{namespace}","name":"llm"}}"#);
            let core = format!(r#"{{"involvedObject":{about},"message":"{said}"}}"#);
            let new = format!(r#"{{"regarding":{about},"note":"{said}"}}"#);
            [core, new].map(|text| filter.takes(&serde_json::from_str(&text).unwrap()))
        };
        let made = "Created pod: llm-0-x7k2p";
        assert_eq!(takes("Job", "ml", made), [true; 2]);
        let stateful = "create Pod llm-0-x7k2p in StatefulSet llm successful";
        assert_eq!(takes("StatefulSet", "ml", stateful), [true; 2]);
        assert_eq!(takes("Job", "b", made), [false; 2]);
        assert_eq!(takes("Pod", "ml", made), [false; 2]);
        assert_eq!(takes("Job", "ml", "Created pod: llm-0-x7k2"), [false; 2]);
    }
}
