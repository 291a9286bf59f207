//! Which rank the others waited for, from the flight recorder's dumps of all
//! ranks that there are.
//!
//! Each dump is a fact of its own (`nccl.trace`); only together they tell who
//! was missing. So it is found here, where all facts are known, whether they
//! come from files or from the store, and in any order.

use crate::signals::named;
use whathappened_model::collective::{Finding, PendingCollective, Trace, compare_traces};
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};

/// Dumps further apart than this are not of one hang. Ranks dump when the
/// first watchdog speaks, but each tells the time of its own last call.
const APART: Nanos = 3600 * SECOND;

/// A dump's fact with what it says.
pub(super) type TraceFact<'t> = (&'t Event, &'t Trace);

/// The facts `nccl.rank_missing`, `nccl.mismatch` and `nccl.no_dump`.
pub(super) fn facts<'t>(traces: impl Iterator<Item = (&'t Event, &'t Trace)>) -> Vec<Event> {
    let mut traces: Vec<TraceFact<'_>> = traces.collect();
    traces.sort_by_key(|(event, trace)| (event.time, trace.rank, event.id));
    let mut found = Vec::new();
    for hang in hangs(traces) {
        let alone: Vec<Trace> = hang.iter().map(|(_, trace)| (*trace).clone()).collect();
        for finding in compare_traces(&alone) {
            found.push(fact(&finding, &hang));
        }
    }
    found
}

/// Takes apart what is of different hangs: by time, and where a rank tells of
/// a group again.
fn hangs(traces: Vec<TraceFact<'_>>) -> Vec<Vec<TraceFact<'_>>> {
    let mut hangs: Vec<Vec<TraceFact<'_>>> = Vec::new();
    for (event, trace) in traces {
        let joins = |hang: &Vec<TraceFact<'_>>| {
            let near = hang.last().is_some_and(|(last, _)| {
                event.time == last.time || event.time.lo.saturating_sub(last.time.lo) <= APART
            });
            let again = hang.iter().any(|(_, other)| {
                other.rank == trace.rank && other.pg == trace.pg && other.members == trace.members
            });
            near && !again
        };
        match hangs.iter_mut().find(|hang| joins(hang)) {
            Some(hang) => hang.push((event, trace)),
            None => hangs.push(vec![(event, trace)]),
        }
    }
    hangs
}

