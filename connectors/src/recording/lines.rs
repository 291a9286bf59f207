//! Takes a log apart at line ends, a batch at a time.

use std::io::Read;
use std::sync::Arc;

use super::batch::{BATCH_BYTES, Kind};
use super::feed::Feed;
use super::window::Window;
use crate::contract::TextFormat;
use crate::logs::LogSource;

/// Splits `from` and feeds whole lines; returns why it ended early, if it did.
pub(super) fn split(
    from: &mut dyn Read,
    source: &Arc<LogSource>,
    format: Option<&'static TextFormat>,
    file: usize,
    feed: &mut Feed<'_>,
) -> Option<String> {
    let mut window = Window::new(from);
    let limit = feed.options.max_line_bytes;
    let kind = |last| {
        let source = Arc::clone(source);
        match format {
            Some(format) => Kind::Format {
                format,
                source,
                last,
            },
            None => Kind::Text { source, last },
        }
    };
    let mut is_whole = false;
    while !feed.is_closed() {
        let whole = memchr::memrchr(b'\n', window.bytes()).map(|n| n + 1);
        match whole {
            Some(n) if window.bytes().len() >= BATCH_BYTES => {
                feed.lines(file, kind(false), &window.bytes()[..n], window.line());
                window.consume(n);
            }
            // A bar that is drawn over for hours is one line without an end.
            None if window.bytes().len() > limit
                && memchr::memrchr(b'\r', window.bytes()).is_some_and(|at| at > 0) =>
            {
                let n = memchr::memrchr(b'\r', window.bytes()).unwrap_or(0);
                feed.lines(file, kind(false), &window.bytes()[..n], window.line());
                window.consume(n);
            }
            None if window.bytes().len() > limit => {
                feed.reject(
                    file,
                    window.line(),
                    &format!("a line of more than {limit} bytes"),
                );
                window.skip_line();
            }
            _ if window.fill() => {}
            _ => {
                let n = window.bytes().len();
                feed.lines(file, kind(true), window.bytes(), window.line());
                window.consume(n);
                is_whole = true;
                break;
            }
        }
    }
    if !is_whole {
        // Of a log that is not read to its end its last lines are told as well.
        feed.last_batch(file, kind(true));
    }
    let bytes = window.bytes_read();
    feed.file(file).bytes += bytes;
    window
        .take_error()
        .map(|error| format!("{error} (after line {}, {bytes} bytes)", window.line()))
}
