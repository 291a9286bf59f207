//! How a Loki is reached, under the names that `logcli` uses.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::HeaderName;
use secrecy::SecretString;

use crate::http::{Auth, HttpError, HttpOptions};
use crate::log_store::LabelNames;
use crate::time::{Nanos, SECOND};

/// How a Loki is reached, and how much is asked of it.
#[derive(Clone, Debug)]
pub struct LokiOptions {
    /// The name of the source in coverage rows.
    pub name: String,
    /// Where Loki, its gateway or the proxy before it is, with any prefix:
    /// `https://logs.example.com/loki-read`. `LOKI_ADDR`.
    pub address: Option<String>,
    /// A Grafana that may read it for us: its address with any prefix. `GRAFANA_URL`.
    pub grafana_url: Option<String>,
    /// The uid of Loki's data source there. `GRAFANA_DATASOURCE_UID`.
    pub datasource_uid: Option<String>,
    /// Grafana's token, for a service account. `GRAFANA_TOKEN`, `GRAFANA_SERVICE_ACCOUNT_TOKEN`.
    pub grafana_token: Option<SecretString>,
    /// User of a gateway; on Grafana Cloud the instance's number. `LOKI_USERNAME`.
    pub username: Option<String>,
    /// Its password. `LOKI_PASSWORD`.
    pub password: Option<SecretString>,
    /// A token instead. `LOKI_BEARER_TOKEN`.
    pub bearer_token: Option<SecretString>,
    /// A file with one, read for each request. `LOKI_BEARER_TOKEN_FILE`.
    pub bearer_token_file: Option<PathBuf>,
    /// The header that carries what proves who we are, where it is not
    /// `Authorization`. `LOKI_AUTH_HEADER`.
    pub auth_header: Option<String>,
    /// Tenants; several are asked at once where Loki allows it. `LOKI_ORG_ID`, parted by `|`.
    pub tenants: Vec<String>,
    /// Headers that gateways ask for. `LOKI_QUERY_TAGS` and `LOKI_NO_CACHE` add theirs.
    pub headers: Vec<(String, SecretString)>,
    /// Certificates to trust. `LOKI_CA_CERT_PATH`.
    pub ca_file: Option<PathBuf>,
    /// Our own certificate. `LOKI_CLIENT_CERT_PATH`.
    pub client_certificate: Option<PathBuf>,
    /// Its key. `LOKI_CLIENT_KEY_PATH`.
    pub client_key: Option<PathBuf>,
    /// Whether any certificate will do. `LOKI_TLS_SKIP_VERIFY`.
    pub skip_verify: bool,
    /// A proxy. `LOKI_HTTP_PROXY_URL`.
    pub proxy: Option<String>,
    /// Tries of one request. `LOKI_CLIENT_RETRIES` and the first.
    pub tries: usize,
    /// How long one try may take.
    pub request_timeout: Duration,
    /// The names under which collectors tell whose line it is.
    pub names: LabelNames,
    /// Lines asked for at once; less where the tenant's limit says so.
    pub page: usize,
    /// The longest stretch of time asked for at once, in nanoseconds.
    pub slice: Nanos,
    /// Lines may come this late, in nanoseconds. Loki takes lines up to an hour
    /// older than the newest of their stream, but collectors are seldom behind.
    pub lag: Nanos,
}

impl Default for LokiOptions {
    fn default() -> Self {
        Self {
            name: "loki".to_owned(),
            address: None,
            grafana_url: None,
            datasource_uid: None,
            grafana_token: None,
            username: None,
            password: None,
            bearer_token: None,
            bearer_token_file: None,
            auth_header: None,
            tenants: Vec::new(),
            headers: Vec::new(),
            ca_file: None,
            client_certificate: None,
            client_key: None,
            skip_verify: false,
            proxy: None,
            tries: 4,
            request_timeout: Duration::from_secs(70),
            names: LabelNames::default(),
            page: 5000,
            slice: 86_400 * SECOND,
            lag: 120 * SECOND,
        }
    }
}

