//! Lets a client in: its password is a token of `[[serve.caller]]`, and its name is
//! whatever it likes.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Sink;
use futures::SinkExt as _;
use pgwire::api::auth::{
    DefaultServerParameterProvider, ServerParameterProvider, StartupHandler, finish_authentication,
    protocol_negotiation, save_startup_parameters_to_metadata,
};
use pgwire::api::{ClientInfo, PgWireConnectionState, PidSecretKeyGenerator as _};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::startup::Authentication;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};

use super::bounded::Longest;
use super::errors::fatal;
use super::session::Session;
use super::{FACE, Shared};
use crate::serve::Caller;
use crate::serve::wires::audited::{LONGEST, turned_away};
use crate::serve::wires::listening::caller;

/// Bytes of a message beside the statement or the values in it.
const BESIDE: u32 = 64 << 10;

/// Lets clients in.
pub(super) struct Startup {
    shared: Arc<Shared>,
}

impl Startup {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn caller(&self, client: &impl ClientInfo, token: &str) -> PgWireResult<Caller> {
        caller(&self.shared.callers, token).map_err(|refusal| {
            let who = format!("connection from {}", client.socket_addr().ip());
            turned_away(&self.shared.service, FACE, "-", &who);
            fatal("28P01", &refusal.to_string())
        })
    }

    /// What a client has from now on.
    fn admit<C: ClientInfo>(&self, client: &mut C, caller: Caller) {
        let (number, key) = self.shared.keys.generate(&*client);
        client.set_pid_and_secret_key(number, key.clone());
        let way = self.shared.cancels.register(number, key);
        let line = client.session_extensions().get();
        let session = Session::new(caller, self.shared.held.account(), way, line);
        let name = client.metadata().get("application_name").cloned();
        session.settings(|settings| {
            // A name is never refused.
            settings
                .set("application_name", &name.unwrap_or_default())
                .ok()
        });
        let extensions = client.session_extensions();
        extensions.insert(session);
        if let Some(longest) = extensions.get::<Longest>() {
            longest.raise(
                u32::try_from(LONGEST)
                    .unwrap_or(u32::MAX)
                    .saturating_add(BESIDE),
            );
        }
    }
}

#[async_trait]
impl StartupHandler for Startup {
    async fn on_startup<C>(
        &self,
        client: &mut C,
        message: PgWireFrontendMessage,
    ) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        match message {
            PgWireFrontendMessage::Startup(startup) => {
                protocol_negotiation(client, &startup).await?;
                save_startup_parameters_to_metadata(client, &startup);
                if self.shared.needs_tls && !client.is_secure() {
                    let text = "connections need TLS here: use sslmode=require";
                    return Err(fatal("28000", text));
                }
                if self.shared.callers.is_open() {
                    let caller = self.caller(client, "")?;
                    self.admit(client, caller);
                    return finish_authentication(client, &Parameters).await;
                }
                client.set_state(PgWireConnectionState::AuthenticationInProgress);
                let ask = PgWireBackendMessage::Authentication(Authentication::CleartextPassword);
                client.send(ask).await?;
                Ok(())
            }
            PgWireFrontendMessage::PasswordMessageFamily(password)
                if matches!(
                    client.state(),
                    PgWireConnectionState::AuthenticationInProgress
                ) =>
            {
                let password = password.into_password()?;
                let caller = self.caller(client, &password.password)?;
                self.admit(client, caller);
                finish_authentication(client, &Parameters).await
            }
            _ => Err(fatal(
                "08P01",
                "a startup message or a password was expected",
            )),
        }
    }
}

/// What clients are told of the server.
struct Parameters;

impl ServerParameterProvider for Parameters {
    fn server_parameters<C: ClientInfo>(&self, client: &C) -> Option<HashMap<String, String>> {
        let mut all = DefaultServerParameterProvider::default().server_parameters(client)?;
        let own = [
            ("server_version", "16.6"),
            ("TimeZone", "UTC"),
            ("is_superuser", "off"),
            ("default_transaction_read_only", "on"),
        ];
        all.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Some(all)
    }
}
