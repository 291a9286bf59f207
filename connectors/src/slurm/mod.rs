//! Slurm: jobs and nodes as accounting, control and its daemons tell them, in
//! files and asked live.
//!
//! * `slurm.job`: the end of a job. `reason` is the state (`OUT_OF_MEMORY`,
//!   `TIMEOUT`, `NODE_FAIL`, `CANCELLED` with the user as `actor`, …), or that it
//!   began (`RUNNING`) or waits (`PENDING`, with why as `message`). Rows of
//!   steps belong to their job: the most telling one is in `step` and `step_state`.
//!   `own_id` is the number that a task of an array has beside `<array>_<task>`.
//! * `slurm.node`: a node's state changed; `reason` is the state (`DOWN`,
//!   `DRAIN`, `NOT_RESPONDING`, `REBOOTED`, `RESPONDING`, …), `message` why.
//!
//! Times are those of the cluster's controller; Slurm writes no zone, UTC is
//! assumed and said in `time_inferred`. A job is also an object `SlurmJob`
//! with uid `slurm/<cluster>/<id>`, or `slurm/<id>` where no cluster is told.

mod columns;
mod daemon;
mod events;
mod job;
mod json;
pub(crate) mod live;
mod node;
mod sacct;
mod scontrol;
mod sinfo;
mod squeue;
mod times;

#[cfg(test)]
mod tests;

pub(crate) use daemon::{read as daemon, says};
pub(crate) use json::{decode, is_job, is_node};
pub use live::{Slurm, SlurmOptions};

use crate::contract::TextFormat;

/// Formats of text.
pub(crate) const FORMATS: &[TextFormat] = &[
    TextFormat {
        words: "Slurm accounting",
        of_pods: false,
        first: false,
        is: sacct::is,
        reader: |source, options| Box::new(sacct::Table::new(source, options.max_line_bytes)),
    },
    TextFormat {
        words: "Slurm nodes",
        of_pods: false,
        first: false,
        is: sinfo::is,
        reader: |source, _| Box::new(sinfo::Table::new(source)),
    },
    TextFormat {
        words: "Slurm's queue",
        of_pods: false,
        first: false,
        is: squeue::is,
        reader: |source, _| Box::new(squeue::Table::new(source)),
    },
    TextFormat {
        words: "Slurm's events of nodes",
        of_pods: false,
        first: false,
        is: events::is,
        reader: |source, _| Box::new(events::Table::new(source)),
    },
    TextFormat {
        words: "Slurm control",
        of_pods: false,
        first: false,
        is: scontrol::is,
        reader: |source, _| Box::new(scontrol::Records::new(source)),
    },
];
