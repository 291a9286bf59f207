//! What a client who was let in has: who they are, and their settings.

use std::sync::{Arc, Mutex, PoisonError};

use pgwire::api::{ClientInfo, ConnectionGuard, ConnectionHandle};
use pgwire::error::PgWireResult;

use super::errors::fatal;
use super::held::Account;
use super::line::Line;
use super::settings::Settings;
use crate::serve::Caller;

/// A client who was let in.
#[derive(Debug)]
pub(super) struct Session {
    /// Whose token it was.
    pub(super) caller: Caller,
    /// Answers that wait to be fetched.
    pub(super) account: Account,
    settings: Mutex<Settings>,
    /// How a request to cancel reaches what runs.
    pub(super) cancel: Arc<ConnectionHandle>,
    /// Tells when the client is gone.
    pub(super) line: Option<Arc<Line>>,
    /// Forgets that way when the connection ends.
    _registered: ConnectionGuard,
}

impl Session {
    pub(super) fn new(
        caller: Caller,
        account: Account,
        (cancel, registered): (Arc<ConnectionHandle>, ConnectionGuard),
        line: Option<Arc<Line>>,
    ) -> Self {
        Self {
            caller,
            account,
            settings: Mutex::default(),
            cancel,
            line,
            _registered: registered,
        }
    }

    /// Reads or changes the settings.
    pub(super) fn settings<T>(&self, with: impl FnOnce(&mut Settings) -> T) -> T {
        // A map of texts is sound whoever panicked over it.
        with(&mut self.settings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The session of a client. What is not let in has none, whatever else was said to it.
pub(super) fn of(client: &impl ClientInfo) -> PgWireResult<Arc<Session>> {
    let session = client.session_extensions().get::<Session>();
    session.ok_or_else(|| fatal("28000", "no user has signed in"))
}
