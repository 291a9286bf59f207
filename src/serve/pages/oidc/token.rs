//! Whether a token is what it says: who signed it, for whom, and until when.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Clocks of two machines may differ by so many seconds.
const SKEW_S: i64 = 60;

/// The longest token that is read.
const LONGEST: usize = 64 << 10;

/// What a provider signs with.
#[derive(Debug, Deserialize)]
pub(super) struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, Deserialize)]
struct Key {
    #[serde(default)]
    kid: Option<String>,
    kty: String,
    #[serde(default, rename = "use")]
    meant_for: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

/// What must stand in a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client: &'a str,
    pub(super) nonce: &'a str,
    /// Seconds since 1970.
    pub(super) now: i64,
}

/// Why a token counts for nothing, in words for whoever signs in and for the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is no token, or says something that it must not.
    Invalid(&'static str),
    /// None of the provider's keys is the one that it names: keys may have changed.
    UnknownKey,
}

/// What a token says, if it is the provider's, for us, for this sign-in, and not too old.
pub(super) fn claims(
    token: &str,
    keys: &Keys,
    wanted: Expected<'_>,
) -> Result<Map<String, Value>, Wrong> {
    if token.len() > LONGEST {
        return Err(Wrong::Invalid("it is too long"));
    }
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Wrong::Invalid("it does not have three parts"));
    };
    let decoded = |part: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(part);
        bytes.map_err(|_| Wrong::Invalid("a part of it is no base64url"))
    };
    let header: Header = serde_json::from_slice(&decoded(head)?)
        .map_err(|_| Wrong::Invalid("its header cannot be read"))?;
    if header.crit.is_some() {
        return Err(Wrong::Invalid("it has extensions that must be understood"));
    }
    let signed = token
        .get(..head.len() + 1 + body.len())
        .ok_or(Wrong::Invalid("it does not have three parts"))?;
    verify(&header, keys, signed.as_bytes(), &decoded(signature)?)?;
    let claims: Map<String, Value> = serde_json::from_slice(&decoded(body)?)
        .map_err(|_| Wrong::Invalid("its claims cannot be read"))?;
    judge(&claims, wanted)?;
    Ok(claims)
}

fn verify(header: &Header, keys: &Keys, signed: &[u8], signature: &[u8]) -> Result<(), Wrong> {
    // Only what is asked for: `none` and secrets shared with the provider are no proof.
    let kty = match header.alg.as_str() {
        "RS256" => "RSA",
        "ES256" => "EC",
        _ => return Err(Wrong::Invalid("it is signed neither by RS256 nor by ES256")),
    };
    let fits = |key: &&Key| {
        key.kty == kty
            && key.meant_for.as_deref().is_none_or(|what| what == "sig")
            && key.alg.as_deref().is_none_or(|alg| alg == header.alg)
            && (header.kid.is_none() || key.kid == header.kid)
    };
    let mut candidates = keys.keys.iter().filter(fits).peekable();
    if candidates.peek().is_none() {
        return Err(Wrong::UnknownKey);
    }
    let is_own = candidates
        .take(16)
        .any(|key| is_signed_by(key, signed, signature).is_some());
    if is_own {
        Ok(())
    } else {
        Err(Wrong::Invalid("its signature is not the provider's"))
    }
}

fn is_signed_by(key: &Key, signed: &[u8], signature: &[u8]) -> Option<()> {
    let number = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
    if key.kty == "RSA" {
        let (n, e) = (number(&key.n)?, number(&key.e)?);
        let key = RsaPublicKeyComponents { n: &n, e: &e };
        return key
            .verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature)
            .ok();
    }
    if key.crv.as_deref() != Some("P-256") {
        return None;
    }
    // The point as it is written uncompressed.
    let (x, y) = (number(&key.x)?, number(&key.y)?);
    let point = [&[4][..], &x, &y].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed, signature).ok()
}

