//! How a Grafana is reached.

use crate::http::{Endpoint, HttpError, HttpOptions};

/// How a Grafana is reached.
#[derive(Clone, Debug)]
pub struct GrafanaOptions {
    /// The name of the source in coverage rows.
    pub name: String,
    /// Where it is, with any prefix, and who we are there. `GRAFANA_URL`,
    /// `GRAFANA_TOKEN` (or `GRAFANA_SERVICE_ACCOUNT_TOKEN`), `GRAFANA_USERNAME` and so on.
    pub reach: Endpoint,
    /// The organisation, where the token is for several. `GRAFANA_ORG_ID`.
    pub organisation: Option<String>,
}

impl GrafanaOptions {
    /// What the environment says.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut reach = Endpoint::from_env("GRAFANA", get);
        if reach.token.is_none() && reach.username.is_none() {
            let token = get("GRAFANA_SERVICE_ACCOUNT_TOKEN");
            let token = token.filter(|token| !token.trim().is_empty());
            reach.token = token.map(Into::into);
        }
        // Grafana's own header for it is another.
        let organisation = reach.org_id.take();
        Self {
            name: "grafana".to_owned(),
            reach,
            organisation,
        }
    }

    pub(super) fn http(&self) -> Result<HttpOptions, HttpError> {
        let url = self.reach.url.as_deref().ok_or_else(|| {
            HttpError::BadRequest("no Grafana address is configured (GRAFANA_URL)".to_owned())
        })?;
        let url = url.trim().trim_end_matches('/');
        let base = url.strip_suffix("/api").unwrap_or(url);
        let mut http = self.reach.http("Grafana", base.to_owned())?;
        if let Some(organisation) = &self.organisation {
            let name = "X-Grafana-Org-Id".to_owned();
            http.headers.push((name, organisation.trim().into()));
        }
        Ok(http)
    }
}
