//! How Azure is reached, and what is asked of it.

use std::path::PathBuf;

use super::cloud::CloudPlace;
use super::login::LoginMethod;
use crate::http::{HttpError, HttpOptions, Secret};

/// Where a machine of Azure finds the events that are scheduled for it.
pub const SCHEDULED_EVENTS: &str = "http://169.254.169.254/metadata/scheduledevents";

/// How Azure is reached, and what is asked of it.
#[derive(Clone, Debug)]
pub struct AzureOptions {
    /// The source's name in coverage rows.
    pub name: String,
    /// Subscriptions to ask, beside those that the machines of a question are
    /// in; all that one may see where none is named and no machine names one.
    pub subscriptions: Vec<String>,
    /// The tenant (directory) to log in to.
    pub tenant: Option<String>,
    /// The application, or the identity of a machine where it has several.
    pub client: Option<String>,
    /// The application's secret.
    pub client_secret: Option<Secret>,
    /// A file with a Kubernetes service account's token.
    pub federated_token_file: Option<PathBuf>,
    /// Ways to log in, the first that works; by what is there where empty.
    pub ways: Vec<LoginMethod>,
    /// Where the cloud's services are.
    pub cloud: CloudPlace,
    /// Where this machine's scheduled events are; `None` asks for none, since
    /// they are only available on Azure machines.
    pub scheduled_events: Option<String>,
    /// How Azure Resource Manager is reached. Its address is the cloud's
    /// (`cloud.manager`) and its authorization the token's, whatever is set here.
    pub http: HttpOptions,
    /// Pages read of one list.
    pub max_pages: usize,
    /// Machines whose own health and state are asked for.
    pub max_machines: usize,
}

impl Default for AzureOptions {
    fn default() -> Self {
        Self {
            name: "azure".to_owned(),
            subscriptions: Vec::new(),
            tenant: None,
            client: None,
            client_secret: None,
            federated_token_file: None,
            ways: Vec::new(),
            cloud: CloudPlace::default(),
            scheduled_events: None,
            http: HttpOptions::new(CloudPlace::default().manager),
            max_pages: 100,
            max_machines: 200,
        }
    }
}

impl AzureOptions {
    /// As Azure's own variables say: `AZURE_SUBSCRIPTION_ID` (several with
    /// commas), `AZURE_TENANT_ID`, `AZURE_CLIENT_ID`, `AZURE_CLIENT_SECRET`,
    /// `AZURE_FEDERATED_TOKEN_FILE`, `AZURE_TOKEN_CREDENTIALS`,
    /// `AZURE_ENVIRONMENT`, `AZURE_AUTHORITY_HOST`, `AZURE_RESOURCE_MANAGER_URL`,
    /// `AZURE_RESOURCE_MANAGER_AUDIENCE`. `AZURE_SCHEDULED_EVENTS` (`true` or an
    /// address) says that this runs inside a machine of Azure.
    ///
    /// # Errors
    /// For a cloud, a credential or an address that there is not.
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Result<Self, HttpError> {
        let get = |name: &str| {
            let value = get(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let cloud = CloudPlace::find(
            get("AZURE_ENVIRONMENT").as_deref(),
            get("AZURE_AUTHORITY_HOST").as_deref(),
            get("AZURE_RESOURCE_MANAGER_URL").as_deref(),
            get("AZURE_RESOURCE_MANAGER_AUDIENCE").as_deref(),
        )?;
        let subscriptions = get("AZURE_SUBSCRIPTION_ID").unwrap_or_default();
        Ok(Self {
            subscriptions: list(&subscriptions),
            tenant: get("AZURE_TENANT_ID"),
            client: get("AZURE_CLIENT_ID"),
            client_secret: get("AZURE_CLIENT_SECRET").map(Into::into),
            federated_token_file: get("AZURE_FEDERATED_TOKEN_FILE").map(PathBuf::from),
            ways: match get("AZURE_TOKEN_CREDENTIALS") {
                Some(named) => LoginMethod::named(&named)?,
                None => Vec::new(),
            },
            scheduled_events: get("AZURE_SCHEDULED_EVENTS").and_then(|value| {
                match value.to_ascii_lowercase().as_str() {
                    "false" | "0" | "no" | "off" => None,
                    "true" | "1" | "yes" | "on" => Some(SCHEDULED_EVENTS.to_owned()),
                    _ => Some(value),
                }
            }),
            http: HttpOptions::new(cloud.manager.clone()),
            cloud,
            ..Self::default()
        })
    }
}

fn list(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}