fn fact(finding: &Finding, hang: &[TraceFact<'_>]) -> Event {
    let (name, rank, at) = match finding {
        Finding::Missing { rank, at, .. } => (named::NCCL_RANK_MISSING, *rank, at),
        Finding::Mismatch { rank, at, .. } => (named::NCCL_MISMATCH, *rank, at),
        Finding::NoDump { rank, at } => (named::NCCL_NO_DUMP, *rank, at),
    };
    let time = at.since.map_or(Stamp::OPEN, Stamp::exact);
    let waiting = list(&at.waiting);
    let seq = at.seq.to_string();
    let lo = time.lo.to_string();
    let id = EventId::of(&[name, &rank.to_string(), &at.pg, &seq, &waiting, &lo]);
    let mut event = Event::new(id, name, time, SourceKind::ContainerLog);
    event.rank = Some(rank);
    event.message = Some(sentence(finding, at));
    event.set_attribute("rank", Some(rank.to_string()));
    event.set_attribute("waiting", Some(waiting));
    event.set_attribute("op", Some(at.op.clone()));
    event.set_attribute("seq", Some(seq));
    event.set_attribute("pg", Some(at.pg.clone()));
    event.set_attribute("pg_desc", Some(at.desc.clone()));
    event.set_attribute("sizes", Some(at.sizes.clone()));
    match finding {
        Finding::Missing { elsewhere, .. } => {
            event.set_attribute("missing_rank", Some(rank.to_string()));
            event.set_attribute("waits_elsewhere", elsewhere.clone());
        }
        Finding::Mismatch { others, .. } => event.set_attribute("others", Some(others.clone())),
        Finding::NoDump { .. } => {}
    }
    // The dump that shows it: the rank's own, else that of the first who waits.
    let shown = |rank: i32| {
        hang.iter()
            .find(|(_, trace)| trace.rank == rank && trace.pg == at.pg)
            .or_else(|| hang.iter().find(|(_, trace)| trace.rank == rank))
    };
    let own = shown(rank);
    if let Some((event_of_rank, _)) = own {
        event.entities = event_of_rank.entities.clone();
    }
    let witness = own.or_else(|| at.waiting.first().and_then(|first| shown(*first)));
    if let Some((witness, _)) = witness {
        event.origin = witness.origin.clone();
        event.raw.clone_from(&witness.raw);
    }
    event
}

fn sentence(finding: &Finding, at: &PendingCollective) -> String {
    let group = if at.desc.is_empty() { &at.pg } else { &at.desc };
    let waiting = match at.waiting.as_slice() {
        [one] => format!("rank {one} is waiting"),
        ranks if ranks.len() <= 8 => format!("ranks {} are waiting", list(ranks)),
        ranks => format!("{} ranks are waiting", ranks.len()),
    };
    let call = format!("{} #{} of group {group}", at.op, at.seq);
    match finding {
        Finding::Missing { rank, .. } => {
            format!("rank {rank} never entered {call}, in which {waiting}")
        }
        Finding::Mismatch { rank, others, .. } => {
            format!("rank {rank} is in {call}, where others are in {others}")
        }
        Finding::NoDump { rank, .. } => {
            format!("no dump of rank {rank}, while {waiting} in {call}")
        }
    }
}

fn list(ranks: &[i32]) -> String {
    let ranks: Vec<String> = ranks.iter().map(i32::to_string).collect();
    ranks.join(",")
}

#[cfg(test)]
mod tests {
    use whathappened_model::collective::CollectiveCall;

    use super::*;

    /// A rank's fact; `in_call` is when it entered what it waits in.
    fn trace(rank: i32, last: i64, in_call: Option<Nanos>, at: Nanos) -> (Event, Trace) {
        let event = Event::new(
            EventId::of(&[&rank.to_string(), &at.to_string()]),
            "nccl.trace",
            Stamp::exact(at),
            SourceKind::ContainerLog,
        );
        let trace = Trace {
            rank,
            pg: "0".to_owned(),
            desc: "default_pg".to_owned(),
            members: vec![0, 1],
            waits_in: in_call.map(|created| CollectiveCall {
                seq: last,
                op: "all_reduce".to_owned(),
                state: "scheduled".to_owned(),
                created: Some(created),
                ..CollectiveCall::default()
            }),
            last_enqueued: Some(last),
            ..Trace::default()
        };
        (event, trace)
    }

    fn found(traces: &[(Event, Trace)]) -> Vec<Event> {
        facts(traces.iter().map(|(event, trace)| (event, trace)))
    }

    #[test]
    fn the_missing_rank_becomes_a_fact_in_any_order() {
        let mut traces = vec![
            trace(0, 41, Some(50 * SECOND), 50 * SECOND),
            trace(1, 40, None, 40 * SECOND),
        ];
        let facts = found(&traces);
        assert_eq!(facts.len(), 1);
        assert_eq!(facts[0].fact, "nccl.rank_missing");
        assert_eq!(facts[0].rank, Some(1));
        assert_eq!(facts[0].time, Stamp::exact(50 * SECOND));
        for (key, value) in [("waiting", "0"), ("op", "all_reduce"), ("seq", "41")] {
            assert_eq!(facts[0].attribute(key), Some(value), "{key}");
        }
        traces.reverse();
        assert_eq!(found(&traces), facts);
    }

    #[test]
    fn dumps_of_two_hangs_are_not_compared() {
        let later = 5 * APART;
        assert_eq!(
            found(&[
                trace(0, 41, Some(50 * SECOND), 50 * SECOND),
                trace(1, 40, None, later),
            ]),
            []
        );
        let twice = found(&[
            trace(0, 41, Some(50 * SECOND), 50 * SECOND),
            trace(1, 41, Some(50 * SECOND), 51 * SECOND),
            trace(0, 9, Some(60 * SECOND), 60 * SECOND),
            trace(1, 8, None, 59 * SECOND),
        ]);
        assert!(
            twice
                .iter()
                .all(|event| event.attribute("seq") != Some("41")),
            "{twice:#?}"
        );
    }
}
