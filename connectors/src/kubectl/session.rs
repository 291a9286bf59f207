//! A paste taken apart: what each command printed.

use super::command::{self, Command, Verb};
use super::paste::{self, Line};
use super::table::Heading;
use super::{pod_row, table};

/// What a piece of a paste is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Describe,
    /// A heading and rows.
    Table,
    /// Rows of pods whose heading was cut off, as `grep` does.
    PodRows,
    Json,
    Yaml,
    Log,
    Date,
    /// What people wrote around it, or what no rule is for.
    Nothing,
}

/// What one command printed, or a part of it that stands for itself.
#[derive(Clone, Debug)]
pub(super) struct Capture<'t> {
    pub(super) command: Option<Command>,
    pub(super) shape: PieceKind,
    pub(super) lines: Vec<Line<'t>>,
}

/// How far into a file signs of kubectl are looked for.
const LOOKED_AT: usize = 60;

/// Whether a text is kubectl's for people, by its beginning.
pub(crate) fn looks_like(head: &str) -> bool {
    let lines = paste::lines(head);
    let start: Vec<Line<'_>> = lines
        .iter()
        .filter(|line| !line.is_blank())
        .take(LOOKED_AT)
        .copied()
        .collect();
    let wrapped = |line: &Line<'_>| line.text.starts_with("$ ") || line.text == "stdout:";
    if start.first().is_some_and(wrapped) {
        return true;
    }
    let commanded = |line: &Line<'_>| {
        command::parse(line.text).is_some_and(|command| {
            !matches!(command.verb, Verb::Other | Verb::OtherLog | Verb::Date)
        })
    };
    (0..start.len()).any(|at| {
        let line = &start[at];
        commanded(line)
            || describe_at(&start, at).is_some()
            || Heading::parse(line.words()).is_some()
            || pod_row::parse(line.text).is_some()
    })
}

/// Whether a line is a command that prints what a program wrote.
pub(crate) fn prints_a_log(line: &str) -> bool {
    command::parse(line).is_some_and(|command| matches!(command.verb, Verb::Logs | Verb::OtherLog))
}

/// Takes a paste apart, in its order.
pub(super) fn split<'t>(lines: &[Line<'t>]) -> Vec<Capture<'t>> {
    let mut splitter = Splitter {
        done: Vec::new(),
        open: Open::default(),
        fenced: false,
    };
    for at in 0..lines.len() {
        splitter.line(lines, at);
    }
    splitter.close();
    splitter.done
}

#[derive(Default)]
struct Open<'t> {
    command: Option<Command>,
    shape: Option<PieceKind>,
    lines: Vec<Line<'t>>,
    /// How far right the piece stands in a ticket.
    indent: usize,
    after_blank: bool,
    in_events: bool,
    /// A wrapper's `stdout:` was seen.
    wrapped: bool,
    /// What follows are kubectl's own complaints.
    errors: bool,
}

struct Splitter<'t> {
    done: Vec<Capture<'t>>,
    open: Open<'t>,
    fenced: bool,
}

