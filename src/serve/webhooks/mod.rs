//! What is pushed to us: acknowledged once it is on disk, refused with a time to
//! come again when it cannot be kept.
//!
//! A body becomes records that files have, too, and the reader of files reads
//! them, so that a fact is the same whichever way it came, however often.

mod guard;
mod kind;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use whathappened_connectors::recording::{self, Input, Options, Summary};
use whathappened_model::coverage::Coverage;
use whathappened_model::observation::Observation;
use whathappened_model::redact::redact;
use whathappened_model::sink::Sink;
use whathappened_model::time::Nanos;

use super::Service;
use super::api::Problem;
use super::body::{self, BodyBounds, Unread};
use super::collect::{Intake, IntakeError, ReservedBytes};
use super::connections::Line;
use super::own_places::OwnPlaces;
use crate::config::Serve;
use crate::error::Error;
use guard::Guard;
use kind::Kind;

/// The longest name of a cluster: that of a resource at the largest cloud.
const LONGEST: usize = 253;
/// What a pushed body may unpack to.
const UNPACKED: u64 = 256 << 20;
/// How long a body may take in all.
const IN_ALL: Duration = Duration::from_secs(30);
/// How long nothing may come of it.
const SILENCE: Duration = Duration::from_secs(10);
/// Bodies of one hook that are read at once.
const AT_ONCE: usize = 64;
/// Rejected records that are told to whoever pushed them.
const MOST_REPORTED: usize = 5;
/// Seconds after which whoever was sent away may come again.
const AGAIN: &str = "5";

/// The hooks that are on.
#[derive(Debug, Default)]
pub struct Hooks(BTreeMap<&'static str, Hook>);

/// One of them.
#[derive(Clone, Debug)]
struct Hook {
    kind: Kind,
    guard: Guard,
    cluster: Option<String>,
    /// Bodies that may be read of it at once: one hook does not turn away the others,
    places: Arc<Semaphore>,
    /// nor one address that sends much, or slowly, the other senders of the hook.
    of_senders: Arc<OwnPlaces>,
}

impl Hooks {
    /// Reads the configuration, and the files that it names.
    ///
    /// # Errors
    /// When there is no such hook, or its secret cannot be used.
    pub fn of(config: &Serve) -> Result<Self, Error> {
        let mut hooks = BTreeMap::new();
        for (name, hook) in &config.hooks {
            let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
                let known = Kind::ALL.map(Kind::name).join(", ");
                return Err(Error::misused(
                    format!("[serve.hooks.{name}]: there is no hook with this name"),
                    format!("the hooks are: {known}"),
                ));
            };
            if let Some(guard) = Guard::of(name, hook)? {
                let cluster = hook.cluster.clone();
                hooks.insert(
                    kind.name(),
                    Hook {
                        kind,
                        guard,
                        cluster,
                        places: Arc::new(Semaphore::new(AT_ONCE)),
                        of_senders: Arc::new(OwnPlaces::half_of(AT_ONCE)),
                    },
                );
            }
        }
        Ok(Self(hooks))
    }

    /// A row for each, for the times when nobody took what was pushed.
    #[must_use]
    pub fn rows(&self) -> Vec<Coverage> {
        self.0.values().map(|hook| hook.kind.row()).collect()
    }
}

/// The routes: `POST /hooks/{name}`.
pub fn routes() -> Router<Arc<Service>> {
    Router::new().route("/hooks/{name}", post(take))
}

/// What may stand behind the path.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookParams {
    /// The cluster that the records are of.
    cluster: Option<String>,
}

async fn take(
    State(service): State<Arc<Service>>,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    connection: Extensions,
    body: Body,
) -> Response {
    let Some(collecting) = &service.collecting else {
        return Problem::not_found("this service does not collect").into_response();
    };
    let Some(hook) = collecting.hooks.0.get(name.as_str()) else {
        let known = Kind::ALL.into_iter().any(|kind| kind.name() == name);
        let problem = if known {
            Problem::not_found("this hook is disabled")
                .hint(format!("set a token or secret in [serve.hooks.{name}]"))
        } else {
            Problem::not_found("there is no such hook")
        };
        return problem.into_response();
    };
    let pushed = Pushed {
        headers: &headers,
        sender: Line::sender(&connection),
        uri: &uri,
    };
    let answer = answer(&service, &collecting.intake, hook, &pushed, body).await;
    let (outcome, response) = match answer {
        Ok((taken, summary)) => {
            let outcome = match taken {
                0 => "nothing_kept",
                _ => "kept",
            };
            (outcome, stored(taken, &summary))
        }
        Err(not) => (not.outcome(), not.response()),
    };
    metrics::counter!("whathappened_hooks_total", "hook" => hook.kind.name(), "outcome" => outcome)
        .increment(1);
    response
}

