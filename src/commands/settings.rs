//! The configuration with what the command line adds to it.

use std::time::Duration;

use super::lakes;
use crate::cli::{LiveArgs, StoreArgs};
use crate::config::{Config, parse_duration};
use crate::error::Error;

/// The configuration file with the store that the options name; of a lake, its index.
///
/// # Errors
/// When the file cannot be used.
pub fn of_store(args: &StoreArgs) -> Result<Config, Error> {
    let mut config = Config::load(args.config.as_deref())?;
    if let Some(path) = &args.store {
        config.store.path = Some(path.clone());
    }
    lakes::resolve(&mut config)?;
    if let Some(url) = config
        .store
        .lake
        .as_ref()
        .filter(|_| !cfg!(feature = "lake"))
    {
        return Err(Error::misused(
            format!("[store] lake: {url} is a lake, and this build does not support lakes"),
            "build it with --features lake, or remove `lake` from the configuration",
        ));
    }
    if let Some(scheduler) = std::env::var("WHATHAPPENED_BALLISTA")
        .ok()
        .filter(|named| !named.is_empty())
    {
        config.store.ballista = Some(scheduler);
    }
    if config.store.ballista.is_some() && !cfg!(feature = "distributed") {
        return Err(Error::misused(
            "[store] ballista is configured, but this program was built without it",
            "build it with `cargo build --features distributed`, or remove it",
        ));
    }
    Ok(config)
}

/// The same with the clusters that the options name.
///
/// # Errors
/// When the file or a time cannot be used.
pub fn of_all(stored: &StoreArgs, live: &LiveArgs) -> Result<Config, Error> {
    let mut config = of_store(stored)?;
    if let Some(wanted) = live.logs {
        config.logs.wanted = wanted;
    }
    let clusters = &mut config.kubernetes;
    if live.no_fetch {
        clusters.enabled = false;
    }
    if !live.contexts.is_empty() {
        clusters.contexts.clone_from(&live.contexts);
    }
    if let Some(file) = &live.kubeconfig {
        clusters.kubeconfig = Some(file.clone());
    }
    clusters.namespaces.extend(live.namespaces.iter().cloned());
    if let Some(text) = &live.timeout {
        let nanos = parse_duration(text)
            .and_then(|nanos| u64::try_from(nanos).ok())
            .ok_or_else(|| {
                Error::misused(format!("--timeout {text} is not valid"), "write 30s or 2m")
            })?;
        clusters.timeout = Duration::from_nanos(nanos);
    }
    Ok(config)
}
