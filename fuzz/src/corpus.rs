//! The recordings that are damaged: files of the repository's own cases.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use whathappened_crucible::rng::Rng;

/// Of a larger file its beginning: what is damaged should be read often.
const MOST: u64 = 48 << 10;

/// A recording, unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Its path, which readers take hints from.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Its records, or some lines each: what most runs damage. A thousand of them are
    /// read while a whole recording is.
    pieces: Vec<Vec<u8>>,
}

/// A part of a recording has at most so many bytes.
const PART: usize = 6 << 10;

/// A piece of text has about so many bytes.
const PIECE: usize = 400;

/// A larger piece is mostly passed over for another: most of its bytes say what its
/// neighbours' do.
const LARGE: usize = 1500;

impl Recording {
    fn new(name: String, bytes: Vec<u8>) -> Self {
        let pieces = pieces(&bytes);
        Self {
            name,
            bytes,
            pieces,
        }
    }

    /// What of it is damaged: mostly a record, at times some lines that stand together,
    /// and now and then all.
    pub(crate) fn taken(&self, rng: &mut Rng) -> &[u8] {
        match rng.below(2000) {
            0 => &self.bytes,
            1..20 => self.part(rng),
            _ => self.piece(rng),
        }
    }

    /// One of its records.
    pub(crate) fn piece(&self, rng: &mut Rng) -> &[u8] {
        let mut piece = rng.pick(&self.pieces);
        for _ in 0..4 {
            if piece.is_none_or(|piece| piece.len() <= LARGE) {
                break;
            }
            piece = rng.pick(&self.pieces);
        }
        piece.map_or(&self.bytes, Vec::as_slice)
    }

    fn part(&self, rng: &mut Rng) -> &[u8] {
        if self.bytes.len() <= PART {
            return &self.bytes;
        }
        let line = |at: usize| {
            let before = self.bytes[..at].iter().rposition(|byte| *byte == b'\n');
            before.map_or(0, |before| before + 1)
        };
        let from = line(rng.below(self.bytes.len()));
        let to = line((from + PART).min(self.bytes.len()));
        // A line that is longer is read as far as it goes.
        let to = if to > from { to } else { self.bytes.len() };
        &self.bytes[from..to]
    }
}

/// Every file below these folders, in order of names.
pub(crate) fn load(folders: &[PathBuf]) -> Result<Vec<Recording>, String> {
    let own = [concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures").into()];
    let mut files = Vec::new();
    for folder in if folders.is_empty() { &own } else { folders } {
        walk(folder, &mut files).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    files.sort();
    let mut corpus = Vec::new();
    for file in files {
        let bytes = read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name).to_owned();
        corpus.push(Recording::new(name, bytes));
    }
    // What Slack sends; the repository has no recordings of it.
    for (name, text) in SLACK {
        corpus.push(Recording::new((*name).to_owned(), text.as_bytes().to_vec()));
    }
    Ok(corpus)
}

/// The items of a document's lists, else its lines a few at a time.
fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(whole) => of_json(&whole, &mut pieces),
        Err(_) => of_lines(bytes, &mut pieces),
    }
    pieces
}

/// Records of a list, also of one inside an object; else the value itself.
fn of_json(value: &Value, pieces: &mut Vec<Vec<u8>>) {
    let many = |list: &&Vec<Value>| list.len() > 1 && list.iter().all(Value::is_object);
    let list = match value {
        Value::Array(list) => Some(list).filter(many),
        Value::Object(fields) => fields.values().filter_map(Value::as_array).find(many),
        _ => None,
    };
    match list {
        Some(list) => list.iter().for_each(|item| of_json(item, pieces)),
        None => {
            let mut value = value.clone();
            shorten(&mut value);
            pieces.extend(serde_json::to_vec(&value));
        }
    }
}

/// Leaves the first few of what there is many of.
fn shorten(value: &mut Value) {
    const FEW: usize = 3;
    const LETTERS: usize = 240;
    match value {
        Value::Array(items) => {
            items.truncate(FEW);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => {
            fields.remove("managedFields");
            fields.values_mut().for_each(shorten);
        }
        Value::String(text) => {
            if let Some((at, _)) = text.char_indices().nth(LETTERS) {
                text.truncate(at);
            }
        }
        _ => {}
    }
}

fn of_lines(bytes: &[u8], pieces: &mut Vec<Vec<u8>>) {
    let mut piece: Vec<u8> = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !piece.is_empty() && piece.len() + line.len() > PIECE {
            pieces.push(std::mem::take(&mut piece));
        }
        // One JSON object a line is as long as it is.
        let length = match serde_json::from_slice::<Value>(line) {
            Ok(mut record) if record.is_object() => {
                shorten(&mut record);
                pieces.extend(serde_json::to_vec(&record));
                continue;
            }
            _ => line.len().min(LARGE),
        };
        piece.extend_from_slice(&line[..length]);
    }
    if !piece.is_empty() || pieces.is_empty() {
        pieces.push(piece);
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if !path.ends_with("expect.json") && !path.ends_with("story.md") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|end| end == "gz") {
        let mut unpacked = flate2::read::MultiGzDecoder::new(file).take(MOST);
        unpacked.read_to_end(&mut bytes)?;
    } else {
        file.take(MOST).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

const SLACK: &[(&str, &str)] = &[
    (
        "slack/command",
        "token=x&team_id=T1&channel_id=C1&channel_name=training&user_id=U1&command=%2Fwhathappened&text=gpt2-medium-77+--since+2h&response_url=https%3A%2F%2Fhooks.example%2Fcommands%2F1&trigger_id=13.1",
    ),
    (
        "slack/event.json",
        r#"{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{"type":"app_mention","user":"U1","text":"<@U0> what happened to gpt2?","ts":"1700000000.000100","thread_ts":"1700000000.000100","channel":"C1"}}"#,
    ),
    (
        "slack/action",
        "payload=%7B%22type%22%3A%22block_actions%22%2C%22user%22%3A%7B%22id%22%3A%22U1%22%7D%2C%22channel%22%3A%7B%22id%22%3A%22C1%22%7D%2C%22message%22%3A%7B%22ts%22%3A%221.2%22%7D%2C%22response_url%22%3A%22https%3A%2F%2Fhooks.example%2Fa%22%2C%22actions%22%3A%5B%7B%22action_id%22%3A%22why%22%2C%22value%22%3A%22gpt2%22%2C%22type%22%3A%22button%22%7D%5D%7D",
    ),
];
