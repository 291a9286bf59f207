//! Where Datadog is, who we are there and how much may be asked.

use secrecy::{ExposeSecret as _, SecretString};

use super::tags;
use crate::http::{HttpError, HttpOptions};
use crate::log_store::LabelNames;

/// Datadog's sites; the API of one is `https://api.<site>`.
pub const SITES: &[&str] = &[
    "datadoghq.com",
    "us3.datadoghq.com",
    "us5.datadoghq.com",
    "datadoghq.eu",
    "ap1.datadoghq.com",
    "ap2.datadoghq.com",
    "uk1.datadoghq.com",
    "ddog-gov.com",
    "us2.ddog-gov.com",
];

/// Where logs are kept. A search looks into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// What people search by default.
    Indexes,
    /// Cheaper and longer, where the account has it.
    Flex,
    /// Archives that were made searchable; such searches may cost money.
    OnlineArchives,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Indexes, Self::Flex, Self::OnlineArchives];

    /// The API's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Indexes => "indexes",
            Self::Flex => "flex",
            Self::OnlineArchives => "online-archives",
        }
    }

    /// By the API's name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == name)
    }
}

/// How Datadog is asked.
#[derive(Clone, Debug)]
pub struct DatadogOptions {
    /// The source's name in coverage rows.
    pub name: String,
    /// How it is reached. The keys are added to its headers.
    pub http: HttpOptions,
    /// `DD-API-KEY`: of the organisation.
    pub api_key: Option<SecretString>,
    /// `DD-APPLICATION-KEY`: of a person or service account, with its rights.
    pub application_key: Option<SecretString>,
    /// Which tiers are asked. `None`: indexes, and Flex where the account has it.
    pub tiers: Option<Vec<Tier>>,
    /// Names of indexes; all where empty.
    pub indexes: Vec<String>,
    /// How much of the rate is left to people, in percent.
    pub left_to_people: u8,
    /// How many requests one question may cost.
    pub requests_per_question: u64,
    /// Lines asked for in one request, 1 to 1,000.
    pub page: usize,
    /// Facets of a pod's name where the Agent's tags are not used: `@kubernetes.pod_name`.
    pub pod_facets: Vec<String>,
    /// Facets of an experiment's name, beside the usual: `run_name`, `@wandb.run`.
    pub experiment_facets: Vec<String>,
    /// The names under which tags and attributes tell whose line it is.
    pub names: LabelNames,
}

impl DatadogOptions {
    /// Datadog at a site, or below a URL: a proxy, a private link.
    ///
    /// # Errors
    /// For a site that there is not; the message lists those that there are.
    pub fn new(site_or_url: &str) -> Result<Self, HttpError> {
        Ok(Self {
            name: "datadog".to_owned(),
            http: HttpOptions::new(base_url(site_or_url)?),
            api_key: None,
            application_key: None,
            tiers: None,
            indexes: Vec::new(),
            left_to_people: 30,
            requests_per_question: 20,
            page: 1000,
            pod_facets: Vec::new(),
            experiment_facets: Vec::new(),
            names: tags::names(),
        })
    }

    /// As Datadog's own tools: `DD_API_KEY`, `DD_APP_KEY` or `DD_APPLICATION_KEY`,
    /// `DD_SITE` (a URL will do), `DD_HOST` for a whole URL.
    ///
    /// # Errors
    /// As [`Self::new`]. Keys that are missing are told by [`super::Datadog::new`].
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, HttpError> {
        let set = |names: &[&str]| {
            let found = names.iter().find_map(|name| env(name));
            found.filter(|value| !value.trim().is_empty())
        };
        let site = set(&["DD_HOST"]).or_else(|| set(&["DD_SITE"]));
        let mut options = Self::new(site.as_deref().unwrap_or(SITES[0]))?;
        options.api_key = set(&["DD_API_KEY"]).map(SecretString::from);
        options.application_key =
            set(&["DD_APP_KEY", "DD_APPLICATION_KEY"]).map(SecretString::from);
        Ok(options)
    }

