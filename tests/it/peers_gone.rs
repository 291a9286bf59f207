//! Members of a gang that others lost touch with, replaced ones, and those that had stopped working long before
//! somebody ended them.

use serde_json::{Value, json};

use super::sent_away::{ended, event, job, list, pod};
use super::unseen::{ask, verdict};

const XID: &str = "kernel: NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

/// The log of a container as the kubelet keeps it.
fn log(rank: usize, lines: &[(String, &str)]) -> (String, String) {
    let path = format!("logs/ml_bert-{rank}-aaaa{rank}_pod-{rank}/main/0.log");
    let line =
        |(at, text): &(String, &str)| format!("2026-11-24T{at}.000000000Z stdout F {text}\n");
    (path, lines.iter().map(line).collect())
}

fn torn_down(rank: usize) -> [Value; 2] {
    let name = format!("bert-{rank}-aaaa{rank}");
    let mut gone = pod(rank, "Failed", &ended(143, "Error", "10:30:05"));
    gone["metadata"]["deletionTimestamp"] = "2026-11-24T10:30:34Z".into();
    gone["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    let mut deleted = event(
        "bert",
        "SuccessfulDelete",
        &format!("Deleted pod: {name}"),
        "job-controller",
        "10:30:04",
    );
    deleted["involvedObject"]["kind"] = "Job".into();
    deleted["metadata"]["name"] = format!("bert.{rank}").into();
    deleted["metadata"]["uid"] = format!("bert-{rank}").into();
    [gone, deleted]
}

fn of(files: &[(String, String)]) -> Value {
    let files: Vec<(&str, String)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    ask("bert", &files)
}

/// Rank 0 loses touch with a peer at 10:29:59 and ends; the others are taken away; this is in the machine log of `node`.
fn lost_touch(node: &str, line: &str) -> (String, String) {
    let mut items = vec![
        job(3, true),
        pod(0, "Failed", &ended(1, "Error", "10:30:00")),
    ];
    items.extend(torn_down(1));
    items.extend(torn_down(2));
    let said = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error, NCCL version 2.26.2";
    let answer = of(&[
        ("objects.json".to_owned(), list(&items)),
        log(
            0,
            &[
                ("10:29:30".to_owned(), "step 157 loss 2.1"),
                ("10:29:59".to_owned(), said),
            ],
        ),
        (format!("nodes/{node}/kern.log"), format!("{line}\n")),
    ]);
    let (_, cause, level, _) = verdict(&answer);
    (cause.to_owned(), level.to_owned())
}

#[test]
fn what_befell_the_machine_of_a_peer_that_is_gone_is_why_it_is_gone() {
    let at = |time: &str, node: &str| format!("2026-11-24T{time}+00:00 {node} {XID}");
    let supported = ("hw.gpu".to_owned(), "supported".to_owned());
    assert_eq!(lost_touch("n2", &at("10:29:45", "n2")), supported);
    // Long before, after it, or on a machine that the run was not on.
    for (node, time) in [("n2", "10:20:00"), ("n2", "10:30:20"), ("n7", "10:29:45")] {
        assert_ne!(
            lost_touch(node, &at(time, node)).0,
            "hw.gpu",
            "{node} {time}"
        );
    }
}

#[test]
fn a_fault_since_which_steps_stopped_leads_to_the_drain_an_hour_later() {
    let of_fault = |time: &str| {
        let steps: Vec<(String, String)> = (0..60)
            .map(|step| {
                (
                    format!("10:{:02}:{:02}", step / 2, step % 2 * 30),
                    format!("step {step} loss 2.1"),
                )
            })
            .collect();
        let steps: Vec<(String, &str)> = steps
            .iter()
            .map(|(at, text)| (at.clone(), text.as_str()))
            .collect();
        let mut drained = pod(0, "Failed", &ended(143, "Error", "11:30:01"));
        drained["status"]["conditions"] = json!([{ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-24T11:30:00Z" }]);
        let killed = event(
            "bert-0-aaaa0",
            "Killing",
            "Stopping container main",
            "kubelet",
            "11:30:01",
        );
        let answer = of(&[
            (
                "objects.json".to_owned(),
                list(&[job(1, false), drained, killed]),
            ),
            log(0, &steps),
            (
                "nodes/n0/kern.log".to_owned(),
                format!("2026-11-24T{time}+00:00 n0 {XID}\n"),
            ),
        ]);
        verdict(&answer).1.to_owned()
    };
    assert_eq!(of_fault("10:29:42"), "hw.gpu");
    assert_ne!(of_fault("11:00:00"), "hw.gpu", "it had stopped long before");
    assert_ne!(of_fault("10:10:00"), "hw.gpu", "it went on for long");
}

#[test]
fn a_machine_is_known_by_its_first_word_either_way() {
    let mut failed = pod(0, "Failed", &ended(1, "Error", "10:30:00"));
    failed["spec"]["nodeName"] = "n0.corp.example".into();
    let said = "RuntimeError: CUDA error: unspecified launch failure";
    let answer = of(&[
        ("objects.json".to_owned(), list(&[job(1, true), failed])),
        log(0, &[("10:29:59".to_owned(), said)]),
        (
            "nodes/n0/kern.log".to_owned(),
            format!("2026-11-24T10:29:50+00:00 n0 {XID}\n"),
        ),
    ]);
    assert_eq!(verdict(&answer).1, "hw.gpu", "{answer:#}");
}

/// Rank 0 saves a checkpoint for longer than the others wait; whoever gives up ends before it, and is reported after it.
#[test]
fn whose_watchdog_spoke_before_another_lost_touch_with_it_was_first() {
    let mut items = vec![job(3, true)];
    let end = |rank: usize| if rank == 0 { "10:30:10" } else { "10:30:11" };
    items.extend((0..3).map(|rank| pod(rank, "Failed", &ended(134, "Error", end(rank)))));
    let gave_up = |rank: usize| {
        format!(
            "[rank{rank}]:[E1124 10:30:02.200000114 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: \
             WorkNCCL(SeqNum=12, OpType=BROADCAST, NumelIn=9, NumelOut=9, Timeout(ms)=600000) ran for 600036 milliseconds before timing out."
        )
    };
    let said = "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error, NCCL version 2.26.2";
    let mut files = vec![
        ("objects.json".to_owned(), list(&items)),
        log(
            0,
            &[
                ("10:19:10".to_owned(), "step 157 loss 2.1"),
                (
                    "10:19:55".to_owned(),
                    "saving checkpoint to /ckpt/step-160 ...",
                ),
                ("10:30:09".to_owned(), said),
            ],
        ),
    ];
    files.extend((1..3).map(|rank| {
        log(
            rank,
            &[
                ("10:19:10".to_owned(), "step 157 loss 2.1"),
                ("10:30:02".to_owned(), &gave_up(rank)),
            ],
        )
    }));
    let answer = of(&files);
    assert_eq!(verdict(&answer).1, "hang.collective_timeout", "{answer:#}");
}
