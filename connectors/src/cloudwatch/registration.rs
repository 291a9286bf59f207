//! What others know of `CloudWatch` Logs.

use std::sync::Arc;

use super::export::{EVENT, RESULTS, ROW, ROWS_CSV};
use super::options::CloudWatchOptions;
use super::store::CloudWatch;
use crate::connector::Clock;
use crate::contract::LabelNames;
use crate::log_store::{Opened, Registration, Settings};

pub(crate) const LOG_STORE: Registration = Registration {
    product: "CloudWatch",
    // Credentials of AWS alone are no wish to pay for its logs.
    needed: &[&["CLOUDWATCH_LOG_GROUPS"]],
    open: |settings, clock| Box::pin(open(settings, clock)),
    key: ("log_groups", "CLOUDWATCH_LOG_GROUPS"),
    sample: "\
# [cloudwatch]                # AWS_PROFILE, AWS_REGION, CLOUDWATCH_LOG_GROUPS
# log_groups = \"/aws/containerinsights/my-cluster/application\"
",
    names: LabelNames::default,
    decoders: &[EVENT, RESULTS, ROW],
    tables: &[ROWS_CSV],
    answer: None,
};

async fn open(settings: &dyn Settings, clock: Clock) -> Opened {
    let mut options = CloudWatchOptions::from_env(&|name| settings.get(name));
    settings.name().clone_into(&mut options.name);
    options.names = settings.labels(options.names)?;
    Ok(Arc::new(CloudWatch::open(options, clock).await?))
}
