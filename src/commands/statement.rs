//! `whathappened statement`, which only the service starts.

use std::io::{Read as _, Write as _};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;

use super::{common, supervised};
use crate::case::Rules;
use crate::error::Error;
use crate::sql::{Job, Report};

/// Runs one statement of the service, which it reads from standard input
#[derive(clap::Args, Clone, Debug)]
pub struct Args {}

/// Runs it: rows go to standard output, then what became of it to standard error.
///
/// # Errors
/// When there is no job. A statement that fails is told, which is no failure.
pub async fn run(_args: &Args) -> Result<(), Error> {
    let failed = |error| Error::Io {
        path: "standard input".to_owned(),
        error,
    };
    // A service that is killed can end nothing any more.
    supervised::end_with_parent();
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(failed)?;
    let job: Job = serde_json::from_str(&text).map_err(|error| {
        Error::Usage(format!(
            "this command is run by the service, which sends it the statement: {error}"
        ))
    })?;
    // Some functions of the engine panic where their result is too large.
    std::panic::set_hook(Box::new(|_| {}));
    let reported = AssertUnwindSafe(reported(&job)).catch_unwind().await;
    let reported = reported.unwrap_or_else(|_| {
        Err(Error::halted(
            "the result of the statement is too large for the engine",
            "shorten its texts, or narrow it with WHERE",
        ))
    });
    let reported = reported.unwrap_or_else(|error| Report {
        hints: error.hints(),
        error: Some(error.to_string()),
        ..Report::default()
    });
    let report = serde_json::to_string(&reported).unwrap_or_default();
    std::io::stderr()
        .lock()
        .write_all(report.as_bytes())
        .map_err(failed)
}

async fn reported(job: &Job) -> Result<Report, Error> {
    let rules = Rules::load(&common::own_rules(job.rules.as_deref())?)?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let report = job.run(Arc::new(rules), &mut out).await?;
    out.flush().map_err(|error| Error::Io {
        path: "standard output".to_owned(),
        error,
    })?;
    Ok(report)
}