/// The cluster that a request says its records are of. Other parameters are the sender's:
/// an API server's are `timeout=30s`.
fn asked_cluster(uri: &Uri) -> Result<Option<String>, String> {
    let asked = Query::<HookParams>::try_from_uri(uri)
        .map_err(|_| "the query is not readable, or names `cluster` twice".to_owned())?;
    let Some(cluster) = asked.0.cluster else {
        return Ok(None);
    };
    let fits = |sign: u8| sign.is_ascii_alphanumeric() || b"-._:/@+".contains(&sign);
    let begins = cluster
        .bytes()
        .next()
        .is_some_and(|sign| sign.is_ascii_alphanumeric());
    if !begins || cluster.len() > LONGEST || !cluster.bytes().all(fits) {
        return Err(format!(
            "`cluster` begins with a letter or digit and has at most {LONGEST} of letters, digits, and -._:/@+"
        ));
    }
    // It would be stored and shown as it is.
    if redact(&cluster) != cluster {
        return Err("`cluster` looks like a secret; use the cluster's name".to_owned());
    }
    Ok(Some(cluster))
}

/// Why a body was not taken.
#[derive(Debug)]
enum BodyError {
    Admitted,
    /// What stands behind the path is wrong.
    Parameter(String),
    /// It is larger than this.
    Small(usize),
    /// It came too slowly, or broke off.
    Whole(String),
    /// As many are being read of this hook as may be.
    Alone,
    Understood(String),
    Intake(IntakeError),
}

impl BodyError {
    fn outcome(&self) -> &'static str {
        match self {
            Self::Admitted => "denied",
            Self::Parameter(_) => "unreadable",
            Self::Small(_) => "large",
            Self::Whole(_) => "slow",
            Self::Understood(_) => "unreadable",
            Self::Alone => "full",
            Self::Intake(IntakeError::Full) => "full",
            Self::Intake(_) => "refused",
        }
    }

    fn response(&self) -> Response {
        let problem = match self {
            Self::Admitted => Problem::new(
                StatusCode::UNAUTHORIZED,
                "the token or the signature is missing or wrong",
            ),
            Self::Small(most) => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("a body may be at most {most} bytes long"),
            )
            .hint("split it, or raise [serve.limits] max_body"),
            Self::Whole(why) => Problem::new(StatusCode::REQUEST_TIMEOUT, why.as_str()),
            Self::Parameter(why) => Problem::bad(why.as_str()),
            // What cannot be read may be quoted.
            Self::Understood(why) => Problem::bad(redact(why)),
            Self::Alone => {
                return again("too many bodies are being read for this hook");
            }
            Self::Intake(why) => return again(&why.to_string()),
        };
        problem.into_response()
    }
}

/// Sends away for a while.
fn again(why: &str) -> Response {
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, why).hint("try again later");
    let mut response = problem.into_response();
    let again = header::HeaderValue::from_static(AGAIN);
    response.headers_mut().insert(header::RETRY_AFTER, again);
    response
}

/// What a request says beside its body.
struct Pushed<'a> {
    headers: &'a HeaderMap,
    sender: Option<IpAddr>,
    uri: &'a Uri,
}

