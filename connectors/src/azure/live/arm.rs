//! Azure Resource Manager: one document, or a list page by page.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::tokens::Tokens;
use crate::http::{Answer, Client, HttpError, HttpOptions, Request};

/// With fewer reads left of those that a subscription has, others need them more:
/// an autoscaler that cannot read does not scale.
const FEW_READS: u64 = 20;

/// How many reads are left for a subscription, in answers.
const READS_LEFT: &str = "x-ms-ratelimit-remaining-subscription-reads";

/// Azure Resource Manager.
#[derive(Debug)]
pub(super) struct Arm {
    client: Client,
    base: Url,
    pub(super) tokens: Arc<Tokens>,
}

/// One page of a list.
#[derive(Debug, Deserialize)]
struct Page {
    value: Vec<Value>,
    #[serde(rename = "nextLink")]
    next: Option<String>,
}

/// How reading a list ended.
#[derive(Debug, Default)]
pub(super) struct ListOutcome {
    /// Pages read.
    pub(super) pages: usize,
    /// Items that are no objects.
    pub(super) broken: u64,
    /// Why it ended before its end, where nothing went wrong.
    pub(super) cut: Option<String>,
    /// What went wrong; what was read before is used.
    pub(super) failure: Option<HttpError>,
}

impl Arm {
    pub(super) fn new(http: HttpOptions, tokens: Arc<Tokens>) -> Result<Self, HttpError> {
        let client = Client::new(http)?;
        let base = Url::parse(&format!("{}/", client.address()))
            .map_err(|error| HttpError::BadRequest(error.to_string()))?;
        Ok(Self {
            client,
            base,
            tokens,
        })
    }

    /// Where it is.
    pub(super) fn address(&self) -> String {
        self.client.address()
    }

    /// A document. A token that is refused is renewed once: it may have been
    /// revoked, or our clock may be wrong.
    pub(super) async fn get(&self, path: &str, deadline: Instant) -> Result<Answer, HttpError> {
        let request = Request::get(path);
        match self.client.send(&request, deadline).await {
            Err(HttpError::Refused { code: 401, .. }) => {
                self.tokens.forget().await;
                self.client.send(&request, deadline).await
            }
            answer => answer,
        }
    }

    /// Reads a list, page by page, and shows each object to `take`, which says
    /// whether to go on.
    pub(super) async fn walk(
        &self,
        first: String,
        max_pages: usize,
        deadline: Instant,
        mut take: impl FnMut(Map<String, Value>) -> bool + Send,
    ) -> ListOutcome {
        let mut walked = ListOutcome::default();
        let mut next = Some(first);
        let mut seen = BTreeSet::new();
        while let Some(path) = next.take() {
            if walked.pages >= max_pages {
                walked.cut = Some(format!("cut after {max_pages} pages"));
                break;
            }
            // The first request says itself what is wrong where there is no time.
            if walked.pages > 0 && Instant::now() >= deadline {
                walked.cut = Some("the time was up".to_owned());
                break;
            }
            if !seen.insert(path.clone()) {
                walked.failure = Some(HttpError::Garbage(
                    "the next page is one that was read before".to_owned(),
                ));
                break;
            }
            let read = self.get(&path, deadline).await;
            let read = read.and_then(|answer| Ok((answer.json::<Page>()?, reads_left(&answer))));
            let (page, left) = match read {
                Ok(read) => read,
                Err(failure) => {
                    walked.failure = Some(failure);
                    break;
                }
            };
            walked.pages += 1;
            let mut enough = false;
            for item in page.value {
                match item {
                    Value::Object(fields) => enough |= !take(fields),
                    _ => walked.broken += 1,
                }
            }
            if enough {
                break;
            }
            // A page without items may have one after it.
            let link = page.next.filter(|link| !link.is_empty());
            match link.map(|link| self.path_of(&link)).transpose() {
                Ok(path) => next = path,
                Err(failure) => walked.failure = Some(failure),
            }
            if next.is_some()
                && let Some(left) = left.filter(|left| *left < FEW_READS)
            {
                walked.cut = Some(format!(
                    "stopped since others need the {left} reads that Azure still allows for this subscription"
                ));
                break;
            }
        }
        walked
    }

    /// The path of a link to the next page, which must lead to where we are: our
    /// token goes nowhere else.
    fn path_of(&self, link: &str) -> Result<String, HttpError> {
        let url = Url::parse(link).or_else(|_| self.base.join(link));
        let url = url.map_err(|error| {
            HttpError::Garbage(format!("the link to the next page is none: {error}"))
        })?;
        let same = url.origin() == self.base.origin();
        let path = url.path().strip_prefix(self.base.path());
        match path.filter(|_| same) {
            Some(path) => Ok(match url.query() {
                Some(query) => format!("{path}?{query}"),
                None => path.to_owned(),
            }),
            None => Err(HttpError::Garbage(format!(
                "the next page is on another host, {}",
                url.host_str().unwrap_or("no host")
            ))),
        }
    }
}

/// How many reads are left for the subscription, where the answer says so.
fn reads_left(answer: &Answer) -> Option<u64> {
    answer.header(READS_LEFT)?.trim().parse().ok()
}

/// A path with its query, escaped as Azure's own tools do: `%20`, not `+`.
pub(super) fn path(of: &str, query: &[(&str, &str)]) -> String {
    let mut text: String = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    text = text.replace('+', "%20").replace("%24", "$");
    let of: Vec<String> = of.trim_matches('/').split('/').map(segment).collect();
    format!("{}?{text}", of.join("/"))
}

/// One part of a path; names of resource groups may hold parentheses and more.
fn segment(part: &str) -> String {
    let escaped: String = url::form_urlencoded::byte_serialize(part.as_bytes()).collect();
    escaped.replace('+', "%20")
}
