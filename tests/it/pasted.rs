//! Sessions of kubectl that somebody pasted.

use super::unseen::{ask, text, verdict};

/// Whoever prints the date wants ages to count back from it; of pods of one name the Events of a `describe`
/// are those of the last.
#[test]
fn a_pod_that_was_replaced_under_its_name_runs() {
    let session = text(&[
        "$ date -u",
        "Tue Nov 24 12:00:00 UTC 2026",
        "$ kubectl get pods -A -o wide",
        "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE    IP            NODE   NOMINATED NODE   READINESS GATES",
        "ml          ps-0   1/1     Running   0          119m   10.244.3.17   g1     <none>           <none>",
        "$ kubectl describe pod ps-0 -n ml",
        "Name:             ps-0",
        "Namespace:        ml",
        "Priority:         0",
        "Node:             g1/10.0.4.9",
        "Start Time:       Tue, 24 Nov 2026 10:00:32 +0000",
        "Status:           Running",
        "Controlled By:    StatefulSet/ps",
        "Containers:",
        "  trainer:",
        "    State:          Running",
        "      Started:      Tue, 24 Nov 2026 10:00:32 +0000",
        "    Ready:          True",
        "    Restart Count:  0",
        "Conditions:",
        "  Type     Status",
        "  Ready    True",
        "Events:",
        "  Type     Reason      Age    From                Message",
        "  ----     ------      ----   ----                -------",
        "  Normal   Scheduled   119m   default-scheduler   Successfully assigned ml/ps-0 to g1",
        "  Normal   Started     119m   kubelet             Started container trainer",
        "$ kubectl get events -A --sort-by=.lastTimestamp",
        "NAMESPACE   LAST SEEN   TYPE     REASON      OBJECT     MESSAGE",
        "ml          3h59m       Normal   Scheduled   pod/ps-0   Successfully assigned ml/ps-0 to g1",
        "ml          3h59m       Normal   Started     pod/ps-0   Started container trainer",
        "ml          120m        Normal   Killing     pod/ps-0   Stopping container trainer",
        "ml          119m        Normal   Scheduled   pod/ps-0   Successfully assigned ml/ps-0 to g1",
        "ml          119m        Normal   Started     pod/ps-0   Started container trainer",
    ]);
    let answer = ask("ps", &[("session.txt", session)]);
    assert_eq!(
        (verdict(&answer).0, verdict(&answer).1),
        ("running", "none.running"),
        "{answer:#}"
    );
}

/// A Job that is printed as running after one of its name was given up is another one.
#[test]
fn a_job_that_a_set_made_anew_runs() {
    let session = text(&[
        "$ date -u",
        "Tue Nov 24 12:00:00 UTC 2026",
        "$ kubectl get pods -n ml",
        "NAME                         READY   STATUS    RESTARTS   AGE",
        "llama-js-workers-0-0-zt6wd   1/1     Running   0          139m",
        "$ kubectl get jobs -n ml",
        "NAME                 STATUS    COMPLETIONS   DURATION   AGE",
        "llama-js-workers-0   Running   0/1           139m       139m",
        "$ kubectl get events -n ml",
        "LAST SEEN   TYPE      REASON                 OBJECT                           MESSAGE",
        "3h59m       Normal    SuccessfulCreate       job/llama-js-workers-0           Created pod: llama-js-workers-0-0-x8f2k",
        "140m        Warning   BackoffLimitExceeded   job/llama-js-workers-0           Job has reached the specified backoff limit",
        "139m        Normal    Killing                pod/llama-js-workers-0-0-x8f2k   Stopping container trainer",
        "139m        Normal    SuccessfulCreate       job/llama-js-workers-0           Created pod: llama-js-workers-0-0-zt6wd",
    ]);
    let answer = ask("llama-js", &[("session.txt", session)]);
    assert_eq!(verdict(&answer).0, "running", "{answer:#}");
}

/// Events print names of containers, and not whether they prepare the others.
#[test]
fn a_pod_whose_init_container_failed_ended_with_its_code() {
    let session = text(&[
        "$ kubectl describe pod rag-0-x8f2k -n ml",
        "Name:             rag-0-x8f2k",
        "Namespace:        ml",
        "Priority:         0",
        "Node:             gpu-c3/10.0.4.9",
        "Start Time:       Tue, 24 Nov 2026 09:00:00 +0000",
        "Status:           Failed",
        "Controlled By:    Job/rag",
        "Init Containers:",
        "  fetch-data:",
        "    State:          Terminated",
        "      Reason:       Error",
        "      Exit Code:    3",
        "      Started:      Tue, 24 Nov 2026 09:00:05 +0000",
        "      Finished:     Tue, 24 Nov 2026 09:00:37 +0000",
        "    Ready:          False",
        "    Restart Count:  0",
        "Containers:",
        "  trainer:",
        "    State:          Waiting",
        "      Reason:       PodInitializing",
        "    Ready:          False",
        "    Restart Count:  0",
        "Events:",
        "  Type     Reason      Age    From                Message",
        "  ----     ------      ----   ----                -------",
        "  Normal   Scheduled   3h     default-scheduler   Successfully assigned ml/rag-0-x8f2k to gpu-c3",
        "  Normal   Started     179m   kubelet             Started container fetch-data",
    ]);
    let answer = ask("rag", &[("session.txt", session)]);
    let victim = &answer["incidents"][0]["first_victim"];
    assert_eq!(victim["exit_code"], 3, "{answer:#}");
}

/// A pod that hangs in its removal on a node that does not respond was most likely evicted for that; whoever else asked for it,
/// nothing says.
#[test]
fn a_pod_that_hangs_in_its_removal_on_a_silent_node() {
    let pods = text(&[
        "NAME         READY   STATUS        RESTARTS   AGE   IP         NODE     NOMINATED NODE   READINESS GATES",
        "pretrain-3   1/1     Terminating   0          3h    10.0.1.7   gpu-a4   <none>           <none>",
    ]);
    let node = |ready: &str| {
        text(&[
            "Name:               gpu-a4",
            "Roles:              <none>",
            "CreationTimestamp:  Mon, 07 Sep 2026 08:00:00 +0000",
            "Unschedulable:      false",
            "Conditions:",
            "  Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason              Message",
            "  ----             ------    -----------------                 ------------------                ------              -------",
            ready,
        ])
    };
    let silent = node(
        "  Ready            Unknown   Tue, 08 Sep 2026 11:00:00 +0000   Tue, 08 Sep 2026 11:00:44 +0000   NodeStatusUnknown   Kubelet stopped posting node status.",
    );
    let answer = ask(
        "pretrain-3",
        &[("pods.txt", pods.clone()), ("node.txt", silent)],
    );
    assert_eq!(verdict(&answer).1, "node.not_ready", "{answer:#}");
    assert_eq!(verdict(&answer).2, "hypothesis", "{answer:#}");
    let ready = node(
        "  Ready            True      Tue, 08 Sep 2026 11:00:00 +0000   Tue, 08 Sep 2026 08:00:44 +0000   KubeletReady        kubelet is posting ready status",
    );
    let answer = ask("pretrain-3", &[("pods.txt", pods), ("node.txt", ready)]);
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
}
