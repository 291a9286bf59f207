//! Folders in which several sources tell of one end: a job, its machines' journals, and what their cloud was asked for.

use serde_json::{Value, json};

use super::sent_away::{actor, event, job, list};
use super::unseen::{ask, text, verdict};

/// A call of somebody to Compute Engine about the machine of that name; `error` where it failed.
fn call(at: &str, method: &str, who: &str, machine: &str, error: Option<&str>) -> String {
    let status = error.map_or(
        json!({}),
        |code| json!({ "code": 8, "message": format!("{code}: the machine was not made") }),
    );
    json!({
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "compute.googleapis.com",
            "methodName": format!("v1.compute.instances.{method}"), "status": status,
            "resourceName": format!("projects/lab/zones/z-a/instances/{machine}"),
            "authenticationInfo": { "principalEmail": who },
        },
        "insertId": format!("{method}-{machine}-{at}"), "timestamp": format!("2026-11-24T{at}Z"), "severity": "NOTICE",
        "resource": { "type": "gce_instance",
            "labels": { "instance_id": format!("77{}", machine.len()), "project_id": "lab", "zone": "z-a" } },
        "logName": "projects/lab/logs/cloudaudit.googleapis.com%2Factivity",
        "operation": { "id": format!("op-{method}-{machine}-{at}"), "producer": "compute.googleapis.com",
            "first": error.is_none(), "last": error.is_some() },
    })
    .to_string()
}

const ACCOUNTS: &str = "JobID|JobName|State|ExitCode|Start|End|NodeList";

