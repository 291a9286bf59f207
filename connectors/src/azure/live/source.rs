//! Azure as a live source among others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use futures::future::{BoxFuture, join, join_all};

use super::activity;
use super::arm::{Arm, path};
use super::check;
use super::cover::{Resource, ResourceTally};
use super::health;
use super::instances;
use super::locate::locate;
use super::login::Login;
use super::machine_scope::MachineScope;
use super::options::AzureOptions;
use super::query::{Span, SubscriptionQuery};
use super::scheduled::Scheduled;
use super::tokens::Tokens;
use crate::cloud::field;
use crate::connector::{Clock, Connector, FetchRequest, Health};
use crate::coverage::{Coverage, Status};
use crate::event::SourceKind;
use crate::http::{Auth, HttpError, HttpOptions};
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::Nanos;

/// Subscriptions that are asked where none is named.
const MOST_SUBSCRIPTIONS: usize = 20;

/// What is said where Azure could not be asked at all.
const ALL: Resource = Resource {
    name: "activity",
    would_have_shown: "who stopped, deleted or changed machines, and what Azure did to them",
    needs: "Microsoft.Resources/subscriptions/read",
    retention_s: Some(activity::RETENTION / crate::time::SECOND),
};

/// Azure, to be asked.
#[derive(Debug)]
pub struct Azure {
    pub(super) options: AzureOptions,
    pub(super) arm: Arm,
    pub(super) scheduled: Option<Scheduled>,
    pub(super) place: String,
}

impl Azure {
    /// Prepares to ask; asks nothing yet, and logs in with the first request.
    /// `clock` tells when tokens expire.
    ///
    /// # Errors
    /// For options that do not make sense.
    pub fn open(options: AzureOptions, clock: Clock) -> Result<Self, HttpError> {
        let login = Login::new(&options);
        Self::with(options, login, clock)
    }

    pub(super) fn with(
        mut options: AzureOptions,
        login: Login,
        clock: Clock,
    ) -> Result<Self, HttpError> {
        for subscription in &mut options.subscriptions {
            subscription.make_ascii_lowercase();
        }
        let tokens = Arc::new(Tokens::new(login, clock));
        let authorize: Arc<Tokens> = Arc::clone(&tokens);
        let http = HttpOptions {
            base_url: options.cloud.manager.clone(),
            auth: Auth::Custom(authorize),
            ..options.http.clone()
        };
        let arm = Arm::new(http, tokens)?;
        let scheduled = match &options.scheduled_events {
            Some(address) => Some(Scheduled::new(address)?),
            None => None,
        };
        let place = if options.subscriptions.is_empty() {
            arm.address()
        } else {
            options.subscriptions.join(",")
        };
        Ok(Self {
            options,
            arm,
            scheduled,
            place,
        })
    }

    /// The subscriptions that are configured, else all that we may see.
    pub(super) async fn subscriptions(
        &self,
        deadline: Instant,
    ) -> Result<BTreeSet<String>, HttpError> {
        if !self.options.subscriptions.is_empty() {
            return Ok(self.options.subscriptions.iter().cloned().collect());
        }
        let mut all = BTreeSet::new();
        let first = path("subscriptions", &[("api-version", "2022-12-01")]);
        let walk = self.arm.walk(first, 10, deadline, |fields| {
            let id = field::text(&fields, &["subscriptionId"]);
            let state = field::text(&fields, &["state"]).unwrap_or_default();
            if let Some(id) = id.filter(|_| !matches!(state, "Disabled" | "Deleted")) {
                all.insert(id.to_ascii_lowercase());
            }
            true
        });
        match walk.await.failure {
            Some(failure) if all.is_empty() => Err(failure),
            _ => Ok(all),
        }
    }

    async fn gather(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let Some(wanted) = MachineScope::of(&fetch_request.scope) else {
            return Vec::new();
        };
        let scheduled = async {
            match &self.scheduled {
                Some(scheduled) => {
                    let source = &self.options.name;
                    let (emitted, row) = scheduled.fetch(fetch_request, &wanted, source).await;
                    (emitted, vec![row])
                }
                None => (Vec::new(), Vec::new()),
            }
        };
        let (scheduled, managed) = join(
            Box::pin(scheduled),
            Box::pin(self.managed(fetch_request, &wanted)),
        )
        .await;
        let mut rows = Vec::new();
        for (emitted, coverage) in std::iter::once(scheduled).chain(managed) {
            if !emitted.is_empty() {
                sink.observe(emitted);
            }
            rows.extend(coverage);
        }
        rows.sort();
        rows
    }

