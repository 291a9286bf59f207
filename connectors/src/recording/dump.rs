//! Takes a dump of the flight recorder whole; a part of one cannot be read.

use std::io::Read;

use super::batch::Kind;
use super::feed::Feed;
use super::window::Window;

/// Feeds the whole of `from`; returns why it ended early, if it did.
pub(super) fn whole(from: &mut dyn Read, file: usize, feed: &mut Feed<'_>) -> Option<String> {
    let limit = feed.options.max_document_bytes;
    let mut window = Window::new(from);
    while window.bytes().len() <= limit && window.fill() {}
    feed.file(file).bytes += window.bytes_read();
    if window.bytes().len() > limit {
        let why = format!("a dump of the flight recorder of more than {limit} bytes");
        feed.reject(file, 1, &why);
        return Some(why);
    }
    let failed = window.take_error();
    feed.record(file, &Kind::FlightRecorder, window.bytes(), 1);
    failed.map(|error| error.to_string())
}
