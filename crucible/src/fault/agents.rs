//! What runs on each node for the cluster, and dies: the kubelet, the container runtime, the agent of the network, the proxy,
//! and the cluster's name servers.

use std::rc::Rc;

use super::{node_of, victim};
use crate::control::{Exit, exit, go_silent, judge_taints};
use crate::plan::{Fault, Load};
use crate::time::{SEC, Time};
use crate::train::{klog, say_all};
use crate::world::{
    ActId, Ask, Client, PodFault, Relation, Source, Stage, StartFailure, Taint, Unit, World,
    claims, names,
};

/// Lets one of them die.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::NamesDown => names_down(w, load),
        Fault::ProxyDown => proxy(w, load),
        _ => {
            let Some(node) = node_of(w, load) else { return };
            match fault {
                Fault::KubeletDead => kubelet(w, node),
                Fault::KubeletBlip => kubelet_blip(w, node),
                Fault::RuntimeDies => runtime(w, node),
                _ => runtime_blip(w, node),
            }
        }
    }
}

const LIFECYCLE: &[&str] = &[
    "taint-eviction-controller",
    "system:serviceaccount:kube-system:node-controller",
    "node-controller",
];

/// The kubelet ends and does not come up again; the containers run on, and nobody hears of them.
fn kubelet(w: &mut World, node: usize) {
    let act = w.deed(
        "the kubelet of a node does not run",
        &["node.not_ready", "node.runtime"],
        LIFECYCLE,
        None,
    );
    let why = w.rng.word(&[
        "\"command failed\" err=\"failed to load kubelet config file, path: /var/lib/kubelet/config.yaml, error: failed to load Kubelet config file /var/lib/kubelet/config.yaml, error failed to read kubelet config file\"",
        "\"command failed\" err=\"failed to run Kubelet: unable to load bootstrap kubeconfig: stat /etc/kubernetes/bootstrap-kubelet.conf: no such file or directory\"",
        "\"command failed\" err=\"failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \\\"unix:///run/containerd/containerd.sock\\\": rpc error: code = Unavailable\"",
    ]);
    for turn in 0..5i64 {
        w.after(turn * 11 * SEC, move |w| {
            let head = klog(w.now);
            w.host_line(
                node,
                Unit::Kubelet,
                format!("E{head} run.go:72] {why}"),
                &names(act),
            );
            for text in [
                "kubelet.service: Main process exited, code=exited, status=1/FAILURE".to_owned(),
                "kubelet.service: Failed with result 'exit-code'.".to_owned(),
                format!(
                    "kubelet.service: Scheduled restart job, restart counter is at {}.",
                    turn + 1
                ),
            ] {
                w.host_line(node, Unit::Systemd, text, &names(act));
            }
        });
    }
    go_silent(w, node, act);
}

/// The kubelet is restarted, which takes some seconds and hurts nobody.
fn kubelet_blip(w: &mut World, node: usize) {
    for text in [
        "Stopping kubelet.service - kubelet: The Kubernetes Node Agent...",
        "kubelet.service: Deactivated successfully.",
        "Started kubelet.service - kubelet: The Kubernetes Node Agent.",
    ] {
        w.host_line(node, Unit::Systemd, text, &[]);
    }
    let Some(key) = w.nodes.get(node).map(crate::world::Node::key) else {
        return;
    };
    w.soon(1500, 6000, move |w| {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Normal",
            "Starting",
            "Starting kubelet.",
            &[],
        );
    });
}

/// What systemd says of a runtime that is killed.
fn runtime_killed(w: &mut World, node: usize, tags: &[crate::world::Tag]) {
    for text in [
        "containerd.service: Main process exited, code=killed, status=9/KILL",
        "containerd.service: Failed with result 'signal'.",
    ] {
        w.host_line(node, Unit::Systemd, text, tags);
    }
}

