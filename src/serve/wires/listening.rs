//! What wires share: a listener, its certificate, and who comes through it.

use std::net::SocketAddr;
use std::path::Path;

use tokio::net::TcpListener;

use crate::config::{Right, Wire as Configured};
use crate::error::Error;
use crate::serve::{Caller, Callers};

/// A listener that is bound, and how it is to be served.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: TcpListener,
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// Connections at once.
    pub(super) most: usize,
    /// The certificate with those above it, and its key, in PEM.
    pub(super) certificate: Option<Certificate>,
    /// Whether who comes without TLS is served though there is a certificate.
    #[cfg(feature = "postgres")]
    pub(super) allow_plaintext: bool,
}

/// A certificate and its key, in PEM.
pub(super) struct Certificate {
    pub(super) chain: Vec<u8>,
    pub(super) key: Vec<u8>,
}

// The key is secret.
impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate").finish_non_exhaustive()
    }
}

impl Listening {
    /// Binds the address of `[serve.{section}]`.
    pub(super) async fn open(
        section: &str,
        address: &str,
        config: &Configured,
    ) -> Result<Self, Error> {
        let failed = |error| Error::Io {
            path: format!("[serve.{section}] listen = {address:?}"),
            error,
        };
        let certificate = match (&config.tls_cert, &config.tls_key) {
            (Some(chain), Some(key)) => Some(Certificate {
                chain: read(chain)?,
                key: read(key)?,
            }),
            _ => None,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            most: config.connections,
            certificate,
            #[cfg(feature = "postgres")]
            allow_plaintext: config.allow_plaintext,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::Io {
        path: path.display().to_string(),
        error,
    })
}

/// Why nobody is let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The token is nobody's, or there is none.
    #[error("the token is not valid: use a token of [[serve.caller]] as the password")]
    Unknown,
    /// The caller may not run statements.
    #[error("{0} is not allowed to do this: it requires the right \"sql\" in [[serve.caller]]")]
    NoRight(String),
}

/// Whose token it is, if they may run statements. Where nobody is configured and only
/// this machine reaches the wire, whoever is on it may.
pub(super) fn caller(callers: &Callers, token: &str) -> Result<Caller, Refusal> {
    let known = callers.of_token(token).cloned();
    let caller = known.or_else(|| callers.local()).ok_or(Refusal::Unknown)?;
    if caller.rights.contains(&Right::Sql) {
        Ok(caller)
    } else {
        Err(Refusal::NoRight(caller.name))
    }
}
