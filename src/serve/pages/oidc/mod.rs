//! `/login/oidc`: somebody is who a provider says they are, and may see what their groups may.
//!
//! The code flow of `OpenID` Connect with a proof of the code (PKCE). Between going there and coming
//! back a browser holds a cookie, so that nobody ends a sign-in that somebody else began.

mod provider;
mod refused;
mod token;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use whathappened_model::time::{Nanos, SECOND};

pub(in crate::serve) use self::provider::is_safe as is_safe_address;

use self::provider::Provider;
use self::refused::{Failure, Refused, refusal};
use self::token::{Expected, Wrong, claims};
use super::login::{audit, is_secure, signs_in_with, within};
use crate::access::Access;
use crate::config::{Oidc, Right};
use crate::render::{in_address, site};
use crate::serve::{Caller, Service};

/// How long somebody may take at the provider.
const PATIENCE_S: i64 = 600;

/// Sign-ins that are under way at once; the oldest makes room.
const MOST: usize = 2_000;

const COOKIE: &str = "whathappened-sign-in";

/// Sign-ins that are under way, by the hash of their state, and what is known of the provider.
#[derive(Debug, Default)]
pub(super) struct SignIns {
    begun: Mutex<HashMap<[u8; 32], Begun>>,
    provider: Provider,
}

#[derive(Clone, Debug)]
struct Begun {
    /// The hash of the cookie of the browser that began it.
    browser: [u8; 32],
    nonce: String,
    verifier: String,
    next: String,
    until: Nanos,
}

