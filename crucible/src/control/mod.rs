//! What acts on the cluster: the components of Kubernetes, each with its lags and words.

mod autoscaler;
mod collect;
mod evict;
mod init;
mod job;
mod job_end;
mod jobset;
mod kubelet;
mod lifecycle;
mod make;
pub(crate) mod problem;
mod pytorch;
mod refusal;
mod replica;
mod replica_change;
mod scheduler;
mod sidecar;
mod stop;
mod taint;
mod wedge;

pub use autoscaler::scale_down;
pub(crate) use collect::namespace_json;
pub use collect::{collect_orphans, delete_namespace};
pub use evict::{cordon, drain, evict, set_taint, uncordon};
pub use job::sync as sync_job;
pub(crate) use job_end::FATAL;
pub use job_end::suspend as suspend_job;
pub use jobset::child_ended;
pub use kubelet::{Exit, exit};
pub use lifecycle::{go_silent, machine_dies, machine_returns, stopped_in_cloud};
pub use make::{delete_pod, delete_root, make, settle};
pub use replica_change::{replace_template, scale};
pub(crate) use scheduler::NO_ROOM;
pub use scheduler::{fits, schedule};
pub use stop::{kubelet_restarts, stop};
pub use taint::judge as judge_taints;
