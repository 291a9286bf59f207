//! Credentials that are asked for when needed and kept until they expire.

use std::error::Error;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::Mutex;

use crate::http::HttpError;
use crate::redact::redact;

/// They are renewed this long before they expire, so that none expires on its way.
const BEFORE: Duration = Duration::from_secs(300);

/// A source of credentials and what it gave last.
#[derive(Debug)]
pub(super) struct CachedCredentials {
    provider: Option<SharedCredentialsProvider>,
    /// Where they come from, for messages: ``profile `dev` ``.
    source: String,
    /// How to log in again.
    profile: Option<String>,
    last: Mutex<Option<Credentials>>,
}

impl CachedCredentials {
    pub(super) fn new(
        provider: Option<SharedCredentialsProvider>,
        source: String,
        profile: Option<String>,
    ) -> Self {
        Self {
            provider,
            source,
            profile,
            last: Mutex::new(None),
        }
    }

    /// Credentials that are good at `now`.
    pub(super) async fn at(&self, now: SystemTime) -> Result<Credentials, HttpError> {
        // One asks, the others wait for what it gets.
        let mut last = self.last.lock().await;
        if let Some(known) = last.as_ref().filter(|known| good(known, now + BEFORE)) {
            return Ok(known.clone());
        }
        let requested = match &self.provider {
            Some(provider) => provider
                .provide_credentials()
                .await
                .map_err(|error| self.failed(&error)),
            None => Err(HttpError::Credentials(format!(
                "no source of AWS credentials is configured ({})",
                self.source
            ))),
        };
        match requested {
            Ok(fresh) => {
                *last = Some(fresh.clone());
                Ok(fresh)
            }
            // What has some minutes left is better than none.
            Err(failure) => match last.as_ref().filter(|known| good(known, now)) {
                Some(known) => Ok(known.clone()),
                None => Err(failure),
            },
        }
    }

    /// What failed, where, and what to do about it.
    fn failed(&self, error: &(dyn Error + 'static)) -> HttpError {
        let mut why: Vec<String> = Vec::new();
        let mut next = Some(error);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Outer errors repeat inner ones.
            if !why.iter().any(|known| known.contains(&text)) {
                why.push(text);
            }
            next = cause.source();
        }
        let why = why.join(": ");
        let lower = why.to_lowercase();
        let profile = self
            .profile
            .as_ref()
            .map_or(String::new(), |name| format!(" --profile {name}"));
        let advice = if lower.contains("sso") {
            format!("log in with `aws sso login{profile}`")
        } else if lower.contains("profile") {
            "see `aws configure list-profiles`, or set AWS_PROFILE".to_owned()
        } else {
            "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role is attached"
                .to_owned()
        };
        HttpError::Credentials(format!(
            "no AWS credentials from {}: {}; {advice}",
            self.source,
            redact(&why)
        ))
    }
}

fn good(credentials: &Credentials, at: SystemTime) -> bool {
    credentials.expiry().is_none_or(|expiry| at < expiry)
}
