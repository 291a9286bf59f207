//! A page of lines in a given width: spans of text with a tone, wrapped on
//! words with hanging indents.

use std::io;

use anstyle::{AnsiColor, Style as Ansi};

use super::error::RenderError;
use super::style::Style;
use super::text::{escape, width};
use super::wrap::wrap;

/// Columns of a paragraph, at most.
const PROSE: usize = 120;

/// What a piece of text is, from which its colour follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Dim,
    Strong,
    Name,
    Good,
    Busy,
    Warn,
    Bad,
    /// [`Tone::Bad`] and [`Tone::Strong`].
    Fatal,
}

impl Tone {
    fn ansi(self) -> Ansi {
        let plain = Ansi::new();
        match self {
            Self::Plain => plain,
            Self::Dim => plain.dimmed(),
            Self::Strong => plain.bold(),
            Self::Name => AnsiColor::Cyan.on_default(),
            Self::Good => AnsiColor::Green.on_default().bold(),
            Self::Busy => AnsiColor::Blue.on_default().bold(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Fatal => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// Text of one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// Pieces of text in a row.
///
/// `own` takes our words, `data` takes words from outside and escapes them. A
/// no-break space keeps words together and is shown as a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(pub(crate) Vec<Span>);

impl Spans {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds our own text.
    pub(crate) fn own(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push(Span {
            text: text.into(),
            tone,
        });
        self
    }

    /// Adds text that came from outside, escaped.
    pub(crate) fn data(self, tone: Tone, text: &str) -> Self {
        let text = escape(text).into_owned();
        self.own(tone, text)
    }

    /// Adds plain text of our own.
    pub(crate) fn say(self, text: impl Into<String>) -> Self {
        self.own(Tone::Plain, text)
    }

    /// Adds other pieces.
    pub(crate) fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// Adds spaces up to a width.
    pub(crate) fn pad(self, columns: usize) -> Self {
        let missing = columns.saturating_sub(self.width());
        self.say(" ".repeat(missing))
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|span| width(&span.text)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.text.is_empty())
    }
}

/// Lines as they are laid out, to be written at once.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    pub(crate) style: &'a Style,
    lines: Vec<Spans>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self {
            style,
            lines: Vec::new(),
        }
    }

    pub(crate) fn columns(&self) -> usize {
        self.style.width.max(40)
    }

    /// An empty line, unless there is one or the page is new.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(Spans::new());
        }
    }

    /// A section's title with a remark beside it.
    pub(crate) fn section(&mut self, title: &str, remark: Spans) {
        self.gap();
        let title = Spans::new().own(Tone::Strong, title);
        if remark.is_empty() {
            self.lines.push(title);
        } else {
            self.hang(title.say("  "), remark);
        }
    }

    /// Lines that all start under the end of `prefix`.
    pub(crate) fn hang(&mut self, prefix: Spans, body: Spans) {
        self.lay(prefix, body, self.columns());
    }

    /// As [`Page::hang`], for sentences, which are hard to follow on longer lines.
    pub(crate) fn prose(&mut self, prefix: Spans, body: Spans) {
        self.lay(prefix, body, self.columns().min(PROSE));
    }

    fn lay(&mut self, prefix: Spans, body: Spans, columns: usize) {
        if self.style.ascii {
            self.lines
                .extend(wrap(&prefix.in_ascii(), &body.in_ascii(), columns));
        } else {
            self.lines.extend(wrap(&prefix, &body, columns));
        }
    }

    /// A line that is laid out already.
    pub(crate) fn raw(&mut self, line: Spans) {
        self.lines.push(line);
    }

    /// Writes every line.
    pub(crate) fn write(&self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        for line in &self.lines {
            writeln!(out, "{}", self.paint(line))?;
        }
        Ok(())
    }

    fn paint(&self, line: &Spans) -> String {
        let mut painted = String::new();
        let text_ends = line
            .0
            .iter()
            .rposition(|span| !span.text.trim_end().is_empty());
        // What is copied, or recorded by `script`, stays readable: an escape a run of words, not one a word.
        let mut runs: Vec<(Tone, String)> = Vec::new();
        for (at, span) in line.0.iter().enumerate() {
            let text = match text_ends {
                Some(last) if at < last => span.text.as_str(),
                Some(last) if at == last => span.text.trim_end(),
                _ => break,
            };
            let text = text.replace('\u{a0}', " ");
            match runs.last_mut() {
                Some((tone, run)) if *tone == span.tone => run.push_str(&text),
                _ => runs.push((span.tone, text)),
            }
        }
        for (tone, text) in runs {
            let ansi = tone.ansi();
            if self.style.color && tone != Tone::Plain && !text.trim().is_empty() {
                painted.push_str(&format!("{ansi}{text}{ansi:#}"));
            } else {
                painted.push_str(&text);
            }
        }
        painted
    }
}

impl Spans {
    /// Our signs as ASCII characters of the same width.
    fn in_ascii(mut self) -> Self {
        for span in &mut self.0 {
            span.text = span.text.chars().map(ascii).collect();
        }
        self
    }
}

/// The ASCII stand-in of a sign of ours; anything else stays.
pub(crate) fn ascii(c: char) -> char {
    match c {
        '✗' => 'x',
        '✓' => '+',
        '●' | '•' => '*',
        '○' => 'o',
        '·' | '–' | '—' | '−' | '─' => '-',
        '×' => 'x',
        '▸' | '→' => '>',
        '│' | '┆' | '↵' => '|',
        '↳' => '`',
        '…' | '⋯' => '~',
        '“' | '”' => '"',
        '’' => '\'',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_words_has_one_colour() {
        let style = Style {
            color: true,
            ..Style::default()
        };
        let mut page = Page::new(&style);
        page.hang(
            Spans::new().say("  "),
            Spans::new()
                .own(Tone::Strong, "ended with an error")
                .say(" at last"),
        );
        let mut out = Vec::new();
        page.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "  \u{1b}[1mended with an error\u{1b}[0m at last\n");
    }
}
