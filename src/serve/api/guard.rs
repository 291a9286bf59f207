//! Who asks, whether they may, and the audit trail: around every route at once,
//! so that none can forget it.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::problem::Problem;
use crate::config::Right;
use crate::serve::audit::AuditEntry;
use crate::serve::turns::for_caller;
use crate::serve::{Caller, Service};

/// What the audit trail says of a request beside its path.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditDetails {
    /// What was asked, where the path does not say it.
    pub(super) what: Option<String>,
    /// Rows that were told.
    pub(super) rows: Option<u64>,
}

/// Lets through who may ask.
pub(super) async fn guard(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let path = request.uri().path().to_owned();
    // What nothing else answers comes here as well.
    if !path.starts_with("/api/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let what = match request.uri().query() {
        Some(query) => format!("{} {path}?{query}", request.method()),
        None => format!("{} {path}", request.method()),
    };
    let (face, right) = if path.starts_with("/api/v1/sql") {
        ("sql", Right::Sql)
    } else if path.starts_with("/api/v1/imports") {
        ("import", Right::Import)
    } else {
        ("api", Right::Ask)
    };
    let caller =
        who(&service, request.headers()).and_then(|caller| match service.audit.blocked_by() {
            None => Ok(caller),
            Some(why) => Err(Problem::new(
                StatusCode::INSUFFICIENT_STORAGE,
                format!("requests are refused because the audit trail cannot be written: {why}"),
            )
            .hint("the operator must free space on the store's disk")),
        });
    let name = caller
        .as_ref()
        .map_or_else(|_| "-".to_owned(), |caller| caller.name.clone());
    let response = match caller {
        Ok(caller) if caller.rights.contains(&right) => match service.place_of(&caller.name) {
            Ok(place) => {
                request.extensions_mut().insert(caller);
                let answering = next.run(request);
                // Where no callers are configured, all are one, and nobody's turn is another's.
                match place {
                    Some(_) => for_caller(name.clone(), answering).await,
                    None => answering.await,
                }
            }
            Err(problem) => problem.into_response(),
        },
        Ok(caller) => Problem::new(
            StatusCode::FORBIDDEN,
            format!("{} is not allowed to do this", caller.name),
        )
        .hint(format!(
            "this requires the right {:?} in [[serve.caller]]",
            right.as_str()
        ))
        .into_response(),
        Err(problem) => problem.into_response(),
    };
    let trail = response.extensions().get::<AuditDetails>().cloned();
    let trail = trail.unwrap_or_default();
    let status = response.status();
    let asked = AuditEntry {
        caller: &name,
        face,
        what: trail.what.as_deref().unwrap_or(&what),
        outcome: status.as_str(),
        rows: trail.rows,
        took: begun.elapsed(),
    };
    service.audit.write(&asked, (service.clock)());
    response
}

/// Who asks, by the token of the request.
pub(in crate::serve) fn who(service: &Service, headers: &HeaderMap) -> Result<Caller, Problem> {
    if let Some(token) = headers.get(header::AUTHORIZATION) {
        let token = token.to_str().ok().and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("bearer")
                .then_some(token.trim())
        });
        let known = token.and_then(|token| service.callers.of_token(token));
        // Where nobody is configured, a token is as good as none.
        if let Some(caller) = known {
            return Ok(caller.clone());
        }
        if !service.callers.is_open() {
            return Err(refused("the token is not valid"));
        }
    }
    match service.callers.local() {
        Some(caller) if is_of_this_machine(headers) => Ok(caller),
        Some(_) => Err(refused(
            "without a token only programs on this machine may use the API, not web pages or proxies",
        )),
        None => Err(refused("a token is required")),
    }
}

fn refused(why: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, why)
        .hint("send the header `Authorization: Bearer TOKEN`, with a token of [[serve.caller]]")
}

/// Whether a request comes from a program on this machine. A web page of
/// somebody else can make a browser ask here, under a name of its own or with
/// its origin beside; a proxy asks for others.
pub(in crate::serve) fn is_of_this_machine(headers: &HeaderMap) -> bool {
    // Of two hosts, programs on the way believe one and we the other.
    if headers.get_all(header::HOST).iter().count() != 1 {
        return false;
    }
    // A browser says so where another page makes it ask; programs say nothing.
    let elsewhere = headers
        .get_all("sec-fetch-site")
        .iter()
        .any(|site| !matches!(site.as_bytes(), b"none" | b"same-origin"));
    if elsewhere {
        return false;
    }
    is_for_this_machine(headers)
        && !headers.contains_key(header::ORIGIN)
        && !headers.contains_key(header::REFERER)
}

/// Whether the service is called by a name that only this machine has, and not for others.
pub(in crate::serve) fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let name = host(headers);
    let forwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
    headers.get_all(header::HOST).iter().count() == 1
        && matches!(name, "localhost" | "127.0.0.1" | "[::1]" | "::1")
        && !forwarded.iter().any(|name| headers.contains_key(*name))
}

/// The name by which the service is called, without the port.
fn host(headers: &HeaderMap) -> &str {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Who may read what is counted: programs on this machine, callers by their token, and,
/// where callers are configured, whoever calls the service by its address as scrapers
/// do. A page that makes a browser ask here calls it by a name that the page's owner
/// made point here, since a browser lets nobody read what another address answers.
pub(in crate::serve) fn may_read_metrics(service: &Service, headers: &HeaderMap) -> bool {
    if who(service, headers).is_ok() {
        return true;
    }
    let name = host(headers).trim_start_matches('[').trim_end_matches(']');
    let of_browser = ["origin", "referer", "sec-fetch-site"];
    !service.callers.is_open()
        && headers.get_all(header::HOST).iter().count() == 1
        && (name == "localhost" || name.parse::<std::net::IpAddr>().is_ok())
        && !of_browser.iter().any(|name| headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_pages_and_proxies_are_not_this_machine() {
        let of = |pairs: &[(&'static str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                (
                    header::HeaderName::from_static(name),
                    value.parse::<header::HeaderValue>().unwrap(),
                )
            });
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(name, value);
            }
            is_of_this_machine(&headers)
        };
        assert!(of(&[("host", "127.0.0.1:8080")]) && of(&[("host", "localhost")]));
        assert!(of(&[("host", "[::1]:80")]));
        assert!(!of(&[]) && !of(&[("host", "evil.example:8080")]));
        assert!(!of(&[
            ("host", "localhost"),
            ("origin", "http://evil.example")
        ]));
        assert!(!of(&[
            ("host", "localhost"),
            ("x-forwarded-for", "10.0.0.1")
        ]));
        // What a browser sends when a page elsewhere has an image or a frame from here.
        assert!(!of(&[
            ("host", "localhost"),
            ("sec-fetch-site", "cross-site")
        ]));
        assert!(!of(&[
            ("host", "localhost"),
            ("referer", "http://evil.example/")
        ]));
        assert!(of(&[("host", "localhost"), ("sec-fetch-site", "none")]));
        assert!(!of(&[("host", "localhost"), ("host", "evil.example")]));
    }
}
