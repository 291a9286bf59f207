//! The configuration: a TOML file, all of it optional.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::{AppStrategy as _, AppStrategyArgs};
use serde::Deserialize;
use whathappened_model::time::Nanos;
use whathappened_store::Limits as StoreLimits;

use crate::error::Error;
use parse::{duration, size, timeout};

mod callers;
mod clouds;
mod error;
mod files;
mod log_depth;
mod names;
mod oidc;
mod one_or_more;
mod parse;
mod section;
mod serve;
mod slack;
mod slurm;
mod statements;
mod stores;
mod wires;

pub use callers::{Caller, Right};
pub use clouds::{Aws, Azure, Gcp};
pub use error::ConfigError;
pub use log_depth::{LogDepth, Logs};
pub use oidc::{Group, Oidc};
pub use one_or_more::OneOrMore;
pub use parse::{parse_duration, parse_local, parse_moment, parse_relative, parse_size};
pub use section::{Section, Sections};
pub use serve::{HOOKS, Hook, Limits, Serve, Syslog};
pub use slack::{NamespaceScope, SharedChannels, Slack};
pub use slurm::Slurm;
pub use statements::Statements;
pub use stores::{Alertmanager, CloudWatch, Datadog, Elasticsearch, Grafana, Loki, Prometheus};
pub use wires::Wire;

/// What the file may say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where things are kept, and how much.
    pub store: Store,
    /// Clusters that are asked live.
    pub kubernetes: Kubernetes,
    /// How much is read of logs.
    pub logs: Logs,
    /// Loki.
    pub loki: OneOrMore<Loki>,
    /// Datadog.
    pub datadog: OneOrMore<Datadog>,
    /// Elasticsearch or `OpenSearch`.
    pub elasticsearch: OneOrMore<Elasticsearch>,
    /// Amazon `CloudWatch` Logs.
    pub cloudwatch: OneOrMore<CloudWatch>,
    /// Prometheus and what speaks its API.
    pub prometheus: OneOrMore<Prometheus>,
    /// Alertmanager.
    pub alertmanager: OneOrMore<Alertmanager>,
    /// Grafana's annotations.
    pub grafana: OneOrMore<Grafana>,
    /// Google Cloud.
    pub gcp: OneOrMore<Gcp>,
    /// AWS.
    pub aws: OneOrMore<Aws>,
    /// Azure.
    pub azure: OneOrMore<Azure>,
    /// Slurm.
    pub slurm: OneOrMore<Slurm>,
    /// The service.
    pub serve: Serve,
    /// Slack.
    pub slack: Slack,
    /// Folder with rules of one's own.
    pub rules: Option<PathBuf>,
}

/// Where things are kept, and how much.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// The folder; the user's data folder by default.
    pub path: Option<PathBuf>,
    /// How long ago things may have been stored: `90d`.
    #[serde(deserialize_with = "duration")]
    pub max_age: Option<Nanos>,
    /// How much room they may take: `50GiB`.
    #[serde(deserialize_with = "size")]
    pub max_size: Option<u64>,
    /// The lake that a collector flushes into: `s3://bucket/folder`, or a folder.
    pub lake: Option<String>,
    /// How much of a lake is kept on this machine: `2GiB`.
    #[serde(deserialize_with = "size")]
    pub cache_size: Option<u64>,
    /// Ballista's scheduler, which runs large statements over a lake: `df://HOST:PORT`.
    pub ballista: Option<String>,
    /// The lake of which `path` is the index.
    #[serde(skip)]
    pub index_of: Option<String>,
}

/// Clusters that are asked live.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kubernetes {
    /// Whether clusters are asked at all.
    pub enabled: bool,
    /// The kubeconfig; `$KUBECONFIG`, else `~/.kube/config` by default.
    pub kubeconfig: Option<PathBuf>,
    /// Contexts to ask; the current one where empty, `all` for every one.
    pub contexts: Vec<String>,
    /// Namespaces to look into where the whole cluster may not be listed.
    pub namespaces: Vec<String>,
    /// Whether of a large cluster only what a question concerns is read in full.
    pub selective: bool,
    /// How long a question waits for clusters and all other live sources.
    #[serde(deserialize_with = "timeout")]
    pub timeout: Duration,
}

