//! `whathappened init`

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use whathappened_connectors::LOG_STORES;
use whathappened_connectors::cluster::{ContextInfo, contexts};

use super::common;
use crate::config::Config;
use crate::error::Error;

/// Writes a commented configuration file based on what it finds on this machine
///
/// A configuration is optional: without one the current context of the kubeconfig is queried. An
/// existing file is never overwritten.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// File to write; `-` for standard output.
    #[arg(value_name = "FILE", env = "WHATHAPPENED_CONFIG")]
    pub file: Option<PathBuf>,
    /// Kubeconfig to use instead of `$KUBECONFIG` or `~/.kube/config`.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// Writes the file.
///
/// # Errors
/// When it is there already or cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let text = text(args)?;
    if args
        .file
        .as_deref()
        .is_some_and(|file| file.as_os_str() == "-")
    {
        return common::print(&text);
    }
    let path = args
        .file
        .clone()
        .or_else(Config::default_path)
        .ok_or_else(|| {
            Error::misused(
                "the home folder could not be determined",
                "name the file to write",
            )
        })?;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::misused(
            format!("{} already exists", path.display()),
            "to see what would be written: whathappened init -",
        ),
        _ => Error::Io {
            path: path.display().to_string(),
            error,
        },
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    common::print(&format!(
        "Wrote {}. Run `whathappened doctor` to check it.\n",
        path.display()
    ))
}

fn text(args: &Args) -> Result<String, Error> {
    let store = Config::default().store_path()?;
    let mut out = String::new();
    let found = contexts(args.kubeconfig.as_deref());
    let names = match &found {
        Ok(found) => found
            .iter()
            .map(|one| format!("#   {}", describe(one)))
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => format!("#   none found: {}", error.message),
    };
    let kubeconfig = match &args.kubeconfig {
        Some(file) => format!("kubeconfig = {}", toml_text(&file.display().to_string())),
        None => "# kubeconfig = \"/path/to/kubeconfig\"".to_owned(),
    };
    let stores: Vec<&str> = LOG_STORES.iter().map(|(_, store)| store.sample).collect();
    let stores = stores.join("\n");
    // Writing to a String does not fail.
    let _written = write!(
        out,
        "\
# whathappened: every setting is optional; commented-out values are the defaults.
# docs/configuration.md lists all settings, and which value wins.

# Folder with your own rules: *.sql for causes, *.toml for signals. Default: none.
# rules = \"/path/to/rules\"

[store]
# What was collected is stored here.
# path = {}
# Data stored longer ago is removed, then the oldest until the rest fits the size limit.
# max_age = \"90d\"
# max_size = \"50GiB\"

[kubernetes]
# Query clusters when a question is asked. Contexts on this machine:
{names}
# enabled = true
{kubeconfig}
# Contexts to query; default: the current one; [\"all\"] for all of them.
# contexts = []
# If you may not list the whole cluster, read these namespaces.
# namespaces = []
# How long a question waits for clusters, log stores, metrics and clouds in all.
# timeout = \"60s\"

# Log stores; the environment takes precedence over this file (docs/logs.md).
[logs]
# \"usual\": lines around deaths, first and last lines, significant lines; \"all\", \"none\".
# wanted = \"usual\"
# Requests that one answer may use in stores that count them.
# requests = 40

{stores}
# Metrics, alerts, annotations; the environment takes precedence over this file (docs/metrics.md).
# [prometheus]                # PROMETHEUS_URL, PROMETHEUS_ORG_ID, ...; Mimir, Thanos, VictoriaMetrics, too
# url = \"https://prometheus.example.com\"
# [alertmanager]              # ALERTMANAGER_URL, ...
# url = \"https://alertmanager.example.com\"
# [grafana]                   # GRAFANA_URL, GRAFANA_TOKEN
# url = \"https://grafana.example.com\"

# Clouds: what they did to the machines, and what they announce (docs/clouds.md).
# [gcp]                       # GOOGLE_CLOUD_PROJECT and Google's other variables
# project = \"my-project\"
# [aws]                       # AWS_PROFILE, AWS_REGION, ...
# profile = \"training\"
# [azure]                     # AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID, ...
# subscription = \"00000000-0000-0000-0000-000000000000\"

# [slurm]                     # SLURM_REST_URL, SLURM_JWT, SLURM_USER_NAME; or SLURM_COMMANDS (docs/slurm.md)
# url = \"https://slurm.example.com:6820\"
# token_file = \"/path/to/token\"

# The service, `whathappened serve` (docs/serve.md).
[serve]
# listen = \"127.0.0.1:8080\"
# public_url = \"https://whathappened.example.com\"   # answers link to the pages with it
# [serve.limits]
# max_body = \"16MiB\"         # size of one pushed body
# at_once = 512               # requests
# timeout = \"120s\"
# Webhooks; each is disabled without a token or secret. The names are
# alertmanager, kubernetes-audit, datadog and generic.
# [serve.hooks.kubernetes-audit]
# token_file = \"/path/to/token\"
# cluster = \"lab\"
# Who may ask over HTTP; by default anyone on this machine may.
# [[serve.caller]]
# name = \"alice\"
# token_file = \"/path/to/token\"          # or token_sha256 = \"...\"
# namespaces = [\"research\"]              # default: all
# rights = [\"ask\", \"sql\"]              # and \"import\"
# [serve.syslog]              # anyone who can reach it can send anything under any name
# listen = \"0.0.0.0:5514\"
# SQL for database clients, if the program was built with them (docs/wires.md). The password is
# a caller's token.
# [serve.postgres]
# listen = \"127.0.0.1:5432\"
# tls_cert = \"/path/to/tls.crt\"        # needed where other machines reach it
# tls_key = \"/path/to/tls.key\"
# [serve.flight]
# listen = \"127.0.0.1:32010\"

# Slack: answers and notifications (docs/slack.md).
# [slack]                     # SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET, SLACK_APP_TOKEN
# default = \"none\"            # default for all channels and users
",
        toml_text(&store.display().to_string())
    );
    Ok(offered(&out, &|name| std::env::var(name).ok()))
}

