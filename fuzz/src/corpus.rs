//! The recordings that are damaged: files of the repository's own cases.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use whathappened_crucible::rng::Rng;

/// Of a larger file its beginning: what is damaged should be read often.
const MOST: u64 = 48 << 10;

/// A recording, unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Its path, which readers take hints from.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The parts of a recording that most runs damage have at most so many bytes: as many
/// inputs are read in a minute as five large ones would take.
const PART: usize = 6 << 10;

impl Recording {
    /// What of it is damaged: some lines that stand together, or one time in four all.
    pub(crate) fn part(&self, rng: &mut Rng) -> &[u8] {
        if rng.below(4) == 0 || self.bytes.len() <= PART {
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
        corpus.push(Recording { name, bytes });
    }
    // What Slack sends; the repository has no recordings of it.
    for (name, text) in SLACK {
        corpus.push(Recording {
            name: (*name).to_owned(),
            bytes: text.as_bytes().to_vec(),
        });
    }
    Ok(corpus)
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