    /// How the server is reached, keys included.
    pub(super) fn reached(&self) -> Result<HttpOptions, HttpError> {
        let mut http = self.http.clone();
        for (header, key, names) in [
            ("DD-API-KEY", &self.api_key, "an API key (DD_API_KEY)"),
            (
                "DD-APPLICATION-KEY",
                &self.application_key,
                "an application key (DD_APP_KEY)",
            ),
        ] {
            let Some(key) = key else {
                return Err(HttpError::Credentials(format!(
                    "Datadog asks for {names}, and there is none"
                )));
            };
            let key = key.expose_secret().trim().to_owned();
            http.headers.push((header.to_owned(), key.into()));
        }
        Ok(http)
    }

    /// The tiers to ask, and whether each was asked for by name.
    pub(super) fn tiers(&self) -> Vec<(Tier, bool)> {
        match &self.tiers {
            Some(tiers) => {
                let mut tiers = tiers.clone();
                tiers.sort();
                tiers.dedup();
                tiers.into_iter().map(|tier| (tier, true)).collect()
            }
            None => vec![(Tier::Indexes, true), (Tier::Flex, false)],
        }
    }
}

/// `https://api.<site>` for a site, however people write it; a URL as it is.
fn base_url(text: &str) -> Result<String, HttpError> {
    let text = text.trim().trim_end_matches('/');
    let host = text.strip_prefix("https://").unwrap_or(text);
    // The address of the pages, which people copy: its API is next door.
    let site = ["api.", "app."]
        .iter()
        .find_map(|prefix| host.strip_prefix(prefix))
        .unwrap_or(host)
        .to_ascii_lowercase();
    if SITES.contains(&site.as_str()) {
        return Ok(format!("https://api.{site}"));
    }
    if text.starts_with("https://") || text.starts_with("http://") {
        return Ok(text.to_owned());
    }
    Err(HttpError::BadRequest(format!(
        "{text:?} is not a Datadog site; the sites are {}, or give a full URL",
        SITES.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_known_in_every_spelling_and_others_are_told() {
        for (text, url) in [
            ("datadoghq.com", "https://api.datadoghq.com"),
            ("us5.datadoghq.com ", "https://api.us5.datadoghq.com"),
            ("app.datadoghq.eu", "https://api.datadoghq.eu"),
            ("https://app.datadoghq.eu/", "https://api.datadoghq.eu"),
            ("api.ddog-gov.com", "https://api.ddog-gov.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://gateway/dd/", "https://gateway/dd"),
        ] {
            assert_eq!(base_url(text).unwrap(), url);
        }
        let emitted = base_url("datadog.com").unwrap_err().to_string();
        for site in SITES {
            assert!(emitted.contains(site), "{emitted}");
        }
    }

    #[test]
    fn the_environment_of_datadogs_own_tools_is_read() {
        let of = |pairs: &'static [(&'static str, &'static str)]| {
            DatadogOptions::from_env(&move |name| {
                let found = pairs.iter().find(|(key, _)| *key == name)?;
                Some(found.1.to_owned())
            })
        };
        let options = of(&[
            ("DD_API_KEY", "key-a"),
            ("DD_APPLICATION_KEY", "key-b\n"),
            ("DD_SITE", "us3.datadoghq.com"),
        ])
        .unwrap();
        assert_eq!(options.http.base_url, "https://api.us3.datadoghq.com");
        let http = options.reached().unwrap();
        assert_eq!(http.headers[1].1.expose_secret(), "key-b");
        assert!(!format!("{options:?}{http:?}").contains("key-a"));

        let missing = of(&[("DD_API_KEY", "key-a")]).unwrap().reached();
        let missing = missing.unwrap_err();
        assert!(missing.is_denied() && missing.to_string().contains("DD_APP_KEY"));
        assert!(of(&[("DD_SITE", "nowhere.com")]).is_err());
        let url = of(&[("DD_SITE", "x"), ("DD_HOST", "http://127.0.0.1:1")]).unwrap();
        assert_eq!(url.http.base_url, "http://127.0.0.1:1");
    }
}
