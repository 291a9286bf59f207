//! One thing that two sources tell, one exactly and one by what it measured.
//!
//! An Xid stands in the kernel's log to the microsecond, and DCGM shows it at
//! the scrape after; a node's condition is in the API and in kube-state-metrics.
//! Their records have times of different widths and so different ids. Such a
//! measurement is a witness of the record and no fact of its own.

use crate::evidence::{Evidence, EvidenceRow};
use crate::graph::TaskRow;
use crate::signals::named;
use std::collections::{BTreeMap, HashMap};

use whathappened_model::event::{Event, SourceKind};
use whathappened_model::pci;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::Fact;
use crate::symbols::{Symbol, SymbolTable};

/// Clocks of machines and scrapers are this far apart at most.
const CLOCKS: Nanos = 2 * SECOND;

/// A reboot is told by the kubelet once it is up again, minutes after the kernel.
const REBOOT: Nanos = 600 * SECOND;

/// Which fault of which GPU a record tells of, by row.
#[derive(Debug, Default)]
pub(super) struct Gpus(HashMap<EvidenceRow, Gpu>);

#[derive(Debug, Default)]
struct Gpu {
    xid: Option<String>,
    pci: Option<String>,
    uuid: Option<String>,
}

impl Gpus {
    /// Notes what a record says of a GPU.
    pub(super) fn note(&mut self, row: EvidenceRow, event: &Event) {
        let text = |key: &str| event.attribute(key).map(str::to_owned);
        let pci = event
            .attribute("gpu_pci")
            .or_else(|| event.attribute("pci"));
        let gpu = Gpu {
            xid: text("xid"),
            pci: pci.map(pci::normal),
            uuid: text("gpu_uuid"),
        };
        if gpu.xid.is_some() || gpu.pci.is_some() || gpu.uuid.is_some() {
            self.0.insert(row, gpu);
        }
    }

    /// The Xid and the bus address that a record tells.
    pub(super) fn xid_of(&self, row: EvidenceRow) -> Option<(&str, &str)> {
        let gpu = self.0.get(&row)?;
        Some((gpu.xid.as_deref()?, gpu.pci.as_deref()?))
    }

    /// Whether two records may be of one fault of one GPU.
    fn agree(&self, a: EvidenceRow, b: EvidenceRow) -> bool {
        let (Some(a), Some(b)) = (self.0.get(&a), self.0.get(&b)) else {
            return true;
        };
        let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        same(&a.xid, &b.xid) && same(&a.pci, &b.pci) && same(&a.uuid, &b.uuid)
    }
}

/// Takes out what was measured where another record tells the same.
pub(super) fn fold(evidence: &mut Evidence, facts: &mut Vec<Fact>, gpus: &Gpus) {
    let measured = |fact: &Fact| fact.source_kind == SourceKind::Prometheus;
    if !facts.iter().any(measured) {
        return;
    }
    /// Whom it is about.
    #[derive(PartialEq, Eq, Hash)]
    enum Subject {
        Pod(TaskRow),
        Machine(Symbol),
    }
    type Key = (Symbol, Subject);
    let key = |fact: &Fact| -> Option<Key> {
        let machine = || fact.node.is_some().then_some(Subject::Machine(fact.node));
        let subject = fact.pod.map(Subject::Pod).or_else(machine)?;
        Some((fact.signal, subject))
    };
    let mut reported: HashMap<Key, Vec<&Fact>> = HashMap::new();
    for fact in facts.iter().filter(|fact| !measured(fact)) {
        if let Some(key) = key(fact) {
            reported.entry(key).or_default().push(fact);
        }
    }
    let symbols = &evidence.symbols;
    let mut left: BTreeMap<EvidenceRow, usize> = BTreeMap::new();
    let mut folded: Vec<(EvidenceRow, EvidenceRow)> = Vec::new();
    let mut holders: HashMap<EvidenceRow, Symbol> = HashMap::new();
    let mut keep = Vec::with_capacity(facts.len());
    for fact in facts.iter() {
        let others = key(fact)
            .filter(|_| measured(fact))
            .and_then(|key| reported.get(&key));
        let others = others.into_iter().flatten();
        let twin = others
            .filter(|other| is_one(symbols, fact, other) && gpus.agree(fact.row, other.row))
            .min_by_key(|other| (other.time, other.id));
        if measured(fact) {
            *left.entry(fact.row).or_default() += usize::from(twin.is_none());
        }
        keep.push(twin.is_none());
        folded.extend(twin.map(|twin| (fact.row, twin.row)));
        if let Some(twin) = twin.filter(|twin| fact.holder.is_some() && !twin.holder.is_some()) {
            let known = holders.entry(twin.row).or_insert(fact.holder);
            if *known != fact.holder {
                *known = Symbol::NONE; // It was parted among several.
            }
        }
    }
    let mut keep = keep.into_iter();
    facts.retain(|_| keep.next().unwrap_or(true));
    // The kernel names a GPU by its address; who had it, what measured it says.
    for fact in facts.iter_mut() {
        if let Some(holder) = holders.get(&fact.row) {
            fact.holder = *holder;
        }
    }
    for (row, into) in folded {
        evidence.fold(row, into);
        if left.get(&row) == Some(&0) {
            evidence.silence(row);
        }
    }
}

