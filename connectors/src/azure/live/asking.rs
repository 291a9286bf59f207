//! One question about one subscription.

use std::future::Future;
use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Map, Value};

use super::arm::Arm;
use super::options::AzureOptions;
use super::wanted::{Wanted, part};
use crate::connector::Ask;
use crate::event::Origin;
use crate::http::Trouble;
use crate::observation::{Observation, Rejection};
use crate::recording::{ForeignRecord, Told};
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
    pub(super) fn of(ask: &Ask) -> Self {
        let to = ask.window.to.unwrap_or(ask.now);
        let own_from = ask.window.from.unwrap_or(to.saturating_sub(DAY));
        Self {
            own_from,
            from: own_from.saturating_sub(ANNOUNCED),
            to: to.saturating_add(AFTER).min(ask.now),
        }
    }
}

/// One question about one subscription.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    pub(super) arm: &'a Arm,
    pub(super) options: &'a AzureOptions,
    pub(super) ask: &'a Ask,
    pub(super) wanted: &'a Wanted,
    pub(super) span: Span,
    /// Its id, in lower case.
    pub(super) subscription: &'a str,
}

impl Asking<'_> {
    /// Decodes a record as one in a file is decoded.
    pub(super) fn decode(
        &self,
        fields: &Map<String, Value>,
        within: &str,
    ) -> Result<Vec<Observation>, Rejection> {
        decode(fields, within, &self.arm.address(), self.ask.now)
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
    let mut told = Told::default();
    super::super::decode(record, &mut told)?;
    for one in &mut told.observations {
        if let Observation::Event(event) = one {
            event.observed = Some(now);
        }
    }
    Ok(told.observations)
}

/// What came of asking for machines one by one.
#[derive(Debug)]
pub(super) struct Each<T> {
    /// What each gave, in the order of their ids.
    pub(super) answers: Vec<(T, Option<Trouble>)>,
    /// Machines that were not asked for, and why.
    pub(super) left_out: Vec<String>,
}

/// Asks for machines one by one, some at once. Where the first of a resource
/// group is denied, so are the others; where Azure asks to wait, nothing follows.
pub(super) async fn each<'a, T, F>(
    ids: &[&'a str],
    options: &AzureOptions,
    one: impl Fn(&'a str) -> F,
) -> Each<T>
where
    F: Future<Output = (T, Option<Trouble>)>,
{
    let mut all = Each {
        answers: Vec::new(),
        left_out: Vec::new(),
    };
    let asked = &ids[..ids.len().min(options.max_machines)];
    if asked.len() < ids.len() {
        let (of, most) = (ids.len(), options.max_machines);
        all.left_out
            .push(format!("only {most} of {of} machines were asked for"));
    }
    let group = |id: &str| part(id, "resourcegroups").map(str::to_owned);
    // Ids are sorted, so that groups stand together.
    for of_group in asked.chunk_by(|a, b| group(a) == group(b)) {
        let Some((first, others)) = of_group.split_first() else {
            continue;
        };
        let answer = one(first).await;
        let denied = answer.1.as_ref().is_some_and(Trouble::is_denied);
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
                "{left} machines more of the group {group} not asked for"
            ));
        }
        if throttled {
            // More requests would only prolong it.
            if all.answers.len() < asked.len() {
                all.left_out
                    .push("machines left out since Azure asks to wait".to_owned());
            }
            break;
        }
    }
    all
}

fn is_throttled(trouble: &Option<Trouble>) -> bool {
    trouble.as_ref().and_then(Trouble::code) == Some(429)
}
