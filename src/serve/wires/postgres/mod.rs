//! PostgreSQL's wire: `psql`, JDBC, `psycopg`, Grafana and what else speaks it.
//!
//! `connection` is one client; `bounded` bounds what it may send, `startup` lets it in,
//! `words` knows the commands that are answered here, `query` runs the rest, and `rows` are
//! what comes back.

mod bounded;
mod connection;
mod errors;
mod held;
mod line;
mod query;
mod rows;
mod session;
mod settings;
mod startup;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use pgwire::api::{ConnectionManager, RandomPidSecretKeyGenerator};
use pgwire::tokio::TlsAcceptor;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use whathappened_model::connector::Stop;

use super::listening::{Certificate, Listening};
use crate::config::Wire as Configured;
use crate::error::Error;
use crate::serve::{Callers, Service};

/// What the audit trail calls it.
const FACE: &str = "postgres";

/// The wire, bound to its address.
pub(super) struct Wire {
    listening: Listening,
    tls: Option<TlsAcceptor>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire")
            .field("listening", &self.listening)
            .finish_non_exhaustive()
    }
}

/// What all connections share.
struct Shared {
    service: Arc<Service>,
    callers: Callers,
    /// Whether who comes without TLS is turned away.
    needs_tls: bool,
    /// Who can be told to stop, by a number and a key that nobody guesses.
    cancels: Arc<ConnectionManager>,
    keys: RandomPidSecretKeyGenerator,
    /// Bytes of answers that wait to be fetched.
    held: held::Budget,
}

impl Wire {
    pub(super) async fn open(address: &str, config: &Configured) -> Result<Self, Error> {
        let listening = Listening::open("postgres", address, config).await?;
        let tls = match &listening.certificate {
            Some(certificate) => Some(acceptor(certificate).map_err(|why| {
                Error::misused(
                    format!("[serve.postgres]: the certificate cannot be used: {why}"),
                    "tls_cert and tls_key are PEM files of one certificate and its key",
                )
            })?),
            None => None,
        };
        Ok(Self { listening, tls })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Serves until `stop`; what runs then is ended.
    pub(super) async fn run(self, service: Arc<Service>, stop: Stop) {
        let Listening {
            listener,
            address,
            most,
            allow_plaintext,
            ..
        } = self.listening;
        let each = service.config.serve.sql.max_bytes.saturating_mul(2);
        let shared = Arc::new(Shared {
            callers: service.callers.clone().behind(Some(address)),
            needs_tls: self.tls.is_some() && !allow_plaintext,
            cancels: Arc::new(ConnectionManager::new()),
            keys: RandomPidSecretKeyGenerator::default(),
            held: held::Budget::of(each, each.saturating_mul(4)),
            service,
        });
        let places = Arc::new(Semaphore::new(most));
        let mut clients = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
                Some(_over) = clients.join_next() => continue,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!("PostgreSQL's wire cannot accept a connection: {error}");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            let place = Arc::clone(&places).try_acquire_owned().ok();
            let (shared, tls) = (Arc::clone(&shared), self.tls.clone());
            clients.spawn(async move {
                connection::serve(stream, tls, shared, place).await;
            });
        }
    }
}

fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&certificate.chain).collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(&certificate.key)?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
