//! Scheduled Events: what the machine itself is told to expect.

use super::set_initiator;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::machine::{Cloud, Machine, scale_set_host};
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;
use crate::time::{SECOND, Stamp};

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let text = |key: &str| field::text(fields, &[key]).unwrap_or_default();
    let not_before = field::time(fields, &["NotBefore"]);
    let lasts = field::int(fields, &["DurationInSeconds"]).filter(|seconds| *seconds > 0);
    let started = text("EventStatus") == "Started";
    // One that has started has no time any more.
    let at = not_before.unwrap_or(ParsedTime {
        stamp: Stamp::OPEN,
        inferred: Some("none"),
    });
    let kind = text("EventType");
    let what = HostEvent {
        name: kind,
        phase: if started {
            Phase::Started
        } else {
            Phase::Announced
        },
        planned: Some(kind != "Preempt"),
        event_id: text("EventId"),
        not_before: not_before.map(|read| read.stamp),
        not_after: not_before.zip(lasts).map(|(read, seconds)| {
            let by = seconds.clamp(0, 1 << 31) * SECOND;
            read.stamp.shift(by)
        }),
    };
    let facts = FactBuilder::new(SourceKind::Azure, &record);
    let mut named = 0;
    for name in field::words(fields, &["Resources"]) {
        let mut event = facts.host_event(at, &machine(name), what);
        let by = text("EventSource");
        event.reason = (!by.is_empty()).then(|| by.to_owned());
        set_initiator(&mut event, by);
        set_message(&mut event, text("Description"));
        set_text(&mut event, "resource", Some(name));
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
        named += 1;
    }
    if named == 0 {
        return Err(Rejection::Irrelevant(
            "a scheduled event without a machine".to_owned(),
        ));
    }
    Ok(())
}

/// Machines have their names here, those of scale sets `<set>_<number>`.
fn machine(name: &str) -> Machine {
    let of_set = name
        .rsplit_once('_')
        .filter(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    let host = of_set.map(|(set, number)| scale_set_host(set, number));
    Machine {
        group: of_set.map(|(set, _)| set.to_owned()),
        name: Some(host.unwrap_or_else(|| name.to_ascii_lowercase())),
        ..Machine::of(Cloud::Azure)
    }
}
