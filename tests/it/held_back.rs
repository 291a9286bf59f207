//! Pods of which no object is left, and that their kubelet held back again and again.

use super::unseen::{ask, text, verdict};

const UID: &str = "80838650-3e12-4834-b624-cbf7ef070ce4";

fn held_back() -> String {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "count": 7,
        "metadata": { "name": "serve-0.1", "namespace": "ml", "uid": "e-1", "creationTimestamp": "2026-02-11T19:06:08Z" },
        "firstTimestamp": "2026-02-11T19:06:08Z", "lastTimestamp": "2026-02-11T19:54:39Z",
        "involvedObject": { "apiVersion": "v1", "kind": "Pod", "name": "serve-0", "namespace": "ml", "uid": UID,
            "fieldPath": "spec.containers{main}" },
        "reason": "BackOff", "source": { "component": "kubelet", "host": "n0" },
        "message": format!("Back-off restarting failed container main in pod serve-0_ml({UID})"),
    })
    .to_string()
        + "\n"
}

/// A container that wrote is one that had started, whether or not the Events of that are still there.
#[test]
fn what_was_held_back_after_it_had_written_had_started() {
    let cgroup = UID.replace('-', "_");
    let scope =
        "cri-containerd-49a653ac4d724d60ad0d20fcb55deeeb58fdf1bbe44584e48d0d20fcb55deee1.scope";
    let slice = format!("/kubepods.slice/kubepods-pod{cgroup}.slice");
    let killed = format!(
        "2026-02-11T19:54:38.403706+00:00 n0 kernel: [8123.403706] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),\
         cpuset={scope},mems_allowed=0-1,oom_memcg={slice},task_memcg={slice}/{scope},task=python3,pid=4121,uid=0"
    );
    let log = format!("pods/ml_serve-0_{UID}/main/8.log");
    let answer = ask(
        "serve-0",
        &[
            ("events.ndjson", held_back()),
            ("nodes/n0/syslog", text(&[&killed])),
            (
                log.as_str(),
                text(&[
                    "2026-02-11T19:48:15.296784815Z stderr F 2026-02-11 19:48:15,296 INFO train starts",
                    "2026-02-11T19:53:38.403706168Z stderr F 2026-02-11 19:53:38,403 INFO train rss=187.2GiB",
                ]),
            ),
        ],
    );
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!(cause, "code.host_oom", "{answer:#}");
    assert_ne!(state, "pending", "{answer:#}");
}

/// Without a word of it, it may be that it could not be started.
#[test]
fn what_was_held_back_and_never_wrote_may_not_have_started() {
    let answer = ask("serve-0", &[("events.ndjson", held_back())]);
    let state = &answer["incidents"][0]["first_victim"]["state"];
    assert_eq!(state, "stuck_starting", "{answer:#}");
}
