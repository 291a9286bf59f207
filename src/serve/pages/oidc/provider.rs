//! The provider: what it says of itself, and what it gives for a code.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use whathappened_http::{Auth, Client, HttpError, HttpOptions, Request, Secret};

use super::token::Keys;
use crate::config::Oidc;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what a provider says of itself is believed.
const FRESH: Duration = Duration::from_secs(3_600);

/// Keys that somebody did not find may be asked for anew so often.
const AGAIN: Duration = Duration::from_secs(60);

/// What a provider says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Discovered {
    issuer: String,
    pub(super) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

/// When it was asked, what it said of itself, and its keys.
type Read = (Instant, Arc<Discovered>, Arc<Keys>);

/// A provider and what was read of it.
#[derive(Debug, Default)]
pub(super) struct Provider {
    known: Mutex<Option<Read>>,
}

#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
}

impl Provider {
    /// What it says of itself, and its keys; `unless` are keys among which one was not found.
    pub(super) async fn of(
        &self,
        config: &Oidc,
        unless: Option<&Arc<Keys>>,
    ) -> Result<(Arc<Discovered>, Arc<Keys>), String> {
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((read, discovered, keys)) = known.as_ref() {
                let is_wanting = unless.is_some_and(|old| Arc::ptr_eq(old, keys));
                let lasts = if is_wanting { AGAIN } else { FRESH };
                if read.elapsed() < lasts {
                    return Ok((Arc::clone(discovered), Arc::clone(keys)));
                }
            }
        }
        let issuer = config.issuer.trim_end_matches('/');
        let path = format!("{issuer}/.well-known/openid-configuration");
        let discovered: Discovered = get(&path).await?;
        if discovered.issuer != config.issuer {
            return Err(format!(
                "the provider calls itself {:?} and not {:?}",
                discovered.issuer, config.issuer
            ));
        }
        for address in [
            &discovered.authorization_endpoint,
            &discovered.token_endpoint,
            &discovered.jwks_uri,
        ] {
            if !is_safe(address) {
                return Err(format!("{address:?} is not encrypted"));
            }
        }
        let keys: Keys = get(&discovered.jwks_uri).await?;
        let (discovered, keys) = (Arc::new(discovered), Arc::new(keys));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Instant::now(), Arc::clone(&discovered), Arc::clone(&keys)));
        Ok((discovered, keys))
    }
}

/// The token that says who somebody is, for the code that they brought.
pub(super) async fn exchanged(
    config: &Oidc,
    discovered: &Discovered,
    (code, verifier, back): (&str, &str, &str),
) -> Result<String, String> {
    let secret = secret(config)?;
    let methods = &discovered.token_endpoint_auth_methods_supported;
    let in_body = !methods.is_empty()
        && !methods.iter().any(|one| one == "client_secret_basic")
        && methods.iter().any(|one| one == "client_secret_post");
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", back),
        ("code_verifier", verifier),
        ("client_id", &config.client_id),
    ];
    let mut auth = Auth::None;
    match &secret {
        Some(secret) if in_body => fields.push(("client_secret", secret)),
        Some(secret) => {
            auth = Auth::Basic(encoded(&config.client_id), Secret::from(encoded(secret)));
        }
        None => {}
    }
    let request = |path: &str| Request::post(path).form(&fields).once();
    let given: TokenResponse = ask(&discovered.token_endpoint, auth, request).await?;
    Ok(given.id_token)
}

/// As the standard has it, both are encoded before they are joined.
fn encoded(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'*');
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if plain(byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The secret that was agreed on, where one was.
pub(super) fn secret(config: &Oidc) -> Result<Option<String>, String> {
    let Some(path) = config.client_secret_file.as_deref() else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(Some(text.trim().to_owned()))
}

/// Whether nobody between can read or change what is sent there: what is on this machine needs
/// no encryption.
pub(in crate::serve) fn is_safe(address: &str) -> bool {
    let Ok(uri) = address.parse::<axum::http::Uri>() else {
        return false;
    };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let address = host.parse::<std::net::IpAddr>();
            host == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        _ => false,
    }
}

async fn get<T: serde::de::DeserializeOwned>(address: &str) -> Result<T, String> {
    if !is_safe(address) {
        return Err(format!("{address:?} is not encrypted"));
    }
    ask(address, Auth::None, Request::get).await
}

/// Asks one address; the client has a base below which paths are, so the whole is the base.
async fn ask<T: serde::de::DeserializeOwned>(
    address: &str,
    auth: Auth,
    request: impl FnOnce(&str) -> Request,
) -> Result<T, String> {
    // What follows the last slash, where that is not one of the scheme's.
    let host = address.find("://").map_or(0, |at| at + 3);
    let cut = address.rfind('/').filter(|at| *at >= host);
    let (base, last) = address.split_at(cut.unwrap_or(address.len()));
    let options = HttpOptions {
        auth,
        tries: 2,
        request_timeout: PATIENCE,
        max_body: 1 << 20,
        ..HttpOptions::new(base)
    };
    let to_text = |error: HttpError| error.to_string();
    let client = Client::new(options).map_err(to_text)?;
    client
        .json(&request(last), Instant::now() + PATIENCE)
        .await
        .map_err(to_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_without_encryption() {
        for (address, safe) in [
            ("https://login.example.com/token", true),
            ("http://login.example.com/token", false),
            ("http://127.0.0.1:1234/token", true),
            ("http://[::1]:1/token", true),
            ("http://localhost/token", true),
            ("http://localhost.evil.example/token", false),
            ("ftp://127.0.0.1/", false),
            ("", false),
        ] {
            assert_eq!(is_safe(address), safe, "{address}");
        }
        assert_eq!(encoded("a b:c%"), "a+b%3Ac%25");
    }
}
