//! Takes recordings into the store.

use whathappened_connectors::recording::{self, FileStatus, Input, Options, Summary};
use whathappened_core::signals::Ruleset;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::Nanos;
use whathappened_store::{BulkImport, Store, StoreError, Written};

use crate::coverage::quiet_machines;
use crate::error::Error;

/// Classifies what is read and hands it to the store.
struct Importer<'a> {
    bulk: BulkImport<'a>,
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

/// What of a store is damaged or unknown to it, a sentence each. Facts beside a damaged segment may have been told before:
/// whoever adds some should know.
///
/// # Errors
/// When the store cannot be read.
pub fn warnings(store: &Store) -> Result<Vec<String>, Error> {
    let damaged = store.snapshot()?.damaged()?;
    let mut said: Vec<String> = damaged.iter().map(ToString::to_string).collect();
    said.extend(store.unlisted_coverage()?.and_then(|row| row.detail));
    Ok(said)
}

/// Takes in everything that some inputs hold. What is there already is not kept
/// twice; files that fall short become rows of coverage.
///
/// # Errors
/// When the store cannot be written.
pub fn import(
    store: &mut Store,
    signals: &Ruleset,
    inputs: &[Input],
    now: Nanos,
    options: &Options,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(Summary, Written), Error> {
    let mut importer = Importer {
        bulk: store.bulk(now),
        signals,
        failed: None,
        from: Nanos::MAX,
        to: Nanos::MIN,
        progress,
    };
    let summary = recording::read(inputs, options, &mut importer);
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
