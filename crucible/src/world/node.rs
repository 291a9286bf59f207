//! Nodes as the API server holds them.

use serde_json::{Value, json};

use super::api::{Ask, Change, Key, Kind};
use super::client::Client;
use super::pod::Condition;
use super::{ActId, Tag, World};
use crate::plan::Cloud;
use crate::time::{HOUR, SEC, Time};

/// A taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value, where it has one.
    pub value: Option<String>,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: &'static str,
    /// When it was added; only `NoExecute` says so.
    pub added: Option<Time>,
    /// What put it there, where that is not what silenced the node.
    pub by: Option<ActId>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
    /// When it registered.
    pub created: Time,
    /// Zone.
    pub zone: String,
    /// The cloud's id of the machine.
    pub instance: String,
    /// `providerID`.
    pub provider: String,
    /// Instance type.
    pub shape: String,
    /// The cloud's name of its pool or group.
    pub pool: String,
    /// Address.
    pub ip: String,
    /// GPUs that it has, and that it offers.
    pub gpus: (u32, u32),
    /// Cordoned.
    pub unschedulable: bool,
    /// Taints.
    pub taints: Vec<Taint>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// Changes with each boot.
    pub boot: String,
    /// When the kernel started, for its own clock.
    pub booted: Time,
    /// Whether the machine runs.
    pub up: bool,
    /// What its taints and conditions tell for as long as they stand.
    pub standing: Vec<Tag>,
    /// When it did not, from and to.
    pub downs: Vec<(Time, Option<Time>)>,
    /// Whether the kubelet speaks to the API server.
    pub heard: bool,
    /// Whether its container runtime can start anything; else why not.
    pub broken_runtime: Option<ActId>,
    /// Why the machine is lost, while it is.
    pub lost: Option<ActId>,
    /// When the object was deleted.
    pub gone: Option<Time>,
    /// Extra labels.
    pub labels: Vec<(String, String)>,
    /// Last heartbeat.
    pub heartbeat: Time,
}

impl Node {
    /// Whether the scheduler may use it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.gone.is_none()
            && self
                .conditions
                .iter()
                .any(|one| one.kind == "Ready" && one.status == "True")
    }

    /// Names the object.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            kind: Kind::Node,
            namespace: String::new(),
            name: self.name.clone(),
            uid: self.uid.clone(),
        }
    }

    fn json(&self, minor: u32) -> Value {
        let mut labels = json!({
            "kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": self.shape, "topology.kubernetes.io/zone": self.zone,
        });
        if self.gpus.0 > 0 {
            labels["nvidia.com/gpu.product"] = json!("NVIDIA-H100-80GB-HBM3");
        }
        for (name, value) in &self.labels {
            labels[name.as_str()] = json!(value);
        }
        let mut spec = json!({"providerID": self.provider});
        if self.unschedulable {
            spec["unschedulable"] = json!(true);
        }
        if !self.taints.is_empty() {
            spec["taints"] = self.taints.iter().map(taint).collect();
        }
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": self.name, "uid": self.uid, "creationTimestamp": self.created.secs(), "labels": labels,
                "annotations": {"node.alpha.kubernetes.io/ttl": "0"}},
            "spec": spec,
            "status": {
                "addresses": [{"type": "InternalIP", "address": self.ip}, {"type": "Hostname", "address": self.name}],
                "capacity": {"cpu": "96", "memory": "1056Gi", "nvidia.com/gpu": self.gpus.0.to_string(), "pods": "110", "ephemeral-storage": "1000Gi"},
                "allocatable": {"cpu": "95", "memory": "1040Gi", "nvidia.com/gpu": self.gpus.1.to_string(), "pods": "110", "ephemeral-storage": "900Gi"},
                "conditions": self.conditions.iter().map(|one| condition(one, self.heartbeat)).collect::<Vec<_>>(),
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {"bootID": self.boot, "machineID": self.uid.replace('-', ""), "systemUUID": self.uid, "kernelVersion": "6.8.0-1021-generic",
                    "osImage": "Ubuntu 24.04.2 LTS", "containerRuntimeVersion": "containerd://2.0.4", "kubeletVersion": format!("v1.{minor}.1"),
                    "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"},
            },
        })
    }
}

/// As it is stored.
pub(super) fn taint(taint: &Taint) -> Value {
    let mut value = json!({"key": taint.key, "effect": taint.effect});
    if let Some(text) = &taint.value {
        value["value"] = json!(text);
    }
    if let Some(time) = taint.added {
        value["timeAdded"] = json!(time.secs());
    }
    value
}

fn condition(one: &Condition, heartbeat: Time) -> Value {
    json!({"type": one.kind, "status": one.status, "reason": one.reason, "message": one.message,
        "lastHeartbeatTime": heartbeat.max(one.since).secs(), "lastTransitionTime": one.since.secs()})
}

impl World {
    /// The nodes that are there at the start, made some hours before.
    pub fn make_nodes(&mut self) {
        for _ in 0..self.plan.cluster.nodes {
            let before = self.rng.range(2 * HOUR, 90 * HOUR);
            self.add_node(before);
        }
    }

