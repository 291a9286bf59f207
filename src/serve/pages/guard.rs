//! Who reads, whether they may, and what their browser may load: around every page at once.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Redirect, Response};

use super::oidc;
use super::visit::{Reader, shown};
use crate::config::Right;
use crate::render::{in_address, site};
use crate::serve::api::{self, Problem};
use crate::serve::audit::AuditEntry;
use crate::serve::turns::for_caller;
use crate::serve::{Caller, Service};

/// What a page may load: the service's own style and scripts, and nothing that stands in it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Says to browsers what pages may load and who may look into them.
pub(super) async fn policy(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What one reader may see is not for the next one of the same browser or proxy.
    let private = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(private);
    response
}

/// What becomes of a request.
enum Admitted {
    /// It is answered.
    In(Reader),
    /// It is sent here once more by a page of our own.
    Again,
    /// They have to sign in.
    Login,
    /// It is refused.
    Refused(Problem),
}

/// Lets through who may read.
pub(super) async fn guard(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let uri = request.uri().clone();
    let what = format!("{} {uri}", request.method());
    let admitted = admit(&service, request.method(), &uri, request.headers());
    let mut name = "-".to_owned();
    let response = match admitted {
        Admitted::In(reader) => {
            name.clone_from(&reader.caller.name);
            match service.place_of(&name) {
                Ok(place) => {
                    request.extensions_mut().insert(reader);
                    let answering = next.run(request);
                    match place {
                        Some(_) => for_caller(name.clone(), answering).await,
                        None => answering.await,
                    }
                }
                Err(problem) => shown(&site::Frame::default(), &problem),
            }
        }
        Admitted::Again => Html(site::bounce(&path_of(&uri))).into_response(),
        Admitted::Login if is_page(&uri) => {
            Redirect::to(&format!("/login?next={}", in_address(&path_of(&uri)))).into_response()
        }
        Admitted::Login => (StatusCode::UNAUTHORIZED, "sign in first\n").into_response(),
        Admitted::Refused(problem) => shown(&site::Frame::default(), &problem),
    };
    let status = response.status();
    let asked = AuditEntry {
        caller: &name,
        face: "page",
        what: &what,
        outcome: status.as_str(),
        rows: None,
        took: begun.elapsed(),
    };
    service.audit.write(&asked, (service.clock)());
    response
}

/// Whether a person looks at the answer, and no script.
fn is_page(uri: &Uri) -> bool {
    let path = uri.path();
    !matches!(path, "/suggest" | "/sql/catalogue")
        && !path.ends_with("/follow")
        && !path.starts_with("/record/")
}

fn path_of(uri: &Uri) -> String {
    uri.path_and_query()
        .map_or_else(|| "/".to_owned(), ToString::to_string)
}

fn admit(service: &Service, method: &Method, uri: &Uri, headers: &HeaderMap) -> Admitted {
    if let Some(why) = service.audit.blocked_by() {
        return Admitted::Refused(
            Problem::new(
                StatusCode::INSUFFICIENT_STORAGE,
                format!("requests are refused because the audit trail cannot be written: {why}"),
            )
            .hint("the operator must free space on the store's disk"),
        );
    }
    let right = if uri.path().starts_with("/sql") {
        Right::Sql
    } else {
        Right::Ask
    };
    let enter = |caller: Caller, signed_in: bool| {
        if caller.rights.contains(&right) {
            return Admitted::In(Reader { caller, signed_in });
        }
        let detail = format!("this is not allowed for {}", caller.name);
        let section = if oidc::is_name(&caller.name) {
            "[[serve.oidc.group]]"
        } else {
            "[[serve.caller]]"
        };
        let hint = format!("this requires the right {:?} in {section}", right.as_str());
        Admitted::Refused(Problem::new(StatusCode::FORBIDDEN, detail).hint(hint))
    };
    // A link on somebody else's page: the browser says nothing of who is signed in.
    let from_elsewhere = !is_here_by_site(headers);
    let navigates = headers
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode == "navigate");
    if from_elsewhere {
        let follows = navigates && method == Method::GET && is_page(uri);
        return if follows {
            Admitted::Again
        } else {
            Admitted::Refused(not_ours())
        };
    }
    if headers.contains_key(header::AUTHORIZATION) {
        return match api::who(service, headers) {
            Ok(caller) => enter(caller, false),
            Err(problem) => Admitted::Refused(problem),
        };
    }
    // A browser names an origin where a page's script reads: of another page's nothing is read here.
    let public_url = service.config.serve.public_url.as_deref();
    if headers.contains_key(header::ORIGIN) && method == Method::GET && !is_own(headers, public_url)
    {
        return Admitted::Refused(not_ours());
    }
    if let Some(caller) = service.pages.sessions.of(headers, (service.clock)()) {
        return enter(caller, true);
    }
    match service.callers.local() {
        Some(caller) if is_of_this_machine(headers) => enter(caller, false),
        Some(_) => Admitted::Refused(
            Problem::new(
                StatusCode::UNAUTHORIZED,
                "without tokens the pages can only be opened on the machine of the service, by the name localhost",
            )
            .hint("configure callers with [[serve.caller]] to open them from elsewhere"),
        ),
        None if service.callers.is_empty() => Admitted::Refused(
            Problem::new(StatusCode::UNAUTHORIZED, "the service is closed: no callers are configured")
                .hint("configure callers with [[serve.caller]], or listen on 127.0.0.1"),
        ),
        None => Admitted::Login,
    }
}

