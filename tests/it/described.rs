//! What `kubectl describe` prints of pods, and what tables beside it tell of those that bore their names before.

use serde_json::Value;

use super::unseen::{ask, text, verdict};

const JOB: &str = "\
Name:               ft
Namespace:          ml
Selector:           batch.kubernetes.io/controller-uid=job-1
Labels:             <none>
Parallelism:        2
Completions:        2
Start Time:         Tue, 24 Nov 2026 10:00:01 +0000
Pods Statuses:      0 Active (0 Ready) / 0 Succeeded / 0 Failed
Pod Template:
  Labels:  batch.kubernetes.io/controller-uid=job-1
  Containers:
   trainer:
    Image:  lab/train:1
Events:
  Type    Reason            Age   From            Message
  ----    ------            ----  ----            -------
  Normal  SuccessfulCreate  9s    job-controller  Created pod: ft-0-aaaaa
  Normal  SuccessfulCreate  9s    job-controller  Created pod: ft-1-bbbbb
";

/// A pod that runs, as it is described; what is printed of its end stands behind its labels, and below it its Events.
fn described(name: &str, owner: &str, start: &str, status: &str, events: &[&str]) -> String {
    let rows: Vec<String> = events.iter().map(|row| format!("  {row}\n")).collect();
    format!(
        "Name:             {name}
Namespace:        ml
Priority:         0
Node:             g1/10.0.4.9
Start Time:       Tue, 24 Nov 2026 {start} +0000
Labels:           <none>
{status}
Controlled By:    {owner}
Containers:
  trainer:
    State:          Running
      Started:      Tue, 24 Nov 2026 {start} +0000
    Ready:          True
    Restart Count:  0
    Limits:
      nvidia.com/gpu:  8
Conditions:
  Type     Status
  Ready    True
Events:
  Type    Reason     Age   From               Message
  ----    ------     ----  ----               -------
{}",
        rows.concat()
    )
}

fn leaving(name: &str, status: &str) -> String {
    let status = format!("Status:           {status}\nTermination Grace Period:  30s");
    let placed = format!(
        "Normal  Scheduled  9s    default-scheduler  Successfully assigned ml/{name} to g1"
    );
    let events = [
        placed.as_str(),
        "Normal  Started    9s    kubelet            Container started",
        "Normal  Killing    3s    kubelet            Stopping container trainer",
    ];
    described(name, "Job/ft", "10:00:01", &status, &events)
}

/// Until its grace period is over, the time that a pod's end is counted from is still to come.
#[test]
fn a_pod_that_is_being_stopped_was_asked_to_go_while_it_was_there() {
    let answer = |status: &str| {
        let pods = ["ft-0-aaaaa", "ft-1-bbbbb"].map(|name| leaving(name, status));
        ask(
            "ft",
            &[("describe.txt", format!("{JOB}\n\n{}", pods.join("\n\n")))],
        )
    };
    let told = answer("Terminating (lasts <invalid>)");
    let (state, cause, level, _) = verdict(&told);
    assert_eq!(
        (state, cause, level),
        ("deleting", "ops.manual_delete", "hypothesis"),
        "{told:#}"
    );
    let asked = told["incidents"][0]["time"].as_str().unwrap_or_default();
    assert!(asked >= "2026-11-24T10:00:01", "{asked}");
    assert!(asked < "2026-11-24T10:00:09", "{asked}");
}

/// The kubelet's word on a pod that was replaced under its name is no word on the one that runs.
#[test]
fn what_a_table_tells_of_the_pod_before_is_not_of_the_one_that_is_described() {
    let running = |name: &str, start: &str, age: &str| {
        let placed = format!(
            "Normal  Scheduled  {age}   default-scheduler  Successfully assigned ml/{name} to g1"
        );
        let started = format!("Normal  Started    {age}   kubelet            Container started");
        let status = "Status:           Running";
        described(
            name,
            "StatefulSet/sts",
            start,
            status,
            &[placed.as_str(), started.as_str()],
        )
    };
    let pods = [
        running("sts-0", "10:00:06", "17s"),
        running("sts-1", "10:00:13", "10s"),
    ];
    let table = text(&[
        "LAST SEEN   TYPE     REASON      OBJECT      MESSAGE",
        "17s         Normal   Scheduled   pod/sts-0   Successfully assigned ml/sts-0 to g1",
        "17s         Normal   Started     pod/sts-0   Container started",
        "17s         Normal   Scheduled   pod/sts-1   Successfully assigned ml/sts-1 to g1",
        "17s         Normal   Started     pod/sts-1   Container started",
        "10s         Normal   Killing     pod/sts-1   Stopping container trainer",
        "10s         Normal   Scheduled   pod/sts-1   Successfully assigned ml/sts-1 to g1",
        "10s         Normal   Started     pod/sts-1   Container started",
    ]);
    let answer = ask(
        "sts",
        &[("describe.txt", pods.join("\n\n")), ("events.txt", table)],
    );
    let causes: Vec<&str> = answer["incidents"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["cause"].as_str())
        .collect();
    assert_eq!(answer["runs"][0]["state"], "running", "{answer:#}");
    assert_eq!(causes.first(), Some(&"none.running"), "{answer:#}");
}

/// A pod whose container failed, with the rows of its Events.
fn failing(sidecar: &str, status: &str, trainer: &str, events: &[&str]) -> String {
    let rows: Vec<String> = events.iter().map(|row| format!("  {row}\n")).collect();
    format!(
        "Name:             side-0-aaaaa
Namespace:        ml
Priority:         0
Node:             g1/10.0.4.9
Start Time:       Tue, 24 Nov 2026 10:00:05 +0000
Status:           {status}
Controlled By:    Job/side
{sidecar}Containers:
  trainer:
{trainer}
Conditions:
  Type     Status
  Ready    False
Events:
  Type     Reason     Age                From               Message
  ----     ------     ----               ----               -------
  Normal   Scheduled  30s                default-scheduler  Successfully assigned ml/side-0-aaaaa to g1
{}",
        rows.concat()
    )
}