/// The runtime of one node dies under containers that run on; three minutes later the kubelet says so, and what is there is
/// driven out by its taint, and cannot be stopped.
fn runtime(w: &mut World, node: usize) {
    let act = w.deed(
        "the container runtime of a node is down",
        &["node.runtime"],
        LIFECYCLE,
        None,
    );
    let tags = names(act);
    runtime_killed(w, node, &tags);
    for turn in 1..4i64 {
        w.after(turn * 6 * SEC, move |w| {
            for text in [
                format!("containerd.service: Scheduled restart job, restart counter is at {turn}."),
                "containerd.service: Main process exited, code=exited, status=1/FAILURE".to_owned(),
                "containerd.service: Failed with result 'exit-code'.".to_owned(),
            ] {
                w.host_line(node, Unit::Systemd, text, &names(act));
            }
        });
    }
    if let Some(body) = w.nodes.get_mut(node) {
        body.broken_runtime = Some(act);
    }
    let lag = w.rng.secs(182, 200);
    w.after(lag, move |w| not_ready(w, node, act));
}

fn not_ready(w: &mut World, node: usize, act: ActId) {
    let now = w.now;
    let Some(body) = w
        .nodes
        .get_mut(node)
        .filter(|body| body.heard && body.up && body.gone.is_none())
    else {
        return;
    };
    body.lost.get_or_insert(act);
    let (key, name) = (body.key(), body.name.clone());
    w.set_condition(
        node,
        "Ready",
        "False",
        "KubeletNotReady",
        "[container runtime is down, PLEG is not healthy: pleg was last seen active 3m1.2s ago; threshold is 3m0s]",
    );
    let tags = names(act);
    w.put_node(
        node,
        Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&tags),
    );
    let text = format!("Node {name} status is now: NodeNotReady");
    w.emit_event(
        &Source::Kubelet(node),
        key,
        "Normal",
        "NodeNotReady",
        text,
        &claims(act),
    );
    w.soon(200, 5200, move |w| {
        if let Some(body) = w.nodes.get_mut(node) {
            for effect in ["NoSchedule", "NoExecute"] {
                body.taints.push(Taint {
                    key: "node.kubernetes.io/not-ready".to_owned(),
                    value: None,
                    effect,
                    added: Some(now),
                    by: None,
                });
            }
        }
        let by = Client::controller("node-controller");
        w.put_node(node, Ask::new(by, "patch", "").with_tags(&claims(act)));
        judge_taints(w, node);
    });
}

/// The runtime is killed and started again at once: its shims keep the containers, and it finds them again.
fn runtime_blip(w: &mut World, node: usize) {
    runtime_killed(w, node, &[]);
    w.soon(5000, 6500, move |w| {
        for text in [
            "containerd.service: Scheduled restart job, restart counter is at 1.",
            "Started containerd.service - containerd container runtime.",
        ] {
            w.host_line(node, Unit::Systemd, text, &[]);
        }
    });
}

/// A deployment of the cluster's own whose pods end at their start, for a reason of their own.
fn crashing(w: &mut World, name: &str, size: u32, text: &'static str) {
    let act = w.act(
        format!("{name} crashes at its start"),
        &[
            "code.exception",
            "code.config_or_input",
            "dep.network",
            "dep.dns",
        ],
        None,
    );
    let mut plan = Load::service("kube-system", name.to_owned(), size, 0);
    plan.restarts = true;
    let at = crate::case::add_load(w, plan);
    if let Some(body) = w.loads.get_mut(at) {
        body.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
            w.soon(700, 2500, move |w| {
                if w.pods
                    .get(pod)
                    .is_some_and(|pod| pod.alive && !pod.stopping)
                {
                    let text = dated(text, w.now);
                    say_all(w, pod, &text, &claims(act));
                    exit(w, pod, &Exit::code(1, act, Relation::Victim));
                }
            });
        })));
    }
    w.after(0, move |w| crate::control::make(w, at));
}

/// What a program writes, with the times that it writes itself.
fn dated(text: &str, now: Time) -> String {
    let time = now.format("F%m%d %H:%M:%S%.6f", 0);
    text.replace("F0301 10:00:00.000000", &time)
        .replace("2026-03-01T10:00:00Z", &now.secs())
}

