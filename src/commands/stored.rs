//! Opens a case from the store, after asking live sources.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use whathappened_connectors::cluster::{ClusterError, Connected, Reason, connect};
use whathappened_core::resolve::Name;
use whathappened_model::connector::Window;
use whathappened_model::time::Nanos;
use whathappened_store::{Store, StoreError};

use super::clock;
use super::common::OpenedCase;
use super::owners;
use super::queried;
use super::settings;
use crate::case::Rules;
use crate::cli::InputArgs;
use crate::config::{Config, LogDepth};
use crate::error::Error;
use crate::fetch::{self, FetchOutcome, FetchTargets, Question};

/// What is opened.
#[derive(Clone, Debug)]
pub(super) struct CaseScope {
    /// A name; nothing where only clusters are to be asked.
    pub(super) name: Option<Name>,
    /// The time that the person named, if any.
    pub(super) window: Window,
}

impl CaseScope {
    /// What clusters have, without any logs.
    pub(super) const CLUSTERS: Self = Self {
        name: None,
        window: Window {
            from: None,
            to: None,
        },
    };
}

/// Opens what bears a name; `*` is everything there is.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be used.
pub(super) async fn open(
    args: &InputArgs,
    about: &str,
    window: Window,
    rules: Arc<Rules>,
) -> Result<OpenedCase, Error> {
    let config = settings::of_all(&args.stored, &args.live)?;
    let name = Name::parse(about);
    let now = clock::now();
    let wanted = CaseScope {
        name: Some(name.clone()),
        window,
    };
    let (store, live) = refreshed(&config, args, &wanted, &rules, now).await?;
    let snapshot = store.snapshot()?;
    let coverage = match &live {
        Some(live) => live.coverage.clone(),
        None => store.coverage()?,
    };
    let case = fetch::case(&snapshot, &name, window, coverage, rules);
    let mut case = match case {
        Err(error @ Error::UnknownName { .. }) => {
            let runs = fetch::listed(&snapshot, (Nanos::MIN, Nanos::MAX))?;
            let owners = runs.iter().filter_map(|run| run.owner.as_deref());
            return Err(owners::hinted(error, owners));
        }
        case => case?,
    };
    drop(snapshot);
    // What answered just now speaks of this moment; what is stored, of its own last one.
    if live.is_some_and(|live| live.clusters > 0) {
        case.graph.now = Some(now);
    }
    Ok(OpenedCase {
        case,
        stored: Some(store),
    })
}

/// The store, filled with what live sources say where they may be asked.
///
/// # Errors
/// When there is neither a store nor a source that answers.
pub(super) async fn refreshed(
    config: &Config,
    args: &InputArgs,
    about: &CaseScope,
    rules: &Arc<Rules>,
    now: Nanos,
) -> Result<(Store, Option<FetchOutcome>), Error> {
    let path = config.store_path()?;
    // What a question fetches goes into a store of its own, which a lake is not.
    if args.live.no_fetch || config.store.index_of.is_some() {
        return Ok((Store::open_to_read(&path)?, None));
    }
    // One for everything that is asked: whoever waits does not count sources.
    let deadline = Instant::now() + config.kubernetes.timeout;
    let env = |name: &str| std::env::var(name).ok();
    let sources = fetch::sources(config, &env, Arc::new(clock::now)).await;
    let (clusters, unanswered) = clusters(config, sources.is_empty()).await?;
    // A typed option that cannot be followed is a mistake; stored data are no answer to it.
    if let Some(error) = &unanswered
        && is_mistyped(args, error)
    {
        let hint = format!("{}; or answer from the store with --no-fetch", error.hint);
        return Err(Error::misused(error.message.clone(), hint));
    }
    if sources.is_empty() && clusters.is_none() {
        return from_store(&path, unanswered.as_ref(), args, now);
    }
    let mut store = match Store::open(&path, config.limits()) {
        Ok(store) => store,
        // What is there is answered from; whoever may not write it cannot add to it.
        Err(error) if error.is_read_only() => {
            let store = Store::open_to_read(&path)?;
            if !args.quiet {
                note!(
                    "The store {} cannot be written to: this answers from what it holds, and no live source was queried.",
                    path.display()
                );
            }
            return Ok((store, None));
        }
        Err(error) => return Err(error.into()),
    };
    let asked = FetchTargets {
        clusters: clusters.unwrap_or_default(),
        sources,
        pod_logs: config.logs.wanted != LogDepth::None,
        followed: false,
    };
    let question = Question {
        name: about.name.clone(),
        window: about.window,
        now,
        deadline,
    };
    let mut live = fetch::fetch(&mut store, &asked, &question, rules).await?;
    live.coverage.extend(
        unanswered
            .iter()
            .map(|error| error.coverage("kubernetes", now)),
    );
    // Each question leaves small segments behind.
    let most = store.limits().segments_a_day;
    store.compact(most, now, &mut |_, _| {})?;
    if !args.quiet {
        note!("{}", queried::reported(&asked, &live));
    }
    Ok((store, Some(live)))
}

