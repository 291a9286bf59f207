//! What people save of a run, file by file, and what its programs write last.

use super::unseen::{ask, text, verdict};

/// A `describe` of a pod that runs, or of one whose state somebody printed.
fn described(name: &str, state: &[&str]) -> String {
    let mut lines = vec![
        format!("Name:             {name}"),
        "Namespace:        ml".to_owned(),
        "Node:             g1/10.0.4.9".to_owned(),
        "Start Time:       Tue, 24 Nov 2026 10:00:32 +0000".to_owned(),
        "Status:           Running".to_owned(),
        "Containers:".to_owned(),
        "  web:".to_owned(),
    ];
    lines.extend(state.iter().map(|line| format!("    {line}")));
    lines.push("Conditions:".to_owned());
    lines.push("  Type     Status".to_owned());
    lines.push("  Ready    True".to_owned());
    lines.join("\n") + "\n"
}

const RUNS: [&str; 4] = [
    "State:          Running",
    "  Started:      Tue, 24 Nov 2026 10:00:33 +0000",
    "Ready:          True",
    "Restart Count:  0",
];

/// One request that failed, as a web server logs it.
fn failure(minute: u32, exception: &str) -> String {
    text(&[
        &format!("[2026-11-24 10:{minute:02}:49,299] ERROR in app: Exception on / [GET]"),
        "Traceback (most recent call last):",
        "  File \"/app/main.py\", line 9, in index",
        "    answer = fetch()",
        exception,
    ])
}

/// A program that told of the same failure each minute, and went on, has not ended with the last of them.
#[test]
fn what_a_program_gets_over_does_not_end_it() {
    let refused = "ConnectionRefusedError: [Errno 111] Connection refused";
    let often: String = (1..6).map(|minute| failure(minute, refused)).collect();
    let files = [
        ("describe.txt", described("web-6958c5bdd8-69gtn", &RUNS)),
        ("kubectl_logs_69gtn.txt", often.clone()),
    ];
    let answer = ask("web-6958c5bdd8-69gtn", &files);
    assert_eq!(verdict(&answer).0, "running", "{answer:#}");
    // Another failure than those is the last of a program that writes no more.
    let other = often + &failure(6, "MemoryError");
    let files = [
        ("describe.txt", described("web-6958c5bdd8-69gtn", &RUNS)),
        ("kubectl_logs_69gtn.txt", other),
    ];
    let answer = ask("web-6958c5bdd8-69gtn", &files);
    assert_ne!(verdict(&answer).1, "none.running", "{answer:#}");
}

/// Chats and forms eat the blanks that a line begins with.
#[test]
fn a_state_is_read_without_its_indentation() {
    let flat = [
        "State:          Running",
        "Started:      Tue, 24 Nov 2026 10:09:33 +0000",
        "Ready:          True",
        "Restart Count:  10",
        "Last State:   Terminated",
        "Reason:       OOMKilled",
        "Exit Code:    137",
        "Limits:",
        "  memory:  1Gi",
    ];
    let answer = ask("web-1", &[("describe.txt", described("web-1", &flat))]);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
}

/// A log that names no pod, saved beside the Events of a Job's two pods: one of theirs, which is a guess.
#[test]
fn a_log_that_names_nobody_is_a_guess() {
    let events = text(&[
        "$ date -u",
        "Tue Nov 24 12:00:00 UTC 2026",
        "$ kubectl describe job scrape -n ml",
        "Name:             scrape",
        "Namespace:        ml",
        "Parallelism:      1",
        "Completions:      1",
        "Backoff Limit:    1",
        "Start Time:       Tue, 24 Nov 2026 11:50:00 +0000",
        "Pods Statuses:    0 Active / 0 Succeeded / 2 Failed",
        "Events:",
        "  Type     Reason                Age    From            Message",
        "  ----     ------                ----   ----            -------",
        "  Normal   SuccessfulCreate      10m    job-controller  Created pod: scrape-x7k2p",
        "  Normal   SuccessfulCreate      9m     job-controller  Created pod: scrape-b4c5d",
        "  Warning  BackoffLimitExceeded  8m     job-controller  Job has reached the specified backoff limit",
    ]);
    let log = text(&["starting", "/bin/sh: syntax error: unexpected \"fi\""]);
    let answer = ask(
        "scrape",
        &[("describe.txt", events), ("kubectl_logs.txt", log)],
    );
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(
        (cause, level),
        ("code.config_or_input", "hypothesis"),
        "{answer:#}"
    );
}

