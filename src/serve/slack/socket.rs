//! Slack over Socket Mode.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use whathappened_model::connector::Stop;
use whathappened_slack::{
    Command, Envelope, EventRequest, Handler, Interaction, Kind, SocketMode, SocketTimes,
};

use super::Slack;

/// How long the service waits for answers when it is stopped.
const LAST_WORDS: Duration = Duration::from_secs(20);

struct SocketInbox(Arc<Slack>);

impl Handler for SocketInbox {
    fn take(&self, envelope: Envelope) -> BoxFuture<'_, Option<Value>> {
        async move { self.taken(&envelope) }.boxed()
    }
}

impl SocketInbox {
    fn taken(&self, envelope: &Envelope) -> Option<Value> {
        let unreadable = |error| {
            tracing::warn!("{error}");
            Some(Value::Null)
        };
        let noted = match envelope.kind {
            Kind::Command => match Command::from_json(&envelope.payload) {
                Ok(command) => return Some(self.0.command(command)),
                Err(error) => return unreadable(error),
            },
            Kind::Event => match EventRequest::from_json(&envelope.payload) {
                Ok(EventRequest::Callback(callback)) => self.0.event(callback),
                Ok(_) => Ok(()),
                Err(error) => return unreadable(error),
            },
            Kind::Interaction => match Interaction::from_json(&envelope.payload) {
                Ok(interaction) => self.0.interaction(interaction),
                Err(error) => return unreadable(error),
            },
            Kind::Other => Ok(()),
        };
        match noted {
            Ok(()) => Some(Value::Null),
            Err(error) => {
                tracing::error!("a request from Slack cannot be recorded: {error}");
                None
            }
        }
    }
}

impl Slack {
    /// Takes down what comes through a socket.
    #[must_use]
    pub fn handler(self: &Arc<Self>) -> Arc<dyn Handler> {
        Arc::new(SocketInbox(Arc::clone(self)))
    }

    /// Keeps a socket open where an app's token is, and looks at what channels
    /// subscribed to, until `stop`; then finishes what was begun.
    pub async fn run(self: Arc<Self>, stop: Stop) {
        let (stopper, stopping) = watch::channel(false);
        let ended = async {
            stop.cancelled().await;
            stopper.send_replace(true);
        };
        let socket = async {
            if let Some(app) = &self.app {
                let handler = self.handler();
                let mode = SocketMode::new(Arc::clone(app), handler, SocketTimes::default());
                let (standing, _) = watch::channel(false);
                mode.run(stopping, &standing).await;
            }
        };
        let introduced = async {
            tokio::select! {
                () = self.introduce() => {}
                () = stop.cancelled() => {}
            }
        };
        tokio::join!(introduced, ended, socket, self.look(&stop));
        self.finish().await;
    }

    /// Tells the operator at once whether the token is good.
    async fn introduce(&self) {
        let Some(api) = &self.api else {
            return;
        };
        match api.identity().await {
            Ok(own) => tracing::info!("connected to Slack as {} in {}", own.user, own.team),
            Err(error) => tracing::error!("cannot post to Slack: {error}"),
        }
    }

    /// Gives what is being worked on a little time.
    async fn finish(&self) {
        let until = Instant::now() + LAST_WORDS;
        while self.busy.load(Ordering::Relaxed) > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
