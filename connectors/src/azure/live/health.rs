//! Resource Health: what state each machine was in, and since when.

use serde_json::Map;

use super::arm::{ListOutcome, path};
use super::cover::{Resource, ResourceTally};
use super::query::{SubscriptionQuery, each};
use crate::coverage::Coverage;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// How long Azure keeps it.
const RETENTION: Nanos = 30 * 86_400 * SECOND;

const VERSION: (&str, &str) = ("api-version", "2020-05-01");

/// A machine's history is not longer than this.
const PAGES: usize = 5;

/// The permission that it takes.
pub(super) const NEEDS: &str = "Microsoft.ResourceHealth/availabilityStatuses/read";

const HEALTH: Resource = Resource {
    name: "health",
    would_have_shown: "whether Azure took the machine or its host for broken, and since when",
    needs: NEEDS,
    retention_s: Some(RETENTION / SECOND),
};

/// The path of the first page about a machine or a subscription.
pub(super) fn first_page(of: &str) -> String {
    path(
        &format!("{of}/providers/Microsoft.ResourceHealth/availabilityStatuses"),
        &[VERSION],
    )
}

/// The states that machines were in.
pub(super) async fn of_machines(
    query: &SubscriptionQuery<'_>,
) -> (Vec<Observation>, Vec<Coverage>) {
    let (span, now) = (query.span, query.fetch_request.now);
    let oldest = now.saturating_sub(RETENTION);
    let mut tally = ResourceTally::default();
    let mut out = Vec::new();
    let mut got_from = span.from.max(oldest);
    if span.to <= oldest {
        tally.expired = true;
        let note = "Azure keeps the health of machines for 30 days, and this is older";
        tally.notes.push(note.to_owned());
    } else if query.wanted.all {
        let mut records = Vec::new();
        let all = format!("subscriptions/{}", query.subscription);
        let walked = walk(query, &all, query.options.max_pages, &mut records).await;
        tally.walked(walked, HEALTH);
        // A list of all has only their present.
        got_from = span.to;
        tally
            .notes
            .push("the present state of each machine".to_owned());
        take(query, &records, &mut tally, &mut out);
    } else {
        let ids = query.wanted.ids_in(query.subscription);
        let requested = each(&ids, query.options, |id| async move {
            let mut records = Vec::new();
            let mut walked = walk(query, id, PAGES, &mut records).await;
            let failure = walked.failure.take();
            ((records, walked), failure)
        });
        let requested = Box::pin(requested).await;
        let mut gone = 0;
        for ((records, mut walked), failure) in requested.answers {
            if failure.as_ref().and_then(crate::http::HttpError::code) == Some(404) {
                gone += 1;
                tally.came.answered = true;
            } else {
                walked.failure = failure;
            }
            tally.walked(walked, HEALTH);
            take(query, &records, &mut tally, &mut out);
        }
        if gone > 0 {
            tally.notes.push(format!(
                "of {gone} machines there is none: they are gone, or not of a kind that has it"
            ));
        }
        for why in requested.left_out {
            tally.cut(why);
        }
    }
    let row = tally.row(
        &query.options.name,
        query.subscription,
        HEALTH,
        Some((span.from, span.to)),
        Some((got_from, span.to)),
    );
    (out, vec![row])
}

async fn walk(
    query: &SubscriptionQuery<'_>,
    of: &str,
    pages: usize,
    records: &mut Vec<Map<String, serde_json::Value>>,
) -> ListOutcome {
    let deadline = query.fetch_request.deadline;
    let read = query.arm.walk(first_page(of), pages, deadline, |fields| {
        records.push(fields);
        true
    });
    read.await
}

/// Takes the states that touch the time of the question.
fn take(
    query: &SubscriptionQuery<'_>,
    records: &[Map<String, serde_json::Value>],
    tally: &mut ResourceTally,
    out: &mut Vec<Observation>,
) {
    let span = query.span;
    for fields in records {
        match query.decode(fields, "value") {
            Ok(emitted) => {
                let touches = |one: &Observation| match one {
                    Observation::Event(event) => {
                        let end = event.end.map_or(event.time.hi, |end| end.hi);
                        event.time.lo <= span.to && end >= span.from
                    }
                    _ => true,
                };
                let before = out.len();
                out.extend(emitted.into_iter().filter(touches));
                tally.rows += u64::from(out.len() > before);
            }
            Err(why) => tally.rejected(why),
        }
    }
}
