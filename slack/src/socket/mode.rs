//! Keeps one connection standing at any time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use whathappened_http::choose_encryption;

use super::connection::{Connection, End};
use super::frame::{DisconnectReason, Envelope};
use crate::api::Api;

/// Takes requests.
pub trait Handler: Send + Sync {
    /// Takes a request down and says at once what to acknowledge it with (`Null`
    /// for nothing); the work comes later. `None` where it could not be taken
    /// down, so that Slack has to send it again.
    fn take(&self, envelope: Envelope) -> BoxFuture<'_, Option<Value>>;
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct SocketTimes {
    /// From opening a connection to Slack's greeting.
    pub greeting: Duration,
    /// Between two pings.
    pub ping: Duration,
    /// Without a word from Slack, until the connection counts as dead.
    pub silence: Duration,
    /// Until a request is acknowledged, done or not: Slack waits for 3 s.
    pub acknowledge: Duration,
    /// Before a connection that failed is tried again; doubles up to 128 times.
    pub pause: Duration,
    /// How long a connection that is being renewed is served on.
    pub overlap: Duration,
}

impl Default for SocketTimes {
    fn default() -> Self {
        Self {
            greeting: Duration::from_secs(15),
            ping: Duration::from_secs(20),
            silence: Duration::from_secs(70),
            acknowledge: Duration::from_millis(2_500),
            pause: Duration::from_millis(500),
            overlap: Duration::from_secs(30),
        }
    }
}

/// Socket Mode of one app.
pub struct SocketMode {
    api: Arc<Api>,
    handler: Arc<dyn Handler>,
    times: SocketTimes,
}

impl fmt::Debug for SocketMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketMode")
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl SocketMode {
    /// Prepares to connect; `api` holds the app's own token.
    #[must_use]
    pub fn new(api: Arc<Api>, handler: Arc<dyn Handler>, times: SocketTimes) -> Self {
        choose_encryption();
        Self {
            api,
            handler,
            times,
        }
    }

    /// Connects and serves, again and again, until `stop` is true. `standing`
    /// tells whether a connection stands.
    pub async fn run(&self, mut stop: watch::Receiver<bool>, standing: &watch::Sender<bool>) {
        let mut failures = 0_u32;
        while !*stop.borrow() {
            let opened = tokio::select! {
                opened = self.open() => opened,
                () = stopped(&mut stop) => return,
            };
            let mut connection = match opened {
                Ok(connection) => connection,
                Err(why) => {
                    standing.send_replace(false);
                    let pause = self.times.pause * 2_u32.pow(failures.min(7));
                    failures += 1;
                    tracing::warn!(
                        "cannot open Slack's socket: {why}; retrying in {:.1} s",
                        pause.as_secs_f64()
                    );
                    tokio::select! {
                        () = sleep(pause) => continue,
                        () = stopped(&mut stop) => return,
                    }
                }
            };
            standing.send_replace(true);
            let since = Instant::now();
            let end = tokio::select! {
                end = connection.serve() => end,
                () = stopped(&mut stop) => {
                    connection.close().await;
                    return;
                }
            };
            // One that broke at once is no success.
            if since.elapsed() > self.times.ping {
                failures = 0;
            }
            match end {
                // Served on until the next one stands and a while longer.
                End::Disconnected(DisconnectReason::Refresh) => {
                    let overlap = self.times.overlap;
                    tokio::spawn(async move {
                        let _ended = timeout(overlap, connection.serve()).await;
                        connection.close().await;
                    });
                    continue;
                }
                End::Disconnected(leave) => {
                    standing.send_replace(false);
                    tracing::warn!("{}", advice(leave));
                    // Asking again at once would make it worse.
                    failures = failures.max(6);
                    drop(connection);
                }
                End::Broken(why) => {
                    standing.send_replace(false);
                    tracing::warn!("Slack's socket ended: {why}");
                    drop(connection);
                }
            }
            let pause = self.times.pause * 2_u32.pow(failures.min(7));
            failures += 1;
            tokio::select! {
                () = sleep(pause) => {}
                () = stopped(&mut stop) => return,
            }
        }
    }

    async fn open(&self) -> Result<Connection, String> {
        let address = self.api.socket().await.map_err(|error| error.to_string())?;
        if self.api.is_encrypted() && !address.expose_secret().starts_with("wss://") {
            return Err("its address is not one of wss://".to_owned());
        }
        Connection::open(&address, self.times, Arc::clone(&self.handler)).await
    }
}

fn advice(leave: DisconnectReason) -> &'static str {
    match leave {
        DisconnectReason::Refresh => "Slack is renewing the socket",
        DisconnectReason::LinkDisabled => {
            "Slack ended the socket: Socket Mode is switched off on the app's page"
        }
        DisconnectReason::TooMany => {
            "Slack ended the socket: more than ten are open; run one service for one app"
        }
    }
}

/// Returns when it is time to stop, or nobody is left to say so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _gone = stop.wait_for(|stop| *stop).await;
}
