//! Credentials, region and endpoint from where AWS's own tools look.

use std::fmt;
use std::sync::Arc;

use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::provider::SharedCredentialsProvider;

use super::credentials::CachedCredentials;
use super::service::Service;
use super::sign::Signer;
use crate::connector::Clock;
use crate::http::{Auth, HttpError};

/// What is said about AWS beside what its environment and profiles say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwsOptions {
    /// A profile; `AWS_PROFILE` or the default one where none is named.
    pub profile: Option<String>,
    /// A region; `AWS_REGION`, the profile's or the instance's where none is named.
    pub region: Option<String>,
    /// A role to assume with the credentials that are found.
    pub role: Option<String>,
    /// What that role's trust policy asks for, if anything.
    pub external_id: Option<String>,
    /// Where the service is; `AWS_ENDPOINT_URL_<SERVICE>`, `AWS_ENDPOINT_URL` or
    /// the profile's `endpoint_url` where nothing is said.
    pub endpoint: Option<String>,
}

impl AwsOptions {
    /// As the environment says for a service.
    #[must_use]
    pub fn from_env(service: Service, get: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        Self {
            profile: get("AWS_PROFILE"),
            region: get("AWS_REGION").or_else(|| get("AWS_DEFAULT_REGION")),
            role: None,
            external_id: None,
            endpoint: service.endpoint(&get),
        }
    }
}

/// Who we are to AWS, in one region.
#[derive(Clone)]
pub struct AwsAccess {
    credentials: Arc<CachedCredentials>,
    region: Option<String>,
    endpoint: Option<String>,
    clock: Clock,
}

impl fmt::Debug for AwsAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsAccess")
            .field("region", &self.region)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl AwsAccess {
    /// Finds the region and the source of credentials; asks for no credentials
    /// yet. Reads `~/.aws`; an instance is asked for its region where nothing
    /// else names one. `clock` tells the times of signatures.
    pub async fn load(options: &AwsOptions, clock: Clock) -> Self {
        let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12());
        if let Some(profile) = &options.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(region) = &options.region {
            loader = loader.region(Region::new(region.clone()));
        }
        let config = loader.load().await;
        let mut provider = config.credentials_provider();
        let mut source = match &options.profile {
            Some(profile) => format!("profile `{profile}`"),
            None => "environment, default profile, web identity, container and instance".to_owned(),
        };
        if let Some(role) = &options.role {
            source = format!("role {role}, assumed with {source}");
            let mut builder = AssumeRoleProvider::builder(role)
                .session_name("whathappened")
                .configure(&config);
            if let Some(id) = &options.external_id {
                builder = builder.external_id(id);
            }
            provider = Some(SharedCredentialsProvider::new(builder.build().await));
        }
        Self {
            credentials: Arc::new(CachedCredentials::new(
                provider,
                source,
                options.profile.clone(),
            )),
            region: config.region().map(ToString::to_string),
            endpoint: options
                .endpoint
                .clone()
                .or_else(|| config.endpoint_url().map(str::to_owned)),
            clock,
        }
    }

    /// With credentials of a source of one's own.
    #[must_use]
    pub fn with(
        provider: SharedCredentialsProvider,
        region: &str,
        endpoint: Option<String>,
        clock: Clock,
    ) -> Self {
        let cached = CachedCredentials::new(Some(provider), "the given source".to_owned(), None);
        Self {
            credentials: Arc::new(cached),
            region: Some(region.to_owned()),
            endpoint,
            clock,
        }
    }

    /// The same credentials in another region.
    #[must_use]
    pub fn in_region(&self, region: &str) -> Self {
        Self {
            region: Some(region.to_owned()),
            ..self.clone()
        }
    }

    /// The region.
    ///
    /// # Errors
    /// Says how to name one where none is named.
    pub fn region(&self) -> Result<&str, HttpError> {
        self.region.as_deref().ok_or_else(|| {
            HttpError::BadRequest(
                "no AWS region is configured: set AWS_REGION, or `region` in the profile"
                    .to_owned(),
            )
        })
    }

    /// Where a service is.
    ///
    /// # Errors
    /// As [`Self::region`].
    pub fn url(&self, service: Service) -> Result<String, HttpError> {
        match &self.endpoint {
            Some(endpoint) => Ok(endpoint.clone()),
            None => Ok(service.url(self.region()?)),
        }
    }

    /// Signs each request to a service, by the name it has in signatures:
    /// `logs`, `es`, `aoss`.
    ///
    /// # Errors
    /// As [`Self::region`].
    pub fn signs_for(&self, service: &str) -> Result<Auth, HttpError> {
        Ok(Auth::Custom(Arc::new(Signer {
            credentials: Arc::clone(&self.credentials),
            region: self.region()?.to_owned(),
            service: service.to_owned(),
            clock: Arc::clone(&self.clock),
        })))
    }
}