/// Whether an option names a kubeconfig or a context that does not exist.
fn is_mistyped(args: &InputArgs, error: &ClusterError) -> bool {
    let live = &args.live;
    match error.reason {
        Reason::NoKubeconfig => live.kubeconfig.is_some() || !live.contexts.is_empty(),
        Reason::NoSuchContext => !live.contexts.is_empty(),
        _ => false,
    }
}

/// Whether a kubeconfig is named somewhere, so that a missing one is not the usual case.
fn names_kubeconfig(args: &InputArgs) -> bool {
    let named = std::env::var_os("KUBECONFIG").is_some_and(|list| !list.is_empty());
    named || args.live.kubeconfig.is_some() || !args.live.contexts.is_empty()
}

/// The clusters that answer, or why none does.
async fn clusters(
    config: &Config,
    alone: bool,
) -> Result<(Option<Connected>, Option<ClusterError>), Error> {
    if !config.kubernetes.enabled {
        return Ok((None, None));
    }
    match connect(&fetch::options(&config.kubernetes)).await {
        Ok(connected) => Ok((Some(connected), None)),
        // Who has no cluster but a log store does not miss one.
        Err(error) if error.reason == Reason::NoKubeconfig && !alone => Ok((None, None)),
        Err(error) => Ok((None, Some(error))),
    }
}

/// Nobody to ask: what is stored has to do.
fn from_store(
    path: &Path,
    error: Option<&ClusterError>,
    args: &InputArgs,
    now: Nanos,
) -> Result<(Store, Option<FetchOutcome>), Error> {
    let store = match (Store::open_to_read(path), error) {
        (Ok(store), _) => store,
        (Err(StoreError::Missing { .. }), Some(error)) => {
            return Err(Error::misused(
                format!(
                    "there is no data: there is no store at {}, and {}",
                    path.display(),
                    error.message
                ),
                format!(
                    "{}; or name files to read with --from, or fill the store with `whathappened import`",
                    error.hint
                ),
            ));
        }
        (Err(error), _) => return Err(error.into()),
    };
    let is_missed =
        |error: &&ClusterError| error.reason != Reason::NoKubeconfig || names_kubeconfig(args);
    let Some(error) = error.filter(is_missed) else {
        return Ok((store, None));
    };
    if !args.quiet {
        note!(
            "No cluster {} ({}); answering from the store.",
            match error.reason {
                Reason::NoKubeconfig => "was queried",
                _ => "responded",
            },
            error.message
        );
    }
    let mut coverage = store.coverage()?;
    coverage.push(error.coverage("kubernetes", now));
    let live = FetchOutcome {
        coverage,
        ..FetchOutcome::default()
    };
    Ok((store, Some(live)))
}