/// Cause, level and actor of a job on `n1` and `n2` whose second node booted at 10:31:20, beside these records.
fn booted(more: &[&str], cloud: &[String]) -> (String, String, String) {
    let mut daemon = vec![
        "[2026-11-24T09:00:00.000] sched: Allocate JobId=901 NodeList=n[1-2] #CPUs=128 Partition=gpu",
    ];
    daemon.extend(more);
    daemon.extend([
        "[2026-11-24T10:31:30.400] Node n2 unexpectedly rebooted boot_time=1795516280 last response=1795516190",
        "[2026-11-24T10:31:30.500] Killing JobId=901 on failed node n2",
    ]);
    let answer = ask(
        "901",
        &[
            (
                "sacct.txt",
                text(&[
                    ACCOUNTS,
                    "901|train|NODE_FAIL|0:0|2026-11-24T09:00:00|2026-11-24T10:31:31|n[1-2]",
                ]),
            ),
            ("slurmctld.log", text(&daemon)),
            (
                "nodes/n2/journal.log",
                text(&[
                    "2026-11-24T10:20:00.000000+00:00 n2 systemd[1]: Started Session 4 of User ada.",
                    "2026-11-24T10:28:00.000000+00:00 n2 chronyd[71]: Selected source 169.254.169.123",
                    "2026-11-24T10:31:20.000000+00:00 n2 kernel: Linux version 6.8.0 (build@lab) #1 SMP",
                    "2026-11-24T10:31:22.000000+00:00 n2 systemd[1]: Reached target Network.",
                ]),
            ),
            ("cloud.jsonl", cloud.join("\n") + "\n"),
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
fn a_boot_that_somebody_asked_the_cloud_for_is_theirs() {
    let reset =
        |at: &str, machine, error| vec![call(at, "reset", "erin@lab.example", machine, error)];
    let found = |cause: &str, who: &str| (cause.to_owned(), "supported".to_owned(), who.to_owned());
    assert_eq!(
        booted(&[], &reset("10:30:18", "n2", None)),
        found("ops.manual_delete", "erin@lab.example")
    );
    // What was refused, what is about another machine, and what came long before or after it, did not boot it.
    for other in [
        reset("10:30:18", "n2", Some("PERMISSION_DENIED")),
        reset("10:30:18", "n3", None),
        reset("09:30:18", "n2", None),
        reset("10:33:18", "n2", None),
    ] {
        assert_eq!(booted(&[], &other), found("node.reboot", ""), "{other:?}");
    }
}

#[test]
fn who_resets_what_does_not_answer_any_more_did_not_end_what_ran_there() {
    let silent = "[2026-11-24T10:25:00.000] error: Nodes n2 not responding";
    let reset = call("10:30:18", "reset", "erin@lab.example", "n2", None);
    let (cause, _, who) = booted(&[silent], &[reset]);
    assert_eq!((cause.as_str(), who.as_str()), ("node.not_ready", ""));
}

/// The Events of a job whose pod its kubelet stopped at 10:30:00, and that then failed.
fn stopped() -> Vec<Value> {
    let uid = "0c0e5f7a-0000-4000-8000-000000000041";
    let of_pod = |reason: &str, message: &str, by: &str, at: &str| {
        let mut told = event("bert-0-aaaa0", reason, message, by, at);
        told["involvedObject"]["uid"] = uid.into();
        told["source"]["host"] = "n0".into();
        told
    };
    vec![
        of_pod(
            "Scheduled",
            "Successfully assigned ml/bert-0-aaaa0 to n0",
            "default-scheduler",
            "10:00:02",
        ),
        of_pod("Started", "Started container main", "kubelet", "10:00:05"),
        of_pod("Killing", "Stopping container main", "kubelet", "10:30:00"),
        job(1, true),
    ]
}

#[test]
fn a_machine_that_is_deleted_after_the_end_of_what_ran_there_ended_nothing() {
    let robot = "service-7@container-engine-robot.iam.gserviceaccount.com";
    let asked = |at: &str| {
        let answer = ask(
            "bert",
            &[
                ("all.json", list(&stopped())),
                ("cloud.jsonl", call(at, "delete", robot, "n0", None) + "\n"),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(asked("10:29:50"), "cloud.instance_terminated");
    for late in ["10:30:20", "10:31:00"] {
        assert_ne!(asked(late), "cloud.instance_terminated", "{late}");
    }
}

#[test]
fn a_process_that_the_container_outlived_by_minutes_did_not_end_it() {
    let asked = |at: &str| {
        let cgroup = "/kubepods.slice/kubepods-pod0c0e5f7a_0000_4000_8000_000000000041.slice";
        let killed = |text: &str| format!("2026-11-24T{at}.000000+00:00 n0 kernel: {text}");
        let lines = [
            killed(&format!(
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x.scope,mems_allowed=0,oom_memcg={cgroup},task_memcg={cgroup}/cri-containerd-2a62.scope,task=ffmpeg,pid=77,uid=0"
            )),
            killed(
                "Memory cgroup out of memory: Killed process 77 (ffmpeg) total-vm:4kB, anon-rss:2kB, file-rss:1kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:-997",
            ),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = ask(
            "bert",
            &[
                ("all.json", list(&stopped())),
                ("nodes/n0/journal.log", text(&lines)),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(asked("10:29:50"), "code.host_oom");
    assert_ne!(asked("10:25:00"), "code.host_oom");
}

/// Steps of a job every 20 seconds from 08:00 to 10:00, a line of its machine's kernel, and that somebody cancelled it.
fn cancelled(kernel: &str, at: &str) -> (String, String) {
    let step = |step: u32| {
        let (hour, minute, second) = (8 + step / 180, step / 3 % 60, step % 3 * 20);
        format!("[2026-11-24 {hour:02}:{minute:02}:{second:02}] step {step} loss 2.{step}")
    };
    let log = (0..=360).map(step).collect::<Vec<_>>().join("\n") + "\n";
    let row = format!("901|train|CANCELLED by 1000|0:0|2026-11-24T08:00:00|2026-11-24T{at}|n1");
    let answer = ask(
        "901",
        &[
            ("sacct.txt", text(&[ACCOUNTS, &row])),
            ("slurm-901.out", log),
            ("kern.log", text(&[kernel])),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    (cause.to_owned(), level.to_owned())
}

#[test]
fn a_gpu_that_is_lost_ended_what_made_no_step_since() {
    let xid = |at: &str, xid: &str| {
        format!("2026-11-24T{at}+00:00 n1 kernel: NVRM: Xid (PCI:0000:c1:00): {xid}")
    };
    let lost = "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
    let of_gpu = ("hw.gpu".to_owned(), "supported".to_owned());
    assert_eq!(cancelled(&xid("10:00:10", lost), "10:04:00"), of_gpu);
    // Before steps were missed, or soon after it, anybody may have had a reason of their own.
    for (fault, end) in [("10:00:10", "10:00:50"), ("10:01:50", "10:02:30")] {
        let (cause, level) = cancelled(&xid(fault, lost), end);
        assert_ne!((cause, level), of_gpu, "{fault} {end}");
    }
    // A program goes on after others, and may be saving its state for some minutes.
    let other = "13, pid=4711, name=python3, Graphics Exception: ESR 0x504648=0x1000e";
    assert_ne!(cancelled(&xid("10:00:10", other), "10:04:00"), of_gpu);
}

/// Cause of a job whose machines Slurm's own program was to have made, with what the cloud answered.
fn not_made(cloud: &[String]) -> String {
    let answer = ask(
        "902",
        &[
            (
                "sacct.txt",
                text(&[
                    ACCOUNTS,
                    "902|train|NODE_FAIL|0:0|2026-11-24T08:00:00|2026-11-24T08:10:20|c[0-1]",
                ]),
            ),
            (
                "slurmctld.log",
                text(&[
                    "[2026-11-24T08:00:00.000] sched: Allocate JobId=902 NodeList=c[0-1] #CPUs=128 Partition=gpu",
                    "[2026-11-24T08:10:20.000] node c0 not resumed by ResumeTimeout(600), setting DOWN and POWERED_DOWN",
                    "[2026-11-24T08:10:20.000] node c1 not resumed by ResumeTimeout(600), setting DOWN and POWERED_DOWN",
                    "[2026-11-24T08:10:20.100] Killing JobId=902 on failed node c0",
                ]),
            ),
            ("cloud.jsonl", cloud.join("\n") + "\n"),
        ],
    );
    let main = &answer["incidents"][0];
    let of = |key: &str| main[key].as_str().unwrap_or_default().to_owned();
    format!("{} {} {}", of("cause"), of("level"), of("summary"))
}

#[test]
fn what_the_cloud_answered_is_why_a_machine_did_not_come_up() {
    let by = "slurm@lab.iam.gserviceaccount.com";
    let refused = |code: &str| {
        let of = |machine| call("08:00:25", "insert", by, machine, Some(code));
        vec![of("c0"), of("c1")]
    };
    for (code, cause) in [
        (
            "ZONE_RESOURCE_POOL_EXHAUSTED",
            "cloud.capacity_exhausted supported",
        ),
        ("QUOTA_EXCEEDED", "cloud.quota supported"),
        (
            "PERMISSION_DENIED",
            "node.launch_failed supported c0 was to be started for job 902, and the cloud did not create it",
        ),
    ] {
        let found = not_made(&refused(code));
        assert!(found.starts_with(cause), "{code}: {found}");
    }
    // Asked again, it made them; and another machine's refusal is of that one.
    let mut again = refused("ZONE_RESOURCE_POOL_EXHAUSTED");
    again.extend(["c0", "c1"].map(|machine| call("08:02:25", "insert", by, machine, None)));
    let other = vec![call("08:00:25", "insert", by, "c7", Some("QUOTA_EXCEEDED"))];
    for cloud in [again, other] {
        let found = not_made(&cloud);
        assert!(found.starts_with("node.launch_failed supported"), "{found}");
        assert!(found.contains("did not come up in time"), "{found}");
    }
}

/// Cause of a job that ended as a node of it failed, where the cloud took this instance, and Slurm says this of its nodes.
fn taken(instance: &str, nodes: &str) -> String {
    let tag = nodes.strip_prefix("tag ").unwrap_or("Compute");
    let notice = json!({
        "version": "0", "id": "70fbe143-4d6d-912f-2ada-b53dde814524",
        "detail-type": "EC2 Spot Instance Interruption Warning", "source": "aws.ec2", "account": "123456789012",
        "time": "2026-11-24T10:28:00Z", "region": "us-east-1",
        "resources": [format!("arn:aws:ec2:us-east-1:123456789012:instance/{instance}")],
        "detail": { "instance-id": instance, "instance-action": "terminate" },
    });
    let inventory = json!({ "Reservations": [{ "OwnerId": "123456789012", "ReservationId": "r-0a1b2c3d4e5f60718",
        "Instances": [{ "InstanceId": instance, "InstanceType": "p5.48xlarge", "LaunchTime": "2026-11-24T08:30:00Z",
            "PrivateDnsName": "ip-10-0-5-135.ec2.internal", "PrivateIpAddress": "10.0.5.135",
            "Tags": [{ "Key": "Name", "Value": tag }],
            "Placement": { "AvailabilityZone": "us-east-1a" }, "State": { "Code": 16, "Name": "running" } }] }] });
    let answer = ask(
        "903",
        &[
            (
                "sacct.txt",
                text(&[
                    ACCOUNTS,
                    "903|train|NODE_FAIL|0:0|2026-11-24T09:00:00|2026-11-24T10:35:01|q-[1-2]",
                ]),
            ),
            (
                "slurmctld.log",
                text(&[
                    "[2026-11-24T09:00:00.000] sched: Allocate JobId=903 NodeList=q-[1-2] #CPUs=128 Partition=gpu",
                    "[2026-11-24T10:31:30.400] error: Nodes q-2 not responding",
                    "[2026-11-24T10:35:00.400] error: Nodes q-2 not responding, setting DOWN",
                    "[2026-11-24T10:35:00.500] Killing JobId=903 on failed node q-2",
                ]),
            ),
            ("notice.jsonl", format!("{notice}\n")),
            ("instances.json", inventory.to_string()),
            (
                "nodes.txt",
                nodes.strip_prefix("tag ").map_or(nodes, |_| "").to_owned(),
            ),
        ],
    );
    verdict(&answer).1.to_owned()
}

#[test]
fn a_node_of_slurm_is_the_machine_that_slurm_says_it_is() {
    let id = "i-0789935d10de5f650";
    let nodes = |more: &str| {
        format!(
            "NodeName=q-1 Arch=x86_64 CoresPerSocket=96\n   NodeAddr=10.0.9.9 NodeHostName=ip-10-0-9-9 Version=23.11.10\n   State=IDLE+CLOUD\n\nNodeName=q-2 Arch=x86_64 CoresPerSocket=96\n   State=IDLE+CLOUD Version=23.11.10\n   {more}\n\n"
        )
    };
    for told in [
        "NodeAddr=q-2 NodeHostName=q-2\n   InstanceId=i-0789935d10de5f650 InstanceType=p5.48xlarge",
        "NodeAddr=q-2 NodeHostName=ip-10-0-5-135",
        "NodeAddr=10.0.5.135 NodeHostName=q-2",
    ] {
        assert_eq!(taken(id, &nodes(told)), "cloud.spot_reclaimed", "{told}");
    }
    // Whoever made it gave it the node's name.
    assert_eq!(taken(id, "tag q-2"), "cloud.spot_reclaimed");
    assert_eq!(taken(id, "tag q-7"), "node.not_ready");
    for told in [
        "NodeAddr=q-2 NodeHostName=q-2",
        "NodeAddr=10.0.5.135 NodeHostName=ip-10-0-5-135\n   InstanceId=i-0aaaaaaaaaaaaaaaa",
        "NodeAddr=10.0.5.1 NodeHostName=ip-10-0-5-1",
    ] {
        assert_eq!(taken(id, &nodes(told)), "node.not_ready", "{told}");
    }
}
