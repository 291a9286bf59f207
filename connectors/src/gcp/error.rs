//! The error code of a failed call, which stands in several places.

use crate::cloud::field::{self, Fields};
use crate::redact::redact;

/// Names of the status codes of Google's APIs, by number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// An error's code and text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GcpFailure {
    pub(super) code: String,
    pub(super) text: String,
}

/// What went wrong, as an `AuditLog` tells; `None` where nothing did.
pub(super) fn of_audit(audit: &Fields) -> Option<GcpFailure> {
    let status = field::object(audit, &["status"]);
    let code = status.and_then(|status| field::int(status, &["code"]));
    let response = field::object(audit, &["response", "error"]);
    if code.unwrap_or(0) == 0 && response.is_none() {
        return None;
    }
    let text = status
        .and_then(|status| field::text(status, &["message"]))
        .or_else(|| response.and_then(|error| field::text(error, &["message"])))
        .unwrap_or_default();
    let named = response
        .and_then(|error| field::objects(error, &["errors"]).next())
        .and_then(|error| field::text(error, &["code"]).or(field::text(error, &["reason"])));
    let known = code
        .and_then(|code| CODES.get(usize::try_from(code).ok()?))
        .copied();
    // What looks like a constant may be a part of a token.
    let clean = redact(text);
    let code = constant(&clean).or(named).or(known).unwrap_or("UNKNOWN");
    Some(GcpFailure {
        code: code.to_owned(),
        text: text.to_owned(),
    })
}

/// What went wrong, by a list of `{code, message}`, as operations have it.
pub(super) fn of_list<'a>(mut errors: impl Iterator<Item = &'a Fields>) -> Option<GcpFailure> {
    let first = errors.next()?;
    Some(GcpFailure {
        code: field::owned(first, &["code"]).unwrap_or_else(|| "UNKNOWN".to_owned()),
        text: field::owned(first, &["message"])
            .or_else(|| field::owned(first, &["detail_message"]))
            .unwrap_or_default(),
    })
}

/// The constant that a text is, begins with or puts in brackets:
/// `ZONE_RESOURCE_POOL_EXHAUSTED: …`, `[QUOTA_EXCEEDED] …`.
fn constant(text: &str) -> Option<&str> {
    let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.split(|c: char| !is_word(c))
        .find(|word| word.len() > 5 && word.contains('_'))
        .or_else(|| (!text.is_empty() && text.chars().all(is_word)).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_most_telling_code_is_taken() {
        let cases = [
            (json!({}), None),
            (json!({"status": {}}), None),
            (
                json!({"status": {"message": "Instance was preempted."}}),
                None,
            ),
            (
                json!({"status": {"code": 3, "message": "INVALID_ARGUMENT"}}),
                Some("INVALID_ARGUMENT"),
            ),
            (
                json!({"status": {"code": 8, "message": "ZONE_RESOURCE_POOL_EXHAUSTED: try another zone"}}),
                Some("ZONE_RESOURCE_POOL_EXHAUSTED"),
            ),
            (
                json!({"status": {"code": 5, "message": "no such thing"}}),
                Some("NOT_FOUND"),
            ),
            (
                json!({"status": {"code": 3}, "response": {"error": {"errors": [{"reason": "wrongKey"}]}}}),
                Some("wrongKey"),
            ),
        ];
        for (audit, code) in cases {
            let failure = of_audit(audit.as_object().unwrap());
            assert_eq!(failure.as_ref().map(|it| it.code.as_str()), code, "{audit}");
        }
    }
}
