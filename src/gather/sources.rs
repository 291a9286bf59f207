//! Which log stores are asked: what the environment and the configuration name.

use std::sync::Arc;

use whathappened_connectors::cloudwatch::{CloudWatch, CloudWatchOptions};
use whathappened_connectors::connector::{Clock, Connector};
use whathappened_connectors::coverage::{Coverage, Mode, Status};
use whathappened_connectors::datadog::{Datadog, DatadogOptions, Tier};
use whathappened_connectors::elasticsearch::{Elasticsearch, ElasticsearchOptions};
use whathappened_connectors::http::Trouble;
use whathappened_connectors::log_store::{Depth, LogSource, LogStore};
use whathappened_connectors::loki::{Loki, LokiOptions};

use super::given::{Given, Variables, given};
use crate::config::{Config, Logs, Wanted};

/// Sources other than clusters.
#[derive(Debug, Default)]
pub struct Sources {
    /// Those that can be asked.
    pub usable: Vec<Arc<dyn Connector>>,
    /// A row for each one that is configured and cannot.
    pub failed: Vec<Coverage>,
}

impl Sources {
    /// Whether nothing is configured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.usable.is_empty() && self.failed.is_empty()
    }

    fn add(&mut self, name: &str, opened: Result<Arc<dyn LogStore>, Trouble>, depth: &Depth) {
        match opened {
            Ok(store) => self
                .usable
                .push(Arc::new(LogSource::new(store, depth.clone()))),
            Err(trouble) => self.failed.push(Coverage {
                source: name.to_owned(),
                resource: "logs".to_owned(),
                cluster: None,
                namespace: None,
                mode: Mode::Interval,
                asked_from: None,
                asked_to: None,
                got_from: None,
                got_to: None,
                retention_s: None,
                status: match trouble.status() {
                    Status::Denied => Status::Denied,
                    _ => Status::Failed,
                },
                rows: 0,
                detail: Some(format!("{trouble}; {}", trouble.hint())),
                would_have_shown: Some(
                    "what the processes themselves said before they ended".to_owned(),
                ),
            }),
        }
    }
}

/// Everything that is configured, ready to be asked.
pub async fn sources(config: &Config, env: Variables<'_>, clock: Clock) -> Sources {
    let mut all = Sources::default();
    let Some(depth) = depth(&config.logs) else {
        return all;
    };
    let address: &[&[&str]] = &[&["LOKI_ADDR", "GRAFANA_DATASOURCE_UID"]];
    for given in given("loki", &config.loki, env, address) {
        all.add(&given.name, loki(&given), &depth);
    }
    let keys: &[&[&str]] = &[&["DD_API_KEY"], &["DD_APP_KEY", "DD_APPLICATION_KEY"]];
    for given in given("datadog", &config.datadog, env, keys) {
        all.add(&given.name, datadog(&given), &depth);
    }
    let address: &[&[&str]] = &[&["ES_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL"]];
    for given in given("elasticsearch", &config.elasticsearch, env, address) {
        let opened = Box::pin(elasticsearch(&given, Clock::clone(&clock))).await;
        all.add(&given.name, opened, &depth);
    }
    // Credentials of AWS alone are no wish to pay for its logs.
    let groups: &[&[&str]] = &[&["CLOUDWATCH_LOG_GROUPS"]];
    for given in given("cloudwatch", &config.cloudwatch, env, groups) {
        let opened = Box::pin(cloudwatch(&given, Clock::clone(&clock))).await;
        all.add(&given.name, opened, &depth);
    }
    all
}

/// How much is read; `None` for nothing.
fn depth(logs: &Logs) -> Option<Depth> {
    let depth = match logs.wanted {
        Wanted::None => return None,
        Wanted::Usual => Depth::default(),
        Wanted::All => Depth::all(),
    };
    Some(Depth {
        requests: logs.requests.unwrap_or(depth.requests),
        most_lines: logs.most_lines.unwrap_or(depth.most_lines),
        ..depth
    })
}

fn loki(given: &Given<'_>) -> Result<Arc<dyn LogStore>, Trouble> {
    let mut options = LokiOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    given.headers(&mut options.headers);
    Ok(Arc::new(Loki::new(options)?))
}

fn datadog(given: &Given<'_>) -> Result<Arc<dyn LogStore>, Trouble> {
    let mut options = DatadogOptions::from_env(&|name| given.get(name))?;
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    options.indexes = given.list("DD_LOGS_INDEXES");
    let tiers = given.list("DD_LOGS_TIERS");
    if !tiers.is_empty() {
        let known = tiers.iter().map(|tier| {
            Tier::parse(tier).ok_or_else(|| {
                let all: Vec<&str> = Tier::ALL.iter().map(|tier| tier.as_str()).collect();
                Trouble::BadRequest(format!("{tier:?} is no tier; there are {}", all.join(", ")))
            })
        });
        options.tiers = Some(known.collect::<Result<_, _>>()?);
    }
    given.reach(&mut options.http);
    Ok(Arc::new(Datadog::new(options)?))
}

async fn elasticsearch(given: &Given<'_>, clock: Clock) -> Result<Arc<dyn LogStore>, Trouble> {
    let mut options = ElasticsearchOptions::from_env(&|name| given.get(name)).ok_or_else(|| {
        Trouble::BadRequest("an Elasticsearch is configured without its url".to_owned())
    })?;
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    given.reach(&mut options.http);
    Ok(Arc::new(Elasticsearch::open(options, clock).await?))
}

async fn cloudwatch(given: &Given<'_>, clock: Clock) -> Result<Arc<dyn LogStore>, Trouble> {
    let mut options = CloudWatchOptions::from_env(&|name| given.get(name));
    options.name.clone_from(&given.name);
    options.names = given.labels()?;
    Ok(Arc::new(CloudWatch::open(options, clock).await?))
}
