//! Where Google Cloud is, who we are there and how much may be asked.

use std::path::PathBuf;
use std::time::Duration;

use crate::http::{HttpOptions, Secret};

/// Where Cloud Logging is.
const LOGGING: &str = "https://logging.googleapis.com";
/// Where Compute Engine is, as `gcloud` writes it: with the version.
const COMPUTE: &str = "https://compute.googleapis.com/compute/v1";
/// Where a machine of Google Cloud learns about itself.
const METADATA: &str = "http://metadata.google.internal";

/// How we say who we are. Without a token, Application Default Credentials are
/// looked for: a file, then the metadata server.
#[derive(Clone, Debug, Default)]
pub struct GcpLogin {
    /// An access token, for as long as it lasts.
    pub access_token: Option<Secret>,
    /// A file with an access token that others renew.
    pub access_token_file: Option<PathBuf>,
    /// A file of credentials: of a user, a service account, workload identity
    /// federation, or impersonation.
    pub credentials_file: Option<PathBuf>,
    /// The folder of `gcloud`'s configuration, where its login is.
    pub config_dir: Option<PathBuf>,
    /// The configuration of `gcloud` that counts; its active one where none is named.
    pub config_name: Option<String>,
    /// A service account to act as, with the credentials that are found.
    pub impersonate: Option<String>,
    /// Where the metadata server is; `None` where it must not be asked.
    pub metadata: Option<String>,
}

/// How Google Cloud is asked.
#[derive(Clone, Debug)]
pub struct GcpOptions {
    /// The source's name in coverage rows.
    pub name: String,
    /// Projects to look into, by id. Where none is named, `gcloud`'s project, the
    /// credentials' or the machine's; machines that name their project are looked
    /// for there in any case.
    pub projects: Vec<String>,
    /// The project that requests are counted on.
    pub quota_project: Option<String>,
    /// Who we are.
    pub login: GcpLogin,
    /// How Cloud Logging is reached.
    pub logging: HttpOptions,
    /// How Compute Engine is reached: `…/compute/v1`.
    pub compute: HttpOptions,
    /// How many requests to Cloud Logging one question may cost. Sixty a minute
    /// are all that a project has, for everybody.
    pub requests_per_question: u64,
    /// How long to wait once the quota of the minute is used up.
    pub quota_wait: Duration,
}

impl Default for GcpOptions {
    fn default() -> Self {
        Self {
            name: "gcp".to_owned(),
            projects: Vec::new(),
            quota_project: None,
            login: GcpLogin {
                metadata: Some(METADATA.to_owned()),
                ..GcpLogin::default()
            },
            logging: HttpOptions::new(LOGGING),
            compute: HttpOptions::new(COMPUTE),
            requests_per_question: 45,
            quota_wait: Duration::from_secs(20),
        }
    }
}

