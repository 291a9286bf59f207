//! What is asked.

use reqwest::Method;
use serde::Serialize;

use super::error::HttpError;

/// One request, to be sent as often as it takes.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: Method,
    /// Below the base URL, without a leading slash.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<(&'static str, Vec<u8>)>,
    pub(super) again: RetryPolicy,
}

/// When a request is sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryPolicy {
    /// Whenever it may help: sending it twice does no harm.
    Always,
    /// Only where the server says that it did nothing, since we asked too often.
    IfNotDone,
    /// Never.
    Never,
}

impl Request {
    fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.trim_start_matches('/').to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            again: RetryPolicy::Always,
        }
    }

    /// A GET of a path below the base URL.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST that only reads, so that it may be repeated.
    #[must_use]
    pub fn post(path: &str) -> Self {
        Self::new(Method::POST, path)
    }

    /// A DELETE, as closing a cursor asks for.
    #[must_use]
    pub fn delete(path: &str) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// Adds a parameter to the query.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends a JSON document.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn json(self, body: &impl Serialize) -> Result<Self, HttpError> {
        self.json_as("application/json", body)
    }

    /// Sends a JSON document under a media type of its own.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn json_as(
        mut self,
        media_type: &'static str,
        body: &impl Serialize,
    ) -> Result<Self, HttpError> {
        let bytes = serde_json::to_vec(body).map_err(|error| {
            HttpError::BadRequest(format!("the request cannot be written as JSON: {error}"))
        })?;
        self.body = Some((media_type, bytes));
        Ok(self)
    }

    /// Sends parameters as a form, for queries too long for a URL.
    #[must_use]
    pub fn form(mut self, fields: &[(&str, &str)]) -> Self {
        let mut encoder = url::form_urlencoded::Serializer::new(String::new());
        encoder.extend_pairs(fields);
        self.body = Some((
            "application/x-www-form-urlencoded",
            encoder.finish().into_bytes(),
        ));
        self
    }

    /// Must not be sent twice.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.again = RetryPolicy::Never;
        self
    }

    /// Must not be done twice: sent again only where the server answers 429.
    #[must_use]
    pub fn done_once(mut self) -> Self {
        self.again = RetryPolicy::IfNotDone;
        self
    }

    /// Sends bytes as they are.
    #[must_use]
    pub fn bytes(mut self, media_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some((media_type, bytes));
        self
    }
}
