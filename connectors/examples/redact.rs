//! Counts what redaction takes out of files, and shows it: `--example redact -- FILE…`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};

use whathappened_model::redact::{MASK, redact};

fn main() -> std::io::Result<()> {
    let (mut tokens, mut masked, mut bytes) = (0_u64, 0_u64, 0_u64);
    let mut shown: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let begun = std::time::Instant::now();
    let mut spent = std::time::Duration::ZERO;
    for path in std::env::args().skip(1) {
        for line in BufReader::new(std::fs::File::open(path)?).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            bytes += line.len() as u64;
            tokens += line.split_whitespace().count() as u64;
            let from = std::time::Instant::now();
            let clean = redact(&line);
            spent += from.elapsed();
            if clean == line {
                continue;
            }
            let count = clean.matches(MASK).count() - line.matches(MASK).count();
            masked += count as u64;
            let at = clean.find(MASK).unwrap_or(0);
            let around: String = clean[..at].chars().rev().take(60).collect();
            let key: String = around
                .chars()
                .rev()
                .filter(|c| !c.is_ascii_digit())
                .collect();
            let was: String = line
                .get(at..)
                .unwrap_or_default()
                .chars()
                .take(50)
                .collect();
            let entry = shown.entry(key).or_insert((0, was));
            entry.0 += count as u64;
        }
    }
    for (around, (count, was)) in &shown {
        println!("{count:>6} {around} <<{was}>>");
    }
    println!(
        "{masked} masked of {tokens} tokens, {bytes} bytes, {:.3} s of {:.3} s",
        spent.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
