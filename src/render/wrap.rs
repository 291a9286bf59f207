//! Breaking spans into lines.

use super::page::{Span, Spans};
use super::text::{is_wider, split_at_width, width};

/// Lines of at most `columns`: the first starts with `prefix`, the others under
/// its end. A word that does not fit there but fits on a line of its own gets
/// one, indented less; only longer words are broken.
pub(crate) fn wrap(prefix: &Spans, body: &Spans, columns: usize) -> Vec<Spans> {
    let mut lines = Lines {
        columns,
        indent: prefix.width().min(columns / 2),
        done: Vec::new(),
        used: prefix.width(),
        line: prefix.clone(),
        fresh: true,
    };
    for word in words(body) {
        lines.push(&word);
    }
    lines.done.push(lines.line);
    lines.done
}

struct Lines {
    columns: usize,
    indent: usize,
    done: Vec<Spans>,
    line: Spans,
    used: usize,
    /// Whether the line has no word yet.
    fresh: bool,
}

impl Lines {
    fn push(&mut self, word: &Word) {
        let space = if self.fresh { 0 } else { word.space };
        let wide = word.spans.width();
        if self.used + space + wide <= self.columns {
            self.add(space, &word.spans);
            return;
        }
        if !self.fresh {
            self.next_line(self.indent);
        }
        if self.used + wide <= self.columns {
            self.add(0, &word.spans);
        } else if wide <= self.columns {
            // The prefix may be alone on its line for this.
            let indent = self.indent.min(self.columns - wide);
            if self.done.is_empty() {
                self.next_line(indent);
            } else {
                self.line = Spans::new().pad(indent);
            }
            self.add(0, &word.spans);
        } else {
            self.add_broken(&word.spans);
        }
    }

    fn add(&mut self, space: usize, word: &Spans) {
        if space > 0 {
            self.line.0.push(Span {
                text: " ".repeat(space),
                ..word.0[0].clone()
            });
        }
        self.used = self.used + space + word.width();
        self.line.0.extend(word.0.iter().cloned());
        self.fresh = false;
    }

    fn add_broken(&mut self, word: &Spans) {
        for span in &word.0 {
            let mut rest = span.text.as_str();
            while !rest.is_empty() {
                let room = self.columns.saturating_sub(self.used);
                if room == 0 || (is_wider(rest, room) && room < self.columns / 4) {
                    self.next_line(self.indent);
                    continue;
                }
                let (head, tail) = split_at_width(rest, room);
                self.line.0.push(Span {
                    text: head.to_owned(),
                    tone: span.tone,
                });
                self.used += width(head);
                self.fresh = false;
                rest = tail;
            }
        }
    }

    fn next_line(&mut self, indent: usize) {
        let fresh = Spans::new().pad(indent);
        self.done.push(std::mem::replace(&mut self.line, fresh));
        self.used = indent;
        self.fresh = true;
    }
}

/// What may not be broken, of one or several tones.
struct Word {
    /// Spaces before it.
    space: usize,
    spans: Spans,
}

fn words(body: &Spans) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut space = 0;
    let mut open = false;
    for span in &body.0 {
        for piece in span.text.split_inclusive(' ') {
            let text = piece.trim_end_matches(' ');
            if !text.is_empty() {
                let part = Span {
                    text: text.to_owned(),
                    tone: span.tone,
                };
                match words.last_mut() {
                    Some(word) if open => word.spans.0.push(part),
                    _ => words.push(Word {
                        space,
                        spans: Spans(vec![part]),
                    }),
                }
                open = true;
                space = 0;
            }
            if piece.ends_with(' ') {
                open = false;
                space += piece.len() - text.len();
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::page::Tone;
    use super::*;

    fn wrapped(prefix: &str, body: &str, columns: usize) -> Vec<String> {
        let lines = wrap(&Spans::new().say(prefix), &Spans::new().say(body), columns);
        lines.iter().map(text).collect()
    }

    fn text(line: &Spans) -> String {
        line.0.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn later_lines_hang_under_the_first() {
        assert_eq!(
            wrapped("  - ", "the node stopped responding", 14),
            ["  - the node", "    stopped", "    responding"]
        );
        assert_eq!(wrapped("  ", "", 14), ["  "]);
    }

    #[test]
    fn a_name_that_fits_on_a_line_is_not_broken() {
        assert_eq!(
            wrapped("      ", "node gke-train-a100-pool left", 20),
            ["      node", " gke-train-a100-pool", "      left"]
        );
        assert_eq!(
            wrapped("label ", "gke-train-a100-pool", 20),
            ["label ", " gke-train-a100-pool"]
        );
    }

    #[test]
    fn a_longer_name_is_broken_at_a_separator() {
        assert_eq!(
            wrapped("  ", "at gke-train-a100-pool-7c1d-0004.internal now", 20),
            [
                "  at",
                "  gke-train-a100-",
                "  pool-7c1d-0004.",
                "  internal now"
            ]
        );
    }

    #[test]
    fn tones_do_not_break_words() {
        let body = Spans::new()
            .own(Tone::Name, "pod")
            .say("'s node")
            .say(", gone");
        let lines = wrap(&Spans::new(), &body, 10);
        assert_eq!(
            lines.iter().map(text).collect::<Vec<_>>(),
            ["pod's", "node, gone"]
        );
    }
}
