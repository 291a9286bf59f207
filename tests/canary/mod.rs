//! Canaries: secrets of many kinds (`kinds.txt`) in every place of every source where a
//! text may stand (`records.toml`), as files that the tool reads; and where of them
//! something is seen again.
//!
//! Everything is made from the two tables: the same files each time, without chance.

mod letters;
mod row;
mod slots;
mod trap;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

pub(crate) use row::Row;
pub(crate) use trap::Trap;

/// The kind that is no secret, by which a place is known to be read at all.
pub(crate) const HARMLESS: usize = 0;

#[derive(Deserialize)]
struct Table {
    /// Places of which nothing is kept.
    dropped: Vec<String>,
    file: Vec<Frame>,
    record: Vec<Record>,
}

/// What stands around the records of a file.
#[derive(Deserialize)]
struct Frame {
    name: String,
    #[serde(default)]
    begin: String,
    #[serde(default)]
    join: String,
    #[serde(default)]
    end: String,
}

#[derive(Deserialize)]
struct Record {
    file: String,
    text: String,
    /// Before and behind every line of the text; a text then has only its lines.
    prefix: Option<String>,
    #[serde(default)]
    suffix: String,
}

/// A kind of secret: its name and how it is written.
pub(crate) struct Kind {
    pub(crate) name: String,
    template: String,
}

impl Kind {
    /// A kind of a test's own.
    #[allow(
        dead_code,
        reason = "one of the two tests that share this plants its own"
    )]
    pub(crate) fn of(name: &str, template: &str) -> Self {
        Self {
            name: name.to_owned(),
            template: template.to_owned(),
        }
    }
}

/// All kinds, the harmless one first.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    for line in include_str!("kinds.txt").lines() {
        match line.split_once('|') {
            _ if line.starts_with('#') => {}
            Some((kind, template)) if !kind.is_empty() && kind.bytes().all(name) => {
                kinds.push(Kind {
                    name: kind.to_owned(),
                    template: template.to_owned(),
                });
            }
            _ => {
                let last = &mut kinds.last_mut().unwrap().template;
                last.push('\n');
                last.push_str(line);
            }
        }
    }
    kinds
}

/// What was planted: files, and what must not be seen of them.
pub(crate) struct Planted {
    /// By path, in a folder that the tool is given.
    pub(crate) files: BTreeMap<String, String>,
    /// What must not be seen.
    pub(crate) trap: Trap,
    /// Places in the order of the table.
    pub(crate) places: Vec<String>,
    /// Places of which nothing is kept.
    #[allow(dead_code, reason = "one of the two tests that share this looks at it")]
    pub(crate) dropped: Vec<String>,
    /// What somebody types into a statement: one text of each kind but the harmless one.
    pub(crate) statements: Vec<String>,
}

/// Plants every `step`-th kind, and the harmless one, in every place. With more than one
/// step each place gets other kinds than the one before it.
pub(crate) fn plant(kinds: &[Kind], step: usize) -> Planted {
    let table: Table = toml::from_str(include_str!("records.toml")).unwrap();
    let mut writer = slots::Writer::new(kinds, step);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for record in &table.record {
        for number in 0..kinds.len() {
            let Some(text) = record_text(record, number, &mut writer) else {
                continue;
            };
            let name = writer.plain(&record.file, number);
            let frame = table.file.iter().find(|frame| frame.name == name);
            let file = files.entry(name).or_default();
            if let Some(frame) = frame {
                file.push_str(if file.is_empty() {
                    &frame.begin
                } else {
                    &frame.join
                });
            }
            file.push_str(&text);
        }
    }
    for frame in &table.file {
        if let Some(file) = files.get_mut(&frame.name) {
            file.push_str(&frame.end);
        }
    }
    let statements =
        (HARMLESS + 1..kinds.len()).filter_map(|kind| writer.secret(kind, "statement"));
    let statements = statements.collect();
    let (trap, places) = writer.finish();
    Planted {
        statements,
        files,
        trap,
        places,
        dropped: table.dropped,
    }
}

fn record_text(record: &Record, kind: usize, writer: &mut slots::Writer<'_>) -> Option<String> {
    let text = writer.filled(&record.text, kind)?;
    let Some(prefix) = &record.prefix else {
        return Some(text.trim_start_matches('\n').to_owned());
    };
    let (prefix, suffix) = (
        writer.plain(prefix, kind),
        writer.plain(&record.suffix, kind),
    );
    let mut out = String::new();
    for (number, line) in text.trim_matches('\n').lines().enumerate() {
        let number = format!("{:09}", number + 1);
        let (prefix, suffix) = (
            prefix.replace("<<i>>", &number),
            suffix.replace("<<i>>", &number),
        );
        let _ = writeln!(out, "{prefix}{line}{suffix}");
    }
    Some(out)
}

impl Planted {
    /// Writes the files into a folder.
    pub(crate) fn write(&self, folder: &Path) {
        for (name, text) in &self.files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
}
