//! Personalized Service Health: troubles of Google's own services, one entry
//! each time that something about one of them changes.

use super::entry::Entry;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::machine::{Cloud, Machine};
use crate::observation::{Observation, Rejection};
use crate::place::set_places;

/// Whether an entry's payload is of this kind.
pub(super) fn is_notice(payload: &Fields) -> bool {
    field::text(payload, &["@type"])
        .is_some_and(|kind| kind.ends_with("google.cloud.servicehealth.logging.v1.EventLog"))
}

pub(super) fn decode(
    entry: &Entry<'_>,
    payload: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let text = |key: &str| field::text(payload, &[key]).unwrap_or_default();
    let state = text("detailedState");
    let irrelevant = text("category") != "INCIDENT"
        || text("relevance") == "NOT_IMPACTED"
        || matches!(state, "FALSE_POSITIVE" | "MERGED");
    if irrelevant {
        return Err(Rejection::Irrelevant(
            "a notice of Google Cloud about nothing of this project".to_owned(),
        ));
    }
    let over = text("state") == "CLOSED";
    let (begun, ended) = (
        field::time(payload, &["startTime"]),
        field::time(payload, &["endTime"]).filter(|_| over),
    );
    let id = entry.of_resource("event_id").unwrap_or(entry.event_id());
    // A trouble lasts, from its start to its end: when Google last wrote of it does not matter.
    let started = begun
        .or((!over).then_some(entry.time))
        .map(|at| (at, Phase::Started));
    let closed = over.then(|| (ended.unwrap_or(entry.time), Phase::Ended));
    for (at, phase) in started.into_iter().chain(closed) {
        let what = HostEvent {
            name: "servicehealth.INCIDENT",
            phase,
            planned: Some(false),
            event_id: id,
            not_before: begun.map(|read| read.stamp),
            not_after: ended.map(|read| read.stamp),
        };
        let mut event = facts.host_event(at, &Machine::of(Cloud::Gcp), what);
        if phase == Phase::Started {
            let end = ended.map(|read| read.stamp);
            event.end = end.filter(|end| end.lo > at.stamp.lo);
        }
        entry.place(&mut event);
        // It is about all that is listed, and its own location says `global`.
        event.entities.zone = None;
        event.reason = Some(state.to_owned()).filter(|state| !state.is_empty());
        let regions = listed(text("impactedLocations"));
        set_text(&mut event, "region", Some(&regions.join(", ")));
        let services = listed(text("impactedProducts")).join(", ");
        set_text(&mut event, "service", Some(&services));
        set_text(&mut event, "relevance", Some(text("relevance")));
        set_places(&mut event, regions.into_iter());
        set_message(
            &mut event,
            &format!("{}\n{}", text("title"), text("description")),
        );
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}

/// The names of a list that stands as text: `['us-central1', 'us-west1']`, with
/// either kind of quotes.
fn listed(text: &str) -> Vec<&str> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    let quoted = |part: &'_ str| -> bool { !part.trim_matches([' ', ',']).is_empty() };
    match inner.chars().find(|one| matches!(one, '\'' | '"')) {
        // A product's name may hold a comma.
        Some(quote) => inner.split(quote).filter(|part| quoted(part)).collect(),
        None => inner
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn lists_that_stand_as_text_are_taken_apart() {
        for (text, names) in [
            (
                "['us-central1', 'us-west1']",
                &["us-central1", "us-west1"][..],
            ),
            (
                r#"["Google Compute Engine", "Virtual Private Cloud (VPC)"]"#,
                &["Google Compute Engine", "Virtual Private Cloud (VPC)"],
            ),
            ("[us-central1,us-west1]", &["us-central1", "us-west1"]),
            ("[]", &[]),
            ("", &[]),
        ] {
            assert_eq!(listed(text), names);
        }
    }
}
