//! What healthy machines write, in great numbers: nothing of it may be told.

use std::fmt::Write as _;

use super::tests::read_bytes;

/// Lines in which `#` stands for a number that differs: several look like
/// trouble to whoever only looks for a word.
const LINES: &[(&str, &str)] = &[
    (
        "kubelet",
        "I1121 15:20:27.00# 9 kubelet.go:2421] \"SyncLoop ADD\" source=\"api\" pods=[\"lab/train-#\"]",
    ),
    (
        "kubelet",
        "I1121 15:20:27.00# 9 kubelet.go:2431] \"SyncLoop DELETE\" source=\"api\" pods=[\"lab/train-#\"]",
    ),
    (
        "kubelet",
        "W1121 15:20:27.00# 9 watcher.go:93] Error while processing event (\"/sys/fs/cgroup/devices/#\": 0x40000100 == IN_CREATE|IN_ISDIR): no such file or directory",
    ),
    (
        "kubelet",
        "E1121 15:20:27.00# 9 cadvisor_stats_provider.go:516] \"Partial failure issuing cadvisor.ContainerInfoV2\" err=\"partial failures: [#]\"",
    ),
    (
        "kubelet",
        "I1121 15:20:27.00# 9 prober.go:107] \"Probe failed\" probeType=\"Readiness\" pod=\"lab/web-#\" probeResult=\"failure\" output=\"HTTP probe failed with statuscode: 503\"",
    ),
    (
        "containerd",
        "time=\"2026-11-21T15:20:27Z\" level=info msg=\"StopContainer for \\\"#\\\" with timeout 30 (s)\"",
    ),
    (
        "containerd",
        "time=\"2026-11-21T15:20:27Z\" level=warning msg=\"cleaning up after shim disconnected\" id=# namespace=k8s.io",
    ),
    ("kernel", "veth#: renamed from eth0"),
    ("kernel", "cni0: port #(veth#) entered disabled state"),
    ("kernel", "device veth# left promiscuous mode"),
    (
        "kernel",
        "EXT4-fs (nvme#n1): mounted filesystem with ordered data mode",
    ),
    ("kernel", "nvidia 0000:9b:00.0: irq # for MSI/MSI-X"),
    (
        "kernel",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.#",
    ),
    (
        "kernel",
        "perf: interrupt took too long (# > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
    ),
    (
        "kernel",
        "audit: type=1400 audit(1795274427.1:#): apparmor=\"ALLOWED\" operation=\"open\"",
    ),
    (
        "kernel",
        "TCP: request_sock_TCP: Possible SYN flooding on port #. Sending cookies.",
    ),
    ("systemd", "Started Session # of User alice."),
    ("systemd", "session-#.scope: Deactivated successfully."),
    ("systemd", "Starting Daily apt download activities..."),
    ("systemd", "Stopping User Manager for UID #..."),
    ("systemd-logind", "Removed session #."),
    (
        "sshd",
        "error: kex_exchange_identification: Connection closed by remote host #",
    ),
    (
        "sshd",
        "Failed password for invalid user admin from 10.0.0.# port # ssh2",
    ),
    (
        "CRON",
        "(root) CMD (test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily #)",
    ),
    ("chronyd", "Selected source 10.0.0.# (ntp.lab)"),
    (
        "slurmd",
        "launch task StepId=#.0 request from UID:1001 GID:1001 HOST:10.0.0.4 PORT:#",
    ),
    (
        "slurmctld",
        "sched: Allocate JobId=# NodeList=n1 #CPUs=8 Partition=main",
    ),
    ("slurmctld", "_job_complete: JobId=# WEXITSTATUS 0"),
    ("chef-client", "INFO: Chef Run complete in # seconds"),
    (
        "nv-fabricmanager",
        "successfully configured all the available NVSwitches, # in all",
    ),
    (
        "node-exporter",
        "level=error collector=nvme msg=\"collector failed\" duration_seconds=#",
    ),
    (
        "dockerd",
        "level=info msg=\"ignoring event\" container=# module=libcontainerd topic=/tasks/delete",
    ),
    ("kured", "level=info msg=\"Reboot not required (#)\""),
];

#[test]
fn eighty_two_thousand_lines_of_healthy_machines_blame_nobody() {
    const ALL: u64 = 82_000;
    let mut journal = String::new();
    for number in 0..ALL {
        let (program, text) = LINES[usize::try_from(number).unwrap() % LINES.len()];
        let record = serde_json::json!({
            "__CURSOR": format!("s=1;i={number:x}"),
            "__REALTIME_TIMESTAMP": (1_795_274_400_000_000 + number * 10_000).to_string(),
            "_HOSTNAME": format!("gpu-{}", number % 64),
            "_BOOT_ID": "5f2f8d9c3ab74aa0b0a5a2b9e51a7c10",
            "PRIORITY": "6",
            "SYSLOG_IDENTIFIER": program,
            "MESSAGE": text.replace('#', &number.to_string()),
        });
        writeln!(journal, "{record}").unwrap();
    }
    let (summary, events) = read_bytes(journal.as_bytes());
    assert_eq!((summary.total.records, summary.total.rejected), (ALL, 0));
    // Jobs that began and ended well are told, and that is all.
    let others: Vec<_> = events
        .iter()
        .filter(|event| event.fact != "slurm.launch")
        .filter(|event| !matches!(event.reason.as_deref(), Some("RUNNING" | "COMPLETED")))
        .map(|event| event.message.clone())
        .collect();
    assert_eq!(others, Vec::<Option<String>>::new());
}
