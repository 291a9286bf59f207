//! The service.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::callers::Caller;
use super::oidc::Oidc;
use super::parse::{public_url, size, size_of, timeout};
use super::statements::Statements;
use super::wires::Wire;

/// The service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Where it listens; `127.0.0.1:8080` by default.
    pub listen: Option<String>,
    /// The address by which people reach it, such as `https://whathappened.example.com`: answers
    /// and messages link to its pages with it.
    #[serde(deserialize_with = "public_url")]
    pub public_url: Option<String>,
    /// Who may ask over HTTP.
    pub caller: Vec<Caller>,
    /// A provider that says who somebody is, for the pages.
    pub oidc: Option<Oidc>,
    /// The limits of statements.
    pub sql: Statements,
    /// The largest upload that is imported.
    #[serde(deserialize_with = "size_of")]
    pub max_upload: u64,
    /// What a client may ask of it.
    pub limits: Limits,
    /// Who may push what; each is off without a token or secret. By name:
    /// `alertmanager`, `kubernetes-audit`, `datadog`, `generic`.
    pub hooks: BTreeMap<String, Hook>,
    /// Lines of machines' logs over the network.
    pub syslog: Syslog,
    /// `PostgreSQL`'s wire.
    pub postgres: Wire,
    /// Arrow Flight SQL.
    pub flight: Wire,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            listen: None,
            public_url: None,
            caller: Vec::new(),
            oidc: None,
            sql: Statements::default(),
            max_upload: 4 << 30,
            limits: Limits::default(),
            hooks: BTreeMap::new(),
            syslog: Syslog::default(),
            postgres: Wire::default(),
            flight: Wire::default(),
        }
    }
}

/// What a client may ask of the service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest body that is pushed at once.
    #[serde(deserialize_with = "size")]
    pub max_body: Option<u64>,
    /// Requests under way at once; more are sent away.
    pub at_once: usize,
    /// How long a request may take.
    #[serde(deserialize_with = "timeout")]
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: None,
            at_once: 512,
            timeout: Duration::from_secs(120),
        }
    }
}

impl Limits {
    /// The largest body that is pushed at once, in bytes.
    #[must_use]
    pub fn body(&self) -> usize {
        let most = self.max_body.unwrap_or(16 << 20);
        usize::try_from(most).unwrap_or(usize::MAX)
    }
}

/// The hooks that there are.
pub const HOOKS: [&str; 4] = ["alertmanager", "kubernetes-audit", "datadog", "generic"];

/// Who may push one kind of thing.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// What must come as `Authorization: Bearer …` or `X-Whathappened-Token: …`.
    pub token: Option<String>,
    /// The file that it is in.
    pub token_file: Option<PathBuf>,
    /// What bodies are signed with, HMAC-SHA256 in hex:
    /// `X-Whathappened-Signature: sha256=…`, or `X-Hub-Signature-256`.
    pub secret: Option<String>,
    /// The file that it is in.
    pub secret_file: Option<PathBuf>,
    /// The cluster that records without one are of.
    pub cluster: Option<String>,
}

// What it holds is secret.
impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("token_file", &self.token_file)
            .field("secret_file", &self.secret_file)
            .field("cluster", &self.cluster)
            .finish_non_exhaustive()
    }
}

/// Lines of machines' logs over the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Syslog {
    /// Where UDP and TCP are listened on: `0.0.0.0:5514`. Nothing is without it:
    /// whoever reaches it can say anything in anybody's name.
    pub listen: Option<String>,
}
