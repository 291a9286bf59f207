//! Which Slurm clusters are asked.

use std::sync::Arc;

use whathappened_connectors::slurm::{Slurm, SlurmOptions};
use whathappened_http::HttpError;
use whathappened_model::connector::Connector;

use super::source_config::{SourceConfig, Variables, given};
use super::sources::Sources;
use crate::config::Config;

/// What Slurm would have shown.
const SHOWS: (&str, &str) = (
    "jobs",
    "how batch jobs ended, who cancelled them, and why nodes were down or drained",
);

/// Adds what is configured. A token alone is no wish to ask: `SLURM_JWT` also
/// lies about where people only submit jobs.
pub(super) fn add(all: &mut Sources, config: &Config, env: Variables<'_>) {
    let way: &[&[&str]] = &[&["SLURM_REST_URL", "SLURM_COMMANDS"]];
    for given in given("slurm", &config.slurm.sections(), env, way) {
        all.add(&given.name, open(&given), SHOWS);
    }
}

fn open(given: &SourceConfig<'_>) -> Result<Arc<dyn Connector>, HttpError> {
    let mut options = SlurmOptions::from_env(&|name| given.get(name))?;
    options.name.clone_from(&given.name);
    if let Some(http) = &mut options.http {
        given.headers(&mut http.headers);
    }
    Ok(Arc::new(Slurm::open(options)?))
}
