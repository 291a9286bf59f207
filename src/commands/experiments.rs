//! `whathappened experiments`

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use whathappened_core::death::RunState;
use whathappened_core::resolve::rank_names;
use whathappened_model::time::{Nanos, Stamp, rfc3339};
use whathappened_store::Store;

use super::question::{moment, moment_of_store};
use super::{arguments, clock, common, pager, piped, settings, stored};
use crate::answer::{Level, ListedRun, no_state};
use crate::case::Rules;
use crate::cli::{InputArgs, OutputArgs};
use crate::config::Config;
use crate::error::Error;
use crate::render::{self, Format, RenderError, Tz};
use crate::{fetch, report};

/// Lists runs, newest first, with state, cause, time, owner and number of pods
///
/// Use --namespace to list only the runs of some namespaces.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only runs of this owner: the full name or the part before the @.
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// Only runs in this state: completed, failed, running, pending, deleting, deleted or
    /// unknown.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only runs that were active at or after this time: RFC 3339, a date, today, yesterday, or 2h,
    /// 1d12h before the latest record.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}

/// Owners or namespaces that are named where nothing matches.
const NAMED: usize = 5;
/// Runs of a store that are explained on the way.
pub(super) const MOST: usize = 50;

/// Lists the runs.
///
/// # Errors
/// See [`Error`].
pub async fn run(args: &Args) -> Result<(), Error> {
    if let Some(why) = no_state(args.state.as_deref()) {
        return Err(Error::Usage(why));
    }
    let args = &Args {
        input: piped::beside(&args.input).await?,
        ..args.clone()
    };
    let rules = common::rules(&args.input)?;
    let KnownRuns {
        all,
        since,
        newest,
        hint,
        damage,
    } = if args.input.from.is_empty() {
        of_store(args, &rules).await?
    } else {
        let case = common::recorded(&args.input, rules)?;
        let text = args.since.as_deref();
        let since = text
            .map(|text| moment(text, case.graph.now, args.output.tz))
            .transpose()?;
        let mut all = report::listing(&case).await?;
        let newest = all.iter().filter_map(last_of).max();
        all.retain(|one| since.is_none_or(|since| lived(one, since)));
        KnownRuns {
            all,
            since,
            newest,
            hint: None,
            damage: Vec::new(),
        }
    };
    let namespaces = &args.input.live.namespaces;
    let mut list: Vec<ListedRun> = all
        .iter()
        .filter(|one| one.is(args.owner.as_deref(), None, args.state.as_deref()))
        .filter(|one| {
            let own = one.namespace.as_deref();
            namespaces.is_empty() || namespaces.iter().any(|asked| own == Some(asked))
        })
        .cloned()
        .collect();
    ListedRun::sort(&mut list);
    pager::show(&args.output, |out| show(args, &list, out))?;
    // That runs may be missing is no matter of progress.
    for what in &damage {
        note!("{what}.");
    }
    // An empty list is told even to those who want no more than the list.
    if list.is_empty() && is_narrowed(args) {
        let looked_after = newest.filter(|_| all.is_empty() && args.since.is_some());
        return Err(Error::NoneLeft {
            why: none_left(args, &all),
            hint: looked_after.map_or_else(
                || "list all of them: whathappened experiments".to_owned(),
                |newest| newest_run(newest, args.output.tz),
            ),
        });
    }
    if list.is_empty() {
        note!("The data that was read contains no runs.");
    }
    if !args.input.quiet {
        if !list.is_empty() && args.output.format == Format::Table {
            note!(
                "Columns: state, time (of the cause, else of the end or the start), pods, cause, owner, run."
            );
        }
        // A length of time counts back from the latest record, which may be days old.
        if let (Some(asked), Some(since)) = (&args.since, since) {
            let at = args.output.tz.rfc3339(&rfc3339(since));
            note!("Runs that were active at or after {at} (--since {asked}).");
        }
        if !list.is_empty() && list.len() < all.len() {
            let known = common::count(all.len() as u64, "run");
            note!(
                "{} of {known} shown; the options exclude the rest.",
                list.len()
            );
        }
        if let Some(hint) = hint {
            note!("{}.", arguments::with_own_options(&hint));
        }
    }
    Ok(())
}

