//! Which clouds are asked.

use std::sync::Arc;

use whathappened_connectors::aws::{Aws, LiveOptions};
use whathappened_connectors::azure::{Azure, AzureOptions};
use whathappened_connectors::gcp::{Gcp, GcpOptions};
use whathappened_http::HttpError;
use whathappened_model::connector::{Clock, Connector};

use super::source_config::{SourceConfig, Variables, given};
use super::sources::Sources;
use crate::config::Config;

/// What a cloud would have shown.
const SHOWS: (&str, &str) = (
    "activity",
    "maintenance, faults and terminations of the machines behind the nodes",
);

/// Adds the clouds that are configured. A cloud is asked where its variables name
/// a project, an account or a subscription, or a section is there: credentials
/// that merely lie about are no wish to be asked.
pub(super) async fn add(all: &mut Sources, config: &Config, env: Variables<'_>, clock: Clock) {
    let project: &[&[&str]] = &[&["GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"]];
    for given in given("gcp", &config.gcp.sections(), env, project) {
        all.add(&given.name, gcp(&given, Clock::clone(&clock)), SHOWS);
    }
    let account: &[&[&str]] = &[&[
        "AWS_PROFILE",
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
    ]];
    for given in given("aws", &config.aws.sections(), env, account) {
        let opened = Box::pin(aws(&given, Clock::clone(&clock))).await;
        all.add(&given.name, opened, SHOWS);
    }
    let subscription: &[&[&str]] = &[&["AZURE_SUBSCRIPTION_ID"]];
    for given in given("azure", &config.azure.sections(), env, subscription) {
        all.add(&given.name, azure(&given, Clock::clone(&clock)), SHOWS);
    }
}

fn gcp(given: &SourceConfig<'_>, clock: Clock) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = GcpOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    Ok(Arc::new(Gcp::open(options, clock)?))
}

async fn aws(given: &SourceConfig<'_>, clock: Clock) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = LiveOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    Ok(Arc::new(Aws::open(options, clock).await?))
}

fn azure(given: &SourceConfig<'_>, clock: Clock) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = AzureOptions::from_env(&|name| given.get(name))?;
    options.name.clone_from(&given.name);
    Ok(Arc::new(Azure::open(options, clock)?))
}
