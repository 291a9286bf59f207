//! Calls Slack.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;
use whathappened_http::{Answer, Auth, Client, HttpError, HttpOptions, Request, Secret};

use super::error::ApiError;
use super::responses::{
    Acknowledged, Channel, Frame, Identity, OfChannel, OfSocket, OfUpload, Posted,
};
use crate::message::Message;
use crate::reply_to::{NotSlack, ReplyTo, ours};

const MEDIA_TYPE: &str = "application/json; charset=utf-8";

/// How long one call may take, with the waits that Slack asks for.
const PATIENCE: Duration = Duration::from_secs(90);

/// Slack shows one message a second in a channel; more may not be shown.
const PACE: Duration = Duration::from_secs(1);

/// Slack's Web API with one token.
#[derive(Debug)]
pub struct Api {
    client: Client,
    base: Url,
    /// Other hosts of Slack's, by origin.
    others: Mutex<BTreeMap<String, Client>>,
    /// When the next message of a channel may be posted.
    turns: Mutex<BTreeMap<String, Instant>>,
}

/// A file to be shown in a channel.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Its name.
    pub name: String,
    /// What it is called in the channel.
    pub title: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Api {
    /// Slack's own address.
    pub const ADDRESS: &str = "https://slack.com/api/";

    /// Prepares to call Slack, or whatever plays it at `address`.
    ///
    /// # Errors
    /// When the address is not valid.
    pub fn new(address: &str, token: Secret) -> Result<Self, HttpError> {
        let options = HttpOptions {
            auth: Auth::Bearer(token),
            request_timeout: Duration::from_secs(30),
            max_body: 4 << 20,
            ..HttpOptions::new(address)
        };
        let base = Url::parse(address.trim())
            .map_err(|error| HttpError::BadRequest(format!("{address:?} is not a URL: {error}")))?;
        Ok(Self {
            client: Client::new(options)?,
            base,
            others: Mutex::default(),
            turns: Mutex::default(),
        })
    }

    /// Whether Slack is spoken to over TLS, as anywhere but in tests.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// Who we are.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn identity(&self) -> Result<Identity, ApiError> {
        self.call("auth.test", Request::post("auth.test")).await
    }

    /// Posts to a channel, in a thread where one is named. Never posts twice.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn post(
        &self,
        channel: &str,
        thread: Option<&str>,
        message: &Message,
    ) -> Result<Posted, ApiError> {
        self.turn(channel).await;
        let mut with = json!({"channel": channel});
        if let Some(thread) = thread {
            with["thread_ts"] = json!(thread);
        }
        self.write("chat.postMessage", with, message).await
    }

    /// Posts what only one person sees. Slack does not promise that they do.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn post_to_one(
        &self,
        channel: &str,
        user: &str,
        thread: Option<&str>,
        message: &Message,
    ) -> Result<(), ApiError> {
        let mut with = json!({"channel": channel, "user": user});
        if let Some(thread) = thread {
            with["thread_ts"] = json!(thread);
        }
        self.write::<Acknowledged>("chat.postEphemeral", with, message)
            .await?;
        Ok(())
    }

    /// Changes a message of ours.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn update(&self, channel: &str, ts: &str, message: &Message) -> Result<(), ApiError> {
        let with = json!({"channel": channel, "ts": ts});
        self.write::<Acknowledged>("chat.update", with, message)
            .await?;
        Ok(())
    }

    /// Answers a command or a click: to all in the channel, or to the person
    /// alone; instead of the message that was clicked, where that is wanted.
    ///
    /// # Errors
    /// [`ApiError`]; its word is `used_url` or `expired_url` where the address is
    /// used up.
    pub async fn reply(
        &self,
        to: &ReplyTo,
        is_public: bool,
        replaces: bool,
        message: &Message,
    ) -> Result<(), ApiError> {
        let (origin, path) = to.place(&self.base)?;
        let client = self.other(&origin, "response_url")?;
        let kind = if is_public { "in_channel" } else { "ephemeral" };
        let with = json!({"response_type": kind, "replace_original": replaces});
        let send = async |message: &Message| {
            let request = Request::post(&path).done_once();
            let request = filled(request, &with, message, "response_url")?;
            let sent = client.send(&request, Instant::now() + PATIENCE).await;
            read("response_url", sent).map(|_| ())
        };
        match send(message).await {
            Err(error) if error.is_about_blocks() => send(&message.without_blocks()).await,
            other => other,
        }
    }

    /// A channel; needs the scope `channels:read`, or `groups:read` for private ones.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn channel(&self, channel: &str) -> Result<Channel, ApiError> {
        let request = Request::post("conversations.info").form(&[("channel", channel)]);
        let of: OfChannel = self.call("conversations.info", request).await?;
        Ok(of.channel)
    }

    /// Where Socket Mode listens: an address good for one connection, and secret.
    /// The token is the app's own, `xapp-…`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn socket(&self) -> Result<Secret, ApiError> {
        let request = Request::post("apps.connections.open").done_once();
        let of: OfSocket = self.call("apps.connections.open", request).await?;
        Ok(of.url.into())
    }

    /// Shows files in a channel, in a thread where one is named. The app has to
    /// be in the channel.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn upload(
        &self,
        channel: &str,
        thread: Option<&str>,
        comment: &str,
        files: &[Upload],
    ) -> Result<(), ApiError> {
        let mut ids = Vec::new();
        for file in files {
            let length = file.bytes.len().to_string();
            let fields = [("filename", file.name.as_str()), ("length", &length)];
            let request = Request::post("files.getUploadURLExternal").form(&fields);
            let place: OfUpload = self.call("files.getUploadURLExternal", request).await?;
            self.put(&place.upload_url, file).await?;
            ids.push(json!({"id": place.file_id, "title": file.title}));
        }
        let ids = Value::Array(ids).to_string();
        let mut fields = vec![
            ("files", ids.as_str()),
            ("channel_id", channel),
            ("initial_comment", comment),
        ];
        fields.extend(thread.map(|thread| ("thread_ts", thread)));
        let request = Request::post("files.completeUploadExternal")
            .form(&fields)
            .done_once();
        self.call::<Acknowledged>("files.completeUploadExternal", request)
            .await?;
        Ok(())
    }

    async fn put(&self, address: &str, file: &Upload) -> Result<(), ApiError> {
        let url = Url::parse(address).map_err(|_| NotSlack)?;
        let (origin, path) = ours(&url, &self.base, |host| {
            host.ends_with(".slack.com") || host.ends_with(".slack-gov.com")
        })?;
        let client = self.other(&origin, "upload_url")?;
        let request = Request::post(&path).bytes("application/octet-stream", file.bytes.clone());
        client
            .send(&request, Instant::now() + PATIENCE)
            .await
            .map_err(http_error("upload_url"))?;
        Ok(())
    }

    /// A message by a method of the API; its text alone where Slack turns the
    /// blocks away, which it does as a whole.
    async fn write<T: DeserializeOwned>(
        &self,
        method: &'static str,
        with: Value,
        message: &Message,
    ) -> Result<T, ApiError> {
        let mut with = with;
        with["unfurl_links"] = json!(false);
        with["unfurl_media"] = json!(false);
        with["link_names"] = json!(false);
        with["parse"] = json!("none");
        let send = async |message: &Message| {
            let request = Request::post(method).done_once();
            self.call(method, filled(request, &with, message, method)?)
                .await
        };
        match send(message).await {
            Err(error) if error.is_about_blocks() => {
                tracing::warn!("{error}; sending only the text");
                send(&message.without_blocks()).await
            }
            other => other,
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        request: Request,
    ) -> Result<T, ApiError> {
        let sent = self.client.send(&request, Instant::now() + PATIENCE).await;
        let answer = read(method, sent)?;
        answer.json().map_err(http_error(method))
    }

    /// Waits until a message may be posted to the channel.
    async fn turn(&self, channel: &str) {
        let until = {
            let now = Instant::now();
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, next| *next > now);
            let mine = turns.get(channel).copied().unwrap_or(now);
            turns.insert(channel.to_owned(), mine + PACE);
            mine
        };
        tokio::time::sleep_until(until.into()).await;
    }

    /// A client of another host of Slack's. What it is sent carries no token.
    fn other(&self, origin: &str, method: &'static str) -> Result<Client, ApiError> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = others.get(origin) {
            return Ok(client.clone());
        }
        let options = HttpOptions {
            request_timeout: Duration::from_secs(30),
            max_body: 1 << 20,
            concurrency: 16,
            ..HttpOptions::new(origin)
        };
        let client = Client::new(options).map_err(http_error(method))?;
        others.insert(origin.to_owned(), client.clone());
        Ok(client)
    }
}

