//! A log's lines, in order, to events.

use std::sync::Arc;

use super::clock::Clock;
use super::environment::StreamEnvironment;
use super::event::Emitter;
use super::glued;
use super::join::{JoinedRecord, LineJoiner};
use super::line::{Line, interpret_in};
use super::line_limit::LineLimiter;
use super::prefix;
use super::progress_bar;
use super::timestamps::LinePlacer;
use super::tool::{self, AttributedLine, ToolLayout};
use super::wrapper::{self, UnwrappedLine};
use crate::contract::LogLines;
use crate::contract::LogSource;
use crate::event::{Entities, SourceKind};
use crate::observation::Observation;

/// The state between two lines of one log.
#[derive(Debug)]
pub struct LogStream {
    source: Arc<LogSource>,
    max_line_bytes: usize,
    cut: Option<PartialLine>,
    placing: LinePlacer,
    joiner: LineJoiner,
    emitter: Emitter,
    keep: LineLimiter,
    tool: ToolLayout,
    environment: StreamEnvironment,
    /// Every line bears its task's number, as `srun -l` writes it.
    numbered: bool,
    /// Lines that look so, until it is known whether they are.
    held: Vec<(String, u64)>,
}

/// Lines that are held back until a habit of the stream shows.
const HELD: usize = 2_000;

/// The start of a line that the runtime wrote in pieces.
#[derive(Debug)]
struct PartialLine {
    time: Option<Clock>,
    number: u64,
    content: String,
    raw: String,
}

impl LogStream {
    /// The start of the log of `source`.
    #[must_use]
    pub fn new(source: Arc<LogSource>, keep: LogLines, max_line_bytes: usize) -> Self {
        let file = Arc::clone(&source.file);
        let mut emitter = Emitter::new(
            source.identity(),
            SourceKind::ContainerLog,
            source.entities.clone(),
            file,
        );
        emitter.previous = source.previous;
        Self {
            source,
            max_line_bytes,
            cut: None,
            placing: LinePlacer::default(),
            joiner: LineJoiner::default(),
            emitter,
            keep: LineLimiter::new(keep),
            tool: ToolLayout::default(),
            environment: StreamEnvironment::default(),
            numbered: false,
            held: Vec::new(),
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
        let mut drawn = String::new();
        let mut line = line;
        if line.len() > limit && memchr::memchr(b'\r', line.as_bytes()).is_some() {
            drawn = progress_bar::states(line).join("\r");
        }
        if !drawn.is_empty() {
            line = &drawn;
        }
        if line.len() > limit {
            return Err(format!("a line of more than {limit} bytes"));
        }
        if self.cut.is_none() && self.may_be_labelled(line) {
            self.held.push((line.to_owned(), number));
            let known = self.knows_habit();
            if known || self.held.len() >= HELD {
                self.release(out);
            }
            return Ok(());
        }
        self.release(out);
        self.one(line, number, out);
        Ok(())
    }

    /// Takes what a journal kept of the program: `text`, got at the time of `clock` from a process. `raw` is the line as it
    /// stands.
    pub(crate) fn journalled(
        &mut self,
        text: &str,
        (clock, process): (Option<Clock>, &str),
        (raw, number): (&str, u64),
        out: &mut Vec<Observation>,
    ) {
        let states = match memchr::memchr(b'\r', text.as_bytes()) {
            Some(_) => progress_bar::states(text),
            None => vec![text],
        };
        for state in states {
            let line = interpret_in(state, raw.to_owned(), number, false);
            self.whole(line.journalled(clock, process), out);
        }
    }

    /// Whether the line may bear a label that only its neighbours can confirm.
    fn may_be_labelled(&self, line: &str) -> bool {
        let first = line.bytes().next();
        match first {
            Some(b'a'..=b'z') => !self.tool.stern && tool::may_be_stern(line),
            Some(b' ' | b'0'..=b'9') if !self.numbered => {
                prefix::task(&wrapper::unwrap(line).content).is_some()
            }
            _ => false,
        }
    }

    /// A list counts up; tasks and pods come again.
    fn knows_habit(&mut self) -> bool {
        if self.held.len() < 3 {
            return false;
        }
        let label = |line: &str| match prefix::task(&wrapper::unwrap(line).content) {
            Some((task, _)) => task.to_string(),
            None => line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "),
        };
        let Some((last, before)) = self.held.split_last() else {
            return false;
        };
        let last = label(&last.0);
        let again = before.iter().any(|(line, _)| label(line) == last);
        if again {
            let numbered = last.bytes().all(|b| b.is_ascii_digit());
            self.numbered |= numbered;
            self.tool.stern |= !numbered;
        }
        again
    }

    fn release(&mut self, out: &mut Vec<Observation>) {
        for (line, number) in std::mem::take(&mut self.held) {
            self.one(&line, number, out);
        }
    }

    fn one(&mut self, line: &str, number: u64, out: &mut Vec<Observation>) {
        if self.cut.is_none()
            && let Some(AttributedLine {
                whose,
                time,
                content,
            }) = self.tool.take(line)
        {
            let mut unwrapped = wrapper::unwrap(&content);
            unwrapped.time = unwrapped.time.or(time.map(Clock::Full));
            self.states(&unwrapped, line, number, Some(&whose), out);
            return;
        }
        let unwrapped = wrapper::unwrap(line);
        if self.cut.is_none() && !unwrapped.partial {
            self.states(&unwrapped, line, number, None, out);
            return;
        }
        let cut = self.cut.get_or_insert_with(|| PartialLine {
            time: unwrapped.time,
            number,
            content: String::new(),
            raw: String::new(),
        });
        if cut.content.len() + line.len() <= self.max_line_bytes {
            cut.content.push_str(&unwrapped.content);
            cut.raw.push_str(line);
            cut.raw.push('\n');
        }
        if !unwrapped.partial {
            self.end_cut(out);
        }
    }

    /// A line, or what a bar that was drawn over on it leaves.
    fn states(
        &mut self,
        unwrapped: &UnwrappedLine<'_>,
        raw: &str,
        number: u64,
        whose: Option<&Entities>,
        out: &mut Vec<Observation>,
    ) {
        let drawn_over = memchr::memchr(b'\r', unwrapped.content.as_bytes()).is_some();
        let states = if drawn_over {
            progress_bar::states(&unwrapped.content)
        } else {
            vec![&*unwrapped.content]
        };
        let parts = states.into_iter().flat_map(glued::parts);
        for (index, state) in parts.enumerate() {
            let raw = if drawn_over || index > 0 { state } else { raw };
            let line = interpret_in(state, raw.to_owned(), number, self.numbered);
            let line = line.with_time(unwrapped.time);
            let line = match whose {
                Some(whose) => line.of(whose.clone()),
                None => line,
            };
            self.whole(line, out);
        }
    }

    /// There are no more lines.
    pub fn finish(&mut self, out: &mut Vec<Observation>) {
        self.release(out);
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
        self.emit(kept, out);
    }

    /// How many lines were left out because the log is long.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.keep.left_out()
    }

