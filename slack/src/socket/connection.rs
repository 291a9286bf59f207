//! One connection, from its opening to its end.

use std::sync::Arc;

use futures::{SinkExt as _, StreamExt as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::frame::{DisconnectReason, Envelope, Frame};
use super::mode::{Handler, SocketTimes};

/// The largest request that is taken.
const LARGEST: usize = 1 << 20;

/// A connection that stands.
pub(super) struct Connection {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    times: SocketTimes,
    handler: Arc<dyn Handler>,
}

/// How a connection ended, or is about to.
#[derive(Debug)]
pub(super) enum End {
    /// Slack told why.
    Disconnected(DisconnectReason),
    /// It broke, or nothing was received for too long.
    Broken(String),
}

impl Connection {
    /// Opens one and waits until Slack greets us. The address is secret.
    pub(super) async fn open(
        address: &SecretString,
        times: SocketTimes,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, String> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        let open = connect_async_with_config(address.expose_secret(), Some(config), true);
        let (socket, _) = timeout(times.greeting, open)
            .await
            .map_err(|_| "connection timed out".to_owned())?
            .map_err(|error| reported(&error))?;
        let mut connection = Self {
            socket,
            times,
            handler,
        };
        let greeted = timeout(times.greeting, connection.greeted()).await;
        greeted.map_err(|_| "Slack did not send its hello message in time".to_owned())??;
        Ok(connection)
    }

    async fn greeted(&mut self) -> Result<(), String> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => match Frame::read(&text) {
                    Some(Frame::Hello) => return Ok(()),
                    Some(Frame::Disconnect(leave)) => {
                        return Err(format!("Slack closed the session: {leave:?}"));
                    }
                    _ => {}
                },
                Some(Ok(Message::Close(_))) | None => {
                    return Err("Slack closed the connection".to_owned());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(reported(&error)),
            }
        }
    }

    /// Serves until the connection ends or is about to. It may be served on
    /// after [`DisconnectReason::Refresh`].
    pub(super) async fn serve(&mut self) -> End {
        let mut heard = Instant::now();
        let mut next_ping = heard + self.times.ping;
        // Requests are looked at side by side, so that none waits for another.
        let (done, mut acknowledgements) = mpsc::channel::<Value>(64);
        loop {
            let frame = tokio::select! {
                Some(acknowledgement) = acknowledgements.recv() => {
                    let text = Message::text(acknowledgement.to_string());
                    if let Err(error) = self.socket.send(text).await {
                        return End::Broken(reported(&error));
                    }
                    continue;
                }
                () = tokio::time::sleep_until(next_ping) => {
                    if heard.elapsed() > self.times.silence {
                        return End::Broken("nothing was received for too long".to_owned());
                    }
                    next_ping = Instant::now() + self.times.ping;
                    if let Err(error) = self.socket.send(Message::Ping(bytes::Bytes::new())).await {
                        return End::Broken(reported(&error));
                    }
                    continue;
                }
                frame = self.socket.next() => frame,
            };
            heard = Instant::now();
            let text = match frame {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(_))) | None => {
                    return End::Broken("Slack closed the connection".to_owned());
                }
                Some(Ok(_)) => continue,
                Some(Err(error)) => return End::Broken(reported(&error)),
            };
            match Frame::read(&text) {
                Some(Frame::Envelope(envelope)) => self.take(envelope, done.clone()),
                Some(Frame::Disconnect(leave)) => return End::Disconnected(leave),
                Some(Frame::Hello) => {}
                Some(Frame::Other(kind)) => {
                    tracing::debug!("a frame of unknown type on Slack's socket: {kind:?}");
                }
                None => tracing::debug!("a frame on Slack's socket cannot be parsed"),
            }
        }
    }

    /// Has a request looked at. It is acknowledged in time whatever happens,
    /// unless the handler could not take it down, so that Slack sends it again.
    fn take(&self, envelope: Envelope, done: mpsc::Sender<Value>) {
        let handler = Arc::clone(&self.handler);
        let patience = self.times.acknowledge;
        tokio::spawn(async move {
            let (id, takes_answer) = (envelope.id.clone(), envelope.takes_answer);
            let taken = timeout(patience, handler.take(envelope)).await;
            let mut acknowledgement = json!({"envelope_id": id});
            match taken {
                Ok(Some(answer)) if takes_answer && !answer.is_null() => {
                    acknowledgement["payload"] = answer;
                }
                Ok(None) => return,
                _ => {}
            }
            // Nobody is left to tell where the connection is gone.
            let _gone = done.send(acknowledgement).await;
        });
    }

    /// Says goodbye.
    pub(super) async fn close(mut self) {
        let _closed = timeout(self.times.greeting, self.socket.close(None)).await;
    }
}

/// What broke, without the address, which is a secret.
fn reported(error: &tungstenite::Error) -> String {
    match error {
        tungstenite::Error::Http(answer) => {
            format!("the server returned {}", answer.status().as_u16())
        }
        tungstenite::Error::Url(_) | tungstenite::Error::HttpFormat(_) => {
            "the address is not valid".to_owned()
        }
        other => other.to_string(),
    }
}
