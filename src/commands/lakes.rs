//! A lake that is named as the store: its index on this machine answers.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::error::Error;

/// Bytes of a lake that are kept on this machine at most, where nothing is said.
#[cfg(feature = "lake")]
const CACHE: u64 = 2 << 30;

/// Whether a store is named that is no folder of one's own. What names no lake is left to
/// whoever opens it.
fn names_lake(path: &Path) -> bool {
    let named = path.to_string_lossy();
    named.contains("://") || path.join("events").join("_delta_log").is_dir()
}

/// Where a lake is named as the store, brings its index up to date and names that instead.
///
/// # Errors
/// When the lake cannot be read, or this program was built without lakes.
pub(super) fn resolve(config: &mut Config) -> Result<(), Error> {
    let Some(path) = config.store.path.clone().filter(|path| names_lake(path)) else {
        return Ok(());
    };
    let url = path.to_string_lossy().into_owned();
    config.store.path = Some(index(config, &url)?);
    config.store.index_of = Some(url);
    config.kubernetes.enabled = false;
    Ok(())
}

/// Refuses a lake where something of one's own is to be written.
///
/// # Errors
/// When the store that is named is a lake.
pub(super) fn refuse(config: &Config, verb: &str) -> Result<(), Error> {
    match &config.store.index_of {
        None => Ok(()),
        Some(url) => Err(Error::misused(
            format!("{url} is a lake, and {verb} works on a local store only"),
            "name a folder with --store. To write into a lake, use `whathappened store push` or `whathappened collect --lake`",
        )),
    }
}

/// The folder of the index of a lake: one for each place.
#[cfg(feature = "lake")]
pub(super) fn folder(url: &str) -> Result<PathBuf, Error> {
    use sha2::{Digest as _, Sha256};
    let caches = Config::cache_path().ok_or_else(|| {
        Error::misused(
            "the cache folder could not be determined",
            "set XDG_CACHE_HOME",
        )
    })?;
    let named = match url.contains("://") {
        true => url.trim_end_matches('/').to_owned(),
        false => std::path::absolute(url)
            .map_err(|error| Error::Io {
                path: url.to_owned(),
                error,
            })?
            .display()
            .to_string(),
    };
    let name: String = Sha256::digest(named.as_bytes())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(caches.join("lakes").join(name))
}

/// The index of a lake, brought up to date.
#[cfg(feature = "lake")]
pub(super) fn open(
    config: &Config,
    url: &str,
    create: bool,
) -> Result<whathappened_store::lake::Index, Error> {
    let bytes = config.store.cache_size.unwrap_or(CACHE);
    Ok(whathappened_store::lake::open(
        url,
        &folder(url)?,
        bytes,
        create,
    )?)
}

#[cfg(feature = "lake")]
fn index(config: &Config, url: &str) -> Result<PathBuf, Error> {
    Ok(open(config, url, false)?.store().root().to_owned())
}

#[cfg(not(feature = "lake"))]
fn index(_config: &Config, url: &str) -> Result<PathBuf, Error> {
    Err(Error::misused(
        format!("{url} is a lake, and this build does not support lakes"),
        "build it with --features lake",
    ))
}

/// What was read of lakes, in a sentence; nothing where none was.
#[cfg(feature = "lake")]
#[must_use]
pub fn traffic() -> Option<String> {
    let traffic = whathappened_store::lake::traffic();
    if traffic.requests == 0 && traffic.spared == 0 {
        return None;
    }
    let size = |bytes: u64| match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    };
    let s = if traffic.requests == 1 { "" } else { "s" };
    Some(format!(
        "Read {} of the lake's data files in {} request{s}, and {} from the cache.",
        size(traffic.fetched),
        traffic.requests,
        size(traffic.spared)
    ))
}

/// What was read of lakes: nothing in a build without them.
#[cfg(not(feature = "lake"))]
#[must_use]
pub fn traffic() -> Option<String> {
    None
}
