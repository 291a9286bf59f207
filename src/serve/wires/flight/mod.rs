//! Arrow Flight SQL: ADBC and what else speaks it.
//!
//! `access` lets callers in, `service` answers the protocol's questions, `handle` is a
//! statement as clients carry it about, `metadata` tells what there is, and `rows` are
//! what comes back.

mod access;
mod handle;
mod incoming;
mod metadata;
mod rows;
mod service;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use whathappened_model::connector::Stop;

use super::audited::LONGEST;
use super::listening::Listening;
use crate::config::Wire as Configured;
use crate::error::Error;
use crate::serve::Service;

/// What the audit trail calls it.
const FACE: &str = "flight";
/// How often it is looked whether a client is still there.
const ALIVE: Duration = Duration::from_secs(60);
/// Requests of one connection at once.
const AT_ONCE: usize = 16;

/// The wire, bound to its address.
pub(super) struct Wire {
    listening: Listening,
    server: Server,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire")
            .field("listening", &self.listening)
            .finish_non_exhaustive()
    }
}

impl Wire {
    pub(super) async fn open(address: &str, config: &Configured) -> Result<Self, Error> {
        let listening = Listening::open("flight", address, config).await?;
        let mut server = Server::builder()
            .concurrency_limit_per_connection(AT_ONCE)
            .http2_keepalive_interval(Some(ALIVE))
            .max_concurrent_streams(u32::try_from(AT_ONCE).ok());
        if let Some(certificate) = &listening.certificate {
            let identity = Identity::from_pem(&certificate.chain, &certificate.key);
            let tls = ServerTlsConfig::new().identity(identity);
            server = server.tls_config(tls).map_err(|why| {
                Error::misused(
                    format!("[serve.flight]: the certificate cannot be used: {why}"),
                    "tls_cert and tls_key are PEM files of one certificate and its key",
                )
            })?;
        }
        Ok(Self { listening, server })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Serves until `stop`; what is answered then is answered to its end.
    pub(super) async fn run(mut self, service: Arc<Service>, stop: Stop) {
        let Listening {
            listener,
            address,
            most,
            ..
        } = self.listening;
        let callers = service.callers.clone().behind(Some(address));
        let faces = service::Faces::new(service, callers);
        // Values may double what they are bound to.
        let faces = FlightServiceServer::new(faces).max_decoding_message_size(LONGEST * 4);
        let served = self
            .server
            .add_service(faces)
            .serve_with_incoming_shutdown(incoming::of(listener, most), stop.cancelled_owned())
            .await;
        if let Err(error) = served {
            tracing::warn!("Arrow Flight SQL ended: {error}");
        }
    }
}
