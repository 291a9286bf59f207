//! `whathappened explain`

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use whathappened_model::time::Nanos;
use whathappened_store::Root;

use super::question::{moment_of_store, newest};
use super::{clock, common, settings, stored};
use crate::answer::Incident;
use crate::cli::{InputArgs, OutputArgs};
use crate::error::Error;
use crate::{fetch, render};

/// Explains every run that was active in a time window, and stores the incidents
///
/// Queries the clusters first, then reads the store. Afterwards the incidents are in the table
/// `incidents` of `whathappened sql`.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("from", |from| from.hide(true)))]
pub struct Args {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Runs that were active at or after this time: RFC 3339, a date, today, yesterday, or 2h, 7d before
    /// the latest record.
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub since: String,
    /// Runs that were active before this time.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

/// Explains the window.
///
/// # Errors
/// When the store cannot be used, or a rule fails.
pub async fn run(args: &Args) -> Result<(), Error> {
    if !args.input.from.is_empty() {
        return Err(Error::misused(
            "explain reads the store only",
            "for recordings use: whathappened '*' --from …",
        ));
    }
    let rules = common::rules(&args.input)?;
    let config = settings::of_all(&args.input.stored, &args.input.live)?;
    let now = clock::now();
    let (store, _) = stored::refreshed(
        &config,
        &args.input,
        &stored::CaseScope::CLUSTERS,
        &rules,
        now,
    )
    .await?;
    let path = store.root().to_owned();
    let last = store.latest()?;
    let since = moment_of_store(&args.since, last, args.output.tz)?;
    let until = match &args.until {
        Some(text) => moment_of_store(text, last, args.output.tz)?,
        None => Nanos::MAX,
    };
    let roots = store.snapshot()?.roots(since, until)?;
    drop(store);
    let mut store = whathappened_store::Store::open(&path, config.limits())?;
    let coverage = store.coverage()?;
    let bar = common::bar(args.input.quiet);
    bar.set_length(roots.len() as u64);
    let mut reported: Vec<(String, Incident)> = Vec::new();
    // Runs of one name are explained together, and each of them counts once.
    let mut done: BTreeSet<String> = BTreeSet::new();
    let in_turn: Vec<&Root> = roots.iter().collect();
    for (number, root) in roots.iter().enumerate() {
        bar.inc(1);
        fetch::read_ahead(&mut store, number, &in_turn)?;
        if done.contains(&fetch::run_id(root)) {
            continue;
        }
        let answer = fetch::explain_one(&mut store, root, &coverage, &rules, now).await?;
        let runs = answer.iter().flat_map(|answer| &answer.runs);
        let new: Vec<String> = runs.map(|run| run.id.clone()).collect();
        let shown = answer.iter().flat_map(|answer| {
            let incidents = answer.incidents.iter();
            incidents.filter(|one| !fetch::is_routine_stop(answer, one))
        });
        let inside = shown
            .filter(|incident| !incident.cause.starts_with("none."))
            .filter(|incident| {
                let run = incident.run_id.as_ref();
                run.is_none_or(|run| !done.contains(run))
            });
        reported.extend(inside.map(|incident| (root.name.clone(), incident.clone())));
        done.extend(new);
        done.insert(fetch::run_id(root));
    }
    store.forget_places();
    bar.finish_and_clear();
    reported.sort_by(|(a, x), (b, y)| (&x.time, a, &x.cause).cmp(&(&y.time, b, &y.cause)));
    for (_, incident) in &mut reported {
        incident.time = args.output.shown(incident.time.take());
    }
    let batch = batch(&reported)?;
    let style = common::style(&args.output);
    let out = &mut std::io::stdout().lock();
    render::rows(&batch.schema(), &[batch], args.output.format, &style, out)?;
    if !args.input.quiet {
        let runs = common::count(roots.len() as u64, "run");
        let incidents = common::count(reported.len() as u64, "incident");
        note!("{runs} explained, {incidents}.");
        if let Some(last) = last.filter(|last| *last < since) {
            let newest = newest(last, args.output.tz);
            note!("Nothing was recorded since {}; {newest}.", args.since);
        }
    }
    Ok(())
}

fn batch(reported: &[(String, Incident)]) -> Result<RecordBatch, Error> {
    let text = |of: fn(&(String, Incident)) -> Option<&str>| -> ArrayRef {
        Arc::new(reported.iter().map(of).collect::<StringArray>())
    };
    Ok(RecordBatch::try_from_iter([
        ("time", text(|(_, one)| one.time.as_deref())),
        ("run", text(|(name, _)| Some(name))),
        ("cause", text(|(_, one)| Some(&one.cause))),
        ("level", text(|(_, one)| Some(one.level.as_str()))),
        ("role", text(|(_, one)| Some(one.role.as_str()))),
        (
            "actor",
            text(|(_, one)| one.actor.as_ref().map(|actor| actor.name.as_str())),
        ),
        ("summary", text(|(_, one)| Some(&one.summary))),
    ])
    .map_err(datafusion::error::DataFusionError::from)?)
}
