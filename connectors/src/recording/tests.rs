//! Whole inputs through the front door.

mod damage;
mod folders;
mod json;
mod packed;
mod yaml;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::*;
use crate::event::Origin;
use crate::observation::{Observation, Rejection};
use crate::sink::Sink;

/// Keeps what arrives.
#[derive(Default)]
pub(super) struct Collected(pub(super) Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

type Seen = Vec<(String, Option<String>, u64)>;

fn options() -> Options {
    Options {
        workers: 2,
        ..Options::default()
    }
}

/// Reads paths with a decoder that notes each record.
fn records(paths: &[PathBuf], options: &Options) -> (Summary, Seen) {
    let seen = Mutex::new(Vec::new());
    let decode = |json: &[u8], kind: Option<&str>, origin: &Origin, _: &mut Vec<Observation>| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(json) else {
            return Err(Rejection::Malformed("not JSON".to_owned()));
        };
        let name = value
            .pointer("/metadata/name")
            .or(value.get("type"))
            .cloned()
            .unwrap_or_default();
        let name = name.as_str().unwrap_or("?").to_owned();
        seen.lock()
            .unwrap()
            .push((name, kind.map(str::to_owned), origin.line));
        Ok(())
    };
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::Path).collect();
    let summary = read_with(&inputs, options, &decode, &mut Collected::default());
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by(|a, b| (a.2, &a.0).cmp(&(b.2, &b.0)));
    (summary, seen)
}

fn one(content: &[u8]) -> (Summary, Seen) {
    one_with(content, &options())
}

fn one_with(content: &[u8], options: &Options) -> (Summary, Seen) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, content).unwrap();
    records(&[path], options)
}

fn names(seen: &Seen) -> Vec<&str> {
    seen.iter().map(|(name, ..)| name.as_str()).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        writer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const A: &str = r#"{"kind":"Pod","metadata":{"name":"a"}}"#;
const B: &str = r#"{"kind":"Pod","metadata":{"name":"b","annotations":{"x":"}{\"],["}}}"#;

fn kinds(seen: &Seen) -> Vec<Option<&str>> {
    seen.iter().map(|(_, kind, _)| kind.as_deref()).collect()
}
