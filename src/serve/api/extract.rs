//! Parts of a request, with problems for those that are wrong.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use whathappened_core::resolve::{Name, rank_names};

use super::problem::Problem;
use crate::serve::Caller;

/// Who asks; the guard around all routes let them through.
pub(super) struct AuthenticatedCaller(pub(super) Caller);

impl<S: Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        let refused = || Problem::new(StatusCode::UNAUTHORIZED, "a token is required");
        caller.map(Self).ok_or_else(refused)
    }
}

/// What stands behind the question mark.
pub(super) struct Params<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let taken = Query::<T>::try_from_uri(&parts.uri);
        let wrong = |error: axum::extract::rejection::QueryRejection| {
            Problem::bad(in_words(&error.body_text()))
                .hint("the parameters are listed in /api/v1/openapi.json; others are refused")
        };
        taken.map(|Query(params)| Self(params)).map_err(wrong)
    }
}

/// What the reader of queries says, without its own words: it "failed to deserialize" the query string, at a field that it names,
/// and lists those that there are.
fn in_words(text: &str) -> String {
    let why = text
        .rsplit_once("query string: ")
        .map_or(text, |(_, why)| why);
    let Some((_, named)) = why.split_once("unknown field ") else {
        return why.to_owned();
    };
    let mut quoted = named.split('`').skip(1).step_by(2);
    let Some(word) = quoted.next() else {
        return why.to_owned();
    };
    let known: Vec<String> = quoted.map(str::to_owned).collect();
    let near = match rank_names(word, known.iter().cloned()).first() {
        Some(near) => format!("; did you mean {near}?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are {}", known.join(", ")),
    };
    format!("there is no parameter {word}{near}")
}

/// The name in the path.
pub(super) struct PathName(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let taken = Path::<String>::from_request_parts(parts, state).await;
        let Path(name) = taken.map_err(|error| Problem::bad(error.body_text()))?;
        if let Some(flaw) = Name::flaw(&name) {
            return Err(Problem::bad(flaw));
        }
        Ok(Self(name))
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_parameter_with_a_typo_is_named() {
        let raw = "Failed to deserialize query string: sinc: unknown field `sinc`, expected one of `since`, `until`";
        assert_eq!(
            in_words(raw),
            "there is no parameter sinc; did you mean since?"
        );
        assert_eq!(
            in_words("Failed to deserialize query string: limit: invalid digit found in string"),
            "limit: invalid digit found in string"
        );
    }
}
