//! Ways to prove to Azure who we are, and what to do where one fails.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use azure_core::cloud::{CloudConfiguration, CustomConfiguration};
use azure_core::credentials::{AccessToken, TokenCredential};
use azure_core::http::{ClientOptions, ExponentialRetryOptions, RetryOptions, Transport};
use azure_identity::{
    AzureCliCredential, AzureCliCredentialOptions, ClientAssertionCredentialOptions,
    ClientSecretCredential, ClientSecretCredentialOptions, Executor, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
    WorkloadIdentityCredentialOptions,
};
use secrecy::ExposeSecret as _;

use super::error_messages;
use super::options::AzureOptions;
use crate::http::{HttpError, HttpOptions, connections};

/// How long one way may take: `az` starts slowly, metadata services are asked
/// again for a while by the library.
const PATIENCE: Duration = Duration::from_secs(20);

/// Outside Azure nobody answers at the address of the metadata service.
const KNOCK: Duration = Duration::from_secs(2);

/// A way to prove who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoginMethod {
    /// An application with a secret.
    ClientSecret,
    /// A Kubernetes service account that an identity trusts.
    WorkloadIdentity,
    /// The identity of the machine this runs on.
    ManagedIdentity,
    /// Whoever is logged in with `az login`.
    AzureCli,
}

impl LoginMethod {
    /// The ways that a value of `AZURE_TOKEN_CREDENTIALS` names, as Azure's own
    /// libraries understand it.
    ///
    /// # Errors
    /// When it names none.
    pub(super) fn named(value: &str) -> Result<Vec<Self>, HttpError> {
        let ways: &[Self] = match value.to_ascii_lowercase().as_str() {
            "prod" => &[
                Self::ClientSecret,
                Self::WorkloadIdentity,
                Self::ManagedIdentity,
            ],
            "dev" | "azureclicredential" => &[Self::AzureCli],
            "environmentcredential" => &[Self::ClientSecret],
            "workloadidentitycredential" => &[Self::WorkloadIdentity],
            "managedidentitycredential" => &[Self::ManagedIdentity],
            _ => {
                return Err(HttpError::BadRequest(format!(
                    "AZURE_TOKEN_CREDENTIALS is {value:?}; valid values are prod, dev, EnvironmentCredential, WorkloadIdentityCredential, ManagedIdentityCredential and AzureCliCredential"
                )));
            }
        };
        Ok(ways.to_vec())
    }

    /// How messages name it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ClientSecret => "the client secret",
            Self::WorkloadIdentity => "the workload identity",
            Self::ManagedIdentity => "the managed identity",
            Self::AzureCli => "the Azure CLI",
        }
    }
}

/// Who may log in, and how.
pub(super) struct Login {
    options: AzureOptions,
    /// In place of connections to the outside, for tests.
    transport: Option<Transport>,
    executor: Option<Arc<dyn Executor>>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("tenant", &self.options.tenant)
            .field("client", &self.options.client)
            .field("ways", &self.ways())
            .finish_non_exhaustive()
    }
}

impl Login {
    pub(super) fn new(options: &AzureOptions) -> Self {
        Self {
            options: options.clone(),
            transport: None,
            executor: None,
        }
    }

    #[cfg(test)]
    pub(super) fn through(
        options: &AzureOptions,
        transport: Transport,
        executor: Arc<dyn Executor>,
    ) -> Self {
        Self {
            options: options.clone(),
            transport: Some(transport),
            executor: Some(executor),
        }
    }

    /// The ways to try, in order. Who sets a secret or a token's file means it:
    /// that others might work would only hide that it does not.
    pub(super) fn ways(&self) -> Vec<LoginMethod> {
        let options = &self.options;
        let has = |way: &LoginMethod| match way {
            LoginMethod::ClientSecret => options.client_secret.is_some(),
            LoginMethod::WorkloadIdentity => options.federated_token_file.is_some(),
            LoginMethod::ManagedIdentity | LoginMethod::AzureCli => true,
        };
        match options.ways.as_slice() {
            [one] => return vec![*one],
            [] => {}
            several => return several.iter().copied().filter(has).collect(),
        }
        match [LoginMethod::ClientSecret, LoginMethod::WorkloadIdentity]
            .into_iter()
            .find(has)
        {
            Some(way) => vec![way],
            None => vec![LoginMethod::ManagedIdentity, LoginMethod::AzureCli],
        }
    }