fn not_ours() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "the request comes from a page of another site",
    )
}

/// Whether a request comes from a person at this machine: typed, or by a page of the service.
fn is_of_this_machine(headers: &HeaderMap) -> bool {
    api::is_for_this_machine(headers) && is_own(headers, None)
}

/// Whether no header of a browser says that the request comes from a page of another site.
fn is_here_by_site(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    sites.all(|site| matches!(site.as_bytes(), b"none" | b"same-origin"))
}

/// Whether a request comes from a page of the service, as far as the browser says where it
/// comes from.
pub(super) fn is_own(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let Some(host) = host else { return false };
    let is_here = |address: &str| {
        let origin = address.parse::<Uri>().ok();
        let authority = origin
            .as_ref()
            .and_then(Uri::authority)
            .map(Authority::as_str);
        authority.is_some_and(|authority| authority == host)
            || public_url
                .is_some_and(|own| address == own || address.starts_with(&format!("{own}/")))
    };
    let origins = [header::ORIGIN, header::REFERER];
    let origins = origins.iter().flat_map(|name| headers.get_all(name));
    is_here_by_site(headers)
        && origins
            .into_iter()
            .all(|value| value.to_str().is_ok_and(is_here))
}

/// Whether a form was sent by a page of the service: something has to say so.
pub(super) fn is_own_form(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let says = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    let typed = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "none");
    says && !typed && is_own(headers, public_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        HeaderMap::from_iter(pairs)
    }

    #[test]
    fn only_the_services_own_pages_are_its_own() {
        let own = |pairs: &[(&'static str, &str)]| {
            is_own_form(&headers(pairs), Some("https://w.example.com"))
        };
        assert!(own(&[("host", "h:1"), ("origin", "http://h:1")]));
        assert!(own(&[
            ("host", "h:1"),
            ("sec-fetch-site", "same-origin"),
            ("referer", "http://h:1/login")
        ]));
        assert!(own(&[
            ("host", "inner:1"),
            ("origin", "https://w.example.com")
        ]));
        for wrong in [
            &[("host", "h:1")][..],
            &[("host", "h:1"), ("origin", "null")],
            &[("host", "h:1"), ("origin", "http://h:2")],
            &[("host", "h:1"), ("origin", "http://evil/h:1")],
            &[
                ("host", "h:1"),
                ("origin", "https://w.example.com.evil.example"),
            ],
            &[
                ("host", "h:1"),
                ("origin", "http://h:1"),
                ("sec-fetch-site", "cross-site"),
            ],
            &[("host", "h:1"), ("sec-fetch-site", "none")],
            &[
                ("host", "h:1"),
                ("origin", "http://h:1"),
                ("referer", "http://evil/"),
            ],
        ] {
            assert!(!own(wrong), "{wrong:?}");
        }
    }
}
