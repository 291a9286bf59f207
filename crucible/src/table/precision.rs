//! How often each level is right, by true cause and by what was recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::percent;
use crate::judge::Verdict;
use crate::run::Row;

/// Cells that are shown: those in which something is wrong.
const SHOWN: usize = 40;

/// Precision of the sure levels by true cause × observers: how many such cells there are, how many hold no wrong answer,
/// and those that do.
pub(super) fn cells(out: &mut String, rows: &[Row]) {
    let mut cells: BTreeMap<(&str, &str, &str), (usize, usize)> = BTreeMap::new();
    for row in rows {
        let level = row.judged.level.as_str();
        if !matches!(level, "established" | "supported") {
            continue;
        }
        let cause = row.judged.right.first().map_or("(nothing)", String::as_str);
        let cell = cells.entry((level, cause, &row.observers)).or_default();
        cell.0 += 1;
        cell.1 += usize::from(matches!(
            row.judged.verdict,
            Verdict::Right | Verdict::Fair | Verdict::Downstream | Verdict::Earlier
        ));
    }
    let whole = cells.values().filter(|(all, good)| all == good).count();
    let _ = writeln!(
        out,
        "\nlevel × true cause × observers: {whole} of {} cells without a wrong answer; the others:",
        cells.len()
    );
    let mut others: Vec<_> = cells
        .into_iter()
        .filter(|(_, (all, good))| all != good)
        .collect();
    others.sort_by(|a, b| {
        let wrong = |(all, good): (usize, usize)| all - good;
        wrong(b.1).cmp(&wrong(a.1)).then_with(|| a.0.cmp(&b.0))
    });
    for ((level, cause, observers), (all, good)) in others.into_iter().take(SHOWN) {
        let _ = writeln!(
            out,
            "{level:<12} {cause:<28} {observers:<44} {good:>4} of {all:<4} {:>6.1}%",
            percent(good, all)
        );
    }
}
