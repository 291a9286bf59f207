//! What many seeds came to, as tables.

mod missing;
mod precision;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::judge::Verdict;
use crate::run::Row;
use crate::truth::Seen;

const COLUMNS: &[Verdict] = &[
    Verdict::Right,
    Verdict::Fair,
    Verdict::Downstream,
    Verdict::Earlier,
    Verdict::Symptom,
    Verdict::Unknown,
    Verdict::NoAnswer,
    Verdict::Wrong,
    Verdict::FalseFine,
    Verdict::FalseBlame,
];

/// All tables.
#[must_use]
pub fn all(rows: &[Row]) -> String {
    let mut out = String::new();
    let changed: Vec<&Row> = rows.iter().filter(|row| !row.variant.is_empty()).collect();
    if !changed.is_empty() {
        by(&mut out, "records changed, or when", &changed, |row| {
            row.variant.clone()
        });
    }
    let every = rows;
    let plain = plain(rows);
    let rows = plain.as_slice();
    let asked: Vec<&Row> = rows.iter().filter(|row| row.main).collect();
    by(
        &mut out,
        "fault of the run that is asked for",
        &asked,
        |row| row.fault.clone(),
    );
    by(&mut out, "observers", &asked, |row| row.observers.clone());
    let others: Vec<&Row> = rows.iter().filter(|row| !row.main).collect();
    by(&mut out, "bystanders", &others, |row| {
        if row.broken_run {
            "broken".to_owned()
        } else {
            "healthy".to_owned()
        }
    });
    causes(&mut out, rows);
    levels(&mut out, rows);
    precision::cells(&mut out, rows);
    missing::misses(&mut out, rows);
    details(&mut out, rows);
    confusion(&mut out, rows);
    invariants(&mut out, every);
    summary(&mut out, rows);
    out
}

/// What was asked of the records as they are; all of it where each was asked at a time of its own.
fn plain(rows: &[Row]) -> Vec<Row> {
    let (plain, changed): (Vec<Row>, Vec<Row>) =
        rows.iter().cloned().partition(|row| row.variant.is_empty());
    if plain.is_empty() { changed } else { plain }
}

/// What fails a run, and the sums.
#[must_use]
pub fn short(rows: &[Row]) -> String {
    let mut out = String::new();
    let plain = plain(rows);
    levels(&mut out, &plain);
    invariants(&mut out, rows);
    summary(&mut out, &plain);
    out
}

fn by(out: &mut String, title: &str, rows: &[&Row], key: impl Fn(&Row) -> String) {
    let mut groups: BTreeMap<String, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for row in rows {
        *groups
            .entry(key(row))
            .or_default()
            .entry(row.judged.verdict)
            .or_default() += 1;
    }
    let _ = write!(out, "\n{title:<34} {:>6}", "n");
    for column in COLUMNS {
        let _ = write!(out, " {:>11}", column.name());
    }
    out.push('\n');
    for (name, counts) in groups {
        let total: usize = counts.values().sum();
        let _ = write!(out, "{name:<34} {total:>6}");
        for column in COLUMNS {
            let count = counts.get(column).copied().unwrap_or(0);
            let text = if count == 0 {
                "·".to_owned()
            } else {
                count.to_string()
            };
            let _ = write!(out, " {text:>11}");
        }
        out.push('\n');
    }
}

/// How often each cause is found where anything tells of it, and how often it is right where it is said.
fn causes(out: &mut String, rows: &[Row]) {
    let broken = |row: &&Row| row.main && row.broken_run && row.judged.seen > Seen::Nothing;
    // Where several names are right it counts for the one that was said, else for the first.
    let name = |row: &Row| {
        let given = row
            .judged
            .right
            .iter()
            .find(|one| **one == row.judged.cause);
        given.or(row.judged.right.first()).cloned()
    };
    let mut counts: BTreeMap<String, [usize; 5]> = BTreeMap::new();
    for row in rows.iter().filter(broken) {
        if let Some(cause) = name(row) {
            let count = counts.entry(cause).or_default();
            count[0] += 1;
            count[1] += usize::from(row.judged.verdict == Verdict::Right);
        }
    }
    for row in rows {
        let count = counts.entry(row.judged.cause.clone()).or_default();
        let on_chain = matches!(
            row.judged.verdict,
            Verdict::Right | Verdict::Downstream | Verdict::Earlier | Verdict::Fair
        );
        count[2] += 1;
        count[3] += usize::from(on_chain);
        count[4] += usize::from(row.judged.verdict == Verdict::FalseBlame);
    }
    let _ = writeln!(
        out,
        "\n{:<34} {:>6} {:>8} {:>8} {:>10} {:>12}",
        "cause", "true", "recall", "said", "precision", "false blame"
    );
    for (cause, [all, right, given, good, bad]) in counts {
        let _ = writeln!(
            out,
            "{cause:<34} {all:>6} {:>7.1}% {given:>8} {:>9.1}% {bad:>12}",
            percent(right, all),
            percent(good, given)
        );
    }
}

