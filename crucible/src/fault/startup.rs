//! What is in place before a run is made, and keeps it from starting.

use crate::plan::{Cloud, Fault, LoadKind};
use crate::time::SEC;
use crate::world::{
    ActId, Ask, Change, Client, Key, Kind, Source, Stage, StartFailure, World, claims, names,
};

/// Prepares what will keep a workload from starting.
pub(super) fn prepare(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::Quota | Fault::MissingAccount | Fault::Admission => refuse(w, fault, load),
        Fault::NoCapacity => no_capacity(w, load),
        Fault::NoSuchNode => no_such_node(w, load),
        Fault::CapacityExhausted | Fault::CloudQuota => scale_up_fails(w, fault, load),
        Fault::ImagePull
        | Fault::Secret
        | Fault::Volume
        | Fault::SandboxNetwork
        | Fault::BadCommand => cannot_start(w, fault, load),
        Fault::Runtime => runtime_down(w, load),
        Fault::ControlPlane => control_plane(w, load),
        Fault::Readiness => readiness(w, load),
        _ => {}
    }
}

fn block(w: &mut World, load: usize, act: ActId) {
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(act);
    }
}

/// Admission refuses the pods; the words after `refuses: ` are its answer.
fn refuse(w: &mut World, fault: Fault, load: usize) {
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let stem = match plan.kind {
        LoadKind::Job => format!("{}-0-x7k2p", plan.name),
        LoadKind::JobSet => format!("{}-workers-0-0-x7k2p", plan.name),
        LoadKind::Deployment => format!("{}-6c9f7b5d4f-x7k2p", plan.name),
        _ => format!("{}-0", plan.name),
    };
    let (causes, text): (&[&'static str], String) = match fault {
        Fault::Quota => {
            let resource = w
                .rng
                .word(&["requests.nvidia.com/gpu", "limits.memory", "pods"]);
            let (asked, used, limit) = match resource {
                "requests.nvidia.com/gpu" => {
                    (plan.gpus.to_string(), "16".to_owned(), "16".to_owned())
                }
                "limits.memory" => ("200Gi".to_owned(), "3900Gi".to_owned(), "4000Gi".to_owned()),
                _ => ("1".to_owned(), "20".to_owned(), "20".to_owned()),
            };
            quota_object(w, &plan.namespace, resource, &used, &limit);
            (
                &["sched.quota"],
                format!(
                    "pods \"{stem}\" is forbidden: exceeded quota: team-quota, requested: {resource}={asked}, used: {resource}={used}, limited: {resource}={limit}"
                ),
            )
        }
        Fault::MissingAccount => (
            &["dep.secret_or_config", "code.config_or_input"],
            format!(
                "pods \"{stem}\" is forbidden: error looking up service account {}/trainer: serviceaccount \"trainer\" not found",
                plan.namespace
            ),
        ),
        _ => {
            let text = w.rng.word(&[
                "admission webhook \"validate.kyverno.svc-fail\" denied the request: resource Pod was blocked due to the following policies require-team-label: check-team: 'validation error: label team is required'",
                "violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"trainer\" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true",
            ]);
            let text = if text.starts_with("violates") {
                format!("pods \"{stem}\" is forbidden: {text}")
            } else {
                text.to_owned()
            };
            (
                &[
                    "code.config_or_input",
                    "dep.control_plane",
                    "ops.config_change",
                    "dep.secret_or_config",
                ],
                text,
            )
        }
    };
    let act = w.act(format!("refuses: {text}"), causes, None);
    block(w, load, act);
    if fault == Fault::MissingAccount
        && let Some(load) = w.loads.get_mut(load)
    {
        load.account = Some("trainer".to_owned());
    }
}

fn quota_object(w: &mut World, namespace: &str, resource: &str, used: &str, limit: &str) {
    let key = Key {
        kind: Kind::ResourceQuota,
        namespace: namespace.to_owned(),
        name: "team-quota".to_owned(),
        uid: w.rng.uuid(),
    };
    let object = serde_json::json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": key.name, "namespace": namespace, "uid": key.uid, "creationTimestamp": w.plan.start.plus(-90_000 * SEC).secs()},
        "spec": {"hard": {resource: limit}}, "status": {"hard": {resource: limit}, "used": {resource: used}}});
    w.put(
        Change::Added,
        &key,
        object,
        Ask::new(Client::person(super::OPERATOR), "create", ""),
    );
}

