//! What we may do: asked of the server before it is tried.

use std::time::Instant;

use serde::Deserialize;
use serde_json::json;

use super::client::{self, ApiClient, RequestError};
use super::resource::Resource;
use crate::connector::Verdict;

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// The answer to one review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccessReview {
    pub(super) verdict: Verdict,
    /// Why, in the server's words, or why it is not known.
    pub(super) detail: Option<String>,
}

#[derive(Deserialize)]
struct Review {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Status {
    allowed: bool,
    reason: Option<String>,
    #[serde(rename = "evaluationError")]
    evaluation_error: Option<String>,
}

/// Asks whether we may `verb` a resource, in one namespace or in all.
pub(super) async fn review(
    wire: &ApiClient,
    verb: &str,
    resource: &Resource,
    subresource: &str,
    namespace: Option<&str>,
    deadline: Instant,
) -> AccessReview {
    let namespace = namespace
        .filter(|_| resource.namespaced)
        .unwrap_or_default();
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": {
            "verb": verb,
            "group": resource.group,
            "version": resource.version,
            "resource": resource.plural,
            "subresource": subresource,
            "namespace": namespace,
        } },
    });
    let answer = wire
        .post(REVIEWS, body.to_string().into_bytes(), deadline)
        .await;
    read(answer)
}

/// A server that does not answer reviews leaves it unknown: then it is tried.
fn read(answer: Result<Vec<u8>, RequestError>) -> AccessReview {
    let unknown = |why: String| AccessReview {
        verdict: Verdict::Unknown,
        detail: Some(format!("the server did not say: {why}")),
    };
    let review = match answer.and_then(|body| client::parse::<Review>(&body)) {
        Ok(review) => review,
        Err(failure) => return unknown(failure.words()),
    };
    let Some(status) = review.status else {
        return unknown("an empty review".to_owned());
    };
    if status.allowed {
        return AccessReview {
            verdict: Verdict::Allowed,
            detail: None,
        };
    }
    // An authorizer that failed has not said no.
    if let Some(why) = status.evaluation_error.filter(|why| !why.is_empty()) {
        return unknown(why);
    }
    AccessReview {
        verdict: Verdict::Denied,
        detail: status.reason.filter(|reason| !reason.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_is_not_a_denial() {
        let denied = read(Ok(br#"{"status":{"allowed":false}}"#.to_vec()));
        assert_eq!(denied.verdict, Verdict::Denied);
        let failed = br#"{"status":{"allowed":false,"evaluationError":"webhook down"}}"#;
        assert_eq!(read(Ok(failed.to_vec())).verdict, Verdict::Unknown);
        assert_eq!(read(Ok(b"{}".to_vec())).verdict, Verdict::Unknown);
        assert_eq!(read(Ok(b"<html>".to_vec())).verdict, Verdict::Unknown);
    }
}
