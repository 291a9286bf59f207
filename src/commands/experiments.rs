//! `whathappened experiments`

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use whathappened_connectors::time::{Nanos, rfc3339};
use whathappened_core::death::run_state;
use whathappened_store::{Root, Store};

use super::{clock, common, settings, stored};
use crate::case::Case;
use crate::cli::{InputArgs, OutputArgs};
use crate::error::Error;
use crate::render;

/// Lists what the input knows: every run, newest first
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Lists the runs.
///
/// # Errors
/// See [`Error`].
pub async fn run(args: &Args) -> Result<(), Error> {
    let rules = common::rules(&args.input)?;
    let batch = if args.input.from.is_empty() {
        let config = settings::of_all(&args.input.kept, &args.input.live)?;
        let (store, _) = stored::refreshed(
            &config,
            &args.input,
            &stored::About::CLUSTERS,
            &rules,
            clock::now(),
        )
        .await?;
        kept(&store)?
    } else {
        batch(&common::recorded(&args.input, rules)?)?
    };
    let style = common::style(&args.output);
    render::rows(
        &batch.schema(),
        &[batch],
        args.output.format,
        &style,
        &mut std::io::stdout().lock(),
    )?;
    Ok(())
}

/// What the store's catalogue knows, newest first.
fn kept(store: &Store) -> Result<RecordBatch, Error> {
    let mut roots = store.snapshot()?.roots(Nanos::MIN, Nanos::MAX)?;
    roots.reverse();
    let text = |of: &dyn Fn(&Root) -> Option<String>| -> ArrayRef {
        let some = |root: &Root| of(root).filter(|text| !text.is_empty());
        Arc::new(roots.iter().map(some).collect::<StringArray>())
    };
    let pods: ArrayRef = Arc::new(
        roots
            .iter()
            .map(|root| i64::try_from(root.pods).ok())
            .collect::<Int64Array>(),
    );
    let known = |root: &Root| root.first <= root.last;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("experiment", text(&|root| root.experiment.clone())),
        ("kind", text(&|root| Some(root.kind.clone()))),
        ("namespace", text(&|root| Some(root.namespace.clone()))),
        ("name", text(&|root| Some(root.name.clone()))),
        (
            "first_seen",
            text(&|root| known(root).then(|| rfc3339(root.first))),
        ),
        (
            "last_seen",
            text(&|root| known(root).then(|| rfc3339(root.last))),
        ),
        ("pods", pods),
        ("id", text(&|root| Some(root.uid.clone()))),
    ];
    Ok(RecordBatch::try_from_iter(columns).map_err(datafusion::error::DataFusionError::from)?)
}

fn batch(case: &Case) -> Result<RecordBatch, Error> {
    let runs = || case.runs.iter().rev();
    let text = |of: &dyn Fn(&whathappened_core::resolve::Run) -> Option<String>| -> ArrayRef {
        Arc::new(runs().map(of).collect::<StringArray>())
    };
    let count = |of: &dyn Fn(&whathappened_core::resolve::Run) -> usize| -> ArrayRef {
        Arc::new(
            runs()
                .map(|run| i64::try_from(of(run)).ok())
                .collect::<Int64Array>(),
        )
    };
    let label = |run: &whathappened_core::resolve::Run| {
        let bodies = run
            .pods
            .iter()
            .filter_map(|pod| case.world.pods.get(*pod as usize)?.body.as_ref());
        bodies
            .filter_map(|body| body.labels.get("experiment"))
            .next()
            .cloned()
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("experiment", text(&label)),
        (
            "kind",
            text(&|run| Some(run.names(&case.world).1.to_owned())),
        ),
        (
            "namespace",
            text(&|run| Some(run.names(&case.world).2.to_owned()).filter(|name| !name.is_empty())),
        ),
        (
            "name",
            text(&|run| Some(run.names(&case.world).3.to_owned())),
        ),
        ("started", text(&|run| run.begin.map(rfc3339))),
        (
            "state",
            text(&|run| Some(run_state(&case.world, run, &case.ends).as_str().to_owned())),
        ),
        ("attempts", count(&|run| run.attempts.len())),
        ("pods", count(&|run| run.pods.len())),
        ("id", text(&|run| Some(run.id(&case.world)))),
    ];
    Ok(RecordBatch::try_from_iter(columns).map_err(datafusion::error::DataFusionError::from)?)
}