/// All GPUs are in use by others.
fn no_capacity(w: &mut World, load: usize) {
    let act = w.act(
        "all GPUs are in use",
        &["sched.unschedulable_capacity"],
        None,
    );
    block(w, load, act);
    fill(w);
}

/// Others hold every GPU there is.
fn fill(w: &mut World) {
    let nodes = u32::try_from(w.plan.cluster.nodes).unwrap_or(4);
    let gpus = w.plan.cluster.gpus;
    let name = format!("serving-{}", w.rng.letters(3));
    let at = crate::case::add_load(w, crate::plan::Load::service("prod", name, nodes, gpus));
    w.after(0, move |w| crate::control::make(w, at));
}

/// It asks for what no node has.
fn no_such_node(w: &mut World, load: usize) {
    let act = w.act(
        "it asks for what no node has",
        &["sched.unschedulable_constraint"],
        None,
    );
    block(w, load, act);
    let tags = w.rng.chance(60);
    if let Some(load) = w.loads.get_mut(load) {
        if tags {
            load.selector = Some(("nvidia.com/gpu.family".to_owned(), "blackwell".to_owned()));
        } else {
            load.plan.gpus = 16;
            // Whether that is a lack or a constraint is one question.
        }
    }
    if !tags {
        let act = w.act(
            "it asks for more than any node has",
            &[
                "sched.unschedulable_constraint",
                "sched.unschedulable_capacity",
            ],
            None,
        );
        block(w, load, act);
    }
}

/// The autoscaler asks the cloud for a machine, and is refused.
fn scale_up_fails(w: &mut World, fault: Fault, load: usize) {
    let is_quota = fault == Fault::CloudQuota;
    let causes: &[&'static str] = if is_quota {
        &["cloud.quota"]
    } else {
        &["cloud.capacity_exhausted"]
    };
    let act = w.act("the cloud gives no machine", causes, None);
    w.refused.extend(causes);
    fill(w);
    let waits = w.act(
        "no node has room",
        &["sched.unschedulable_capacity"],
        Some(act),
    );
    block(w, load, waits);
    let cloud = w.plan.cluster.cloud;
    let group = w
        .nodes
        .first()
        .map(|node| node.pool.clone())
        .unwrap_or_default();
    let at = w.loads.get(load).map_or(0, |load| load.plan.at);
    let text = match (cloud, is_quota) {
        (Cloud::Gcp, false) => format!(
            "Scale-up failed for group https://www.googleapis.com/compute/v1/projects/lab-project/zones/us-central1-a/instanceGroups/{group}: The zone 'projects/lab-project/zones/us-central1-a' does not have enough resources available to fulfill the request. (ZONE_RESOURCE_POOL_EXHAUSTED)"
        ),
        (Cloud::Gcp, true) => format!(
            "Scale-up failed for group {group}: Instance creation failed: Quota 'NVIDIA_H100_GPUS' exceeded. Limit: 16.0 in region us-central1. (QUOTA_EXCEEDED)"
        ),
        (Cloud::Aws, false) => format!(
            "Scale-up failed for group {group}: We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested (eu-west-1a). (InsufficientInstanceCapacity)"
        ),
        (Cloud::Aws, true) => format!(
            "Scale-up failed for group {group}: You have requested more vCPU capacity than your current vCPU limit of 192 allows for the instance bucket that the specified instance type belongs to. (VcpuLimitExceeded)"
        ),
        (_, false) => format!(
            "Scale-up failed for group {group}: Allocation failed. We do not have sufficient capacity for the requested VM size in this region. (AllocationFailed)"
        ),
        (_, true) => format!(
            "Scale-up failed for group {group}: Operation could not be completed as it results in exceeding approved standardNDSH100v5Family Cores quota. (QuotaExceeded)"
        ),
    };
    for turn in 0..3i64 {
        let text = text.clone();
        w.after(at + (25 + turn * 330) * SEC, move |w| {
            refused_once(w, load, act, &text);
        });
    }
}

