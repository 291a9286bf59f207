//! Where logs, measurements, alerts and annotations are kept: a section each.

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

section! {
    /// A Prometheus, or what speaks its API.
    Prometheus {
        #[serde(deserialize_with = "address")]
        url = "PROMETHEUS_URL",
        username = "PROMETHEUS_USERNAME",
        password = "PROMETHEUS_PASSWORD",
        token = "PROMETHEUS_TOKEN",
        bearer_token = "PROMETHEUS_BEARER_TOKEN",
        token_file = "PROMETHEUS_TOKEN_FILE",
        org_id = "PROMETHEUS_ORG_ID",
        ca_cert_path = "PROMETHEUS_CA_CERT_PATH",
        client_cert_path = "PROMETHEUS_CLIENT_CERT_PATH",
        client_key_path = "PROMETHEUS_CLIENT_KEY_PATH",
        tls_skip_verify = "PROMETHEUS_TLS_SKIP_VERIFY",
        mimir_address = "MIMIR_ADDRESS",
        mimir_tenant_id = "MIMIR_TENANT_ID",
        mimir_api_user = "MIMIR_API_USER",
        mimir_api_key = "MIMIR_API_KEY",
        mimir_auth_token = "MIMIR_AUTH_TOKEN",
        #[serde(deserialize_with = "address")]
        grafana_url = "GRAFANA_URL",
        datasource_uid = "PROMETHEUS_DATASOURCE_UID",
        grafana_token = "GRAFANA_TOKEN",
    }
}

section! {
    /// An Alertmanager.
    Alertmanager {
        #[serde(deserialize_with = "address")]
        url = "ALERTMANAGER_URL",
        username = "ALERTMANAGER_USERNAME",
        password = "ALERTMANAGER_PASSWORD",
        token = "ALERTMANAGER_TOKEN",
        bearer_token = "ALERTMANAGER_BEARER_TOKEN",
        token_file = "ALERTMANAGER_TOKEN_FILE",
        org_id = "ALERTMANAGER_ORG_ID",
        ca_cert_path = "ALERTMANAGER_CA_CERT_PATH",
        client_cert_path = "ALERTMANAGER_CLIENT_CERT_PATH",
        client_key_path = "ALERTMANAGER_CLIENT_KEY_PATH",
        tls_skip_verify = "ALERTMANAGER_TLS_SKIP_VERIFY",
    }
}

section! {
    /// A Grafana, for its annotations.
    Grafana {
        #[serde(deserialize_with = "address")]
        url = "GRAFANA_URL",
        username = "GRAFANA_USERNAME",
        password = "GRAFANA_PASSWORD",
        token = "GRAFANA_TOKEN",
        token_file = "GRAFANA_TOKEN_FILE",
        org_id = "GRAFANA_ORG_ID",
        ca_cert_path = "GRAFANA_CA_CERT_PATH",
        client_cert_path = "GRAFANA_CLIENT_CERT_PATH",
        client_key_path = "GRAFANA_CLIENT_KEY_PATH",
        tls_skip_verify = "GRAFANA_TLS_SKIP_VERIFY",
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
