//! Logs that a person downloaded as text from Grafana's Explore: what all lines have in common, then a line of the log each,
//! `time TAB text`, in the order of the screen, which is the newest first unless somebody turned it round.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::contract::{
    FileHead, FormatOutput, LabelNames, Labels, LogSource, Options, TextFormat, TextReader,
    numbered,
};
use crate::logs::LogStream;

/// How the download is recognised and read.
pub(crate) const FORMATS: &[TextFormat] = &[TextFormat {
    words: "logs downloaded from Grafana",
    of_pods: true,
    first: false,
    is,
    reader: |source, options| Box::new(Download::new(source, options)),
}];

/// The heading that tells such a file.
const COMMON: &str = "Common labels: ";

/// Lines that stand above the log.
const HEADINGS: [&str; 4] = [COMMON, "Total: ", "Line limit: ", "Total bytes processed: "];

fn is(head: &FileHead<'_>) -> bool {
    let mut headings = head
        .lines(HEADINGS.len())
        .take_while(|line| is_heading(line));
    headings.any(|line| line.starts_with(COMMON))
}

fn is_heading(line: &str) -> bool {
    HEADINGS.iter().any(|heading| line.starts_with(heading))
}

/// `{"namespace":"research","pod":"x"}`
fn labels(text: &str) -> Labels {
    let fields: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let texts = fields.into_iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text)),
        _ => None,
    });
    texts.collect()
}

/// The lines of a download, until all are there: only then it is known in which order they are.
struct Download {
    source: LogSource,
    options: Options,
    lines: Vec<(String, u64)>,
    bytes: usize,
}

impl Download {
    fn new(source: &Arc<LogSource>, options: &Options) -> Self {
        Self {
            source: LogSource::clone(source),
            options: options.clone(),
            lines: Vec::new(),
            bytes: 0,
        }
    }

    fn line(&mut self, text: &str, number: u64) {
        if let Some(common) = text.strip_prefix(COMMON) {
            let whose = LabelNames::default().entities(&labels(common.trim()));
            // Where the file lies may say more than the labels do.
            if self.source.entities.pod.is_none() {
                self.source.entities = whose;
            }
            return;
        }
        if text.trim().is_empty() || self.lines.is_empty() && is_heading(text) {
            return;
        }
        self.bytes += text.len();
        // Of a record of many lines the first bears the time.
        match self.lines.last_mut() {
            Some((record, _)) if time(text).is_none() => {
                record.push('\n');
                record.push_str(text);
            }
            _ => self.lines.push((text.to_owned(), number)),
        }
    }

    /// Whether later lines are earlier. Times of one form are in the order of their letters.
    fn is_newest_first(&self) -> bool {
        let pairs = || self.lines.iter().zip(self.lines.iter().skip(1));
        let falling = pairs().filter(|(before, after)| time(&before.0) > time(&after.0));
        let rising = pairs().filter(|(before, after)| time(&before.0) < time(&after.0));
        falling.count() > rising.count()
    }
}

/// `2026-11-21T15:20:27.000Z`, before a tab.
fn time(line: &str) -> Option<&str> {
    let (time, _) = line.split_once('\t')?;
    let is_time = time.starts_with("20") && time.as_bytes().get(10) == Some(&b'T');
    is_time.then_some(time)
}

impl TextReader for Download {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            if self.bytes > self.options.max_document_bytes {
                found.left_out += 1;
                continue;
            }
            let text = String::from_utf8_lossy(line);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            self.line(&text, number);
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        if self.is_newest_first() {
            self.lines.reverse();
        }
        let source = Arc::new(std::mem::take(&mut self.source));
        let options = &self.options;
        let mut stream = LogStream::new(source, options.log_lines, options.max_line_bytes);
        for (record, number) in std::mem::take(&mut self.lines) {
            // Each line of a record is a line of the log.
            for (number, line) in (number..).zip(record.lines()) {
                match stream.line(line, number, &mut found.observations) {
                    Ok(()) => found.records += 1,
                    Err(why) => found.rejected.push((number, why)),
                }
            }
        }
        stream.finish(&mut found.observations);
        found.left_out += stream.left_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::observation::Observation;

    const HEAD: &str = "Total: 4 lines\nCommon labels: {\"namespace\":\"research\",\"pod\":\"lm-0-abcde\",\"container\":\"trainer\"}\n\n\n";

    fn events(text: &str) -> Vec<Event> {
        let source = Arc::new(LogSource::default());
        let mut reader = Download::new(&source, &Options::default());
        let mut found = FormatOutput::default();
        reader.lines(text.as_bytes(), 1, &mut found);
        reader.finish(&mut found);
        let events = found.observations.into_iter().filter_map(|one| match one {
            Observation::Event(event) => Some(*event),
            _ => None,
        });
        events.collect()
    }

    #[test]
    fn lines_are_read_as_they_were_written_whichever_stands_first() {
        let lines = [
            "2026-11-21T15:20:20.000Z\tstep 1",
            "2026-11-21T15:20:27.000Z\tTraceback (most recent call last):",
            "2026-11-21T15:20:27.000Z\t  File \"train.py\", line 1, in <module>",
            "2026-11-21T15:20:27.000Z\tKeyError: 'x'",
        ];
        let rising = lines.join("\n");
        let falling: Vec<&str> = lines.iter().rev().copied().collect();
        for text in [rising, falling.join("\n")] {
            let events = events(&format!("{HEAD}{text}\n"));
            let last = events.last().unwrap();
            assert_eq!(last.entities.pod.as_deref(), Some("lm-0-abcde"));
            assert_eq!(last.entities.namespace.as_deref(), Some("research"));
            let message = last.message.as_deref().unwrap_or_default();
            assert!(
                message.starts_with("Traceback") && message.ends_with("KeyError: 'x'"),
                "{message}"
            );
        }
    }

    #[test]
    fn other_texts_are_none() {
        for (text, want) in [
            (HEAD, true),
            ("Common labels: {}\n2026-11-21T15:20:20Z\tx\n", true),
            ("Total: 4 lines\nx\n", false),
            ("step 1\nCommon labels: {}\n", false),
        ] {
            let head = FileHead {
                bytes: text.as_bytes(),
                text,
            };
            assert_eq!(is(&head), want, "{text}");
        }
    }
}