fn refused_once(w: &mut World, load: usize, act: ActId, text: &str) {
    let status = Key {
        kind: Kind::ConfigMap,
        namespace: "kube-system".to_owned(),
        name: "cluster-autoscaler-status".to_owned(),
        uid: "5d0c1b1e-8a3c-4e2e-9d1f-0c2f6f1a4b10".to_owned(),
    };
    let source = Source::Other("cluster-autoscaler", "kube-system");
    let group = w
        .nodes
        .first()
        .map(|node| node.pool.clone())
        .unwrap_or_default();
    let pods: Vec<Key> = w
        .pods
        .iter()
        .filter(|pod| pod.load == load && pod.node.is_none() && pod.gone.is_none())
        .map(crate::world::Pod::key)
        .collect();
    for pod in pods {
        w.emit_event(
            &source,
            pod.clone(),
            "Normal",
            "TriggeredScaleUp",
            format!("pod triggered scale-up: [{{{group} 4->6 (max: 10)}}]"),
            &claims(act),
        );
        w.soon(9000, 40_000, move |w| {
            w.emit_event(
                &Source::Other("cluster-autoscaler", "kube-system"),
                pod,
                "Normal",
                "NotTriggerScaleUp",
                "pod didn't trigger scale-up: 1 in backoff after failed scale-up",
                &claims(act),
            );
        });
    }
    w.emit_event(
        &source,
        status,
        "Warning",
        "FailedToScaleUpGroup",
        text,
        &names(act),
    );
}

fn cannot_start(w: &mut World, fault: Fault, load: usize) {
    let image = w.image(load);
    let node = None;
    let (causes, at, message): (&[&'static str], Stage, String) = match fault {
        Fault::ImagePull => {
            let text = w.rng.word(&[
                "rpc error: code = NotFound desc = failed to pull and unpack image \"IMAGE\": failed to resolve reference \"IMAGE\": IMAGE: not found",
                "failed to pull and unpack image \"IMAGE\": failed to resolve reference \"IMAGE\": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials",
                "failed to pull and unpack image \"IMAGE\": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry.lab.example/v2/train/blobs/sha256:ab: 429 Too Many Requests",
                "rpc error: code = DeadlineExceeded desc = failed to pull and unpack image \"IMAGE\": dial tcp 10.9.8.7:443: i/o timeout",
            ]);
            (&["dep.image_pull"], Stage::Image, text.replace("IMAGE", &image))
        }
        Fault::Secret => {
            if let Some(load) = w.loads.get_mut(load) {
                load.secret = Some("wandb".to_owned());
            }
            let text = w.rng.word(&["secret \"wandb\" not found", "couldn't find key token in Secret research/wandb", "configmap \"train-env\" not found"]);
            (&["dep.secret_or_config"], Stage::Config, text.to_owned())
        }
        Fault::Volume => {
            if let Some(load) = w.loads.get_mut(load) {
                load.claim = Some("datasets".to_owned());
            }
            if w.rng.chance(50) {
                (&["dep.volume"], Stage::Mount, "MountVolume.SetUp failed for volume \"pvc-9f1c\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.0.4:/export/datasets /var/lib/kubelet/pods/x/volumes/kubernetes.io~nfs/pvc-9f1c\nOutput: mount.nfs: Connection timed out".to_owned())
            } else {
                (&["dep.volume"], Stage::Attach, "Multi-Attach error for volume \"pvc-9f1c\" Volume is already exclusively attached to one node and can't be attached to another".to_owned())
            }
        }
        Fault::SandboxNetwork => (&["dep.network"], Stage::Sandbox, "rpc error: code = Unknown desc = failed to setup network for sandbox \"5f1d0c1e\": plugin type=\"cilium-cni\" failed (add): unable to connect to Cilium agent: Get \"http://localhost/v1/config\": dial unix /var/run/cilium/cilium.sock: connect: no such file or directory".to_owned()),
        _ => {
            let code = if w.rng.chance(50) { 128 } else { 127 };
            (&["code.config_or_input"], Stage::Command(code), "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: \"trian.py\": executable file not found in $PATH".to_owned())
        }
    };
    let act = w.act(format!("its start fails: {message}"), causes, None);
    block(w, load, act);
    if let Some(load) = w.loads.get_mut(load) {
        load.start_failure = Some(StartFailure {
            at,
            message,
            act,
            node,
        });
        if matches!(at, Stage::Command(_)) {
            // It starts and fails: that is a death of its own.
            load.blocked = None;
            load.command = vec![
                "trian.py".to_owned(),
                "--config".to_owned(),
                "configs/a.yaml".to_owned(),
            ];
        }
    }
}

/// The container runtime of the nodes is down, while their kubelets run.
fn runtime_down(w: &mut World, load: usize) {
    let act = w.act("the container runtime is down", &["node.runtime"], None);
    block(w, load, act);
    for node in 0..w.nodes.len() {
        let name = {
            let Some(body) = w.nodes.get_mut(node) else {
                continue;
            };
            body.broken_runtime = Some(act);
            body.name.clone()
        };
        w.host_line(
            node,
            crate::world::Unit::Systemd,
            "containerd.service: Main process exited, code=killed, status=9/KILL",
            &names(act),
        );
        w.host_line(
            node,
            crate::world::Unit::Systemd,
            "containerd.service: Failed with result 'signal'.",
            &names(act),
        );
        // The kubelet says so after a while.
        let lag = w.rng.secs(300, 420);
        w.after(lag, move |w| {
            w.set_condition(node, "Ready", "False", "KubeletNotReady", "[container runtime is down, PLEG is not healthy: pleg was last seen active 3m1.2s ago; threshold is 3m0s]");
            w.put_node(node, Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&names(act)));
        });
    }
}

