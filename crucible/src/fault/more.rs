//! What many clusters have besides: policies of failures, scripts that try again, queues, and
//! operators that set machines aside.

use serde_json::json;

use super::{node_of, victim};
use crate::control::{Exit, FATAL, drain, exit};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::{info, say, say_all};
use crate::world::{
    ActId, Ask, Change, Client, Key, Kind, Relation, Source, Taint, Unit, World, claims, names,
};

/// Lets it go wrong.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::FailurePolicy => fails_for_good(w, load),
        Fault::RetryLoop => tries_again(w, load),
        _ => quarantined(w, load),
    }
}

/// The program ends with a code that its Job does not retry.
fn fails_for_good(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let act = w.act(
        "the program gives up for good",
        &["code.exception", "code.config_or_input"],
        None,
    );
    let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
    say_all(
        w,
        pod,
        &format!(
            "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 88, in load_shards\n[rank{rank}]:     raise CorruptShard(path)\n[rank{rank}]: data.errors.CorruptShard: /mnt/data/shard-000412.tar: checksum differs, not retrying"
        ),
        &names(act),
    );
    exit(w, pod, &Exit::code(FATAL, act, Relation::Victim).claiming());
}

/// The program raises each time; the script around it starts it anew, and no container ends.
fn tries_again(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let act = w.act(
        "the program raises each time it is tried",
        &["code.exception"],
        None,
    );
    if let Some(load) = w.loads.get_mut(load) {
        load.stuck = Some(act);
        load.blocked = Some(act);
    }
    try_once(w, pod, act, 0);
}

fn try_once(w: &mut World, pod: usize, act: ActId, times: u32) {
    let lives = w
        .pods
        .get(pod)
        .is_some_and(|pod| pod.alive && !pod.stopping);
    if !lives || times > 400 {
        return;
    }
    if times > 0 {
        let line = info(w.now, "rank 0 of 1 starts");
        say(w, pod, false, line, &[]);
    }
    w.soon(4000, 15_000, move |w| {
        if w.pods.get(pod).is_none_or(|pod| !pod.alive) {
            return;
        }
        let tags = names(act);
        say_all(
            w,
            pod,
            "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 231, in <module>\n    main()\n  File \"/workspace/train.py\", line 140, in main\n    state = restore(args.resume)\n  File \"/workspace/ckpt.py\", line 33, in restore\n    raise ValueError(f\"checkpoint has {n} layers, model has {m}\")\nValueError: checkpoint has 32 layers, model has 40",
            &tags,
        );
        say(
            w,
            pod,
            false,
            "train.py failed with 1, trying again in 30 s",
            &tags,
        );
        w.after(30 * SEC, move |w| try_once(w, pod, act, times + 1));
    });
}

/// A health monitor sees an Xid: the node is marked, set aside and emptied.
fn quarantined(w: &mut World, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    let act = w.act("a GPU's firmware hangs", &["hw.gpu"], None);
    let xid = "NVRM: Xid (PCI:0000:2a:00): 119, pid=2041, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU1 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20803032 0x8c4).";
    w.host_line(node, Unit::Kernel, xid, &names(act));
    w.soon(1000, 8000, move |w| {
        w.set_condition(
            node,
            "SysLogsXIDError",
            "True",
            "SysLogsXIDErrorIsNotHealthy",
            "ErrorCode:119 PCI:0000:2a:00 GPU_UUID:GPU-6a1d0f52-8c44-2b71-90e3-5d7b1c09ae11 Recommended Action=COMPONENT_RESET;",
        );
        w.put_node(
            node,
            Ask::new(sentinel("platform-connectors"), "patch", "status").with_tags(&names(act)),
        );
        w.soon(500, 4000, move |w| set_aside(w, node, act));
    });
}

fn sentinel(name: &str) -> Client {
    Client::account(
        "nvsentinel",
        name,
        &format!("{name}/v0.0.0 (linux/amd64) kubernetes/$Format"),
    )
}

