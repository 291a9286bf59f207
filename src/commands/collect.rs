//! `whathappened collect`

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use whathappened_connectors::cluster::{Connected, connect};
use whathappened_connectors::connector::{Batch, Clock, Stop};
use whathappened_connectors::coverage::Coverage;
use whathappened_connectors::observation::Observation;
use whathappened_core::signals::Ruleset;
use whathappened_store::Store;

use super::{clock, common, settings};
use crate::case::Rules;
use crate::cli::{KeptArgs, LiveArgs};
use crate::error::Error;
use crate::gather;

/// Follows clusters and keeps what they say, until it is stopped
///
/// Kubernetes forgets its Events after an hour; what is collected is answered
/// from later. A collector that is stopped, or killed, goes on where it was.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(flatten)]
    pub kept: KeptArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Stop after this time, such as 30m; at Ctrl-C or SIGTERM by default.
    #[arg(long = "for", value_name = "TIME")]
    pub lasts: Option<String>,
    /// Folder with rules of your own: *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// Say nothing about progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How often the collector says what it has done.
const TELL: Duration = Duration::from_secs(30);
/// How often old things go and small segments become large ones.
const TIDY: Duration = Duration::from_secs(1_800);
/// Batches that wait for the store before sources wait, too.
const QUEUE: usize = 64;

/// Collects.
///
/// # Errors
/// When no cluster can be followed, or the store cannot be written.
pub async fn run(args: &Args) -> Result<(), Error> {
    let config = settings::of_all(&args.kept, &args.live)?;
    let folder = args.rules.clone().or_else(|| config.rules.clone());
    let rules = Rules::load(&common::own_rules(folder.as_deref())?)?;
    let lasts = match &args.lasts {
        Some(text) => Some(duration(text)?),
        None => None,
    };
    let Connected { clusters, failed } = connect(&gather::options(&config.kubernetes))
        .await
        .map_err(|error| Error::Usage(format!("{}; {}", error.message, error.hint)))?;
    for error in &failed {
        eprintln!("not followed: {}; {}", error.message, error.hint);
    }
    if clusters.is_empty() {
        return Err(Error::Usage(
            "no cluster answers, so there is nothing to follow".to_owned(),
        ));
    }
    let store = Store::open(&config.store_path()?, config.limits())?;
    let (stop, clock): (Stop, Clock) = (Stop::new(), Arc::new(clock::now));
    let (to, from) = mpsc::channel(QUEUE);
    let mut sources = JoinSet::new();
    for cluster in clusters {
        let cursors = store.cursors(cluster.id())?;
        if !args.quiet {
            let again = if cursors.is_empty() {
                ""
            } else {
                ", going on where it was"
            };
            eprintln!(
                "following {} ({}){again}",
                cluster.alias(),
                cluster.server()
            );
        }
        let (clock, stop, to) = (Arc::clone(&clock), stop.clone(), to.clone());
        sources.spawn(async move { cluster.watch(cursors, clock, stop, to).await });
    }
    drop(to);
    let stopper = stop.clone();
    tokio::spawn(async move {
        wait(lasts).await;
        stopper.cancel();
    });
    let quiet = args.quiet;
    // The store waits for the disk, so it has a thread of its own.
    let kept = tokio::task::spawn_blocking(move || keep(store, from, &rules.signals, quiet)).await;
    stop.cancel();
    sources.shutdown().await;
    match kept {
        Ok(kept) => kept,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn duration(text: &str) -> Result<Duration, Error> {
    crate::config::parse_duration(text)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| Error::Usage(format!("--for {text}: write 30m or 2h")))
}

/// Until it is time, or somebody says stop.
async fn wait(lasts: Option<Duration>) {
    let timer = async {
        match lasts {
            Some(lasts) => tokio::time::sleep(lasts).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = timer => {}
        () = common::told_to_stop() => {}
    }
}

/// Writes batches until the sources are done. A batch and its cursor are kept
/// together, so whoever comes next goes on behind what is kept.
fn keep(
    mut store: Store,
    mut from: mpsc::Receiver<Batch>,
    signals: &Ruleset,
    quiet: bool,
) -> Result<(), Error> {
    let (mut told, mut new, mut number) = (0_u64, 0_u64, 0_u64);
    let (mut said, mut tidied) = (std::time::Instant::now(), std::time::Instant::now());
    let began = clock::now();
    while let Some(batch) = from.blocking_recv() {
        // What waits is written together: one transaction costs one wait for the disk.
        let mut batches = vec![batch];
        while batches.len() < QUEUE
            && let Ok(more) = from.try_recv()
        {
            batches.push(more);
        }
        let (mut observations, mut cursors, mut coverage) = (Vec::new(), Vec::new(), Vec::new());
        for batch in batches {
            observations.extend(batch.observations);
            cursors.extend(batch.cursor);
            coverage.extend(batch.coverage);
        }
        for observation in &mut observations {
            if let Observation::Event(event) = observation {
                signals.classify(event);
            }
        }
        told += observations.len() as u64;
        new += store.write(observations, &cursors)?;
        if !coverage.is_empty() {
            let rows: Vec<(String, Coverage)> = coverage
                .into_iter()
                .map(|row| {
                    number += 1;
                    (format!("watch {began} {number:08}"), row)
                })
                .collect();
            store.keep_coverage(&rows, clock::now())?;
        }
        store.settle(clock::now())?;
        if !quiet && said.elapsed() >= TELL {
            said = std::time::Instant::now();
            eprintln!("{told} facts and versions told, {new} new");
        }
        if tidied.elapsed() >= TIDY {
            tidied = std::time::Instant::now();
            let now = clock::now();
            store.retain(now)?;
            let most = store.limits().segments_a_day;
            store.compact(most, now, &mut |_, _| {})?;
        }
    }
    if !quiet {
        eprintln!("{told} facts and versions told, {new} new; stopped");
    }
    Ok(())
}
