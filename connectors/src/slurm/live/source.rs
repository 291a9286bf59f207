//! Slurm as a live source among others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;

use super::answer::DecodedAnswer;
use super::check;
use super::commands::Commands;
use super::cover::{Kind, row};
use super::job_scope::JobScope;
use super::options::SlurmOptions;
use super::query::{SlurmQuery, Transport};
use super::rest::Rest;
use crate::connector::{Connector, FetchRequest, Health};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::slurm::job;
use crate::time::Nanos;

/// Slurm, to be asked.
#[derive(Debug)]
pub struct Slurm {
    pub(super) options: SlurmOptions,
    pub(super) way: Transport,
    pub(super) place: Arc<str>,
}

impl Slurm {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// For options that do not make sense.
    pub fn open(options: SlurmOptions) -> Result<Self, HttpError> {
        let (way, place) = match &options.http {
            Some(http) => {
                let rest = Rest::new(http.clone(), options.version.clone())?;
                let socket = http.unix_socket.as_ref();
                let place = socket
                    .map_or_else(|| rest.address(), |path| format!("unix:{}", path.display()));
                (Transport::Rest(rest), place)
            }
            None => {
                let folder = options.tools.clone();
                let place = "commands".to_owned();
                (Transport::Commands(Commands { folder }), place)
            }
        };
        Ok(Self {
            options,
            way,
            place: place.into(),
        })
    }

    async fn gather(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let wanted = JobScope::of(fetch_request);
        let origin: Arc<str> = format!("slurm/{}", self.place).into();
        let query = SlurmQuery {
            way: &self.way,
            wanted: &wanted,
            place: &origin,
            deadline: fetch_request.deadline,
        };
        let mut emitted = Vec::new();
        let mut rows = Vec::new();
        let most = self.options.max_jobs;
        let accounted = query.accounted(most).await;
        let left_out = wanted.numbers.len().saturating_sub(most);
        let note = (left_out > 0).then(|| format!("{left_out} more jobs were not queried"));
        let no_accounting = HttpError::BadRequest("slurmdbd is not configured here".to_owned());
        let received = match &accounted {
            Ok(Some(received)) => Ok(received),
            Ok(None) => Err(&no_accounting),
            Err(failure) => Err(failure),
        };
        rows.push(self.row(Kind::Accounting, &wanted, received, note));
        // Accounting knows what is over; the controller why something waits.
        let open = accounted
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map(waiting);
        if open.as_ref().is_none_or(|open| !open.is_empty()) {
            let few = open.map(|open| open.into_iter().take(most).collect());
            let queued = query.queued(few.as_ref()).await;
            rows.push(self.row(Kind::Queue, &wanted, queued.as_ref(), None));
            emitted.extend(queued.ok().map(|received| received.observations));
        }
        if let Ok(Some(received)) = accounted {
            emitted.insert(0, received.observations);
        }
        // Of nodes, those that the jobs were on.
        let mut nodes = wanted.nodes.clone();
        nodes.extend(emitted.iter().flatten().flat_map(nodes_of));
        if wanted.all || !nodes.is_empty() {
            let now = query.nodes(&nodes).await;
            rows.push(self.row(Kind::Nodes, &wanted, now.as_ref(), None));
            emitted.extend(now.ok().map(|received| received.observations));
            let before = query.node_events(&nodes).await;
            let received = match &before {
                Ok(Some(received)) => Some(Ok(received)),
                Ok(None) => None,
                Err(failure) => Some(Err(failure)),
            };
            rows.extend(
                received.map(|received| self.row(Kind::NodeEvents, &wanted, received, None)),
            );
            emitted.extend(before.ok().flatten().map(|received| received.observations));
        }
        for observations in emitted.into_iter().filter(|emitted| !emitted.is_empty()) {
            sink.observe(observations);
        }
        rows.sort();
        rows
    }

    fn row(
        &self,
        kind: Kind,
        wanted: &JobScope,
        received: Result<&DecodedAnswer, &HttpError>,
        note: Option<String>,
    ) -> Coverage {
        row(&self.options.name, kind, wanted, received, note)
    }
}

/// Numbers of jobs that are not over, as far as was heard.
fn waiting(received: &DecodedAnswer) -> BTreeSet<String> {
    let objects = received.observations.iter().filter_map(|one| match one {
        Observation::Object(version) => Some(version),
        _ => None,
    });
    let open = objects.filter(|version| {
        let phase = version.body.phase.as_deref();
        phase.is_some_and(job::goes_on)
    });
    open.filter_map(|version| {
        let own = version.body.annotations.get("own_id");
        own.or_else(|| version.body.labels.get("job_id")).cloned()
    })
    .filter(|number| number.bytes().all(|b| b.is_ascii_digit()))
    .collect()
}

/// The nodes that a record of a job names.
fn nodes_of(one: &Observation) -> Vec<String> {
    match one {
        Observation::Object(version) => {
            let list = version.body.annotations.get("node_list");
            list.map(|list| crate::host_list::expand(list))
                .unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

impl Connector for Slurm {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Slurm
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.gather(fetch_request, sink))
    }
}
