//! Azure as a live source among others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use futures::future::{BoxFuture, join, join_all};

use super::activity;
use super::arm::{Arm, path};
use super::asking::{Asking, Span};
use super::check;
use super::cover::{Resource, Tally};
use super::health;
use super::instances;
use super::locate::locate;
use super::login::Login;
use super::options::AzureOptions;
use super::scheduled::Scheduled;
use super::tokens::Tokens;
use super::wanted::Wanted;
use crate::cloud::field;
use crate::connector::{Ask, Clock, Connector, Health};
use crate::coverage::{Coverage, Status};
use crate::event::SourceKind;
use crate::http::{Auth, HttpOptions, Trouble};
use crate::observation::Observation;
use crate::recording::Sink;
use crate::time::Nanos;

/// Subscriptions that are asked where none is named.
const MOST_SUBSCRIPTIONS: usize = 20;

/// What is said where Azure could not be asked at all.
const ALL: Resource = Resource {
    name: "activity",
    would_have_shown: "who stopped, deleted or changed machines, and what Azure did to them",
    needs: "Microsoft.Resources/subscriptions/read",
    retention_s: Some(activity::KEPT / crate::time::SECOND),
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
    pub fn open(options: AzureOptions, clock: Clock) -> Result<Self, Trouble> {
        let login = Login::new(&options);
        Self::with(options, login, clock)
    }

    pub(super) fn with(
        mut options: AzureOptions,
        login: Login,
        clock: Clock,
    ) -> Result<Self, Trouble> {
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
    ) -> Result<BTreeSet<String>, Trouble> {
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
        match walk.await.trouble {
            Some(trouble) if all.is_empty() => Err(trouble),
            _ => Ok(all),
        }
    }

    async fn gather(&self, ask: &Ask, sink: &mut (dyn Sink + Send)) -> Vec<Coverage> {
        let Some(wanted) = Wanted::of(&ask.scope) else {
            return Vec::new();
        };
        let scheduled = async {
            match &self.scheduled {
                Some(scheduled) => {
                    let source = &self.options.name;
                    let (told, row) = scheduled.fetch(ask, &wanted, source).await;
                    (told, vec![row])
                }
                None => (Vec::new(), Vec::new()),
            }
        };
        let (scheduled, managed) =
            join(Box::pin(scheduled), Box::pin(self.managed(ask, &wanted))).await;
        let mut rows = Vec::new();
        for (told, coverage) in std::iter::once(scheduled).chain(managed) {
            if !told.is_empty() {
                sink.observe(told);
            }
            rows.extend(coverage);
        }
        rows.sort();
        rows
    }

    /// What Azure Resource Manager tells, subscription by subscription.
    async fn managed(&self, ask: &Ask, wanted: &Wanted) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        // Once for all: what is wrong with a login is wrong for everything.
        let login = self.arm.tokens.way(ask.deadline).await;
        if let Err(trouble) = login {
            return self.nothing(ask, wanted, &trouble);
        }
        let mut subscriptions = wanted.subscriptions();
        // Where the machines are is enough, unless more is configured.
        let more = !self.options.subscriptions.is_empty() && wanted.is_incomplete();
        if subscriptions.is_empty() || more {
            match self.subscriptions(ask.deadline).await {
                Ok(all) => subscriptions.extend(all),
                Err(trouble) => return self.nothing(ask, wanted, &trouble),
            }
        }
        if subscriptions.is_empty() {
            let trouble = Trouble::Credentials(
                "this login may see no subscription of Azure: give it the role Reader, or set AZURE_SUBSCRIPTION_ID and AZURE_TENANT_ID"
                    .to_owned(),
            );
            return self.nothing(ask, wanted, &trouble);
        }
        let left_out = subscriptions.len().saturating_sub(MOST_SUBSCRIPTIONS);
        let asked: Vec<String> = subscriptions.into_iter().take(MOST_SUBSCRIPTIONS).collect();
        let parts = asked
            .iter()
            .map(|subscription| Box::pin(self.one(ask, wanted, subscription)));
        let mut parts: Vec<_> = join_all(parts).await.into_iter().flatten().collect();
        if left_out > 0 {
            let mut tally = Tally::answered();
            tally.cut(format!(
                "{left_out} subscriptions more were not asked: name them in AZURE_SUBSCRIPTION_ID"
            ));
            let row = tally.row(&self.options.name, "", ALL, asked_span(ask), None);
            parts.push((Vec::new(), vec![row]));
        }
        parts
    }

    /// All that one subscription tells, all at once.
    async fn one(
        &self,
        ask: &Ask,
        wanted: &Wanted,
        subscription: &str,
    ) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        let mut wanted = wanted.clone();
        let mut found = Tally::default();
        if wanted.is_incomplete() {
            let (arm, options) = (&self.arm, &self.options);
            let looking = locate(
                arm,
                options,
                subscription,
                &mut wanted,
                ask.deadline,
                &mut found,
            );
            Box::pin(looking).await;
        }
        let asking = Asking {
            arm: &self.arm,
            options: &self.options,
            ask,
            wanted: &wanted,
            span: Span::of(ask),
            subscription,
        };
        if !wanted.all && wanted.ids_in(subscription).is_empty() {
            // Nothing of it is here; what looking for it met is told.
            return vec![instances::of_machines(&asking, found).await];
        }
        let parts: Vec<BoxFuture<'_, (Vec<Observation>, Vec<Coverage>)>> = vec![
            Box::pin(instances::of_machines(&asking, found)),
            Box::pin(activity::of_machines(&asking)),
            Box::pin(activity::of_azure(&asking)),
            Box::pin(health::of_machines(&asking)),
        ];
        join_all(parts).await
    }

    /// Azure could not be asked at all.
    fn nothing(
        &self,
        ask: &Ask,
        wanted: &Wanted,
        trouble: &Trouble,
    ) -> Vec<(Vec<Observation>, Vec<Coverage>)> {
        let mut accounts = wanted.subscriptions();
        accounts.extend(self.options.subscriptions.iter().cloned());
        if accounts.is_empty() {
            accounts.insert(String::new());
        }
        let rows = accounts.iter().map(|account| {
            let mut tally = Tally::default();
            tally.trouble(trouble, ALL.needs);
            let row = tally.row(&self.options.name, account, ALL, asked_span(ask), None);
            debug_assert_ne!(row.status, Status::Complete);
            row
        });
        vec![(Vec::new(), rows.collect())]
    }
}

fn asked_span(ask: &Ask) -> Option<(Nanos, Nanos)> {
    let span = Span::of(ask);
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
        ask: &'a Ask,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.gather(ask, sink))
    }
}
