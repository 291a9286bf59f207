//! Requests and answers: caps, deadlines and retries, once for all that follows.

use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable as _};
use futures::{AsyncBufRead, AsyncReadExt as _};
use kube::client::Body;
use kube::core::Request;
use kube::core::params::{ListParams, PostParams};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue};
use serde::Deserialize;
use tokio::time::timeout_at;

use super::error::{self, ClusterError};

/// Why an answer was not obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestError {
    /// The server says no.
    Status {
        code: u16,
        message: String,
        /// The token by which an expired list can go on.
        next: Option<String>,
    },
    /// The answer is larger than this many bytes.
    TooLarge(usize),
    /// It took too long.
    TimedOut(Duration),
    /// The connection broke, or never came about.
    Broken(String),
    /// Not the answer of an API server.
    Garbage(String),
}

impl RequestError {
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether the resource is not there at all: no such kind, no such version.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.code(), Some(404 | 405))
    }

    pub(super) fn is_denied(&self) -> bool {
        matches!(self.code(), Some(401 | 403))
    }

    pub(super) fn is_expired(&self) -> bool {
        self.code() == Some(410)
    }

    fn is_passing(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Status { code: 502, .. } => true,
            // Others are a node that does not answer for its logs, which lasts.
            Self::Status {
                code: 500, message, ..
            } => message.contains("etcdserver"),
            _ => false,
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Status { code, message, .. } => format!("the server returned {code}: {message}"),
            Self::TooLarge(cap) => format!("the answer is larger than {cap} bytes"),
            Self::TimedOut(after) => format!("no response within {:.1} s", after.as_secs_f64()),
            Self::Broken(why) => format!("the connection failed: {why}"),
            Self::Garbage(why) => format!("the answer is not an API server's: {why}"),
        }
    }
}

impl From<kube::Error> for RequestError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Status {
                code: status.code,
                message: error::short(&status.message),
                next: status.metadata.and_then(|list| list.continue_),
            },
            other => Self::Broken(match ClusterError::of_auth("the server", &other) {
                Some(emitted) => emitted.message,
                None => error::chain(&other),
            }),
        }
    }
}

/// The head of an answer: what `check` looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseHead {
    pub(super) code: u16,
    /// The `Date` header.
    pub(super) date: Option<String>,
}

/// A connection to one API server. Cheap to clone.
#[derive(Clone)]
pub(super) struct ApiClient {
    client: kube::Client,
    request_timeout: Duration,
}

impl std::fmt::Debug for ApiClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

/// What tries again after a failure that passes.
fn again() -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(200))
        .with_max_times(2)
}

impl ApiClient {
    pub(super) fn new(client: kube::Client, request_timeout: Duration) -> Self {
        Self {
            client,
            request_timeout,
        }
    }

    /// When a request that starts now is given up.
    fn until(&self, deadline: Instant) -> (Instant, Duration) {
        let now = Instant::now();
        let until = (now + self.request_timeout).min(deadline);
        (until, until.saturating_duration_since(now))
    }

    /// The body at `path` (with its query), at most `cap` bytes. Tries again
    /// where the connection breaks.
    pub(super) async fn get(
        &self,
        path: &str,
        accept: Option<&'static str>,
        cap: usize,
        deadline: Instant,
    ) -> Result<Vec<u8>, RequestError> {
        let once = || async {
            let (until, after) = self.until(deadline);
            timeout_at(until.into(), self.get_once(path, accept, cap))
                .await
                .unwrap_or(Err(RequestError::TimedOut(after)))
        };
        once.retry(again())
            .when(|failure: &RequestError| failure.is_passing() && Instant::now() < deadline)
            .await
    }

    async fn get_once(
        &self,
        path: &str,
        accept: Option<&'static str>,
        cap: usize,
    ) -> Result<Vec<u8>, RequestError> {
        let mut body = self.open(path, accept, true).await?;
        let mut out = Vec::new();
        let mut chunk = vec![0; 64 << 10];
        loop {
            let n = body
                .read(&mut chunk)
                .await
                .map_err(|error| RequestError::Broken(error::chain(&error)))?;
            if n == 0 {
                return Ok(out);
            }
            if out.len() + n > cap {
                return Err(RequestError::TooLarge(cap));
            }
            out.extend_from_slice(&chunk[..n]);
        }
    }

    /// Opens the answer at `path` to be read as it comes.
    pub(super) async fn open(
        &self,
        path: &str,
        accept: Option<&'static str>,
        packed: bool,
    ) -> Result<impl AsyncBufRead + Send + Unpin + use<>, RequestError> {
        let mut request = Request::new("/")
            .list(&ListParams::default())
            .map_err(|error| RequestError::Broken(error.to_string()))?;
        *request.uri_mut() = path
            .parse()
            .map_err(|error| RequestError::Broken(format!("bad request path {path}: {error}")))?;
        if let Some(accept) = accept {
            let value = HeaderValue::from_static(accept);
            request.headers_mut().insert(ACCEPT, value);
        }
        if !packed {
            // New servers pack each line of a watch apart, which the client cannot undo.
            let value = HeaderValue::from_static("identity");
            request.headers_mut().insert(ACCEPT_ENCODING, value);
        }
        Ok(Box::pin(self.client.request_stream(request).await?))
    }

    /// Posts a JSON document and gives the answer.
    pub(super) async fn post(
        &self,
        path: &str,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<Vec<u8>, RequestError> {
        let (until, after) = self.until(deadline);
        let fetch_request = async {
            let mut request = Request::new(path)
                .create(&PostParams::default(), body)
                .map_err(|error| RequestError::Broken(error.to_string()))?;
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert("content-type", json);
            Ok(self.client.request_text(request).await?.into_bytes())
        };
        timeout_at(until.into(), fetch_request)
            .await
            .unwrap_or(Err(RequestError::TimedOut(after)))
    }

    /// The status and date that the server answers `path` with.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(super) async fn head(&self, path: &str) -> Result<ResponseHead, kube::Error> {
        let request = Request::new("/")
            .list(&ListParams::default())
            .map_err(kube::Error::BuildRequest)?;
        let mut request = request.map(Body::from);
        if let Ok(uri) = path.parse() {
            *request.uri_mut() = uri;
        }
        let response = self.client.send(request).await?;
        let date = response.headers().get("date");
        Ok(ResponseHead {
            code: response.status().as_u16(),
            date: date.and_then(|date| Some(date.to_str().ok()?.to_owned())),
        })
    }
}

/// Reads a small JSON answer.
pub(super) fn parse<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, RequestError> {
    serde_json::from_slice(body).map_err(|error| {
        let start = String::from_utf8_lossy(&body[..body.len().min(80)]);
        RequestError::Garbage(format!(
            "{error}; it starts with {:?}",
            error::short(&start)
        ))
    })
}

/// What a status without a reason of its own means for connecting.
pub(super) fn refused(server: &str, failure: &RequestError) -> ClusterError {
    match failure {
        RequestError::Status { code, message, .. } => {
            ClusterError::of_status(server, *code, message)
        }
        other => ClusterError::new(
            error::Reason::NotKubernetes,
            format!("{server}: {}", other.words()),
            "check that this is the address of an API server",
        ),
    }
}