    fn end_cut(&mut self, out: &mut Vec<Observation>) {
        if let Some(cut) = self.cut.take() {
            let unwrapped = UnwrappedLine {
                time: cut.time,
                content: cut.content.into(),
                partial: false,
            };
            self.states(&unwrapped, cut.raw.trim_end(), cut.number, None, out);
        }
    }

    fn whole(&mut self, mut line: Line, out: &mut Vec<Observation>) {
        if line.message.trim().is_empty() {
            return;
        }
        self.environment.look(&line.message);
        if line.speaker.prefix.is_empty() {
            line.rank = line.rank.or(self.environment.rank());
        }
        let mut placed = Vec::new();
        self.placing.push(line, &mut placed);
        let mut joined = Vec::new();
        for line in placed {
            self.joiner.push(line, &mut joined);
        }
        let mut kept = Vec::new();
        self.choose(joined, &mut kept);
        self.emit(kept, out);
    }

    fn choose(&mut self, joined: Vec<JoinedRecord>, kept: &mut Vec<JoinedRecord>) {
        for mut record in joined {
            // Also what is left out is counted, so that ids do not depend on it.
            self.emitter.count(&mut record);
            self.keep.push(record, kept);
        }
    }

    fn emit(&self, kept: Vec<JoinedRecord>, out: &mut Vec<Observation>) {
        for record in kept {
            let mut event = self.emitter.emit(record);
            event.set_attribute("log_name", self.source.file_stem.as_deref());
            event.set_attribute("previous", self.source.previous.then_some(true));
            out.push(Observation::Event(Box::new(event)));
        }
    }
}
