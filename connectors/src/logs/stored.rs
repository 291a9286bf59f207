//! Lines that a log store kept one by one, each with its time and its labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::Emitter;
use super::join::LineJoiner;
use super::line::interpret;
use super::timestamps::PlacedLine;
use super::wrapper;
use crate::contract::RecordedLine;
use crate::event::Entities;
use crate::observation::Observation;

impl RecordedLine {
    fn identity(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        let Entities {
            namespace,
            pod,
            container,
            ..
        } = &self.entities;
        if pod.is_some() {
            return format!("{}/{}/{}", part(namespace), part(pod), part(container));
        }
        self.stream.clone()
    }
}

/// Tells lines as `log.line` events, those of one traceback as one. They may
/// come in any order, also newest first.
pub(crate) fn emit(lines: Vec<RecordedLine>, file: &Arc<str>, out: &mut Vec<Observation>) {
    let mut streams: BTreeMap<String, Vec<RecordedLine>> = BTreeMap::new();
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let (mut forward, mut backward) = (0, 0);
    for line in lines {
        let identity = line.identity();
        if let Some(before) = last.insert(identity.clone(), line.time.lo) {
            forward += i32::from(before < line.time.lo);
            backward += i32::from(before > line.time.lo);
        }
        streams.entry(identity).or_default().push(line);
    }
    for (identity, mut lines) in streams {
        if backward > forward {
            lines.reverse();
        }
        lines.sort_by_key(|line| line.time);
        stream(identity, &lines, file, out);
    }
}

fn stream(identity: String, lines: &[RecordedLine], file: &Arc<str>, out: &mut Vec<Observation>) {
    let Some(first) = lines.first() else {
        return;
    };
    let mut emitter = Emitter::new(
        identity,
        first.source_kind,
        Entities::default(),
        Arc::clone(file),
    );
    let mut joiner = LineJoiner::default();
    let mut joined = Vec::new();
    for (number, stored) in (0..).zip(lines) {
        let content = wrapper::content(stored.text.trim_end());
        if content.trim().is_empty() {
            continue;
        }
        let placed = PlacedLine {
            line: interpret(&content, stored.text.clone(), number),
            stamp: stored.time,
            inferred: None,
        };
        joiner.push(placed, &mut joined);
    }
    joiner.finish(&mut joined);
    for mut record in joined {
        let Some(stored) = usize::try_from(record.first.line.number)
            .ok()
            .and_then(|number| lines.get(number))
        else {
            continue;
        };
        emitter.count(&mut record);
        let mut event = emitter.emit(record);
        event.entities = stored.entities.clone();
        event.severity = stored.severity.clone().or(event.severity);
        event.origin.line = stored.line;
        for (key, value) in &stored.attributes {
            event.set_attribute(key, Some(value.clone()));
        }
        out.push(Observation::Event(Box::new(event)));
    }
}
