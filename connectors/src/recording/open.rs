//! Opens what a file is packed in, layer by layer, down to records.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::sync::Arc;

use zip::ZipArchive;

use super::batch::Kind;
use super::colours::WithoutColours;
use super::feed::Feed;
use super::folder_context::FolderContext;
use super::guard::{Peeked, UnpackMeter, Unpacked, gunzip};
use super::sniff::{self, Form, HEAD};
use super::summary::FileStatus;
use super::{dump, json, layout, lines, pasted, records, table, yaml};
use crate::tracker::{self, Placed};

/// A stream at some depth of unpacking.
pub(super) struct Layer<'a> {
    /// The name in the summary.
    pub(super) name: &'a str,
    /// What it was unpacked from so far, in words.
    pub(super) packed_in: Vec<&'static str>,
    /// Archives around it.
    pub(super) depth: usize,
    /// The file itself, where it can be read in any order.
    pub(super) file: Option<File>,
    pub(super) meter: UnpackMeter,
}

/// Reads a file, a member of an archive, or what either unpacks to.
pub(super) fn open(layer: Layer<'_>, from: &mut dyn Read, feed: &mut Feed<'_>) {
    let mut from = Peeked::new(from, HEAD);
    if let Some(error) = from.failed_at_once() {
        let file = leaf(&layer, "unreadable", feed);
        return feed.failure(file, FileStatus::Failed(error.to_string()));
    }
    let form = sniff::recognise(from.head());
    let deeper = layer.packed_in.len() < feed.options.max_nesting * 2 + 2;
    match form {
        Form::Gzip | Form::Zstd | Form::Tar | Form::Zip
            if layer.depth > feed.options.max_nesting || !deeper =>
        {
            let file = leaf(&layer, form.words(), feed);
            feed.failure(
                file,
                FileStatus::Failed("nested too deep, not opened".to_owned()),
            );
        }
        Form::Gzip => unpack(
            layer,
            form,
            gunzip(BufReader::with_capacity(HEAD, from)),
            feed,
        ),
        Form::Zstd => match zstd::Decoder::new(from) {
            Ok(decoder) => unpack(layer, form, decoder, feed),
            Err(error) => {
                let file = leaf(&layer, form.words(), feed);
                feed.failure(file, FileStatus::Failed(error.to_string()));
            }
        },
        Form::Tar => tar(&layer, &mut from, feed),
        Form::Zip => zip(layer, &mut from, feed),
        Form::Utf16Le | Form::Utf16Be => {
            let mut decoder = encoding_rs_io::DecodeReaderBytesBuilder::new()
                .bom_sniffing(true)
                .build(from);
            // Decoded text starts with no byte order mark, so this ends.
            below(layer, form, &mut decoder, feed);
        }
        // What is left has no escapes, so this ends.
        Form::Coloured => below(layer, form, &mut WithoutColours::new(from), feed),
        _ => records(&layer, form, &mut from, feed),
    }
}

fn unpack(layer: Layer<'_>, form: Form, decoder: impl Read, feed: &mut Feed<'_>) {
    let mut decoder = Unpacked::new(decoder, layer.meter.clone());
    below(layer, form, &mut decoder, feed);
}

/// Opens what a stream is once one form is taken off it.
fn below(layer: Layer<'_>, form: Form, plain: &mut dyn Read, feed: &mut Feed<'_>) {
    let mut packed_in = layer.packed_in;
    packed_in.push(form.words());
    open(
        Layer {
            packed_in,
            file: None,
            ..layer
        },
        plain,
        feed,
    );
}

/// A line of the summary for this stream.
fn leaf(layer: &Layer<'_>, words: &str, feed: &mut Feed<'_>) -> usize {
    let file = feed.start(layer.name);
    let mut form = layer.packed_in.join(", ");
    if !form.is_empty() {
        form.push_str(", ");
    }
    form.push_str(words);
    feed.file(file).form = form;
    file
}

fn records(layer: &Layer<'_>, form: Form, from: &mut Peeked<'_>, feed: &mut Feed<'_>) {
    let place = layout::place(layer.name);
    let form = match form {
        Form::JsonLines if place.is_log => Form::JsonLog,
        Form::Format(format) if place.is_log && !format.of_pods => {
            if format.first && from.head().starts_with(b"{") {
                Form::JsonLog
            } else {
                Form::Text
            }
        }
        other => tracked(layer.name, other),
    };
    let file = leaf(layer, form.words(), feed);
    if matches!(form, Form::Foreign(_) | Form::Empty) {
        let entry = feed.file(file);
        entry.bytes = from.head().len() as u64;
        entry.is_foreign = form != Form::Empty;
        entry.irrelevant += u64::from(form != Form::Empty);
        entry.records += u64::from(form != Form::Empty);
        if let Some(error) = from.failed_at_once() {
            feed.failure(file, FileStatus::Failed(error.to_string()));
        }
        return;
    }
    let bom = from.head().len() - sniff::without_bom(from.head()).len();
    from.skip(bom);
    let mut source = place.source(layer.name);
    let beside = match form {
        Form::Kubectl | Form::Text | Form::JsonLog => feed.folder.of(layer.name),
        _ => FolderContext::default(),
    };
    beside.name_pod(&mut source);
    let source = Arc::new(source);
    let ended = match form {
        Form::FlightRecorder => dump::whole(from, file, feed),
        Form::Kubectl => pasted::whole(from, &Kind::Pasted { source, beside }, file, feed),
        Form::Records(format) => records::split(from, format, file, feed),
        Form::Json | Form::JsonLines => json::split(from, file, feed),
        Form::Yaml => yaml::split(from, file, feed),
        Form::Table => table::split(from, file, feed),
        Form::Format(format) => lines::split(from, &source, Some(format), file, feed),
        _ => lines::split(from, &source, None, file, feed),
    };
    if let Some(reason) = ended {
        feed.failure(file, FileStatus::Truncated(reason));
    }
}

