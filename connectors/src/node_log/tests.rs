//! Logs of hosts through the front door.

use std::path::Path;

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::{Stamp, rfc3339};

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

pub(super) fn read_path(path: &Path) -> (Summary, Vec<Event>) {
    let mut kept = Collected::default();
    let options = Options {
        workers: 2,
        ..Options::default()
    };
    let summary = read(&[Input::Path(path.to_owned())], &options, &mut kept);
    let events = kept.0.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (summary, events.collect())
}

pub(crate) fn read_bytes(bytes: &[u8]) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, bytes).unwrap();
    read_path(&path)
}

pub(super) fn emitted(events: &[Event]) -> Vec<(&str, String, &str)> {
    events
        .iter()
        .map(|event| {
            let time = if event.time == Stamp::OPEN {
                String::new()
            } else {
                rfc3339(event.time.lo)
            };
            (
                event.entities.node.as_deref().unwrap_or_default(),
                time,
                event.message.as_deref().unwrap_or_default(),
            )
        })
        .collect()
}

fn expect(events: &[Event], want: &[(&str, &str, &str)]) {
    let want: Vec<_> = want
        .iter()
        .map(|(node, time, message)| (*node, (*time).to_owned(), *message))
        .collect();
    assert_eq!(emitted(events), want);
}

const XID: &str =
    "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.";

#[test]
fn only_what_means_something_is_kept_and_all_is_counted() {
    let calm = "2026-11-21T15:20:27+0000 gpu-7 systemd[1]: Started Session 4 of user root.\n";
    let text = format!(
        "{}2026-11-21T15:20:30+0000 gpu-7 kernel: {XID}\n{}",
        calm.repeat(5_000),
        calm.repeat(5_000)
    );
    let (summary, events) = read_bytes(text.as_bytes());
    expect(&events, &[("gpu-7", "2026-11-21T15:20:30Z", XID)]);
    assert_eq!(events[0].origin.line, 5_001);
    assert_eq!(events[0].attribute("xid"), Some("79"));
    assert_eq!(
        (summary.total.records, summary.total.irrelevant),
        (10_001, 10_000)
    );
    assert_eq!(summary.files[0].form, "log of a host");
}

