//! AWS as a live source.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::api::{Api, Caller};
use super::options::{LiveOptions, label};
use super::{check, fetch};
use crate::aws_auth::AwsAccess;
use crate::connector::{Clock, Connector, FetchRequest, Health};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::sink::Sink;
use crate::time::Nanos;

/// How long the account's number is waited for: without it all else still works.
const FOR_A_NAME: Duration = Duration::from_secs(5);

/// Accounts of AWS.
#[derive(Debug)]
pub struct Aws {
    pub(super) options: LiveOptions,
    pub(super) accounts: Vec<Account>,
    place: String,
}

/// One account, as one of our identities sees it.
pub(super) struct Account {
    pub(super) label: String,
    pub(super) access: AwsAccess,
    caller: OnceCell<Caller>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Account").field(&self.label).finish()
    }
}

impl Account {
    pub(super) fn new(label: String, access: AwsAccess) -> Self {
        Self {
            label,
            access,
            caller: OnceCell::new(),
        }
    }

    /// The regions to look into where machines do not tell theirs.
    ///
    /// # Errors
    /// Says how to name one where none is named.
    pub(super) fn regions(&self, options: &LiveOptions) -> Result<Vec<String>, HttpError> {
        if options.regions.is_empty() {
            Ok(vec![self.access.region()?.to_owned()])
        } else {
            Ok(options.regions.clone())
        }
    }

    /// Its number, asked for once.
    ///
    /// # Errors
    /// Where credentials are missing or not accepted, or nobody answers.
    pub(super) async fn caller(&self, api: &Api, deadline: Instant) -> Result<&Caller, HttpError> {
        let soon = deadline.min(Instant::now() + FOR_A_NAME);
        let fetch_request = async || Ok(api.caller(soon).await?.0);
        self.caller.get_or_try_init(fetch_request).await
    }
}

impl Aws {
    /// Prepares to ask; asks for no credentials yet. Reads `~/.aws`; an instance
    /// is asked for its region where nothing names one. `clock` tells the times
    /// of signatures.
    ///
    /// # Errors
    /// For options that do not make sense.
    pub async fn open(options: LiveOptions, clock: Clock) -> Result<Self, HttpError> {
        let mut accounts = Vec::new();
        for account in &options.accounts {
            let access = AwsAccess::load(account, Arc::clone(&clock)).await;
            accounts.push(Account::new(label(account), access));
        }
        Self::of(options, accounts)
    }

    /// With accounts that are known already.
    pub(super) fn of(options: LiveOptions, accounts: Vec<Account>) -> Result<Self, HttpError> {
        let Some(first) = accounts.first() else {
            return Err(HttpError::BadRequest(
                "no AWS account is configured".to_owned(),
            ));
        };
        // Any region will do to see whether the endpoints are addresses.
        Api::new(&first.access, "us-east-1", &options)?;
        let labels: Vec<&str> = accounts
            .iter()
            .map(|account| account.label.as_str())
            .collect();
        Ok(Self {
            place: labels.join(", "),
            options,
            accounts,
        })
    }
}

impl Connector for Aws {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Aws
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(fetch::fetch(self, fetch_request, sink))
    }
}
