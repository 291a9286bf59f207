//! Stored lines to events.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contract::{Span, StoredLine};
use super::{carried, events, machines};
use crate::contract::{LabelNames, Labels};
use crate::event::SourceKind;
use crate::logs::{Emitter, LineJoiner, PlacedLine, interpret, unwrapped};
use crate::observation::Observation;
use crate::time::Nanos;

/// How lines are told.
#[derive(Clone, Debug)]
pub struct EmitOptions<'a> {
    /// The kind of store.
    pub source_kind: SourceKind,
    /// The file, or the store's address.
    pub file: Arc<str>,
    /// The names of labels.
    pub names: &'a LabelNames,
    /// When they were obtained; `None` for recorded input.
    pub observed: Option<Nanos>,
    /// Where all lines are there, in order: only these are joined to one record.
    /// `None` where there are no gaps.
    pub whole: Option<&'a [Span]>,
}

/// Tells lines as events, in order of their streams and times. Lines of one
/// stream may come in several pieces and in any order. What machines say of
/// themselves is told as files of it are.
pub fn emit(mut lines: Vec<StoredLine>, how: &EmitOptions<'_>, out: &mut Vec<Observation>) {
    lines.sort_by(|a, b| {
        (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
    });
    let of_events: Vec<StoredLine> = lines
        .extract_if(.., |line| events::is_of_agent(line, how.names))
        .collect();
    events::emit(&of_events, how.source_kind, how.names, &how.file, out);
    let mut machines = machines::MachineLines::new(how);
    lines.retain(|line| !carried::take(line, how, out) && !machines.push(line, None, out));
    machines.finish(out);
    let mut streams: BTreeMap<String, Vec<(StoredLine, Labels)>> = BTreeMap::new();
    for line in lines {
        let all = line.all_labels();
        let identity = how.names.identity(&all);
        streams.entry(identity).or_default().push((line, all));
    }
    // Streams of one log tie by their labels, for answers list them in any order.
    for (identity, lines) in streams {
        stream(identity, &lines, how, out);
    }
}

fn stream(
    identity: String,
    lines: &[(StoredLine, Labels)],
    how: &EmitOptions<'_>,
    out: &mut Vec<Observation>,
) {
    let mut emitter = Emitter::new(
        identity,
        how.source_kind,
        Default::default(),
        Arc::clone(&how.file),
    );
    let mut joiner = LineJoiner::default();
    let mut joined = Vec::new();
    let mut before = None;
    for (number, (line, _)) in (0..).zip(lines) {
        let content = unwrapped(&line.text);
        if content.trim().is_empty() {
            continue;
        }
        // What lies on the other side of a gap does not belong to it.
        let part = how.part_of(line.stamp.lo);
        if before.is_some_and(|before| before != part) || part.is_none() && how.whole.is_some() {
            joiner.finish(&mut joined);
        }
        before = Some(part);
        joiner.push(
            PlacedLine {
                line: interpret(&content, line.text.clone(), number),
                stamp: line.stamp,
                inferred: None,
            },
            &mut joined,
        );
    }
    joiner.finish(&mut joined);
    for mut record in joined {
        let found = usize::try_from(record.first.line.number);
        let Some((line, labels)) = found.ok().and_then(|number| lines.get(number)) else {
            continue;
        };
        emitter.count(&mut record);
        let mut event = emitter.emit(record);
        event.observed = how.observed;
        event.entities = how.names.entities(labels);
        event.severity = how.names.level(labels).or(event.severity);
        event.rank = event.rank.or_else(|| how.names.rank(labels));
        event.origin.line = line.number;
        let others = how.names.others(labels);
        event.set_attribute("labels", (!others.is_empty()).then_some(others));
        out.push(Observation::Event(Box::new(event)));
    }
}

impl EmitOptions<'_> {
    /// The number of the part without gaps that a time lies in.
    fn part_of(&self, at: Nanos) -> Option<usize> {
        self.whole?.iter().position(|span| span.holds(at))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::Event;
    use crate::time::Stamp;

    fn line(at: Nanos, text: &str) -> StoredLine {
        let labels = [("namespace", "n"), ("pod", "p"), ("container", "c")];
        StoredLine {
            stamp: Stamp::exact(at),
            text: text.to_owned(),
            labels: Arc::new(
                labels
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
            ),
            metadata: Labels::new(),
            id: None,
            order: 0,
            number: 0,
        }
    }

    /// What lines of a Loki are told as.
    pub(crate) fn emitted(lines: &[StoredLine], whole: Option<&[Span]>) -> Vec<Event> {
        let names = LabelNames::default();
        let how = EmitOptions {
            source_kind: SourceKind::Loki,
            file: "x".into(),
            names: &names,
            observed: None,
            whole,
        };
        let mut out = Vec::new();
        emit(lines.to_vec(), &how, &mut out);
        out.into_iter()
            .map(|one| match one {
                Observation::Event(event) => *event,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_traceback_is_one_record_and_none_reaches_over_a_gap() {
        let lines = [
            line(10, "Traceback (most recent call last):"),
            line(11, "  File \"train.py\", line 3, in <module>"),
            line(12, "ValueError: no"),
        ];
        let whole = emitted(&lines, None);
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].attribute("exception"), Some("ValueError"));
        // The same lines, of which only the last two stand together.
        let gap = emitted(&lines, Some(&[Span { from: 11, to: 13 }]));
        assert_eq!(gap.len(), 3);
        // In any order, the same.
        let mut turned = lines.to_vec();
        turned.reverse();
        assert_eq!(emitted(&turned, None), whole);
    }
}
