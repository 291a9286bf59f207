//! What was asked for on a machine of one's own and came to nothing, and what befell a program that had ended or had been
//! started anew by then: none of it ended what ran there.

use super::unseen::{ask, text, verdict};

/// Steps every five seconds until 09:59:40.
fn steps() -> Vec<String> {
    let line = |step: u32| {
        format!(
            "2026-10-02T09:{:02}:{:02}Z INFO step={step} loss=2.{step}",
            50 + step * 5 / 60,
            step * 5 % 60
        )
    };
    (0..117).map(line).collect()
}

/// State, cause and level of a service whose machine wrote these lines, and whose log ends with these.
fn told(journal: &[&str], last: &[&str]) -> (String, String, String) {
    let begin = "2026-10-02T09:49:00+00:00 m3 systemd[1]: Started train.service - Training.";
    let dated = |line: &&str| format!("2026-10-02T{}+00:00 m3 {}", &line[..8], &line[9..]);
    let end =
        "2026-10-02T11:30:00+00:00 m3 systemd[1]: Starting Cleanup of Temporary Directories...";
    let lines: Vec<String> = [begin.to_owned()]
        .into_iter()
        .chain(journal.iter().map(dated))
        .chain([end.to_owned()])
        .collect();
    let log = steps().join("\n") + "\n" + &text(last);
    let files = [
        ("m3/train.log", log),
        ("m3/journal.log", lines.join("\n") + "\n"),
    ];
    let answer = ask("train", &files);
    let (state, cause, level, _) = verdict(&answer);
    (state.to_owned(), cause.to_owned(), level.to_owned())
}

const STOP: &str = "sudo[700]: erin : TTY=pts/0 ; PWD=/home/erin ; USER=root ; COMMAND=/usr/bin/systemctl stop train";
const KEY_ERROR: &[&str] = &[
    "Traceback (most recent call last):",
    "  File \"train.py\", line 3, in main",
    "KeyError: 'mask'",
];

#[test]
fn a_stop_that_systemd_does_not_carry_out_ended_nothing() {
    let asked = format!("09:59:42 {STOP}");
    // The program was started by hand: there is no such service.
    let (state, cause, _) = told(&[&asked], KEY_ERROR);
    assert_eq!(
        (state.as_str(), cause.as_str()),
        ("failed", "code.exception")
    );
    let stopped = [
        asked.as_str(),
        "09:59:42 systemd[1]: Stopping train.service - Training...",
        "09:59:44 systemd[1]: train.service: Main process exited, code=killed, status=15/TERM",
    ];
    assert_eq!(told(&stopped, &[]).1, "ops.manual_delete");
}

#[test]
fn a_service_that_ended_well_is_not_ended_by_who_stops_it_later() {
    let asked = format!("10:09:42 {STOP}");
    let succeeded = "09:59:41 systemd[1]: train.service: Deactivated successfully.";
    let (state, cause, _) = told(&[succeeded, &asked], &[]);
    assert_eq!(
        (state.as_str(), cause.as_str()),
        ("completed", "none.completed")
    );
}

#[test]
fn a_reboot_that_was_refused_did_not_happen() {
    let reboot = "09:59:41 sudo[700]: dora : TTY=pts/0 ; PWD=/home/dora ; USER=root ; COMMAND=/usr/bin/systemctl reboot";
    let killed =
        "09:59:43 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL";
    assert_eq!(told(&[reboot, killed], &[]).1, "unknown");
    let down = [
        reboot,
        "09:59:42 systemd-logind[400]: The system will reboot now!",
        "09:59:42 systemd[1]: Stopping train.service - Training...",
        "09:59:43 systemd[1]: train.service: Main process exited, code=killed, status=15/TERM",
        "10:01:00 kernel: Linux version 6.8.0-45-generic (build@lab) (gcc 11.4.0) #1 SMP",
    ];
    assert_eq!(told(&down, &[]).1, "node.reboot");
}

#[test]
fn what_stopped_an_earlier_start_did_not_end_the_last_one() {
    let asked = format!("09:59:42 {STOP}");
    let journal = [
        asked.as_str(),
        "09:59:42 systemd[1]: Stopping train.service - Training...",
        "09:59:44 systemd[1]: train.service: Main process exited, code=killed, status=15/TERM",
        "10:03:00 systemd[1]: Started train.service - Training.",
        "10:03:20 systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE",
    ];
    let last = [
        "2026-10-02T10:03:01Z INFO starting rank=0 world_size=8 pid=29065",
        "2026-10-02T10:03:19Z ERROR training failed",
        "Traceback (most recent call last):",
        "  File \"train.py\", line 9, in main",
        "RuntimeError: PytorchStreamReader failed reading zip archive",
    ];
    assert_ne!(told(&journal, &last).1, "ops.manual_delete");
}

#[test]
fn a_kill_that_names_the_process_of_another_log_is_about_that_one() {
    let kill =
        "09:59:42 sudo[700]: dora : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/kill -9 4711";
    let killed =
        "09:59:42 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL";
    let answer = |pid: u32| {
        let own = format!("2026-10-02T09:49:30Z INFO starting rank=0 pid={pid}\n");
        let other = "2026-10-02T09:49:30Z INFO starting rank=0 pid=4711\n".to_owned();
        let journal = [kill, killed]
            .map(|line| format!("2026-10-02T{}+00:00 m3 {}\n", &line[..8], &line[9..]));
        let files = [
            ("m3/train.log", own + &steps().join("\n") + "\n"),
            ("m3/other.log", other + &steps().join("\n") + "\n"),
            ("m3/journal.log", journal.concat()),
        ];
        let answer = ask("train.log", &files);
        verdict(&answer).1.to_owned()
    };
    assert_eq!(answer(4712), "unknown");
}

#[test]
fn steps_that_begin_with_a_blank_are_none_of_the_exception_before_them() {
    // Megatron's lines.
    let log = "Traceback (most recent call last):\n  File \"train.py\", line 3, in main\ntorch.OutOfMemoryError: CUDA out of memory.\n\
         [2026-10-02 10:00:01] iteration 1001/ 500000 | lm loss: 2.1\n [2026-10-02 10:00:06] iteration 1002/ 500000 | lm loss: 2.1\n \
         [2026-10-02 10:00:11] iteration 1003/ 500000 | lm loss: 2.1\n [2026-10-02 10:00:16] iteration 1004/ 500000 | lm loss: 2.1\n \
         [2026-10-02 10:00:21] iteration 1005/ 500000 | lm loss: 2.1\n [2026-10-02 10:00:26] iteration 1006/ 500000 | lm loss: 2.1\n"
        .replace("\n[", "\n [");
    let begin: Vec<String> = (0..8)
        .map(|n| {
            format!(
                " [2026-10-02 09:59:{:02}] iteration {}/ 500000 | lm loss: 2.1",
                10 + n * 5,
                990 + n
            )
        })
        .collect();
    let answer = ask("train", &[("m3/train.log", begin.join("\n") + "\n" + &log)]);
    assert_ne!(verdict(&answer).1, "code.cuda_oom");
}
