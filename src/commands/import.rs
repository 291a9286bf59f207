//! `whathappened import`

use std::time::Duration;

use whathappened_connectors::recording::{FileStatus, Options, Summary};
use whathappened_model::terminal;
use whathappened_store::Store;

use super::{clock, common, lakes, settings};
use crate::case::Rules;
use crate::cli::StoreArgs;
use crate::error::Error;
use crate::fetch::{self, ImportTarget};

/// Imports recordings into the store: everything that --from can read
///
/// Nothing is stored twice, so an import can be repeated, and one that was interrupted can be
/// restarted.
///
/// Exit code 0: every PATH was read, and invalid records in it were counted; 1: a PATH could not be
/// read, and the rest was imported; 2: nothing could be read.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Files, folders or archives to read, `-` for standard input.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub stored: StoreArgs,
    /// Folder with your own rules: *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// The longest time to spend reading, such as 30s or 2d; 1h by default. Answers say what was left
    /// unread.
    #[arg(long, value_name = "TIME")]
    pub max_read_time: Option<String>,
    /// Do not report progress or what was read.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How long reading may take where nobody says otherwise: what is kept is worth more patience than one answer.
const READ_TIME: Duration = Duration::from_hours(1);

/// Imports.
///
/// # Errors
/// When the store cannot be written, or nothing could be read.
pub fn run(args: &Args) -> Result<(), Error> {
    let config = settings::of_store(&args.stored)?;
    let folder = args.rules.clone().or_else(|| config.rules.clone());
    let rules = Rules::load(&common::own_rules(folder.as_deref())?)?;
    let now = clock::now();
    lakes::refuse(&config, "`import`")?;
    let root = config.store_path()?;
    let open = || Store::open(&root, config.limits());
    // What is wrong with a store that is there is said before anything is read.
    let mut store = if root.exists() { Some(open()?) } else { None };
    let target = match &mut store {
        Some(store) => ImportTarget::Open(store),
        none => ImportTarget::New {
            store: none,
            open: &open,
        },
    };
    let bar = common::bar(args.quiet);
    let mut progress = |done, total: Option<u64>| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    };
    let inputs = common::inputs(&args.paths);
    let options = Options {
        max_time: common::read_time(args.max_read_time.as_deref())?.or(Some(READ_TIME)),
        waiting: common::waiting(args.quiet),
        ..Options::default()
    };
    let (summary, written) = fetch::import(
        target,
        &rules.signals,
        &inputs,
        now,
        &options,
        &mut progress,
    )?;
    bar.finish_and_clear();
    if !args.quiet {
        let facts = format!(
            "{} facts and versions read, {} new in {}",
            written.reported,
            written.new,
            terminal::line(&root.to_string_lossy())
        );
        common::report(&summary, &facts);
    }
    let Some(mut store) = store else {
        return common::nothing_read(&summary);
    };
    let warnings = fetch::warnings(&store)?;
    for warning in &warnings {
        note!("warning: {warning}");
    }
    if !warnings.is_empty() {
        note!("hint: recover what can be read: whathappened store repair");
    }
    common::nothing_read(&summary)?;
    store.retain(now)?;
    unread(&summary, &args.paths)
}

/// A path that was named and not read is an error, even where the rest was taken in.
fn unread(summary: &Summary, paths: &[String]) -> Result<(), Error> {
    let failed: Vec<String> = summary
        .files
        .iter()
        .filter(|file| paths.iter().any(|path| **path == *file.name))
        .filter_map(|file| match &file.status {
            FileStatus::Failed(why) => Some(format!("{}: {why}", file.name)),
            _ => None,
        })
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::Partial(failed.join("; ")))
}