impl LokiOptions {
    /// What the environment says, under `logcli`'s names.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let secret = |name: &str| get(name).map(SecretString::from);
        let path = |name: &str| get(name).map(PathBuf::from);
        // Go's words for yes.
        let yes = |name: &str| {
            let value = get(name);
            matches!(
                value.as_deref(),
                Some("1" | "t" | "T" | "true" | "TRUE" | "True")
            )
        };
        let default = Self::default();
        let mut headers = Vec::new();
        if let Some(tags) = secret("LOKI_QUERY_TAGS") {
            headers.push(("X-Query-Tags".to_owned(), tags));
        }
        if yes("LOKI_NO_CACHE") {
            headers.push(("Cache-Control".to_owned(), "no-cache".into()));
        }
        Self {
            address: get("LOKI_ADDR"),
            grafana_url: get("GRAFANA_URL"),
            datasource_uid: get("GRAFANA_DATASOURCE_UID"),
            grafana_token: secret("GRAFANA_TOKEN")
                .or_else(|| secret("GRAFANA_SERVICE_ACCOUNT_TOKEN")),
            username: get("LOKI_USERNAME"),
            password: secret("LOKI_PASSWORD"),
            bearer_token: secret("LOKI_BEARER_TOKEN"),
            bearer_token_file: path("LOKI_BEARER_TOKEN_FILE"),
            auth_header: get("LOKI_AUTH_HEADER"),
            tenants: get("LOKI_ORG_ID").map_or_else(Vec::new, |all| {
                all.split('|').map(|one| one.trim().to_owned()).collect()
            }),
            headers,
            ca_file: path("LOKI_CA_CERT_PATH"),
            client_certificate: path("LOKI_CLIENT_CERT_PATH"),
            client_key: path("LOKI_CLIENT_KEY_PATH"),
            skip_verify: yes("LOKI_TLS_SKIP_VERIFY"),
            proxy: get("LOKI_HTTP_PROXY_URL"),
            tries: get("LOKI_CLIENT_RETRIES")
                .and_then(|text| text.trim().parse::<usize>().ok())
                .filter(|retries| *retries > 0)
                .map_or(default.tries, |retries| retries.min(9) + 1),
            ..default
        }
    }

    /// Whether it says where a Loki is.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.address.is_some() || (self.grafana_url.is_some() && self.datasource_uid.is_some())
    }

    /// The tenants as the header has them.
    pub(super) fn tenant(&self) -> Option<String> {
        (!self.tenants.is_empty()).then(|| self.tenants.join("|"))
    }

    /// Whether a Grafana stands between.
    pub(super) fn through_grafana(&self) -> bool {
        match &self.address {
            Some(address) => address.contains("/api/datasources/proxy/"),
            None => self.grafana_url.is_some(),
        }
    }

    /// The same for the HTTP client.
    ///
    /// # Errors
    /// Says which options are missing or do not go together.
    pub(super) fn http(&self) -> Result<HttpOptions, HttpError> {
        let mut headers = self.headers.clone();
        // Behind Grafana the data source knows its tenant; a configured one is still sent.
        if let Some(tenant) = self.tenant() {
            headers.push(("X-Scope-OrgID".to_owned(), tenant.into()));
        }
        Ok(HttpOptions {
            auth: self.auth()?,
            headers,
            ca_file: self.ca_file.clone(),
            client_certificate: self
                .client_certificate
                .clone()
                .map(|certificate| (certificate, self.client_key.clone())),
            accept_any_certificate: self.skip_verify,
            proxy: self.proxy.clone(),
            request_timeout: self.request_timeout,
            tries: self.tries,
            // One question of many days is split by Loki itself: more at once fill its queue.
            concurrency: 2,
            ..HttpOptions::new(self.base()?)
        })
    }

    fn base(&self) -> Result<String, HttpError> {
        if let Some(address) = &self.address {
            // What people copy from push URLs and from Grafana's settings.
            let address = address.trim().trim_end_matches('/');
            let address = address.strip_suffix("/push").unwrap_or(address);
            let address = address.strip_suffix("/loki/api/v1").unwrap_or(address);
            return Ok(address.to_owned());
        }
        match (&self.grafana_url, &self.datasource_uid) {
            (Some(grafana), Some(uid)) => {
                let uid: String =
                    url::form_urlencoded::byte_serialize(uid.trim().as_bytes()).collect();
                Ok(format!(
                    "{}/api/datasources/proxy/uid/{uid}",
                    grafana.trim().trim_end_matches('/')
                ))
            }
            (Some(_), None) => Err(HttpError::BadRequest(
                "the uid of Loki's data source in Grafana is missing".to_owned(),
            )),
            _ => Err(HttpError::BadRequest(
                "no Loki address is configured (LOKI_ADDR)".to_owned(),
            )),
        }
    }

    fn auth(&self) -> Result<Auth, HttpError> {
        let ways = [
            self.username.is_some(),
            self.bearer_token.is_some(),
            self.bearer_token_file.is_some(),
        ];
        if ways.into_iter().filter(|given| *given).count() > 1 {
            return Err(HttpError::BadRequest(
                "only one of a user, a bearer token and a bearer token file may be given for Loki"
                    .to_owned(),
            ));
        }
        let auth = if let Some(user) = &self.username {
            let password = self.password.clone().unwrap_or_else(|| "".into());
            Auth::Basic(user.clone(), password)
        } else if let Some(token) = &self.bearer_token {
            Auth::Bearer(token.clone())
        } else if let Some(file) = &self.bearer_token_file {
            Auth::BearerFile(file.clone())
        } else {
            match &self.grafana_token {
                // Grafana's token is for Grafana and for nobody else.
                Some(token) if self.through_grafana() => Auth::Bearer(token.clone()),
                _ => Auth::None,
            }
        };
        let Some(name) = &self.auth_header else {
            return Ok(auth);
        };
        if name.eq_ignore_ascii_case("authorization") || matches!(auth, Auth::None) {
            return Ok(auth);
        }
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| HttpError::BadRequest(format!("{name:?} is not a header name")))?;
        Ok(Auth::InHeader(name, Box::new(auth)))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn from(pairs: &[(&str, &str)]) -> LokiOptions {
        LokiOptions::from_env(&|name| {
            let found = pairs.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn logclis_environment_is_understood() {
        let options = from(&[
            (
                "LOKI_ADDR",
                "https://logs.example.com/read/loki/api/v1/push",
            ),
            ("LOKI_USERNAME", "42"),
            ("LOKI_PASSWORD", "pw"),
            ("LOKI_ORG_ID", "a|b"),
            ("LOKI_TLS_SKIP_VERIFY", "true"),
            ("LOKI_CLIENT_CERT_PATH", "/c"),
            ("LOKI_CLIENT_KEY_PATH", "/k"),
            ("LOKI_AUTH_HEADER", "X-Auth"),
            ("LOKI_QUERY_TAGS", "Source=x"),
            ("LOKI_CLIENT_RETRIES", "1"),
        ]);
        assert!(options.is_configured() && !options.through_grafana());
        let http = options.http().unwrap();
        assert_eq!(http.base_url, "https://logs.example.com/read");
        assert!(http.accept_any_certificate);
        assert_eq!((http.tries, http.concurrency), (2, 2));
        assert_eq!(
            http.client_certificate,
            Some(("/c".into(), Some("/k".into())))
        );
        assert!(matches!(http.auth, Auth::InHeader(name, _) if name == "x-auth"));
        let headers: Vec<_> = http
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(
            headers,
            [("X-Query-Tags", "Source=x"), ("X-Scope-OrgID", "a|b")]
        );
        assert!(!from(&[("LOKI_ADDR", " ")]).is_configured());
    }

    #[test]
    fn grafanas_token_goes_to_grafana_only() {
        let pairs = [
            ("GRAFANA_URL", "https://g.example.com/grafana/"),
            ("GRAFANA_DATASOURCE_UID", "P8E80/F9"),
            ("GRAFANA_TOKEN", "glsa"),
        ];
        let http = from(&pairs).http().unwrap();
        assert_eq!(
            http.base_url,
            "https://g.example.com/grafana/api/datasources/proxy/uid/P8E80%2FF9"
        );
        assert!(matches!(http.auth, Auth::Bearer(_)));
        let mut direct = pairs.to_vec();
        direct.push(("LOKI_ADDR", "https://loki.example.com"));
        assert!(matches!(from(&direct).http().unwrap().auth, Auth::None));
        let copied = "https://g.example.com/api/datasources/proxy/uid/x/loki/api/v1/";
        direct.pop();
        direct.push(("LOKI_ADDR", copied));
        let http = from(&direct).http().unwrap();
        assert!(http.base_url.ends_with("/proxy/uid/x"), "{}", http.base_url);
        assert!(matches!(http.auth, Auth::Bearer(_)));
    }

    #[test]
    fn options_that_do_not_go_together_are_told() {
        for (pairs, words) in [
            (&[("LOKI_ORG_ID", "x")][..], "LOKI_ADDR"),
            (&[("GRAFANA_URL", "https://g")], "uid"),
            (
                &[
                    ("LOKI_ADDR", "https://l"),
                    ("LOKI_USERNAME", "u"),
                    ("LOKI_BEARER_TOKEN", "t"),
                ],
                "only one",
            ),
        ] {
            let failure = from(pairs).http().unwrap_err().to_string();
            assert!(failure.contains(words), "{failure}");
        }
    }
}
