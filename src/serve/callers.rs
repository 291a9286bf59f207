//! Who asks: bearer tokens, and what each of them may see and do.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::access::Access;
use crate::config::{Caller as Configured, Oidc, Right, Serve};
use crate::error::Error;

/// Somebody who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What the audit trail calls them.
    pub name: String,
    /// What they may see.
    pub access: Access,
    /// What they may do.
    pub rights: BTreeSet<Right>,
}

/// Everybody who may ask over HTTP.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    known: Vec<([u8; 32], Caller)>,
    /// Whether who is on this machine may ask everything without a token.
    local: bool,
    /// Whether people may sign in by a provider's word.
    oidc: bool,
}

impl Callers {
    /// Those of a configuration.
    ///
    /// # Errors
    /// When a token cannot be read, or one is said twice.
    pub fn load(config: &Serve) -> Result<Self, Error> {
        let mut all = Self {
            oidc: config.oidc.is_some(),
            ..Self::default()
        };
        if let Some(oidc) = &config.oidc {
            check(oidc, config.public_url.as_deref())?;
        }
        for one in &config.caller {
            let digest = digest_of(one)?;
            if all.known.iter().any(|(other, _)| *other == digest) {
                return Err(wrong(one, "another caller has the same token"));
            }
            let caller = Caller {
                name: one.name.clone(),
                access: Access {
                    namespaces: one.namespaces.clone(),
                    sources: one.sources.clone(),
                },
                rights: one.rights.clone(),
            };
            all.known.push((digest, caller));
        }
        Ok(all)
    }

    /// Where nobody is configured and only this machine can reach the listener,
    /// whoever is on it may ask. Everywhere else a token is needed.
    #[must_use]
    pub fn behind(mut self, listener: Option<SocketAddr>) -> Self {
        let is_local = listener.is_some_and(|address| address.ip().is_loopback());
        self.local = self.known.is_empty() && !self.oidc && is_local;
        self
    }

    /// Whether somebody may ask without a token.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.local
    }

    /// Whether nobody may ask at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.local && !self.oidc
    }

    /// Whose token it is. All are compared, each in constant time.
    #[must_use]
    pub fn of_token(&self, token: &str) -> Option<&Caller> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let mut found = None;
        for (known, caller) in &self.known {
            if bool::from(known.ct_eq(&digest)) {
                found = Some(caller);
            }
        }
        found
    }

    /// Who is on this machine, where they may ask without a token.
    #[must_use]
    pub fn local(&self) -> Option<Caller> {
        self.local.then(|| Caller {
            name: "local".to_owned(),
            access: Access::default(),
            rights: Right::all(),
        })
    }
}

/// What is wrong with a provider, before anybody signs in.
fn check(oidc: &Oidc, public_url: Option<&str>) -> Result<(), Error> {
    let wrong = |why: &str| Err(Error::Usage(format!("[serve.oidc]: {why}")));
    if public_url.is_none() {
        return wrong("set public_url in [serve]: the provider leads people back to it");
    }
    if !super::pages::is_safe_address(&oidc.issuer) {
        return wrong("issuer is not an address that begins with https://");
    }
    if oidc.group.is_empty() {
        return wrong(
            "no one could sign in: name groups with [[serve.oidc.group]]; name = \"*\" means everyone",
        );
    }
    Ok(())
}

fn wrong(one: &Configured, why: &str) -> Error {
    Error::Usage(format!("[[serve.caller]] {:?}: {why}", one.name))
}

fn digest_of(one: &Configured) -> Result<[u8; 32], Error> {
    match (&one.token_sha256, &one.token_file) {
        (Some(text), None) => parse_digest(text).ok_or_else(|| {
            wrong(
                one,
                "token_sha256 is not a SHA-256 hash: write 64 hexadecimal digits, as printed by `sha256sum`",
            )
        }),
        (None, Some(path)) => {
            let token = std::fs::read_to_string(path).map_err(|error| Error::Io {
                path: path.display().to_string(),
                error,
            })?;
            let token = token.trim();
            if token.len() < 16 {
                return Err(wrong(one, "its token has fewer than 16 characters"));
            }
            Ok(Sha256::digest(token.as_bytes()).into())
        }
        _ => Err(wrong(one, "set either token_sha256 or token_file")),
    }
}

fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut digest = [0; 32];
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Serve {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_token_is_its_callers_and_nobody_elses() {
        // The SHA-256 of "swordfish-swordfish".
        let digest: String = Sha256::digest(b"swordfish-swordfish")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let text = format!(
            "[[caller]]\nname = 'a'\ntoken_sha256 = '{digest}'\nnamespaces = ['team-a']\nrights = ['ask']\n"
        );
        let callers = Callers::load(&config(&text)).unwrap().behind(None);
        let found = callers.of_token("swordfish-swordfish").unwrap();
        assert!(found.access.permits_namespace("team-a"));
        assert!(!found.access.permits_namespace("team-b"));
        assert_eq!(found.rights, BTreeSet::from([Right::Ask]));
        for token in ["", "swordfish", "swordfish-swordfish ", digest.as_str()] {
            assert!(callers.of_token(token).is_none(), "{token}");
        }
        let twice = format!("{text}{}", text.replace("'a'", "'b'"));
        assert!(Callers::load(&config(&twice)).is_err());
    }

    #[test]
    fn who_configures_nobody_is_asked_by_this_machine_alone() {
        let nobody = Callers::load(&Serve::default()).unwrap();
        let at = |text: &str| nobody.clone().behind(Some(text.parse().unwrap()));
        assert!(at("127.0.0.1:8080").is_open() && at("[::1]:8080").is_open());
        assert!(!at("0.0.0.0:8080").is_open() && at("10.0.0.1:80").is_empty());
        assert!(nobody.behind(None).local().is_none());
    }

    #[test]
    fn what_is_wrong_with_a_provider_is_told() {
        let group = "[[oidc.group]]\nname = 'a'\n";
        let oidc = |issuer: &str| format!("[oidc]\nissuer = '{issuer}'\nclient_id = 'w'\n");
        let public = "public_url = 'https://w.example.com'\n";
        let good = format!("{public}{}{group}", oidc("https://login.example.com"));
        let callers = Callers::load(&config(&good)).unwrap();
        let callers = callers.behind(Some("127.0.0.1:1".parse().unwrap()));
        assert!(
            !callers.is_open() && !callers.is_empty(),
            "a provider closes the door"
        );
        for (text, reported) in [
            (
                format!("{}{group}", oidc("https://login.example.com")),
                "public_url",
            ),
            (
                format!("{public}{}{group}", oidc("http://login.example.com")),
                "https://",
            ),
            (
                format!("{public}{}", oidc("https://login.example.com")),
                "groups",
            ),
        ] {
            let error = Callers::load(&config(&text)).unwrap_err().to_string();
            assert!(error.contains(reported), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_caller_is_told() {
        for (text, reported) in [
            ("token_sha256 = 'abc'", "64 hexadecimal digits"),
            ("", "either token_sha256 or token_file"),
            ("token_file = '/nonexistent/token'", "/nonexistent/token"),
        ] {
            let text = format!("[[caller]]\nname = 'x'\n{text}\n");
            let error = Callers::load(&config(&text)).unwrap_err().to_string();
            assert!(error.contains(reported), "{error}");
        }
    }
}
