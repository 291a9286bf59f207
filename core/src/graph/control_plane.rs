//! What those who run a cluster would have done by now: a Job that nobody looked at, a pod that its node's kubelet did not take on,
//! and whether the leases of those who should have were renewed.
//!
//! All of that is so for a moment of every Job and pod, and for good where an object was listed in that moment. So it counts only
//! where the very file that shows it goes on for minutes after that: a list shows all of its objects at one time.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::event::{Event, SourceKind};
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::Workloads;
use super::{Fact, Task};
use crate::evidence::{Evidence, EvidenceRow, Row, SpillError};
use crate::graph::WorkloadRow;
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// A controller looks at a new Job, and a kubelet at a new pod of its node, within seconds.
const AT_ONCE: Nanos = 300 * SECOND;

/// A lease is past when it was not renewed for so many times as long as it lasts, and this long at least.
const TIMES: Nanos = 3;
const LEAST: Nanos = 60 * SECOND;

/// How long a lease lasts that does not say so: a kubelet's.
const LASTS: Nanos = 40 * SECOND;

/// Drops what says so of Jobs and pods that were looked at later, or that are new, and adds to the rest which lease was not
/// renewed. `unscheduled` pods were settled before.
pub(super) fn settle(
    pods: &Table<Task>,
    workloads: &Workloads,
    evidence: &mut Evidence,
    facts: &mut Vec<Fact>,
) -> Result<(), SpillError> {
    let find = |signal| evidence.symbols.find(signal);
    let [untouched, untaken, unscheduled] = [
        named::K8S_WORKLOAD_UNTOUCHED,
        named::K8S_POD_UNTAKEN,
        named::K8S_POD_UNSCHEDULED,
    ]
    .map(find);
    let says = |fact: &Fact, signal: Option<Symbol>| signal == Some(fact.signal);
    let any = |fact: &Fact| {
        [untouched, untaken, unscheduled]
            .iter()
            .any(|one| says(fact, *one))
    };
    if !facts.iter().any(any) {
        return Ok(());
    }
    let known_until = last_of_files(evidence);
    let last_versions = last_versions(evidence);
    let touched = touched(pods, workloads, facts, untouched);
    let mut past = Vec::new();
    facts.retain(|fact| {
        let is_job = says(fact, untouched);
        if !is_job && !says(fact, untaken) {
            return true;
        }
        let row = evidence.rows().get(fact.row);
        let name = |row: &Row| if is_job { row.workload } else { row.pod };
        let stays = row.is_some_and(|row| {
            let until = known_until.get(&row.file()).copied().unwrap_or(Nanos::MIN);
            let waits = if is_job {
                fact.workload
                    .is_some_and(|workload| !touched.contains(&workload))
            } else {
                pods.get(fact.pod).is_some_and(is_left)
            };
            waits
                && until.saturating_sub(fact.time.hi) > AT_ONCE
                && last_versions.contains(&(row.file(), row.line(), name(row)))
        });
        if !stays {
            past.push(fact.row);
        }
        stays
    });
    let leases = Leases::of(evidence)?;
    let mut found = Vec::new();
    for fact in facts.iter() {
        let file = evidence.rows().get(fact.row).map(Row::file);
        let (lease, signal) = if says(fact, untouched) {
            (
                "kube-system/kube-controller-manager".to_owned(),
                named::K8S_LEASE_PAST_CONTROLLER_MANAGER,
            )
        } else if says(fact, unscheduled)
            && evidence.symbols.name(fact.detail) == "default-scheduler"
        {
            (
                "kube-system/kube-scheduler".to_owned(),
                named::K8S_LEASE_PAST_SCHEDULER,
            )
        } else if says(fact, untaken) {
            let node = pods.get(fact.pod).map_or(Symbol::NONE, |pod| pod.node);
            (
                format!("kube-node-lease/{}", evidence.symbols.name(node)),
                named::K8S_LEASE_PAST_NODE,
            )
        } else {
            continue;
        };
        let past = file.and_then(|file| leases.past(&lease, file, &evidence.symbols));
        found.extend(past.map(|lease| (lease, signal, *fact)));
    }
    for (lease, signal, about) in found {
        let signal = evidence.symbols.number(signal);
        if let Some(row) = evidence.rows().get(lease) {
            facts.push(Fact {
                pod: about.pod,
                workload: about.workload,
                node: row.node,
                ..Fact::of_row(lease, row, signal)
            });
        }
    }
    for row in past {
        evidence.silence(row);
    }
    Ok(())
}