#[test]
fn a_journal_says_the_same_in_every_form() {
    let json = format!(
        "{}\n{}\n",
        serde_json::json!({"__CURSOR": "s=1", "__REALTIME_TIMESTAMP": "1795274426000000", "_HOSTNAME": "gpu-7", "SYSLOG_IDENTIFIER": "systemd", "MESSAGE": "Started x"}),
        serde_json::json!({"__CURSOR": "s=2", "__REALTIME_TIMESTAMP": "1795274427000000", "_HOSTNAME": "gpu-7", "_TRANSPORT": "kernel", "MESSAGE": XID}),
    );
    let export = format!(
        "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1795274426000000\n_HOSTNAME=gpu-7\nMESSAGE=Started x\n\n__CURSOR=s=2\n__REALTIME_TIMESTAMP=1795274427000000\n_HOSTNAME=gpu-7\n_TRANSPORT=kernel\nMESSAGE={XID}\n\n"
    );
    let short = format!(
        "2026-11-21T15:20:26+0000 gpu-7 systemd[1]: Started x\n2026-11-21T15:20:27+0000 gpu-7 kernel: {XID}\n"
    );
    let mut ids = Vec::new();
    for (text, form) in [
        (json, "journal in JSON"),
        (export, "journal export"),
        (short, "log of a host"),
    ] {
        let (summary, events) = read_bytes(text.as_bytes());
        expect(&events, &[("gpu-7", "2026-11-21T15:20:27Z", XID)]);
        assert_eq!(summary.files[0].form, form);
        assert_eq!(
            (summary.total.records, summary.total.irrelevant),
            (2, 1),
            "{form}"
        );
        ids.push(events[0].id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "one fact");
}

#[test]
fn times_that_come_later_place_lines_before() {
    let text = format!(
        "[    1.000000] Linux version 6.8.0\n[    1.500000] {XID}\n[    2.000000] rtc_cmos 00:02: setting system clock to 2026-11-21T15:20:27 UTC (1795274427)\n"
    );
    let (_, events) = read_bytes(text.as_bytes());
    let xid = events
        .iter()
        .find(|event| event.attribute("xid").is_some())
        .unwrap();
    assert_eq!(rfc3339(xid.time.lo)[..19].to_owned(), "2026-11-21T15:20:26");
    assert_eq!(xid.attribute("time_inferred"), Some("boot"));
    let (_, events) = read_bytes(format!("[    1.500000] {XID}\n").as_bytes());
    expect(&events, &[("", "", XID)]);
    assert_eq!(events[0].attributes["uptime_s"], 1);
    let (_, events) = read_bytes(format!("Nov 21 15:20:27 gpu-7 kernel: {XID}\n").as_bytes());
    expect(&events, &[("gpu-7", "", XID)]);
    assert_eq!(
        events[0].attribute("time_without_year"),
        Some("--11-21T15:20:27")
    );
}

#[test]
fn a_start_says_whether_the_machine_was_shut_down() {
    let busy = "Nov 21 15:20:20 n1 sshd[7]: x\nNov 21 15:20:21 n1 kubelet[9]: 2026-11-21 x\nNov 21 15:20:22 n1 kernel: x\n";
    let start = "-- Boot 0123456789abcdef0123456789abcdef --\nNov 21 15:30:00 n1 kernel: Linux version 6.8.0\n";
    let (_, events) = read_bytes(format!("{busy}{start}").as_bytes());
    expect(
        &events,
        &[("n1", "2026-11-21T15:30:00Z", "Linux version 6.8.0")],
    );
    assert_eq!(events[0].attribute("shutdown_before"), Some("no"));
    let end = "Nov 21 15:20:23 n1 systemd-journald[3]: Journal stopped\n";
    let (_, events) = read_bytes(format!("{busy}{end}{start}").as_bytes());
    assert_eq!(events[1].attribute("shutdown_before"), Some("yes"));
}

#[test]
fn records_are_read_whatever_the_blocks_they_come_in() {
    let calm = serde_json::json!({"__REALTIME_TIMESTAMP": "1795274428000000", "_HOSTNAME": "gpu-7", "MESSAGE": "x".repeat(3_000)});
    let mut text = String::new();
    for n in 0..1_000 {
        let at = 1_795_274_427_000_000_i64 + n * 100_000_000;
        let one = serde_json::json!({"__REALTIME_TIMESTAMP": at.to_string(), "_HOSTNAME": "gpu-7", "_TRANSPORT": "kernel", "MESSAGE": format!("{XID} {n}")});
        text.push_str(&format!("{calm}\n{one}\n"));
    }
    let (summary, events) = read_bytes(text.as_bytes());
    assert_eq!(events.len(), 1_000);
    assert_eq!(summary.total.records, 2_000);
    let lines: Vec<u64> = events.iter().map(|event| event.origin.line).collect();
    assert_eq!(lines, (1..=1_000).map(|n| n * 2).collect::<Vec<u64>>());
}

#[test]
fn damaged_records_are_counted() {
    let text = "{\"__REALTIME_TIMESTAMP\":\"1795274427000000\",\"MESSAGE\":\"x\"}\n{\"__REALTIME_TIMESTAMP\":\"x\",\"MESSAGE\":\"Kernel panic - not syncing\"}\n{\"MESSAGE\":\"Kernel panic - not syncing\n";
    let (summary, events) = read_bytes(text.as_bytes());
    assert_eq!((events.len(), summary.total.rejected), (0, 2));
    assert_eq!(summary.rejected[0].origin.line, 2);
}

fn shared(name: &str) -> Option<std::path::PathBuf> {
    let path = Path::new("../../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    whathappened_loopback::skipped("no ../shared");
    None
}

#[test]
fn the_recorded_kernel_logs_come_out_with_their_times() {
    let Some(path) = shared("incidents/gpu-xid119/input") else {
        return;
    };
    let (_, events) = read_path(&path);
    let xids: Vec<_> = events
        .iter()
        .filter(|event| event.attribute("xid") == Some("119"))
        .collect();
    assert!(xids.len() > 4, "{}", events.len());
    assert_eq!(rfc3339(xids[0].time.lo), "2025-02-23T16:24:18Z");
    assert_eq!(xids[0].attribute("gpu_pci"), Some("0000:9b:00"));
    assert!(
        xids[0]
            .attribute("gpu_uuid")
            .is_some_and(|uuid| uuid.starts_with("GPU-5096"))
    );
    assert_eq!(xids[0].attribute("process"), Some("nvidia-smi"));

    let gpu = Path::new("../../shared/recordings/gpu");
    let (_, events) = read_path(&gpu.join("gpud-dmesg.decode.iso.memory.log"));
    let xids: Vec<_> = events
        .iter()
        .filter_map(|event| event.attribute("xid"))
        .collect();
    assert_eq!((xids.len(), xids[0], xids[16]), (17, "13", "43"));
    let symptom = events
        .iter()
        .find(|event| event.attribute("xid") == Some("43"))
        .unwrap();
    assert_eq!(symptom.attribute("follows_xid"), Some("13"));
    assert_eq!(rfc3339(events[0].time.lo), "2025-01-21T04:41:44.283302Z");
}

/// Recordings put a label before each line.
fn unlabelled(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let labelled = line.as_bytes().get(2) == Some(&b']') && line.starts_with('[');
            if labelled {
                line[3..].trim_start()
            } else {
                line
            }
        })
}

