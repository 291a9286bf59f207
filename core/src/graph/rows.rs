//! Which pod each row is about.

use std::collections::HashMap;

use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::identity::Pods;
use super::{Task, TaskKind};
use crate::evidence::{Evidence, Row};
use crate::graph::{PodOfRow, TaskRow};
use crate::symbols::{Symbol, SymbolTable};

/// Requests for the end of a pod.
const ENDS: [&str; 2] = ["k8s.audit.delete", "k8s.audit.evict"];

/// A kubelet's report of how a pod stands.
const REPORT: &str = "k8s.audit.report";

/// A request that made a pod.
const MADE: &str = "k8s.audit.create";

/// Where a pod was by its measurements: of what nothing else tells that is no run.
const PLACED: &str = "metric.pod.placed";

/// A line of a program.
const LINE: &str = "log.line";

/// Zones that are not named and clocks that are wrong are off by less.
const A_DAY: Nanos = 24 * 3600 * SECOND;

/// Whether a line was written so long before a pod began that it is of one that bore its name before.
pub(super) fn was_long_before(begin: Nanos, row: &Row) -> bool {
    row.last() < begin.saturating_sub(A_DAY)
}

/// The pods of all rows: those with a uid first, so that rows with only a name find who bore it when.
pub(super) fn pods(evidence: &Evidence, symbols: &SymbolTable, pods: &mut Pods) -> PodOfRow {
    adopt(evidence, symbols, pods);
    let mut pod_of_row: PodOfRow = evidence.rows().iter().map(|_| None).collect();
    for (slot, row) in pod_of_row.iter_mut().zip(evidence.rows()) {
        if row.pod_uid.is_some() {
            *slot = Some(pods.of_uid(row.pod_uid, row.namespace, row.pod));
            if let Some(pod) = pods.all.get_mut(*slot) {
                pod.see(row.time.lo, row.last());
            }
        }
    }
    let mut asked = asked(evidence, symbols, &pod_of_row);
    let mut placed = Vec::new();
    for (slot, row) in pod_of_row.iter_mut().zip(evidence.rows()) {
        if !row.pod_uid.is_some() && row.pod.is_some() {
            // A pod's name is free once it is gone: who asks for an end in the very second in which
            // a pod was made asked for that of the one before it.
            let fact = symbols.name(row.fact);
            let ends = ENDS.contains(&fact);
            // The server that makes a pod also hears of it: what it heard before it made another is of the one before.
            let back = if ends {
                2 * SECOND
            } else if fact == REPORT {
                SECOND
            } else {
                0
            };
            let at = row.time.lo.saturating_sub(back);
            if fact == PLACED {
                placed.push((slot, row));
                continue;
            }
            // What ended before the pod of that name was made is the end of another one.
            let pod = if row.of_earlier {
                pods.earlier(row.namespace, row.pod)
            } else if ends || row.ends_pod {
                let by = row.last().saturating_add(CLOCKS);
                pods.of_name_by(row.namespace, row.pod, at, (by, row.time))
            } else if fact == REPORT {
                pods.of_name(row.namespace, row.pod, at)
            } else if fact == MADE {
                made(pods, &asked, row)
            } else {
                let found = pods.of_name_recorded(row.namespace, row.pod, row.time);
                let made = pods.all.get(found).and_then(|pod| pod.created);
                match made {
                    Some(made) if fact == LINE && was_long_before(made.lo, row) => {
                        pods.earlier(row.namespace, row.pod)
                    }
                    _ => found,
                }
            };
            *slot = Some(pod);
            if ends {
                note(&mut asked, pod, row);
            }
        } else if !row.pod_uid.is_some() && row.instance.is_some() {
            *slot = Some(pods.of_id(TaskKind::Instance, row.instance, row.node));
        }
    }
    for (slot, row) in placed {
        *slot = pods.find_name(row.namespace, row.pod, row.time.lo);
    }
    for (slot, row) in pod_of_row.iter().zip(evidence.rows()) {
        if !row.pod_uid.is_some()
            && let Some(pod) = pods.all.get_mut(*slot)
        {
            pod.see(row.time.lo, row.last());
        }
    }
    pod_of_row
}

/// When somebody first asked for the end of which pods, as rows tell that have their uids.
fn asked(
    evidence: &Evidence,
    symbols: &SymbolTable,
    pod_of_row: &PodOfRow,
) -> HashMap<TaskRow, Nanos> {
    let mut asked = HashMap::new();
    for (pod, row) in pod_of_row.iter().zip(evidence.rows()) {
        if let Some(pod) = pod.filter(|_| ENDS.contains(&symbols.name(row.fact))) {
            note(&mut asked, pod, row);
        }
    }
    asked
}

fn note(asked: &mut HashMap<TaskRow, Nanos>, pod: TaskRow, row: &Row) {
    let first = asked.entry(pod).or_insert(row.time.lo);
    *first = row.time.lo.min(*first);
}

/// The pod that a request made: names are free once their bearers are gone, so after the end of one was asked for it is
/// another one.
fn made(pods: &mut Pods, asked: &HashMap<TaskRow, Nanos>, row: &Row) -> TaskRow {
    let found = pods.of_name_recorded(row.namespace, row.pod, row.time);
    let was_asked = asked.get(&found).is_some_and(|asked| *asked < row.time.lo);
    let made = pods.all.get(found).and_then(|pod| pod.created);
    let is_it = made.is_some_and(|made| made.lo >= row.time.lo.saturating_sub(CLOCKS));
    if !was_asked || is_it {
        return found;
    }
    let mut another = Task::new(TaskKind::Pod, Symbol::NONE, row.namespace, row.pod);
    another.created = Some(row.time);
    pods.push(another)
}

/// Ties uids that only rows tell to pods that were printed without theirs, the earliest first.
fn adopt(evidence: &Evidence, symbols: &SymbolTable, pods: &mut Pods) {
    let mut uids: HashMap<Symbol, (Nanos, Symbol, Symbol)> = HashMap::new();
    for row in evidence.rows().iter().filter(|row| row.pod_uid.is_some()) {
        let reported = (row.time.lo, row.namespace, row.pod);
        let first = uids.entry(row.pod_uid).or_insert(reported);
        *first = reported.min(*first);
    }
    let mut uids: Vec<_> = uids.into_iter().collect();
    uids.sort_by_key(|(uid, (first, ..))| (*first, symbols.name(*uid)));
    for (uid, (first, namespace, name)) in uids {
        pods.adopt(uid, namespace, name, first);
    }
}
