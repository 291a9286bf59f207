//! Requests to one of Google's APIs, with what is the same for all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::login::Login;
use crate::http::{Answer, Auth, Client, HttpError, HttpOptions, Request};

/// How often the end of a used-up minute is waited for.
const WAITS: usize = 3;

/// One API of Google.
#[derive(Debug)]
pub(super) struct Api {
    http: Client,
    login: Arc<Login>,
    quota_wait: Duration,
}

impl Api {
    pub(super) fn new(
        options: &HttpOptions,
        login: &Arc<Login>,
        quota_wait: Duration,
    ) -> Result<Self, HttpError> {
        let mut options = options.clone();
        options.auth = Auth::Custom(Arc::<Login>::clone(login));
        Ok(Self {
            http: Client::new(options)?,
            login: Arc::clone(login),
            quota_wait,
        })
    }

    pub(super) fn address(&self) -> String {
        self.http.address()
    }

    /// Sends a request; once more with a new token where the old one is no
    /// longer taken, and later where the minute's quota is used up.
    pub(super) async fn send(
        &self,
        request: &Request,
        deadline: Instant,
    ) -> Result<Answer, HttpError> {
        let mut renewed = false;
        let mut waited = 0;
        loop {
            let failure = match self.http.send(request, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match failure.code() {
                Some(401) if !renewed && self.login.forget().await => renewed = true,
                Some(429) if waited < WAITS && Instant::now() + self.quota_wait < deadline => {
                    waited += 1;
                    tokio::time::sleep(self.quota_wait).await;
                }
                _ => return Err(failure),
            }
        }
    }
}
