//! Which groups of which account are asked.

use crate::aws_auth::{AwsOptions, Service};
use crate::log_store::LabelNames;

/// Amazon `CloudWatch` Logs, as AWS's own tools call it.
pub(super) const LOGS: Service = Service::new("logs", "logs", "CLOUDWATCH_LOGS");

/// Which groups of which account are asked.
#[derive(Clone, Debug, Default)]
pub struct CloudWatchOptions {
    /// The name in coverage rows; `cloudwatch` where empty.
    pub name: String,
    /// Credentials, region and endpoint.
    pub aws: AwsOptions,
    /// Log groups, by name; one that ends in `*` stands for all that begin so.
    /// Those of Container Insights and EKS where none is named.
    pub groups: Vec<String>,
    /// Only this cluster's groups are looked for where none is named.
    pub cluster: Option<String>,
    /// Whether Logs Insights may be asked to count lines: it is billed by the
    /// byte that it looks through.
    pub insights: bool,
    /// The names of pods and such.
    pub names: LabelNames,
}

impl CloudWatchOptions {
    /// As the environment says: what AWS's own tools read, and
    /// `CLOUDWATCH_LOG_GROUPS`, names separated by commas.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Self {
        let groups = get("CLOUDWATCH_LOG_GROUPS").unwrap_or_default();
        let groups = groups.split(',').map(str::trim);
        Self {
            aws: AwsOptions::from_env(LOGS, get),
            groups: groups
                .filter(|group| !group.is_empty())
                .map(str::to_owned)
                .collect(),
            ..Self::default()
        }
    }
}
