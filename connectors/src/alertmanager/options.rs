//! How an Alertmanager is reached.

use crate::http::{Endpoint, HttpError, HttpOptions};

/// How an Alertmanager is reached.
#[derive(Clone, Debug)]
pub struct AlertmanagerOptions {
    /// The name of the source in coverage rows.
    pub name: String,
    /// Where it is, with any prefix, and who we are there. `ALERTMANAGER_URL`,
    /// `ALERTMANAGER_USERNAME` and so on.
    pub reach: Endpoint,
}

impl AlertmanagerOptions {
    /// What the environment says.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            name: "alertmanager".to_owned(),
            reach: Endpoint::from_env("ALERTMANAGER", get),
        }
    }

    pub(super) fn http(&self) -> Result<HttpOptions, HttpError> {
        let url = self.reach.url.as_deref().ok_or_else(|| {
            HttpError::BadRequest(
                "no Alertmanager address is configured (ALERTMANAGER_URL)".to_owned(),
            )
        })?;
        let url = url.trim().trim_end_matches('/');
        let ends = [
            "/api/v2/alerts",
            "/api/v2/silences",
            "/api/v2",
            "/api/v1/alerts",
        ];
        let base = ends.iter().find_map(|end| url.strip_suffix(end));
        self.reach
            .http("Alertmanager", base.unwrap_or(url).to_owned())
    }
}
