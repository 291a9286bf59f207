//! Tokens: asked for when the first request goes out, kept while they last.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use google_cloud_auth::credentials::{CacheableResource, Credentials, impersonated, mds};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{timeout, timeout_at};

use super::adc::{Adc, Kind};
use super::options::GcpLogin;
use crate::http::{Authorize, HttpError};
use crate::redact::redact;

/// What we may do with a token: read logs and the inventory.
const SCOPES: &[&str] = &[
    "https://www.googleapis.com/auth/logging.read",
    "https://www.googleapis.com/auth/compute.readonly",
];

/// What acting as somebody else asks for.
const TO_IMPERSONATE: &[&str] = &["https://www.googleapis.com/auth/cloud-platform"];

/// Which project requests are counted on.
const COUNTED_ON: HeaderName = HeaderName::from_static("x-goog-user-project");

/// A token is there within this time or not at all.
const PATIENCE: Duration = Duration::from_secs(15);

/// Who we are, and the token that says so.
pub(super) struct Login {
    options: GcpLogin,
    quota_project: Option<String>,
    current: Mutex<Option<(Kind, Credentials)>>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("options", &self.options)
            .field("quota_project", &self.quota_project)
            .finish_non_exhaustive()
    }
}

impl Authorize for Login {
    fn authorize<'a>(
        &'a self,
        request: &'a mut reqwest::Request,
    ) -> BoxFuture<'a, Result<(), HttpError>> {
        Box::pin(async {
            for (name, value) in &self.headers().await? {
                request.headers_mut().insert(name, value.clone());
            }
            Ok(())
        })
    }
}

impl Login {
    pub(super) fn new(options: &GcpLogin, quota_project: Option<&str>) -> Self {
        Self {
            options: options.clone(),
            quota_project: quota_project.map(str::to_owned),
            current: Mutex::new(None),
        }
    }

    /// Whether there is a token, by `deadline`.
    ///
    /// # Errors
    /// As [`Self::headers`].
    pub(super) async fn ready(&self, deadline: Instant) -> Result<(), HttpError> {
        let allowed = deadline.saturating_duration_since(Instant::now());
        let requested = timeout_at(deadline.into(), self.headers()).await;
        requested
            .map_err(|_| HttpError::TimedOut(allowed))?
            .map(|_| ())
    }

    /// The headers that say who we are.
    ///
    /// # Errors
    /// [`HttpError::Credentials`] that says what is missing and how to get it.
    async fn headers(&self) -> Result<HeaderMap, HttpError> {
        let mut headers = match self.given().await? {
            Some(headers) => headers,
            None => self.found().await?,
        };
        if let Some(project) = &self.quota_project {
            let value = HeaderValue::from_str(project).map_err(|_| {
                HttpError::BadRequest(format!("the quota project {project:?} is not a project ID"))
            })?;
            headers.insert(COUNTED_ON, value);
        }
        Ok(headers)
    }

    /// Forgets a token that is no longer taken: a computer that slept believes
    /// in it for longer than it lasts. Whether there may be another now.
    pub(super) async fn forget(&self) -> bool {
        self.current.lock().await.take().is_some()
    }

