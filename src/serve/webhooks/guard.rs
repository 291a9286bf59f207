//! Who may push: a token, a signature of the body, or both.

use std::path::Path;

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::config::Hook;
use crate::error::Error;

/// Headers that carry a signature.
const SIGNATURES: [&str; 2] = ["x-whathappened-signature", "x-hub-signature-256"];
/// The header that carries a token where `Authorization` cannot be set.
const TOKEN: &str = "x-whathappened-token";

/// What one hook asks of those who push.
#[derive(Clone, Default)]
pub(super) struct Guard {
    /// The token's hash: what is compared has one length, whatever is sent.
    token: Option<[u8; 32]>,
    secret: Option<Vec<u8>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("token", &self.token.is_some())
            .field("secret", &self.secret.is_some())
            .finish()
    }
}

impl Guard {
    /// Reads what the configuration says; `None` without token and secret.
    ///
    /// # Errors
    /// When a file cannot be read, or what is there is too short to be secret.
    pub(super) fn of(name: &str, hook: &Hook) -> Result<Option<Self>, Error> {
        let token = secret(name, "token", &hook.token, hook.token_file.as_deref())?;
        let secret = secret(name, "secret", &hook.secret, hook.secret_file.as_deref())?;
        if token.is_none() && secret.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            token: token.map(|token| Sha256::digest(token).into()),
            secret: secret.map(String::into_bytes),
        }))
    }

    /// Whether it is worth reading the body: the token is right, and there is a
    /// signature where one is asked for.
    pub(super) fn may_admit(&self, headers: &HeaderMap) -> bool {
        let token = self.token.is_none_or(|token| {
            let reported = bearer(headers).unwrap_or_default();
            let reported: [u8; 32] = Sha256::digest(reported).into();
            token.ct_eq(&reported).into()
        });
        token && (self.secret.is_none() || signature(headers).is_some())
    }

    /// Whether a request may push; everything that is asked for must be right.
    pub(super) fn admits(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let signed = self
            .secret
            .as_ref()
            .is_none_or(|secret| is_signed(secret, headers, body));
        self.may_admit(headers) && signed
    }
}

fn secret(
    name: &str,
    what: &str,
    reported: &Option<String>,
    file: Option<&Path>,
) -> Result<Option<String>, Error> {
    let text = match (reported, file) {
        (Some(reported), _) => reported.clone(),
        (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| Error::Io {
            path: file.display().to_string(),
            error,
        })?,
        (None, None) => return Ok(None),
    };
    let text = text.trim();
    if text.len() < 16 {
        return Err(Error::misused(
            format!("[serve.hooks.{name}]: a {what} of fewer than 16 characters can be guessed"),
            "create one with: openssl rand -hex 32",
        ));
    }
    Ok(Some(text.to_owned()))
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    if let Some(token) = headers.get(TOKEN) {
        return Some(token.as_bytes());
    }
    let reported = headers.get(axum::http::header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = reported.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

/// What the headers say that the body is signed with.
fn signature(headers: &HeaderMap) -> Option<[u8; 32]> {
    let reported = SIGNATURES.iter().find_map(|name| headers.get(*name))?;
    let reported = reported.to_str().ok()?;
    unhex(reported.strip_prefix("sha256=").unwrap_or(reported))
}

fn is_signed(secret: &[u8], headers: &HeaderMap, body: &[u8]) -> bool {
    let Some(reported) = signature(headers) else {
        return false;
    };
    // Keys of any length are taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return false;
    };
    mac.update(body);
    mac.verify_slice(&reported).is_ok()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let text: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&'static str, &str)]) -> HeaderMap {
        of.iter()
            .map(|(name, value)| {
                let name = axum::http::HeaderName::from_static(name);
                (name, value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn only_the_token_is_admitted() {
        let hook = Hook {
            token: Some("correct horse battery".to_owned()),
            ..Hook::default()
        };
        let guard = Guard::of("generic", &hook).unwrap().unwrap();
        let admits = |of: &[(&'static str, &str)]| guard.admits(&headers(of), b"");
        assert!(admits(&[("authorization", "Bearer correct horse battery")]));
        assert!(admits(&[("authorization", "bearer correct horse battery")]));
        assert!(admits(&[(TOKEN, "correct horse battery")]));
        for wrong in [
            "",
            "Bearer ",
            "Bearer correct",
            "Basic correct horse battery",
            "é",
        ] {
            assert!(!admits(&[("authorization", wrong)]), "{wrong}");
        }
        assert!(!admits(&[]));
        assert!(!format!("{guard:?} {hook:?}").contains("horse"));
    }

    /// The example of RFC 4231, case 2, with a key long enough to be taken.
    #[test]
    fn only_the_signature_of_this_body_is_admitted() {
        let hook = Hook {
            secret: Some("It's a Secret to Everybody".to_owned()),
            ..Hook::default()
        };
        let guard = Guard::of("generic", &hook).unwrap().unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(b"It's a Secret to Everybody").unwrap();
        mac.update(b"Hello, World!");
        let hex: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        // As GitHub documents it.
        assert_eq!(
            hex,
            "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
        let signed = |body: &[u8], signature: &str| {
            guard.admits(&headers(&[("x-hub-signature-256", signature)]), body)
        };
        assert!(signed(b"Hello, World!", &format!("sha256={hex}")));
        assert!(signed(b"Hello, World!", &hex));
        assert!(!signed(b"Hello, World?", &format!("sha256={hex}")));
        assert!(!signed(b"Hello, World!", &hex[..62]));
        assert!(!signed(b"Hello, World!", &"zz".repeat(32)));
        assert!(!signed(b"Hello, World!", ""));
    }

    #[test]
    fn without_both_it_is_off_and_short_ones_are_refused() {
        assert!(Guard::of("generic", &Hook::default()).unwrap().is_none());
        let short = Hook {
            token: Some("short".to_owned()),
            ..Hook::default()
        };
        let error = Guard::of("generic", &short).unwrap_err().to_string();
        assert!(error.contains("serve.hooks.generic"), "{error}");
        assert!(!error.contains("short\""), "{error}");
    }
}
