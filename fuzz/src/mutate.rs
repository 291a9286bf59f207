//! Damage that keeps enough of a recording's structure to get past its front door.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};
use whathappened_crucible::rng::Rng;

use crate::corpus::Recording;

/// Values that break those who did not expect them.
const ODD: &[&str] = &[
    "",
    " ",
    "\0",
    "null",
    "-1",
    "0",
    "1e999",
    "9223372036854775807",
    "18446744073709551616",
    "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "2026-02-30T25:61:61.999999999999+99:99",
    "-262144-01-01T00:00:00Z",
    "é\u{202e}\u{1F4A5}\u{feff}ſK",
    "\u{1b}[2J\r\n",
    "../../../../etc/passwd",
    "%00%ff%zz",
    "((((((((((((((((",
    "'; DROP TABLE events; --",
    "password=hunter2 token: abc",
    "-----BEGIN PRIVATE KEY-----",
    "[Mon Jan  0 00:00:00 0000] NVRM: Xid (PCI:ffff:ff:ff): 4294967295, x",
];

/// Keys of lists, and of what log stores and clouds wrap records in.
const WRAPPERS: &[&str] = &[
    "items", "hits", "entries", "Events", "value", "data", "logs",
];

/// A damaged copy.
pub(crate) fn damaged(bytes: &[u8], corpus: &[Recording], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.range(1, 3) {
        out = match rng.below(4) {
            0 => of_bytes(&out, rng),
            1 => of_lines(&out, corpus, rng),
            2 if rng.chance(5) => wrapped(&out, rng),
            _ => of_json(&out, corpus, rng).unwrap_or_else(|| of_lines(&out, corpus, rng)),
        };
    }
    if rng.below(100) == 0
        && let Some(archive) = packed(&out, rng)
    {
        return if rng.chance(75) {
            of_bytes(&archive, rng)
        } else {
            archive
        };
    }
    out
}

/// The same in an archive, or packed; or both.
fn packed(bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let gzip = |bytes: &[u8]| {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(bytes).ok()?;
        out.finish().ok()
    };
    let tar = |bytes: &[u8]| {
        let mut out = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        out.append_data(&mut header, "pods/lab_a-0_u-0/main/0.log", bytes)
            .ok()?;
        out.into_inner().ok()
    };
    match rng.below(4) {
        0 => gzip(bytes),
        1 => tar(bytes),
        2 => gzip(&tar(bytes)?),
        _ => {
            let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
            let options = zip::write::SimpleFileOptions::default();
            out.start_file("a/events.json", options).ok()?;
            out.write_all(bytes).ok()?;
            Some(out.finish().ok()?.into_inner())
        }
    }
}

/// A record inside a list or an answer, whole or cut off.
fn wrapped(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let head = format!("{{\"kind\":\"List\",\"{}\":[", rng.word(WRAPPERS));
    let tail: &[u8] = if rng.chance(50) { b"]}" } else { b"," };
    [head.as_bytes(), bytes, tail].concat()
}

/// Flips, cuts, repeats; also in the middle of letters.
fn of_bytes(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if out.is_empty() {
        return vec![u8::try_from(rng.below(256)).unwrap_or(0)];
    }
    for _ in 0..rng.range(1, 8) {
        let at = rng.below(out.len());
        match rng.below(5) {
            0 => out[at] ^= 1 << rng.below(8),
            1 => out[at] = u8::try_from(rng.below(256)).unwrap_or(0),
            2 => out.truncate(at.max(1)),
            3 => {
                let end = (at + rng.below(64)).min(out.len());
                let piece = out[at..end].to_vec();
                let to = rng.below(out.len());
                out.splice(to..to, piece);
            }
            _ => {
                let odd = rng.word(ODD).as_bytes().to_vec();
                out.splice(at..at, odd);
            }
        }
    }
    out
}

/// Lines left out, told twice, in another order, from another recording, with odd words.
fn of_lines(bytes: &[u8], corpus: &[Recording], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for _ in 0..rng.range(1, 4) {
        let (at, other) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(6) {
            0 if lines.len() > 1 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => {
                let from = corpus.get(rng.below(corpus.len()));
                let theirs = from.map_or(&[][..], |other| other.piece(rng));
                let line = theirs.split(|byte| *byte == b'\n').next();
                lines.insert(at, line.unwrap_or_default().to_vec());
            }
            4 => lines[at] = of_words(&lines[at], rng),
            _ => {
                let joined = [&lines[at][..], &lines[other][..]].concat();
                lines[at] = joined;
            }
        }
    }
    lines.join(&b'\n')
}

