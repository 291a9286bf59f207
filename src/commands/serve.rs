//! `whathappened serve`

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use tokio::net::TcpListener;
use whathappened_connectors::cluster::connect;
use whathappened_model::connector::{Clock, Stop};
use whathappened_store::Store;

use super::{clock, common, settings};
use crate::case::Rules;
use crate::cli::{LiveArgs, StoreArgs};
use crate::config::{Config, LogDepth};
use crate::error::Error;
use crate::fetch::{self, FetchTargets};
use crate::serve::collect::{CollectOptions, CollectTargets, Collector};
use crate::serve::slack::Slack;
use crate::serve::syslog::{self, Sockets};
use crate::serve::webhooks::Hooks;
use crate::serve::{Callers, CollectorHandle, Pages, Service, Wires, listen};

/// Runs the service: collects continuously and answers over HTTP, until it is stopped
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    #[command(flatten)]
    pub stored: StoreArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Folder with your own rules: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// Log one JSON object per line.
    #[arg(long, env = "WHATHAPPENED_LOG_JSON")]
    pub log_json: bool,
}

/// Where it listens where nothing else is said.
const LISTEN: &str = "127.0.0.1:8080";

/// Serves.
///
/// # Errors
/// When the address, the store or the configuration cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    let mut config = settings::of_all(&args.stored, &args.live)?;
    for (is_served, error) in Config::unreadable(args.stored.config.as_deref()) {
        // Without its secrets a door would stay shut; a source that cannot be asked is told
        // under coverage.
        if is_served {
            return Err(error);
        }
        say(args.log_json, &error.to_string());
    }
    config.rules = args.rules.clone().or(config.rules);
    let rules = Arc::new(Rules::load(&common::own_rules(config.rules.as_deref())?)?);
    let path = config.store_path()?;
    // A lake that answers takes nothing in: its collectors do.
    let no_fetch = args.live.no_fetch || config.store.index_of.is_some();
    // A store that cannot be used is told before anybody is asked.
    drop(Store::open(&path, config.limits())?);
    let clock: Clock = Arc::new(clock::now);
    let hooks = Hooks::of(&config.serve)?;
    let lines = match &config.serve.syslog.listen {
        Some(address) => Some(Sockets::open(address).await?),
        None => None,
    };
    let wires = Wires::open(&config.serve).await?;
    let address = args.listen.clone().or_else(|| config.serve.listen.clone());
    let address = address.unwrap_or_else(|| LISTEN.to_owned());
    let listener = TcpListener::bind(&address)
        .await
        .map_err(|error| Error::cannot_listen("--listen", &address, &error))?;
    if config.store.index_of.is_some() && (!hooks.rows().is_empty() || lines.is_some()) {
        return Err(Error::misused(
            "this service answers from a lake, so it cannot store what is pushed to it",
            "push to a service with a store of its own and add that store to the lake with `whathappened store push`, or remove the webhooks and syslog from the configuration",
        ));
    }
    let mut what = if no_fetch {
        CollectTargets::default()
    } else {
        common::to_collect(&config, &clock).await?
    };
    what.pushed = hooks.rows();
    what.pushed.extend(lines.is_some().then(syslog::row));
    let asked = asked(no_fetch, &config, &what, &clock).await;
    let log_json = args.log_json;
    let how = CollectOptions {
        store: path.clone(),
        limits: config.limits(),
        rules: Arc::clone(&rules),
        seed: common::seed(&clock),
        clock: Clock::clone(&clock),
        lake: None,
        say: Arc::new(move |text| say(log_json, text)),
    };
    // Sources go on until the last request is answered: stopping is in this order.
    let (stop, over) = (Stop::new(), Stop::new());
    let stopper = stop.clone();
    let stopping = common::stop_requested();
    tokio::spawn(async move {
        stopping.await;
        say(log_json, "stopping: requests under way are answered first");
        stopper.cancel();
    });
    let callers = Callers::load(&config.serve)?.behind(listener.local_addr().ok());
    if callers.is_open() {
        say(
            log_json,
            "no callers are configured ([[serve.caller]]): anyone on this machine may use the pages and the API without a token",
        );
    } else if callers.is_empty() {
        say(
            log_json,
            "the pages and the API are closed: configure callers with [[serve.caller]], or listen on 127.0.0.1",
        );
    }
    if config.store.lake.is_some() && config.store.index_of.is_none() {
        say(
            log_json,
            "[store] lake is not written by `serve`, which keeps what it collects in its own store: run `whathappened collect` to write to the lake, and `serve --store URL` to answer from it",
        );
    }
    let collector = Collector::start(what, &how, &over)?;
    if collector.is_idle() && !no_fetch {
        say(
            log_json,
            "there is no cluster and no cloud to collect from, so only pushed or imported data is available; run `whathappened doctor` to see why",
        );
    }
    let mut service =
        Service::new(config, rules, path, asked, Clock::clone(&clock)).for_callers(callers);
    service.pages = Pages::new(Arc::new(secret), stop.clone());
    service.collecting = Some(CollectorHandle {
        intake: collector.intake(),
        collector_status: collector.collector_status(),
        hooks,
    });
    if let Some(lines) = lines {
        if let Some(address) = lines.address() {
            say(log_json, &format!("syslog on {address}"));
        }
        tokio::spawn(lines.run(collector.intake(), clock, stop.clone()));
    }
    let faces = async {
        let service = Arc::new(service);
        wires.run(&service, &stop, &|text| say(log_json, text));
        let env = |name: &str| std::env::var(name).ok();
        let slack = Slack::open(Arc::clone(&service), &env)?;
        let chatting = slack.as_ref().map(|slack| {
            say(log_json, slack.faces());
            tokio::spawn(Arc::clone(slack).run(stop.clone()))
        });
        say(
            log_json,
            &format!("listening on http://{}", local(&listener, &address)),
        );
        let served = listen::serve(service, slack, listener, stop.clone()).await;
        stop.cancel();
        if let Some(chatting) = chatting {
            // What was begun in Slack is told still.
            let _ended = chatting.await;
        }
        served
    };
    let served = faces.await;
    // Whatever ended it: what was read is kept.
    over.cancel();
    let stored = collector.finish().await;
    if served.is_ok() && stored.is_ok() {
        say(log_json, "stopped");
    }
    served.and(stored.map(|_| ()))
}

/// Who is asked when somebody asks: what is followed is in the store already.
async fn asked(
    no_fetch: bool,
    config: &Config,
    what: &CollectTargets,
    clock: &Clock,
) -> FetchTargets {
    let mut asked = FetchTargets {
        followed: true,
        pod_logs: config.logs.wanted != LogDepth::None,
        ..FetchTargets::default()
    };
    if no_fetch {
        return asked;
    }
    let env = |name: &str| std::env::var(name).ok();
    asked.sources = fetch::sources(config, &env, Clock::clone(clock)).await;
    if let Some(options) = &what.clusters {
        match connect(options).await {
            Ok(connected) => asked.clusters.clusters = connected.clusters,
            // The collector says so, and when it is there.
            Err(error) => tracing::debug!("{}", error.message),
        }
    }
    asked
}

/// What nobody can guess, from the system.
fn secret() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Tells whoever started it, in the log's own form.
fn say(log_json: bool, text: &str) {
    if log_json {
        tracing::info!("{text}");
    } else {
        note!("{text}");
    }
}

fn local(listener: &TcpListener, asked: &str) -> String {
    let address = listener.local_addr();
    address.map_or_else(|_| asked.to_owned(), |address| address.to_string())
}
