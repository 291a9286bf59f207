//! Where measurements, alerts and annotations are kept.

use super::parse::address;
use super::section::section;

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
