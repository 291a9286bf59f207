//! The token that its REST daemon asks for.

use std::path::PathBuf;

use futures::future::BoxFuture;
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;

use crate::http::{Authorize, HttpError, Secret};

const HEADER: HeaderName = HeaderName::from_static("x-slurm-user-token");

/// A token, as `scontrol token` prints it: `SLURM_JWT=…` or what follows.
#[derive(Debug)]
pub(super) enum Token {
    Given(Secret),
    /// Read anew for each try, since tokens last minutes and others renew them.
    File(PathBuf),
}

impl Authorize for Token {
    fn authorize<'a>(
        &'a self,
        request: &'a mut reqwest::Request,
    ) -> BoxFuture<'a, Result<(), HttpError>> {
        Box::pin(async move {
            let token = match self {
                Self::Given(token) => token.expose_secret().to_owned(),
                Self::File(path) => tokio::fs::read_to_string(path).await.map_err(|error| {
                    HttpError::Credentials(format!(
                        "the token file {} cannot be read: {error}",
                        path.display()
                    ))
                })?,
            };
            let token = token.trim();
            let token = token.strip_prefix("SLURM_JWT=").unwrap_or(token);
            let mut value = HeaderValue::from_str(token).map_err(|_| {
                HttpError::Credentials("the token holds characters that none has".to_owned())
            })?;
            value.set_sensitive(true);
            request.headers_mut().insert(HEADER, value);
            Ok(())
        })
    }
}