/// What launchers, trackers and bars write once a program has failed is no sign that it went on.
#[test]
fn what_is_written_at_the_exit_is_no_progress() {
    let frames: String = (0..40)
        .map(|line| {
            format!("  File \"/env/torch/module.py\", line {line}, in forward\n    x = layer(x)\n")
        })
        .collect();
    let failed = format!(
        "  0%|          | 0/1000 [00:00<?, ?it/s]\nTraceback (most recent call last):\n{frames}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB\n"
    );
    let drawn = "  0%|          | 0/1000 [00:29<?, ?it/s]\n";
    let summary: String = (0..12)
        .map(|line| format!("wandb:   train/global_step {line}60\n"))
        .collect();
    for end in [drawn, &summary] {
        let answer = ask("train", &[("train.err", format!("{failed}{end}"))]);
        assert_eq!(verdict(&answer).1, "code.cuda_oom", "{end}: {answer:#}");
    }
}

/// Slurm writes into the output of a job behind whatever stands there.
#[test]
fn a_batch_system_is_heard_behind_an_unfinished_line() {
    let end = "slurmstepd: error: *** JOB 25883692 ON gr015 CANCELLED AT 2026-11-24T04:10:12 DUE TO TIME LIMIT ***";
    for unfinished in ["Epoch 3 loss 0.2", "29948it [35:34,  7.00s/it]"] {
        let log = format!("Epoch 1 loss 0.4\nEpoch 2 loss 0.3\n{unfinished}{end}\n");
        let answer = ask("25883692", &[("job-1.out", log)]);
        assert_eq!(
            verdict(&answer).1,
            "code.deadline",
            "{unfinished}: {answer:#}"
        );
    }
}

/// A library counts seconds since 1970 where the program prints local time: its lines are not of hours later.
#[test]
fn lines_of_two_clocks_stand_beside_each_other() {
    // 2026-11-24 10:00:00 in New York is 15:00:00 UTC.
    let log = text(&[
        "2026-11-24 10:00:00 loading the data",
        "E0000 00:00:1795532401.500000    7 cuda_dnn.cc:8310] Unable to register cuDNN factory",
        "2026-11-24 10:00:03 step 1 loss 3.1",
        "E0000 00:00:1795532404.500000    7 cuda_blas.cc:1418] Unable to register cuBLAS factory",
        "2026-11-24 10:00:05 step 2 loss 3.0",
        "2026-11-24 10:00:09 ERROR unhandled",
        "Traceback (most recent call last):",
        "  File \"/workspace/train.py\", line 9, in main",
        "    step()",
        "ValueError: shapes do not match",
    ]);
    let answer = ask("train", &[("train.err", log)]);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
}

/// A notice of a tool looks like an exception's last line; the traceback that follows is the end.
#[test]
fn a_traceback_leads_over_a_tools_notice() {
    let log = text(&[
        "",
        "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.",
        "To initialize your shell, run",
        "",
        "Traceback (most recent call last):",
        "  File \"/workspace/train.py\", line 9, in main",
        "    step()",
        "KeyError: 'labels'",
    ]);
    let answer = ask("train", &[("train.err", log)]);
    let said = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(said.contains("KeyError"), "{answer:#}");
}

#[test]
fn a_bar_that_is_drawn_once_more_behind_a_long_traceback_is_no_step_after_it() {
    let frames: Vec<String> = (0..24)
        .map(|frame| format!("  File \"/opt/lib/trainer.py\", line {frame}, in step\n    run()"))
        .collect();
    let log = format!(
        "  0%|          | 0/25 [00:00<?, ?it/s]\n 24%|##4       | 6/25 [00:00<00:00, 123.66it/s]\nTraceback (most recent call last):\n{}\nIndexError: index out of range in self\n 44%|####4     | 11/25 [00:00<00:00, 35.51it/s]",
        frames.join("\n")
    );
    let answer = ask("out", &[("out.log", log)]);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
}
