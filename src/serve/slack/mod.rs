//! Slack: a slash command, a mention and buttons, over HTTP or Socket Mode.
//!
//! A request is taken down and acknowledged at once (`desk`); what it wishes
//! is worked on afterwards (`answering`) and told where it was asked
//! (`talk`). What has to outlive a restart is in [`ServiceState`].

mod authorize;
mod command;
mod files;
mod handler;
mod http;
mod inbox;
mod reply;
mod socket;
mod subscriptions;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use whathappened_http::Secret;
use whathappened_slack::{Api, Verifier};
use whathappened_store::ServiceState;

use super::Service;
use crate::config;
use crate::error::Error;

pub use http::router;

/// What serves Slack.
pub struct Slack {
    service: Arc<Service>,
    settings: config::Slack,
    /// Believes requests over HTTP; there where a signing secret is.
    verifier: Option<Verifier>,
    /// Writes; there where a bot's token is.
    api: Option<Arc<Api>>,
    /// Answers where a request says, which takes no token.
    replies: Arc<Api>,
    /// Opens sockets; there where an app's token is.
    app: Option<Arc<Api>>,
    notes: ServiceState,
    /// Whether people of other firms see a channel, and until when that is believed.
    shared: Mutex<BTreeMap<String, (bool, i64)>>,
    /// Requests that are being worked on.
    busy: AtomicUsize,
}

impl fmt::Debug for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slack")
            .field("settings", &self.settings)
            .field("http", &self.verifier.is_some())
            .field("socket_mode", &self.app.is_some())
            .finish_non_exhaustive()
    }
}

impl Slack {
    /// Slack as configuration and environment have it; none where neither holds
    /// a signing secret or an app's token.
    ///
    /// # Errors
    /// When what is there cannot be used, or the notes cannot be opened.
    pub fn open(
        service: Arc<Service>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Arc<Self>>, Error> {
        let settings = service.config.slack.clone();
        let value = |name: &str, of_file: &Option<String>| {
            let value = env(name).or_else(|| of_file.clone());
            value
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
        };
        let secret = value("SLACK_SIGNING_SECRET", &settings.signing_secret);
        let app = value("SLACK_APP_TOKEN", &settings.app_token);
        if settings.enabled == Some(false) || (secret.is_none() && app.is_none()) {
            return Ok(None);
        }
        // Whoever guesses it speaks as Slack does.
        if secret.as_ref().is_some_and(|secret| secret.len() < 16) {
            return Err(Error::misused(
                "SLACK_SIGNING_SECRET (signing_secret of [slack]) is not a signing secret: it has fewer than 16 characters",
                "copy it from the app's page at api.slack.com/apps: Basic Information, Signing Secret",
            ));
        }
        let address = value("SLACK_API_URL", &settings.api_url);
        let address = address.unwrap_or_else(|| Api::ADDRESS.to_owned());
        let open = |variable: &str, start: &str, token: Option<String>| {
            let Some(token) = token else {
                return Ok(None);
            };
            if !token.starts_with(start) {
                return Err(Error::Usage(format!(
                    "{variable} is not a valid token: it must start with {start}"
                )));
            }
            match Api::new(&address, Secret::from(token)) {
                Ok(api) => Ok(Some(Arc::new(api))),
                Err(error) => Err(Error::Usage(format!("SLACK_API_URL: {error}"))),
            }
        };
        let bot = value("SLACK_BOT_TOKEN", &settings.bot_token);
        let api = open("SLACK_BOT_TOKEN", "xox", bot)?;
        if api.is_none() {
            tracing::warn!(
                "SLACK_BOT_TOKEN is not set: slash commands are answered, mentions and subscriptions are not"
            );
        }
        let replies = match &api {
            Some(api) => Arc::clone(api),
            None => Arc::new(
                Api::new(&address, Secret::from(String::new()))
                    .map_err(|error| Error::Usage(format!("SLACK_API_URL: {error}")))?,
            ),
        };
        Ok(Some(Arc::new(Self {
            replies,
            verifier: secret.map(|secret| Verifier::new(Secret::from(secret))),
            api,
            app: open("SLACK_APP_TOKEN", "xapp-", app)?,
            notes: ServiceState::open(&service.store, "slack")?,
            settings,
            service,
            shared: Mutex::default(),
            busy: AtomicUsize::new(0),
        })))
    }

    /// How it is reached, in a line for whoever starts the service.
    #[must_use]
    pub fn faces(&self) -> &'static str {
        match (&self.verifier, &self.app) {
            (Some(_), Some(_)) => "Slack: over HTTP at /slack/… and over Socket Mode",
            (Some(_), None) => "Slack: over HTTP at /slack/…",
            _ => "Slack: over Socket Mode",
        }
    }

    /// Seconds since 1970.
    fn now(&self) -> i64 {
        (self.service.clock)() / whathappened_model::time::SECOND
    }
}
