//! Sends requests until they are answered or it is of no use.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable as _};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Proxy, Url, redirect};
use secrecy::ExposeSecret as _;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use super::answer::{Answer, wait_asked};
use super::error::HttpError;
use super::error_body;
use super::options::HttpOptions;
use super::request::{Request, RetryPolicy};
use super::tls;

/// Who asks, so that operators of servers can tell.
const AGENT: &str = concat!("whathappened/", env!("CARGO_PKG_VERSION"));

/// The longest that a server may make us wait for one try.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A server and how it is reached. Cheap to clone; clones share connections,
/// the limit on concurrency and the count of requests.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    base: Url,
    options: HttpOptions,
    gate: Semaphore,
    sent: AtomicU64,
}

impl Client {
    /// Prepares to reach a server; asks nothing yet.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub fn new(options: HttpOptions) -> Result<Self, HttpError> {
        let base = base(&options.base_url)?;
        let client = connections(&options)?;
        let gate = Semaphore::new(options.concurrency.max(1));
        Ok(Self {
            inner: Arc::new(Inner {
                client,
                base,
                options,
                gate,
                sent: AtomicU64::new(0),
            }),
        })
    }

    /// Where the server is, without a user or password in it.
    #[must_use]
    pub fn address(&self) -> String {
        let text = self.inner.base.as_str();
        text.trim_end_matches('/').to_owned()
    }

    /// How many requests were sent, tries counted.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.inner.sent.load(Ordering::Relaxed)
    }

    /// Sends a request, again where that may help, until `deadline`.
    ///
    /// # Errors
    /// [`HttpError`] of the last try.
    pub async fn send(&self, request: &Request, deadline: Instant) -> Result<Answer, HttpError> {
        let tries = match request.again {
            RetryPolicy::Never => 1,
            RetryPolicy::Always | RetryPolicy::IfNotDone => self.inner.options.tries.max(1),
        };
        // Times of waiting reach no answer, so that chance in them is harmless.
        let schedule = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(250))
            .with_max_delay(Duration::from_secs(10))
            .with_max_times(tries - 1)
            .with_jitter();
        let once = || self.once(request, deadline);
        once.retry(schedule)
            .when(|failure| match request.again {
                RetryPolicy::IfNotDone => failure.code() == Some(429),
                RetryPolicy::Always | RetryPolicy::Never => failure.is_passing(),
            })
            .adjust(|failure, planned| {
                let wait = match failure {
                    HttpError::Refused {
                        wait: Some(requested),
                        ..
                    } => planned?.max(*requested),
                    _ => planned?,
                };
                // Waiting past the deadline would only hide what is wrong.
                let fits = wait <= LONGEST_WAIT && Instant::now() + wait < deadline;
                fits.then_some(wait)
            })
            .await
    }

    /// Sends a request and reads its answer as JSON.
    ///
    /// # Errors
    /// As [`Self::send`]; [`HttpError::Garbage`] for what is no such document.
    pub async fn json<T: serde::de::DeserializeOwned>(
        &self,
        request: &Request,
        deadline: Instant,
    ) -> Result<T, HttpError> {
        self.send(request, deadline).await?.json()
    }

    async fn once(&self, request: &Request, deadline: Instant) -> Result<Answer, HttpError> {
        let start = Instant::now();
        let until = (start + self.inner.options.request_timeout).min(deadline);
        let allowed = until.saturating_duration_since(start);
        let fetch_request = async {
            let _turn = self.inner.gate.acquire().await;
            self.inner.sent.fetch_add(1, Ordering::Relaxed);
            self.fetch_request(request).await
        };
        timeout_at(until.into(), fetch_request)
            .await
            .unwrap_or(Err(HttpError::TimedOut(allowed)))
    }

    /// Why there was no answer: that nobody listens is told with the address.
    fn no_answer(&self, error: reqwest::Error) -> HttpError {
        let is_connecting = error.is_connect();
        match broken(error) {
            HttpError::Broken(why) if is_connecting && why.contains("refused") => {
                let address = self.inner.base.origin().ascii_serialization();
                HttpError::Unreachable { address, why }
            }
            other => other,
        }
    }

    async fn fetch_request(&self, request: &Request) -> Result<Answer, HttpError> {
        let inner = &self.inner;
        let mut url = inner.base.join(&request.path).map_err(|error| {
            HttpError::BadRequest(format!("{:?} is not a path: {error}", request.path))
        })?;
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let mut builder = inner.client.request(request.method.clone(), url);
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        if let Some((media_type, body)) = &request.body {
            builder = builder
                .header(reqwest::header::CONTENT_TYPE, *media_type)
                .body(body.clone());
        }
        let built = inner.options.auth.finish(builder).await?;
        let sent = inner.client.execute(built).await;
        let response = sent.map_err(|error| self.no_answer(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        // What is wrong needs few words; what is right may be long.
        let cap = if status.is_success() {
            inner.options.max_body
        } else {
            64 << 10
        };
        let body = read(response, cap).await;
        if status.is_redirection() {
            let to = headers.get(reqwest::header::LOCATION);
            let to = to.and_then(|to| to.to_str().ok()).unwrap_or("elsewhere");
            // A login page's address holds what should not be shown.
            let to = to.split(['?', '#']).next().unwrap_or(to);
            return Err(HttpError::Garbage(format!("it sends us to {to}")));
        }
        if !status.is_success() {
            return Err(HttpError::Refused {
                code: status.as_u16(),
                message: error_body::words(&body.unwrap_or_default()),
                wait: wait_asked(&headers),
            });
        }
        Ok(Answer {
            status,
            headers,
            body: body?,
        })
    }
}

/// Reads a body piece by piece, so that its size is known before it is held.
async fn read(mut response: reqwest::Response, cap: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        if body.len() + piece.len() > cap {
            return Err(HttpError::TooLarge(cap));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The address with a slash at its end, so that paths are appended to its own.
fn base(text: &str) -> Result<Url, HttpError> {
    let wrong = |why: String| HttpError::BadRequest(format!("{text:?} is not a URL: {why}"));
    let mut url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it must begin with http:// or https://".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::BadRequest(
            "an address must not hold a user or password: configure them apart".to_owned(),
        ));
    }
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Connections as the options say, for libraries that bring their own requests.
pub fn connections(options: &HttpOptions) -> Result<reqwest::Client, HttpError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(AGENT)
        .default_headers(headers(options)?)
        .connect_timeout(Duration::from_secs(10))
        // Credentials go where they were meant to go, and nowhere else.
        .redirect(redirect::Policy::none());
    builder = tls::encrypted(builder, options)?;
    if let Some(proxy) = &options.proxy {
        builder = builder.proxy(Proxy::all(proxy).map_err(|_| {
            HttpError::BadRequest("the proxy is not a URL such as http://proxy:3128".to_owned())
        })?);
    }
    if options.direct {
        builder = builder.no_proxy();
    }
    #[cfg(unix)]
    if let Some(path) = &options.unix_socket {
        builder = builder.unix_socket(path.as_path());
    }
    builder.build().map_err(broken)
}

fn headers(options: &HttpOptions) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &options.headers {
        let wrong =
            |what: &str| HttpError::BadRequest(format!("the {what} of header {name:?} is none"));
        let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong("name"))?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| wrong("value"))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

/// What broke, without the address, which may hold what is asked for.
fn broken(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    let mut words = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if words.last() != Some(&text) {
            words.push(text);
        }
        next = cause.source();
    }
    // The innermost says it plainly: `Connection refused`.
    let why = words.pop().unwrap_or_else(|| error.to_string());
    let all = words.join(" ");
    if why.contains("ertificate") || all.contains("ertificate") || why.contains("HandshakeFailure")
    {
        HttpError::Tls(why)
    } else {
        HttpError::Broken(why)
    }
}
