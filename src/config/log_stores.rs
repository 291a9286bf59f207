//! The log stores of the configuration: a section each, and what is the same for all of them.

use super::Config;
use super::parse::address;
use super::section::{Sections, section};

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

impl Config {
    /// Sections by the name of their log store; stores without one are there with none.
    #[must_use]
    pub fn log_stores(&self) -> Vec<(&'static str, Sections<'_>)> {
        let config = self;
        macro_rules! sections {
            ($($kind:ident = $name:ident, $code:literal;)*) => {
                vec![$((stringify!($name), config.$name.sections())),*]
            };
        }
        whathappened_model::log_stores!(sections)
    }
}
