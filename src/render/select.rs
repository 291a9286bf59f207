//! Which rows of a long timeline are shown.

use crate::answer::TimelineRow;
use whathappened_core::timeline::{Lane, Weight};

/// Rows to show, in order, and stretches that were left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VisibleRow<'a> {
    Row(&'a TimelineRow),
    /// So many rows in a stretch.
    LeftOut(usize),
}

/// At most `limit` rows: those of the chain, then those nearest to it, errors
/// and warnings from much farther away than others; without a chain the last ones.
pub(crate) fn select(rows: &[TimelineRow], limit: Option<usize>) -> Vec<VisibleRow<'_>> {
    let limit = limit.unwrap_or(rows.len());
    if rows.len() <= limit {
        return rows.iter().map(VisibleRow::Row).collect();
    }
    let distances = distances(rows);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // The nearest ones in no order of their own: sorting a million rows takes longer than showing some.
    order.select_nth_unstable_by_key(limit, |&at| (score(&rows[at], distances[at]), at));
    let mut keep = vec![false; rows.len()];
    for &at in order.iter().take(limit) {
        keep[at] = true;
    }
    let mut shown = Vec::with_capacity(limit + 16);
    let mut left_out = 0;
    for (at, row) in rows.iter().enumerate() {
        if !keep[at] {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            shown.push(VisibleRow::LeftOut(left_out));
            left_out = 0;
        }
        shown.push(VisibleRow::Row(row));
    }
    if left_out > 0 {
        shown.push(VisibleRow::LeftOut(left_out));
    }
    shown
}

/// Places of rows, those nearest to the chain first.
pub(crate) fn nearest(rows: &[TimelineRow], mut places: Vec<usize>) -> Vec<usize> {
    let distances = distances(rows);
    places.sort_by_key(|&at| {
        let near = rows.get(at).zip(distances.get(at));
        (near.map(|(row, distance)| score(row, *distance)), at)
    });
    places
}

fn score(row: &TimelineRow, distance: usize) -> usize {
    let doublings = distance.checked_ilog2().map_or(0, |n| n as usize + 1);
    match row.weight {
        _ if row.in_chain => 0,
        Weight::Error => doublings,
        Weight::Warning => doublings * 4,
        _ if row.lane == Lane::Log => distance.saturating_mul(8),
        _ => distance.saturating_mul(4),
    }
}

/// Rows between each row and the nearest one of the chain.
fn distances(rows: &[TimelineRow]) -> Vec<usize> {
    let mut distances = vec![usize::MAX; rows.len()];
    let mut last = None;
    for (at, row) in rows.iter().enumerate() {
        last = if row.in_chain { Some(at) } else { last };
        if let Some(last) = last {
            distances[at] = at - last;
        }
    }
    let mut next = if last.is_none() {
        Some(rows.len())
    } else {
        None
    };
    for (at, row) in rows.iter().enumerate().rev() {
        next = if row.in_chain { Some(at) } else { next };
        if let Some(next) = next {
            distances[at] = distances[at].min(next - at);
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::row;
    use super::*;

    fn picture(rows: &[TimelineRow], limit: usize) -> String {
        let shown = select(rows, Some(limit));
        let parts = shown.iter().map(|shown| match shown {
            VisibleRow::Row(row) => row.text.clone(),
            VisibleRow::LeftOut(n) => format!("({n})"),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    fn rows(chain: &[usize], errors: &[usize]) -> Vec<TimelineRow> {
        let make = |at: usize| {
            let mut row = row(at as f64, "pod", "a", &at.to_string());
            row.in_chain = chain.contains(&at);
            if errors.contains(&at) {
                row.weight = Weight::Error;
            }
            row
        };
        (0..20).map(make).collect()
    }

    #[test]
    fn rows_around_the_chain_are_shown() {
        assert_eq!(picture(&rows(&[10], &[]), 3), "(9) 9 10 11 (8)");
        assert_eq!(picture(&rows(&[10], &[4]), 3), "(4) 4 (4) 9 10 (9)");
        assert_eq!(picture(&rows(&[10], &[7]), 2), "(7) 7 (2) 10 (9)");
        assert_eq!(picture(&rows(&[2, 10], &[]), 2), "(2) 2 (7) 10 (9)");
        assert_eq!(picture(&rows(&[10], &[]), 20).split(' ').count(), 20);
    }

    #[test]
    fn without_a_chain_the_last_rows_are_shown() {
        assert_eq!(picture(&rows(&[], &[]), 2), "(18) 18 19");
        assert_eq!(picture(&rows(&[1, 2, 3], &[]), 2), "(1) 1 2 (17)");
        assert_eq!(picture(&rows(&[], &[]), 0), "(20)");
    }
}