fn set_aside(w: &mut World, node: usize, act: ActId) {
    let step = w.deed(
        "an operator for GPUs sets the node aside",
        &["ops.node_drained"],
        &[
            "system:serviceaccount:nvsentinel:fault-quarantine",
            "system:serviceaccount:nvsentinel:node-drainer",
            "fault-quarantine",
            "node-drainer",
            "NVSentinel",
        ],
        Some(act),
    );
    let Some(body) = w.nodes.get_mut(node).filter(|body| body.gone.is_none()) else {
        return;
    };
    body.taints.push(Taint {
        key: "nvidia.com/gpu-xid-error".to_owned(),
        value: Some("true".to_owned()),
        effect: "NoSchedule",
        added: None,
        by: None,
    });
    body.labels.push((
        "k8s.nvidia.com/cordon-by".to_owned(),
        "NVSentinel".to_owned(),
    ));
    body.standing.extend(claims(act));
    body.standing.extend(claims(step));
    w.put_node(node, Ask::new(sentinel("fault-quarantine"), "update", ""));
    w.soon(2000, 60_000, move |w| {
        drain(w, node, &sentinel("node-drainer"), step);
    });
}

const INITS: &[(i32, &str, &[&str])] = &[
    (
        1,
        "fatal error: An error occurred (404) when calling the HeadObject operation: Key \"tokens-v7/index.json\" does not exist",
        &["code.config_or_input", "code.exception", "dep.storage"],
    ),
    (
        6,
        "curl: (6) Could not resolve host: storage.lab.example",
        &["dep.dns"],
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/fetch.py\", line 3, in <module>\n    import boto3\nModuleNotFoundError: No module named 'boto3'",
        &["code.config_or_input", "code.exception"],
    ),
];

/// What runs before the program fails each time.
pub(super) fn init_fails(w: &mut World, load: usize) {
    let which = w.rng.below(INITS.len());
    let Some(&(code, text, causes)) = INITS.get(which) else {
        return;
    };
    let act = w.act(format!("its init container fails: {text}"), causes, None);
    if let Some(load) = w.loads.get_mut(load) {
        load.init_fails = Some((code, text, act));
    }
}

/// A queue has no quota left: the Job is held back, and no pod is made.
pub(super) fn queued(w: &mut World, load: usize) {
    let act = w.act(
        "its queue has no quota left",
        &["sched.quota", "sched.unschedulable_capacity"],
        None,
    );
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.blocked = Some(act);
    let (at, plan) = (body.plan.at, body.plan.clone());
    let lag = at + w.rng.millis(30, 200);
    w.after(lag, move |w| {
        let Some((job, uid)) = w
            .jobs
            .iter()
            .enumerate()
            .find(|(_, job)| job.load == load)
            .map(|(at, job)| (at, job.uid.clone()))
        else {
            return;
        };
        let key = Key {
            kind: Kind::Workload,
            namespace: plan.namespace.clone(),
            name: format!("job-{}-{}", plan.name, w.rng.hex(5)),
            uid: w.rng.uuid(),
        };
        let asked = i64::from(plan.size) * i64::from(plan.gpus.max(1));
        let text = format!("couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, {asked} more needed");
        let object = json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid, "creationTimestamp": w.now.secs(),
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": plan.name, "uid": uid, "controller": true, "blockOwnerDeletion": true}]},
            "spec": {"active": true, "queueName": "team", "priority": 0, "podSets": [{"name": "main", "count": plan.size}]},
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": text, "lastTransitionTime": w.now.secs()}]}});
        let by = Client::account("kueue-system", "kueue-controller-manager", "kueue/v0.14.0");
        w.put(
            Change::Added,
            &key,
            object,
            Ask::new(by, "create", "").with_tags(&names(act)),
        );
        if let Some(root) = w.job_key(job) {
            w.emit_event(
                &Source::Other("batch/job-kueue-controller", "kueue-system"),
                root,
                "Normal",
                "CreatedWorkload",
                format!("Created Workload: {}/{}", key.namespace, key.name),
                &[],
            );
        }
        w.emit_event(
            &Source::Other("kueue-admission", "kueue-system"),
            key,
            "Warning",
            "Pending",
            text,
            &names(act),
        );
    });
}
