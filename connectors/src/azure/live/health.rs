//! Resource Health: what state each machine was in, and since when.

use serde_json::Map;

use super::arm::{Walked, path};
use super::asking::{Asking, each};
use super::cover::{Resource, Tally};
use crate::coverage::Coverage;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// How long Azure keeps it.
const KEPT: Nanos = 30 * 86_400 * SECOND;

const VERSION: (&str, &str) = ("api-version", "2020-05-01");

/// A machine's history is not longer than this.
const PAGES: usize = 5;

/// The permission that it takes.
pub(super) const NEEDS: &str = "Microsoft.ResourceHealth/availabilityStatuses/read";

const HEALTH: Resource = Resource {
    name: "health",
    would_have_shown: "whether Azure took the machine or its host for broken, and since when",
    needs: NEEDS,
    retention_s: Some(KEPT / SECOND),
};

/// The path of the first page about a machine or a subscription.
pub(super) fn first_page(of: &str) -> String {
    path(
        &format!("{of}/providers/Microsoft.ResourceHealth/availabilityStatuses"),
        &[VERSION],
    )
}

/// The states that machines were in.
pub(super) async fn of_machines(asking: &Asking<'_>) -> (Vec<Observation>, Vec<Coverage>) {
    let (span, now) = (asking.span, asking.ask.now);
    let oldest = now.saturating_sub(KEPT);
    let mut tally = Tally::default();
    let mut out = Vec::new();
    let mut got_from = span.from.max(oldest);
    if span.to <= oldest {
        tally.expired = true;
        let note = "Azure keeps the health of machines for 30 days, and this is older";
        tally.notes.push(note.to_owned());
    } else if asking.wanted.all {
        let mut records = Vec::new();
        let all = format!("subscriptions/{}", asking.subscription);
        let walked = walk(asking, &all, asking.options.max_pages, &mut records).await;
        tally.walked(walked, HEALTH);
        // A list of all has only their present.
        got_from = span.to;
        tally
            .notes
            .push("the present state of each machine".to_owned());
        take(asking, &records, &mut tally, &mut out);
    } else {
        let ids = asking.wanted.ids_in(asking.subscription);
        let asked = each(&ids, asking.options, |id| async move {
            let mut records = Vec::new();
            let mut walked = walk(asking, id, PAGES, &mut records).await;
            let trouble = walked.trouble.take();
            ((records, walked), trouble)
        });
        let asked = Box::pin(asked).await;
        let mut gone = 0;
        for ((records, mut walked), trouble) in asked.answers {
            if trouble.as_ref().and_then(crate::http::Trouble::code) == Some(404) {
                gone += 1;
                tally.answered = true;
            } else {
                walked.trouble = trouble;
            }
            tally.walked(walked, HEALTH);
            take(asking, &records, &mut tally, &mut out);
        }
        if gone > 0 {
            tally.notes.push(format!(
                "of {gone} machines there is none: they are gone, or not of a kind that has it"
            ));
        }
        for why in asked.left_out {
            tally.cut(why);
        }
    }
    let row = tally.row(
        &asking.options.name,
        asking.subscription,
        HEALTH,
        Some((span.from, span.to)),
        Some((got_from, span.to)),
    );
    (out, vec![row])
}

async fn walk(
    asking: &Asking<'_>,
    of: &str,
    pages: usize,
    records: &mut Vec<Map<String, serde_json::Value>>,
) -> Walked {
    let deadline = asking.ask.deadline;
    let read = asking.arm.walk(first_page(of), pages, deadline, |fields| {
        records.push(fields);
        true
    });
    read.await
}

/// Takes the states that touch the time of the question.
fn take(
    asking: &Asking<'_>,
    records: &[Map<String, serde_json::Value>],
    tally: &mut Tally,
    out: &mut Vec<Observation>,
) {
    let span = asking.span;
    for fields in records {
        match asking.decode(fields, "value") {
            Ok(told) => {
                let touches = |one: &Observation| match one {
                    Observation::Event(event) => {
                        let end = event.end.map_or(event.time.hi, |end| end.hi);
                        event.time.lo <= span.to && end >= span.from
                    }
                    _ => true,
                };
                let before = out.len();
                out.extend(told.into_iter().filter(touches));
                tally.rows += u64::from(out.len() > before);
            }
            Err(why) => tally.rejected(why),
        }
    }
}