/// Some word of a line becomes an odd one, or goes.
fn of_words(line: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut words: Vec<Vec<u8>> = line
        .split(|byte| b" =:,".contains(byte))
        .map(<[u8]>::to_vec)
        .collect();
    let at = rng.below(words.len());
    if rng.chance(30) {
        words.remove(at);
    } else {
        words[at] = rng.word(ODD).as_bytes().to_vec();
    }
    words.join(&b' ')
}

/// Damage inside a JSON document, or one line of them; `None` where there is none.
fn of_json(bytes: &[u8], corpus: &[Recording], rng: &mut Rng) -> Option<Vec<u8>> {
    if let Ok(mut whole) = serde_json::from_slice::<Value>(bytes) {
        for _ in 0..rng.range(1, 6) {
            damage(&mut whole, corpus, rng);
        }
        return serde_json::to_vec(&whole).ok();
    }
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = rng.below(lines.len());
    let mut record = serde_json::from_slice::<Value>(&lines[at]).ok()?;
    for _ in 0..rng.range(1, 4) {
        damage(&mut record, corpus, rng);
    }
    lines[at] = serde_json::to_vec(&record).ok()?;
    Some(lines.join(&b'\n'))
}

/// Goes down to some value and damages it.
fn damage(value: &mut Value, corpus: &[Recording], rng: &mut Rng) {
    if rng.chance(75) {
        match value {
            Value::Object(fields) if !fields.is_empty() => return in_object(fields, corpus, rng),
            Value::Array(items) if !items.is_empty() => {
                let at = rng.below(items.len());
                if rng.chance(10) {
                    items.remove(at);
                } else if rng.chance(10) {
                    let copy = items[at].clone();
                    items.push(copy);
                } else {
                    damage(&mut items[at], corpus, rng);
                }
                return;
            }
            _ => {}
        }
    }
    *value = odd(value, corpus, rng);
}

fn in_object(fields: &mut Map<String, Value>, corpus: &[Recording], rng: &mut Rng) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    let Some(key) = rng.pick(&keys).cloned() else {
        return;
    };
    match rng.below(20) {
        0 => {
            fields.remove(&key);
        }
        1 => {
            let taken = fields.remove(&key).unwrap_or_default();
            fields.insert(rng.word(ODD).to_owned(), taken);
        }
        2 => {
            // One field's value in another's place is of the wrong type more often than not.
            let other = rng.pick(&keys).cloned().unwrap_or_default();
            let taken = fields.get(&other).cloned().unwrap_or_default();
            fields.insert(key, taken);
        }
        _ => {
            if let Some(inner) = fields.get_mut(&key) {
                damage(inner, corpus, rng);
            }
        }
    }
}

/// What stands there instead.
fn odd(value: &Value, corpus: &[Recording], rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => Value::Null,
        1 => Value::Bool(rng.chance(50)),
        2 => rng
            .pick(&[i64::MIN, -1, 0, 1, 1 << 53, i64::MAX])
            .copied()
            .into(),
        3 => serde_json::json!([value, value]),
        4 => serde_json::json!({ "name": value }),
        5 => f64::MAX.into(),
        6 => {
            // Deeper than any record is.
            let mut deep = value.clone();
            for _ in 0..rng.range(10, 150) {
                deep = Value::Array(vec![deep]);
            }
            deep
        }
        7 => {
            let text = rng.pick(corpus).map_or("", |one| one.name.as_str());
            let most = if rng.chance(5) { 200 } else { 12 };
            text.repeat(rng.below(most)).into()
        }
        _ => match value {
            Value::String(text) => {
                let mut letters: Vec<char> = text.chars().collect();
                let at = rng.below(letters.len());
                letters.splice(at..at, rng.word(ODD).chars());
                letters.into_iter().collect::<String>().into()
            }
            _ => rng.word(ODD).into(),
        },
    }
}
