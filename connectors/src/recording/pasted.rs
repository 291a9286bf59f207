//! Takes a paste whole: what it says in one place tells the times of another.

use std::io::Read;

use super::batch::Kind;
use super::feed::Feed;
use super::window::Window;

/// Feeds the whole of `from`; returns why it ended early, if it did.
pub(super) fn whole(
    from: &mut dyn Read,
    kind: &Kind,
    file: usize,
    feed: &mut Feed<'_>,
) -> Option<String> {
    let limit = feed.options.max_document_bytes;
    let mut window = Window::new(from);
    while window.bytes().len() <= limit && window.fill() {}
    let (bytes, whole) = (window.bytes(), window.bytes().len() <= limit);
    let text = if whole {
        bytes
    } else {
        let end = memchr::memrchr(b'\n', &bytes[..limit]).map_or(limit, |at| at + 1);
        &bytes[..end]
    };
    feed.record(file, kind, text, 1);
    feed.file(file).bytes += window.bytes_read();
    if !whole {
        return Some(format!("only the first {limit} bytes of it are read"));
    }
    window.take_error().map(|error| error.to_string())
}
