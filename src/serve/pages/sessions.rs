//! Who is signed in. A browser holds an id that means nothing by itself; whose it is, is only
//! in memory, and ends with the process.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use whathappened_model::time::{Nanos, SECOND};

use crate::serve::Caller;

/// Where ids that cannot be guessed come from.
pub type Secrets = Arc<dyn Fn() -> io::Result<[u8; 32]> + Send + Sync>;

/// How long somebody stays signed in.
pub(super) const LASTS_S: i64 = 12 * 3_600;

/// Sessions at once; the one that would end first makes room.
const MOST: usize = 10_000;
/// Those of one caller, whose own make room: nobody signs others out by signing in.
const MOST_OF_ONE: usize = 500;

/// The cookie's name, and that where the connection is encrypted: a browser takes the latter
/// from nobody else, not even from a neighbouring host.
const NAME: &str = "whathappened";
const SECURE_NAME: &str = "__Host-whathappened";

/// Sessions by the hash of their ids.
pub(super) struct Sessions {
    secrets: Secrets,
    known: Mutex<HashMap<[u8; 32], Session>>,
}

struct Session {
    caller: Caller,
    until: Nanos,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new(Arc::new(|| {
            Err(io::Error::other(
                "the service has no source of random numbers",
            ))
        }))
    }
}

impl Sessions {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            known: Mutex::default(),
        }
    }

    /// Something that nobody can guess.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub(super) fn secret(&self) -> io::Result<[u8; 32]> {
        (self.secrets)()
    }

    /// Signs somebody in; what the browser is to hold.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub(super) fn begin(&self, caller: Caller, now: Nanos, secure: bool) -> io::Result<String> {
        let secret = (self.secrets)()?;
        let id: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let until = now.saturating_add(LASTS_S * SECOND);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, session| session.until > now);
        let of_caller = |session: &Session| session.caller.name == caller.name;
        if known.values().filter(|one| of_caller(one)).count() >= MOST_OF_ONE {
            make_room(&mut known, of_caller);
        } else if known.len() >= MOST {
            make_room(&mut known, |_| true);
        }
        known.insert(hash(&id), Session { caller, until });
        Ok(cookie(&id, secure, LASTS_S))
    }

    /// Who is signed in.
    pub(super) fn of(&self, headers: &HeaderMap, now: Nanos) -> Option<Caller> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        ids(headers).find_map(|id| {
            let session = known.get(&hash(id))?;
            (session.until > now).then(|| session.caller.clone())
        })
    }

    /// Signs somebody out.
    pub(super) fn end(&self, headers: &HeaderMap) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids(headers) {
            known.remove(&hash(id));
        }
    }
}

/// Ends the session of some that would end first.
fn make_room(known: &mut HashMap<[u8; 32], Session>, of: impl Fn(&Session) -> bool) {
    let all = known.iter().filter(|(_, session)| of(session));
    let first = all.min_by_key(|(hash, session)| (session.until, **hash));
    let first = first.map(|(hash, _)| *hash);
    first.and_then(|hash| known.remove(&hash));
}

/// What makes a browser drop what it holds.
pub(super) fn no_cookie(secure: bool) -> String {
    cookie("", secure, 0)
}

fn cookie(id: &str, secure: bool, lasts_s: i64) -> String {
    let (name, secure) = if secure {
        (SECURE_NAME, "; Secure")
    } else {
        (NAME, "")
    };
    format!("{name}={id}; Path=/; Max-Age={lasts_s}; HttpOnly; SameSite=Strict{secure}")
}

/// Ids that a request brings.
fn ids(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter();
    let pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    pairs.filter_map(|pair| {
        let (name, id) = pair.trim().split_once('=')?;
        matches!(name, NAME | SECURE_NAME).then_some(id)
    })
}

/// By the hash, so that how long a comparison takes says nothing of an id.
fn hash(id: &str) -> [u8; 32] {
    Sha256::digest(id.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    fn caller(name: &str) -> Caller {
        Caller {
            name: name.to_owned(),
            access: crate::access::Access::default(),
            rights: crate::config::Right::all(),
        }
    }

    fn holding(cookie: &str) -> HeaderMap {
        let pair = cookie.split(';').next().unwrap();
        HeaderMap::from_iter([(header::COOKIE, format!("other=1; {pair}").parse().unwrap())])
    }

    #[test]
    fn a_session_ends_by_itself_and_by_signing_out() {
        let next = AtomicU8::new(1);
        let secrets: Secrets = Arc::new(move || Ok([next.fetch_add(1, Ordering::Relaxed); 32]));
        let sessions = Sessions::new(secrets);
        let one = sessions.begin(caller("one"), 0, false).unwrap();
        let two = sessions.begin(caller("two"), 0, true).unwrap();
        assert!(
            one.contains("; HttpOnly; SameSite=Strict") && !one.contains("Secure"),
            "{one}"
        );
        assert!(
            two.starts_with("__Host-whathappened=") && two.ends_with("; Secure"),
            "{two}"
        );
        let name = |cookie: &str, now| sessions.of(&holding(cookie), now).map(|caller| caller.name);
        assert_eq!(name(&one, SECOND).as_deref(), Some("one"));
        assert_eq!(name(&two, SECOND).as_deref(), Some("two"));
        assert_eq!(name(&one, LASTS_S * SECOND), None);
        assert_eq!(name("whathappened=", SECOND), None);
        sessions.end(&holding(&one));
        assert_eq!(name(&one, SECOND), None);
        assert_eq!(name(&two, SECOND).as_deref(), Some("two"));
        assert!(Sessions::default().begin(caller("x"), 0, false).is_err());
    }

    /// Ten thousand sign-ins of one caller signed everybody else out.
    #[test]
    fn whoever_signs_in_often_signs_nobody_else_out() {
        let next = std::sync::atomic::AtomicU16::new(1);
        let secrets: Secrets = Arc::new(move || {
            let mut secret = [0; 32];
            secret[..2].copy_from_slice(&next.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            Ok(secret)
        });
        let sessions = Sessions::new(secrets);
        let quiet = sessions.begin(caller("quiet"), 0, false).unwrap();
        let first = sessions.begin(caller("busy"), 0, false).unwrap();
        let mut last = String::new();
        for at in 1..=i64::try_from(MOST).unwrap() {
            last = sessions.begin(caller("busy"), at, false).unwrap();
        }
        let name = |cookie: &str| sessions.of(&holding(cookie), SECOND).map(|one| one.name);
        assert_eq!(name(&quiet).as_deref(), Some("quiet"));
        assert_eq!(name(&first), None);
        assert_eq!(name(&last).as_deref(), Some("busy"));
        assert_eq!(sessions.known.lock().unwrap().len(), MOST_OF_ONE + 1);
    }
}
