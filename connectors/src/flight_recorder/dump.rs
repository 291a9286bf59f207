//! One rank's dump, as far as it is needed.

use std::collections::BTreeMap;

use memchr::memmem;
use serde_json::{Map, Value};

use crate::collective::{CollectiveCall, Trace};

use super::weigh;

/// One rank's dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// The global rank.
    pub rank: i32,
    /// The dump format's version.
    pub version: String,
    /// Each group that the rank is in, by name.
    pub traces: Vec<Trace>,
}

/// Whether the first bytes of a file may be a dump's.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let has = |word: &[u8]| memmem::find(head, word).is_some();
    let pickle = is_pickle(head) && (has(b"pg_config") || has(b"profiling_name"));
    let json = head.trim_ascii_start().starts_with(b"{")
        && (has(b"\"pg_config\"") && has(b"\"pg_status\"")
            || has(b"\"collective_seq_id\"") && has(b"\"profiling_name\""));
    pickle || json
}

fn is_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 2..=5, b'}', ..] | [0x80, 4 | 5, 0x95, ..])
}

/// Reads a dump; `name` is its file's, which ends in the rank.
///
/// # Errors
/// Says why it cannot be used.
pub fn read(bytes: &[u8], name: &str) -> Result<Dump, String> {
    let value: Value = if is_pickle(bytes) {
        weigh::check(bytes)?;
        serde_pickle::from_slice(bytes, serde_pickle::DeOptions::new())
            .map_err(|error| format!("not a pickle of plain data: {error}"))?
    } else {
        serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?
    };
    let Value::Object(dump) = value else {
        return Err("not a flight recorder dump: not a dictionary".to_owned());
    };
    if !dump.contains_key("version")
        || !(dump.contains_key("entries") || dump.contains_key("pg_config"))
    {
        return Err("not a flight recorder dump: no version, entries or groups".to_owned());
    }
    let rank = rank_of_name(name)
        .or_else(|| rank_of_comms(&dump))
        .ok_or("a dump of the flight recorder whose file name does not end in its rank")?;
    Ok(Dump {
        rank,
        version: text(dump.get("version")),
        traces: traces(rank, &dump),
    })
}

/// The number at the end of the name, without an ending such as `.json`.
fn rank_of_name(name: &str) -> Option<i32> {
    let file = name.rsplit(['/', '\\', '!']).next()?;
    let after_rank = file.rsplit_once("rank").map(|(_, rest)| rest);
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        text[..digits].parse().ok()
    };
    if let Some(rank) = after_rank.and_then(|rest| number(rest.trim_start_matches(['_', '-', '.'])))
    {
        return Some(rank);
    }
    let stem = file
        .trim_end_matches(".json")
        .trim_end_matches(".pickle")
        .trim_end_matches(".pkl");
    let digits = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
    stem[stem.len() - digits..].parse().ok()
}

/// The rank in the largest communicator, which is the world's.
fn rank_of_comms(dump: &Map<String, Value>) -> Option<i32> {
    let comms = dump.get("nccl_comm_state")?.as_object()?;
    let ranked = comms.values().filter_map(|comm| {
        let size = whole(comm.get("nRanks").or_else(|| comm.get("n_ranks")))?;
        Some((size, whole(comm.get("rank"))?))
    });
    let (_, rank) = ranked.max()?;
    i32::try_from(rank).ok()
}

fn traces(rank: i32, dump: &Map<String, Value>) -> Vec<Trace> {
    let mut groups = BTreeMap::<String, Trace>::new();
    let config = dump.get("pg_config").and_then(Value::as_object);
    for (name, group) in config.into_iter().flatten() {
        let trace = Trace {
            rank,
            pg: name.clone(),
            desc: text(group.get("desc")),
            members: members(group.get("ranks")),
            ..Trace::default()
        };
        groups.insert(name.clone(), trace);
    }
    let mut local_ids = BTreeMap::<String, String>::new();
    let entries = dump.get("entries").and_then(Value::as_array);
    for entry in entries.into_iter().flatten() {
        if entry.get("is_p2p").and_then(Value::as_bool) == Some(true) {
            // Counted apart, between two ranks.
            continue;
        }
        let Some(call) = call(entry) else { continue };
        let (name, desc) = group_of(entry);
        local_ids.insert(name.clone(), text(entry.get("pg_id")));
        let trace = groups.entry(name.clone()).or_insert_with(|| Trace {
            rank,
            pg: name,
            desc,
            ..Trace::default()
        });
        trace.enter(call);
    }
    let status = dump.get("pg_status").and_then(Value::as_object);
    for trace in groups
        .values_mut()
        .filter(|trace| trace.last_enqueued.is_none())
    {
        let Some(status) = status else { break };
        let local = local_ids
            .get(&trace.pg)
            .cloned()
            .or_else(|| (trace.desc == "default_pg" || trace.pg == "0").then(|| "0".to_owned()));
        // The buffer forgets old calls; the status does not. A group without
        // one was never used.
        trace.last_enqueued = match local {
            Some(local) => match status.get(&local) {
                Some(status) => whole(status.get("last_enqueued_collective")),
                None => Some(-1),
            },
            None => None,
        };
    }
    groups.into_values().collect()
}

fn group_of(entry: &Value) -> (String, String) {
    match entry.get("process_group").and_then(Value::as_array) {
        Some(pair) => (text(pair.first()), text(pair.get(1))),
        None => (text(entry.get("pg_id")), String::new()),
    }
}

fn call(entry: &Value) -> Option<CollectiveCall> {
    let seq = whole(entry.get("collective_seq_id")).or_else(|| whole(entry.get("seq_id")))?;
    let name = text(entry.get("profiling_name"));
    let op = name.split_once(':').map_or(name.as_str(), |(_, op)| op);
    let sizes = |key: &str| entry.get(key).map(Value::to_string).unwrap_or_default();
    // JSON writes 0 where a time is not known.
    let time = |key: &str| whole(entry.get(key)).filter(|at| *at > 0);
    Some(CollectiveCall {
        seq,
        op: op.to_owned(),
        inputs: sizes("input_sizes"),
        outputs: sizes("output_sizes"),
        state: text(entry.get("state")),
        created: time("time_created_ns"),
        started: time("time_discovered_started_ns"),
        completed: time("time_discovered_completed_ns"),
        timeout_ms: whole(entry.get("timeout_ms")),
    })
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// A whole number, which the JSON form's status writes as text.
fn whole(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// `"[0, 1, 2]"`, or a list.
fn members(value: Option<&Value>) -> Vec<i32> {
    let mut ranks: Vec<i32> = match value {
        Some(Value::String(text)) => text
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect(),
        Some(Value::Array(ranks)) => ranks
            .iter()
            .filter_map(|rank| i32::try_from(whole(Some(rank))?).ok())
            .collect(),
        _ => Vec::new(),
    };
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_says_the_rank() {
        for (name, rank) in [
            ("/tmp/nccl_trace_rank_3", Some(3)),
            ("a/nccl_trace_rank_12.json", Some(12)),
            ("b.tar!dumps/job-7-rank-0.pickle", Some(0)),
            ("fr/trace_5", Some(5)),
            ("fr/trace", None),
        ] {
            assert_eq!(rank_of_name(name), rank, "{name}");
        }
    }
}
