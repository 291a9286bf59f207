//! Which accounts are asked, where, and how much.

use std::time::Duration;

use crate::aws_auth::{AwsOptions, Service};

/// Amazon EC2.
pub(super) const EC2: Service = Service::new("ec2", "ec2", "EC2");
/// EC2 Auto Scaling.
pub(super) const SCALING: Service = Service::new("autoscaling", "autoscaling", "AUTO_SCALING");
/// AWS `CloudTrail`.
pub(super) const TRAIL: Service = Service::new("cloudtrail", "cloudtrail", "CLOUDTRAIL");
/// AWS Health.
pub(super) const HEALTH: Service = Service::new("health", "health", "HEALTH");
/// AWS Security Token Service.
pub(super) const STS: Service = Service::new("sts", "sts", "STS");

/// How AWS is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// The source's name in coverage rows.
    pub name: String,
    /// Who we are: one for each account, with its profile or role and its own
    /// region. An endpoint in it is of all services.
    pub accounts: Vec<AwsOptions>,
    /// Regions to look into where machines do not tell theirs, for all accounts;
    /// each account's own where empty.
    pub regions: Vec<String>,
    /// Where services are instead of where AWS has them, by the name that each
    /// has in `AWS_ENDPOINT_URL_<…>`: `EC2`, `AUTO_SCALING`, `CLOUDTRAIL`, `HEALTH`, `STS`.
    pub endpoints: Vec<(String, String)>,
    /// How many requests to `CloudTrail` one question may cost in a region.
    pub lookups: u64,
    /// The time from one of them to the next: AWS allows two a second to all who
    /// ask an account in a region.
    pub between_lookups: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            name: "aws".to_owned(),
            accounts: vec![AwsOptions::default()],
            regions: Vec::new(),
            endpoints: Vec::new(),
            lookups: 60,
            between_lookups: Duration::from_millis(550),
        }
    }
}

impl LiveOptions {
    /// As AWS's own tools: `AWS_PROFILE`, `AWS_REGION` or `AWS_DEFAULT_REGION`,
    /// and `AWS_ENDPOINT_URL_<service>` or `AWS_ENDPOINT_URL`. Several profiles
    /// and several regions are separated by commas.
    #[must_use]
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let list = |name: &str| -> Vec<String> {
            let text = env(name).unwrap_or_default();
            let parts = text.split(',').map(str::trim);
            parts
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let mut regions = list("AWS_REGION");
        if regions.is_empty() {
            regions = list("AWS_DEFAULT_REGION");
        }
        let account = |profile: Option<String>| AwsOptions {
            profile,
            region: regions.first().cloned(),
            ..AwsOptions::default()
        };
        let profiles = list("AWS_PROFILE");
        let accounts = if profiles.is_empty() {
            vec![account(None)]
        } else {
            profiles.into_iter().map(Some).map(account).collect()
        };
        let endpoints = [EC2, SCALING, TRAIL, HEALTH, STS]
            .iter()
            .filter_map(|service| Some((service.in_environment.to_owned(), service.endpoint(env)?)))
            .collect();
        Self {
            accounts,
            regions,
            endpoints,
            ..Self::default()
        }
    }

    /// Where a service is, if somewhere else than usual.
    pub(super) fn endpoint(&self, service: Service) -> Option<&str> {
        let named = |(name, _): &&(String, String)| name == service.in_environment;
        let (_, url) = self.endpoints.iter().find(named)?;
        Some(url)
    }
}

/// What an account is called before it has told its number.
pub(super) fn label(account: &AwsOptions) -> String {
    let profile = account.profile.as_ref();
    match (&account.role, profile) {
        (Some(role), _) => role.clone(),
        (None, Some(profile)) => format!("profile {profile}"),
        (None, None) => "default".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_awss_own_tools_is_read() {
        let of = |pairs: &'static [(&str, &str)]| {
            LiveOptions::from_env(&move |name| {
                let found = pairs.iter().find(|(key, _)| *key == name)?;
                Some(found.1.to_owned())
            })
        };
        let options = of(&[
            ("AWS_PROFILE", "dev, prod"),
            ("AWS_DEFAULT_REGION", "us-west-2,eu-west-1"),
            ("AWS_ENDPOINT_URL", "http://a"),
            ("AWS_ENDPOINT_URL_AUTO_SCALING", "http://b"),
        ]);
        let labels: Vec<String> = options.accounts.iter().map(label).collect();
        assert_eq!(labels, ["profile dev", "profile prod"]);
        assert_eq!(options.accounts[1].region.as_deref(), Some("us-west-2"));
        assert_eq!(options.regions, ["us-west-2", "eu-west-1"]);
        assert_eq!(options.endpoint(SCALING), Some("http://b"));
        assert_eq!(options.endpoint(HEALTH), Some("http://a"));

        let options = of(&[]);
        assert_eq!(label(&options.accounts[0]), "default");
        assert_eq!(options.endpoint(EC2), None);
    }
}