    /// What Azure Resource Manager tells, subscription by subscription.
    async fn managed(
        &self,
        fetch_request: &FetchRequest,
        wanted: &MachineScope,
    ) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        // Once for all: what is wrong with a login is wrong for everything.
        let login = self.arm.tokens.way(fetch_request.deadline).await;
        if let Err(failure) = login {
            return self.nothing(fetch_request, wanted, &failure);
        }
        let mut subscriptions = wanted.subscriptions();
        // Where the machines are is enough, unless more is configured.
        let more = !self.options.subscriptions.is_empty() && wanted.is_incomplete();
        if subscriptions.is_empty() || more {
            match self.subscriptions(fetch_request.deadline).await {
                Ok(all) => subscriptions.extend(all),
                Err(failure) => return self.nothing(fetch_request, wanted, &failure),
            }
        }
        if subscriptions.is_empty() {
            let failure = HttpError::Credentials(
                "this login cannot see any Azure subscription: give it the role Reader, or set AZURE_SUBSCRIPTION_ID and AZURE_TENANT_ID"
                    .to_owned(),
            );
            return self.nothing(fetch_request, wanted, &failure);
        }
        let left_out = subscriptions.len().saturating_sub(MOST_SUBSCRIPTIONS);
        let requested: Vec<String> = subscriptions.into_iter().take(MOST_SUBSCRIPTIONS).collect();
        let parts = requested
            .iter()
            .map(|subscription| Box::pin(self.one(fetch_request, wanted, subscription)));
        let mut parts: Vec<_> = join_all(parts).await.into_iter().flatten().collect();
        if left_out > 0 {
            let mut tally = ResourceTally::answered();
            tally.cut(format!(
                "{left_out} more subscriptions were not queried: name them in AZURE_SUBSCRIPTION_ID"
            ));
            let row = tally.row(&self.options.name, "", ALL, asked_span(fetch_request), None);
            parts.push((Vec::new(), vec![row]));
        }
        parts
    }

    /// All that one subscription tells, all at once.
    async fn one(
        &self,
        fetch_request: &FetchRequest,
        wanted: &MachineScope,
        subscription: &str,
    ) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        let mut wanted = wanted.clone();
        let mut found = ResourceTally::default();
        if wanted.is_incomplete() {
            let (arm, options) = (&self.arm, &self.options);
            let looking = locate(
                arm,
                options,
                subscription,
                &mut wanted,
                fetch_request.deadline,
                &mut found,
            );
            Box::pin(looking).await;
        }
        let query = SubscriptionQuery {
            arm: &self.arm,
            options: &self.options,
            fetch_request,
            wanted: &wanted,
            span: Span::of(fetch_request),
            subscription,
        };
        if !wanted.all && wanted.ids_in(subscription).is_empty() {
            // Nothing of it is here; what looking for it met is told.
            return vec![instances::of_machines(&query, found).await];
        }
        let parts: Vec<BoxFuture<'_, (Vec<Observation>, Vec<Coverage>)>> = vec![
            Box::pin(instances::of_machines(&query, found)),
            Box::pin(activity::of_machines(&query)),
            Box::pin(activity::of_azure(&query)),
            Box::pin(health::of_machines(&query)),
        ];
        join_all(parts).await
    }

    /// Azure could not be asked at all.
    fn nothing(
        &self,
        fetch_request: &FetchRequest,
        wanted: &MachineScope,
        failure: &HttpError,
    ) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        let mut accounts = wanted.subscriptions();
        accounts.extend(self.options.subscriptions.iter().cloned());
        if accounts.is_empty() {
            accounts.insert(String::new());
        }
        let rows = accounts.iter().map(|account| {
            let mut tally = ResourceTally::default();
            tally.failure(failure, ALL.needs);
            let row = tally.row(
                &self.options.name,
                account,
                ALL,
                asked_span(fetch_request),
                None,
            );
            debug_assert_ne!(row.status, Status::Complete);
            row
        });
        vec![(Vec::new(), rows.collect())]
    }
}

fn asked_span(fetch_request: &FetchRequest) -> Option<(Nanos, Nanos)> {
    let span = Span::of(fetch_request);
    Some((span.from, span.to))
}

impl Connector for Azure {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Azure
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
