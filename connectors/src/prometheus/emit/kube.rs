//! kube-state-metrics: what it saw change of nodes.

use std::collections::BTreeMap;

use super::super::names::label;
use super::super::wire::{Sample, Series, grouped};
use super::change::{between, merged};
use super::{Emitter, FactSubject, of, raw};
use crate::event::Event;
use crate::time::Nanos;

const CONDITION: &str = "kube_node_status_condition";
const UNSCHEDULABLE: &str = "kube_node_spec_unschedulable";
const TAINT: &str = "kube_node_spec_taint";

/// What every node is asked for.
pub(super) const METRICS: [&str; 3] = [CONDITION, UNSCHEDULABLE, TAINT];

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    conditions(emitter, series, out);
    cordons(emitter, series, out);
    taints(emitter, series, out);
}

/// Three series a condition, of which one is 1.
fn conditions(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let groups = grouped(of(series, &[CONDITION]), |one| {
        let condition = label(&one.labels, "condition").unwrap_or_default();
        (emitter.names.node(&one.labels), condition)
    });
    for ((node, condition), own) in groups {
        let Some(node) = node else { continue };
        let mut states: Vec<(Nanos, &str, &Series)> = Vec::new();
        for one in own {
            let status = label(&one.labels, "status").unwrap_or_default();
            let set = one.samples.iter().filter(|sample| sample.value == 1.0);
            states.extend(set.map(|sample| (sample.at, status, one)));
        }
        states.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        for two in states.windows(2) {
            let ((before, was, _), (after, is, one)) = (two[0], two[1]);
            if was == is || before == after {
                continue;
            }
            let status = match is {
                "true" => "True",
                "false" => "False",
                _ => "Unknown",
            };
            let mut event = emitter.fact(
                "k8s.node.condition",
                &[condition, status],
                between(before, after),
                FactSubject::node(&node),
            );
            event.object_kind = Some("Node".to_owned());
            event.set_attribute("condition", Some(condition));
            event.set_attribute("status", Some(status));
            let sample = Sample {
                at: after,
                value: 1.0,
            };
            event.raw = raw(&one.labels, &[sample]);
            out.push(event);
        }
    }
}

fn cordons(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let nodes = grouped(of(series, &[UNSCHEDULABLE]), |one| {
        emitter.names.node(&one.labels)
    });
    for (node, own) in nodes {
        let Some(node) = node else { continue };
        for two in merged(&own).windows(2) {
            let (before, after) = (two[0], two[1]);
            if before.value == after.value || before.at == after.at {
                continue;
            }
            let fact = if after.value > 0.0 {
                "k8s.node.cordoned"
            } else {
                "k8s.node.uncordoned"
            };
            let time = between(before.at, after.at);
            let mut event = emitter.fact(fact, &[], time, FactSubject::node(&node));
            event.object_kind = Some("Node".to_owned());
            event.raw = raw(&own[0].labels, &[before, after]);
            out.push(event);
        }
    }
}

/// A taint is a series that is there or not: it came where other series of the
/// node were scraped before without it.
fn taints(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let mut scrapes: BTreeMap<String, Vec<Nanos>> = BTreeMap::new();
    for one in of(series, &METRICS) {
        if let Some(node) = emitter.names.node(&one.labels) {
            let at = one.samples.iter().map(|sample| sample.at);
            scrapes.entry(node).or_default().extend(at);
        }
    }
    let groups = grouped(of(series, &[TAINT]), |one| {
        let part = |name| label(&one.labels, name).unwrap_or_default();
        let taint = [part("key"), part("value"), part("effect")];
        (emitter.names.node(&one.labels), taint)
    });
    for ((node, taint), own) in groups {
        let Some(node) = node else { continue };
        let all = merged(&own);
        let Some(first) = all.iter().find(|sample| sample.value > 0.0) else {
            continue;
        };
        let earlier = scrapes.get(&node).into_iter().flatten();
        let Some(before) = earlier.filter(|at| **at < first.at).max() else {
            continue;
        };
        let [key, value, effect] = taint;
        let mut event = emitter.fact(
            "k8s.node.taint",
            &taint,
            between(*before, first.at),
            FactSubject::node(&node),
        );
        event.object_kind = Some("Node".to_owned());
        for (name, value) in [("key", key), ("value", value), ("effect", effect)] {
            event.set_attribute(name, Some(value).filter(|value| !value.is_empty()));
        }
        event.raw = raw(&own[0].labels, &[*first]);
        out.push(event);
    }
}
