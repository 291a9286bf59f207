//! Lines that repeat: the first ones are told one by one, the rest counted.
//!
//! A failing disk writes the same line a million times, only its numbers
//! differ. Lines that are equal but for their digits are a burst as long as
//! they come within a minute of each other.

use std::collections::HashMap;

use crate::event::Event;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// So many lines of a burst are told one by one.
const SINGLE: u64 = 40;
/// A longer silence ends a burst.
const PAUSE: Nanos = 60 * SECOND;
/// Bursts that are open at once.
const MAX_OPEN: usize = 4_096;

/// The bursts of one log.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    open: HashMap<String, Burst>,
}

#[derive(Debug)]
struct Burst {
    lines: u64,
    last: Nanos,
    /// The event that counts the lines after the single ones.
    counting: Option<Box<Event>>,
}

impl Bursts {
    /// Takes the next event; what is to be told now goes to `out`.
    pub(super) fn push(&mut self, event: Event, out: &mut Vec<Observation>) {
        if self.open.len() >= MAX_OPEN {
            self.finish(out);
        }
        let at = event.time.lo;
        let key = key(&event);
        if let Some(burst) = self.open.get_mut(&key) {
            // Times may step back a little where several hosts write one log.
            if at.saturating_sub(burst.last).saturating_abs() <= PAUSE {
                burst.lines += 1;
                burst.last = burst.last.max(at);
                match &mut burst.counting {
                    Some(counting) => {
                        counting.count = Some(counting.count.unwrap_or(1) + 1);
                        counting.end = Some(event.time);
                    }
                    None if burst.lines > SINGLE => {
                        burst.counting = Some(Box::new(event));
                    }
                    None => out.push(Observation::Event(Box::new(event))),
                }
                return;
            }
            if let Some(done) = self.open.remove(&key).and_then(|burst| burst.counting) {
                out.push(Observation::Event(done));
            }
        }
        self.open.insert(
            key,
            Burst {
                lines: 1,
                last: at,
                counting: None,
            },
        );
        out.push(Observation::Event(Box::new(event)));
    }

    /// There are no more.
    pub(super) fn finish(&mut self, out: &mut Vec<Observation>) {
        let mut counting: Vec<_> = self
            .open
            .drain()
            .filter_map(|(_, burst)| burst.counting)
            .collect();
        counting.sort_by_key(|event| (event.origin.line, event.id));
        out.extend(counting.into_iter().map(Observation::Event));
    }
}

fn key(event: &Event) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    let mut key = format!(
        "{} {} {} ",
        event.fact,
        part(&event.entities.node),
        event.attribute("program").unwrap_or_default()
    );
    let mut digits = false;
    for c in event.message.as_deref().unwrap_or_default().chars() {
        let digit = c.is_ascii_hexdigit() && (digits || c.is_ascii_digit());
        if !digit {
            key.push(c);
        } else if !digits {
            key.push('#');
        }
        digits = digit;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventId, SourceKind};
    use crate::time::Stamp;

    #[test]
    fn long_bursts_are_counted() {
        let mut bursts = Bursts::default();
        let mut out = Vec::new();
        let mut say = |n: i64, at: i64, out: &mut Vec<Observation>| {
            let id = EventId::of(&[&n.to_string()]);
            let time = Stamp::second(at * SECOND);
            let mut event = Event::new(id, "node.log", time, SourceKind::NodeLog);
            event.message = Some(format!("I/O error, dev sda, sector {n}"));
            bursts.push(event, out);
        };
        for n in 0..1_000 {
            say(n, n / 10, &mut out);
        }
        assert_eq!(out.len(), 40);
        say(1_000, 500, &mut out);
        bursts.finish(&mut out);
        assert_eq!(out.len(), 42);
        let counted = out
            .iter()
            .filter_map(|one| match one {
                Observation::Event(event) => event.count,
                _ => None,
            })
            .sum::<u64>();
        assert_eq!(counted, 960);
    }
}
