//! Google Cloud as a live source.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::api::Api;
use super::cover::{self, InventoryTally, ProjectTallies};
use super::emit::{Emitter, project_of, time_of};
use super::entries::{self, RequestBudget, Stop};
use super::login::Login;
use super::machines::Machines;
use super::options::GcpOptions;
use super::plan::{self, Span};
use super::{check, groups, inventory, project};
use crate::connector::{Clock, Connector, FetchRequest, Health};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::sink::Sink;
use crate::time::Nanos;

/// Google Cloud, asked live: what happened to machines, their groups and
/// clusters, and which machines there are.
pub struct Gcp {
    pub(super) options: GcpOptions,
    pub(super) logging: Api,
    pub(super) compute: Api,
    pub(super) login: Arc<Login>,
    place: String,
    clock: Clock,
    /// The project where none is named.
    own: OnceCell<String>,
}

impl fmt::Debug for Gcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcp")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Gcp {
    /// Prepares to ask; neither credentials nor a project are looked for yet.
    /// `clock` tells when records are obtained.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub fn open(options: GcpOptions, clock: Clock) -> Result<Self, HttpError> {
        let login = Arc::new(Login::new(&options.login, options.quota_project.as_deref()));
        let api = |http| Api::new(http, &login, options.quota_wait);
        let (logging, compute) = (api(&options.logging)?, api(&options.compute)?);
        let place = match options.projects.as_slice() {
            [] => logging.address(),
            projects => format!("projects/{}", projects.join(",")),
        };
        Ok(Self {
            logging,
            compute,
            place,
            clock,
            own: OnceCell::new(),
            login,
            options,
        })
    }

    /// The projects that are named, else the one that is found.
    pub(super) async fn named(&self, deadline: Instant) -> Result<Vec<String>, HttpError> {
        if !self.options.projects.is_empty() {
            return Ok(self.options.projects.clone());
        }
        let found = self
            .own
            .get_or_try_init(|| project::discover(&self.options.login, deadline))
            .await?;
        Ok(vec![found.clone()])
    }

    /// The projects to look into: where all machines say theirs, no others.
    async fn projects(
        &self,
        machines: &Machines,
        deadline: Instant,
    ) -> Result<Vec<String>, HttpError> {
        let (mut projects, each) = machines.projects();
        if !each {
            match self.named(deadline).await {
                Ok(named) => projects.extend(named),
                Err(failure) if projects.is_empty() => return Err(failure),
                Err(_) => {}
            }
        }
        Ok(projects.into_iter().collect())
    }

    async fn read(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let name = &self.options.name;
        let span = Span::of(fetch_request);
        let mut machines = Machines::of(&fetch_request.scope);
        if machines.none_here() {
            return vec![cover::none_here(name, machines.elsewhere, span)];
        }
        // Without a token every question would fail for itself.
        if let Err(failure) = self.login.ready(fetch_request.deadline).await {
            let mut projects = machines.projects().0;
            projects.extend(self.options.projects.iter().cloned());
            let row = |project| cover::nothing(name, project, &failure, span);
            return match projects.is_empty() {
                true => vec![row(None)],
                false => projects.iter().map(|project| row(Some(project))).collect(),
            };
        }
        let projects = match self.projects(&machines, fetch_request.deadline).await {
            Ok(projects) => projects,
            Err(failure) => return vec![cover::nothing(name, None, &failure, span)],
        };
        let mut emitter = Emitter::new(name, (self.clock)());
        let mut rows = self
            .instances(
                &projects,
                &mut machines,
                fetch_request,
                (&mut emitter, sink),
            )
            .await;
        rows.extend(
            self.activity(
                projects,
                &machines,
                (fetch_request, span),
                (&mut emitter, sink),
            )
            .await,
        );
        rows.sort();
        rows
    }

    /// The inventory of each project, and the groups of the machines.
    async fn instances(
        &self,
        projects: &[String],
        machines: &mut Machines,
        fetch_request: &FetchRequest,
        (emitter, sink): (&mut Emitter, &mut (dyn Sink + Send)),
    ) -> Vec<Coverage> {
        let mut came: Vec<(&String, InventoryTally)> = Vec::new();
        for project in projects {
            let mut out = Vec::new();
            let emitted = (&mut *emitter, &mut out);
            let mut one = inventory::read(
                &self.compute,
                project,
                machines,
                fetch_request.deadline,
                emitted,
            )
            .await;
            one.notes.extend(emitter.broken());
            if !out.is_empty() {
                sink.observe(out);
            }
            came.push((project, one));
        }
        let unknown = groups::learn(&self.compute, machines, fetch_request.deadline).await;
        if let (Some(words), Some((_, first))) = (unknown, came.first_mut()) {
            first.notes.push(words);
        }
        let row = |(project, one): &(&String, InventoryTally)| {
            one.row(&self.options.name, project, fetch_request.now)
        };
        came.iter().map(row).collect()
    }

    /// What the logs say. Projects are asked together, and apart once one of
    /// them refuses.
    async fn activity(
        &self,
        projects: Vec<String>,
        machines: &Machines,
        (fetch_request, span): (&FetchRequest, Span),
        (emitter, sink): (&mut Emitter, &mut (dyn Sink + Send)),
    ) -> Vec<Coverage> {
        let mut allowance = RequestBudget {
            requests: self.options.requests_per_question,
            deadline: fetch_request.deadline,
        };
        let mut tallies = ProjectTallies::new();
        for project in &projects {
            tallies.entry(project.clone()).or_default();
        }
        let mut together: Vec<Vec<String>> = projects
            .chunks(entries::PROJECTS)
            .map(<[String]>::to_vec)
            .collect();
        for filter in plan::filters(machines, span) {
            let mut waiting = VecDeque::from(std::mem::take(&mut together));
            while let Some(some) = waiting.pop_front() {
                let mut reached: Option<Nanos> = None;
                let take = |page: Vec<serde_json::Value>| {
                    let mut out = Vec::new();
                    for entry in &page {
                        reached = time_of(entry).or(reached);
                        if emitter.entry(entry, &mut out) {
                            count(&mut tallies, &some, entry);
                        }
                    }
                    if !out.is_empty() {
                        sink.observe(out);
                    }
                };
                let stop = entries::read(&self.logging, &some, &filter, &mut allowance, take).await;
                if some.len() > 1 && stop.as_ref().is_some_and(is_of_one) {
                    for project in some.into_iter().rev() {
                        waiting.push_front(vec![project]);
                    }
                    continue;
                }
                for project in &some {
                    tallies.entry(project.clone()).or_default().ended(
                        project,
                        stop.as_ref(),
                        reached,
                    );
                }
                if !stop.as_ref().is_some_and(is_final) {
                    together.push(some);
                }
            }
        }
        if let (Some(words), Some((_, first))) = (emitter.broken(), tallies.iter_mut().next()) {
            first.notes.insert(words);
        }
        let row = |(project, tally): (&String, &cover::ProjectTally)| {
            tally.row(&self.options.name, project, span, fetch_request.now)
        };
        tallies.iter().map(row).collect()
    }
}

/// Counts an entry for its project, else for the first that was asked.
fn count(tallies: &mut ProjectTallies, requested: &[String], entry: &serde_json::Value) {
    let own = project_of(entry).filter(|own| requested.iter().any(|one| one == own));
    if let Some(project) = own.or(requested.first().map(String::as_str)) {
        tallies.entry(project.to_owned()).or_default().rows += 1;
    }
}

/// Whether a refusal may be about one project among several.
fn is_of_one(stop: &Stop) -> bool {
    matches!(stop, Stop::Http(failure) if matches!(failure.code(), Some(400 | 403 | 404)))
}

/// Whether who refused this will refuse the rest.
fn is_final(stop: &Stop) -> bool {
    let Stop::Http(failure) = stop else {
        return false;
    };
    is_of_one(stop) || failure.is_denied() || failure.code() == Some(429)
}

impl Connector for Gcp {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Gcp
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.read(fetch_request, sink))
    }
}