fn http_error(method: &'static str) -> impl Fn(HttpError) -> ApiError {
    move |error| ApiError::Http { method, error }
}

/// A request with a message and what belongs beside it.
fn filled(
    request: Request,
    with: &Value,
    message: &Message,
    method: &'static str,
) -> Result<Request, ApiError> {
    let mut body = with.clone();
    body["text"] = json!(message.fallback());
    if !message.blocks().is_empty() {
        body["blocks"] = json!(message.blocks());
    }
    request
        .json_as(MEDIA_TYPE, &body)
        .map_err(http_error(method))
}

/// An answer that Slack means: 200 may say no, too, and so may a status that
/// says no hold its word for why.
fn read(method: &'static str, sent: Result<Answer, HttpError>) -> Result<Answer, ApiError> {
    let failed = |frame: Frame| ApiError::Failed {
        method,
        error: frame.error.unwrap_or_else(|| "no error".to_owned()),
        needed: frame.needed.filter(|scope| !scope.is_empty()),
        messages: frame
            .response_metadata
            .and_then(|more| more.messages)
            .unwrap_or_default(),
    };
    match sent {
        Ok(answer) => match answer.json::<Frame>() {
            Ok(frame) if frame.ok => Ok(answer),
            Ok(frame) => Err(failed(frame)),
            // An address to answer to says "ok" in letters.
            Err(_) if method == "response_url" => Ok(answer),
            Err(garbage) => Err(http_error(method)(garbage)),
        },
        Err(HttpError::Refused {
            code,
            message,
            wait,
        }) => {
            let word = message.split([';', ' ', ':']).next().unwrap_or_default();
            let is_word = !word.is_empty()
                && word.contains('_')
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if is_word {
                return Err(ApiError::Failed {
                    method,
                    error: word.to_owned(),
                    needed: None,
                    messages: Vec::new(),
                });
            }
            Err(http_error(method)(HttpError::Refused {
                code,
                message,
                wait,
            }))
        }
        Err(other) => Err(http_error(method)(other)),
    }
}
