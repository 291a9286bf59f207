//! One GPU under which one program after the other does something illegal.
//!
//! The driver blames the program for some of its errors: an address that is not there, an
//! exception in a kernel. A GPU that computes wrong addresses looks the same, and what tells them
//! apart is who else was struck: the same GPU under another program is the GPU, another GPU under the
//! same program is the program.

use crate::signals::named;
use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::witness::Gpus;
use super::{EntityGraph, Fact, Task, TaskKind};
use crate::symbols::Symbol;

/// What the driver takes for a mistake of the program.
const ERROR: &str = named::GPU_APPLICATION_ERROR;

/// What is derived from the second of them on one GPU.
const AGAIN: &str = named::GPU_APPLICATION_ERROR_REPEATED;

/// Memory access and exceptions in a kernel; the others follow these, or say who was stopped.
const XIDS: [&str; 2] = ["13", "31"];

/// So long ago the other one was at most.
const DAY: Nanos = 86_400 * SECOND;

/// Within this time what failed is tried again.
const SOON: Nanos = 4 * 3600 * SECOND;

/// Adds a meaning to errors of a GPU that had one before under another run.
pub(super) fn mark(graph: &mut EntityGraph, gpus: &Gpus) {
    let Some(error) = graph.evidence.symbols.find(ERROR) else {
        return;
    };
    let mut reported: BTreeMap<(Symbol, &str), Vec<Fact>> = BTreeMap::new();
    for fact in &graph.facts {
        if fact.signal == error
            && fact.node.is_some()
            && fact.time != Stamp::OPEN
            && let Some((xid, pci)) = gpus.xid_of(fact.row)
            && XIDS.contains(&xid)
        {
            reported.entry((fact.node, pci)).or_default().push(*fact);
        }
    }
    let mut again = Vec::new();
    for ((node, pci), facts) in &reported {
        for fact in facts {
            let near = |other: &Fact| (fact.time.lo - DAY..fact.time.lo).contains(&other.time.lo);
            // One GPU beside it, or on another machine at the same time: what they share is the program.
            let elsewhere = reported.iter().any(|(key, others)| {
                key != &(*node, *pci)
                    && others
                        .iter()
                        .any(|other| near(other) || near_in_time(other.time.lo, fact.time.lo))
            });
            let first = facts.iter().find(|other| near(other));
            if let (false, Some(first)) = (elsewhere, first)
                && made_after(graph, *node, fact.time.lo, first.time.hi)
                && was_other_program(graph, *node, first.time, fact.time.lo)
            {
                again.push(*fact);
            }
        }
    }
    if again.is_empty() {
        return;
    }
    let signal = graph.evidence.symbols.number(AGAIN);
    graph
        .facts
        .extend(again.into_iter().map(|fact| Fact { signal, ..fact }));
}

/// Within an hour of one another.
fn near_in_time(a: Nanos, b: Nanos) -> bool {
    a.saturating_sub(b).saturating_abs() <= 3600 * SECOND
}

/// Whether what ran on the machine at the first of two times is another program than all that ran there at the second: a bug
/// that is run again is a bug again, on the same GPU if its machine is the same. Where nobody knows what ran there, what
/// failed is started again sooner than in hours.
fn was_other_program(graph: &EntityGraph, node: Symbol, first: Stamp, again: Nanos) -> bool {
    let there = |at: Nanos| {
        let of_node = |pod: &&Task| pod.machines().any(|machine| machine == node);
        let then = move |pod: &&Task| {
            let (from, to) = pod.stay();
            (from..=to).contains(&at)
        };
        graph.pods.iter().filter(of_node).filter(then)
    };
    let mut before = there(first.lo).peekable();
    if before.peek().is_none() {
        return again.saturating_sub(first.hi) > SOON;
    }
    before.all(|one| there(again).all(|other| !is_same_program(graph, one, other)))
}

/// Whether two tasks look like one program that was run twice: by name, but for a number or what a controller adds, or by
/// what they were asked to run.
fn is_same_program(graph: &EntityGraph, one: &Task, other: &Task) -> bool {
    let name = |task: &Task| {
        let root = graph.workloads.get(task.root);
        let whole = graph.name(root.map_or(task.name, |root| root.name));
        let own = if root.is_none() && task.kind == TaskKind::Pod {
            whole.rsplit_once('-').map_or(whole, |(stem, _)| stem)
        } else {
            whole
        };
        let stem = own.trim_end_matches(|last: char| last.is_ascii_digit() || "-_.".contains(last));
        if stem.is_empty() { own } else { stem }.to_owned()
    };
    let asked = |task: &Task| {
        let body = task.body.as_ref()?;
        let asked: Vec<_> = body
            .containers
            .iter()
            .map(|one| (one.image.clone(), one.command.clone()))
            .collect();
        (!asked.is_empty()).then_some(asked)
    };
    name(one) == name(other) || asked(one).is_some_and(|one| Some(one) == asked(other))
}

/// Whether all that ran on the machine then was made after the error before: nobody who is
/// struck twice is told apart from a program that fails twice.
fn made_after(graph: &EntityGraph, node: Symbol, at: Nanos, before: Nanos) -> bool {
    let mut there = graph
        .pods
        .iter()
        .filter(|pod| pod.machines().any(|machine| machine == node))
        .filter(|pod| {
            let (from, to) = pod.stay();
            (from..=to).contains(&at)
        })
        .peekable();
    there.peek().is_some()
        && there.all(|pod| {
            let root = graph.workloads.get(pod.root);
            let made = root.and_then(|root| root.created).or(pod.created);
            made.is_some_and(|made| made.lo >= before)
        })
}
