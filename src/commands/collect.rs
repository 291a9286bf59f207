//! `whathappened collect`

use std::sync::Arc;
use std::time::Duration;

use whathappened_model::connector::{Clock, Stop};

use super::{clock, common, lakes, settings};
use crate::case::Rules;
use crate::cli::{LiveArgs, StoreArgs};
use crate::error::Error;
use crate::serve::collect::{CollectOptions, Collector, FlushTarget, Totals};

/// Watches clusters, polls clouds and stores what they report, until it is stopped
///
/// Kubernetes keeps its Events for one hour only; later questions are answered from what was
/// collected. A collector that was stopped or killed continues where it left off.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(flatten)]
    pub stored: StoreArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Stop after this time, such as 30m; by default it runs until Ctrl-C or SIGTERM.
    #[arg(long = "for", value_name = "TIME")]
    pub lasts: Option<String>,
    /// Folder with your own rules: *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// Lake to flush what was collected into: `s3://bucket/folder`, gs://…, az://… or a folder. It is
    /// made where there is none.
    #[cfg(feature = "lake")]
    #[arg(long, value_name = "URL")]
    pub lake: Option<String>,
    /// How long something may wait in the store before it is flushed into the lake.
    #[cfg(feature = "lake")]
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub flush_every: String,
    /// Do not report progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How often the collector says what it has done.
const REPORT_INTERVAL: Duration = Duration::from_secs(30);

/// Collects.
///
/// # Errors
/// When there is nothing to collect from, or the store cannot be written.
pub async fn run(args: &Args) -> Result<(), Error> {
    let config = settings::of_all(&args.stored, &args.live)?;
    lakes::refuse(&config, "`collect`")?;
    let folder = args.rules.clone().or_else(|| config.rules.clone());
    let rules = Arc::new(Rules::load(&common::own_rules(folder.as_deref())?)?);
    let lasts = match &args.lasts {
        Some(text) => Some(duration(text)?),
        None => None,
    };
    let clock: Clock = Arc::new(clock::now);
    let what = common::to_collect(&config, &clock).await?;
    let quiet = args.quiet;
    let how = CollectOptions {
        store: config.store_path()?,
        limits: config.limits(),
        rules,
        seed: common::seed(&clock),
        clock,
        lake: lake(args, &config)?,
        say: Arc::new(move |text| {
            if !quiet {
                note!("{text}");
            }
        }),
    };
    let stop = Stop::new();
    let collector = Collector::start(what, &how, &stop)?;
    if collector.is_idle() {
        stop.cancel();
        collector.finish().await?;
        return Err(Error::misused(
            "there is no cluster and no cloud to collect from",
            "see why: whathappened doctor",
        ));
    }
    let collector_status = collector.collector_status();
    let stopper = stop.clone();
    let reporting = tokio::spawn(async move {
        let mut waiting = std::pin::pin!(wait(lasts));
        loop {
            tokio::select! {
                () = &mut waiting => break,
                () = tokio::time::sleep(REPORT_INTERVAL) => {
                    let Totals { reported, new } = collector_status.totals();
                    if !quiet {
                        note!("{reported} facts and versions received, {new} new");
                    }
                }
            }
        }
        stopper.cancel();
    });
    let Totals { reported, new } = collector.finish().await?;
    reporting.abort();
    if !quiet {
        note!("{reported} facts and versions received, {new} new; stopped");
    }
    Ok(())
}

/// Where what was collected is flushed, if anywhere.
#[cfg(feature = "lake")]
fn lake(args: &Args, config: &crate::config::Config) -> Result<Option<FlushTarget>, Error> {
    let Some(url) = args.lake.clone().or_else(|| config.store.lake.clone()) else {
        return Ok(None);
    };
    let every = crate::config::parse_duration(&args.flush_every)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .ok_or_else(|| {
            Error::misused(
                format!("--flush-every {} is not valid", args.flush_every),
                "write 30s or 5m",
            )
        })?;
    // A lake that cannot be written is told before anything is collected for it.
    let opened = lakes::open(config, &url, true)?;
    Ok(Some(FlushTarget {
        // As the index writes it, under which the store remembers what it has flushed.
        url: opened.url().to_owned(),
        index: opened.store().root().to_owned(),
        every: Duration::from_nanos(every),
    }))
}

#[cfg(not(feature = "lake"))]
fn lake(_args: &Args, config: &crate::config::Config) -> Result<Option<FlushTarget>, Error> {
    match &config.store.lake {
        None => Ok(None),
        Some(url) => Err(Error::misused(
            format!("{url} is a lake, and this build does not support lakes"),
            "build it with --features lake, or remove `lake` from the configuration",
        )),
    }
}

fn duration(text: &str) -> Result<Duration, Error> {
    crate::config::parse_duration(text)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| Error::misused(format!("--for {text} is not valid"), "write 30m or 2h"))
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
        () = common::stop_requested() => {}
    }
}