#[test]
fn every_recorded_xid_is_read() {
    let Some(folder) = shared("recordings/gpu") else {
        return;
    };
    let mut read = 0;
    for name in ["gpud-xid-lines.txt", "public-xid-lines-real.txt"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        for line in unlabelled(&text) {
            let (_, events) = read_bytes(format!("{line}\n").as_bytes());
            let node: Vec<_> = events
                .iter()
                .filter(|event| event.fact == "node.log")
                .collect();
            if line.contains("(invalid)") {
                assert!(node.iter().all(|event| event.attribute("xid").is_none()));
                continue;
            }
            assert_eq!(node.len(), 1, "{line}");
            let number = line.split("): ").nth(1).unwrap();
            let number = number.split(',').next().unwrap();
            assert_eq!(node[0].attribute("xid"), Some(number), "{line}");
            read += 1;
        }
    }
    assert_eq!(read, 57);
}

#[test]
fn healthy_machines_mean_nothing() {
    let Some(folder) = shared("recordings/onprem") else {
        return;
    };
    for name in [
        "loghub-Linux-120lines.log",
        "loghub-Thunderbird-120lines.log",
    ] {
        let (summary, events) = read_path(&folder.join(name));
        assert_eq!(summary.files[0].form, "log of a host", "{name}");
        // The last line shows until when the machine wrote.
        assert!(events.len() <= 1, "{name}: {:?}", emitted(&events));
        assert!(events.iter().all(|event| event.signals.is_empty()));
        assert!(summary.total.irrelevant >= 119, "{name}");
    }
    let input = folder.join("../../incidents/mg-aws-healthy/input");
    for name in ["kubelet_service.log.gz", "crio_service.log.gz"] {
        let (summary, events) = read_path(&input.join(name));
        assert_eq!(summary.files[0].form, "gzip, log of a host", "{name}");
        let said: std::collections::BTreeSet<_> = events
            .iter()
            .map(|event| event.attribute("program"))
            .collect();
        assert!(events.len() < 20, "{name}: {said:?} {:?}", emitted(&events));
    }
}

#[test]
fn orderly_and_other_ends_are_told_apart() {
    let Some(folder) = shared("recordings/onprem") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("systemd-shutdown-real.txt")).unwrap();
    let lines: Vec<&str> = unlabelled(&text).collect();
    let (_, events) = read_bytes(lines[..6].join("\n").as_bytes());
    let start = events
        .iter()
        .find(|event| event.attribute("shutdown_before").is_some())
        .unwrap();
    assert_eq!(start.attribute("shutdown_before"), Some("yes"));
    assert_eq!(start.entities.host.as_deref(), Some("be3af2b6059f"));
}