impl GcpOptions {
    /// As Google's own tools read the environment:
    ///
    /// * `GOOGLE_CLOUD_PROJECT`, `CLOUDSDK_CORE_PROJECT` (several with commas between);
    /// * `GOOGLE_CLOUD_QUOTA_PROJECT`, `CLOUDSDK_BILLING_QUOTA_PROJECT`;
    /// * `GOOGLE_APPLICATION_CREDENTIALS`, `CLOUDSDK_CONFIG` or the folder in `HOME`
    ///   (`APPDATA`), `CLOUDSDK_ACTIVE_CONFIG_NAME`;
    /// * `CLOUDSDK_AUTH_ACCESS_TOKEN`, `GOOGLE_OAUTH_ACCESS_TOKEN`,
    ///   `CLOUDSDK_AUTH_ACCESS_TOKEN_FILE`, `CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT`;
    /// * `GCE_METADATA_HOST`, `NO_GCE_CHECK`;
    /// * `CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING`, `CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE`.
    #[must_use]
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |names: &[&str]| {
            names.iter().find_map(|name| {
                let value = env(name)?;
                Some(value.trim().to_owned()).filter(|value| !value.is_empty())
            })
        };
        let mut options = Self::default();
        if let Some(projects) = set(&["GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"]) {
            let named = projects.split([',', ' ']).filter(|name| !name.is_empty());
            options.projects = named.map(str::to_owned).collect();
        }
        options.quota_project = set(&[
            "GOOGLE_CLOUD_QUOTA_PROJECT",
            "CLOUDSDK_BILLING_QUOTA_PROJECT",
        ]);
        let home = |name: &str, below: &str| Some(PathBuf::from(set(&[name])?).join(below));
        let login = &mut options.login;
        login.access_token =
            set(&["CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"]).map(Secret::from);
        login.access_token_file = set(&["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"]).map(PathBuf::from);
        login.credentials_file = set(&["GOOGLE_APPLICATION_CREDENTIALS"]).map(PathBuf::from);
        login.config_dir = set(&["CLOUDSDK_CONFIG"])
            .map(PathBuf::from)
            .or_else(|| home("APPDATA", "gcloud").filter(|_| cfg!(windows)))
            .or_else(|| home("HOME", ".config/gcloud"));
        login.config_name = set(&["CLOUDSDK_ACTIVE_CONFIG_NAME"]);
        login.impersonate = set(&["CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT"]);
        if let Some(host) = set(&["GCE_METADATA_HOST"]) {
            login.metadata = Some(format!("http://{host}"));
        }
        if set(&["NO_GCE_CHECK"]).is_some_and(|yes| yes.eq_ignore_ascii_case("true")) {
            login.metadata = None;
        }
        if let Some(url) = set(&["CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING"]) {
            options.logging.base_url = url;
        }
        if let Some(url) = set(&["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"]) {
            options.compute.base_url = url;
        }
        options
    }

    /// Whether somebody meant Google Cloud to be asked: a project, a token or a
    /// file of credentials is there. The metadata server is not asked for it.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        let login = &self.login;
        !self.projects.is_empty()
            || login.access_token.is_some()
            || login.access_token_file.is_some()
            || login.credentials_file.is_some()
            || login.login_file().is_some_and(|path| path.is_file())
    }
}

impl GcpLogin {
    /// Where `gcloud auth application-default login` puts what it gets.
    pub(super) fn login_file(&self) -> Option<PathBuf> {
        let folder = self.config_dir.as_ref()?;
        Some(folder.join("application_default_credentials.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_googles_own_tools_is_read() {
        let of = |pairs: &'static [(&'static str, &'static str)]| {
            GcpOptions::from_env(&move |name| {
                let found = pairs.iter().find(|(key, _)| *key == name)?;
                Some(found.1.to_owned())
            })
        };
        let options = of(&[
            ("GOOGLE_CLOUD_PROJECT", " lab, lab-2 "),
            ("CLOUDSDK_CORE_PROJECT", "other"),
            ("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.hidden"),
            ("GOOGLE_CLOUD_QUOTA_PROJECT", "payer"),
            ("HOME", "/home/ada"),
            ("GCE_METADATA_HOST", "127.0.0.1:1"),
            (
                "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING",
                "https://logging-lab.p.googleapis.com/",
            ),
        ]);
        assert_eq!(options.projects, ["lab", "lab-2"]);
        assert_eq!(options.quota_project.as_deref(), Some("payer"));
        assert_eq!(
            options.login.login_file().unwrap(),
            PathBuf::from("/home/ada/.config/gcloud/application_default_credentials.json")
        );
        assert_eq!(
            options.login.metadata.as_deref(),
            Some("http://127.0.0.1:1")
        );
        assert_eq!(
            options.logging.base_url,
            "https://logging-lab.p.googleapis.com/"
        );
        assert_eq!(options.compute.base_url, COMPUTE);
        assert!(options.is_configured());
        assert!(!format!("{options:?}").contains("ya29"));

        let nothing = of(&[("NO_GCE_CHECK", "True"), ("GOOGLE_CLOUD_PROJECT", " ")]);
        assert_eq!(nothing.login.metadata, None);
        assert!(!nothing.is_configured());
    }
}
