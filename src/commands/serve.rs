//! `whathappened serve`

use std::sync::Arc;

use tokio::net::TcpListener;
use whathappened_connectors::cluster::connect;
use whathappened_connectors::connector::{Clock, Stop};
use whathappened_store::Store;

use super::{clock, common, settings};
use crate::case::Rules;
use crate::cli::{KeptArgs, LiveArgs};
use crate::config::Wanted;
use crate::error::Error;
use crate::gather::{self, Asked};
use crate::serve::slack::Slack;
use crate::serve::{Callers, Service, listen};

/// Keeps collecting and answers over HTTP, until it is stopped
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    #[command(flatten)]
    pub kept: KeptArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Folder with rules of your own: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
}

/// Where it listens where nothing else is said.
const LISTEN: &str = "127.0.0.1:8080";

/// Serves.
///
/// # Errors
/// When the address or the store cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    let mut config = settings::of_all(&args.kept, &args.live)?;
    config.rules = args.rules.clone().or(config.rules);
    let rules = Arc::new(Rules::load(&common::own_rules(config.rules.as_deref())?)?);
    let path = config.store_path()?;
    drop(Store::open(&path, config.limits())?);
    let clock: Clock = Arc::new(clock::now);
    let env = |name: &str| std::env::var(name).ok();
    let mut asked = Asked::default();
    if !args.live.no_fetch {
        asked.sources = gather::sources(&config, &env, Clock::clone(&clock)).await;
        asked.pod_logs = config.logs.wanted != Wanted::None;
    }
    if config.kubernetes.enabled {
        match connect(&gather::options(&config.kubernetes)).await {
            Ok(connected) => asked.clusters = connected,
            Err(error) => eprintln!("no cluster: {}; {}", error.message, error.hint),
        }
    }
    let address = args.listen.clone().or_else(|| config.serve.listen.clone());
    let address = address.unwrap_or_else(|| LISTEN.to_owned());
    let listener = TcpListener::bind(&address)
        .await
        .map_err(|error| Error::Io {
            path: format!("--listen {address}"),
            error,
        })?;
    let stop = Stop::new();
    let stopper = stop.clone();
    tokio::spawn(async move {
        common::told_to_stop().await;
        stopper.cancel();
    });
    let callers = Callers::load(&config.serve)?.behind(listener.local_addr().ok());
    if callers.is_open() {
        eprintln!(
            "nobody is configured to ask ([[serve.caller]]): whoever is on this machine may, without a token"
        );
    } else if callers.is_empty() {
        eprintln!(
            "the API is closed: configure who may ask with [[serve.caller]], or listen on 127.0.0.1"
        );
    }
    let service = Service::new(config, rules, path, asked, clock).for_callers(callers);
    let service = Arc::new(service);
    let slack = Slack::open(Arc::clone(&service), &env)?;
    if let Some(slack) = &slack {
        eprintln!("{}", slack.faces());
        tokio::spawn(Arc::clone(slack).run(stop.clone()));
    }
    eprintln!("listening on http://{}", local(&listener, &address));
    listen::serve(service, slack, listener, stop).await
}

fn local(listener: &TcpListener, asked: &str) -> String {
    let address = listener.local_addr();
    address.map_or_else(|_| asked.to_owned(), |address| address.to_string())
}
