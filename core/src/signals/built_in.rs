//! The files that are compiled in.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../queries/signals/", $name)))),*]
    };
}

/// Name and text of each file in `queries/signals/`, one line a file.
pub(super) const FILES: &[(&str, &str)] = files![
    "actors.toml",
    "audit.toml",
    "autoscaler.toml",
    "aws.toml",
    "azure.toml",
    "cloud.toml",
    "container.toml",
    "distributed.toml",
    "gcp.toml",
    "gpu.toml",
    "kernel.toml",
    "kueue.toml",
    "log.toml",
    "maintenance.toml",
    "metrics.toml",
    "node.toml",
    "pod.toml",
    "scheduling.toml",
    "slurm.toml",
    "storage.toml",
    "tracker.toml",
    "workload.toml",
];
