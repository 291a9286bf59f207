//! Takes a file of binary records apart, which are told from each other by their lengths.

use std::io::Read;

use super::batch::Kind;
use super::feed::Feed;
use super::window::Window;
use crate::contract::{RecordFormat, Step};

/// Splits `from` and feeds whole records; returns why it ended early, if it did.
///
/// What is damaged is counted, and what stands behind it is read where the format lets it be found.
pub(super) fn split(
    from: &mut dyn Read,
    format: &'static RecordFormat,
    file: usize,
    feed: &mut Feed<'_>,
) -> Option<String> {
    let mut window = Window::new(from);
    let ended = feed_all(&mut window, format, file, feed);
    feed.finish_records(file, Kind::Records { format, last: true });
    feed.file(file).bytes += window.bytes_read();
    let failed = window.take_error().map(|error| error.to_string());
    failed.or(ended)
}

fn feed_all(
    window: &mut Window<'_>,
    format: &'static RecordFormat,
    file: usize,
    feed: &mut Feed<'_>,
) -> Option<String> {
    let limit = feed.options.max_record_bytes;
    let kind = Kind::Records {
        format,
        last: false,
    };
    let mut framer = (format.framer)();
    let mut record: Vec<u8> = Vec::new();
    let (mut number, mut damaged, mut is_too_long) = (0_u64, 0_u64, false);
    while !feed.is_closed() {
        let at = window.offset();
        match framer.next(window.bytes(), at) {
            Step::Need(bytes) => {
                if bytes > limit {
                    number += 1;
                    feed.reject(file, number, &too_long(limit));
                    pass(window, bytes);
                    continue;
                }
                while window.bytes().len() < bytes && window.fill() {}
                if window.bytes().len() < bytes {
                    let left = window.bytes().len();
                    let cut = left > 0 || !record.is_empty();
                    window.consume(left);
                    return if cut {
                        Some(format!(
                            "it ends within a record (after {number} records, at byte {at})"
                        ))
                    } else {
                        broken(damaged)
                    };
                }
            }
            Step::Skip(bytes) => pass(window, bytes),
            Step::Piece {
                bytes,
                whole,
                begins,
                ends,
            } => {
                if begins {
                    record.clear();
                    is_too_long = false;
                }
                let piece = window.bytes().get(bytes).unwrap_or_default();
                if record.len() + piece.len() > limit {
                    is_too_long = true;
                } else if !is_too_long {
                    record.extend_from_slice(piece);
                }
                window.consume(whole);
                if ends {
                    number += 1;
                    if is_too_long {
                        feed.reject(file, number, &too_long(limit));
                    } else {
                        feed.record(file, &kind, &record, number);
                    }
                    record.clear();
                }
            }
            Step::Bad(bytes, why) => {
                number += 1;
                damaged += 1;
                record.clear();
                feed.reject(file, number, &format!("{why} (at byte {at})"));
                pass(window, bytes);
            }
            Step::Lost(why) => {
                return Some(format!("{why} (after {number} records, at byte {at})"));
            }
        }
    }
    None
}

fn too_long(limit: usize) -> String {
    format!("a record of more than {limit} bytes")
}

fn broken(damaged: u64) -> Option<String> {
    (damaged > 0).then(|| format!("{damaged} records in it are damaged"))
}

/// Gives up so many bytes, also those that were not read yet.
fn pass(window: &mut Window<'_>, mut bytes: usize) {
    loop {
        let here = bytes.min(window.bytes().len());
        window.consume(here);
        bytes -= here;
        if bytes == 0 || !window.fill() {
            return;
        }
    }
}

impl Feed<'_> {
    /// Says that a file of binary records has no more.
    pub(super) fn finish_records(&mut self, file: usize, kind: Kind) {
        self.flush();
        self.last_batch(file, kind);
        self.flush();
    }
}
