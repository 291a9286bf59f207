//! Who asks: a bearer token, or a name with the token as password, which is answered
//! with the bearer token to use from then on.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use tonic::Status;
use tonic::metadata::MetadataMap;

use crate::serve::wires::listening::{self, Refusal};
use crate::serve::{Caller, Callers};

/// The token of a request; empty where it has none.
pub(super) fn token(metadata: &MetadataMap) -> Option<String> {
    let header = metadata.get("authorization")?.to_str().ok()?;
    let (scheme, rest) = header.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    // Some clients fill it up and some do not.
    let rest = rest.trim_end_matches('=');
    let pair = BASE64_STANDARD_NO_PAD.decode(rest).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    let (_name, password) = pair.split_once(':')?;
    Some(password.to_owned())
}

/// Whose request it is, if they may run statements.
pub(super) fn caller(callers: &Callers, metadata: &MetadataMap) -> Result<Caller, Status> {
    let token = token(metadata).unwrap_or_default();
    listening::caller(callers, &token).map_err(|refusal| match &refusal {
        Refusal::Unknown => Status::unauthenticated(refusal.to_string()),
        Refusal::NoRight(_) => Status::permission_denied(refusal.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> Option<String> {
        let mut metadata = MetadataMap::new();
        metadata.insert("authorization", header.parse().unwrap());
        token(&metadata)
    }

    #[test]
    fn a_token_comes_as_a_bearers_or_as_a_password() {
        assert_eq!(of("Bearer swordfish").as_deref(), Some("swordfish"));
        // grafana:sword:fish
        assert_eq!(
            of("basic Z3JhZmFuYTpzd29yZDpmaXNo").as_deref(),
            Some("sword:fish")
        );
        // grafana:swordfish, as Go's clients write it and as others do.
        for pair in ["Z3JhZmFuYTpzd29yZGZpc2g", "Z3JhZmFuYTpzd29yZGZpc2g="] {
            assert_eq!(of(&format!("Basic {pair}")).as_deref(), Some("swordfish"));
        }
        for other in ["swordfish", "Digest swordfish", "Basic ****"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
