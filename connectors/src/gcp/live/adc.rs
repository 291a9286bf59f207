//! The file of Application Default Credentials: whose it is and what it names.

use std::path::{Path, PathBuf};

use google_cloud_auth::build_errors;
use google_cloud_auth::credentials::{
    Credentials, external_account, impersonated, service_account, user_account,
};
use serde_json::Value;

use super::options::GcpLogin;
use crate::http::HttpError;
use crate::redact::redact;

/// Whose credentials they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody's who ran `gcloud auth application-default login`.
    User,
    /// The key of a service account.
    ServiceAccount,
    /// Workload identity federation.
    Federated,
    /// Somebody's who acts as a service account.
    Impersonated,
    /// The machine's, from the metadata server.
    Machine,
}

/// A file of credentials.
#[derive(Debug)]
pub(super) struct Adc {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    json: Value,
}

impl Adc {
    /// Reads the file that is named, else the one of `gcloud`'s login, if any.
    pub(super) fn load(login: &GcpLogin) -> Result<Option<Self>, HttpError> {
        let (path, named) = match (&login.credentials_file, login.login_file()) {
            (Some(path), _) => (path.clone(), true),
            (None, Some(path)) => (path, false),
            (None, None) => return Ok(None),
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {
                return Ok(None);
            }
            Err(error) => {
                let by = if named {
                    "GOOGLE_APPLICATION_CREDENTIALS names"
                } else {
                    "the login of gcloud is in"
                };
                return Err(HttpError::Credentials(format!(
                    "{by} {}, which cannot be read: {error}",
                    path.display()
                )));
            }
        };
        Self::read(&path, &text).map(Some)
    }

    fn read(path: &Path, text: &str) -> Result<Self, HttpError> {
        let wrong = |why: &str| {
            HttpError::Credentials(format!(
                "{} is not a Google credentials file: {why}; create one with `gcloud auth application-default login`",
                path.display()
            ))
        };
        let json: Value =
            serde_json::from_str(text).map_err(|_| wrong("its content is not JSON"))?;
        let kind = match json.get("type").and_then(Value::as_str) {
            Some("authorized_user") => Kind::User,
            Some("service_account") => Kind::ServiceAccount,
            Some("external_account") => Kind::Federated,
            Some("impersonated_service_account") => Kind::Impersonated,
            Some(other) => {
                return Err(HttpError::Credentials(format!(
                    "{} holds credentials of type {other:?}, which cannot be used here; give a token instead: \
                     CLOUDSDK_AUTH_ACCESS_TOKEN=$(gcloud auth print-access-token)",
                    path.display()
                )));
            }
            None => return Err(wrong("it has no `type`")),
        };
        Ok(Self {
            path: path.to_owned(),
            kind,
            json,
        })
    }

    /// The project that a service account belongs to.
    pub(super) fn project(&self) -> Option<String> {
        self.text("project_id")
    }

    /// The project that a user's requests are counted on.
    pub(super) fn quota_project(&self) -> Option<String> {
        self.text("quota_project_id")
    }

    fn text(&self, key: &str) -> Option<String> {
        let text = self.json.get(key)?.as_str()?.trim();
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    /// What gets tokens with these credentials. A user's token has the scopes
    /// that the user agreed to at login, whatever is asked for later.
    pub(super) fn credentials(&self, scopes: &[&str]) -> Result<Credentials, HttpError> {
        let json = self.json.clone();
        let scopes = scopes.iter().copied();
        let built = match self.kind {
            Kind::User | Kind::Machine => user_account::Builder::new(json).build(),
            Kind::ServiceAccount => service_account::Builder::new(json)
                .with_access_specifier(service_account::AccessSpecifier::from_scopes(scopes))
                .build(),
            Kind::Federated => external_account::Builder::new(json)
                .with_scopes(scopes)
                .build(),
            Kind::Impersonated => impersonated::Builder::new(json).with_scopes(scopes).build(),
        };
        built.map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &build_errors::Error) -> HttpError {
        HttpError::Credentials(format!(
            "the credentials in {} cannot be used: {}",
            self.path.display(),
            redact(&error.to_string())
        ))
    }
}
