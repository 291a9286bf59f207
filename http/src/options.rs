//! How a server is reached.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::auth::Auth;

/// How a server is reached, and how much is asked of it.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it is; a path in it is a prefix of all paths: `https://host/loki-prefix`.
    pub base_url: String,
    /// How we say who we are.
    pub auth: Auth,
    /// Headers that every request carries: tenants, gateways.
    pub headers: Vec<(String, SecretString)>,
    /// PEM file of certificates to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file of a client certificate and, unless in the same file, of its key.
    pub client_certificate: Option<(PathBuf, Option<PathBuf>)>,
    /// Whether any certificate will do.
    pub accept_any_certificate: bool,
    /// A proxy; `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` count where none is named.
    pub proxy: Option<String>,
    /// Whether no proxy is used whatever the environment says, as metadata services
    /// of machines ask for.
    pub direct: bool,
    /// A socket in the file system that the server listens on, where it is on
    /// this machine: the address then only names the paths.
    pub unix_socket: Option<PathBuf>,
    /// How long one try of one request may take.
    pub request_timeout: Duration,
    /// Tries of one request, the first among them.
    pub tries: usize,
    /// Requests at one time.
    pub concurrency: usize,
    /// Bytes of one answer, unpacked.
    pub max_body: usize,
}

impl HttpOptions {
    /// The usual way to reach `base_url`.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            auth: Auth::None,
            headers: Vec::new(),
            ca_file: None,
            client_certificate: None,
            accept_any_certificate: false,
            proxy: None,
            direct: false,
            unix_socket: None,
            request_timeout: Duration::from_secs(45),
            tries: 4,
            concurrency: 4,
            max_body: 64 << 20,
        }
    }
}
