//! One client, from its first byte to its last.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use pgwire::api::cancel::DefaultCancelHandler;
use pgwire::api::{ClientInfo as _, NoopHandler, PgWireConnectionState};
use pgwire::error::{ErrorInfo, PgWireError};
use pgwire::messages::extendedquery::TARGET_TYPE_BYTE_STATEMENT;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use pgwire::tokio::TlsAcceptor;
use pgwire::tokio::server::{
    MaybeTls, PgWireMessageServerCodec, negotiate_tls, process_error, process_message,
};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_util::codec::{Framed, FramedParts};

use super::Shared;
use super::bounded::{Bounded, Longest};
use super::errors::fatal;
use super::line::Line;
use super::query::Queries;
use super::session::Session;
use super::startup::Startup;
use super::words::Prepared;

/// How long somebody may take to be let in.
const STARTUP: Duration = Duration::from_secs(30);
/// How long a client may say nothing. Pools keep connections for long.
const IDLE: Duration = Duration::from_secs(3_600);

/// Bytes of prepared statements and of bound values that one client may leave here,
const MOST_PREPARED: usize = 32 << 20;
/// and what each counts beside its text.
const EACH: usize = 1_024;

type Socket = Framed<Bounded<MaybeTls>, PgWireMessageServerCodec<Prepared>>;

/// What answers each kind of message.
struct Handlers {
    startup: Arc<Startup>,
    queries: Arc<Queries>,
    cancel: Arc<DefaultCancelHandler>,
}

/// Serves a client until it goes. Without a place it is told that there is none.
pub(super) async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    place: Option<OwnedSemaphorePermit>,
) {
    let served = async {
        let Some(mut socket) = timeout(STARTUP, opened(stream, tls)).await?? else {
            return Ok(());
        };
        if place.is_none() {
            let error = fatal("53300", "too many connections are open");
            return send_error(&mut socket, error).await;
        }
        talk(&mut socket, &shared).await
    };
    let served: io::Result<()> = served.await;
    if let Err(error) = served {
        tracing::debug!("a connection of PostgreSQL's wire ended: {error}");
    }
}

async fn opened(stream: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<Option<Socket>> {
    let (stream, line) = Line::beside(stream)?;
    let Some(framed) = negotiate_tls::<Prepared>(stream, tls).await? else {
        return Ok(None);
    };
    let parts = framed.into_parts();
    let longest = Longest::for_stranger();
    let stream = Bounded::new(parts.io, &parts.read_buf, longest.clone())?;
    let mut bounded = FramedParts::new(stream, parts.codec);
    bounded.read_buf = parts.read_buf;
    bounded.write_buf = parts.write_buf;
    let socket = Framed::from_parts(bounded);
    socket.session_extensions().insert(longest);
    socket.session_extensions().insert(line);
    Ok(Some(socket))
}

async fn talk(socket: &mut Socket, shared: &Arc<Shared>) -> io::Result<()> {
    let handlers = Handlers {
        startup: Arc::new(Startup::new(Arc::clone(shared))),
        queries: Arc::new(Queries::new(Arc::clone(shared))),
        cancel: Arc::new(DefaultCancelHandler::new(Arc::clone(&shared.cancels))),
    };
    let by = tokio::time::Instant::now() + STARTUP;
    let mut prepared = PreparedState::default();
    loop {
        let is_known = socket.session_extensions().get::<Session>().is_some();
        let message = if is_known {
            timeout(IDLE, socket.next()).await
        } else {
            tokio::time::timeout_at(by, socket.next()).await
        };
        let message = match message {
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(error))) => return send_error(socket, error).await,
            Ok(None) => return Ok(()),
            Err(_) if is_known => {
                let error = fatal("57P05", "the connection was idle for too long");
                return send_error(socket, error).await;
            }
            Err(_) => return Ok(()),
        };
        if !prepared.note(&message) {
            let error = fatal("53200", "too many prepared statements are kept");
            return send_error(socket, error).await;
        }
        if answered(socket, message, &handlers).await?.is_break() {
            return socket.close().await;
        }
    }
}

/// Bytes of statements and values that a client left here, by name.
#[derive(Default)]
struct PreparedState {
    of: HashMap<(bool, String), usize>,
    bytes: usize,
}

impl PreparedState {
    /// Counts what a message leaves here; `false` once it is too much.
    fn note(&mut self, message: &PgWireFrontendMessage) -> bool {
        let (key, bytes) = match message {
            PgWireFrontendMessage::Parse(parse) => (
                (true, parse.name.clone().unwrap_or_default()),
                parse.query.len(),
            ),
            PgWireFrontendMessage::Bind(bind) => {
                let values = bind.parameters.iter().flatten();
                let bytes = values.map(bytes::Bytes::len).sum();
                ((false, bind.portal_name.clone().unwrap_or_default()), bytes)
            }
            PgWireFrontendMessage::Close(close) => {
                let is_statement = close.target_type == TARGET_TYPE_BYTE_STATEMENT;
                let key = (is_statement, close.name.clone().unwrap_or_default());
                self.bytes -= self.of.remove(&key).unwrap_or(0);
                return true;
            }
            _ => return true,
        };
        let bytes = bytes + EACH;
        let before = self.of.insert(key, bytes).unwrap_or(0);
        self.bytes = self.bytes - before + bytes;
        self.bytes <= MOST_PREPARED
    }
}

/// Answers a message; says whether it was the last.
async fn answered(
    socket: &mut Socket,
    message: PgWireFrontendMessage,
    handlers: &Handlers,
) -> io::Result<ControlFlow<()>> {
    let is_last = matches!(
        message,
        PgWireFrontendMessage::Terminate(_) | PgWireFrontendMessage::CancelRequest(_)
    );
    if matches!(message, PgWireFrontendMessage::Terminate(_)) {
        return Ok(ControlFlow::Break(()));
    }
    let waits_for_sync = message.is_extended_query();
    let was_let_in = !matches!(
        socket.state(),
        PgWireConnectionState::AwaitingStartup | PgWireConnectionState::AuthenticationInProgress
    );
    let done = process_message(
        message,
        socket,
        Arc::clone(&handlers.startup),
        Arc::clone(&handlers.queries),
        Arc::clone(&handlers.queries),
        Arc::new(NoopHandler),
        Arc::clone(&handlers.cancel),
    );
    if let Err(error) = done.await {
        // Whoever was not let in has no second try on the same connection.
        if !was_let_in || is_fatal(&error) {
            send_error(socket, error).await?;
            return Ok(ControlFlow::Break(()));
        }
        process_error(socket, error, waits_for_sync).await?;
    }
    Ok(if is_last {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    })
}

fn is_fatal(error: &PgWireError) -> bool {
    match error {
        PgWireError::UserError(info) => info.is_fatal(),
        PgWireError::NotReadyForQuery | PgWireError::IoError(_) => true,
        _ => false,
    }
}

/// Tells the reason that the connection ends for.
async fn send_error(socket: &mut Socket, error: PgWireError) -> io::Result<()> {
    let mut info = ErrorInfo::from(error);
    "FATAL".clone_into(&mut info.severity);
    let sent = socket.send(PgWireBackendMessage::ErrorResponse(info.into()));
    timeout(STARTUP, sent).await??;
    socket.close().await
}
