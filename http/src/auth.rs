//! How we say who we are.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, HeaderName};
use secrecy::{ExposeSecret as _, SecretString};

use super::error::HttpError;

/// Adds credentials to a request: signatures, tokens that expire.
pub trait Authorize: Send + Sync + fmt::Debug {
    /// Adds what proves who we are. Called for each try, last of all.
    fn authorize<'a>(
        &'a self,
        request: &'a mut reqwest::Request,
    ) -> BoxFuture<'a, Result<(), HttpError>>;
}

/// How we say who we are.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// We do not.
    #[default]
    None,
    /// A user and a password.
    Basic(String, SecretString),
    /// A token that lasts.
    Bearer(SecretString),
    /// A file with a token, read anew for each try since others renew it.
    BearerFile(PathBuf),
    /// The same in a header of another name than `Authorization`, for gateways
    /// that keep that one for themselves.
    InHeader(HeaderName, Box<Self>),
    /// Whatever the source asks for.
    Custom(Arc<dyn Authorize>),
}

impl Auth {
    /// Finishes a request with what proves who we are.
    pub(super) async fn finish(
        &self,
        request: RequestBuilder,
    ) -> Result<reqwest::Request, HttpError> {
        let (auth, header) = match self {
            Self::InHeader(header, auth) => (&**auth, Some(header)),
            auth => (auth, None),
        };
        let request = match auth {
            // One name is enough.
            Self::None | Self::Custom(_) | Self::InHeader(..) => request,
            Self::Basic(user, password) => request.basic_auth(user, Some(password.expose_secret())),
            Self::Bearer(token) => request.bearer_auth(token.expose_secret().trim()),
            Self::BearerFile(path) => {
                let token = tokio::fs::read_to_string(path).await.map_err(|error| {
                    HttpError::Credentials(format!(
                        "the token file {} cannot be read: {error}",
                        path.display()
                    ))
                })?;
                request.bearer_auth(token.trim())
            }
        };
        // Its error would show the header's value.
        let mut request = request.build().map_err(|error| {
            HttpError::BadRequest(if error.is_builder() {
                "a header or token holds characters that none may have".to_owned()
            } else {
                error.without_url().to_string()
            })
        })?;
        if let Self::Custom(custom) = auth {
            custom.authorize(&mut request).await?;
        }
        if let Some(header) = header
            && let Some(value) = request.headers_mut().remove(AUTHORIZATION)
        {
            request.headers_mut().insert(header.clone(), value);
        }
        Ok(request)
    }
}
