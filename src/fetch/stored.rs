//! A case from the store.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use whathappened_core::evidence::Evidence;
use whathappened_core::resolve::{Name, resolve};
use whathappened_core::shared_fault::SharedFaults;
use whathappened_model::connector::Window;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::EventId;
use whathappened_model::time::{Nanos, SECOND};
use whathappened_store::{Fact, Object, ScopedRows, Snapshot};

use super::held;
use crate::case::{Case, Rules, StoreExtent};
use crate::error::{Error, unread};

/// Takes in what the store has, with every witness.
struct StoreSink<'a> {
    evidence: Evidence,
    rules: &'a Rules,
    failed: Option<Error>,
}

impl StoreSink<'_> {
    fn fact(&mut self, mut fact: Fact) {
        if self.failed.is_some() {
            return;
        }
        let taken = match fact.growth() {
            Some(growth) => self.evidence.observe(growth, &self.rules.signals),
            None => {
                // Rules may be newer than what is stored, but need all of it.
                if !fact.redacted {
                    self.rules.signals.classify(&mut fact.event);
                }
                self.evidence.add_seen(&fact.event, &fact.seen_by)
            }
        };
        self.failed = taken.err().map(Error::from);
    }

    fn object(&mut self, object: Object) {
        self.evidence.objects.add(object.version);
    }
}

/// Runs that were on a machine and are told of it, the latest: each is loaded whole.
const RUNS_OF_MACHINE: usize = 12;

/// The case of what a person named; `*` is everything there is. `window` is the time that
/// they named, if any: of a machine, the runs of that time are loaded.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be read.
pub fn case(
    snapshot: &Snapshot<'_>,
    name: &Name,
    window: Window,
    coverage: Vec<Coverage>,
    rules: Arc<Rules>,
) -> Result<Case, Error> {
    let of_machine = name.is_machine() && !name.is_kind("Instance");
    let unread = unread(&coverage);
    // Which machines a pattern means, and where a GPU is, only all of it tells.
    let searched = of_machine && (name.name.contains('*') || name.is_kind("GPU"));
    if name.is_everything() || searched {
        return all_of_window(snapshot, None, coverage, rules);
    }
    if of_machine {
        return of_one_machine(snapshot, name, window, coverage, rules);
    }
    if let Some(found) = snapshot.find(name)? {
        let mut case = of_found(found, snapshot.coverage_of(coverage), rules)?;
        count_others(snapshot, &mut case)?;
        return Ok(case);
    }
    if snapshot.knows_machine(&name.name)? {
        return of_one_machine(snapshot, name, window, coverage, rules);
    }
    // What several logs are together, only all of them tell.
    if let Some(found) = snapshot.lone_logs()? {
        let case = of_found(found, snapshot.coverage_of(coverage), rules)?;
        if !resolve(&case.graph, &case.runs, name).runs.is_empty() {
            return Ok(case);
        }
    }
    Err(Error::UnknownName {
        name: name.to_string(),
        nearest: snapshot.nearest(&name.name)?,
        unread,
    })
}

/// The case of a machine: its own records, and those of the runs that were on it last.
fn of_one_machine(
    snapshot: &Snapshot<'_>,
    name: &Name,
    window: Window,
    coverage: Vec<Coverage>,
    rules: Arc<Rules>,
) -> Result<Case, Error> {
    let lived = (
        window.from.unwrap_or(Nanos::MIN),
        window.to.unwrap_or(Nanos::MAX),
    );
    let Some(found) = snapshot.find_machine(&name.name, lived, RUNS_OF_MACHINE)? else {
        return Err(Error::UnknownName {
            name: name.to_string(),
            nearest: snapshot.nearest_machines(&name.name)?,
            unread: unread(&coverage),
        });
    };
    let earlier = found.left_out;
    let mut case = of_found(found, snapshot.coverage_of(coverage), rules)?;
    case.earlier_pods = earlier;
    count_others(snapshot, &mut case)?;
    Ok(case)
}

