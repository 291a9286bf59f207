//! What people save of a service: its journal in each form that `journalctl` prints, `systemctl status`, files that were
//! rotated away, and errors in a file of their own.

use super::unseen::{ask, text, verdict};

const STEPS: [&str; 4] = [
    "step 850 loss 2.9450",
    "step 860 loss 2.9420",
    "step 870 loss 2.9390",
    "step 880 loss 2.9360",
];

const TRACEBACK: [&str; 4] = [
    "Traceback (most recent call last):",
    "  File \"/home/carol/train.py\", line 88, in <module>",
    "    loss = model(batch)",
    "ValueError: bad crop",
];

/// The journal of `train.service`, in the form of `journalctl -o short-iso`: what it writes, one line a second, and what systemd
/// says last.
fn short_iso(program: &[&str], last: &[&str]) -> String {
    let mut lines = vec![
        "2026-10-02T10:00:00+00:00 m3 systemd[1]: Started train.service - Training.".to_owned(),
    ];
    let second = |lines: &Vec<String>| lines.len();
    for line in program {
        lines.push(format!(
            "2026-10-02T10:00:{:02}+00:00 m3 python3[4711]: {line}",
            second(&lines)
        ));
    }
    for line in last {
        lines.push(format!(
            "2026-10-02T10:00:{:02}+00:00 m3 systemd[1]: train.service: {line}",
            second(&lines)
        ));
    }
    lines.join("\n") + "\n"
}

/// The same in another form.
fn reformed(journal: &str, form: &str) -> String {
    let lines = journal.lines().enumerate().map(|(number, line)| {
        let (time, rest) = line.split_once(' ').unwrap();
        let clock = time.get(11..19).unwrap();
        let (host, said) = rest.split_once(' ').unwrap();
        let (who, message) = said.split_once(": ").unwrap();
        let (program, pid) = who.trim_end_matches(']').split_once('[').unwrap();
        match form {
            "short" => format!("Oct 02 {clock} {rest}"),
            "short-full" => format!("Fri 2026-10-02 {clock} UTC {rest}"),
            "cat" => message.to_owned(),
            "with-unit" => {
                let unit = if program == "systemd" { "init.scope" } else { "train.service" };
                format!("Fri 2026-10-02 {clock} UTC {host} {unit}[{pid}]: {message}")
            }
            _ => {
                let micros = 1_790_935_200_000_000_u64 + 1_000_000 * number as u64;
                let about = if program == "systemd" { "UNIT" } else { "_SYSTEMD_UNIT" };
                serde_json::json!({
                    "__REALTIME_TIMESTAMP": micros.to_string(), "_HOSTNAME": host, "SYSLOG_IDENTIFIER": program,
                    "_PID": pid, "MESSAGE": message, about: "train.service", "_BOOT_ID": "b1",
                })
                .to_string()
            }
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

const FORMS: [&str; 6] = [
    "short-iso",
    "short",
    "short-full",
    "with-unit",
    "json",
    "cat",
];

/// State and cause of the service, from its journal in a form, under some name.
fn of_form(journal: &str, form: &str, file: &str) -> (String, String) {
    let printed = match form {
        "short-iso" => journal.to_owned(),
        _ => reformed(journal, form),
    };
    let answer = ask("train", &[(file, printed)]);
    let (state, cause, _, _) = verdict(&answer);
    (state.to_owned(), cause.to_owned())
}

#[test]
fn the_journal_of_a_service_is_the_log_of_its_program() {
    let failed = short_iso(
        &[&STEPS[..], &TRACEBACK].concat(),
        &[
            "Main process exited, code=exited, status=1/FAILURE",
            "Failed with result 'exit-code'.",
        ],
    );
    let killed = short_iso(
        &STEPS,
        &[
            "A process of this unit has been killed by the OOM killer.",
            "Main process exited, code=killed, status=9/KILL",
        ],
    );
    for form in FORMS {
        for file in ["train.log", "journal.txt"] {
            let wanted = ("failed".to_owned(), "code.exception".to_owned());
            assert_eq!(of_form(&failed, form, file), wanted, "{form} in {file}");
            let wanted = ("failed".to_owned(), "code.host_oom".to_owned());
            assert_eq!(of_form(&killed, form, file), wanted, "{form} in {file}");
        }
    }
}

#[test]
fn a_service_that_writes_on_is_not_said_to_have_failed() {
    let journal = short_iso(&STEPS, &[]);
    for form in FORMS {
        assert_eq!(
            of_form(&journal, form, "train.log").1,
            "none.running",
            "{form}"
        );
    }
}

#[test]
fn the_end_of_another_service_in_one_journal_is_not_this_ones() {
    let journal = reformed(&short_iso(&STEPS, &[]), "json");
    let other = short_iso(&[], &["Main process exited, code=killed, status=9/KILL"]);
    let other = reformed(&other, "json").replace("train.service", "backup.service");
    let answer = ask("train", &[("journal.json", journal + &other)]);
    assert_eq!(verdict(&answer).1, "none.running");
}

#[test]
fn systemctl_status_tells_how_a_service_ended() {
    let status = "× train.service - LLM training
     Loaded: loaded (/etc/systemd/system/train.service; disabled; preset: enabled)
     Active: failed (Result: oom-kill) since Fri 2026-10-02 10:00:06 UTC; 3min 12s ago
    Process: 4711 ExecStart=/usr/bin/python3 train.py (code=killed, signal=KILL)
   Main PID: 4711 (code=killed, signal=KILL)

Oct 02 10:00:01 m3 python3[4711]: step 850 loss 2.9450
Oct 02 10:00:05 m3 python3[4711]: step 860 loss 2.9420
Oct 02 10:00:06 m3 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL
Oct 02 10:00:06 m3 systemd[1]: train.service: Failed with result 'oom-kill'.
";
    let answer = ask("train", &[("status.txt", status.to_owned())]);
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("failed", "code.host_oom"));
    let running = status
        .replace("failed (Result: oom-kill)", "active (running)")
        .replace(" (code=killed, signal=KILL)", " (python3)");
    let running: String = running
        .lines()
        .filter(|line| !line.contains("systemd[1]"))
        .map(|line| format!("{line}\n"))
        .collect();
    let answer = ask("train", &[("status.txt", running)]);
    assert_eq!(verdict(&answer).1, "none.running");
}

#[test]
fn a_log_that_was_rotated_is_one_log() {
    let stamped = |minute: u32, lines: &[&str]| {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| format!("[2026-10-02 10:{minute:02}:00] {line}"))
            .collect();
        lines.join("\n") + "\n"
    };
    let files = [
        ("train.log.2", stamped(0, &STEPS[..1])),
        ("train.log.1", stamped(1, &STEPS[1..2])),
        ("train.log", stamped(2, &STEPS[2..]) + &text(&TRACEBACK)),
    ];
    let answer = ask("train", &files);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(verdict(&answer).1, "code.exception");
}

#[test]
fn errors_in_a_file_of_their_own_are_the_programs() {
    let output: Vec<String> = STEPS
        .iter()
        .map(|line| format!("[2026-10-02 10:00:00] {line}"))
        .collect();
    let files = [
        ("train.out", output.join("\n") + "\n"),
        ("train.err", text(&TRACEBACK)),
    ];
    let answer = ask("train", &files);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(verdict(&answer).1, "code.exception");
}
