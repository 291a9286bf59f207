//! Where logs are kept, and how much is read of them.

use serde::Deserialize;

use super::parse::address;
use super::section::section;

/// How much is read of logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogDepth {
    /// Lines around deaths, the first and last lines of pods, and lines that match a known signal.
    #[default]
    Usual,
    /// Everything, up to a limit.
    All,
    /// Nothing.
    None,
}

/// How much is read of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Logs {
    /// `usual`, `all` or `none`.
    pub wanted: LogDepth,
    /// Requests that one answer may cost in stores that count them.
    pub requests: Option<u64>,
    /// Lines of one answer.
    pub most_lines: Option<usize>,
}

section! {
    /// A Loki, under logcli's names.
    Loki {
        #[serde(deserialize_with = "address")]
        addr = "LOKI_ADDR",
        username = "LOKI_USERNAME",
        password = "LOKI_PASSWORD",
        bearer_token = "LOKI_BEARER_TOKEN",
        bearer_token_file = "LOKI_BEARER_TOKEN_FILE",
        auth_header = "LOKI_AUTH_HEADER",
        org_id = "LOKI_ORG_ID",
        ca_cert_path = "LOKI_CA_CERT_PATH",
        client_cert_path = "LOKI_CLIENT_CERT_PATH",
        client_key_path = "LOKI_CLIENT_KEY_PATH",
        tls_skip_verify = "LOKI_TLS_SKIP_VERIFY",
        http_proxy_url = "LOKI_HTTP_PROXY_URL",
        #[serde(deserialize_with = "address")]
        grafana_url = "GRAFANA_URL",
        datasource_uid = "GRAFANA_DATASOURCE_UID",
        grafana_token = "GRAFANA_TOKEN",
    }
}

section! {
    /// A Datadog organisation, under the Agent's names.
    Datadog {
        site = "DD_SITE",
        host = "DD_HOST",
        api_key = "DD_API_KEY",
        app_key = "DD_APP_KEY",
        tiers = "DD_LOGS_TIERS",
        indexes = "DD_LOGS_INDEXES",
    }
}

section! {
    /// An Elasticsearch or `OpenSearch`.
    Elasticsearch {
        #[serde(deserialize_with = "address")]
        url = "ELASTICSEARCH_URL",
        index = "ELASTICSEARCH_INDEX",
        api_key = "ELASTICSEARCH_API_KEY",
        username = "ELASTICSEARCH_USERNAME",
        password = "ELASTICSEARCH_PASSWORD",
        bearer_token = "ELASTICSEARCH_BEARER_TOKEN",
        ca_cert = "ELASTICSEARCH_CA_CERT",
        profile = "AWS_PROFILE",
        region = "AWS_REGION",
    }
}

section! {
    /// Amazon `CloudWatch` Logs, under the names of AWS's own tools.
    CloudWatch {
        log_groups = "CLOUDWATCH_LOG_GROUPS",
        profile = "AWS_PROFILE",
        region = "AWS_REGION",
        endpoint_url = "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS",
    }
}
