//! What a page knows of its reader, and how it answers.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Response};
use serde::de::DeserializeOwned;
use whathappened_core::resolve::Name;

use crate::render::site::{self, Frame, Tab};
use crate::serve::api::Problem;
use crate::serve::{Caller, Service};

/// Who reads; the guard let them through.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) caller: Caller,
    /// They signed in, and can sign out.
    pub(super) signed_in: bool,
}

/// One page for one reader.
pub(super) struct Visit {
    pub(super) service: Arc<Service>,
    pub(super) reader: Reader,
    uri: Uri,
    name: Option<String>,
}

impl FromRequestParts<Arc<Service>> for Visit {
    type Rejection = StatusCode;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, StatusCode> {
        let reader = parts.extensions.get::<Reader>().cloned();
        let name = Path::<String>::from_request_parts(parts, service)
            .await
            .ok();
        Ok(Self {
            service: Arc::clone(service),
            reader: reader.ok_or(StatusCode::UNAUTHORIZED)?,
            uri: parts.uri.clone(),
            name: name.map(|Path(name)| name),
        })
    }
}

impl Visit {
    /// The name in the path.
    ///
    /// # Errors
    /// When nothing can have such a name.
    pub(super) fn name(&self) -> Result<String, Problem> {
        let name = self.name.clone().unwrap_or_default();
        match Name::flaw(&name) {
            Some(flaw) => Err(Problem::bad(flaw)),
            None => Ok(name),
        }
    }

    /// What stands behind the question mark.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let taken = Query::<T>::try_from_uri(&self.uri);
        taken
            .map(|Query(params)| params)
            .map_err(|error| Problem::bad(error.body_text()))
    }

    /// What is around the page.
    pub(super) fn frame(&self, tab: Tab) -> Frame {
        let caller = self
            .reader
            .signed_in
            .then(|| self.reader.caller.name.clone());
        Frame {
            tab,
            caller,
            ..Frame::default()
        }
    }

    /// The page, or what is wrong.
    pub(super) fn reply(&self, tab: Tab, page: Result<String, Problem>) -> Response {
        match page {
            Ok(page) => Html(page).into_response(),
            Err(problem) => shown(&self.frame(tab), &problem),
        }
    }
}

/// What is wrong, as a page.
pub(super) fn shown(frame: &Frame, problem: &Problem) -> Response {
    let (status, title, detail, hints, near) = problem.parts();
    let page = site::problem(frame, title, detail, hints, near);
    (status, Html(page)).into_response()
}
