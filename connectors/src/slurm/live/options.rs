//! How Slurm is reached.

use std::path::PathBuf;
use std::sync::Arc;

use super::token::Token;
use crate::http::{Auth, HttpError, HttpOptions, Secret};

/// How Slurm is reached, and how much is asked of it.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// The source's name in coverage rows.
    pub name: String,
    /// How its REST daemon is reached; `None` where only its command line tools are.
    pub http: Option<HttpOptions>,
    /// The version of its API, as `v0.0.40`; the newest that it offers where none is named.
    pub version: Option<String>,
    /// The folder of its command line tools, `PATH` where empty; used where no
    /// REST daemon is named.
    pub tools: PathBuf,
    /// Jobs that are asked for one by one.
    pub max_jobs: usize,
}

impl Default for SlurmOptions {
    fn default() -> Self {
        Self {
            name: "slurm".to_owned(),
            http: None,
            version: None,
            tools: PathBuf::new(),
            max_jobs: 50,
        }
    }
}

impl SlurmOptions {
    /// As variables say: `SLURM_REST_URL` (`http://…`, or `unix:/path` of a socket),
    /// `SLURM_JWT` or `SLURM_JWT_FILE`, `SLURM_USER_NAME` (the token's owner where
    /// it is another's), `SLURM_REST_VERSION`, `SLURM_CA_FILE`; `SLURM_COMMANDS`
    /// (`true`, or the folder of the tools) asks `sacct`, `scontrol` and `sacctmgr`.
    ///
    /// # Errors
    /// For an address that is none, and where neither way is named.
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Result<Self, HttpError> {
        let get = |name: &str| {
            let value = get(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let tools = get("SLURM_COMMANDS").and_then(|value| match value.as_str() {
            "false" | "0" | "no" | "off" => None,
            "true" | "1" | "yes" | "on" => Some(PathBuf::new()),
            folder => Some(PathBuf::from(folder)),
        });
        let http = match get("SLURM_REST_URL") {
            Some(url) => Some(http(&url, &get)?),
            None if tools.is_some() => None,
            None => {
                return Err(HttpError::BadRequest(
                    "a Slurm is configured without the address of its REST daemon (SLURM_REST_URL) and without SLURM_COMMANDS".to_owned(),
                ));
            }
        };
        Ok(Self {
            http,
            version: get("SLURM_REST_VERSION"),
            tools: tools.unwrap_or_default(),
            ..Self::default()
        })
    }
}

fn http(url: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<HttpOptions, HttpError> {
    let socket = url
        .strip_prefix("unix://")
        .or_else(|| url.strip_prefix("unix:"));
    let mut http = match socket {
        Some(path) if path.starts_with('/') => HttpOptions {
            unix_socket: Some(PathBuf::from(path)),
            ..HttpOptions::new("http://localhost")
        },
        Some(path) => {
            return Err(HttpError::BadRequest(format!(
                "{path:?} is not a socket path: write unix:/run/slurmrestd.sock"
            )));
        }
        None => HttpOptions::new(url),
    };
    let token = match (get("SLURM_JWT"), get("SLURM_JWT_FILE")) {
        (Some(token), _) => Some(Token::Given(Secret::from(token))),
        (None, Some(file)) => Some(Token::File(PathBuf::from(file))),
        (None, None) => None,
    };
    if let Some(token) = token {
        http.auth = Auth::Custom(Arc::new(token));
    }
    if let Some(user) = get("SLURM_USER_NAME") {
        http.headers
            .push(("X-SLURM-USER-NAME".to_owned(), Secret::from(user)));
    }
    http.ca_file = get("SLURM_CA_FILE").map(PathBuf::from);
    // It answers 500 to what is not there as well: trying for long is of no use.
    http.tries = 2;
    Ok(http)
}