#[test]
fn tools_and_controllers_say_what_they_did() {
    let chef = "[2026-11-21T15:20:00+00:00] INFO: *** Chef 18.0 ***\n[2026-11-21T15:20:01+00:00] INFO: Starting Chef Infra Client run for gpu-7\n[2026-11-21T15:20:02+00:00] INFO: Processing service[kubelet] action restart (base::kubelet line 3)\n[2026-11-21T15:20:09+00:00] INFO: Chef Run complete in 8.1 seconds\nChef Infra Client finished, 2/40 resources updated in 9 seconds\n";
    let (summary, events) = read_bytes(chef.as_bytes());
    assert_eq!(summary.files[0].form, "log of Chef");
    expect(
        &events,
        &[
            (
                "gpu-7",
                "2026-11-21T15:20:02Z",
                "Processing service[kubelet] action restart (base::kubelet line 3)",
            ),
            (
                "gpu-7",
                "2026-11-21T15:20:09Z",
                "Chef Infra Client finished, 2/40 resources updated in 9 seconds",
            ),
        ],
    );
    let sel = "  1a | 11/21/2026 | 15:20:27 | Memory #0x08 | Uncorrectable ECC | Asserted\n  1b | 11/21/2026 | 15:20:27 | OS Boot #0x22 | boot completed | Asserted\n  1c | Pre-Init  | | Power Unit PowerUnit | Power off/down | Asserted\n";
    let csv = "1a,11/21/2026,15:20:27,Memory #0x08,Uncorrectable ECC,Asserted\n";
    let (summary, events) = read_bytes(sel.as_bytes());
    assert_eq!(summary.files[0].form, "event log of a machine's controller");
    expect(
        &events,
        &[
            (
                "",
                "2026-11-21T15:20:27Z",
                "Memory #0x08: Uncorrectable ECC, Asserted",
            ),
            ("", "", "Power Unit PowerUnit: Power off/down, Asserted"),
        ],
    );
    let (_, events) = read_bytes(csv.as_bytes());
    expect(
        &events,
        &[(
            "",
            "2026-11-21T15:20:27Z",
            "Memory #0x08: Uncorrectable ECC, Asserted",
        )],
    );
    let apt = "\nStart-Date: 2026-11-21  15:20:27\nCommandline: apt upgrade\nRequested-By: alice (1000)\nUpgrade: containerd:amd64 (1.7, 1.8)\nEnd-Date: 2026-11-21  15:20:40\n";
    let (_, events) = read_bytes(apt.as_bytes());
    expect(
        &events,
        &[(
            "",
            "2026-11-21T15:20:27Z",
            "Upgrade: containerd:amd64 (1.7, 1.8)",
        )],
    );
    assert_eq!(events[0].actor.as_deref(), Some("alice"));
    let kured = "time=\"2026-11-21T15:20:26Z\" level=info msg=\"Kubernetes Reboot Daemon: 1.15\"\ntime=\"2026-11-21T15:20:27Z\" level=info msg=\"Commanding reboot for node: gpu-7\"\n";
    let (_, events) = read_bytes(kured.as_bytes());
    expect(
        &events,
        &[(
            "gpu-7",
            "2026-11-21T15:20:27Z",
            "Commanding reboot for node: gpu-7",
        )],
    );
    let sudo = "2026-11-21T15:20:27+0000 gpu-7 sudo[9]:    alice : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/reboot\n";
    let (_, events) = read_bytes(sudo.as_bytes());
    assert_eq!(events[0].actor.as_deref(), Some("alice"));
}

