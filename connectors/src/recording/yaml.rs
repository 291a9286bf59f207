//! Takes YAML apart at document marks and list items, by indentation alone.
//!
//! In block style nothing that belongs to an item stands as far left as the
//! item's dash, not even the text of a block scalar, so the cut is safe. What
//! is written otherwise is taken as one document, up to a size.

use std::io::Read;
use std::sync::Arc;

use super::batch::Kind;
use super::feed::Feed;
use super::sniff;
use super::window::Window;

/// Splits `from` and feeds documents and items; returns why it ended early.
pub(super) fn split(from: &mut dyn Read, file: usize, feed: &mut Feed<'_>) -> Option<String> {
    let mut window = Window::new(from);
    let mut splitter = Splitter {
        feed,
        file,
        piece: Vec::new(),
        line: 1,
        place: YamlPosition::Document,
        list_kind: None,
        too_large: false,
    };
    loop {
        let limit = splitter.limit();
        match memchr::memchr(b'\n', window.bytes()) {
            Some(n) => {
                splitter.line(&window.bytes()[..=n], window.line());
                window.consume(n + 1);
            }
            None if window.bytes().len() > limit => {
                splitter.too_large = true;
                window.skip_line();
            }
            None if window.fill() => {}
            None => {
                let n = window.bytes().len();
                splitter.line(window.bytes(), window.line());
                window.consume(n);
                break;
            }
        }
        if splitter.feed.is_closed() {
            break;
        }
    }
    splitter.end_piece();
    let bytes = window.bytes_read();
    feed.file(file).bytes += bytes;
    window
        .take_error()
        .map(|error| format!("{error} (after line {}, {bytes} bytes)", window.line()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum YamlPosition {
    /// In a document, nothing cut off yet.
    Document,
    /// After `items:`, before the first item.
    Items,
    /// In the items, whose dashes stand this far right.
    Item(usize),
    /// After the items: nothing more is wanted of the document.
    Tail,
}

struct Splitter<'w, 'o> {
    feed: &'w mut Feed<'o>,
    file: usize,
    piece: Vec<u8>,
    /// Where the piece starts.
    line: u64,
    place: YamlPosition,
    list_kind: Option<Arc<str>>,
    too_large: bool,
}

impl Splitter<'_, '_> {
    fn limit(&self) -> usize {
        match self.place {
            YamlPosition::Document => self.feed.options.max_document_bytes,
            _ => self.feed.options.max_record_bytes,
        }
    }

    fn line(&mut self, line: &[u8], number: u64) {
        let text = line.trim_ascii_end();
        if text == b"---" || text == b"..." || text.starts_with(b"--- ") {
            self.end_piece();
            self.place = YamlPosition::Document;
            self.list_kind = None;
            return;
        }
        if self.place == YamlPosition::Document && text == b"items:" {
            self.list_kind = kind_of(&self.piece);
            self.piece.clear();
            self.place = YamlPosition::Items;
            return;
        }
        let blank = text.is_empty() || text.starts_with(b"#");
        let indent = text.iter().take_while(|&&b| b == b' ').count();
        let dash = text[indent..].starts_with(b"- ") || &text[indent..] == b"-";
        match self.place {
            YamlPosition::Document => {}
            YamlPosition::Items if blank => return,
            YamlPosition::Items if dash => self.place = YamlPosition::Item(indent),
            YamlPosition::Items => self.place = YamlPosition::Tail,
            YamlPosition::Item(at) if dash && indent == at => self.end_piece(),
            YamlPosition::Item(at) if !blank && indent <= at => {
                self.end_piece();
                self.place = YamlPosition::Tail;
            }
            YamlPosition::Item(_) | YamlPosition::Tail => {}
        }
        if self.place == YamlPosition::Tail {
            return;
        }
        if self.piece.is_empty() && !self.too_large {
            if blank || sniff::is_chatter(text) {
                return;
            }
            self.line = number;
        }
        if self.piece.len() + line.len() > self.limit() {
            self.too_large = true;
            self.piece = Vec::new();
        }
        if !self.too_large {
            self.piece.extend_from_slice(line);
        }
    }

    fn end_piece(&mut self) {
        if std::mem::take(&mut self.too_large) {
            let limit = self.limit();
            self.feed.reject(
                self.file,
                self.line,
                &format!("a YAML document or item of more than {limit} bytes"),
            );
            self.piece.clear();
            return;
        }
        if self.piece.is_empty() {
            return;
        }
        let item = matches!(self.place, YamlPosition::Item(_));
        let kind = Kind::Yaml {
            item,
            list_kind: self.list_kind.clone(),
        };
        self.feed.record(self.file, &kind, &self.piece, self.line);
        self.piece.clear();
    }
}

/// `kind:` of a list, where it stands before the items.
fn kind_of(header: &[u8]) -> Option<Arc<str>> {
    header
        .split(|&b| b == b'\n')
        .find_map(|line| line.strip_prefix(b"kind:"))
        .and_then(|kind| std::str::from_utf8(kind).ok())
        .map(|kind| kind.trim().trim_matches(['"', '\'']).into())
}
