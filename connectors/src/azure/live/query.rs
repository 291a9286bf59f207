//! One question about one subscription.

use std::future::Future;
use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Map, Value};

use super::arm::Arm;
use super::machine_scope::{MachineScope, part};
use super::options::AzureOptions;
use crate::connector::FetchRequest;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::Origin;
use crate::http::HttpError;
use crate::observation::{Observation, Rejection};
use crate::time::{Nanos, SECOND};

const DAY: Nanos = 86_400 * SECOND;

/// Maintenance is announced up to this long before.
const ANNOUNCED: Nanos = 7 * DAY;

/// What comes after the end may tell of it.
const AFTER: Nanos = 900 * SECOND;

/// From when to when is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The start of the question's own window.
    pub(super) own_from: Nanos,
    /// With what was announced before.
    pub(super) from: Nanos,
    /// With what came late; not after now.
    pub(super) to: Nanos,
}

impl Span {
    pub(super) fn of(fetch_request: &FetchRequest) -> Self {
        let to = fetch_request.window.to.unwrap_or(fetch_request.now);
        let own_from = fetch_request.window.from.unwrap_or(to.saturating_sub(DAY));
        Self {
            own_from,
            from: own_from.saturating_sub(ANNOUNCED),
            to: to.saturating_add(AFTER).min(fetch_request.now),
        }
    }
}

/// One question about one subscription.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubscriptionQuery<'a> {
    pub(super) arm: &'a Arm,
    pub(super) options: &'a AzureOptions,
    pub(super) fetch_request: &'a FetchRequest,
    pub(super) wanted: &'a MachineScope,
    pub(super) span: Span,
    /// Its id, in lower case.
    pub(super) subscription: &'a str,
}

impl SubscriptionQuery<'_> {
    /// Decodes a record as one in a file is decoded.
    pub(super) fn decode(
        &self,
        fields: &Map<String, Value>,
        within: &str,
    ) -> Result<Vec<Observation>, Rejection> {
        decode(fields, within, &self.arm.address(), self.fetch_request.now)
    }
}

/// Decodes a record of `place` that was obtained at `now`.
pub(super) fn decode(
    fields: &Map<String, Value>,
    within: &str,
    place: &str,
    now: Nanos,
) -> Result<Vec<Observation>, Rejection> {
    let origin = Origin {
        file: Arc::from(place),
        line: 0,
    };
    let record = ForeignRecord {
        fields,
        within,
        origin: &origin,
    };
    let mut emitted = ForeignOutput::default();
    super::super::decode(record, &mut emitted)?;
    for one in &mut emitted.observations {
        if let Observation::Event(event) = one {
            event.observed = Some(now);
        }
    }
    Ok(emitted.observations)
}

/// What came of asking for machines one by one.
#[derive(Debug)]
pub(super) struct PerMachine<T> {
    /// What each gave, in the order of their ids.
    pub(super) answers: Vec<(T, Option<HttpError>)>,
    /// Machines that were not asked for, and why.
    pub(super) left_out: Vec<String>,
}

/// Asks for machines one by one, some at once. Where the first of a resource
/// group is denied, so are the others; where Azure asks to wait, nothing follows.
pub(super) async fn each<'a, T, F>(
    ids: &[&'a str],
    options: &AzureOptions,
    one: impl Fn(&'a str) -> F,
) -> PerMachine<T>
where
    F: Future<Output = (T, Option<HttpError>)>,
{
    let mut all = PerMachine {
        answers: Vec::new(),
        left_out: Vec::new(),
    };
    let requested = &ids[..ids.len().min(options.max_machines)];
    if requested.len() < ids.len() {
        let (of, most) = (ids.len(), options.max_machines);
        all.left_out
            .push(format!("only {most} of {of} machines were queried"));
    }
    let group = |id: &str| part(id, "resourcegroups").map(str::to_owned);
    // Ids are sorted, so that groups stand together.
    for of_group in requested.chunk_by(|a, b| group(a) == group(b)) {
        let Some((first, others)) = of_group.split_first() else {
            continue;
        };
        let answer = one(first).await;
        let denied = answer.1.as_ref().is_some_and(HttpError::is_denied);
        let mut throttled = is_throttled(&answer.1);
        all.answers.push(answer);
        let mut left = others.len();
        if !denied && !throttled {
            // They do nothing until their turn comes.
            let waiting: Vec<F> = others.iter().map(|id| one(id)).collect();
            let answers = futures::stream::iter(waiting).buffered(options.http.concurrency.max(1));
            let mut answers = std::pin::pin!(answers);
            while let Some(answer) = answers.next().await {
                throttled = is_throttled(&answer.1);
                all.answers.push(answer);
                left -= 1;
                if throttled {
                    break;
                }
            }
        }
        if left > 0 {
            let group = group(first).unwrap_or_default();
            all.left_out.push(format!(
                "{left} more machines of the group {group} were not queried"
            ));
        }
        if throttled {
            // More requests would only prolong it.
            if all.answers.len() < requested.len() {
                all.left_out
                    .push("machines left out since Azure asks to wait".to_owned());
            }
            break;
        }
    }
    all
}

fn is_throttled(failure: &Option<HttpError>) -> bool {
    failure.as_ref().and_then(HttpError::code) == Some(429)
}
