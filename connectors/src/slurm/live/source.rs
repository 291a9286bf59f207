//! Slurm as a live source among others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;

use super::answer::Heard;
use super::asking::{Asking, Way};
use super::check;
use super::commands::Commands;
use super::cover::{Kind, row};
use super::options::SlurmOptions;
use super::rest::Rest;
use super::wanted::Wanted;
use crate::connector::{Ask, Connector, Health};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::Trouble;
use crate::observation::Observation;
use crate::recording::Sink;
use crate::slurm::job;
use crate::time::Nanos;

/// Slurm, to be asked.
#[derive(Debug)]
pub struct Slurm {
    pub(super) options: SlurmOptions,
    pub(super) way: Way,
    pub(super) place: Arc<str>,
}

impl Slurm {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// For options that do not make sense.
    pub fn open(options: SlurmOptions) -> Result<Self, Trouble> {
        let (way, place) = match &options.http {
            Some(http) => {
                let rest = Rest::new(http.clone(), options.version.clone())?;
                let socket = http.unix_socket.as_ref();
                let place = socket
                    .map_or_else(|| rest.address(), |path| format!("unix:{}", path.display()));
                (Way::Rest(rest), place)
            }
            None => {
                let folder = options.tools.clone();
                let place = "commands".to_owned();
                (Way::Commands(Commands { folder }), place)
            }
        };
        Ok(Self {
            options,
            way,
            place: place.into(),
        })
    }

    async fn gather(&self, ask: &Ask, sink: &mut (dyn Sink + Send)) -> Vec<Coverage> {
        let wanted = Wanted::of(ask);
        let origin: Arc<str> = format!("slurm/{}", self.place).into();
        let asking = Asking {
            way: &self.way,
            wanted: &wanted,
            place: &origin,
            deadline: ask.deadline,
        };
        let mut told = Vec::new();
        let mut rows = Vec::new();
        let most = self.options.max_jobs;
        let accounted = asking.accounted(most).await;
        let left_out = wanted.numbers.len().saturating_sub(most);
        let note = (left_out > 0).then(|| format!("{left_out} jobs more were not asked for"));
        let no_accounting = Trouble::BadRequest("slurmdbd is not configured here".to_owned());
        let heard = match &accounted {
            Ok(Some(heard)) => Ok(heard),
            Ok(None) => Err(&no_accounting),
            Err(trouble) => Err(trouble),
        };
        rows.push(self.row(Kind::Accounting, &wanted, heard, note));
        // Accounting knows what is over; the controller why something waits.
        let open = accounted
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map(waiting);
        if open.as_ref().is_none_or(|open| !open.is_empty()) {
            let few = open.map(|open| open.into_iter().take(most).collect());
            let queued = asking.queued(few.as_ref()).await;
            rows.push(self.row(Kind::Queue, &wanted, queued.as_ref(), None));
            told.extend(queued.ok().map(|heard| heard.observations));
        }
        if let Ok(Some(heard)) = accounted {
            told.insert(0, heard.observations);
        }
        // Of nodes, those that the jobs were on.
        let mut nodes = wanted.nodes.clone();
        nodes.extend(told.iter().flatten().flat_map(nodes_of));
        if wanted.all || !nodes.is_empty() {
            let now = asking.nodes(&nodes).await;
            rows.push(self.row(Kind::Nodes, &wanted, now.as_ref(), None));
            told.extend(now.ok().map(|heard| heard.observations));
            let before = asking.node_events(&nodes).await;
            let heard = match &before {
                Ok(Some(heard)) => Some(Ok(heard)),
                Ok(None) => None,
                Err(trouble) => Some(Err(trouble)),
            };
            rows.extend(heard.map(|heard| self.row(Kind::NodeEvents, &wanted, heard, None)));
            told.extend(before.ok().flatten().map(|heard| heard.observations));
        }
        for observations in told.into_iter().filter(|told| !told.is_empty()) {
            sink.observe(observations);
        }
        rows.sort();
        rows
    }

    fn row(
        &self,
        kind: Kind,
        wanted: &Wanted,
        heard: Result<&Heard, &Trouble>,
        note: Option<String>,
    ) -> Coverage {
        row(&self.options.name, kind, wanted, heard, note)
    }
}

/// Numbers of jobs that are not over, as far as was heard.
fn waiting(heard: &Heard) -> BTreeSet<String> {
    let objects = heard.observations.iter().filter_map(|one| match one {
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
            list.map(|list| crate::slurm::expand(list))
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
        ask: &'a Ask,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.gather(ask, sink))
    }
}
