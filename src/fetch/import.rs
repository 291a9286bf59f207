//! Takes recordings into the store.

use whathappened_connectors::recording::{self, FileStatus, Input, Options, Summary};
use whathappened_core::signals::Ruleset;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::Nanos;
use whathappened_store::{BulkImport, Store, StoreError, Written};

use super::unusable::unusable;
use crate::coverage::quiet_machines;
use crate::error::Error;

/// The store that an import goes to.
pub enum ImportTarget<'a> {
    /// One that is open.
    Open(&'a mut Store),
    /// One that is made once there is something to keep: a mistyped path leaves no store behind.
    New {
        /// Where it is put once it is open.
        store: &'a mut Option<Store>,
        /// Makes it.
        open: &'a dyn Fn() -> Result<Store, StoreError>,
    },
}

impl<'a> ImportTarget<'a> {
    fn store(self) -> Result<&'a mut Store, StoreError> {
        match self {
            Self::Open(store) => Ok(store),
            Self::New { store, open } => Ok(store.insert(open()?)),
        }
    }
}

impl std::fmt::Debug for ImportTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open(_) => "Open",
            Self::New { .. } => "New",
        })
    }
}

/// Classifies what is read and hands it to the store.
struct Importer<'a> {
    /// Until there is something to keep.
    target: Option<ImportTarget<'a>>,
    bulk: Option<BulkImport<'a>>,
    now: Nanos,
    signals: &'a Ruleset,
    failed: Option<StoreError>,
    from: Nanos,
    to: Nanos,
    progress: &'a mut dyn FnMut(u64, Option<u64>),
}

impl Importer<'_> {
    /// Opens the store, if that was not done yet.
    fn open(&mut self) {
        let Some(target) = self.target.take() else {
            return;
        };
        match target.store() {
            Ok(store) => self.bulk = Some(store.bulk(self.now)),
            Err(error) => self.failed = Some(error),
        }
    }
}

impl Sink for Importer<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        if !observations.is_empty() {
            self.open();
        }
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
            let pushed = self.bulk.as_mut().map(|bulk| bulk.push(observation));
            self.failed = pushed.and_then(Result::err);
        }
    }

    fn progress(&mut self, done: u64, total: Option<u64>) {
        (self.progress)(done, total);
    }
}

/// What of a store is damaged or unknown to it, a sentence each. Facts beside a damaged segment may have been told before:
/// whoever adds some should know.
///
/// # Errors
/// When the store cannot be read.
pub fn warnings(store: &Store) -> Result<Vec<String>, Error> {
    let damaged = store.snapshot()?.damaged()?;
    let mut warnings: Vec<String> = damaged.iter().map(ToString::to_string).collect();
    warnings.extend(store.unlisted_coverage()?.and_then(|row| row.detail));
    Ok(warnings)
}

/// Takes in everything that some inputs hold. What is there already is not kept
/// twice; files that fall short become rows of coverage.
///
/// # Errors
/// When the store cannot be written.
pub fn import(
    target: ImportTarget<'_>,
    signals: &Ruleset,
    inputs: &[Input],
    now: Nanos,
    options: &Options,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(Summary, Written), Error> {
    let mut importer = Importer {
        target: Some(target),
        bulk: None,
        now,
        signals,
        failed: None,
        from: Nanos::MAX,
        to: Nanos::MIN,
        progress,
    };
    let summary = recording::read(inputs, options, &mut importer);
    // That nothing happened is worth keeping; that nothing could be used is no reason to make a store.
    let is_there = matches!(importer.target, Some(ImportTarget::Open(_)));
    if is_there || unusable(&summary).is_none() {
        importer.open();
    }
    let Importer {
        bulk,
        failed,
        from,
        to,
        ..
    } = importer;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let Some(bulk) = bulk else {
        return Ok((summary, Written::default()));
    };
    let (written, store) = bulk.finish()?;
    let window = (from <= to).then_some((from, to));
    let mut rows = short(&summary, window);
    rows.extend(quiet(&summary, window));
    store.keep_coverage(&rows, now)?;
    Ok((summary, written))
}

/// Logs of machines that report no fault leave no record: that they were read is told of the time
/// that the import is of.
fn quiet(summary: &Summary, window: Option<(Nanos, Nanos)>) -> Option<(String, Coverage)> {
    let (from, to) = window?;
    let row = Coverage {
        asked_from: Some(from),
        asked_to: Some(to),
        ..quiet_machines(summary)?
    };
    let detail = row.detail.clone().unwrap_or_default();
    Some((format!("quiet {from} {detail}"), row))
}

/// Files that could not be read to their end, for the time that the import is of. One of
/// which nothing was read, as of a mistyped path, is nothing that is missing here.
fn short(summary: &Summary, window: Option<(Nanos, Nanos)>) -> Vec<(String, Coverage)> {
    let mut rows = Vec::new();
    for file in &summary.files {
        let (status, why) = match &file.status {
            FileStatus::Complete => continue,
            FileStatus::Truncated(why) => (Status::Truncated, why),
            FileStatus::Failed(_) if file.records == 0 => continue,
            FileStatus::Failed(why) => (Status::Failed, why),
        };
        let row = Coverage {
            asked_from: window.map(|(from, _)| from),
            asked_to: window.map(|(_, to)| to),
            status,
            rows: file.records,
            detail: Some(format!("{}: {why}", file.name)),
            would_have_shown: Some("the contents of the part that could not be read".to_owned()),
            ..Coverage::new("recording", "file")
        };
        rows.push((format!("file {}", file.name), row));
    }
    rows
}
