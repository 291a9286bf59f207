//! `whathappened import`

use whathappened_connectors::coverage::{Coverage, Status};
use whathappened_connectors::observation::Observation;
use whathappened_connectors::recording::{self, FileStatus, Options, Sink, Summary};
use whathappened_connectors::time::Nanos;
use whathappened_core::signals::Ruleset;
use whathappened_store::{Bulk, Store, StoreError};

use super::{clock, common, settings};
use crate::case::Rules;
use crate::cli::KeptArgs;
use crate::error::Error;

/// Takes recordings into the store: everything that --from reads
///
/// What is there already is not kept twice, so an import can be repeated, and
/// one that was broken off can be started again.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Files, folders or archives to read, `-` for standard input.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub kept: KeptArgs,
    /// Folder with rules of your own: *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// Say nothing about progress and what was read.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Classifies what is read and hands it to the store.
struct Importer<'a> {
    bulk: Bulk<'a>,
    signals: &'a Ruleset,
    failed: Option<StoreError>,
    from: Nanos,
    to: Nanos,
    progress: &'a mut dyn FnMut(u64, Option<u64>),
}

impl Sink for Importer<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for mut observation in observations {
            if self.failed.is_some() {
                return;
            }
            if let Observation::Event(event) = &mut observation {
                self.signals.classify(event);
                if event.time.lo != Nanos::MIN && event.time.hi != Nanos::MAX {
                    self.from = self.from.min(event.time.lo);
                    self.to = self.to.max(event.time.hi);
                }
            }
            self.failed = self.bulk.push(observation).err();
        }
    }

    fn progress(&mut self, done: u64, total: Option<u64>) {
        (self.progress)(done, total);
    }
}

/// Imports.
///
/// # Errors
/// When the store cannot be written, or nothing could be read.
pub fn run(args: &Args) -> Result<(), Error> {
    let config = settings::of_store(&args.kept)?;
    let folder = args.rules.clone().or_else(|| config.rules.clone());
    let rules = Rules::load(&common::own_rules(folder.as_deref())?)?;
    let now = clock::now();
    let mut store = Store::open(&config.store_path()?, config.limits())?;
    let bar = common::bar(args.quiet);
    let mut progress = |done, total: Option<u64>| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    };
    let mut importer = Importer {
        bulk: store.bulk(now),
        signals: &rules.signals,
        failed: None,
        from: Nanos::MAX,
        to: Nanos::MIN,
        progress: &mut progress,
    };
    let summary = recording::read(
        &common::inputs(&args.paths),
        &Options::default(),
        &mut importer,
    );
    let Importer {
        mut bulk,
        failed,
        from,
        to,
        ..
    } = importer;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let written = bulk.flush()?;
    drop(bulk);
    bar.finish_and_clear();
    store.keep_coverage(&short(&summary, (from <= to).then_some((from, to))), now)?;
    if !args.quiet {
        let facts = format!(
            "{} facts and versions told, {} new in {}",
            written.told,
            written.new,
            store.root().display()
        );
        common::report(&summary, &facts);
    }
    common::nothing_read(&summary)?;
    store.retain(now)?;
    Ok(())
}

/// Files that could not be read to their end, for the time that the import is of.
fn short(summary: &Summary, window: Option<(Nanos, Nanos)>) -> Vec<(String, Coverage)> {
    let mut rows = Vec::new();
    for file in &summary.files {
        let (status, why) = match &file.status {
            FileStatus::Complete => continue,
            FileStatus::Truncated(why) => (Status::Truncated, why),
            FileStatus::Failed(why) => (Status::Failed, why),
        };
        let row = Coverage {
            asked_from: window.map(|(from, _)| from),
            asked_to: window.map(|(_, to)| to),
            status,
            rows: file.records,
            detail: Some(format!("{}: {why}", file.name)),
            would_have_shown: Some("whatever stood in the part that could not be read".to_owned()),
            ..Coverage::new("recording", "file")
        };
        rows.push((format!("file {}", file.name), row));
    }
    rows
}