fn is_one(symbols: &SymbolTable, fact: &Fact, other: &Fact) -> bool {
    let slack = match symbols.name(fact.signal) {
        named::K8S_NODE_REBOOTED => REBOOT,
        _ => CLOCKS,
    };
    let near = Stamp {
        lo: fact.time.lo.saturating_sub(slack),
        hi: fact.time.hi.saturating_add(slack),
    };
    let details = !fact.detail.is_some() || !other.detail.is_some() || fact.detail == other.detail;
    let containers = !fact.container.is_some()
        || !other.container.is_some()
        || fact.container == other.container;
    other.time != Stamp::OPEN && near.overlaps(other.time) && details && containers
}

#[cfg(test)]
mod tests {
    use whathappened_model::event::EventId;
    use whathappened_model::observation::Observation;

    use super::*;
    use crate::graph::EntityGraph;
    use crate::signals::Ruleset;

    fn event(fact: &str, kind: SourceKind, time: (i64, i64)) -> Event {
        let stamp = Stamp {
            lo: time.0 * SECOND,
            hi: time.1 * SECOND,
        };
        let id = EventId::of(&[fact, kind.as_str(), &time.0.to_string()]);
        let mut event = Event::new(id, fact, stamp, kind);
        event.entities.node = Some("gpu-1".to_owned());
        event
    }

    fn measured(xid: &str, pci: &str, time: (i64, i64)) -> Event {
        let mut event = event("metric.gpu.xid", SourceKind::Prometheus, time);
        event.set_attribute("xid", Some(xid));
        event.set_attribute("gpu_pci", Some(pci));
        event
    }

    fn kernel(xid: &str, pci: &str, at: i64) -> Event {
        let mut event = event("node.log", SourceKind::NodeLog, (at, at + 1));
        event.message = Some(format!("NVRM: Xid (PCI:{pci}): {xid}, pid=1, x"));
        event.set_attribute("xid", Some(xid));
        event
    }

    fn graph(events: Vec<Event>) -> EntityGraph {
        let ruleset = Ruleset::shared();
        let mut evidence = Evidence::default();
        for event in events {
            let one = Observation::Event(Box::new(event));
            evidence.observe(one, ruleset).unwrap();
        }
        EntityGraph::build(evidence, ruleset).unwrap()
    }

    /// Facts with a signal, and who saw them.
    fn seen(events: Vec<Event>, signal: &str) -> Vec<Vec<SourceKind>> {
        let graph = graph(events);
        let of = |fact: &&Fact| graph.name(fact.signal) == signal;
        let rows = graph.facts.iter().filter(of).map(|fact| fact.row);
        rows.map(|row| graph.evidence.rows().get(row).unwrap().seen_by())
            .map(Iterator::collect)
            .collect()
    }

    #[test]
    fn whose_gpu_it_was_is_known_from_what_measured_it() {
        let held = |pod: &str| {
            let mut event = measured("79", "0000:9b:00", (70, 131));
            event.id = EventId::of(&[pod]);
            event.set_attribute("held_by", Some(pod));
            event
        };
        let holders = |mut events: Vec<Event>| {
            events.push(kernel("79", "0000:9b:00", 100));
            let graph = graph(events);
            let of_kernel = |fact: &&Fact| fact.source_kind == SourceKind::NodeLog;
            let facts = graph.facts.iter().filter(of_kernel);
            let names = facts.map(|fact| graph.name(fact.holder));
            // Each of what the one line means.
            let names: std::collections::BTreeSet<&str> = names.collect();
            names.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(holders(vec![held("bert-0")]), ["bert-0"]);
        assert_eq!(holders(vec![held("bert-0"), held("swin-0")]), [""]);
    }

    #[test]
    fn what_another_record_tells_exactly_is_no_fact_of_its_own() {
        let both = vec![SourceKind::NodeLog, SourceKind::Prometheus];
        let one = vec![
            measured("79", "0000:9b:00", (70, 131)),
            kernel("79", "0000:9B:00", 100),
        ];
        assert_eq!(seen(one, "gpu.hardware_error"), [both]);
        for other in [
            kernel("79", "0000:9c:00", 100),
            kernel("119", "0000:9b:00", 100),
            kernel("79", "0000:9b:00", 200),
        ] {
            let two = vec![measured("79", "0000:9b:00", (70, 131)), other];
            assert_eq!(seen(two, "gpu.hardware_error").len(), 2);
        }
    }

    #[test]
    fn how_a_container_ended_is_heard_of_only_where_nobody_tells() {
        let ended = |kind: SourceKind, second: i64, code: i32| {
            let mut event = event("k8s.container.terminated", kind, (second, second + 1));
            event.entities.node = None;
            event.entities.namespace = Some("lab".to_owned());
            event.entities.pod = Some("run-0".to_owned());
            event.reason = Some("Error".to_owned());
            event.exit_code = Some(code);
            event
        };
        let codes = |events: Vec<Event>| -> Vec<Option<i32>> {
            let ruleset = Ruleset::shared();
            let mut evidence = Evidence::default();
            for event in events {
                evidence.add(&event).unwrap();
            }
            let graph = EntityGraph::build(evidence, ruleset).unwrap();
            let exits = graph.pods.iter().flat_map(|pod| &pod.exits);
            exits.map(|exit| exit.exit_code).collect()
        };
        let heard = ended(SourceKind::Prometheus, 100, 137);
        let reported = ended(SourceKind::Kubernetes, 101, 1);
        assert_eq!(codes(vec![heard.clone()]), [Some(137)]);
        assert_eq!(codes(vec![heard, reported]), [Some(1)]);
    }
}
