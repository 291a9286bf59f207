//! Misses by what was missing: what the records that there were told of the cause, and which observers were not there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::percent;
use crate::judge::Verdict;
use crate::run::Row;
use crate::truth::Seen;

/// What an observer's name begins or ends with, and what is missing where it is not there.
const OBSERVERS: [(&[&str], &str); 6] = [
    (&["watch", "list", "text"], "objects"),
    (&["watch", "text"], "Events"),
    (&["audit"], "audit"),
    (&["logs"], "logs"),
    (&["hosts"], "hosts"),
    (&["cloud"], "cloud"),
];

/// Which kinds of records nobody wrote.
fn missing(observers: &str) -> String {
    let parts: Vec<&str> = observers.split('+').collect();
    let is_there = |names: &[&str]| {
        let named = |part: &&str| names.iter().any(|name| part.contains(name));
        parts.iter().any(named)
    };
    let absent: Vec<&str> = OBSERVERS
        .iter()
        .filter(|(names, _)| !is_there(names))
        .map(|(_, what)| *what)
        .collect();
    match absent.is_empty() {
        true => "nothing".to_owned(),
        false => absent.join(", "),
    }
}

/// Broken runs of whose cause something was written and whose answer is not right, by what was missing.
pub(super) fn misses(out: &mut String, rows: &[Row]) {
    let asked = rows
        .iter()
        .filter(|row| row.main && row.broken_run && row.judged.seen > Seen::Nothing);
    let mut classes: BTreeMap<(&str, String), (usize, Vec<&Row>)> = BTreeMap::new();
    for row in asked {
        let evidence = match row.judged.seen {
            Seen::Named => "a record names the cause",
            _ => "only claimed, or a trace",
        };
        let class = classes
            .entry((evidence, missing(&row.observers)))
            .or_default();
        class.0 += 1;
        if !matches!(row.judged.verdict, Verdict::Right | Verdict::Fair) {
            class.1.push(row);
        }
    }
    let _ = writeln!(
        out,
        "\n{:<26} {:<38} {:>6} {:>7} {:>7}  true: said",
        "told", "missing", "n", "missed", ""
    );
    for ((evidence, absent), (all, missed)) in classes {
        if missed.is_empty() {
            continue;
        }
        let mut pairs: BTreeMap<String, usize> = BTreeMap::new();
        for row in &missed {
            let right = row.judged.right.first().map_or("", String::as_str);
            let pair = format!("{right}: {}", row.judged.cause);
            *pairs.entry(pair).or_default() += 1;
        }
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let shown: Vec<String> = pairs
            .iter()
            .take(3)
            .map(|(pair, count)| format!("{count} × {pair}"))
            .collect();
        let _ = writeln!(
            out,
            "{evidence:<26} {absent:<38} {all:>6} {:>7} {:>6.1}%  {}",
            missed.len(),
            percent(missed.len(), all),
            shown.join("; ")
        );
    }
}
