//! Signature Version 4.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sigv4::http_request::{
    PayloadChecksumKind, SignableBody, SignableRequest, SigningSettings, sign,
};
use aws_sigv4::sign::v4;
use futures::future::BoxFuture;
use reqwest::header::{HeaderName, HeaderValue};

use super::credentials::CachedCredentials;
use crate::connector::Clock;
use crate::http::{Authorize, HttpError};

/// Signs requests to one service in one region.
#[derive(Clone)]
pub(super) struct Signer {
    pub(super) credentials: Arc<CachedCredentials>,
    pub(super) region: String,
    pub(super) service: String,
    pub(super) clock: Clock,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("region", &self.region)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Authorize for Signer {
    fn authorize<'a>(
        &'a self,
        request: &'a mut reqwest::Request,
    ) -> BoxFuture<'a, Result<(), HttpError>> {
        Box::pin(self.sign(request))
    }
}

impl Signer {
    async fn sign(&self, request: &mut reqwest::Request) -> Result<(), HttpError> {
        let wrong = |why: String| HttpError::BadRequest(format!("cannot be signed for AWS: {why}"));
        let time = system_time((self.clock)());
        let identity = self.credentials.at(time).await?.into();
        let mut settings = SigningSettings::default();
        if self.service == "aoss" {
            // Serverless collections ask for the body's checksum in a header.
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(&self.service)
            .time(time)
            .settings(settings)
            .build()
            .map_err(|error| wrong(error.to_string()))?
            .into();
        let instructions = {
            let headers = request
                .headers()
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
            let body = request.body().and_then(|body| body.as_bytes());
            let signable = SignableRequest::new(
                request.method().as_str(),
                request.url().as_str(),
                headers,
                SignableBody::Bytes(body.unwrap_or_default()),
            )
            .map_err(|error| wrong(error.to_string()))?;
            let signed = sign(signable, &params).map_err(|error| wrong(error.to_string()))?;
            signed.into_parts().0
        };
        for header in instructions.into_parts().0 {
            let mut value = HeaderValue::from_str(header.value())
                .map_err(|_| wrong(format!("the value of {}", header.name())))?;
            value.set_sensitive(true);
            request
                .headers_mut()
                .insert(HeaderName::from_static(header.name()), value);
        }
        Ok(())
    }
}

/// Our nanoseconds as the system has them.
fn system_time(at: crate::time::Nanos) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(u64::try_from(at).unwrap_or_default())
}
