//! `whathappened accuracy`

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::common;
use crate::accuracy::{find, json, run as judge, scores, table};
use crate::case::Rules;
use crate::cli::OutputArgs;
use crate::error::Error;
use crate::render::{self, Format};

/// Scores answers to labelled cases, and compares them with three simple heuristics
///
/// A case is a folder with `input/` and `expect.json`. Fails on false blame, and on a wrong answer
/// where one is required, which is wherever the input contains Kubernetes records.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::table_or_json))]
pub struct Args {
    /// Cases, or folders of cases; folders that do not exist are skipped.
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// Folder with your own rules: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Judges the cases.
///
/// # Errors
/// [`Error::Failed`] on false blame or an answer that is owed and wrong.
pub async fn run(args: &Args) -> Result<(), Error> {
    let format = args.output.format;
    let found = find(&args.folders).map_err(|error| Error::Io {
        path: "the folders of cases".to_owned(),
        error,
    })?;
    if found.cases.is_empty() {
        let folders: Vec<String> = args
            .folders
            .iter()
            .map(|one| one.display().to_string())
            .collect();
        return Err(Error::Failed(format!(
            "there is no case in {}: a case is a folder with input/ and expect.json",
            folders.join(", ")
        )));
    }
    let rules = Arc::new(Rules::load(&common::own_rules(args.rules.as_deref())?)?);
    let mut judged = Vec::new();
    for case in &found.cases {
        judged.append(&mut judge(case, &rules).await?);
    }
    let scores = scores(&judged);
    let failed = |error| Error::Io {
        path: "standard output".to_owned(),
        error,
    };
    let mut out = std::io::stdout().lock();
    if format == Format::Json {
        let text = format!("{:#}\n", json(&judged, &scores, &found.skipped));
        out.write_all(text.as_bytes()).map_err(failed)?;
    } else {
        let style = common::style(&args.output);
        let batches = table(&judged, &scores).map_err(datafusion::error::DataFusionError::from)?;
        for batch in batches.into_iter().filter(|batch| batch.num_rows() > 0) {
            render::rows(&batch.schema(), &[batch], format, &style, &mut out)?;
            writeln!(out).map_err(failed)?;
        }
        for skipped in &found.skipped {
            writeln!(out, "skipped: {skipped}").map_err(failed)?;
        }
    }
    out.flush().map_err(failed)?;
    let bad: Vec<&str> = judged
        .iter()
        .filter(|one| one.fails())
        .map(|one| one.asked.as_str())
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{} of {} answers are false blame, or wrong where an answer was required: {}",
        bad.len(),
        judged.len(),
        bad.join(", ")
    )))
}