/// The control plane's scheduler is down: pods wait and nobody says why.
fn control_plane(w: &mut World, load: usize) {
    let act = w.act("refuses: Internal error occurred: failed calling webhook \"mpod.kb.io\": failed to call webhook: Post \"https://webhook.platform.svc:443/mutate--v1-pod?timeout=10s\": dial tcp 10.96.7.12:443: connect: connection refused", &["dep.control_plane", "dep.service"], None);
    block(w, load, act);
}

/// Its pods run and are never ready.
fn readiness(w: &mut World, load: usize) {
    let act = w.act("its readiness probe fails", &["code.readiness_probe"], None);
    block(w, load, act);
    if let Some(load) = w.loads.get_mut(load) {
        load.unready = true;
        load.curse = Some(crate::world::PodFault(std::rc::Rc::new(
            move |w: &mut World, pod| unready(w, pod, act, 0),
        )));
    }
}

fn unready(w: &mut World, pod: usize, act: ActId, times: u32) {
    let now = w.now;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    let Some(node) = body.node else { return };
    if !body.alive || body.stopping || times > 200 {
        return;
    }
    body.container.ready = false;
    for kind in ["Ready", "ContainersReady"] {
        body.condition(
            kind,
            "False",
            "ContainersNotReady",
            "containers with unready status: [trainer]",
            now,
        );
    }
    let key = body.key();
    if times == 0 {
        // Its status says so.
        w.soon(1000, 2000, move |w| {
            let name = w.node_name(node);
            w.put_pod(
                pod,
                Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&claims(act)),
            );
        });
    } else {
        w.emit_event(
            &Source::Kubelet(node),
            crate::world::Involved::container(key),
            "Warning",
            "Unhealthy",
            "Readiness probe failed: HTTP probe failed with statuscode: 503",
            &names(act),
        );
    }
    w.after(20 * SEC, move |w| unready(w, pod, act, times + 1));
}
