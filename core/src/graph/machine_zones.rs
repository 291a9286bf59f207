//! The zone of a machine, where its own log names one: programs on it that name none write in the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND};

use crate::evidence::{Clock, Evidence, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// Logs of one machine that are taken together end within this long of each other.
const TOGETHER: Nanos = 600 * SECOND;

/// What the log of a machine tells of its clock.
#[derive(Default)]
struct MachineClock {
    offsets: BTreeSet<Nanos>,
    last: Option<Nanos>,
}

/// By how much logs that name no zone have to be moved, by their files; `logs` are those with the time of their last line.
/// A log is of the machine whose own log lies in the same folder.
///
/// # Errors
/// When a record cannot be read again.
pub(super) fn of_folders(
    evidence: &Evidence,
    symbols: &SymbolTable,
    logs: &HashMap<Symbol, Nanos>,
) -> Result<BTreeMap<Symbol, Nanos>, SpillError> {
    let mut clocks: HashMap<&str, MachineClock> = HashMap::new();
    for file in logs.keys() {
        clocks.entry(folder(symbols.name(*file))).or_default();
    }
    for (number, row) in evidence.rows().numbered() {
        // What names no zone itself tells none.
        let names = row.clock == Clock::Named && row.time.hi != Nanos::MAX;
        if row.source_kind() != SourceKind::NodeLog || !names {
            continue;
        }
        let Some(clock) = clocks.get_mut(folder(symbols.name(row.file()))) else {
            continue;
        };
        let (_, event) = evidence.body(number)?;
        let offset = event
            .attributes
            .get("utc_offset_s")
            .and_then(serde_json::Value::as_i64);
        clock
            .offsets
            .insert(offset.unwrap_or(0).saturating_mul(SECOND));
        clock.last = clock.last.max(Some(row.last()));
    }
    let mut found = BTreeMap::new();
    for (file, last) in logs {
        let Some(clock) = clocks.get(folder(symbols.name(*file))) else {
            continue;
        };
        let offset = clock.offsets.first().filter(|_| clock.offsets.len() == 1);
        let ends_with_it = |by: Nanos| {
            let apart = clock
                .last
                .map(|end| end.saturating_sub(last.saturating_add(by)));
            apart.is_some_and(|apart| apart.saturating_abs() <= TOGETHER)
        };
        // One that ends with the machine's as it is, and only so, is in UTC.
        let moved = offset
            .map(|offset| offset.saturating_neg())
            .filter(|by| *by != 0);
        if let Some(by) = moved.filter(|by| ends_with_it(*by) || !ends_with_it(0)) {
            found.insert(*file, by);
        }
    }
    Ok(found)
}

fn folder(path: &str) -> &str {
    path.rsplit_once(['/', '!'])
        .map_or("", |(folder, _)| folder)
}
