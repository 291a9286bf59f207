//! Programs on a machine of one's own: what systemd, the kernel and administrators do to a service or to the machine
//! under it, where the log of the program says nothing of that.

use super::unseen::{ask, text, verdict};

const STEPS: &[&str] = &[
    "[2026-10-02 09:58:20] step 850 loss 2.9450",
    "[2026-10-02 09:58:40] step 860 loss 2.9420",
    "[2026-10-02 09:59:00] step 870 loss 2.9390",
    "[2026-10-02 09:59:20] step 880 loss 2.9360",
    "[2026-10-02 09:59:40] step 890 loss 2.9330",
];

/// State and cause of a log, where its machine's journal holds these lines, and the log ends with these.
fn told(journal: &[&str], last: &[&str]) -> (String, String) {
    let begin = ["2026-10-02T09:00:00+00:00 m3 systemd[1]: Started train.service - Training."];
    let lines: Vec<String> = begin
        .iter()
        .chain(journal)
        .map(|line| (*line).to_owned())
        .collect();
    let files = [
        ("m3/train.log", text(&[STEPS, last].concat())),
        ("m3/journal.log", lines.join("\n") + "\n"),
    ];
    let answer = ask("train", &files);
    let (state, cause, _, _) = verdict(&answer);
    (state.to_owned(), cause.to_owned())
}

#[test]
fn a_log_ends_with_the_machine_under_it() {
    let reboot = [
        "2026-10-02T10:00:02+00:00 m3 systemd-logind[700]: The system will reboot now!",
        "2026-10-02T10:00:05+00:00 m3 systemd[1]: Shutting down.",
    ];
    let failed = ("failed".to_owned(), "node.reboot".to_owned());
    assert_eq!(told(&reboot, &[]), failed);
    let panic =
        ["2026-10-02T10:00:00+00:00 m3 kernel: Kernel panic - not syncing: Fatal exception"];
    assert_eq!(told(&panic, &[]).1, "node.kernel_panic");
    // One that wrote on after that was not on it then, and one that had been silent for long had ended before.
    let later = ["[2026-10-02 10:07:00] step 900 loss 2.9300"];
    assert_ne!(told(&reboot, &later).0, "failed");
    let long_after =
        ["2026-10-02T12:00:02+00:00 m3 systemd-logind[700]: The system will reboot now!"];
    assert_ne!(told(&long_after, &[]).0, "failed");
}

#[test]
fn what_systemd_says_of_a_service_is_about_the_log_of_its_name() {
    let cases = [
        (
            "systemd[1]: train.service: Service reached runtime time limit. Stopping.",
            "code.deadline",
        ),
        (
            "systemd[1]: train.service: Watchdog timeout (limit 5min)!",
            "hang.watchdog",
        ),
        (
            "systemd[1]: train.service: A process of this unit has been killed by the OOM killer.",
            "code.host_oom",
        ),
        (
            "systemd[1]: train.service: systemd-oomd killed 12 process(es) in this unit.",
            "node.system_oom",
        ),
        (
            "sudo[77]:   carol : TTY=pts/2 ; PWD=/home/carol ; USER=root ; COMMAND=/usr/bin/systemctl stop train.service",
            "ops.manual_delete",
        ),
    ];
    for (line, cause) in cases {
        let journal = [
            format!("2026-10-02T10:00:00+00:00 m3 {line}"),
            "2026-10-02T10:00:01+00:00 m3 systemd[1]: Stopping train.service - Training..."
                .to_owned(),
        ];
        let lines: Vec<&str> = journal.iter().map(String::as_str).collect();
        let found = told(&lines, &[]);
        assert_eq!(
            (found.0.as_str(), found.1.as_str()),
            ("failed", cause),
            "{line}"
        );
        // The same of another service is nothing to it.
        let other: Vec<String> = journal
            .iter()
            .map(|line| line.replace("train.service", "backup.service"))
            .collect();
        let lines: Vec<&str> = other.iter().map(String::as_str).collect();
        assert_ne!(told(&lines, &[]).0, "failed", "{line}");
    }
}

#[test]
fn who_had_failed_is_not_stopped_by_a_later_reboot() {
    let traceback = [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 60, in main",
        "KeyError: 'attn_mask'",
    ];
    let journal = [
        "2026-10-02T10:20:00+00:00 m3 systemd[1]: Stopping train.service - Training...",
        "2026-10-02T10:20:02+00:00 m3 systemd-logind[700]: The system will reboot now!",
    ];
    assert_ne!(told(&journal, &traceback).1, "node.reboot");
}
