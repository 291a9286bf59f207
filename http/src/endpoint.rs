//! How a server is reached, by variables of one prefix.

use std::path::PathBuf;

use secrecy::SecretString;

use super::auth::Auth;
use super::error::HttpError;
use super::options::HttpOptions;

/// How a server is reached and who we are there.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// Where it is, with any prefix of its paths. `…_URL`.
    pub url: Option<String>,
    /// A user. `…_USERNAME`.
    pub username: Option<String>,
    /// The user's password. `…_PASSWORD`.
    pub password: Option<SecretString>,
    /// A token instead. `…_TOKEN`, `…_BEARER_TOKEN`.
    pub token: Option<SecretString>,
    /// A file with one, read for each request. `…_TOKEN_FILE`.
    pub token_file: Option<PathBuf>,
    /// The tenant, sent as `X-Scope-OrgID`. `…_ORG_ID`.
    pub org_id: Option<String>,
    /// Certificates to trust. `…_CA_CERT_PATH`.
    pub ca_file: Option<PathBuf>,
    /// Our own certificate. `…_CLIENT_CERT_PATH`.
    pub client_certificate: Option<PathBuf>,
    /// Its key. `…_CLIENT_KEY_PATH`.
    pub client_key: Option<PathBuf>,
    /// Whether any certificate will do. `…_TLS_SKIP_VERIFY`.
    pub skip_verify: bool,
    /// Headers that gateways ask for.
    pub headers: Vec<(String, SecretString)>,
}

impl Endpoint {
    /// What the environment says under `PREFIX_URL` and such.
    #[must_use]
    pub fn from_env(prefix: &str, get: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| {
            let value = get(&format!("{prefix}_{name}"));
            value.filter(|value| !value.trim().is_empty())
        };
        let secret = |name: &str| get(name).map(SecretString::from);
        let path = |name: &str| get(name).map(PathBuf::from);
        Self {
            url: get("URL"),
            username: get("USERNAME"),
            password: secret("PASSWORD"),
            token: secret("TOKEN").or_else(|| secret("BEARER_TOKEN")),
            token_file: path("TOKEN_FILE"),
            org_id: get("ORG_ID"),
            ca_file: path("CA_CERT_PATH"),
            client_certificate: path("CLIENT_CERT_PATH"),
            client_key: path("CLIENT_KEY_PATH"),
            skip_verify: matches!(
                get("TLS_SKIP_VERIFY").as_deref().map(str::trim),
                Some("1" | "true" | "TRUE" | "True")
            ),
            headers: Vec::new(),
        }
    }

    /// The same for the client; `base` is where the paths of the API begin.
    ///
    /// # Errors
    /// When more than one way to say who we are is given.
    pub fn http(&self, what: &str, base: String) -> Result<HttpOptions, HttpError> {
        let ways = [
            self.username.is_some(),
            self.token.is_some(),
            self.token_file.is_some(),
        ];
        if ways.into_iter().filter(|given| *given).count() > 1 {
            return Err(HttpError::BadRequest(format!(
                "only one of a user, a token and a token file may be given for {what}"
            )));
        }
        let auth = if let Some(user) = &self.username {
            let password = self.password.clone().unwrap_or_else(|| "".into());
            Auth::Basic(user.clone(), password)
        } else if let Some(token) = &self.token {
            Auth::Bearer(token.clone())
        } else if let Some(file) = &self.token_file {
            Auth::BearerFile(file.clone())
        } else {
            Auth::None
        };
        let mut headers = self.headers.clone();
        if let Some(tenant) = &self.org_id {
            headers.push(("X-Scope-OrgID".to_owned(), tenant.trim().into()));
        }
        let certificate = self.client_certificate.clone();
        Ok(HttpOptions {
            auth,
            headers,
            ca_file: self.ca_file.clone(),
            client_certificate: certificate.map(|file| (file, self.client_key.clone())),
            accept_any_certificate: self.skip_verify,
            ..HttpOptions::new(base)
        })
    }
}