/// Whether some runs only are asked for.
fn is_narrowed(args: &Args) -> bool {
    let some = [&args.owner, &args.state, &args.since];
    some.iter().any(|option| option.is_some()) || !args.input.live.namespaces.is_empty()
}

/// Why the list is empty, and whose and where the runs are that there are.
fn none_left(args: &Args, all: &[ListedRun]) -> String {
    if all.is_empty() {
        let since = args.since.as_ref();
        let since = since.map_or_else(String::new, |since| format!(" since {since}"));
        return format!("the data that was read contains no runs{since}");
    }
    let are = if all.len() == 1 { "is" } else { "are" };
    let mut text = format!(
        "no run matches; there {are} {}",
        common::count(all.len() as u64, "run")
    );
    let names = |of: fn(&ListedRun) -> Option<&String>| -> Vec<String> {
        let names: BTreeSet<String> = all.iter().filter_map(of).cloned().collect();
        names.into_iter().collect()
    };
    let namespaces = &args.input.live.namespaces;
    for (asked, what, known) in [
        (
            args.owner.as_ref(),
            "owner",
            names(|one| one.owner.as_ref()),
        ),
        (
            namespaces.first(),
            "namespace",
            names(|one| one.namespace.as_ref()),
        ),
    ] {
        let Some(asked) = asked else { continue };
        let near = rank_names(asked, known.iter().cloned());
        let some = if near.is_empty() { &known } else { &near };
        let some: Vec<&str> = some.iter().take(NAMED).map(String::as_str).collect();
        match (some.as_slice(), near.is_empty()) {
            ([], _) => text.push_str(&format!(", none with a known {what}")),
            (some, true) => text.push_str(&format!(", {what}s: {}", some.join(", "))),
            (some, false) => text.push_str(&format!(", of the {what} {}", some.join(", "))),
        }
    }
    text
}

fn show(args: &Args, list: &[ListedRun], out: &mut dyn Write) -> Result<(), RenderError> {
    let style = common::style(&args.output);
    if args.output.format == Format::Table {
        return render::listed(list, &style, out);
    }
    let mut list = list.to_vec();
    for one in &mut list {
        one.time = args.output.shown(one.time.take());
        one.started = args.output.shown(one.started.take());
    }
    let batch = batch(&list)?;
    render::rows(&batch.schema(), &[batch], args.output.format, &style, out)?;
    Ok(())
}

/// The runs of a window.
struct KnownRuns {
    all: Vec<ListedRun>,
    /// The beginning of the window that was asked for.
    since: Option<Nanos>,
    /// When the newest run was heard of last, whether it is of the window or not.
    newest: Option<Nanos>,
    /// What is missing and how to get it.
    hint: Option<String>,
    /// What of the store is damaged, so that runs may be missing.
    damage: Vec<String>,
}

/// When a run was heard of last.
fn last_of(one: &ListedRun) -> Option<Nanos> {
    let known = [&one.time, &one.ended, &one.started].into_iter().flatten();
    let known = known.filter_map(|text| Stamp::parse(text).map(|stamp| stamp.lo));
    known.chain(one.seen.map(|(_, last)| last)).max()
}

/// Where the newest run lies, for those who looked after it.
fn newest_run(at: Nanos, tz: Tz) -> String {
    let at = tz.rfc3339(&rfc3339(at));
    let day = at.get(..10).unwrap_or(&at);
    format!("the last record of the newest run is from {at}: use --since {day}")
}