fn judge(claims: &Map<String, Value>, wanted: Expected<'_>) -> Result<(), Wrong> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(wanted.issuer) {
        return Err(Wrong::Invalid("another issuer made it"));
    }
    let (is_ours, is_only) = match claims.get("aud") {
        Some(Value::String(one)) => (one == wanted.client, true),
        Some(Value::Array(all)) => (
            all.iter().any(|one| one.as_str() == Some(wanted.client)),
            all.len() == 1,
        ),
        _ => (false, false),
    };
    let party = text("azp");
    if !is_ours
        || party.is_some_and(|party| party != wanted.client)
        || (!is_only && party.is_none())
    {
        return Err(Wrong::Invalid("it is for another client"));
    }
    let seconds = |name: &str| {
        let value = claims.get(name)?;
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let whole = value.as_f64()? as i64;
        Some(whole)
    };
    let Some(until) = seconds("exp") else {
        return Err(Wrong::Invalid("it does not say how long it counts"));
    };
    if wanted.now.saturating_sub(SKEW_S) >= until {
        return Err(Wrong::Invalid("it has expired by this machine's clock"));
    }
    let early = ["nbf", "iat"].into_iter().filter_map(seconds);
    if early.max().is_some_and(|from| from > wanted.now + SKEW_S) {
        return Err(Wrong::Invalid(
            "it does not count yet by this machine's clock",
        ));
    }
    if text("nonce") != Some(wanted.nonce) {
        return Err(Wrong::Invalid("it is of another sign-in"));
    }
    if text("sub").is_none_or(str::is_empty) {
        return Err(Wrong::Invalid("it names no subject (sub)"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::json;

    const WANTED: Expected<'_> = Expected {
        issuer: "https://login.example.com",
        client: "whathappened",
        nonce: "n-1",
        now: 1_000,
    };

    fn good() -> Value {
        json!({"iss": WANTED.issuer, "aud": "whathappened", "exp": 1_300, "iat": 1_000, "nonce": "n-1", "sub": "u1"})
    }

    fn key() -> (EcdsaKeyPair, Keys) {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        let (x, y) = (&point[1..33], &point[33..65]);
        let keys = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "alg": "ES256",
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y)}]});
        (pair, serde_json::from_value(keys).unwrap())
    }

    fn signed(pair: &EcdsaKeyPair, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    #[test]
    fn only_the_providers_own_word_counts() {
        let (pair, keys) = key();
        let header = json!({"alg": "ES256", "kid": "k1"});
        let token = signed(&pair, &header, &good());
        assert_eq!(claims(&token, &keys, WANTED).unwrap()["sub"], "u1");
        let (other, _) = key();
        let forged = signed(&other, &header, &good());
        assert!(matches!(
            claims(&forged, &keys, WANTED),
            Err(Wrong::Invalid(_))
        ));
        let unknown = signed(&pair, &json!({"alg": "ES256", "kid": "k2"}), &good());
        assert_eq!(claims(&unknown, &keys, WANTED), Err(Wrong::UnknownKey));
        for alg in ["none", "HS256", "RS384", "es256", ""] {
            let token = signed(&pair, &json!({"alg": alg, "kid": "k1"}), &good());
            assert!(claims(&token, &keys, WANTED).is_err(), "{alg}");
        }
        let (head, rest) = token.split_once('.').unwrap();
        let (body, signature) = rest.split_once('.').unwrap();
        for broken in [
            String::new(),
            "a.b.c".to_owned(),
            format!("{head}.{body}"),
            format!("{head}.{body}."),
            format!("{head}.{body}.{signature}.x"),
            format!("{head}.{body}A.{signature}"),
            "x".repeat(LONGEST + 1),
        ] {
            assert!(claims(&broken, &keys, WANTED).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_token_is_for_one_client_one_sign_in_and_a_while() {
        let (pair, keys) = key();
        let header = json!({"alg": "ES256", "kid": "k1"});
        let with = |name: &str, value: Value| {
            let mut all = good();
            all[name] = value;
            claims(&signed(&pair, &header, &all), &keys, WANTED).is_ok()
        };
        assert!(with("exp", json!(950)) && !with("exp", json!(900)));
        assert!(!with("exp", Value::Null) && !with("exp", json!("1300")));
        assert!(!with("iss", json!("https://login.example.com/")));
        assert!(!with("aud", json!("other")) && !with("aud", Value::Null));
        assert!(!with("aud", json!(["whathappened", "other"])));
        assert!(with("aud", json!(["whathappened"])) && with("azp", json!("whathappened")));
        assert!(!with("azp", json!("other")));
        assert!(!with("nonce", json!("n-2")) && !with("nonce", Value::Null));
        assert!(!with("nbf", json!(1_100)) && with("nbf", json!(1_050)));
        assert!(!with("sub", json!("")));
    }

    #[test]
    fn keys_of_rsa_are_known_too() {
        let pair = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
        // A sequence of two numbers; the first has a leading zero, the second is 65537.
        let der = pair.public_key().as_ref().to_vec();
        let (n, e) = (&der[9..265], &der[267..]);
        assert_eq!(e, [1, 0, 1]);
        let keys = json!({"keys": [{"kty": "RSA", "kid": "r", "n": URL_SAFE_NO_PAD.encode(n), "e": URL_SAFE_NO_PAD.encode(e)}]});
        let keys: Keys = serde_json::from_value(keys).unwrap();
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!(
            "{}.{}",
            part(&json!({"alg": "RS256", "kid": "r"})),
            part(&good())
        );
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(
            &aws_lc_rs::signature::RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            text.as_bytes(),
            &mut signature,
        )
        .unwrap();
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature));
        assert!(claims(&token, &keys, WANTED).is_ok());
    }
}
