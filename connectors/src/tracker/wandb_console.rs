//! What a program printed, as W&B keeps it among the records of a run: `OutputRecord` and `OutputRawRecord`
//! `{ 1: stderr (0) or stdout (1), 3: text }`, in pieces of lines.
//!
//! It is read as the file that W&B makes of it, `files/output.log`: where that is there as well, both are one log.

use std::sync::Arc;

use super::wire::each_field;
use crate::contract::Options;
use crate::logs::{LogSource, LogStream};
use crate::observation::Observation;
use crate::redact::redact;

/// The lines of one run.
pub(super) struct Console {
    stream: LogStream,
    /// Lines that were begun, of each output.
    open: [String; 2],
    /// The longest line that is put together.
    longest: usize,
    number: u64,
}

impl Console {
    pub(super) fn new(folder: &str, options: &Options) -> Self {
        let source = LogSource {
            file: redact(&format!("{folder}/files/output.log")).into(),
            ..LogSource::default()
        };
        Self {
            stream: LogStream::new(Arc::new(source), options.log_lines, options.max_line_bytes),
            open: [String::new(), String::new()],
            longest: options.max_line_bytes,
            number: 0,
        }
    }

    /// Takes a piece of what was printed.
    pub(super) fn take(&mut self, piece: &[u8], out: &mut Vec<Observation>) -> Result<(), String> {
        let (mut output, mut text) = (0, String::new());
        each_field(piece, |field, value| match field {
            1 => output = value.int(),
            3 => text = value.text(),
            _ => {}
        })?;
        for part in text.split_inclusive('\n') {
            let Some(open) = self.open.get_mut(usize::from(output == 1)) else {
                continue;
            };
            open.push_str(part);
            if part.ends_with('\n') || open.len() > self.longest {
                let line = std::mem::take(open);
                self.line(line.trim_end_matches('\n'), out)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str, out: &mut Vec<Observation>) -> Result<(), String> {
        self.number += 1;
        if line.is_empty() {
            return Ok(());
        }
        self.stream.line(line, self.number, out)
    }

    /// There is no more. What was killed may have left a line without its end.
    pub(super) fn finish(&mut self, out: &mut Vec<Observation>) {
        for open in std::mem::take(&mut self.open) {
            // What is too long is left out, as it is of a file.
            let _too_long = self.line(&open, out);
        }
        self.stream.finish(out);
    }
}