/// Whether the last that is known of a run is not before a time.
fn lived(one: &ListedRun, since: Nanos) -> bool {
    let over = one.state.is_some_and(RunState::is_over);
    let last = one.time.as_deref().or(one.started.as_deref());
    let last = last.and_then(Stamp::parse).map(|stamp| stamp.hi);
    !over || last.is_none_or(|last| last > since)
}

/// Those that the store's catalogue knows, and what explaining them told.
async fn of_store(args: &Args, rules: &Arc<Rules>) -> Result<KnownRuns, Error> {
    let config = settings::of_all(&args.input.stored, &args.input.live)?;
    let now = clock::now();
    let about = stored::CaseScope::CLUSTERS;
    let (store, _) = stored::refreshed(&config, &args.input, &about, rules, now).await?;
    let latest = store.latest()?;
    let since = args.since.as_deref();
    let since = since
        .map(|text| moment_of_store(text, latest, args.output.tz))
        .transpose()?;
    let window = (since.unwrap_or(Nanos::MIN), Nanos::MAX);
    let quiet = args.input.quiet;
    let explained = explain(&store, &config, window, rules, (MOST, None), quiet).await?;
    let snapshot = store.snapshot()?;
    let all = fetch::listed(&snapshot, window)?;
    let newest = if all.is_empty() {
        let runs = fetch::listed(&snapshot, (Nanos::MIN, Nanos::MAX))?;
        runs.iter().filter_map(last_of).max()
    } else {
        None
    };
    let missing = snapshot.missing()?;
    Ok(KnownRuns {
        all,
        since,
        newest,
        damage: missing.into_iter().filter_map(|row| row.detail).collect(),
        hint: explained.and_then(|one| one.hint()),
    })
}

/// Explains what is not yet, at most so many runs and no more after a moment; nothing where the store
/// may only be read.
pub(super) async fn explain(
    store: &Store,
    config: &Config,
    window: (Nanos, Nanos),
    rules: &Arc<Rules>,
    (most, until): (usize, Option<Instant>),
    quiet: bool,
) -> Result<Option<fetch::Explained>, Error> {
    let Ok(mut store) = Store::open(store.root(), config.limits()) else {
        return Ok(None);
    };
    let bar = common::counting(quiet, "explaining");
    let mut tick = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        until.is_none_or(|until| Instant::now() < until)
    };
    let now = clock::now();
    let done = fetch::explain_rest(&mut store, window, most, rules, now, &mut tick).await?;
    store.keep_roots()?;
    bar.finish_and_clear();
    Ok(Some(done))
}

fn batch(list: &[ListedRun]) -> Result<RecordBatch, datafusion::arrow::error::ArrowError> {
    let text = |of: fn(&ListedRun) -> Option<&str>| -> ArrayRef {
        Arc::new(list.iter().map(of).collect::<StringArray>())
    };
    let count = |of: fn(&ListedRun) -> Option<u64>| -> ArrayRef {
        let counts = list.iter().map(of);
        let counts = counts.map(|count| count.and_then(|count| i64::try_from(count).ok()));
        Arc::new(counts.collect::<Int64Array>())
    };
    let columns: [(&str, ArrayRef); 14] = [
        ("experiment", text(|one| Some(&one.experiment))),
        ("kind", text(|one| Some(&one.kind))),
        ("namespace", text(|one| one.namespace.as_deref())),
        ("name", text(|one| Some(&one.name))),
        ("state", text(|one| one.state.map(RunState::as_str))),
        ("cause", text(|one| one.cause.as_deref())),
        ("level", text(|one| one.level.map(Level::as_str))),
        ("time", text(|one| one.time.as_deref())),
        ("actor", text(|one| one.actor.as_deref())),
        ("owner", text(|one| one.owner.as_deref())),
        ("started", text(|one| one.started.as_deref())),
        (
            "attempts",
            count(|one| one.attempts.map(|attempts| attempts as u64)),
        ),
        ("pods", count(|one| Some(one.pods))),
        ("id", text(|one| one.id.as_deref())),
    ];
    RecordBatch::try_from_iter(columns)
}