#[test]
fn json_of_machines_is_read() {
    let maas = serde_json::json!({"events-query": {"count": 2, "events": [
        {"username": "alice", "node": "abc", "hostname": "gpu-7", "id": 2, "level": "DEBUG", "created": "Sat, 21 Nov. 2026 15:20:27", "type": "Node powered off", "description": ""},
        {"username": "unknown", "node": "abc", "hostname": "gpu-7", "id": 1, "level": "INFO", "created": "Sat, 21 Nov. 2026 15:20:20", "type": "Rack import info", "description": "x"},
    ]}});
    let (_, events) = read_bytes(serde_json::to_string_pretty(&maas).unwrap().as_bytes());
    expect(
        &events,
        &[("gpu-7", "2026-11-21T15:20:27Z", "Node powered off")],
    );
    assert_eq!(events[0].actor.as_deref(), Some("alice"));
    let kinds = [
        "Deployed",
        "Releasing",
        "Failed testing",
        "Loading ephemeral",
    ];
    let maas: Vec<_> = kinds
        .iter()
        .map(|kind| serde_json::json!({"username": "unknown", "node": "abc", "hostname": "gpu-7", "id": 3, "level": "INFO", "created": "Sat, 21 Nov. 2026 15:20:27", "type": kind, "description": ""}))
        .collect();
    let maas = serde_json::json!({"events-query": {"count": 4, "events": maas}});
    let (_, events) = read_bytes(maas.to_string().as_bytes());
    let at = "2026-11-21T15:20:27Z";
    expect(
        &events,
        &[
            ("gpu-7", at, "Deployed"),
            ("gpu-7", at, "Releasing"),
            ("gpu-7", at, "Failed testing"),
        ],
    );
    let redfish = serde_json::json!({"Members": [
        {"@odata.type": "#LogEntry.v1_4_0.LogEntry", "Id": "7", "EntryType": "SEL", "Severity": "Critical", "Created": "2026-11-21T15:20:27Z", "SensorType": "Memory", "EntryCode": "Assert", "Message": "Uncorrectable ECC"},
        {"@odata.type": "#LogEntry.v1_4_0.LogEntry", "Id": "8", "EntryType": "SEL", "Severity": "OK", "Created": "2026-11-21T15:20:28Z", "Message": "Log cleared"},
    ]});
    let (_, events) = read_bytes(redfish.to_string().as_bytes());
    expect(
        &events,
        &[(
            "",
            "2026-11-21T15:20:27Z",
            "Memory: Uncorrectable ECC, Asserted",
        )],
    );
    let calendar = "{\"maintenance\":\"replace the switch\",\"hosts\":[\"n[1-2]\"],\"starts\":\"2026-11-21T15:00:00Z\",\"ends\":\"2026-11-21T16:00:00Z\",\"status\":\"done\",\"by\":\"alice\"}\n";
    let (_, events) = read_bytes(calendar.as_bytes());
    expect(
        &events,
        &[
            ("n1", "2026-11-21T15:00:00Z", "replace the switch"),
            ("n2", "2026-11-21T15:00:00Z", "replace the switch"),
        ],
    );
    assert_eq!(events[0].attribute("phase"), Some("acted"));
    let csv = "maintenance,hosts,starts,status\nreplace the switch,\"n1,n2\",2026-11-21T15:00:00Z,planned\nx,n1,yesterday,\n";
    let (summary, events) = read_bytes(csv.as_bytes());
    assert_eq!((events.len(), summary.total.rejected), (2, 1));
    assert_eq!(events[1].attribute("phase"), Some("announced"));
    assert_eq!(
        events[1].time,
        Stamp::OPEN,
        "when it was announced is not told"
    );
    assert_eq!(
        events[1].attribute("not_before"),
        Some("2026-11-21T15:00:00Z")
    );
}

/// Each date of a line was a reason to read the whole line once more: half a megabyte took minutes.
#[test]
fn a_line_of_many_dates_is_read_once() {
    let mut log = "Nov 20 10:00:00 gpu-1 kernel: boot\nNov 20 10:00:01 gpu-1 kernel:".to_owned();
    log.push_str(&" 2025-01-01".repeat(40_000));
    log.push('\n');
    let begun = std::time::Instant::now();
    read_bytes(log.as_bytes());
    let took = begun.elapsed();
    assert!(took.as_secs() < 20, "{took:?}");
}