impl Default for Kubernetes {
    fn default() -> Self {
        Self {
            enabled: true,
            kubeconfig: None,
            contexts: Vec::new(),
            namespaces: Vec::new(),
            selective: true,
            timeout: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// Reads a file, the default one where none is named. The default one need
    /// not be there.
    ///
    /// # Errors
    /// Names the file, the line and what is wrong.
    pub fn load(named: Option<&Path>) -> Result<Self, Error> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => match folders() {
                Some(folders) => folders.config_dir().join("config.toml"),
                None => return Ok(Self::default()),
            },
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let path = path.display().to_string();
                Self::parse(&text).map_err(|flaw| Error::Config { path, flaw })
            }
            // A home that is no folder has no configuration either.
            Err(error)
                if named.is_none()
                    && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(Self::default())
            }
            Err(error) => Err(Error::misused(
                format!(
                    "the configuration file {} cannot be read: {error}",
                    path.display()
                ),
                "correct --config or WHATHAPPENED_CONFIG, or write the file with: whathappened init FILE",
            )),
        }
    }

    /// What a text says.
    ///
    /// # Errors
    /// Names the line and what is wrong.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| ConfigError::of(&error, text))?;
        names::check(&config, text)?;
        Ok(config)
    }

    /// Files that the configuration names and that cannot be read, with file, line, field
    /// and why; and whether only the service reads them.
    #[must_use]
    pub fn unreadable(named: Option<&Path>) -> Vec<(bool, Error)> {
        let Some(path) = named.map(Path::to_owned).or_else(Self::default_path) else {
            return Vec::new();
        };
        // A file that is not there names no other; whoever wants it says so.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let path = path.display().to_string();
        let flaws = files::unreadable(&text).into_iter();
        flaws
            .map(|(is_served, flaw)| {
                let path = path.clone();
                (is_served, Error::Config { path, flaw })
            })
            .collect()
    }

    /// Where the configuration is looked for when none is named.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        folders().map(|folders| folders.config_dir().join("config.toml"))
    }

    /// The store's folder.
    ///
    /// # Errors
    /// When the system names no data folder and the configuration none either.
    pub fn store_path(&self) -> Result<PathBuf, Error> {
        if let Some(path) = &self.store.path {
            return Ok(path.clone());
        }
        let folders = folders().ok_or_else(|| {
            Error::misused(
                "the home folder could not be determined",
                "name the store with --store",
            )
        })?;
        Ok(folders.data_dir().join("store"))
    }

    /// The folder of what can be fetched again; nothing where the system names none.
    #[must_use]
    pub fn cache_path() -> Option<PathBuf> {
        folders().map(|folders| folders.cache_dir())
    }

    /// The store's limits.
    #[must_use]
    pub fn limits(&self) -> StoreLimits {
        let default = StoreLimits::default();
        StoreLimits {
            max_age: self.store.max_age.unwrap_or(default.max_age),
            max_bytes: self.store.max_size.unwrap_or(default.max_bytes),
            ..default
        }
    }
}

fn folders() -> Option<impl etcetera::AppStrategy> {
    etcetera::app_strategy::choose_app_strategy(AppStrategyArgs {
        top_level_domain: String::new(),
        author: String::new(),
        app_name: "whathappened".to_owned(),
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use whathappened_model::time::SECOND;

    use super::*;

    #[test]
    fn what_people_write_is_understood() {
        let config: Config = toml::from_str(
            "rules = 'mine'\n[store]\npath = '/data'\nmax_age = '30d'\nmax_size = '2GiB'\n[kubernetes]\ncontexts = ['a']\ntimeout = '5s'\n",
        )
        .unwrap();
        assert_eq!(config.limits().max_bytes, 2 << 30);
        assert_eq!(config.limits().max_age, 30 * 86_400 * SECOND);
        assert_eq!(config.kubernetes.timeout, Duration::from_secs(5));
        assert!(config.kubernetes.enabled);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, reported) in [
            ("[store]\nmax_age = 'long'\n", "\"long\" is not a time"),
            ("[store]\nmaxage = '1d'\n", "unknown field `maxage`"),
            ("[kubernetes]\nenabled = 'yes'\n", "expected a boolean"),
            ("[loki]\nadress = 'http://h'\n", "unknown field `adress`"),
            ("[[loki]]\nadress = 'http://h'\n", "unknown field `adress`"),
            ("[logs]\nwanted = 'some'\n", "unknown variant `some`"),
            ("[loki]\naddr = 'not a url'\n", "is not a URL"),
            ("[store]\nmax_size = '16'\n", "write 16MiB"),
        ] {
            let error = toml::from_str::<Config>(text).unwrap_err().to_string();
            assert!(
                error.contains(reported) && error.contains("line 2"),
                "{error}"
            );
        }
    }
}
