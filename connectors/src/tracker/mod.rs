//! Experiment trackers' own files: `TensorBoard`'s event files, W&B's offline runs, `MLflow`'s file store.
//!
//! All of them tell of steps with their values (`tracker.step`), of a loss that is no number any more
//! (`tracker.not_finite`), of checkpoints (`tracker.checkpoint`), and what the tracker says of the run as a
//! whole (`tracker.run`). Whose run it is, only all records together tell (`core`, `graph/tracked`): by the name of
//! the machine, the folder and the names that people gave.
//!
//! * `tensorboard` reads `TFRecord`s of `tensorflow.Event`.
//! * `wandb` reads `run-ID.wandb`, records of `wandb_internal.Record` in blocks as `LevelDB`'s log has them, and
//!   the JSON files beside it.
//! * `mlflow` reads `EXPERIMENT/RUN/{meta.yaml,metrics/*,tags/*}`.

mod curves;
mod emit;
mod metric;
mod mlflow;
mod place;
mod tensorboard;
mod wandb;
mod wandb_console;
mod wandb_files;
mod wandb_frames;
mod wire;

#[cfg(test)]
mod tests;

use crate::contract::RecordFormat;

pub(crate) use mlflow::META as MLFLOW_META;
pub(crate) use place::{Placed, by_place};
pub(crate) use wandb_files::{METADATA as WANDB_METADATA, SUMMARY as WANDB_SUMMARY};

/// The formats of binary records.
pub(crate) static RECORDS: &[RecordFormat] = &[tensorboard::FORMAT, wandb::FORMAT];
