//! Dumps of PyTorch's flight recorder: what each rank did last in each
//! process group, and which rank the others wait for.
//!
//! Torch writes a dump where `TORCH_NCCL_DEBUG_INFO_TEMP_FILE` says, by default
//! `/tmp/nccl_trace_rank_<rank>`: a pickle of plain data. Its control plane
//! serves the same as JSON. Both are (torch `c10d/FlightRecorderDetail.hpp`)
//!
//! ```text
//! { version: "2.10",
//!   pg_config: { "0": { name: "0", desc: "default_pg", ranks: "[0, 1, 2]" } },
//!   pg_status: { "0": { last_enqueued_collective: 41, last_started_…, last_completed_… } },
//!   entries: [ { pg_id: 0, process_group: ("0", "default_pg"), collective_seq_id: 41, is_p2p: false,
//!                profiling_name: "nccl:all_reduce", input_sizes: [[1024]], output_sizes: [[1024]],
//!                state: "scheduled" | "started" | "completed",
//!                time_created_ns, time_discovered_started_ns, time_discovered_completed_ns } ],
//!   nccl_comm_state: { … } }
//! ```
//!
//! The rank is in the file's name. Each rank and group becomes one fact
//! `nccl.trace`; what several of them say together is `whathappened_model::collective`'s to find.

mod decode;
mod dump;
mod weigh;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub(crate) use dump::looks_like;
pub use dump::{Dump, read};
