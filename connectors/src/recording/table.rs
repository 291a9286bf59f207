//! Tables that other systems export as CSV: each row becomes a JSON record,
//! which the decoders of other systems get as if it had come so.

use std::cell::Cell;
use std::cmp::Ordering;
use std::io::{self, Read};
use std::rc::Rc;

use csv::{ByteRecord, ReaderBuilder};
use serde_json::Value;

use super::batch::Kind;
use super::feed::Feed;
use crate::contract::Table;
use crate::{LOG_STORES, azure, gcp};

/// The first that recognises a table gets it.
fn table(columns: &[String]) -> Option<&'static Table> {
    let of_stores = LOG_STORES.iter().flat_map(|(_, store)| store.tables);
    let mut tables = of_stores.chain([&gcp::ENTRIES, &azure::ROWS_CSV]);
    tables.find(|table| (table.recognise)(columns))
}

fn texts(record: &ByteRecord) -> Vec<String> {
    record
        .iter()
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .collect()
}

/// Whether a text begins with the names of a known table's columns.
pub(super) fn is_known(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    if !line.contains(&b',') {
        return false;
    }
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line);
    let mut columns = ByteRecord::new();
    reader.read_byte_record(&mut columns).is_ok() && table(&texts(&columns)).is_some()
}

/// Feeds the rows of `from`; returns why it ended early, if it did.
pub(super) fn split(from: &mut dyn Read, file: usize, feed: &mut Feed<'_>) -> Option<String> {
    let since = Rc::new(Cell::new(0));
    let limit = feed.options.max_record_bytes;
    let bounded = Bounded {
        from,
        since: Rc::clone(&since),
        limit,
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bounded);
    let mut row = ByteRecord::new();
    let mut known: Option<(&Table, Vec<String>, Option<usize>)> = None;
    let mut rows = Rows::default();
    let ended = loop {
        match reader.read_byte_record(&mut row) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
        since.set(0);
        let line = row.position().map_or(0, csv::Position::line);
        let fields = texts(&row);
        let Some((table, columns, time)) = &known else {
            let time = fields.iter().position(|column| is_time(column));
            known = table(&fields).map(|table| (table, fields, time));
            if known.is_none() {
                break Some("its first row is not that of a known table".to_owned());
            }
            continue;
        };
        if feed.is_closed() {
            break None;
        }
        if fields.len() != columns.len() {
            let why = format!("{} fields under {} columns", fields.len(), columns.len());
            feed.reject(file, line, &why);
            continue;
        }
        let record = Value::Object((table.record)(columns, &fields)).to_string();
        let time = time.and_then(|place| fields.into_iter().nth(place));
        rows.push(record, line, time.unwrap_or_default());
        if rows.all.len() >= Rows::MOST {
            rows.emit(file, feed);
        }
    };
    rows.emit(file, feed);
    feed.file(file).bytes += reader.position().byte();
    ended
}

fn is_time(column: &str) -> bool {
    let column = column.to_ascii_lowercase();
    ["time", "date"].iter().any(|word| column.contains(word))
}

/// Rows in the order of the file. Consoles export the newest first: of rows of one time the last is then the first that was
/// written.
#[derive(Default)]
struct Rows {
    all: Vec<(String, u64)>,
    before: String,
    rising: usize,
    falling: usize,
}

impl Rows {
    /// As many are turned round at once: ties are near each other.
    const MOST: usize = 4_096;

    fn push(&mut self, record: String, line: u64, time: String) {
        match time.cmp(&self.before) {
            _ if self.all.is_empty() => {}
            Ordering::Less => self.falling += 1,
            Ordering::Greater => self.rising += 1,
            Ordering::Equal => {}
        }
        self.before = time;
        self.all.push((record, line));
    }

    fn emit(&mut self, file: usize, feed: &mut Feed<'_>) {
        let mut rows = std::mem::take(self);
        if rows.falling > rows.rising {
            rows.all.reverse();
        }
        for (record, line) in rows.all {
            feed.record(file, &Kind::PLAIN, record.as_bytes(), line);
        }
    }
}

/// A quote that is never closed must not take in the rest of the world.
struct Bounded<'r> {
    from: &'r mut dyn Read,
    /// Bytes read since the last row was whole.
    since: Rc<Cell<usize>>,
    limit: usize,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.since.get() > self.limit {
            let why = format!("a row of more than {} bytes", self.limit);
            return Err(io::Error::other(why));
        }
        let n = self.from.read(into)?;
        self.since.set(self.since.get() + n);
        Ok(n)
    }
}