/// What the environment may name beside log stores: the section, its key and the variable. Secrets stay there.
const OFFERED: [(&str, &str, &str); 7] = [
    ("prometheus", "url", "PROMETHEUS_URL"),
    ("alertmanager", "url", "ALERTMANAGER_URL"),
    ("grafana", "url", "GRAFANA_URL"),
    ("gcp", "project", "GOOGLE_CLOUD_PROJECT"),
    ("aws", "profile", "AWS_PROFILE"),
    ("azure", "subscription", "AZURE_SUBSCRIPTION_ID"),
    ("slurm", "url", "SLURM_REST_URL"),
];

/// The text with the sections in force that the environment names.
fn offered(text: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let stores = LOG_STORES
        .iter()
        .map(|(kind, store)| (kind.as_str(), store.key.0, store.key.1));
    let offered: Vec<_> = stores.chain(OFFERED).collect();
    let mut out = String::with_capacity(text.len());
    let mut within: Option<(&str, String)> = None;
    for line in text.lines() {
        let found = offered.iter().find_map(|(section, key, variable)| {
            line.starts_with(&format!("# [{section}]")).then_some(())?;
            let value = env(variable).filter(|value| !value.trim().is_empty())?;
            Some((*key, value))
        });
        if let Some(found) = found {
            within = Some(found);
            out.push_str(line.trim_start_matches("# "));
        } else if let Some((key, value)) = &within
            && line.starts_with(&format!("# {key} = "))
        {
            let _written = write!(out, "{key} = {}", toml_text(value));
            within = None;
        } else {
            if line.is_empty() {
                within = None;
            }
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

fn describe(context: &ContextInfo) -> String {
    let current = if context.current { " (current)" } else { "" };
    let namespace = context
        .namespace
        .as_ref()
        .map_or_else(String::new, |namespace| format!(", namespace {namespace}"));
    format!("{}{current}: {}{namespace}", context.name, context.server)
}

fn toml_text(text: &str) -> String {
    // JSON's strings are TOML's basic strings.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_names_is_in_force() {
        let args = Args {
            file: None,
            kubeconfig: Some("/nonexistent".into()),
        };
        let plain = text(&args).unwrap();
        for there in ["# [slack]", "# [[serve.caller]]", "# [loki]"] {
            assert!(plain.contains(there), "{there}");
        }
        let env = |name: &str| (name == "LOKI_ADDR").then(|| "http://loki:3100".to_owned());
        let made = offered(&plain, &env);
        let config: Config = toml::from_str(&made).unwrap();
        assert_eq!(config.loki.0[0].addr.as_deref(), Some("http://loki:3100"));
        assert!(config.prometheus.0.is_empty());
    }
}
