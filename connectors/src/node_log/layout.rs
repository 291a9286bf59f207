//! Whose log a file is, from where it lies in a bundle.

use std::sync::LazyLock;

use regex::Regex;

use crate::logs::LogSource;

static KNOWN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // must-gather: nodes/<node>/<node>_logs_kubelet.gz, nodes/<node>/dmesg
        r"(?:^|/)nodes/(?<host>[^/]+)/[^/]+$",
        // sosreport-<host>-2026-11-21-abcdefg/, sosreport-<host>.<case>-20261121…/
        r"(?:^|/)sosreport-(?<host>[A-Za-z0-9][A-Za-z0-9.-]*?)(?:\.\d+|-\d{6,})?-\d{4}-?\d\d-?\d\d",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// The machine that a log is of: what whoever gave it said, else what its path names.
pub(super) fn machine(source: &LogSource) -> Option<String> {
    let known = source.entities.node.clone();
    known.or_else(|| host(&source.file))
}

/// The machine that a path names.
fn host(name: &str) -> Option<String> {
    let path = name.replace(['!', '\\'], "/");
    KNOWN
        .iter()
        .find_map(|pattern| Some(pattern.captures(&path)?["host"].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_name_the_machine() {
        for (path, want) in [
            (
                "mg.tar.gz!must-gather/quay-io/nodes/gpu-7/gpu-7_logs_kubelet.gz",
                Some("gpu-7"),
            ),
            ("must-gather/nodes/gpu-7.lab/dmesg", Some("gpu-7.lab")),
            (
                "sosreport-gpu-7-2026-11-21-abcdefg/var/log/messages",
                Some("gpu-7"),
            ),
            (
                "sosreport-gpu-7.4711-20261121152027/sos_commands/kernel/dmesg",
                Some("gpu-7"),
            ),
            ("host_service_logs/masters/kubelet_service.log", None),
            ("dmesg-gpu-7.log", None),
        ] {
            assert_eq!(host(path).as_deref(), want, "{path}");
        }
    }
}
