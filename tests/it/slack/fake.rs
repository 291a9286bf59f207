//! A server that plays Slack and notes what it is told.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Something that Slack was told.
#[derive(Clone, Debug)]
pub(crate) struct SlackMessage {
    /// `chat.postMessage`, `respond`, …
    pub(crate) what: String,
    /// The body where it is JSON, else the text under `raw`.
    pub(crate) body: Value,
}

impl SlackMessage {
    /// All that the message says.
    pub(crate) fn text(&self) -> String {
        self.body.to_string()
    }
}

#[derive(Default)]
struct Inner {
    reported: Mutex<Vec<SlackMessage>>,
    url: Mutex<String>,
    /// Methods that fail, and with which word.
    refused: Mutex<Vec<(String, String)>>,
}

/// A server that plays Slack.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) url: String,
    inner: Arc<Inner>,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Inner::default());
        inner.url.lock().unwrap().clone_from(&url);
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner }
    }

    /// Lets a method fail from now on.
    pub(crate) fn refuse(&self, method: &str, word: &str) {
        let refusal = (method.to_owned(), word.to_owned());
        self.inner.refused.lock().unwrap().push(refusal);
    }

    /// Everything told so far by one method.
    pub(crate) fn reported(&self, what: &str) -> Vec<SlackMessage> {
        let reported = self.inner.reported.lock().unwrap();
        let of = reported.iter().filter(|one| one.what == what);
        of.cloned().collect()
    }

    /// Everything told so far.
    pub(crate) fn all(&self) -> Vec<SlackMessage> {
        self.inner.reported.lock().unwrap().clone()
    }

    /// Waits until so many were told by one method.
    pub(crate) async fn wait(&self, what: &str, many: usize) -> Vec<SlackMessage> {
        self.wait_for(what, many, Duration::from_secs(40)).await
    }

    /// The same with a patience of the test's own.
    pub(crate) async fn wait_for(
        &self,
        what: &str,
        many: usize,
        patience: Duration,
    ) -> Vec<SlackMessage> {
        let start = Instant::now();
        loop {
            let reported = self.reported(what);
            if reported.len() >= many {
                return reported;
            }
            let all = || {
                let reported = self.inner.reported.lock().unwrap();
                reported
                    .iter()
                    .map(|one| one.what.clone())
                    .collect::<Vec<_>>()
            };
            assert!(start.elapsed() < patience, "{what}: {:?}", all());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().trim_start_matches('/');
    let what = path.trim_start_matches("api/").to_owned();
    let raw = String::from_utf8_lossy(&body).into_owned();
    let value = serde_json::from_slice(&body).unwrap_or_else(|_| json!({"raw": raw}));
    let number = {
        let mut reported = inner.reported.lock().unwrap();
        reported.push(SlackMessage {
            what: what.clone(),
            body: value.clone(),
        });
        reported.len()
    };
    let authorised = headers
        .get("authorization")
        .is_some_and(|token| token == "Bearer xoxb-ours");
    if path.starts_with("api/") && !authorised {
        return Json(json!({"ok": false, "error": "invalid_auth"})).into_response();
    }
    let refused = inner.refused.lock().unwrap();
    if let Some((_, word)) = refused.iter().find(|(method, _)| *method == what) {
        let body = Json(json!({"ok": false, "error": word}));
        let code = if what == "respond" {
            StatusCode::NOT_FOUND
        } else {
            StatusCode::OK
        };
        return (code, body).into_response();
    }
    let url = inner.url.lock().unwrap().clone();
    match what.as_str() {
        "respond" => "ok".into_response(),
        "chat.postMessage" => Json(json!({
            "ok": true, "channel": value["channel"], "ts": format!("18000000{number}.000100"),
        }))
        .into_response(),
        "conversations.info" => Json(json!({
            "ok": true,
            "channel": {"id": "C", "is_ext_shared": raw.contains("SHARED")},
        }))
        .into_response(),
        "files.getUploadURLExternal" => Json(json!({
            "ok": true, "upload_url": format!("{url}/upload/{number}"), "file_id": format!("F{number}"),
        }))
        .into_response(),
        _ if what.starts_with("upload/") => "OK".into_response(),
        _ => Json(json!({"ok": true})).into_response(),
    }
}
