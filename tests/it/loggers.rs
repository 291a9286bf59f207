//! Logs of programs whose loggers write headings and times of their own.

use serde_json::Value;

use super::unseen::{ask, text, verdict};

fn summary(answer: &Value) -> &str {
    answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default()
}

/// vLLM puts its heading before each line of a traceback, and its other process says what followed.
#[test]
fn the_engines_own_error_is_told_and_not_what_followed() {
    let engine = "(EngineCore_DP0 pid=2210) ERROR 10-02 12:00:21 [core.py:843] ";
    let lines = [
        "(EngineCore_DP0 pid=2210) INFO 10-02 12:00:01 [gpu_worker.py:298] Available KV cache memory: 7.31 GiB".to_owned(),
        format!("{engine}EngineCore failed to start."),
        format!("{engine}Traceback (most recent call last):"),
        format!("{engine}  File \"/opt/vllm/v1/engine/core.py\", line 834, in run_engine_core"),
        format!("{engine}    engine_core = EngineCoreProc(*args, **kwargs)"),
        format!("{engine}ValueError: The KV cache needed is larger than the memory available for it"),
        "(APIServer pid=1) Traceback (most recent call last):".to_owned(),
        "(APIServer pid=1)   File \"/usr/local/bin/vllm\", line 10, in <module>".to_owned(),
        "(APIServer pid=1)     sys.exit(main())".to_owned(),
        "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answer = ask("engine", &[("engine.log", text(&lines))]);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
    assert!(
        summary(&answer).contains("KV cache needed"),
        "{}",
        summary(&answer)
    );
}

/// `TorchTitan`'s name stands before its times; c10d writes no year.
#[test]
fn a_time_behind_the_programs_name_is_read() {
    let answer = ask(
        "titan",
        &[(
            "titan.log",
            text(&[
                "[titan] 2026-06-22 03:10:32,123 - root - INFO - step: 10  loss:  8.1213  tps: 4,021",
                "[titan] 2026-06-22 03:10:52,123 - root - INFO - step: 20  loss:  7.9213  tps: 4,019",
                "[rank7]: Traceback (most recent call last):",
                "[rank7]:   File \"/w/train.py\", line 612, in <module>",
                "[rank7]:     main(config)",
                "[rank7]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.",
                "[rank3]:[E622 03:21:01.100200300 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2201, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600000 milliseconds before timing out.",
            ]),
        )],
    );
    let incident = &answer["incidents"][0];
    assert_eq!(incident["cause"], "code.cuda_oom", "{answer:#}");
    assert!(
        incident["time"]
            .as_str()
            .unwrap()
            .starts_with("2026-06-22T03:10:52"),
        "{incident:#}"
    );
    let step = &incident["said"]["last_step"];
    assert_eq!(step["step"], 20, "{incident:#}");
}

/// Logs of ranks whose lines name no year beside one that does.
#[test]
fn lines_without_a_year_are_of_the_time_that_others_tell() {
    let watchdog = |rank: i32| {
        format!(
            "[rank{rank}]:[E1120 18:22:41.901223410 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88121, OpType=ALLREDUCE, NumelIn=67108864, NumelOut=67108864, Timeout(ms)=600000) ran for 600044 milliseconds before timing out."
        )
    };
    let answer = ask(
        "*",
        &[
            ("rank0.log", watchdog(0)),
            ("rank1.log", watchdog(1)),
            (
                "rank2.log",
                text(&[
                    "2026-11-20 18:12:20 step 500 loss 3.3",
                    "2026-11-20 18:18:41 botocore retry 3: ReadTimeoutError: Read timeout on endpoint URL",
                ]),
            ),
        ],
    );
    let incident = &answer["incidents"][0];
    assert!(
        incident["time"]
            .as_str()
            .unwrap_or_default()
            .starts_with("2026-11-20T18:22:41"),
        "{incident:#}"
    );
    // What rests on a year that no record names is not established.
    assert_ne!(incident["level"], "established");
}

/// Older versions of srun call a task "Killed" that ran out of memory.
#[test]
fn a_step_of_slurm_that_ran_out_of_memory() {
    let step = |own: &[&str]| {
        let mut lines = vec!["0: step 100 loss 2.1", "1: step 100 loss 2.1"];
        lines.extend(own);
        lines.extend([
            "slurmstepd: error: *** STEP 991.0 ON node06 CANCELLED AT 2026-03-03T10:10:10 ***",
            "srun: error: node06: tasks 0-1: Terminated",
            "srun: error: node07: task 3: Terminated",
        ]);
        ask("991", &[("slurm-991.out", text(&lines))])
    };
    let counted = "slurmstepd: error: Detected 1 oom_kill event in StepId=991.0. Some of the step tasks have been OOM Killed.";
    let killed = "srun: error: node07: task 2: Killed";
    let answer = step(&[killed, counted]);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
    assert_eq!(verdict(&answer).2, "supported", "{answer:#}");
    // A child of some task was killed, and the step was cancelled: by whom, nothing says.
    let child = step(&[counted]);
    assert_ne!(verdict(&child).2, "supported", "{child:#}");
    // Killed, and nobody counted memory.
    let only_killed = step(&[killed]);
    assert_ne!(verdict(&only_killed).1, "code.host_oom", "{only_killed:#}");
}

#[test]
fn a_program_that_stops_for_its_loss_has_diverged() {
    let log = |last: &str| {
        ask(
            "nan",
            &[(
                "nan.log",
                text(&[
                    "2026-02-02 11:11:00 step 10 loss 2.31 grad_norm 1.1",
                    "2026-02-02 11:12:00 step 20 loss nan grad_norm nan",
                    "2026-02-02 11:13:00 step 30 loss nan grad_norm nan",
                    last,
                ]),
            )],
        )
    };
    let answer = log("2026-02-02 11:13:01 loss is NaN for 2 consecutive logging steps, stopping");
    assert_eq!(verdict(&answer).1, "code.divergence", "{answer:#}");
    assert_eq!(verdict(&answer).2, "supported", "{answer:#}");
    let goes_on = log("2026-02-02 11:13:01 loss is NaN, skipping batch");
    assert_ne!(verdict(&goes_on).2, "supported", "{goes_on:#}");
}

/// The journal of one machine and the log of one program in one folder.
#[test]
fn one_log_beside_the_journal_of_one_machine_is_of_that_machine() {
    let kernel = |host: &str, offset: &str| {
        text(&[
            &format!(
                "2026-09-09T0{offset}:09:01+0000 {host} kernel: python3 invoked oom-killer: gfp_mask=0x1100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0"
            ),
            &format!(
                "2026-09-09T0{offset}:09:01+0000 {host} kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice/user-1000.slice/session-3.scope,task=python3,pid=7171,uid=1000"
            ),
            &format!(
                "2026-09-09T0{offset}:09:01+0000 {host} kernel: Out of memory: Killed process 7171 (python3) total-vm:912345678kB, anon-rss:498765432kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0"
            ),
        ])
    };
    let log = text(&[
        "2026-09-09 07:08:40,001 INFO pid=7171 step 8 loss 3",
        "2026-09-09 07:08:59,001 INFO pid=7171 step 9 loss 3",
        "Killed",
    ]);
    let answer = ask(
        "train",
        &[
            ("journal.txt", kernel("box1", "7")),
            ("train.log", log.clone()),
        ],
    );
    assert_eq!(verdict(&answer).1, "node.system_oom", "{answer:#}");
    assert_eq!(verdict(&answer).3, "box1", "{answer:#}");
    // Which of two machines it was on, nothing says.
    let two = ask(
        "train",
        &[
            ("journal.txt", kernel("box1", "7")),
            ("journal2.txt", kernel("box2", "3")),
            ("train.log", log),
        ],
    );
    assert_eq!(verdict(&two).1, "unknown", "{two:#}");
}
