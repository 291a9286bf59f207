//! Which log stores are asked.

use std::sync::Arc;

use whathappened_connectors::cloudwatch::{CloudWatch, CloudWatchOptions};
use whathappened_connectors::datadog::{Datadog, DatadogOptions, Tier};
use whathappened_connectors::elasticsearch::{Elasticsearch, ElasticsearchOptions};
use whathappened_connectors::log_store::{Depth, LogSource, LogStore};
use whathappened_connectors::loki::{Loki, LokiOptions};
use whathappened_http::HttpError;
use whathappened_model::connector::{Clock, Connector};

use super::source_config::{SourceConfig, Variables, given};
use super::sources::Sources;
use crate::config::{Config, LogDepth, Logs};

/// What a log store would have shown.
const SHOWS: (&str, &str) = ("logs", "what the processes logged before they ended");

/// Adds the log stores that are configured.
pub(super) async fn add(all: &mut Sources, config: &Config, env: Variables<'_>, clock: Clock) {
    let Some(depth) = depth(&config.logs) else {
        return;
    };
    let source = |opened: Result<Arc<dyn LogStore>, HttpError>| {
        opened.map(|store| Arc::new(LogSource::new(store, depth.clone())) as Arc<dyn Connector>)
    };
    let address: &[&[&str]] = &[&["LOKI_ADDR", "GRAFANA_DATASOURCE_UID"]];
    for given in given("loki", &config.loki, env, address) {
        all.add(&given.name, source(loki(&given)), SHOWS);
    }
    let keys: &[&[&str]] = &[&["DD_API_KEY"], &["DD_APP_KEY", "DD_APPLICATION_KEY"]];
    for given in given("datadog", &config.datadog, env, keys) {
        all.add(&given.name, source(datadog(&given)), SHOWS);
    }
    let address: &[&[&str]] = &[&["ES_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL"]];
    for given in given("elasticsearch", &config.elasticsearch, env, address) {
        let opened = Box::pin(elasticsearch(&given, Clock::clone(&clock))).await;
        all.add(&given.name, source(opened), SHOWS);
    }
    // Credentials of AWS alone are no wish to pay for its logs.
    let groups: &[&[&str]] = &[&["CLOUDWATCH_LOG_GROUPS"]];
    for given in given("cloudwatch", &config.cloudwatch, env, groups) {
        let opened = Box::pin(cloudwatch(&given, Clock::clone(&clock))).await;
        all.add(&given.name, source(opened), SHOWS);
    }
}

/// How much is read; `None` for nothing.
fn depth(logs: &Logs) -> Option<Depth> {
    let depth = match logs.wanted {
        LogDepth::None => return None,
        LogDepth::Usual => Depth::default(),
        LogDepth::All => Depth::all(),
    };
    Some(Depth {
        requests: logs.requests.unwrap_or(depth.requests),
        most_lines: logs.most_lines.unwrap_or(depth.most_lines),
        ..depth
    })
}

fn loki(given: &SourceConfig<'_>) -> Result<Arc<dyn LogStore>, HttpError> {
    let mut options = LokiOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    given.headers(&mut options.headers);
    Ok(Arc::new(Loki::new(options)?))
}

fn datadog(given: &SourceConfig<'_>) -> Result<Arc<dyn LogStore>, HttpError> {
    let mut options = DatadogOptions::from_env(&|name| given.get(name))?;
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    options.indexes = given.list("DD_LOGS_INDEXES");
    let tiers = given.list("DD_LOGS_TIERS");
    if !tiers.is_empty() {
        let known = tiers.iter().map(|tier| {
            Tier::parse(tier).ok_or_else(|| {
                let all: Vec<&str> = Tier::ALL.iter().map(|tier| tier.as_str()).collect();
                HttpError::BadRequest(format!(
                    "{tier:?} is not a valid tier; valid tiers are {}",
                    all.join(", ")
                ))
            })
        });
        options.tiers = Some(known.collect::<Result<_, _>>()?);
    }
    given.headers(&mut options.http.headers);
    Ok(Arc::new(Datadog::new(options)?))
}

async fn elasticsearch(
    given: &SourceConfig<'_>,
    clock: Clock,
) -> Result<Arc<dyn LogStore>, HttpError> {
    let mut options = ElasticsearchOptions::from_env(&|name| given.get(name)).ok_or_else(|| {
        HttpError::BadRequest("Elasticsearch is configured without a url".to_owned())
    })?;
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    given.headers(&mut options.http.headers);
    Ok(Arc::new(Elasticsearch::open(options, clock).await?))
}

async fn cloudwatch(
    given: &SourceConfig<'_>,
    clock: Clock,
) -> Result<Arc<dyn LogStore>, HttpError> {
    let mut options = CloudWatchOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    Ok(Arc::new(CloudWatch::open(options, clock).await?))
}