/// How often each level is right.
fn levels(out: &mut String, rows: &[Row]) {
    let _ = writeln!(
        out,
        "\n{:<14} {:>6} {:>9} {:>12}",
        "level", "n", "on chain", "false blame"
    );
    for level in ["established", "supported", "hypothesis", "unknown"] {
        let of: Vec<&Row> = rows
            .iter()
            .filter(|row| row.judged.level == level)
            .collect();
        let good = of
            .iter()
            .filter(|row| matches!(row.judged.verdict, Verdict::Right | Verdict::Downstream))
            .count();
        let bad = of
            .iter()
            .filter(|row| row.judged.verdict == Verdict::FalseBlame)
            .count();
        let _ = writeln!(
            out,
            "{level:<14} {:>6} {:>8.2}% {bad:>12}",
            of.len(),
            percent(good, of.len())
        );
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        100.0
    } else {
        part as f64 * 100.0 / whole as f64
    }
}

/// Victims and actor, where the cause is right.
fn details(out: &mut String, rows: &[Row]) {
    out.push('\n');
    let count = |name: &str, of: fn(&Row) -> Option<bool>, out: &mut String| {
        let all: Vec<bool> = rows.iter().filter_map(of).collect();
        let good = all.iter().filter(|&&one| one).count();
        let _ = writeln!(
            out,
            "{name:<14} {good:>6} of {:<6} {:>6.1}%",
            all.len(),
            percent(good, all.len())
        );
    };
    count("first victim", |row| row.judged.first, out);
    count("victims", |row| row.judged.victims, out);
    count("collateral", |row| row.judged.collateral, out);
    count("actor", |row| row.judged.actor, out);
}

/// What was said instead of what is right, most often first.
fn confusion(out: &mut String, rows: &[Row]) {
    let mut pairs: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| !matches!(row.judged.verdict, Verdict::Right | Verdict::Fair))
    {
        let right = row
            .judged
            .right
            .first()
            .cloned()
            .unwrap_or_else(|| "(nothing written)".to_owned());
        pairs
            .entry((
                right,
                format!("{} · {}", row.judged.cause, row.judged.level),
            ))
            .or_default()
            .push(row.seed);
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    let _ = writeln!(out, "\n{:<30} {:<44} {:>5}  seeds", "true", "said", "n");
    for ((right, given), mut seeds) in pairs.into_iter().take(60) {
        seeds.dedup();
        let shown: Vec<String> = seeds.iter().take(4).map(u64::to_string).collect();
        let _ = writeln!(
            out,
            "{right:<30} {given:<44} {:>5}  {}",
            seeds.len(),
            shown.join(" ")
        );
    }
}

fn invariants(out: &mut String, rows: &[Row]) {
    let mut counts: BTreeMap<char, Vec<(u64, &str)>> = BTreeMap::new();
    for row in rows {
        for broken in &row.broken {
            counts
                .entry(broken.which)
                .or_default()
                .push((row.seed, &broken.how));
        }
    }
    out.push('\n');
    if counts.is_empty() {
        out.push_str("no invariant is broken\n");
    }
    for (which, found) in counts {
        let _ = writeln!(out, "invariant ({which}) broken {} times", found.len());
        for (seed, how) in found.iter().take(4) {
            let _ = writeln!(
                out,
                "    seed {seed}: {}",
                how.chars().take(150).collect::<String>()
            );
        }
    }
}

/// Which part of the answers is right where a record names the cause of a run's end.
#[must_use]
pub fn top_1(rows: &[Row]) -> f64 {
    let (mut right, mut all) = (0_usize, 0_usize);
    for row in plain(rows)
        .iter()
        .filter(|row| row.main && row.broken_run && row.judged.seen == Seen::Named)
    {
        all += 1;
        right += usize::from(row.judged.verdict == Verdict::Right);
    }
    percent(right, all) / 100.0
}

fn summary(out: &mut String, rows: &[Row]) {
    let broken: Vec<&Row> = rows
        .iter()
        .filter(|row| row.main && row.broken_run)
        .collect();
    let visible: Vec<&&Row> = broken
        .iter()
        .filter(|row| row.judged.seen > Seen::Nothing)
        .collect();
    let named: Vec<&&Row> = broken
        .iter()
        .filter(|row| row.judged.seen == Seen::Named)
        .collect();
    let right = |of: &[&&Row]| {
        of.iter()
            .filter(|row| row.judged.verdict == Verdict::Right)
            .count()
    };
    let blame = |level: &str| {
        rows.iter()
            .filter(|row| row.judged.is_false_blame_at(level))
            .count()
    };
    let _ = writeln!(
        out,
        "\ntop-1 where a record names the cause: {} of {} ({:.1}%); where anything tells of it: {} of {} ({:.1}%)",
        right(&named),
        named.len(),
        percent(right(&named), named.len()),
        right(&visible),
        visible.len(),
        percent(right(&visible), visible.len())
    );
    let abstained = visible
        .iter()
        .filter(|row| matches!(row.judged.verdict, Verdict::Unknown | Verdict::NoAnswer))
        .count();
    let _ = writeln!(
        out,
        "abstained where something was written: {abstained} of {}",
        visible.len()
    );
    let got_over = |level: &str| {
        let of_level = rows.iter().filter(|row| row.judged.level == level);
        of_level
            .filter(|row| row.judged.verdict == Verdict::Earlier)
            .count()
    };
    let _ = writeln!(
        out,
        "told as why it ended, and recovered from: {} established, {} supported",
        got_over("established"),
        got_over("supported")
    );
    let _ = writeln!(
        out,
        "false blame: {} established, {} supported, of {} questions",
        blame("established"),
        blame("supported"),
        rows.len()
    );
}
