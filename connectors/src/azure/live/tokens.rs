//! A token that is asked for when needed and kept until shortly before it expires.

use std::fmt;
use std::time::{Duration, Instant};

use azure_core::credentials::AccessToken;
use futures::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tokio::sync::Mutex;

use super::login::{Login, LoginMethod};
use crate::connector::Clock;
use crate::http::{Authorize, HttpError};

/// It is renewed this long before it expires, so that none expires on its way.
const BEFORE_S: i64 = 300;

/// The last token and where it came from.
pub(super) struct Tokens {
    login: Login,
    clock: Clock,
    last: Mutex<Option<(AccessToken, LoginMethod)>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    pub(super) fn new(login: Login, clock: Clock) -> Self {
        Self {
            login,
            clock,
            last: Mutex::new(None),
        }
    }

    /// A token that is good now. One asks, the others wait for what it gets.
    async fn good(&self) -> Result<(AccessToken, LoginMethod), HttpError> {
        let mut last = self.last.lock().await;
        let now_s = (self.clock)().div_euclid(crate::time::SECOND);
        let left_s = |token: &AccessToken| token.expires_on.unix_timestamp().saturating_sub(now_s);
        if let Some(known) = last.as_ref().filter(|(token, _)| left_s(token) > BEFORE_S) {
            return Ok(known.clone());
        }
        match self.login.token().await {
            Ok(fresh) => {
                *last = Some(fresh.clone());
                Ok(fresh)
            }
            // What has some minutes left is better than none.
            Err(failure) => match last.as_ref().filter(|(token, _)| left_s(token) > 0) {
                Some(known) => Ok(known.clone()),
                None => Err(failure),
            },
        }
    }

    /// How we log in; gets a token where there is none yet.
    ///
    /// # Errors
    /// Why there is no token.
    pub(super) async fn way(&self, deadline: Instant) -> Result<LoginMethod, HttpError> {
        let allowed = deadline.saturating_duration_since(Instant::now());
        match tokio::time::timeout(allowed, self.good()).await {
            Ok(found) => Ok(found?.1),
            Err(_) => Err(HttpError::TimedOut(Duration::from_millis(
                u64::try_from(allowed.as_millis()).unwrap_or(u64::MAX),
            ))),
        }
    }

    /// The server does not take the token: the next request gets a new one.
    pub(super) async fn forget(&self) {
        *self.last.lock().await = None;
    }
}

impl Authorize for Tokens {
    fn authorize<'a>(
        &'a self,
        request: &'a mut reqwest::Request,
    ) -> BoxFuture<'a, Result<(), HttpError>> {
        Box::pin(async move {
            let (token, way) = self.good().await?;
            let text = format!("Bearer {}", token.token.secret());
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                HttpError::Credentials(format!(
                    "{} returned a token that cannot be sent in a header",
                    way.words()
                ))
            })?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            Ok(())
        })
    }
}
