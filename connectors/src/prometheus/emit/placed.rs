//! Where pods were, of which nothing else may tell that: who scrapes a kubelet writes its machine beside each container.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names::pod;
use super::super::wire::Series;
use super::{Emitter, FactSubject, SCRAPE, metric, raw};
use crate::event::Event;
use crate::time::{Nanos, Stamp};

/// kube-state-metrics says where a pod is; what else it tells of pods bears at most the name of its own machine.
const INFO: &str = "kube_pod_info";

/// What kubelets tell of containers.
const OF_KUBELETS: &str = "container_";

/// Where series of one pod are.
struct Place<'s> {
    nodes: BTreeSet<String>,
    first: Nanos,
    series: &'s Series,
}

/// A fact for each pod that was on one machine alone. Live, what is asked for follows from where pods are known to be.
pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    if !emitter.moments.unknown {
        return;
    }
    let mut places: BTreeMap<(Option<&str>, &str), Place<'_>> = BTreeMap::new();
    for one in series {
        let name = metric(&one.labels);
        if name != INFO && !name.starts_with(OF_KUBELETS) {
            continue;
        }
        let found = pod(&one.labels)
            .zip(emitter.names.host_of(&one.labels))
            .zip(one.samples.first());
        let Some(((whose, node), first)) = found else {
            continue;
        };
        let place = places.entry(whose).or_insert_with(|| Place {
            nodes: BTreeSet::new(),
            first: first.at,
            series: one,
        });
        place.nodes.insert(node);
        if first.at < place.first {
            (place.first, place.series) = (first.at, one);
        }
    }
    for ((namespace, pod), place) in places {
        let Some(node) = place.nodes.first().filter(|_| place.nodes.len() == 1) else {
            continue;
        };
        let of = FactSubject {
            node: Some(node),
            namespace,
            pod: Some(pod),
            container: None,
        };
        let time = Stamp {
            lo: place.first,
            hi: place.first.saturating_add(SCRAPE),
        };
        let mut event = emitter.fact("metric.pod.placed", &[node], time, of);
        event.raw = raw(&place.series.labels, &place.series.samples[..1]);
        out.push(event);
    }
}