/// Asks the provider who it is and which keys it has, as a sign-in does.
///
/// # Errors
/// What a sign-in would fail of.
pub(in crate::serve) async fn check(config: &Oidc) -> Result<(), String> {
    Provider::default().of(config, None).await?;
    provider::secret(config)?;
    Ok(())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LoginQuery {
    next: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallbackQuery {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// `GET /login/oidc`: to the provider.
pub(super) async fn begin(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let asked = Query::<LoginQuery>::try_from_uri(&uri);
    let next = asked.map(|Query(asked)| asked.next).unwrap_or_default();
    let next = within(&next);
    let Some(config) = &service.config.serve.oidc else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match begun(&service, config, &headers, next).await {
        Ok((address, cookie)) => {
            let mut response = Redirect::to(&address).into_response();
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response
        }
        Err(failure) => failed(&service, next, &failure),
    }
}

async fn begun(
    service: &Service,
    config: &Oidc,
    headers: &HeaderMap,
    next: &str,
) -> Result<(String, HeaderValue), Failure> {
    let asked = service.pages.sign_ins.provider.of(config, None).await;
    let (discovered, _) = asked.map_err(Failure::unknown_provider)?;
    let secret = || {
        let bytes = service.pages.secret();
        let bytes = bytes.map_err(|error| Failure::own(error.to_string()))?;
        Ok::<_, Failure>(URL_SAFE_NO_PAD.encode(bytes))
    };
    let (state, browser, nonce, verifier) = (secret()?, secret()?, secret()?, secret()?);
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let now = (service.clock)();
    let scopes = format!("openid {}", config.scopes.join(" "));
    let query = [
        ("response_type", "code"),
        ("client_id", config.client_id.as_str()),
        ("redirect_uri", &back(service).map_err(Failure::own)?),
        ("scope", scopes.trim()),
        ("state", &state),
        ("nonce", &nonce),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]
    .map(|(name, value)| format!("{name}={}", in_address(value)))
    .join("&");
    let endpoint = &discovered.authorization_endpoint;
    let sign = if endpoint.contains('?') { '&' } else { '?' };
    let address = format!("{endpoint}{sign}{query}");
    let one = Begun {
        browser: hash(&browser),
        nonce,
        verifier,
        next: next.to_owned(),
        until: now.saturating_add(PATIENCE_S * SECOND),
    };
    let mut all = lock(&service.pages.sign_ins.begun);
    all.retain(|_, one| one.until > now);
    if all.len() >= MOST {
        let oldest = all.iter().min_by_key(|(hash, one)| (one.until, **hash));
        let oldest = oldest.map(|(hash, _)| *hash);
        oldest.and_then(|hash| all.remove(&hash));
    }
    all.insert(hash(&state), one);
    drop(all);
    let cookie = cookie(&browser, is_secure(service, headers), PATIENCE_S);
    let cookie = cookie.map_err(|error| Failure::own(error.to_string()))?;
    Ok((address, cookie))
}

/// `GET /login/oidc/callback`: back from the provider.
pub(super) async fn back_from(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let start = Instant::now();
    let Some(config) = &service.config.serve.oidc else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let brought = Query::<CallbackQuery>::try_from_uri(&uri);
    let brought = brought.map(|Query(brought)| brought).unwrap_or_default();
    let taken = take(&service, &headers, &brought.state);
    let next = taken.as_ref().map_or("/", |one| one.next.as_str());
    let (name, response) = match came_back(&service, config, &brought, taken.as_ref()).await {
        Ok(caller) => {
            let entered = signs_in_with(&service, &headers, &caller);
            match entered {
                // The way here came from another site: the browser keeps its cookie to itself
                // until a page of our own leads on.
                Ok(cookie) => {
                    let mut response = Html(site::bounce(next)).into_response();
                    let all = response.headers_mut();
                    all.append(header::SET_COOKIE, cookie);
                    if let Ok(none) = self::cookie("", is_secure(&service, &headers), 0) {
                        all.append(header::SET_COOKIE, none);
                    }
                    (caller.name, response)
                }
                Err(why) => ("-".to_owned(), failed(&service, next, &Failure::own(why))),
            }
        }
        Err(Refused::Nobody(why)) => {
            let page = site::login(next, Some(&why), title(&service));
            (
                "-".to_owned(),
                (StatusCode::FORBIDDEN, Html(page)).into_response(),
            )
        }
        Err(Refused::Failed(failure)) => ("-".to_owned(), failed(&service, next, &failure)),
    };
    audit(
        &service,
        "GET /login/oidc/callback",
        &name,
        &response,
        start,
    );
    response
}

async fn came_back(
    service: &Service,
    config: &Oidc,
    brought: &CallbackQuery,
    begun: Option<&Begun>,
) -> Result<Caller, Refused> {
    let Some(begun) = begun else {
        let why = "The sign-in took too long or was begun in another browser. Try again.";
        return Err(Refused::Nobody(why.to_owned()));
    };
    if !brought.error.is_empty() {
        let CallbackQuery {
            error,
            error_description,
            ..
        } = brought;
        tracing::warn!("the identity provider refused a sign-in: {error:?} {error_description:?}");
        return Err(Refused::Nobody(refusal(error)));
    }
    let provider = &service.pages.sign_ins.provider;
    let unknown = |why| Refused::Failed(Failure::unknown_provider(why));
    let (discovered, keys) = provider.of(config, None).await.map_err(unknown)?;
    let back = back(service).map_err(|why| Refused::Failed(Failure::own(why)))?;
    let given = provider::exchanged(config, &discovered, (&brought.code, &begun.verifier, &back));
    let given = given.await.map_err(|why| {
        let message = "the identity provider gave no token for this sign-in";
        Refused::Failed(Failure::new(message, why))
    })?;
    let wanted = Expected {
        issuer: &config.issuer,
        client: &config.client_id,
        nonce: &begun.nonce,
        now: (service.clock)() / SECOND,
    };
    let mut verified = claims(&given, &keys, wanted);
    if verified == Err(Wrong::UnknownKey) {
        // Keys change; those that were read may be old.
        let anew = provider.of(config, Some(&keys)).await;
        let (_, keys) = anew.map_err(unknown)?;
        verified = claims(&given, &keys, wanted);
    }
    let verified = verified.map_err(|wrong| {
        let why = match wrong {
            Wrong::Invalid(why) => why,
            Wrong::UnknownKey => "it names a key that the provider does not have",
        };
        let message = format!("the identity provider\u{2019}s token is not accepted, since {why}");
        let wanted = format!(
            "issuer {:?} and client {:?} are expected",
            config.issuer, config.client_id
        );
        Refused::Failed(Failure::new(&message, wanted))
    })?;
    caller(config, &verified).ok_or_else(|| Refused::Nobody(of_no_group(config, &verified)))
}

/// That somebody may see nothing. Whether the provider told of groups at all is for the log: one that has to be asked
/// for them by a scope of their own tells of none.
fn of_no_group(config: &Oidc, claims: &Map<String, Value>) -> String {
    let name = name_of(config, claims);
    let claim = &config.groups_claim;
    let is_none = claims
        .get(claim)
        .is_none_or(|groups| groups.as_array().is_some_and(Vec::is_empty));
    if is_none {
        tracing::warn!(
            "{name:?} is not let in: the token has no groups in the claim {claim:?}; some providers need a scope for them"
        );
    } else {
        tracing::warn!("{name:?} is not let in: [[serve.oidc.group]] names none of their groups");
    }
    format!("{name} is in none of the groups that may use this service.")
}

/// What somebody may see and do: all that one of their groups may.
fn caller(config: &Oidc, claims: &Map<String, Value>) -> Option<Caller> {
    let groups: BTreeSet<&str> = match claims.get(&config.groups_claim) {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => BTreeSet::from([one.as_str()]),
        _ => BTreeSet::new(),
    };
    let own = config.group.iter();
    let own = own.filter(|group| group.name == "*" || groups.contains(group.name.as_str()));
    let own: Vec<_> = own.collect();
    let first = own.first()?;
    let join = |a: &Option<BTreeSet<String>>, b: &Option<BTreeSet<String>>| match (a, b) {
        (Some(a), Some(b)) => Some(a | b),
        // One group that may see all makes the others' limits none.
        _ => None,
    };
    let mut access = Access {
        namespaces: first.namespaces.clone(),
        sources: first.sources.clone(),
    };
    let mut rights: BTreeSet<Right> = BTreeSet::new();
    for group in &own {
        access.namespaces = join(&access.namespaces, &group.namespaces);
        access.sources = join(&access.sources, &group.sources);
        rights.extend(&group.rights);
    }
    Some(Caller {
        name: name_of(config, claims),
        access,
        rights,
    })
}

/// How the trail calls them. A name that the provider has not checked is no name.
fn name_of(config: &Oidc, claims: &Map<String, Value>) -> String {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let is_checked = config.name_claim != "email"
        || claims
            .get("email_verified")
            .is_none_or(|verified| verified != false);
    let named = text(&config.name_claim).filter(|_| is_checked);
    let name = named.or_else(|| text("sub")).unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
    // Nobody has the name of a caller with a token of their own.
    format!("{PREFIX}{name}")
}

const PREFIX: &str = "oidc:";

/// Whether a caller's name is one that the provider told.
pub(super) fn is_name(caller: &str) -> bool {
    caller.starts_with(PREFIX)
}

/// The sign-in that this browser began, once.
fn take(service: &Service, headers: &HeaderMap, state: &str) -> Option<Begun> {
    let now = (service.clock)();
    let begun = lock(&service.pages.sign_ins.begun).remove(&hash(state))?;
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';'));
    let is_own = pairs.any(|pair| {
        let pair = pair.trim().split_once('=');
        pair.is_some_and(|(name, value)| {
            matches!(name, COOKIE | SECURE_COOKIE) && hash(value) == begun.browser
        })
    });
    (is_own && begun.until > now).then_some(begun)
}

const SECURE_COOKIE: &str = "__Host-whathappened-sign-in";

/// It has to come along when the provider's page leads back, so it is not strict.
fn cookie(
    value: &str,
    secure: bool,
    lasts_s: i64,
) -> Result<HeaderValue, header::InvalidHeaderValue> {
    let (name, secure) = if secure {
        (SECURE_COOKIE, "; Secure")
    } else {
        (COOKIE, "")
    };
    HeaderValue::try_from(format!(
        "{name}={value}; Path=/; Max-Age={lasts_s}; HttpOnly; SameSite=Lax{secure}"
    ))
}

/// Where the provider leads back to.
fn back(service: &Service) -> Result<String, String> {
    let public = service.config.serve.public_url.as_deref();
    let public = public.ok_or("[serve.oidc] needs public_url in [serve]")?;
    Ok(format!("{public}/login/oidc/callback"))
}

/// How the sign-in page calls the provider, where there is one.
pub(super) fn title(service: &Service) -> Option<&str> {
    let oidc = service.config.serve.oidc.as_ref()?;
    Some(oidc.title.as_deref().unwrap_or("single sign-on"))
}

fn failed(service: &Service, next: &str, failure: &Failure) -> Response {
    let Failure { message, why } = failure;
    tracing::error!("signing in with OpenID Connect failed: {message}: {why}");
    let message = format!(
        "Signing in failed: {message}. Try again; if it fails again, the service\u{2019}s log says more."
    );
    let page = site::login(next, Some(&message), title(service));
    (StatusCode::BAD_GATEWAY, Html(page)).into_response()
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config() -> Oidc {
        toml::from_str(
            "issuer = 'https://login.example.com'\nclient_id = 'w'\n\
             [[group]]\nname = 'team-a'\nnamespaces = ['a']\nrights = ['ask']\n\
             [[group]]\nname = 'team-b'\nnamespaces = ['b']\n\
             [[group]]\nname = 'admins'\n",
        )
        .unwrap()
    }

    fn of(told: &Value) -> Option<Caller> {
        caller(&config(), told.as_object().unwrap())
    }

    #[test]
    fn groups_say_what_somebody_may_see() {
        let a = of(&json!({"sub": "1", "email": "x@example.com", "groups": ["team-a"]})).unwrap();
        assert_eq!(a.name, "oidc:x@example.com");
        assert!(a.access.permits_namespace("a") && !a.access.permits_namespace("b"));
        assert_eq!(a.rights, BTreeSet::from([Right::Ask]));
        let both = of(&json!({"sub": "1", "groups": ["team-a", "team-b", "other"]})).unwrap();
        assert!(both.access.permits_namespace("a") && both.access.permits_namespace("b"));
        assert!(!both.access.permits_namespace("c") && both.rights.contains(&Right::Sql));
        let all = of(&json!({"sub": "1", "groups": ["team-a", "admins"]})).unwrap();
        assert!(all.access.permits_namespace("c"));
        for nobody in [
            json!({"sub": "1"}),
            json!({"sub": "1", "groups": []}),
            json!({"sub": "1", "groups": ["other"]}),
            json!({"sub": "1", "groups": {"team-a": true}}),
            json!({"sub": "1", "groups": "*"}),
        ] {
            assert!(of(&nobody).is_none(), "{nobody}");
        }
    }

    #[test]
    fn a_name_that_nobody_checked_is_none() {
        let told = json!({"sub": "u-1", "email": "root@example.com", "email_verified": false, "groups": "admins"});
        assert_eq!(of(&told).unwrap().name, "oidc:u-1");
    }
}