/// The agent of the network crashes on every node: nothing new gets a network, and what has one keeps it.
pub(super) fn network_agent(w: &mut World, load: usize) {
    let act = w.act("the agent of the network crashes", &["dep.network"], None);
    let size = u32::try_from(w.nodes.len()).unwrap_or(4);
    let (name, text, message) = *w
        .rng
        .pick(&[
            (
                "cilium",
                "time=\"2026-03-01T10:00:00Z\" level=fatal msg=\"failed to start: daemon creation failed: unable to connect to kvstore\" subsys=daemon",
                "failed to setup network for sandbox \"5f1d0c1e\": plugin type=\"cilium-cni\" failed (add): unable to connect to Cilium agent: failed to create cilium agent client after 30.000000 seconds timeout: Get \"http://localhost/v1/config\": dial unix /var/run/cilium/cilium.sock: connect: no such file or directory",
            ),
            (
                "calico-node",
                "[FATAL][9] startup/startup.go 456: Unable to auto-detect an IPv4 address: no valid IPv4 addresses found on the host interfaces",
                "failed to setup network for sandbox \"5f1d0c1e\": plugin type=\"calico\" failed (add): stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/",
            ),
        ])
        .unwrap_or(&("cilium", "", ""));
    crashing(w, name, size, text);
    let step = w.act("no sandbox gets a network", &["dep.network"], Some(act));
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(step);
        load.start_failure = Some(StartFailure {
            at: Stage::Sandbox,
            message: format!("rpc error: code = Unknown desc = {message}"),
            act: step,
            node: None,
        });
    }
}

/// The cluster's name servers crash, and programs that ask for a name fail.
fn names_down(w: &mut World, load: usize) {
    let act = w.act("the cluster's name servers crash", &["dep.dns"], None);
    let text = w.rng.word(&[
        "[FATAL] plugin/loop: Loop (127.0.0.1:41797 -> :53) detected for zone \".\", see https://coredns.io/plugins/loop#troubleshooting. Query: \"HINFO 4547991504243258144.3688648895315093531.\"",
        "/etc/coredns/Corefile:7 - Error during parsing: Unknown directive 'upstream'",
    ]);
    crashing(w, "coredns", 2, text);
    let step = w.act("names are not resolved", &["dep.dns"], Some(act));
    let lag = w.rng.secs(20, 120);
    w.after(lag, move |w| {
        let Some(pod) = victim(w, load) else { return };
        let text = w.rng.word(&[
            "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 77, in open_shard\n    conn = socket.create_connection((host, 443))\nsocket.gaierror: [Errno -3] Temporary failure in name resolution",
            "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: \"https://minio.platform.svc.cluster.local/lab-data/shard-000017.tar\"\nurllib3.exceptions.NameResolutionError: <botocore.awsrequest.AWSHTTPSConnection object at 0x7f1>: Failed to resolve 'minio.platform.svc.cluster.local' ([Errno -3] Temporary failure in name resolution)",
        ]);
        say_all(w, pod, text, &names(step));
        exit(w, pod, &Exit::code(1, step, Relation::Victim));
    });
}

/// The proxy of services crashes on one node: its rules grow old, and a service whose pods have moved is not reached from there.
fn proxy(w: &mut World, load: usize) {
    let act = w.act(
        "the proxy of services crashes",
        &["dep.service", "dep.network"],
        None,
    );
    crashing(
        w,
        "kube-proxy",
        1,
        "F0301 10:00:00.000000       1 server.go:515] \"Error running ProxyServer\" err=\"iptables is not available on this host: exit status 4\"",
    );
    let step = w.act(
        "a service is not reached",
        &["dep.service", "dep.network"],
        Some(act),
    );
    let lag = w.rng.secs(30, 200);
    w.after(lag, move |w| {
        let Some(pod) = victim(w, load) else { return };
        say_all(
            w,
            pod,
            "Traceback (most recent call last):\n  File \"/workspace/reward.py\", line 55, in score\n    reply = requests.post(URL, json=batch, timeout=30)\nrequests.exceptions.ConnectionError: HTTPConnectionPool(host='reward-model.platform.svc', port=8000): Max retries exceeded with url: /score (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f1>: Failed to establish a new connection: [Errno 113] No route to host'))",
            &names(step),
        );
        exit(w, pod, &Exit::code(1, step, Relation::Victim));
    });
}
