//! How much of what is no secret is masked: the recordings of others in `../shared/incidents`, which hold none but what is
//! looked at here by hand.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up must fail"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use whathappened_connectors::recording::{self, Input, Options};
use whathappened_loopback::skipped;
use whathappened_model::observation::Observation;
use whathappened_model::redact::MASK;
use whathappened_model::sink::Sink;

/// Words of texts, and those that are masked with what stands around them.
#[derive(Default)]
struct Words {
    all: u64,
    masked: u64,
    near: BTreeMap<String, u64>,
}

impl Words {
    fn see(&mut self, text: &str) {
        self.all += text.split_whitespace().count() as u64;
        for (at, _) in text.match_indices(MASK) {
            self.masked += 1;
            let before: String = text[..at].chars().rev().take(40).collect();
            let before: String = before.chars().rev().collect();
            *self.near.entry(before).or_default() += 1;
        }
    }
}

impl Sink for Words {
    fn observe(&mut self, observations: Vec<Observation>) {
        for one in observations {
            if let Observation::Event(event) = one {
                // The message of a record is a part of it.
                match event.message.as_deref().filter(|_| event.raw.is_empty()) {
                    Some(message) => self.see(message),
                    None => self.see(&event.raw),
                }
            }
        }
    }
}

/// Folders of recordings, where they are.
fn recordings() -> Vec<PathBuf> {
    let root = std::env::var("SHARED_INCIDENTS");
    let root = root.unwrap_or_else(|_| "../../shared/incidents".to_owned());
    let Ok(folders) = std::fs::read_dir(Path::new(&root)) else {
        return Vec::new();
    };
    let folders = folders.map(|folder| folder.unwrap().path().join("input"));
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders
}

#[test]
fn less_than_one_word_in_ten_thousand_is_masked_for_nothing() {
    let folders = recordings();
    if folders.is_empty() {
        skipped("no ../shared");
        return;
    }
    let mut words = Words::default();
    for folder in folders {
        recording::read(&[Input::Path(folder)], &Options::default(), &mut words);
    }
    println!("{} of {} words are masked", words.masked, words.all);
    assert!(words.all > 50_000, "{} words", words.all);
    assert!(
        words.masked * 10_000 < words.all,
        "{} of {} words are masked: {:#?}",
        words.masked,
        words.all,
        words.near
    );
}