/// Whether a pod was bound, and nothing tells that its kubelet did anything with it.
fn is_left(pod: &Task) -> bool {
    pod.started.is_none()
        && pod.stuck.is_none()
        && pod.waits.is_empty()
        && pod.exits.is_empty()
        && pod.verdict.is_none()
        && pod.deletion_requested.is_none()
        && pod.gone.is_none()
}

/// Workloads that have a pod, or own something, or of which anything else is told.
fn touched(
    pods: &Table<Task>,
    workloads: &Workloads,
    facts: &[Fact],
    untouched: Option<Symbol>,
) -> BTreeSet<WorkloadRow> {
    let owners = pods.iter().flat_map(|pod| [pod.owner, pod.root]);
    let owners = owners.chain(workloads.all.iter().map(|one| one.owner));
    // That somebody made it says nothing of who looks after it.
    let recorded = facts.iter().filter(|fact| {
        Some(fact.signal) != untouched && fact.source_kind != SourceKind::KubernetesAudit
    });
    let recorded = recorded.map(|fact| fact.workload);
    owners.chain(recorded).flatten().collect()
}

/// Until when each file tells of anything.
fn last_of_files(evidence: &Evidence) -> BTreeMap<Symbol, Nanos> {
    let mut found: BTreeMap<Symbol, Nanos> = BTreeMap::new();
    let mut note = |file: Symbol, at: Nanos| {
        let known = found.entry(file).or_insert(at);
        *known = at.max(*known);
    };
    for row in evidence
        .rows()
        .iter()
        .filter(|row| row.last() != Nanos::MAX)
    {
        note(row.file(), row.last());
    }
    for (_, versions) in evidence.objects.iter() {
        for version in versions {
            let file = evidence.symbols.find(&version.origin.file);
            let at = version.at.filter(|at| *at != Stamp::OPEN);
            if let (Some(file), Some(at)) = (file, at) {
                note(file, at.lo);
            }
        }
    }
    found
}

/// Where the last version of each Job and pod stands: what an earlier one shows is over.
fn last_versions(evidence: &Evidence) -> BTreeSet<(Symbol, u64, Symbol)> {
    let objects = evidence.objects.iter();
    let objects = objects.filter(|(key, _)| matches!(key.kind.as_str(), "Job" | "Pod"));
    objects
        .filter_map(|(key, versions)| {
            let last = versions.last().filter(|last| !last.deleted)?;
            let file = evidence.symbols.find(&last.origin.file)?;
            Some((file, last.origin.line, evidence.symbols.find(&key.name)?))
        })
        .collect()
}

/// The last renewal of each lease.
struct Leases {
    /// The row of the renewal, its file, when, and how long it lasts.
    by_name: BTreeMap<String, (EvidenceRow, Symbol, Nanos, Nanos)>,
    /// The last renewal of any lease in each file.
    of_file: BTreeMap<Symbol, Nanos>,
}

impl Leases {
    fn of(evidence: &Evidence) -> Result<Self, SpillError> {
        let mut found = Self {
            by_name: BTreeMap::new(),
            of_file: BTreeMap::new(),
        };
        let Some(kind) = evidence.symbols.find("k8s.lease") else {
            return Ok(found);
        };
        for (number, row) in evidence.rows().numbered() {
            if row.fact != kind {
                continue;
            }
            let event = evidence.event(number)?;
            let renewed = row.time.lo;
            let last = found.of_file.entry(row.file()).or_insert(renewed);
            *last = renewed.max(*last);
            let name = event.attribute("lease").unwrap_or_default().to_owned();
            let new = (number, row.file(), renewed, lasts(&event));
            let known = found.by_name.entry(name).or_insert(new);
            if known.2 < renewed {
                *known = new;
            }
        }
        Ok(found)
    }

    /// The row of a lease's last renewal, if others of the same list were renewed long after it. `file` is where that is told
    /// which it is to explain: what lies in another folder may be of another cluster.
    fn past(&self, lease: &str, file: Symbol, symbols: &SymbolTable) -> Option<EvidenceRow> {
        let (row, list, renewed, lasts) = *self.by_name.get(lease)?;
        let folder = |file: Symbol| {
            symbols
                .name(file)
                .rsplit_once('/')
                .map(|(folder, _)| folder)
        };
        let newest = self.of_file.get(&list)?;
        let is_past = newest.saturating_sub(renewed) > LEAST.max(TIMES.saturating_mul(lasts));
        (is_past && folder(list) == folder(file)).then_some(row)
    }
}

fn lasts(lease: &Event) -> Nanos {
    let seconds = lease
        .attribute("lasts_s")
        .and_then(|text| text.parse::<Nanos>().ok());
    seconds.map_or(LASTS, |seconds| seconds.clamp(1, 86_400) * SECOND)
}
