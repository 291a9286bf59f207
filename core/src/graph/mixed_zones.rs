//! The zone of a log's lines that name none, from lines beside them that name one: a library counts seconds since 1970
//! (`E0000 00:00:1737839649.12`) where the program prints local time.

use std::collections::{BTreeMap, HashMap};

use whathappened_model::event::SourceKind;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND};

use super::zones::{FARTHEST, QUARTER};
use crate::evidence::{Clock, Row};
use crate::symbols::Symbol;

/// What is written one after the other, without much between, is this far apart at most.
const BESIDE: Nanos = 60 * SECOND;

/// By how much the lines of each file that name no zone have to be moved to be beside those that name one; nothing where they
/// are so already, or no one zone puts most of them there.
pub(super) fn of_files(rows: &Table<Row>) -> BTreeMap<Symbol, Nanos> {
    let mut last: HashMap<Symbol, (Clock, Nanos)> = HashMap::new();
    let mut votes: BTreeMap<Symbol, BTreeMap<Option<Nanos>, usize>> = BTreeMap::new();
    for row in rows {
        let is_dated = row.time.lo != Nanos::MIN && row.time.hi != Nanos::MAX;
        let is_read = matches!(row.clock, Clock::Named | Clock::Local);
        if !is_dated || !is_read || row.source_kind() != SourceKind::ContainerLog {
            continue;
        }
        let before = last.insert(row.file(), (row.clock, row.time.lo));
        let Some((clock, time)) = before.filter(|(clock, _)| *clock != row.clock) else {
            continue;
        };
        let (named, local) = match clock {
            Clock::Named => (time, row.time.lo),
            _ => (row.time.lo, time),
        };
        let of_file = votes.entry(row.file()).or_default();
        *of_file.entry(quarters(named - local)).or_default() += 1;
    }
    let zone = |of_file: &BTreeMap<Option<Nanos>, usize>| {
        let all: usize = of_file.values().sum();
        let (by, most) = of_file.iter().max_by_key(|(by, votes)| (**votes, **by))?;
        by.filter(|by| *by != 0 && most * 2 > all)
    };
    votes
        .iter()
        .filter_map(|(file, of_file)| Some((*file, zone(of_file)? * QUARTER)))
        .collect()
}

/// How many quarters of an hour two neighbouring lines are apart, where it is about as much.
fn quarters(apart: Nanos) -> Option<Nanos> {
    let quarters = (apart + QUARTER / 2).div_euclid(QUARTER);
    let near = (apart - quarters * QUARTER).abs() <= BESIDE;
    (near && quarters.abs() <= FARTHEST).then_some(quarters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_whole_quarters() {
        assert_eq!(quarters(3600 * SECOND + 2 * SECOND), Some(4));
        assert_eq!(quarters(-19_800 * SECOND - 5 * SECOND), Some(-22));
        assert_eq!(quarters(30 * SECOND), Some(0));
        // Written long after the other.
        assert_eq!(quarters(400 * SECOND), None);
    }
}