/// What a file is that lies where an experiment tracker keeps its own: its name says what no content can.
fn tracked(name: &str, form: Form) -> Form {
    match tracker::by_place(name) {
        Some(_) if matches!(form, Form::Empty) => form,
        Some(Placed::Text(format)) => Form::Format(format),
        Some(Placed::Aside(words)) => Form::Foreign(words),
        None => form,
    }
}

fn member_name(archive: &str, member: &[u8]) -> String {
    format!(
        "{archive}!{}",
        String::from_utf8_lossy(member).trim_start_matches("./")
    )
}

fn tar(layer: &Layer<'_>, from: &mut dyn Read, feed: &mut Feed<'_>) {
    let file = leaf(layer, Form::Tar.words(), feed);
    let mut archive = tar::Archive::new(from);
    let broken = |error: &io::Error, members: u64| {
        FileStatus::Truncated(format!(
            "the archive breaks off after {members} members: {error}"
        ))
    };
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return feed.failure(file, broken(&error, 0)),
    };
    let mut members = 0;
    for entry in entries {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return feed.failure(file, broken(&error, members)),
        };
        if feed.is_closed() {
            return;
        }
        members += 1;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = member_name(layer.name, &entry.path_bytes());
        let size = entry.size();
        let mut counted = Counted {
            inner: &mut entry,
            n: 0,
        };
        let inner = Layer {
            name: &name,
            packed_in: Vec::new(),
            depth: layer.depth + 1,
            file: None,
            meter: layer.meter.clone(),
        };
        open(inner, &mut counted, feed);
        // The tar crate ends a member that is cut off as if it were whole.
        let rest = io::copy(&mut counted, &mut io::sink());
        if rest.is_err() || counted.n < size {
            let reason = rest
                .err()
                .unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into());
            let last = feed.last();
            let detail = format!("the archive breaks off in this member: {reason}");
            feed.failure(last, FileStatus::Truncated(detail));
            return feed.failure(file, broken(&reason, members));
        }
    }
}

struct Counted<R> {
    inner: R,
    n: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.n += n as u64;
        Ok(n)
    }
}

/// A zip's table of contents is at its end, so one that comes as a stream is
/// put into a temporary file first.
fn zip(mut layer: Layer<'_>, from: &mut dyn Read, feed: &mut Feed<'_>) {
    let file = leaf(&layer, Form::Zip.words(), feed);
    let spooled = match layer.file.take() {
        Some(file) => {
            if let Ok(meta) = file.metadata() {
                layer.meter.packed_whole(meta.len());
            }
            Ok(file)
        }
        None => spool(from),
    };
    let mut archive = match spooled
        .map_err(zip::result::ZipError::from)
        .and_then(ZipArchive::new)
    {
        Ok(archive) => archive,
        Err(error) => return feed.failure(file, FileStatus::Failed(error.to_string())),
    };
    for index in 0..archive.len() {
        if feed.is_closed() {
            return;
        }
        let raw_name = match archive.name_for_index(index) {
            Some(Ok(name)) => name.into_owned(),
            _ => format!("member {index}"),
        };
        let name = member_name(layer.name, raw_name.as_bytes());
        if raw_name.ends_with('/') {
            continue;
        }
        let inner = Layer {
            name: &name,
            packed_in: Vec::new(),
            depth: layer.depth + 1,
            file: None,
            meter: layer.meter.clone(),
        };
        match archive.by_index(index) {
            Ok(member) => {
                let mut member = Unpacked::new(member, layer.meter.clone());
                open(inner, &mut member, feed);
            }
            Err(error) => {
                let file = leaf(&inner, "member of a zip archive", feed);
                feed.failure(file, FileStatus::Failed(error.to_string()));
            }
        }
    }
}

/// What is put into a temporary file at most.
const MAX_SPOOLED: u64 = 16 << 30;

fn spool(from: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut from.take(MAX_SPOOLED + 1), &mut file)?;
    if copied > MAX_SPOOLED {
        return Err(io::Error::other(
            "a zip archive of more than 16 GiB inside another input",
        ));
    }
    file.rewind()?;
    Ok(file)
}