async fn answer(
    service: &Arc<Service>,
    intake: &Intake,
    hook: &Hook,
    pushed: &Pushed<'_>,
    body: Body,
) -> Result<(u64, Summary), BodyError> {
    let headers = pushed.headers;
    // Who may not push is told so before anything of the body is read.
    if !hook.guard.may_admit(headers) {
        return Err(BodyError::Admitted);
    }
    let asked = asked_cluster(pushed.uri).map_err(BodyError::Parameter)?;
    let sender = pushed.sender.map(|sender| sender.to_string());
    let own = hook.of_senders.of(&sender.unwrap_or_default());
    let (Ok(_own_place), Ok(_place)) = (own.try_acquire(), hook.places.try_acquire()) else {
        return Err(BodyError::Alone);
    };
    // Held until it is kept: what is under way is bounded.
    let most = service.config.serve.limits.body();
    let (body, _room) = whole(intake, headers, body, most).await?;
    if !hook.guard.admits(headers, &body) {
        return Err(BodyError::Admitted);
    }
    let now = (service.clock)();
    let (kind, cluster) = (hook.kind, asked.or_else(|| hook.cluster.clone()));
    let batches = InBatches {
        intake: intake.clone(),
        waiting: Handle::current(),
        cluster,
        now,
        batch: Vec::new(),
        reported: 0,
        error: None,
    };
    let work = move || {
        let mut batches = batches;
        let summary = read(kind, body, now, &mut batches)?;
        batches.finish().map(|reported| (reported, summary))
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(read) => read,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// Keeps what is read of a body as it is read: a small body may unpack to more than fits
/// into memory. A body that is refused half way is sent again, and what of it was kept is
/// known then.
struct InBatches {
    intake: Intake,
    waiting: Handle,
    cluster: Option<String>,
    now: Nanos,
    batch: Vec<Observation>,
    reported: u64,
    error: Option<IntakeError>,
}

impl InBatches {
    /// Observations that are written together.
    const MOST: usize = 2_048;

    fn keep(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() || self.error.is_some() {
            return;
        }
        match self.waiting.block_on(self.intake.keep(batch, Vec::new())) {
            Ok(receipt) => self.reported += receipt.reported,
            Err(error) => self.error = Some(error),
        }
    }

    /// Keeps the rest, and gives how much was kept in all.
    fn finish(mut self) -> Result<u64, BodyError> {
        self.keep();
        match self.error {
            Some(error) => Err(BodyError::Intake(error)),
            None => Ok(self.reported),
        }
    }
}

/// Says when a record was pushed, and of which cluster it is where it does not say so itself.
fn label(observation: &mut Observation, now: Nanos, cluster: Option<&str>) {
    if let Observation::Event(event) = observation {
        event.observed = Some(now);
        if event.entities.cluster.is_none() {
            event.entities.cluster = cluster.map(str::to_owned);
        }
    }
}

impl Sink for InBatches {
    fn observe(&mut self, observations: Vec<Observation>) {
        for mut observation in observations {
            label(&mut observation, self.now, self.cluster.as_deref());
            self.batch.push(observation);
            if self.batch.len() >= Self::MOST {
                self.keep();
            }
        }
    }
}

/// The body and the room that it takes.
async fn whole(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<(Bytes, ReservedBytes), BodyError> {
    let bounds = BodyBounds {
        most,
        in_all: IN_ALL,
        silence: SILENCE,
    };
    let mut room = intake.room(0).map_err(BodyError::Intake)?;
    let take = |bytes| intake.room(bytes).map(|more| room.add(more));
    match body::read(headers, body, bounds, take).await {
        Ok(body) => Ok((body, room)),
        Err(Unread::Large) => Err(BodyError::Small(most)),
        Err(Unread::Room(why)) => Err(BodyError::Intake(why)),
        Err(Unread::Interrupted(why)) => {
            Err(BodyError::Whole(format!("the body was interrupted: {why}")))
        }
        Err(Unread::Slow) => Err(BodyError::Whole(format!(
            "the body was sent too slowly: it may take {} s in total, and pause for {} s",
            IN_ALL.as_secs(),
            SILENCE.as_secs()
        ))),
    }
}

/// Reads a body as the file that it could be.
fn read(kind: Kind, body: Bytes, now: Nanos, sink: &mut impl Sink) -> Result<Summary, BodyError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(BodyError::Understood("the body is empty".to_owned()));
    }
    let records = kind.records(body, now).map_err(BodyError::Understood)?;
    let name = format!("hooks/{}", kind.name());
    let options = Options {
        workers: 1,
        max_total_bytes: UNPACKED,
        bomb_floor_bytes: UNPACKED / 8,
        rejected_kept: MOST_REPORTED,
        ..Options::default()
    };
    let input = Input::Bytes(name.into(), records);
    let summary = recording::read(&[input], &options, sink);
    let total = &summary.total;
    if total.records == 0 || total.rejected == total.records {
        let why = summary.rejected.first().map(|record| record.why.clone());
        let form = summary.files.first().map(|file| file.form.as_str());
        return Err(BodyError::Understood(why.unwrap_or_else(|| {
            format!("none of it can be read ({})", form.unwrap_or("empty"))
        })));
    }
    Ok(summary)
}

/// What became of it, for whoever pushed it.
fn stored(taken: u64, summary: &Summary) -> Response {
    let rejected: Vec<String> = summary
        .rejected
        .iter()
        .map(|record| format!("line {}: {}", record.origin.line, record.why))
        .collect();
    let total = &summary.total;
    let understood = total
        .records
        .saturating_sub(total.rejected)
        .saturating_sub(total.irrelevant);
    let mut rejected = rejected;
    if understood == 0 && rejected.is_empty() {
        rejected.push(
            "no record is of a kind that says anything here: nothing was stored (docs/files.md lists the kinds)"
                .to_owned(),
        );
    }
    let reported = json!({
        "kept": taken,
        "understood": understood,
        "records": total.records,
        "irrelevant": total.irrelevant,
        "rejected": total.rejected,
        "why": rejected,
    });
    (StatusCode::OK, Json(reported)).into_response()
}

#[cfg(test)]
mod tests;