    /// A new token by the first way that gives one.
    ///
    /// # Errors
    /// Says which ways failed, why, and what to do.
    pub(super) async fn token(&self) -> Result<(AccessToken, LoginMethod), HttpError> {
        let mut failed = Vec::new();
        for way in self.ways() {
            match tokio::time::timeout(PATIENCE, Box::pin(self.by(way))).await {
                Ok(Ok(token)) => return Ok((token, way)),
                Ok(Err(why)) => failed.push((way, why)),
                Err(_) => {
                    failed.push((way, format!("no response within {} s", PATIENCE.as_secs())));
                }
            }
        }
        Err(HttpError::Credentials(error_messages::no_token(&failed)))
    }

    async fn by(&self, way: LoginMethod) -> Result<AccessToken, String> {
        let to_text = |error: azure_core::Error| error_messages::of_library(&error);
        if way == LoginMethod::ManagedIdentity && self.transport.is_none() {
            knock().await?;
        }
        let credential = self.credential(way)?;
        let scope = self.options.cloud.scope();
        credential.get_token(&[&scope], None).await.map_err(to_text)
    }

    /// Made anew each time, so that nothing old is kept in it.
    fn credential(&self, way: LoginMethod) -> Result<Arc<dyn TokenCredential>, String> {
        let options = &self.options;
        let to_text = |error: azure_core::Error| error_messages::of_library(&error);
        let needs = |value: &Option<String>, name: &str| {
            value.clone().ok_or_else(|| format!("{name} is not set"))
        };
        Ok(match way {
            LoginMethod::ClientSecret => {
                let secret = options.client_secret.as_ref();
                let secret = secret.ok_or("AZURE_CLIENT_SECRET is not set")?;
                ClientSecretCredential::new(
                    &needs(&options.tenant, "AZURE_TENANT_ID")?,
                    needs(&options.client, "AZURE_CLIENT_ID")?,
                    secret.expose_secret().to_owned().into(),
                    Some(ClientSecretCredentialOptions {
                        client_options: self.reach(false)?,
                    }),
                )
                .map_err(to_text)?
            }
            LoginMethod::WorkloadIdentity => {
                let file = options.federated_token_file.clone();
                WorkloadIdentityCredential::new(Some(WorkloadIdentityCredentialOptions {
                    credential_options: ClientAssertionCredentialOptions {
                        client_options: self.reach(false)?,
                    },
                    client_id: Some(needs(&options.client, "AZURE_CLIENT_ID")?),
                    tenant_id: Some(needs(&options.tenant, "AZURE_TENANT_ID")?),
                    token_file_path: Some(file.ok_or("AZURE_FEDERATED_TOKEN_FILE is not set")?),
                }))
                .map_err(to_text)?
            }
            LoginMethod::ManagedIdentity => {
                ManagedIdentityCredential::new(Some(ManagedIdentityCredentialOptions {
                    user_assigned_id: options.client.clone().map(UserAssignedId::ClientId),
                    client_options: self.reach(true)?,
                }))
                .map_err(to_text)?
            }
            LoginMethod::AzureCli => AzureCliCredential::new(Some(AzureCliCredentialOptions {
                tenant_id: options.tenant.clone(),
                executor: self.executor.clone(),
                subscription: None,
            }))
            .map_err(to_text)?,
        })
    }

    /// How tokens are asked for: as Azure Resource Manager is, but `direct` where
    /// a metadata service must not be asked through a proxy.
    fn reach(&self, direct: bool) -> Result<ClientOptions, String> {
        let transport = match &self.transport {
            Some(transport) => transport.clone(),
            None => {
                let mut http = HttpOptions {
                    headers: Vec::new(),
                    ..self.options.http.clone()
                };
                if direct {
                    http.proxy = None;
                    http.direct = true;
                }
                let client = connections(&http).map_err(|failure| failure.to_string())?;
                Transport::new(Arc::new(client))
            }
        };
        let mut cloud = CustomConfiguration::default();
        cloud
            .authority_host
            .clone_from(&self.options.cloud.authority);
        Ok(ClientOptions {
            transport: Some(transport),
            cloud: Some(Arc::new(CloudConfiguration::Custom(cloud))),
            retry: RetryOptions::exponential(ExponentialRetryOptions {
                max_retries: 2,
                ..ExponentialRetryOptions::default()
            }),
            ..ClientOptions::default()
        })
    }
}

/// Whether anybody is at the address of the metadata service. App Service and
/// its kin name another one in the environment, which the library reads.
async fn knock() -> Result<(), String> {
    let elsewhere = ["IDENTITY_ENDPOINT", "MSI_ENDPOINT"];
    if elsewhere
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        return Ok(());
    }
    let connect = tokio::net::TcpStream::connect(("169.254.169.254", 80));
    match tokio::time::timeout(KNOCK, connect).await {
        Ok(Ok(_)) => Ok(()),
        _ => Err("this is not an Azure machine: 169.254.169.254 does not respond".to_owned()),
    }
}
