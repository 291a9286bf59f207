//! A log's lines, in order, to events.

use std::sync::Arc;

use super::event::Teller;
use super::join::{Joined, Joiner};
use super::keep::Keep;
use super::line::{Line, interpret};
use super::placing::Placing;
use super::source::LogSource;
use super::wrapper;
use crate::event::SourceKind;
use crate::observation::Observation;
use crate::recording::LogLines;
use crate::time::Stamp;

/// The state between two lines of one log.
#[derive(Debug)]
pub struct LogStream {
    source: Arc<LogSource>,
    max_line_bytes: usize,
    cut: Option<Cut>,
    placing: Placing,
    joiner: Joiner,
    teller: Teller,
    keep: Keep,
}

/// The start of a line that the runtime wrote in pieces.
#[derive(Debug)]
struct Cut {
    time: Option<Stamp>,
    number: u64,
    content: String,
    raw: String,
}

impl LogStream {
    /// The start of the log of `source`.
    #[must_use]
    pub fn new(source: Arc<LogSource>, keep: LogLines, max_line_bytes: usize) -> Self {
        let file = Arc::clone(&source.file);
        let mut teller = Teller::new(
            source.identity(),
            SourceKind::ContainerLog,
            source.entities.clone(),
            file,
        );
        teller.previous = source.previous;
        Self {
            source,
            max_line_bytes,
            cut: None,
            placing: Placing::default(),
            joiner: Joiner::default(),
            teller,
            keep: Keep::new(keep),
        }
    }

    /// Takes the next line, without its line end.
    ///
    /// # Errors
    /// Says why the line cannot be used.
    pub fn line(
        &mut self,
        line: &str,
        number: u64,
        out: &mut Vec<Observation>,
    ) -> Result<(), String> {
        let limit = self.max_line_bytes;
        if line.len() > limit {
            return Err(format!("a line of more than {limit} bytes"));
        }
        if let Some((pod, rest)) = wrapper::pod(line) {
            let unwrapped = wrapper::unwrap(rest);
            let content = interpret(&unwrapped.content, line.to_owned(), number);
            self.whole(content.with_time(unwrapped.time).of_pod(Some(pod)), out);
            return Ok(());
        }
        let unwrapped = wrapper::unwrap(line);
        if self.cut.is_some() || unwrapped.partial {
            let cut = self.cut.get_or_insert_with(|| Cut {
                time: unwrapped.time,
                number,
                content: String::new(),
                raw: String::new(),
            });
            if cut.content.len() + line.len() <= limit {
                cut.content.push_str(&unwrapped.content);
                cut.raw.push_str(line);
                cut.raw.push('\n');
            }
            if unwrapped.partial {
                return Ok(());
            }
            self.end_cut(out);
            return Ok(());
        }
        let content = interpret(&unwrapped.content, line.to_owned(), number);
        self.whole(content.with_time(unwrapped.time), out);
        Ok(())
    }

    /// There are no more lines.
    pub fn finish(&mut self, out: &mut Vec<Observation>) {
        self.end_cut(out);
        let mut placed = Vec::new();
        self.placing.finish(&mut placed);
        let mut joined = Vec::new();
        for line in placed {
            self.joiner.push(line, &mut joined);
        }
        self.joiner.finish(&mut joined);
        let mut kept = Vec::new();
        self.choose(joined, &mut kept);
        self.keep.finish(&mut kept);
        self.tell(kept, out);
    }

    /// How many lines were left out because the log is long.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.keep.left_out()
    }

    fn end_cut(&mut self, out: &mut Vec<Observation>) {
        if let Some(cut) = self.cut.take() {
            let raw = cut.raw.trim_end().to_owned();
            let content = interpret(&cut.content, raw, cut.number);
            self.whole(content.with_time(cut.time), out);
        }
    }

    fn whole(&mut self, line: Line, out: &mut Vec<Observation>) {
        if line.message.trim().is_empty() {
            return;
        }
        let mut placed = Vec::new();
        self.placing.push(line, &mut placed);
        let mut joined = Vec::new();
        for line in placed {
            self.joiner.push(line, &mut joined);
        }
        let mut kept = Vec::new();
        self.choose(joined, &mut kept);
        self.tell(kept, out);
    }

    fn choose(&mut self, joined: Vec<Joined>, kept: &mut Vec<Joined>) {
        for mut record in joined {
            // Also what is left out is counted, so that ids do not depend on it.
            self.teller.count(&mut record);
            self.keep.push(record, kept);
        }
    }

    fn tell(&self, kept: Vec<Joined>, out: &mut Vec<Observation>) {
        for record in kept {
            let mut event = self.teller.tell(record);
            event.set_attribute("log_name", self.source.file_stem.as_deref());
            event.set_attribute("previous", self.source.previous.then_some(true));
            out.push(Observation::Event(Box::new(event)));
        }
    }
}
