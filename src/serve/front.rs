//! What a browser sees at the service's address.

use axum::Router;
use axum::response::Html;
use axum::routing::get;

/// What this is and where the way is; it says nothing of what happened.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>whathappened</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em }</style>
<h1>whathappened</h1>
<p>This service says what happened to a training run: which pod died first, who or what killed it, the evidence, and what
could not be seen. It has no pages of its own yet; it answers programs and Slack.</p>
<ul>
<li><a href="/api/v1/openapi.json">/api/v1/openapi.json</a>: what the API can be asked, as an OpenAPI document
<li><code>GET /api/v1/answers/NAME</code> with <code>Accept: text/markdown</code>: what happened to an experiment, for people
<li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>: how the service is doing
</ul>
<p>On a command line: <code>whathappened EXPERIMENT</code></p>
</html>
"#;

/// `/`.
pub(super) fn routes() -> Router {
    Router::new().route("/", get(|| async { Html(PAGE) }))
}
