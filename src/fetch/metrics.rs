//! Which sources of measurements, alerts and annotations are asked.

use std::sync::Arc;

use whathappened_connectors::alertmanager::{Alertmanager, AlertmanagerOptions};
use whathappened_connectors::grafana::{Grafana, GrafanaOptions};
use whathappened_connectors::prometheus::{Prometheus, PrometheusOptions};
use whathappened_http::HttpError;
use whathappened_model::connector::Connector;

use super::source_config::{SourceConfig, Variables, given};
use super::sources::Sources;
use crate::config::Config;

/// Adds those that are configured.
pub(super) fn add(all: &mut Sources, config: &Config, env: Variables<'_>) {
    let address: &[&[&str]] = &[&[
        "PROMETHEUS_URL",
        "MIMIR_ADDRESS",
        "PROMETHEUS_DATASOURCE_UID",
    ]];
    for given in given("prometheus", &config.prometheus.sections(), env, address) {
        let shows = (
            "metrics",
            "GPU faults seen by DCGM, machine metrics, and memory usage against its limits",
        );
        all.add(&given.name, prometheus(&given), shows);
    }
    for given in given(
        "alertmanager",
        &config.alertmanager.sections(),
        env,
        &[&["ALERTMANAGER_URL"]],
    ) {
        let shows = ("alerts", "alerts and silences for these pods and machines");
        all.add(&given.name, alertmanager(&given), shows);
    }
    // An address alone may be there for the data sources behind it.
    let both: &[&[&str]] = &[
        &["GRAFANA_URL"],
        &[
            "GRAFANA_TOKEN",
            "GRAFANA_SERVICE_ACCOUNT_TOKEN",
            "GRAFANA_TOKEN_FILE",
            "GRAFANA_USERNAME",
        ],
    ];
    for given in given("grafana", &config.grafana.sections(), env, both) {
        let shows = (
            "annotations",
            "deployments, maintenance and notes recorded by people and tools",
        );
        all.add(&given.name, grafana(&given), shows);
    }
}

fn prometheus(given: &SourceConfig<'_>) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = PrometheusOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    given.headers(&mut options.reach.headers);
    Ok(Arc::new(Prometheus::new(&options)?))
}

fn alertmanager(given: &SourceConfig<'_>) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = AlertmanagerOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    given.headers(&mut options.reach.headers);
    Ok(Arc::new(Alertmanager::new(&options)?))
}

fn grafana(given: &SourceConfig<'_>) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = GrafanaOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    given.headers(&mut options.reach.headers);
    Ok(Arc::new(Grafana::new(&options)?))
}