/// Who else saw the troubles that the case tells of, over at most this long.
const OTHERS_WITHIN: Nanos = 6 * 3_600 * SECOND;

/// Adds what others told of the same troubles at the same times: that it was several
/// proves more than one alone. They are only counted.
fn count_others(snapshot: &Snapshot<'_>, case: &mut Case) -> Result<(), Error> {
    let times = SharedFaults::times(&case.graph);
    if times.is_empty() {
        return Ok(());
    }
    let rows = case.graph.evidence.rows();
    let known: HashSet<EventId> = rows.iter().map(|row| row.id).collect();
    let traits = Arc::clone(&case.graph.traits);
    let mut left = OTHERS_WITHIN;
    // The latest end the run, and are what is asked about.
    for (from, to) in times.into_iter().rev() {
        left -= to.saturating_sub(from);
        if left < 0 {
            break;
        }
        let known = |id: EventId| known.contains(&id);
        let is_shared = |signal: &str| traits.shared(signal).is_some();
        let others = snapshot.faults_elsewhere((from, to), &is_shared, &known)?;
        case.graph.elsewhere.extend(others);
    }
    Ok(())
}

/// The case of what was found.
///
/// # Errors
/// When facts cannot be kept while they are tied together.
pub fn of_found(
    found: ScopedRows,
    coverage: Vec<Coverage>,
    rules: Arc<Rules>,
) -> Result<Case, Error> {
    let mut taker = StoreSink {
        evidence: Evidence::default(),
        rules: &rules,
        failed: None,
    };
    let window = found.window;
    let mut held = held::beside(&found);
    let listed = held::listed(&coverage, &found);
    held.known_until = held.known_until.max(listed);
    for fact in found.facts {
        taker.fact(fact);
    }
    for object in found.objects {
        taker.object(object);
    }
    finish(
        taker.evidence,
        taker.failed,
        window,
        (coverage, held),
        rules,
    )
}

/// The case of everything in a window, or of all there is.
///
/// # Errors
/// When the store cannot be read.
pub fn all_of_window(
    snapshot: &Snapshot<'_>,
    window: Option<(Nanos, Nanos)>,
    coverage: Vec<Coverage>,
    rules: Arc<Rules>,
) -> Result<Case, Error> {
    let taker = std::cell::RefCell::new(StoreSink {
        evidence: Evidence::default(),
        rules: &rules,
        failed: None,
    });
    snapshot.everything(
        window,
        &mut |fact| taker.borrow_mut().fact(fact),
        &mut |object| taker.borrow_mut().object(object),
    )?;
    let StoreSink {
        evidence, failed, ..
    } = taker.into_inner();
    let window = window.unwrap_or((Nanos::MIN, Nanos::MAX));
    let coverage = snapshot.coverage_of(coverage);
    let held = StoreExtent {
        sources: held::sources(&snapshot.heard()?, &BTreeSet::new(), window),
        ..StoreExtent::default()
    };
    finish(evidence, failed, window, (coverage, held), rules)
}

/// Where a source of short memory had nothing: what it may have had before, it has forgotten.
fn forgotten(row: &Coverage) -> Option<Nanos> {
    let has_nothing = row.rows == 0 && row.status == Status::Complete;
    let retention = row.retention_s.filter(|_| has_nothing)?;
    Some(
        row.asked_to?
            .saturating_sub(retention.saturating_mul(SECOND)),
    )
}

fn finish(
    evidence: Evidence,
    failed: Option<Error>,
    (from, to): (Nanos, Nanos),
    (mut coverage, held): (Vec<Coverage>, StoreExtent),
    rules: Arc<Rules>,
) -> Result<Case, Error> {
    if let Some(error) = failed {
        return Err(error);
    }
    // What fell short at another time says nothing of this.
    coverage.retain(|row| {
        let begun = row.got_from.or(row.asked_from);
        begun.or_else(|| forgotten(row)).is_none_or(|at| at <= to)
            && row.got_to.or(row.asked_to).is_none_or(|at| at >= from)
    });
    Ok(Case::of_evidence(evidence, &coverage, held, rules)?)
}
