//! Which sources are asked beside clusters: what the environment and the
//! configuration name.

use std::sync::Arc;

use whathappened_http::HttpError;
use whathappened_model::connector::{Clock, Connector};
use whathappened_model::coverage::{Coverage, Status};

use super::source_config::Variables;
use super::{clouds, log_stores, metrics, slurm};
use crate::config::Config;

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

    /// Adds a source, or the row of one that cannot be used; `shows` are the
    /// resource and what it would have shown.
    pub(super) fn add(
        &mut self,
        name: &str,
        opened: Result<Arc<dyn Connector>, HttpError>,
        (resource, shows): (&str, &str),
    ) {
        match opened {
            Ok(source) => self.usable.push(source),
            Err(error) => self.failed.push(Coverage {
                status: match error.status() {
                    Status::Denied => Status::Denied,
                    _ => Status::Failed,
                },
                detail: Some(format!("{error}; {}", error.hint())),
                would_have_shown: Some(shows.to_owned()),
                ..Coverage::new(name, resource)
            }),
        }
    }
}

/// Everything that is configured, ready to be asked.
pub async fn sources(config: &Config, env: Variables<'_>, clock: Clock) -> Sources {
    let mut all = Sources::default();
    log_stores::add(&mut all, config, env, Clock::clone(&clock)).await;
    metrics::add(&mut all, config, env);
    clouds::add(&mut all, config, env, clock).await;
    slurm::add(&mut all, config, env);
    all
}
