//! Where a service is.

/// A service of AWS as its names differ by where they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// In signatures: `logs`.
    pub signed_as: &'static str,
    /// First part of its host: `logs`.
    pub host: &'static str,
    /// In `AWS_ENDPOINT_URL_<…>`: `AUTO_SCALING`.
    pub in_environment: &'static str,
}

impl Service {
    /// A service by its names.
    #[must_use]
    pub const fn new(
        signed_as: &'static str,
        host: &'static str,
        in_environment: &'static str,
    ) -> Self {
        Self {
            signed_as,
            host,
            in_environment,
        }
    }

    /// Its address in a region.
    #[must_use]
    pub fn url(&self, region: &str) -> String {
        format!("https://{}.{region}.{}", self.host, domain(region))
    }

    /// Where the environment says it is: moto, `LocalStack`, a VPC endpoint.
    #[must_use]
    pub fn endpoint(&self, get: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        if get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").is_some_and(|yes| yes == "true") {
            return None;
        }
        get(&format!("AWS_ENDPOINT_URL_{}", self.in_environment))
            .or_else(|| get("AWS_ENDPOINT_URL"))
    }
}

/// The domain of the partition that a region lies in.
fn domain(region: &str) -> &'static str {
    const DOMAINS: [(&str, &str); 5] = [
        ("cn-", "amazonaws.com.cn"),
        ("us-iso-", "c2s.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"),
        ("eusc-", "amazonaws.eu"),
    ];
    DOMAINS
        .iter()
        .find(|(prefix, _)| region.starts_with(prefix))
        .map_or("amazonaws.com", |(_, domain)| domain)
}
