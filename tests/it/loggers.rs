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
    let answer = ask("serve", &[("serve.log", text(&lines))]);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
    assert!(summary(&answer).contains("KV cache needed"), "{}", summary(&answer));
}

/// TorchTitan's name stands before its times; c10d writes no year.
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
        incident["time"].as_str().unwrap().starts_with("2026-06-22T03:10:52"),
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
        incident["time"].as_str().unwrap_or_default().starts_with("2026-11-20T18:22:41"),
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
