//! How a Prometheus, or what speaks its API, is reached.

use secrecy::SecretString;

use crate::http::{Endpoint, HttpError, HttpOptions};

/// How a Prometheus is reached.
#[derive(Clone, Debug)]
pub struct PrometheusOptions {
    /// The name of the source in coverage rows.
    pub name: String,
    /// Where it is, with any prefix, and who we are there. `PROMETHEUS_URL`,
    /// `PROMETHEUS_USERNAME` and so on; `MIMIR_ADDRESS`, `MIMIR_TENANT_ID`,
    /// `MIMIR_API_USER`, `MIMIR_API_KEY` and `MIMIR_AUTH_TOKEN` as mimirtool has them.
    pub reach: Endpoint,
    /// A Grafana that may read it for us. `GRAFANA_URL`.
    pub grafana_url: Option<String>,
    /// The uid of its data source there. `PROMETHEUS_DATASOURCE_UID`.
    pub datasource_uid: Option<String>,
    /// Grafana's token. `GRAFANA_TOKEN`, `GRAFANA_SERVICE_ACCOUNT_TOKEN`.
    pub grafana_token: Option<SecretString>,
}

impl PrometheusOptions {
    /// What the environment says.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut reach = Endpoint::from_env("PROMETHEUS", get);
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        if reach.url.is_none()
            && let Some(address) = get("MIMIR_ADDRESS")
        {
            reach.url = Some(format!(
                "{}/prometheus",
                address.trim().trim_end_matches('/')
            ));
            reach.org_id = reach.org_id.or_else(|| get("MIMIR_TENANT_ID"));
            let user = get("MIMIR_API_USER").or_else(|| get("MIMIR_TENANT_ID"));
            if let Some(key) = get("MIMIR_API_KEY") {
                reach.username = reach.username.or(user);
                reach.password = reach.password.or(Some(key.into()));
            } else if reach.username.is_none() {
                reach.token = reach.token.or(get("MIMIR_AUTH_TOKEN").map(Into::into));
            }
        }
        Self {
            name: "prometheus".to_owned(),
            reach,
            grafana_url: get("GRAFANA_URL"),
            datasource_uid: get("PROMETHEUS_DATASOURCE_UID"),
            grafana_token: get("GRAFANA_TOKEN")
                .or_else(|| get("GRAFANA_SERVICE_ACCOUNT_TOKEN"))
                .map(SecretString::from),
        }
    }

    /// The same for the client.
    ///
    /// # Errors
    /// Says what is missing or does not go together.
    pub(super) fn http(&self) -> Result<HttpOptions, HttpError> {
        let base = self.base()?;
        let mut reach = self.reach.clone();
        let nobody =
            reach.username.is_none() && reach.token.is_none() && reach.token_file.is_none();
        // Grafana's token is for Grafana and for nobody else.
        if nobody && base.contains("/api/datasources/proxy/") {
            reach.token.clone_from(&self.grafana_token);
        }
        reach.http("Prometheus", base)
    }

    fn base(&self) -> Result<String, HttpError> {
        if let Some(address) = &self.reach.url {
            // What people copy from queries and from remote-write settings.
            let address = address.trim().trim_end_matches('/');
            let ends = [
                "/api/v1/query_range",
                "/api/v1/query",
                "/api/v1/write",
                "/api/v1/push",
                "/api/v1",
            ];
            let base = ends.iter().find_map(|end| address.strip_suffix(end));
            return Ok(base.unwrap_or(address).to_owned());
        }
        match (&self.grafana_url, &self.datasource_uid) {
            (Some(grafana), Some(uid)) => {
                let uid: String =
                    url::form_urlencoded::byte_serialize(uid.trim().as_bytes()).collect();
                let grafana = grafana.trim().trim_end_matches('/');
                Ok(format!("{grafana}/api/datasources/proxy/uid/{uid}"))
            }
            _ => Err(HttpError::BadRequest(
                "no Prometheus address is configured (PROMETHEUS_URL, or GRAFANA_URL and PROMETHEUS_DATASOURCE_UID)"
                    .to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Auth;

    fn http(pairs: &[(&str, &str)]) -> Result<HttpOptions, HttpError> {
        let options = PrometheusOptions::from_env(&|name| {
            let found = pairs.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        });
        options.http()
    }

    #[test]
    fn the_usual_names_are_understood() {
        let basic = http(&[
            ("PROMETHEUS_URL", "https://p.example.com/prom/api/v1/query"),
            ("PROMETHEUS_USERNAME", "u"),
            ("PROMETHEUS_PASSWORD", "p"),
            ("PROMETHEUS_ORG_ID", "team-a"),
        ])
        .unwrap();
        assert_eq!(basic.base_url, "https://p.example.com/prom");
        assert!(matches!(basic.auth, Auth::Basic(user, _) if user == "u"));
        assert_eq!(basic.headers[0].0, "X-Scope-OrgID");
        let mimir = http(&[
            ("MIMIR_ADDRESS", "https://mimir.example.com/"),
            ("MIMIR_TENANT_ID", "7"),
            ("MIMIR_API_KEY", "k"),
        ])
        .unwrap();
        assert_eq!(mimir.base_url, "https://mimir.example.com/prometheus");
        assert!(matches!(mimir.auth, Auth::Basic(user, _) if user == "7"));
    }

    #[test]
    fn grafanas_token_goes_to_grafana_only() {
        let mut pairs = vec![
            ("GRAFANA_URL", "https://g.example.com/grafana/"),
            ("GRAFANA_TOKEN", "t"),
            ("PROMETHEUS_DATASOURCE_UID", "a/b"),
        ];
        let through = http(&pairs).unwrap();
        assert_eq!(
            through.base_url,
            "https://g.example.com/grafana/api/datasources/proxy/uid/a%2Fb"
        );
        assert!(matches!(through.auth, Auth::Bearer(_)));
        pairs.push(("PROMETHEUS_URL", "https://p.example.com"));
        assert!(matches!(http(&pairs).unwrap().auth, Auth::None));
    }

    #[test]
    fn what_does_not_go_together_is_told() {
        assert!(
            http(&[])
                .unwrap_err()
                .to_string()
                .contains("PROMETHEUS_URL")
        );
        let both = http(&[
            ("PROMETHEUS_URL", "http://p"),
            ("PROMETHEUS_USERNAME", "u"),
            ("PROMETHEUS_TOKEN", "t"),
        ]);
        assert!(both.unwrap_err().to_string().contains("only one"));
    }
}
