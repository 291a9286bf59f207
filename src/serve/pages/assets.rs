//! `GET /assets/{name}`: style and scripts, which say nothing of what happened.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::render::site;

pub(super) async fn get(Path(name): Path<String>) -> Response {
    let Some(asset) = site::asset(&name) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    // The name changes with the content.
    let head = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (head, asset.text).into_response()
}
