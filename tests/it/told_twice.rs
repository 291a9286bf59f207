//! What several sources tell of one batch job: its accounts, its machines' journals and its own log.

use super::sent_away::actor;
use super::unseen::{ask, text, verdict};

const ACCOUNTS: &str = "JobID|JobName|State|ExitCode|Start|End|NodeList";

/// Cause, level and actor of a job whose second node's journal ends so, and that Slurm gave up ten minutes later.
fn silenced(journal: &[&str]) -> (String, String, String) {
    let answer = ask(
        "904",
        &[
            (
                "sacct.txt",
                text(&[
                    ACCOUNTS,
                    "904|train|NODE_FAIL|0:0|2026-11-24T09:00:00|2026-11-24T10:40:36|n[1-2]",
                ]),
            ),
            (
                "slurmctld.log",
                text(&[
                    "[2026-11-24T09:00:00.000] sched: Allocate JobId=904 NodeList=n[1-2] #CPUs=128 Partition=gpu",
                    "[2026-11-24T10:40:15.400] error: Nodes n2 not responding",
                    "[2026-11-24T10:40:35.400] error: Nodes n2 not responding, setting DOWN",
                    "[2026-11-24T10:40:35.500] Killing JobId=904 on failed node n2",
                ]),
            ),
            ("nodes/n2/journal.log", text(journal)),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    (
        cause.to_owned(),
        level.to_owned(),
        actor(&answer).to_owned(),
    )
}

#[test]
fn a_machine_that_went_down_in_good_order_is_not_one_that_stopped_responding() {
    let at = |at: &str, text: &str| format!("2026-11-24T{at}.000000+00:00 n2 {text}");
    let daemon = [
        at(
            "10:30:36",
            "systemd[1]: slurmd.service: Main process exited, code=killed, status=15/TERM",
        ),
        at(
            "10:30:36",
            "systemd[1]: slurmd.service: Failed with result 'signal'.",
        ),
    ];
    let found = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        silenced(&lines)
    };
    let of = |cause: &str, who: &str| (cause.to_owned(), "supported".to_owned(), who.to_owned());
    let mut off = vec![at(
        "10:30:35",
        "systemd-logind[5]: The system will power off now!",
    )];
    off.extend(daemon.clone());
    off.push(at(
        "10:30:38",
        "systemd[1]: Reached target System Power-Off.",
    ));
    assert_eq!(found(&off), of("node.shutdown", ""));
    // Whose command it was is known however late anybody found that the machine was gone.
    let mut again = vec![
        at(
            "10:30:34",
            "sudo[77]:  mallory : TTY=pts/0 ; PWD=/home/mallory ; USER=root ; COMMAND=/usr/sbin/reboot",
        ),
        at("10:30:35", "systemd-logind[5]: The system will reboot now!"),
    ];
    again.extend(daemon.clone());
    again.push(at("10:30:38", "systemd[1]: Reached target System Reboot."));
    assert_eq!(found(&again), of("node.reboot", "mallory"));
    // A daemon that ends alone is another matter.
    let alone = found(&daemon);
    assert_ne!(alone.0, "node.shutdown", "{alone:?}");
}

#[test]
fn jobs_of_one_number_that_contradict_each_other_are_two() {
    let accounts = "JobID|JobName|User|Cluster|State|ExitCode|Start|End|NodeList";
    let asked = |other: &str| {
        let answer = ask(
            "905",
            &[
                (
                    "sacct.txt",
                    text(&[
                        "JobID|JobName|User|State|ExitCode|Start|End|NodeList",
                        "905|train|alice|FAILED|1:0|2026-11-24T09:00:00|2026-11-24T10:00:00|n1",
                    ]),
                ),
                (
                    "slurm-905.out",
                    text(&[
                        "[2026-11-24 09:59:40] step 7 loss 2.1",
                        "Traceback (most recent call last):",
                        "  File \"/home/alice/train.py\", line 118, in <module>",
                        "AssertionError: tokenizer and model disagree",
                    ]),
                ),
                ("east/sacct.txt", text(&[accounts, other])),
            ],
        );
        let runs = answer["runs"].as_array().map_or(0, Vec::len);
        format!("{} of {runs}", verdict(&answer).1)
    };
    let another =
        "905|other|bob|east|CANCELLED by 1009|0:0|2026-11-24T09:00:00|2026-11-24T09:59:58|e1";
    assert_eq!(asked(another), "code.exception of 2");
    let same = "905|train|alice|east|FAILED|1:0|2026-11-24T09:00:00|2026-11-24T10:00:00|n1";
    assert_eq!(asked(same), "code.exception of 1");
}

#[test]
fn a_controller_of_another_zone_than_a_job_s_own_log_does_not_let_the_job_run_on() {
    let asked = |first_hour: u32| {
        let step = |step: u32| {
            let minute = step / 3 % 60;
            let hour = first_hour + step / 180;
            format!(
                "2026-11-24T{hour:02}:{minute:02}:{:02}.000Z INFO train step={step} loss=2.{step}",
                step % 3 * 20
            )
        };
        let mut log: Vec<String> = (0..150).map(step).collect();
        log.push("slurmstepd: error: *** STEP 906.0 ON n1 CANCELLED AT 2026-11-24T04:50:00 DUE TO TIME LIMIT ***".to_owned());
        let answer = ask(
            "906",
            &[
                (
                    "sacct.txt",
                    text(&[
                        ACCOUNTS,
                        "906|train|TIMEOUT|0:0|2026-11-24T04:00:00|2026-11-24T04:50:00|n1",
                    ]),
                ),
                ("slurm-906.out", log.join("\n") + "\n"),
            ],
        );
        let (state, cause, _, _) = verdict(&answer);
        format!("{state} {cause}")
    };
    for hour in [4, 9] {
        let found = asked(hour);
        assert!(found.ends_with("code.deadline"), "{hour}: {found}");
    }
}

#[test]
fn a_queue_that_was_looked_at_before_a_job_said_that_it_is_done_does_not_show_that_it_runs() {
    let asked = |last: &str| {
        let answer = ask(
            "907",
            &[
                (
                    "squeue.txt",
                    text(&[
                        "JOBID|NAME|USER|STATE|TIME|START_TIME|NODELIST",
                        "907|train|alice|RUNNING|44:00|2026-11-24T09:00:00|n1",
                    ]),
                ),
                (
                    "slurm-907.out",
                    text(&[
                        "[2026-11-24 09:59:00] step 7 loss 2.1",
                        "[2026-11-24 09:59:20] step 8 loss 2.1",
                        last,
                    ]),
                ),
            ],
        );
        verdict(&answer).2.to_owned()
    };
    assert_ne!(
        asked("[2026-11-24 09:59:40] Training finished successfully."),
        "established"
    );
}