    /// The token that was given, as it is now.
    async fn given(&self) -> Result<Option<HeaderMap>, HttpError> {
        let options = &self.options;
        let token = match (&options.access_token, &options.access_token_file) {
            (Some(token), _) => token.expose_secret().to_owned(),
            (None, Some(path)) => tokio::fs::read_to_string(path).await.map_err(|error| {
                HttpError::Credentials(format!(
                    "the token file {} cannot be read: {error}",
                    path.display()
                ))
            })?,
            (None, None) => return Ok(None),
        };
        if options.impersonate.is_some() {
            return Err(HttpError::Credentials(
                "an access token is given and a service account to act as: give a token of that service account, \
                 `gcloud auth print-access-token --impersonate-service-account=…`"
                    .to_owned(),
            ));
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
            .map_err(|_| HttpError::Credentials("the access token is none".to_owned()))?;
        value.set_sensitive(true);
        Ok(Some(HeaderMap::from_iter([(AUTHORIZATION, value)])))
    }

    /// A token of the Application Default Credentials.
    async fn found(&self) -> Result<HeaderMap, HttpError> {
        let (kind, credentials) = {
            let mut current = self.current.lock().await;
            match &*current {
                Some(known) => known.clone(),
                None => current.insert(self.build()?).clone(),
            }
        };
        let (why, passing) = match timeout(PATIENCE, credentials.headers(Default::default())).await
        {
            Ok(Ok(CacheableResource::New { data, .. })) => return Ok(data),
            Ok(Ok(CacheableResource::NotModified)) => ("no token was returned".to_owned(), false),
            Ok(Err(error)) => (words(&error), error.is_transient()),
            Err(_) => (format!("no response within {} s", PATIENCE.as_secs()), true),
        };
        // What failed for good stays so until it is made anew, from a file that
        // somebody may have renewed meanwhile.
        self.forget().await;
        Err(if passing && kind != Kind::Machine {
            HttpError::Broken(format!("Google did not issue a token: {why}"))
        } else {
            HttpError::Credentials(self.advice(kind, &why))
        })
    }

    fn build(&self) -> Result<(Kind, Credentials), HttpError> {
        // The library signs with the process's TLS provider and panics without
        // one. Someone else's choice is as good.
        crate::http::choose_encryption();
        let principal = self.options.impersonate.as_deref();
        let scopes = if principal.is_some() {
            TO_IMPERSONATE
        } else {
            SCOPES
        };
        let (kind, credentials) = match (Adc::load(&self.options)?, &self.options.metadata) {
            (Some(adc), _) => (adc.kind, adc.credentials(scopes)?),
            // It gives what the machine was started with; there is nothing to ask for.
            (None, Some(url)) => {
                let built = mds::Builder::default().with_endpoint(url).build();
                let credentials =
                    built.map_err(|error| HttpError::Credentials(error.to_string()))?;
                (Kind::Machine, credentials)
            }
            (None, None) => return Err(HttpError::Credentials(self.nothing())),
        };
        let Some(principal) = principal else {
            return Ok((kind, credentials));
        };
        let built = impersonated::Builder::from_source_credentials(credentials)
            .with_target_principal(principal)
            .with_scopes(SCOPES.iter().copied())
            .build();
        let credentials = built.map_err(|error| {
            HttpError::Credentials(format!("cannot impersonate {principal}: {error}"))
        })?;
        Ok((Kind::Impersonated, credentials))
    }

    /// What to say where there are no credentials at all.
    fn nothing(&self) -> String {
        let place = self.options.login_file();
        let place = place.map_or_else(String::new, |path| format!(", no {}", path.display()));
        format!(
            "no Google credentials: no GOOGLE_APPLICATION_CREDENTIALS{place}, and no metadata server; \
             run `gcloud auth application-default login`"
        )
    }

    fn advice(&self, kind: Kind, why: &str) -> String {
        let file = || {
            let path = self.options.credentials_file.clone();
            let path = path.or_else(|| self.options.login_file());
            path.map_or_else(String::new, |path| format!(" of {}", path.display()))
        };
        match kind {
            Kind::Machine => format!("{} ({why})", self.nothing()),
            Kind::User => format!(
                "Google did not renew the login{}: {why}; run `gcloud auth application-default login`",
                file()
            ),
            Kind::ServiceAccount => format!(
                "the service account key{} did not yield a token: {why}; the key may have been deleted or disabled",
                file()
            ),
            Kind::Federated => format!(
                "workload identity federation{} did not yield a token: {why}; check the pool's \
                 provider and that the subject token exists (roles/iam.workloadIdentityUser)",
                file()
            ),
            Kind::Impersonated => format!(
                "no token for the service account to impersonate: {why}; this needs roles/iam.serviceAccountTokenCreator on \
                 it, and a good login (`gcloud auth application-default login`)"
            ),
        }
    }
}

/// What went wrong in the words of who refused, else of the innermost cause.
fn words(error: &(dyn Error + 'static)) -> String {
    let mut last = error.to_string();
    let mut next = Some(error);
    while let Some(cause) = next {
        last = cause.to_string();
        if let Some((_, body)) = last.split_once("body=<") {
            return refused(body.rsplit_once('>').map_or(body, |(body, _)| body));
        }
        next = cause.source();
    }
    short(&last)
}

/// `invalid_grant: Token has been expired or revoked.`
fn refused(body: &str) -> String {
    let Ok(json) = serde_json::from_str::<Value>(body) else {
        return short(body);
    };
    let text = |key: &str| json.get(key).and_then(Value::as_str);
    match (text("error"), text("error_description")) {
        (Some(code), Some(description)) => short(&format!("{code}: {description}")),
        (Some(code), None) => short(code),
        _ => crate::http::words(body.as_bytes()),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    redact(&line.chars().take(240).collect::<String>()).into_owned()
}
