//! Whether a request comes from Slack.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

/// How far a request's time may be from ours, in seconds.
pub const WINDOW_S: i64 = 300;

/// Why a request is not believed. Displays as one sentence without full stop
/// that says what to look at; it holds neither the secret nor a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A header is missing or cannot be read.
    #[error("the request has no valid X-Slack-Signature and X-Slack-Request-Timestamp")]
    Unsigned,
    /// The request is older or newer than [`WINDOW_S`].
    #[error(
        "the timestamp of the request differs from this machine's clock by {0} s; check the clock"
    )]
    OutOfTime(i64),
    /// The body, the time or the secret is another.
    #[error("the signature does not match the body; check SLACK_SIGNING_SECRET")]
    Wrong,
}

/// Checks signatures with an app's signing secret.
#[derive(Clone, Debug)]
pub struct Verifier {
    secret: SecretString,
}

impl Verifier {
    /// A verifier with the secret of the app's page, "Basic Information".
    #[must_use]
    pub fn new(secret: SecretString) -> Self {
        Self { secret }
    }

    /// Checks the two headers of a request against its body as it came, before
    /// anything reads it. `now` is in seconds since 1970. Returns a key of the
    /// signed request, the same whenever the same signed request comes again;
    /// it is a hash, so that it may be kept.
    ///
    /// The comparison takes the same time wherever two signatures differ.
    ///
    /// # Errors
    /// [`Refused`], by what is wrong.
    pub fn verify(
        &self,
        timestamp: Option<&str>,
        signature: Option<&str>,
        body: &[u8],
        now: i64,
    ) -> Result<String, Refused> {
        let timestamp = timestamp.ok_or(Refused::Unsigned)?.trim();
        // Digits alone: what is signed is the text, so it has to be the only
        // way of writing the time.
        if timestamp.is_empty() || !timestamp.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Refused::Unsigned);
        }
        let time: i64 = timestamp.parse().map_err(|_| Refused::Unsigned)?;
        let given = signature
            .and_then(|text| text.trim().strip_prefix("v0="))
            .and_then(bytes_of_hex)
            .ok_or(Refused::Unsigned)?;
        let apart = now.saturating_sub(time).saturating_abs();
        if apart > WINDOW_S {
            return Err(Refused::OutOfTime(apart));
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.expose_secret().as_bytes())
            .map_err(|_| Refused::Wrong)?;
        mac.update(b"v0:");
        mac.update(timestamp.as_bytes());
        mac.update(b":");
        mac.update(body);
        mac.verify_slice(&given).map_err(|_| Refused::Wrong)?;
        let mut key = String::from("signed:");
        for byte in Sha256::digest(given).iter().take(16) {
            key.push_str(&format!("{byte:02x}"));
        }
        Ok(key)
    }
}

/// 64 digits as 32 bytes.
fn bytes_of_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a secret of ours";
    const BODY: &[u8] = b"command=%2Fwhathappened&text=run-7";
    const TIME: &str = "1795000000";
    const NOW: i64 = 1_795_000_000;

    fn signed(secret: &str, time: &str, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("v0:{time}:").as_bytes());
        mac.update(body);
        let digits: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("v0={digits}")
    }

    fn verifier() -> Verifier {
        Verifier::new(SECRET.into())
    }

    #[test]
    fn what_slack_signed_is_believed_and_has_a_key_of_its_own() {
        let check = |time: &str, body: &[u8]| {
            let signature = signed(SECRET, time, body);
            verifier().verify(Some(time), Some(&signature), body, NOW)
        };
        let key = check(TIME, BODY).unwrap();
        assert_eq!(check(TIME, BODY), Ok(key.clone()), "the same again");
        assert_ne!(check("1795000001", BODY).unwrap(), key);
        assert_ne!(check(TIME, b"other").unwrap(), key);
        assert!(!key.contains(&signed(SECRET, TIME, BODY)[3..20]));
        // Both ends of the window, and bytes that are no text.
        assert!(check("1794999700", BODY).is_ok());
        assert!(check("1795000300", BODY).is_ok());
        assert!(check(TIME, b"\xff\xfe").is_ok());
    }

    #[test]
    fn anything_else_is_refused() {
        let good = signed(SECRET, TIME, BODY);
        let check = |time: Option<&str>, signature: Option<&str>, body: &[u8]| {
            verifier().verify(time, signature, body, NOW).unwrap_err()
        };
        assert_eq!(
            check(Some(TIME), Some(&good), b"text=other"),
            Refused::Wrong
        );
        assert_eq!(check(Some("1795000001"), Some(&good), BODY), Refused::Wrong);
        let other = signed("another secret", TIME, BODY);
        assert_eq!(check(Some(TIME), Some(&other), BODY), Refused::Wrong);
        for (time, away) in [("1794999699", 301), ("1795000301", 301), ("0", NOW)] {
            let signature = signed(SECRET, time, BODY);
            assert_eq!(
                check(Some(time), Some(&signature), BODY),
                Refused::OutOfTime(away)
            );
        }
        for time in [
            None,
            Some(""),
            Some("soon"),
            Some("-1"),
            Some("+1795000000"),
        ] {
            assert_eq!(
                check(time, Some(&good), BODY),
                Refused::Unsigned,
                "{time:?}"
            );
        }
        for signature in [
            None,
            Some(""),
            Some("v0="),
            Some("v1=00"),
            Some(&good[..66]),
        ] {
            assert_eq!(
                check(Some(TIME), signature, BODY),
                Refused::Unsigned,
                "{signature:?}"
            );
        }
        let huge = "9".repeat(40);
        assert_eq!(check(Some(&huge), Some(&good), BODY), Refused::Unsigned);
    }

    #[test]
    fn neither_secret_nor_signature_is_ever_shown() {
        let shown = format!("{:?}", verifier());
        assert!(!shown.contains(SECRET), "{shown}");
        let refused = verifier()
            .verify(Some(TIME), Some(&signed("other", TIME, BODY)), BODY, NOW)
            .unwrap_err();
        let right = signed(SECRET, TIME, BODY);
        assert!(!format!("{refused} {refused:?}").contains(&right[3..]));
    }
}
