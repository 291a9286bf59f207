//! Slack end to end: a server that plays Slack on one side, signed requests on
//! the other, and the bundled recordings in the store.

mod asking;
mod canary;
mod fake;
mod leaks;
mod messages;
mod real;
mod refusing;
mod stranger;
mod subscribing;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;
use whathappened::case::Rules;
use whathappened::config::Config;
use whathappened::fetch::FetchTargets;
use whathappened::serve::slack::Slack;
use whathappened::serve::{Service, listen};
use whathappened_http::{Client, HttpError, HttpOptions, Request};
use whathappened_model::connector::{Clock, Stop};
use whathappened_model::time::{SECOND, Stamp};

use fake::Fake;

const SECRET: &str = "a signing secret of ours";

/// A service with a store, and a Slack that it speaks to.
struct Setup {
    slack: Arc<Slack>,
    client: Client,
    fake: Fake,
    now: i64,
    stop: Stop,
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Numbers that make requests differ.
fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Setup {
    /// A service over the store in `folder` that speaks to `fake`, at a time.
    async fn start(folder: &Path, fake: Fake, config: &str, now: &str) -> Self {
        let config = format!("fetch = false\n{config}");
        Self::asking(folder, fake, &config, now, FetchTargets::default()).await
    }

    /// The same with live sources.
    async fn asking(
        folder: &Path,
        fake: Fake,
        config: &str,
        now: &str,
        asked: FetchTargets,
    ) -> Self {
        let now = Stamp::parse(now).unwrap().lo;
        let clock: Clock = Arc::new(move || now);
        let config: Config =
            toml::from_str(&format!("[slack]\nlook_every_s = 1\n{config}")).unwrap();
        let rules = Arc::new(Rules::load(&[]).unwrap());
        let store = folder.join("store");
        let service = Arc::new(Service::new(config, rules, store, asked, clock));
        let address = format!("{}/api/", fake.url);
        let env = move |name: &str| match name {
            "SLACK_SIGNING_SECRET" => Some(SECRET.to_owned()),
            "SLACK_BOT_TOKEN" => Some("xoxb-ours".to_owned()),
            "SLACK_API_URL" => Some(address.clone()),
            _ => None,
        };
        let slack = Slack::open(Arc::clone(&service), &env).unwrap().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Stop::new();
        tokio::spawn(Arc::clone(&slack).run(stop.clone()));
        let serving = listen::serve(service, Some(Arc::clone(&slack)), listener, stop.clone());
        tokio::spawn(async move { serving.await.unwrap() });
        let client = Client::new(HttpOptions {
            concurrency: 64,
            ..HttpOptions::new(url)
        });
        Self {
            slack,
            client: client.unwrap(),
            fake,
            now: now / SECOND,
            stop,
        }
    }

    /// Sends a signed request; status and body.
    async fn send(
        &self,
        path: &str,
        body: &str,
        headers: &[(&'static str, String)],
    ) -> (u16, Value) {
        let time = self.now.to_string();
        let signature = sign(SECRET, &time, body);
        let mut all = vec![
            ("x-slack-request-timestamp", time),
            ("x-slack-signature", signature),
        ];
        all.extend(headers.iter().cloned());
        self.send_as(path, body, &all).await
    }

    async fn send_as(
        &self,
        path: &str,
        body: &str,
        headers: &[(&'static str, String)],
    ) -> (u16, Value) {
        let media = if body.starts_with('{') {
            "application/json"
        } else {
            "application/x-www-form-urlencoded"
        };
        let mut request = Request::post(path)
            .bytes(media, body.as_bytes().to_vec())
            .once();
        for (name, value) in headers {
            request = request.header(name, value.clone());
        }
        // How soon it acknowledges is measured by `benches/serve.py`.
        let sent = self
            .client
            .send(&request, Instant::now() + Duration::from_secs(20))
            .await;
        match sent {
            Ok(answer) => {
                let value = serde_json::from_slice(&answer.body).unwrap_or_default();
                (answer.status.as_u16(), value)
            }
            Err(HttpError::Refused { code, message, .. }) => (code, json!(message)),
            // The service hung up while we were still telling.
            Err(HttpError::Broken(why)) => (0, json!(why)),
            Err(other) => panic!("{other}"),
        }
    }

    /// Types a command in a channel; what it is acknowledged with.
    async fn type_in(&self, channel: &str, text: &str) -> Value {
        let body = self.command(channel, text);
        let (code, answer) = self.send("slack/commands", &body, &[]).await;
        assert_eq!(code, 200);
        answer
    }

    fn command(&self, channel: &str, text: &str) -> String {
        form(&[
            ("team_id", "T1"),
            ("channel_id", channel),
            ("channel_name", "training"),
            ("user_id", "U1"),
            ("command", "/whathappened"),
            ("text", text),
            ("response_url", &format!("{}/respond", self.fake.url)),
            ("trigger_id", &format!("{}.1", number())),
        ])
    }

    /// Mentions the app.
    async fn mention(&self, channel: &str, text: &str) {
        let body = mention(channel, text, &format!("Ev{}", number()), false);
        let (code, _) = self.send("slack/events", &body, &[]).await;
        assert_eq!(code, 200);
    }
}

fn mention(channel: &str, text: &str, event_id: &str, is_shared: bool) -> String {
    json!({
        "type": "event_callback", "team_id": "T1", "event_id": event_id, "event_time": 1,
        "is_ext_shared_channel": is_shared,
        "authorizations": [{"user_id": "U0BOT", "is_bot": true}],
        "event": {
            "type": "app_mention", "user": "U1", "channel": channel, "ts": "1700000000.000100",
            "text": format!("<@U0BOT> {text}"),
        },
    })
    .to_string()
}

fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        text.bytes().map(byte).collect::<String>()
    };
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)));
    fields.collect::<Vec<_>>().join("&")
}

fn sign(secret: &str, time: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("v0:{time}:{body}").as_bytes());
    let digits = mac.finalize().into_bytes();
    let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("v0={digits}")
}