    /// A machine that registered that long ago. Gives its place.
    pub fn add_node(&mut self, ago: i64) -> usize {
        let at = self.nodes.len();
        let created = self.now.plus(-ago);
        let name;
        let (provider, instance, zone, pool);
        match self.plan.cluster.cloud {
            Cloud::Gcp => {
                zone = "us-central1-a".to_owned();
                pool = "train-h100".to_owned();
                name = format!(
                    "gke-lab-train-h100-{}-{}",
                    hexed(self.plan.seed),
                    self.rng.letters(4)
                );
                instance = self
                    .rng
                    .range(1_000_000_000_000_000_000, 8_999_999_999_999_999_999)
                    .to_string();
                provider = format!("gce://lab-project/{zone}/{name}");
            }
            Cloud::Aws => {
                zone = "eu-west-1a".to_owned();
                pool = "train-p5".to_owned();
                let ip = (self.rng.range(0, 255), self.rng.range(1, 254));
                name = format!("ip-10-3-{}-{}.eu-west-1.compute.internal", ip.0, ip.1);
                instance = format!("i-{}", self.rng.hex(17));
                provider = format!("aws:///{zone}/{instance}");
            }
            Cloud::Azure => {
                zone = "westeurope-1".to_owned();
                pool = "aks-gpu-24680135-vmss".to_owned();
                name = format!("aks-gpu-24680135-vmss{at:06}");
                instance = at.to_string();
                provider = format!(
                    "azure:///subscriptions/0a0a0a0a-1111-2222-3333-444444444444/resourceGroups/mc_lab_aks_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/{pool}/virtualMachines/{at}"
                );
            }
            Cloud::OnPrem => {
                zone = "hall-2".to_owned();
                pool = "gpu".to_owned();
                name = format!("gpu-r{:02}-n{:02}", at / 4 + 1, at % 4);
                instance = name.clone();
                provider = String::new();
            }
        }
        let gpus = self.plan.cluster.gpus;
        let mut labels = Vec::new();
        if self.plan.cluster.cloud == Cloud::Gcp {
            labels.push(("cloud.google.com/gke-nodepool".to_owned(), pool.clone()));
            if self.plan.cluster.spot {
                labels.push(("cloud.google.com/gke-spot".to_owned(), "true".to_owned()));
            }
        }
        if self.plan.cluster.cloud == Cloud::Azure {
            let pool = pool.trim_start_matches("aks-").split('-').next();
            for name in ["agentpool", "kubernetes.azure.com/agentpool"] {
                labels.push((name.to_owned(), pool.unwrap_or("gpu").to_owned()));
            }
        }
        if self.plan.cluster.cloud == Cloud::Aws {
            labels.push(("topology.k8s.aws/zone-id".to_owned(), "euw1-az1".to_owned()));
            labels.push(("eks.amazonaws.com/nodegroup".to_owned(), pool.clone()));
            if self.plan.cluster.spot {
                labels.push((
                    "eks.amazonaws.com/capacityType".to_owned(),
                    "SPOT".to_owned(),
                ));
            }
        }
        let node = Node {
            uid: self.rng.uuid(),
            created,
            zone,
            instance,
            provider,
            shape: "gpu-8x-h100".to_owned(),
            pool,
            ip: format!("10.128.{}.{}", at / 200, at % 200 + 10),
            gpus: (gpus, gpus),
            unschedulable: false,
            taints: Vec::new(),
            conditions: healthy(created),
            boot: self.rng.uuid(),
            booted: created.plus(-50 * SEC),
            up: true,
            standing: Vec::new(),
            downs: Vec::new(),
            heard: true,
            broken_runtime: None,
            lost: None,
            gone: None,
            labels,
            heartbeat: self.now,
            name,
        };
        let by = Client::kubelet(&node.name);
        let key = node.key();
        let json = node.json(self.plan.cluster.minor);
        self.nodes.push(node);
        self.put(Change::Added, &key, json, Ask::new(by, "create", ""));
        at
    }

    /// Stores a node as it is now.
    pub fn put_node(&mut self, at: usize, ask: Ask) {
        let minor = self.plan.cluster.minor;
        let now = self.now;
        let Some(node) = self.nodes.get_mut(at) else {
            return;
        };
        if node.gone.is_some() {
            return;
        }
        if node.heard {
            node.heartbeat = now;
        }
        let ask = ask.with_tags(&node.standing);
        let (key, json) = (node.key(), node.json(minor));
        self.put(Change::Modified, &key, json, ask);
    }

    /// Deletes a node's object.
    pub fn drop_node(&mut self, at: usize, ask: Ask) {
        let minor = self.plan.cluster.minor;
        let now = self.now;
        let Some(node) = self.nodes.get_mut(at) else {
            return;
        };
        if node.gone.is_some() {
            return;
        }
        node.gone = Some(now);
        let (key, json) = (node.key(), node.json(minor));
        self.put(Change::Deleted, &key, json, ask);
    }

    /// Sets a condition of a node; says whether it changed.
    pub fn set_condition(
        &mut self,
        at: usize,
        kind: &'static str,
        status: &'static str,
        reason: &str,
        message: &str,
    ) -> bool {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(at) else {
            return false;
        };
        match node.conditions.iter_mut().find(|one| one.kind == kind) {
            Some(one) => {
                let changed = one.status != status;
                if changed {
                    one.since = now;
                }
                one.status = status;
                reason.clone_into(&mut one.reason);
                message.clone_into(&mut one.message);
                changed
            }
            None => {
                node.conditions.push(Condition {
                    kind,
                    status,
                    reason: reason.to_owned(),
                    message: message.to_owned(),
                    since: now,
                });
                true
            }
        }
    }
}

fn hexed(seed: u64) -> String {
    crate::rng::Rng::stream(seed, "pool").hex(8)
}

fn healthy(since: Time) -> Vec<Condition> {
    [
        (
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        (
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        (
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
        (
            "Ready",
            "True",
            "KubeletReady",
            "kubelet is posting ready status",
        ),
    ]
    .into_iter()
    .map(|(kind, status, reason, message)| Condition {
        kind,
        status,
        reason: reason.to_owned(),
        message: message.to_owned(),
        since,
    })
    .collect()
}