impl<'t> Splitter<'t> {
    fn line(&mut self, lines: &[Line<'t>], at: usize) {
        let line = lines[at];
        if paste::is_fence(line.text) {
            if self.open.lines.iter().any(|line| !line.is_blank()) {
                self.close();
            }
            self.fenced = !self.fenced;
            return;
        }
        let is_log = matches!(self.verb(), Some(Verb::Logs | Verb::OtherLog)) && !self.open.errors;
        if let Some(command) = command::parse(line.text) {
            let sure = !matches!(command.verb, Verb::Other | Verb::OtherLog);
            if sure || !is_log {
                self.close();
                self.open.command = Some(command);
                return;
            }
        }
        if self.is_marker(line.words()) {
            return;
        }
        if line.is_blank() {
            self.open.after_blank = true;
            if self.open.shape == Some(PieceKind::Table) {
                self.end_piece();
            } else if self.open.shape == Some(PieceKind::Log) || is_log {
                self.open.lines.push(line);
            }
            return;
        }
        if is_log {
            self.open.shape = Some(PieceKind::Log);
            self.open.lines.push(line);
            return;
        }
        if self.verb() == Some(Verb::Date) {
            self.open.shape = Some(PieceKind::Date);
            self.open.lines.push(line);
            return;
        }
        self.recognise(lines, at);
        let line = line.dedent(self.open.indent);
        self.open.in_events |= line.text.starts_with("Events:");
        self.open.after_blank = false;
        self.open.lines.push(line);
    }

    fn verb(&self) -> Option<Verb> {
        self.open.command.as_ref().map(|command| command.verb)
    }

    /// Lines of programs that run kubectl and show what it printed where.
    fn is_marker(&mut self, text: &str) -> bool {
        if text == "stdout:" && self.open.lines.is_empty() {
            self.open.wrapped = true;
            return true;
        }
        if text == "stderr:" && self.open.wrapped {
            let command = self.open.command.clone();
            self.close();
            self.open.command = command;
            self.open.errors = true;
            self.open.shape = Some(PieceKind::Nothing);
            return true;
        }
        false
    }

    /// Starts a new piece where the line begins something.
    fn recognise(&mut self, lines: &[Line<'t>], at: usize) {
        let line = lines[at];
        let fresh = matches!(self.open.shape, None | Some(PieceKind::Nothing));
        if let Some(indent) = describe_at(lines, at) {
            self.begin(PieceKind::Describe, indent);
            return;
        }
        if self.open.shape == Some(PieceKind::Describe) {
            let outside =
                line.indent() <= self.open.indent && self.open.after_blank && self.open.in_events;
            if !outside {
                return;
            }
            self.end_piece();
            return self.recognise_fresh(line);
        }
        if matches!(self.open.shape, Some(PieceKind::Json | PieceKind::Yaml)) {
            return;
        }
        if Heading::parse(line.words()).is_some() {
            return self.begin(PieceKind::Table, line.indent());
        }
        if fresh {
            self.recognise_fresh(line);
        }
    }

    fn recognise_fresh(&mut self, line: Line<'t>) {
        let requested = matches!(self.verb(), Some(Verb::Get));
        if Heading::parse(line.words()).is_some() {
            self.begin(PieceKind::Table, line.indent());
        } else if line.text == "{" || (requested && line.text.starts_with('{')) {
            self.begin(PieceKind::Json, 0);
        } else if line.text.starts_with("apiVersion:") {
            self.begin(PieceKind::Yaml, 0);
        } else if pod_row::parse(line.text).is_some() {
            self.begin(PieceKind::PodRows, 0);
        } else if self.open.shape.is_none() {
            self.open.shape = Some(PieceKind::Nothing);
        }
    }

    /// Starts a piece of what the same command printed.
    fn begin(&mut self, shape: PieceKind, indent: usize) {
        self.end_piece();
        self.open.shape = Some(shape);
        self.open.indent = indent;
    }

    fn end_piece(&mut self) {
        let command = self.open.command.clone();
        let (wrapped, errors) = (self.open.wrapped, self.open.errors);
        self.close();
        self.open.command = command;
        self.open.wrapped = wrapped;
        self.open.errors = errors;
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.lines.iter().all(Line::is_blank) {
            return;
        }
        let mut shape = open.shape.unwrap_or(PieceKind::Nothing);
        let commanded = open.command.is_some();
        if shape == PieceKind::Nothing
            && !commanded
            && !open.errors
            && (open.wrapped || is_log(&open.lines, self.fenced))
        {
            shape = PieceKind::Log;
        }
        self.done.push(Capture {
            command: open.command,
            shape,
            lines: open.lines,
        });
    }
}

/// Whether a `describe` begins at a line: how far right it stands.
fn describe_at(lines: &[Line<'_>], at: usize) -> Option<usize> {
    const NEXT: [&str; 8] = [
        "Namespace:",
        "Labels:",
        "Annotations:",
        "Roles:",
        "API Version:",
        "Priority:",
        "StorageClass:",
        "Provisioner:",
    ];
    let line = lines.get(at)?;
    let indent = line.indent();
    let value = line.words().strip_prefix("Name:")?;
    if !value.starts_with([' ', '\t']) || value.split_whitespace().count() != 1 {
        return None;
    }
    let beside = lines.get(at + 1..)?.iter().take(6).any(|line| {
        line.indent() == indent && NEXT.iter().any(|key| line.words().starts_with(key))
    });
    beside.then_some(indent)
}

/// Whether lines without a command above are of a log: most begin with a time,
/// or it is a traceback, or someone set them apart as code.
fn is_log(lines: &[Line<'_>], fenced: bool) -> bool {
    let emitted: Vec<&Line<'_>> = lines.iter().filter(|line| !line.is_blank()).collect();
    let timed = emitted
        .iter()
        .filter(|line| begins_with_time(line.text))
        .count();
    let traceback = emitted
        .iter()
        .any(|line| line.text.contains("Traceback (most recent call last)"));
    let complaint = emitted.iter().all(|line| is_complaint(line.text));
    !complaint && (fenced || traceback || timed * 2 > emitted.len())
}

/// Whether a line begins with a date and a time, as log lines do.
fn begins_with_time(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(', ' ']);
    let shape: String = text
        .chars()
        .take(16)
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    ["0000-00-00T00:00", "0000-00-00 00:00", "0000/00/00 00:00"].contains(&shape.as_str())
}

/// What kubectl says of itself, in place of what was asked for.
pub(super) fn is_complaint(text: &str) -> bool {
    const STARTS: [&str; 9] = [
        "Error from server",
        "error: ",
        "Error: unknown",
        "No resources found",
        "Warning: ",
        "The connection to the server",
        "Unable to connect to the server",
        "error from server",
        "Found ",
    ];
    let text = text.trim();
    STARTS.iter().any(|start| text.starts_with(start))
        || text.starts_with("Defaulted container ")
        || text.starts_with("Defaulting container name to ")
}

/// The rule below a heading, and what kubectl says beside a table.
pub(super) fn is_chatter(line: &Line<'_>) -> bool {
    table::is_rule(line) || is_complaint(line.text)
}
