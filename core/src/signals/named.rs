//! Names of signals that code knows, each for a reason of its own: what it does with the record is of that
//! signal alone. Whatever several signals have in common is said in their entries (`SignalTraits`).
//!
//! A test holds each against the files, and that no other source spells one out. The list may only
//! become shorter.

#![expect(missing_docs, reason = "the title of its entry says what each means")]

pub const ALERT_FIRED: &str = "alert.fired";
pub const AUTOSCALER_SCALE_DOWN: &str = "autoscaler.scale_down";
pub const AUTOSCALER_SCALE_DOWN_POD: &str = "autoscaler.scale_down.pod";
pub const AUTOSCALER_SCALE_DOWN_FAILED: &str = "autoscaler.scale_down_failed";
pub const CLOUD_HOST_ERROR: &str = "cloud.host_error";
pub const GPU_ALLOCATABLE_SHORT: &str = "gpu.allocatable_short";
pub const GPU_APPLICATION_ERROR: &str = "gpu.application_error";
pub const GPU_APPLICATION_ERROR_REPEATED: &str = "gpu.application_error.repeated";
pub const GPU_DEVICE_PLUGIN_DOWN: &str = "gpu.device_plugin_down";
pub const GPU_MEMORY_ERROR: &str = "gpu.memory_error";
pub const GPU_XID_SYMPTOM: &str = "gpu.xid.symptom";
pub const JAX_BARRIER_TIMEOUT: &str = "jax.barrier_timeout";
pub const K8S_CONTAINER_CANNOT_RUN: &str = "k8s.container.cannot_run";
pub const K8S_CONTAINER_CHANGED_KILLED: &str = "k8s.container.changed_killed";
pub const K8S_CONTAINER_CONFIG_ERROR: &str = "k8s.container.config_error";
pub const K8S_CONTAINER_CRASH_LOOP: &str = "k8s.container.crash_loop";
pub const K8S_CONTAINER_IMAGE_PULL_FAILED: &str = "k8s.container.image_pull_failed";
pub const K8S_CONTAINER_KILLING: &str = "k8s.container.killing";
pub const K8S_CONTAINER_OOM_KILLED: &str = "k8s.container.oom_killed";
pub const K8S_CONTAINER_STARTED: &str = "k8s.container.started";
pub const K8S_LEASE_PAST_CONTROLLER_MANAGER: &str = "k8s.lease.past.controller_manager";
pub const K8S_LEASE_PAST_NODE: &str = "k8s.lease.past.node";
pub const K8S_LEASE_PAST_SCHEDULER: &str = "k8s.lease.past.scheduler";
pub const K8S_NAMESPACE_DELETION_REQUESTED: &str = "k8s.namespace.deletion_requested";
pub const K8S_NODE_CHANGED_BY_USER: &str = "k8s.node.changed_by_user";
pub const K8S_NODE_CORDONED: &str = "k8s.node.cordoned";
pub const K8S_NODE_CREATED: &str = "k8s.node.created";
pub const K8S_NODE_DELETED: &str = "k8s.node.deleted";
pub const K8S_NODE_DELETED_BY_AUTOSCALER: &str = "k8s.node.deleted_by_autoscaler";
pub const K8S_NODE_DISK: &str = "k8s.node.disk";
pub const K8S_NODE_DNS_PROBLEM: &str = "k8s.node.dns_problem";
pub const K8S_NODE_DRAINED: &str = "k8s.node.drained";
pub const K8S_NODE_GONE_IN_CLOUD: &str = "k8s.node.gone_in_cloud";
pub const K8S_NODE_MEMORY_ERROR: &str = "k8s.node.memory_error";
pub const K8S_NODE_NOT_READY: &str = "k8s.node.not_ready";
pub const K8S_NODE_READY: &str = "k8s.node.ready";
pub const K8S_NODE_REBOOTED: &str = "k8s.node.rebooted";
pub const K8S_NODE_SHUTDOWN: &str = "k8s.node.shutdown";
pub const K8S_NODE_SILENT: &str = "k8s.node.silent";
pub const K8S_NODE_UNCORDONED: &str = "k8s.node.uncordoned";
pub const K8S_NODE_UNREACHABLE: &str = "k8s.node.unreachable";
pub const K8S_POD_ASKED_AGAIN: &str = "k8s.pod.asked_again";
pub const K8S_POD_BOUND: &str = "k8s.pod.bound";
pub const K8S_POD_DEADLINE: &str = "k8s.pod.deadline";
pub const K8S_POD_DELETED: &str = "k8s.pod.deleted";
pub const K8S_POD_DELETED_BY_CONTROLLER: &str = "k8s.pod.deleted_by_controller";
pub const K8S_POD_DELETED_BY_GC: &str = "k8s.pod.deleted_by_gc";
pub const K8S_POD_DELETED_BY_KUBELET: &str = "k8s.pod.deleted_by_kubelet";
pub const K8S_POD_DELETED_BY_NAMESPACE_CONTROLLER: &str = "k8s.pod.deleted_by_namespace_controller";
pub const K8S_POD_DELETED_BY_NODE_CONTROLLER: &str = "k8s.pod.deleted_by_node_controller";
pub const K8S_POD_DELETED_BY_USER: &str = "k8s.pod.deleted_by_user";
pub const K8S_POD_DELETION_REQUESTED: &str = "k8s.pod.deletion_requested";
pub const K8S_POD_DRAINED_BY_KUBECTL: &str = "k8s.pod.drained_by_kubectl";
pub const K8S_POD_EVICTED_API: &str = "k8s.pod.evicted.api";
pub const K8S_POD_EVICTED_DEVICE_TAINT: &str = "k8s.pod.evicted.device_taint";
pub const K8S_POD_EVICTED_PRESSURE: &str = "k8s.pod.evicted.pressure";
pub const K8S_POD_EVICTED_STORAGE_LIMIT: &str = "k8s.pod.evicted.storage_limit";
pub const K8S_POD_EVICTED_TAINT: &str = "k8s.pod.evicted.taint";
pub const K8S_POD_NODE_LOST: &str = "k8s.pod.node_lost";
pub const K8S_POD_NODE_NOT_READY: &str = "k8s.pod.node_not_ready";
pub const K8S_POD_NODE_SHUTDOWN: &str = "k8s.pod.node_shutdown";
pub const K8S_POD_NOT_READY: &str = "k8s.pod.not_ready";
pub const K8S_POD_PREEMPTED: &str = "k8s.pod.preempted";
pub const K8S_POD_SANDBOX_FAILED: &str = "k8s.pod.sandbox_failed";
pub const K8S_POD_TAINT_EVICTION_CANCELLED: &str = "k8s.pod.taint_eviction_cancelled";
pub const K8S_POD_UNSCHEDULABLE: &str = "k8s.pod.unschedulable";
pub const K8S_POD_UNSCHEDULABLE_CAPACITY: &str = "k8s.pod.unschedulable.capacity";
pub const K8S_POD_UNSCHEDULED: &str = "k8s.pod.unscheduled";
pub const K8S_POD_UNTAKEN: &str = "k8s.pod.untaken";
pub const K8S_QUOTA_EXCEEDED: &str = "k8s.quota.exceeded";
pub const K8S_WORKLOAD_BACKOFF_LIMIT: &str = "k8s.workload.backoff_limit";
pub const K8S_WORKLOAD_COMPLETED: &str = "k8s.workload.completed";
pub const K8S_WORKLOAD_CREATE_FAILED: &str = "k8s.workload.create_failed";
pub const K8S_WORKLOAD_DEADLINE: &str = "k8s.workload.deadline";
pub const K8S_WORKLOAD_DELETED: &str = "k8s.workload.deleted";
pub const K8S_WORKLOAD_DELETED_BY_CONTROLLER: &str = "k8s.workload.deleted_by_controller";
pub const K8S_WORKLOAD_DELETED_BY_TTL: &str = "k8s.workload.deleted_by_ttl";
pub const K8S_WORKLOAD_DELETION_REQUESTED: &str = "k8s.workload.deletion_requested";
pub const K8S_WORKLOAD_FAILED: &str = "k8s.workload.failed";
pub const K8S_WORKLOAD_POD_DELETED: &str = "k8s.workload.pod_deleted";
pub const K8S_WORKLOAD_RESTARTING: &str = "k8s.workload.restarting";
pub const K8S_WORKLOAD_RESUMED: &str = "k8s.workload.resumed";
pub const K8S_WORKLOAD_SCALED: &str = "k8s.workload.scaled";
pub const K8S_WORKLOAD_SCALED_TO_ZERO: &str = "k8s.workload.scaled.to_zero";
pub const K8S_WORKLOAD_SPEC_CHANGED: &str = "k8s.workload.spec_changed";
pub const K8S_WORKLOAD_SUSPENDED: &str = "k8s.workload.suspended";
pub const K8S_WORKLOAD_UNTOUCHED: &str = "k8s.workload.untouched";
pub const K8S_WORKLOAD_UPDATED_BY_USER: &str = "k8s.workload.updated_by_user";
pub const KERNEL_DISK_ERROR: &str = "kernel.disk_error";
pub const KERNEL_MACHINE_CHECK: &str = "kernel.machine_check";
pub const KERNEL_MEMORY_ERROR: &str = "kernel.memory_error";
pub const KERNEL_OOM_KILL: &str = "kernel.oom_kill";
pub const KERNEL_OOM_KILL_LIMIT: &str = "kernel.oom_kill.limit";
pub const KERNEL_OOM_KILL_LIMIT_PROCESS: &str = "kernel.oom_kill.limit.process";
pub const KERNEL_OOM_KILL_NODE: &str = "kernel.oom_kill.node";
pub const KERNEL_OOM_KILL_NODE_PROCESS: &str = "kernel.oom_kill.node.process";
pub const KERNEL_OOM_KILL_OUTSIDE: &str = "kernel.oom_kill.outside";
pub const KERNEL_PANIC: &str = "kernel.panic";
pub const KERNEL_PCIE_ERROR: &str = "kernel.pcie_error";
pub const KERNEL_SEGFAULT: &str = "kernel.segfault";
pub const KUEUE_EVICTED_DEADLINE: &str = "kueue.evicted.deadline";
pub const LAUNCHER_ROOT_CAUSE: &str = "launcher.root_cause";
pub const LAUNCHER_TEARDOWN_STEP: &str = "launcher.teardown.step";
pub const LAUNCHER_WORKER_FAILED: &str = "launcher.worker_failed";
pub const LOG_CHECKPOINT_LOADED: &str = "log.checkpoint_loaded";
pub const LOG_CHECKPOINT_SAVED: &str = "log.checkpoint_saved";
pub const LOG_CONNECTION_REFUSED: &str = "log.connection_refused";
pub const LOG_CUDA_ERROR: &str = "log.cuda_error";
pub const LOG_EXCEPTION_LINE: &str = "log.exception.line";
pub const LOG_HANGUP: &str = "log.hangup";
pub const LOG_HOST_OOM: &str = "log.host_oom";
pub const LOG_IO_ERROR: &str = "log.io_error";
pub const LOG_KILLED: &str = "log.killed";
pub const LOG_NO_PROGRESS: &str = "log.no_progress";
pub const LOG_PROGRESS: &str = "log.progress";
pub const LOG_RANK_BEHIND: &str = "log.rank_behind";
pub const LOG_RANK_SLOW: &str = "log.rank_slow";
pub const LOG_RESTART_LOOP: &str = "log.restart_loop";
pub const LOG_SERVICE_UNREACHABLE: &str = "log.service_unreachable";
pub const LOG_SHIPPER: &str = "log.shipper";
pub const LOG_SIGTERM: &str = "log.sigterm";
pub const LOG_SILENT: &str = "log.silent";
pub const LOG_SLOW: &str = "log.slow";
pub const LOG_SLOW_PASSED: &str = "log.slow_passed";
pub const LOG_TRACEBACK: &str = "log.traceback";
pub const LOG_TRAINING_DONE: &str = "log.training_done";
pub const LOG_TRAINING_DONE_AS_SET: &str = "log.training_done.as_set";
pub const LOG_UNHEARD: &str = "log.unheard";
pub const LOG_WRONG_RESULT_PERSISTENT: &str = "log.wrong_result.persistent";
pub const MAINTENANCE_ANNOUNCED: &str = "maintenance.announced";
pub const MAINTENANCE_CALLED_OFF: &str = "maintenance.called_off";
pub const MAINTENANCE_DONE: &str = "maintenance.done";
pub const MAINTENANCE_MIGRATED: &str = "maintenance.migrated";
pub const MAINTENANCE_STARTED: &str = "maintenance.started";
pub const MPI_ABORTED: &str = "mpi.aborted";
pub const MPI_NODE_LOST: &str = "mpi.node_lost";
pub const MPI_PROCESS_DIED: &str = "mpi.process_died";
pub const NCCL_MISMATCH: &str = "nccl.mismatch";
pub const NCCL_NO_DUMP: &str = "nccl.no_dump";
pub const NCCL_RANK_MISSING: &str = "nccl.rank_missing";
pub const NCCL_STATE_AT_TIMEOUT: &str = "nccl.state_at_timeout";
pub const NCCL_TIMEOUT: &str = "nccl.timeout";
pub const NODE_CRASHED: &str = "node.crashed";
pub const NODE_KILL_REQUESTED: &str = "node.kill_requested";
pub const NODE_POWERING_OFF: &str = "node.powering_off";
pub const NODE_REBOOTING: &str = "node.rebooting";
pub const RAY_NODE_DIED: &str = "ray.node_died";
pub const SLURM_CANCELLED: &str = "slurm.cancelled";
pub const SLURM_NODE_BACK: &str = "slurm.node.back";
pub const SLURM_NODE_DOWN: &str = "slurm.node.down";
pub const SLURM_NODE_NOT_RESUMED: &str = "slurm.node.not_resumed";
pub const SLURM_TASK_FAILED: &str = "slurm.task_failed";
pub const SLURM_TIME_LIMIT: &str = "slurm.time_limit";
pub const SLURM_WAITING_CAPACITY: &str = "slurm.waiting.capacity";
pub const SLURM_WAITING_CLEANING: &str = "slurm.waiting.cleaning";
pub const SLURM_WAITING_TURN: &str = "slurm.waiting.turn";
pub const UNIT_MAIN_EXITED: &str = "unit.main_exited";
pub const UNIT_OOM_KILLED: &str = "unit.oom_killed";
pub const UNIT_STOP_REQUESTED: &str = "unit.stop_requested";
pub const UNIT_STOPPING: &str = "unit.stopping";
pub const UNIT_TIMED_OUT: &str = "unit.timed_out";
pub const UPGRADE_STARTED: &str = "upgrade.started";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use crate::signals::Ruleset;

    /// The literals of a source before its tests, comments left out.
    fn literals(source: &str) -> Vec<&str> {
        let tests =
            regex::Regex::new(r"#\[cfg\(test\)\]\s*\n(?:pub(?:\([^)]*\))? )?mod \w+ \{").unwrap();
        let end = tests
            .find(source)
            .map_or(source.len(), |found| found.start());
        let literal = regex::Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
        let lines = source[..end].lines();
        let code = lines.filter(|line| !line.trim_start().starts_with("//"));
        let found = code.flat_map(|line| literal.captures_iter(line));
        found.map(|found| found.get(1).unwrap().as_str()).collect()
    }

    fn sources(folder: &Path, into: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "tests" | "fixtures") {
                    sources(&path, into);
                }
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "testing.rs" {
                into.push((
                    path.display().to_string(),
                    fs::read_to_string(&path).unwrap(),
                ));
            }
        }
    }

    #[test]
    fn each_is_a_signal_and_stands_here_alone() {
        let rules = Ruleset::shared();
        let names: BTreeSet<&str> = rules.signals().map(|signal| signal.name.as_str()).collect();
        let known = literals(include_str!("named.rs"));
        let known: Vec<&str> = known
            .into_iter()
            .filter(|name| name.contains('.'))
            .collect();
        assert!(
            known.len() <= MOST,
            "{} names: say what they have in common in their entries",
            known.len()
        );
        assert!(known.is_sorted());
        let unknown: Vec<_> = known.iter().filter(|name| !names.contains(*name)).collect();
        assert!(unknown.is_empty(), "no signals: {unknown:?}");
        let mut all = Vec::new();
        for folder in ["src", "../src"] {
            sources(Path::new(folder), &mut all);
        }
        assert!(all.len() > 200);
        let mut used = BTreeSet::new();
        let mut spelt_out = Vec::new();
        for (path, source) in &all {
            // The other file knows names of causes, some of which are those of signals.
            if path.ends_with("signals/named.rs") || path.ends_with("accuracy/named.rs") {
                continue;
            }
            let named = source.split("named::").skip(1);
            used.extend(named.map(|rest| {
                rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .next()
                    .unwrap()
            }));
            let literals = literals(source)
                .into_iter()
                .filter(|text| names.contains(text));
            spelt_out.extend(literals.map(|name| format!("{path}: {name}")));
        }
        assert!(
            spelt_out.is_empty(),
            "these belong into core/src/signals/named.rs: {spelt_out:#?}"
        );
        let unused = known
            .iter()
            .filter(|name| !used.contains(name.replace('.', "_").to_uppercase().as_str()));
        assert_eq!(
            unused.collect::<Vec<_>>(),
            Vec::<&&str>::new(),
            "used by nothing"
        );
    }

    /// How many there may be. Only ever lower this.
    const MOST: usize = 162;
}
