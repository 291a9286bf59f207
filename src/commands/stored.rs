//! Opens a case from the store, after asking the clusters.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use whathappened_connectors::cluster::{ClusterError, Reason, connect};
use whathappened_connectors::time::Nanos;
use whathappened_core::resolve::Name;
use whathappened_store::{Store, StoreError};

use super::clock;
use super::common::Opened;
use super::settings;
use crate::case::Rules;
use crate::cli::InputArgs;
use crate::config::Config;
use crate::error::Error;
use crate::gather::{self, Live};

/// Opens what bears a name; `*` is everything there is.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be used.
pub(super) async fn open(
    args: &InputArgs,
    about: &str,
    rules: Arc<Rules>,
) -> Result<Opened, Error> {
    let config = settings::of_all(&args.kept, &args.live)?;
    let name = Name::parse(about);
    let now = clock::now();
    let (store, live) = refreshed(&config, args, Some(&name), &rules, now).await?;
    let snapshot = store.snapshot()?;
    let coverage = match &live {
        Some(live) => live.coverage.clone(),
        None => store.coverage()?,
    };
    // A machine's story is that of everything on it, whatever that was.
    let of_machine = name.is_machine() && !name.is_kind("Instance");
    let mut case = if name.is_everything() || of_machine {
        gather::all_of_window(&snapshot, None, coverage, rules)?
    } else {
        match gather::case_of(&snapshot, &name, coverage.clone(), Arc::clone(&rules))? {
            Some(case) => case,
            None if snapshot.knows_machine(&name.name)? => {
                gather::all_of_window(&snapshot, None, coverage, rules)?
            }
            None => {
                return Err(Error::UnknownName {
                    name: about.to_owned(),
                    nearest: snapshot.nearest(&name.name)?,
                });
            }
        }
    };
    drop(snapshot);
    // What answered just now speaks of this moment; what is stored, of its own last one.
    if live.is_some_and(|live| live.clusters > 0) {
        case.world.now = Some(now);
    }
    Ok(Opened {
        case,
        kept: Some(store),
    })
}

/// The store, filled with what the clusters say where they may be asked.
///
/// # Errors
/// When there is neither a store nor a cluster that answers.
pub(super) async fn refreshed(
    config: &Config,
    args: &InputArgs,
    name: Option<&Name>,
    rules: &Rules,
    now: Nanos,
) -> Result<(Store, Option<Live>), Error> {
    let path = config.store_path()?;
    if !config.kubernetes.enabled {
        return Ok((Store::open_to_read(&path)?, None));
    }
    let connected = match connect(&gather::options(&config.kubernetes)).await {
        Ok(connected) => connected,
        Err(error) => return unanswered(&path, &error, args.quiet, now),
    };
    let mut store = Store::open(&path, config.limits())?;
    let deadline = Instant::now() + config.kubernetes.timeout;
    let live = gather::fetch(&mut store, connected, name, &rules.signals, (now, deadline)).await?;
    // Each question leaves small segments behind.
    let most = store.limits().segments_a_day;
    store.compact(most, now, &mut |_, _| {})?;
    if !args.quiet {
        let s = if live.clusters == 1 { "" } else { "s" };
        eprintln!(
            "Asked {} cluster{s}: {} facts and versions are new.",
            live.clusters, live.new
        );
    }
    Ok((store, Some(live)))
}

/// No cluster: what is stored has to do.
fn unanswered(
    path: &Path,
    error: &ClusterError,
    quiet: bool,
    now: Nanos,
) -> Result<(Store, Option<Live>), Error> {
    let store = match Store::open_to_read(path) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => {
            return Err(Error::Usage(format!(
                "nothing to look at: there is no store at {}, and {}; {}. Or name what to read with --from, or fill the store with `whathappened import`",
                path.display(),
                error.message,
                error.hint
            )));
        }
        Err(error) => return Err(error.into()),
    };
    if error.reason == Reason::NoKubeconfig {
        return Ok((store, None));
    }
    if !quiet {
        eprintln!("No cluster answered ({}); from the store.", error.message);
    }
    let mut coverage = store.coverage()?;
    coverage.push(error.coverage("kubernetes", now));
    let live = Live {
        coverage,
        ..Live::default()
    };
    Ok((store, Some(live)))
}