/// A kubelet names the container that it holds back: a sidecar's trouble is not that of the container beside it.
#[test]
fn a_described_sidecar_that_keeps_failing_is_not_why_the_pod_ended() {
    let sidecar = "\
Init Containers:
  shipper:
    State:          Terminated
      Reason:       Error
      Exit Code:    143
      Started:      Tue, 24 Nov 2026 10:00:25 +0000
      Finished:     Tue, 24 Nov 2026 10:00:29 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    2
      Started:      Tue, 24 Nov 2026 10:00:11 +0000
      Finished:     Tue, 24 Nov 2026 10:00:15 +0000
    Ready:          False
    Restart Count:  2
";
    let trainer = "    State:          Terminated
      Reason:       Error
      Exit Code:    1
      Started:      Tue, 24 Nov 2026 10:00:05 +0000
      Finished:     Tue, 24 Nov 2026 10:00:28 +0000
    Ready:          False
    Restart Count:  0";
    let events = [
        "Normal   Started    30s                kubelet            Container started",
        "Warning  BackOff    19s                kubelet            Back-off restarting failed container shipper in pod side-0-aaaaa_ml(390bb8a9)",
        "Normal   Started    10s (x3 over 30s)  kubelet            Container started",
        "Normal   Killing    7s                 kubelet            Stopping container shipper",
    ];
    let pod = failing(sidecar, "Failed", trainer, &events);
    let answer = ask("side", &[("describe.txt", pod)]);
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("failed", "code.exception"), "{answer:#}");
    let victim = &answer["incidents"][0]["first_victim"];
    assert_eq!(victim["exit_code"], 1, "{answer:#}");
}

/// A table of Events beside a description adds to it.
#[test]
fn a_pod_that_is_described_as_failing_keeps_its_exit_code_beside_a_table() {
    let trainer = "    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
      Started:      Tue, 24 Nov 2026 10:00:25 +0000
      Finished:     Tue, 24 Nov 2026 10:00:29 +0000
    Ready:          False
    Restart Count:  2";
    const HELD_BACK: &str =
        "Back-off restarting failed container trainer in pod side-0_ml(390bb8a9)";
    let held_back =
        format!("Warning  BackOff    5s (x2 over 19s)   kubelet            {HELD_BACK}");
    let events = [
        "Normal   Started    10s (x3 over 30s)  kubelet            Container started",
        held_back.as_str(),
    ];
    let pod = failing("", "Running", trainer, &events)
        .replace("side-0-aaaaa", "side-0")
        .replace("Job/side", "StatefulSet/side");
    let row = format!("6s          Warning   BackOff     pod/side-0   {HELD_BACK}");
    let table = text(&[
        "LAST SEEN   TYPE      REASON      OBJECT       MESSAGE",
        "40s         Normal    Scheduled   pod/side-0   Successfully assigned ml/side-0 to g2",
        "40s         Normal    Started     pod/side-0   Container started",
        "32s         Normal    Killing     pod/side-0   Stopping container trainer",
        "30s         Normal    Scheduled   pod/side-0   Successfully assigned ml/side-0 to g1",
        "10s         Normal    Started     pod/side-0   Container started",
        &row,
    ]);
    let of = |files: &[(&str, String)]| {
        let answer = ask("side", files);
        let code = answer["incidents"][0]["first_victim"]["exit_code"].clone();
        (verdict(&answer).1.to_owned(), code)
    };
    let told = ("code.exception".to_owned(), Value::from(1));
    assert_eq!(of(&[("describe.txt", pod.clone())]), told);
    assert_eq!(of(&[("describe.txt", pod), ("events.txt", table)]), told);
}

/// A pod that is described as running, a minute after it began, and its log.
fn running(log: &[&str]) -> (String, String) {
    let events = [
        "Normal  Scheduled  60s  default-scheduler  Successfully assigned ml/web-0 to g1",
        "Normal  Started    58s  kubelet            Started container trainer",
    ];
    let status = "Status:           Running";
    let pod = described("web-0", "StatefulSet/web", "10:00:01", status, &events);
    let answer = ask(
        "web-0",
        &[("kubectl_describe.txt", pod), ("web-0.log", text(log))],
    );
    let (state, cause, ..) = verdict(&answer);
    (state.to_owned(), cause.to_owned())
}

#[test]
fn who_writes_on_after_a_failure_may_have_got_over_it() {
    let log = [
        "2026-11-24 10:00:02,000 INFO start",
        "2026-11-24 10:03:10,000 ERROR skipped",
        "Traceback (most recent call last):",
        "  File \"/app/a.py\", line 9, in h",
        "ValueError: bad record",
    ];
    let died = ("failed".to_owned(), "code.exception".to_owned());
    assert_eq!(running(&log), died);
    let on = [&log[..], &["next record", "next record"]].concat();
    assert_eq!(running(&on).0, "running");
}

#[test]
fn a_log_from_days_before_a_pod_is_of_one_that_bore_its_name() {
    let failed =
        "2026-11-20 10:00:03,000 ERROR dial tcp: lookup web-1.web on 10.0.0.10:53: no such host";
    let later = "2026-11-24 10:00:03,000 INFO listening";
    assert_eq!(running(&[failed]).1, running(&[later]).1);
}
