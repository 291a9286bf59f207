//! `whathappened experiments`

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use whathappened_connectors::time::rfc3339;
use whathappened_core::death::run_state;

use super::common;
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
pub fn run(args: &Args) -> Result<(), Error> {
    let case = common::open(&args.input)?;
    let batch = batch(&case)?;
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
