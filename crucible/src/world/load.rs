//! Workloads: what people asked for.

use std::fmt;
use std::rc::Rc;

use serde_json::{Value, json};

use super::api::{Ask, Change, Key, Kind};
use super::{ActId, World};
use crate::plan::{self, LoadKind};
use crate::time::Time;

/// How a workload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum State {
    Planned,
    Pending,
    Running,
    Completed,
    Failed,
    Deleted,
}

/// What befalls every new pod of a workload once its process runs.
#[derive(Clone)]
pub struct PodFault(pub Rc<FaultScript>);

/// What is done to a pod.
type FaultScript = dyn Fn(&mut World, usize);

impl fmt::Debug for PodFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Curse")
    }
}

/// What keeps a container from starting on its node.
#[derive(Clone, Debug)]
pub struct StartFailure {
    /// Where it stops.
    pub at: Stage,
    /// What the kubelet or the runtime says.
    pub message: String,
    /// Why.
    pub act: ActId,
    /// Only on this node.
    pub node: Option<usize>,
}

/// Where the start of a container stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its volumes.
    Mount,
    /// The attachment of its volume.
    Attach,
    /// Its sandbox.
    Sandbox,
    /// Its image.
    Image,
    /// Its environment.
    Config,
    /// Its command; with an exit code.
    Command(i32),
}

/// How fast a gang trains, and what holds it up for a while.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// How long a step takes in hundredths of what it took before, since when and why.
    pub slow: Option<(i64, Time, ActId)>,
    /// It evaluates or saves, and takes no step before this.
    pub until: Option<Time>,
    /// Whether its ranks never find each other.
    pub apart: bool,
    /// Whether its steps take nearly the same time each; in most cases nobody looks at that.
    pub steady: bool,
    /// Whether it writes as often after an hour as before; most are told of less often then.
    pub talks_on: bool,
    /// Whether it writes as Megatron does.
    pub megatron: bool,
    /// How its ranks tell their own time, where they do.
    pub timers: Option<crate::train::timers::Timers>,
    /// Ids of what slowed it down before something else ended it.
    pub past: Vec<&'static str>,
}

/// A workload.
#[derive(Clone, Debug)]
pub struct Load {
    /// How fast it trains.
    pub pace: Pace,
    /// What was planned.
    pub plan: plan::Load,
    /// Uid of the root object.
    pub uid: String,
    /// When it was made.
    pub created: Option<Time>,
    /// When the root object was removed.
    pub gone: Option<Time>,
    /// When it ended.
    pub ended: Option<Time>,
    /// How it stands.
    pub state: State,
    /// Which generation of its gang.
    pub attempt: u32,
    /// What keeps it from starting.
    pub blocked: Option<ActId>,
    /// What befalls its new pods.
    pub curse: Option<PodFault>,
    /// The object between a Deployment and its pods.
    pub set: Option<(String, String)>,
    /// How many pods are wanted now.
    pub wanted: u32,
    /// Conditions of the root object.
    pub conditions: Vec<(String, String, String, Time)>,
    /// Changes of the template: image, command.
    pub image: String,
    /// Command line.
    pub command: Vec<String>,
    /// Steps done, over all attempts.
    pub step: i64,
    /// When the present attempt began to train.
    pub training: Option<Time>,
    /// Node selector that no node has.
    pub selector: Option<(String, String)>,
    /// Secret that its environment needs.
    pub secret: Option<String>,
    /// What its init container fails of: its exit code, its words and why.
    pub init_fails: Option<(i32, &'static str, ActId)>,
    /// Claim that it mounts.
    pub claim: Option<String>,
    /// Whether it has a liveness probe.
    pub probed: bool,
    /// Whether it has a readiness probe, which fails.
    pub unready: bool,
    /// How often somebody has changed its spec, and once more.
    pub generation: u32,
    /// Service account that it asks for.
    pub account: Option<String>,
    /// A fault of its own that works while it lasts, such as a stuck collective.
    pub stuck: Option<ActId>,
    /// That its work is done.
    pub done: Option<ActId>,
    /// What keeps its containers from starting on a node.
    pub start_failure: Option<StartFailure>,
    /// When all that is wanted last began to run.
    pub well: Option<Time>,
    /// How many of its pods are let in before others are refused; all are refused where absent.
    pub let_in: Option<usize>,
    /// How often its pods were refused, and whether another attempt is to come.
    pub refusals: (u32, bool),
    /// Whether the gang has noticed a lost peer of this attempt.
    pub noticed: Option<u32>,
}

/// A Job, of its own or of a `JobSet`.
#[derive(Clone, Debug)]
pub struct Job {
    /// Which workload.
    pub load: usize,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
    /// When it was made.
    pub created: Time,
    /// Pods that failed, and that succeeded.
    pub failed: u32,
    /// Pods that succeeded.
    pub succeeded: u32,
    /// Conditions: type, reason, message, since.
    pub conditions: Vec<(&'static str, &'static str, String, Time)>,
    /// When it was completed.
    pub completed: Option<Time>,
    /// When the object was removed.
    pub gone: Option<Time>,
    /// Whether it is being torn down.
    pub closing: bool,
    /// Whether it is suspended.
    pub suspended: bool,
    /// Whether it has a sync to come.
    pub due: bool,
    /// Retries so far.
    pub retries: u32,
    /// Which generation of the gang.
    pub attempt: u32,
}

impl Job {
    /// Whether it has this condition.
    #[must_use]
    pub fn is(&self, kind: &str) -> bool {
        self.conditions.iter().any(|one| one.0 == kind)
    }
}

impl World {
    /// The image of a workload.
    #[must_use]
    pub fn image(&self, load: usize) -> String {
        self.loads
            .get(load)
            .map(|load| load.image.clone())
            .unwrap_or_default()
    }

    /// Labels that a workload and its pods carry.
    #[must_use]
    pub fn labels(&self, load: usize) -> Vec<(String, String)> {
        let Some(load) = self.loads.get(load) else {
            return Vec::new();
        };
        let mut labels = vec![("app".to_owned(), load.plan.name.clone())];
        if let Some(label) = &load.plan.label {
            labels.push(("experiment".to_owned(), label.clone()));
        }
        labels.push((
            "owner".to_owned(),
            load.plan.owner.split('@').next().unwrap_or("").to_owned(),
        ));
        labels
    }

    /// The spec of a workload's pods, without a node.
    #[must_use]
    pub fn pod_spec(&self, load: usize, is_of_job: bool) -> Value {
        let Some(load) = self.loads.get(load) else {
            return Value::Null;
        };
        let gpus = load.plan.gpus.to_string();
        let mut resources = json!({"cpu": "8", "memory": "200Gi"});
        if load.plan.gpus > 0 {
            resources["nvidia.com/gpu"] = json!(gpus);
        }
        let mut container = json!({"name": "trainer", "image": load.image, "command": load.command, "imagePullPolicy": "IfNotPresent",
            "resources": {"limits": resources, "requests": resources}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"});
        if let Some(secret) = &load.secret {
            container["env"] = json!([{"name": "WANDB_API_KEY", "valueFrom": {"secretKeyRef": {"name": secret, "key": "token"}}}]);
        }
        if load.probed {
            container["livenessProbe"] = json!({"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1});
        }
        if load.unready {
            container["readinessProbe"] = json!({"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1});
        }
        let policy = match (
            load.plan.restarts,
            is_of_job || matches!(load.plan.kind, LoadKind::Pod | LoadKind::PyTorchJob),
        ) {
            (false, true) => "Never",
            (true, true) => "OnFailure",
            (_, false) => "Always",
        };
        let bear = self.plan.cluster.bear_s;
        let mut spec = json!({"containers": [container], "restartPolicy": policy, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler", "serviceAccountName": load.account.as_deref().unwrap_or("default"),
            "priority": load.plan.priority.as_ref().map_or(0, |one| one.1), "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": bear},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": bear}]});
        let is_first = self
            .loads
            .first()
            .is_some_and(|first| std::ptr::eq(first, load));
        let mut before = Vec::new();
        if self.plan.more.init && is_first {
            before.push(json!({"name": "fetch-data", "image": "registry.lab.example/fetch:2.1", "command": ["/fetch.sh", "s3://datasets/tokens-v7"], "imagePullPolicy": "IfNotPresent",
                "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}));
        }
        if self.plan.more.sidecar && is_first {
            before.push(json!({"name": "log-shipper", "image": "registry.lab.example/fluent-bit:4.0", "restartPolicy": "Always", "imagePullPolicy": "IfNotPresent",
                "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}));
        }
        if !before.is_empty() {
            spec["initContainers"] = json!(before);
        }
        if let Some((class, _)) = &load.plan.priority {
            spec["priorityClassName"] = json!(class);
        }
        if let Some((name, value)) = &load.selector {
            spec["nodeSelector"] = json!({name.as_str(): value});
        }
        if let Some(claim) = &load.claim {
            spec["volumes"] =
                json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
            spec["containers"][0]["volumeMounts"] = json!([{"name": "data", "mountPath": "/data"}]);
        }
        spec
    }

    /// Names the root object of a workload.
    #[must_use]
    pub fn root_key(&self, load: usize) -> Option<Key> {
        let load = self.loads.get(load)?;
        Some(Key {
            kind: match load.plan.kind {
                LoadKind::Job => Kind::Job,
                LoadKind::JobSet => Kind::JobSet,
                LoadKind::Deployment => Kind::Deployment,
                LoadKind::StatefulSet => Kind::StatefulSet,
                LoadKind::Pod => Kind::Pod,
                LoadKind::PyTorchJob => Kind::PyTorchJob,
            },
            namespace: load.plan.namespace.clone(),
            name: load.plan.name.clone(),
            uid: load.uid.clone(),
        })
    }

    /// Names a Job.
    #[must_use]
    pub fn job_key(&self, at: usize) -> Option<Key> {
        let job = self.jobs.get(at)?;
        Some(Key {
            kind: Kind::Job,
            namespace: self.loads.get(job.load)?.plan.namespace.clone(),
            name: job.name.clone(),
            uid: job.uid.clone(),
        })
    }

    /// Stores a Job as it is now.
    pub fn put_job(&mut self, at: usize, change: Change, ask: Ask) {
        let (Some(key), Some(json)) = (self.job_key(at), self.job_json(at)) else {
            return;
        };
        if change != Change::Added && !self.exists(&key) {
            return;
        }
        self.put(change, &key, json, ask);
    }

    fn job_json(&self, at: usize) -> Option<Value> {
        let job = self.jobs.get(at)?;
        let load = self.loads.get(job.load)?;
        let mut labels: Value = Value::Object(
            self.labels(job.load)
                .into_iter()
                .map(|(name, value)| (name, json!(value)))
                .collect(),
        );
        let mut metadata = json!({"name": job.name, "namespace": load.plan.namespace, "uid": job.uid, "generation": 1, "creationTimestamp": job.created.secs()});
        if load.plan.kind == LoadKind::JobSet {
            labels["jobset.sigs.k8s.io/jobset-name"] = json!(load.plan.name);
            labels["jobset.sigs.k8s.io/restart-attempt"] = json!((job.attempt - 1).to_string());
            labels["jobset.sigs.k8s.io/replicatedjob-name"] = json!("workers");
            metadata["ownerReferences"] = json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": load.plan.name, "uid": load.uid, "controller": true, "blockOwnerDeletion": true}]);
        }
        metadata["labels"] = labels;
        let mut active = 0u32;
        let mut ready = 0u32;
        let mut terminating = 0u32;
        for pod in self
            .pods
            .iter()
            .filter(|pod| pod.job == Some(at) && pod.gone.is_none())
        {
            if pod.deletion.is_some() {
                terminating += u32::from(!pod.phase.is_over());
            } else if !pod.phase.is_over() {
                active += 1;
                ready += u32::from(pod.container.ready);
            }
        }
        let mut status = json!({"startTime": job.created.secs(), "ready": ready, "terminating": terminating, "uncountedTerminatedPods": {}});
        for (name, value) in [
            ("active", active),
            ("failed", job.failed),
            ("succeeded", job.succeeded),
        ] {
            if value > 0 {
                status[name] = json!(value);
            }
        }
        if self.down.controllers.is_some() {
            status = json!({});
        }
        if let Some(time) = job.completed {
            status["completionTime"] = json!(time.secs());
        }
        if !job.conditions.is_empty() {
            status["conditions"] = job.conditions.iter().map(|(kind, reason, message, since)| {
                json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastProbeTime": since.secs(), "lastTransitionTime": since.secs()})
            }).collect();
        }
        if self.plan.more.queued && job.load == 0 {
            status = json!({"conditions": [{"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended",
                "lastProbeTime": job.created.secs(), "lastTransitionTime": job.created.secs()}]});
        }
        let mut spec = json!({"parallelism": load.plan.size, "completions": load.plan.size, "completionMode": "Indexed", "backoffLimit": load.plan.retries,
            "manualSelector": false, "suspend": job.suspended, "podReplacementPolicy": "TerminatingOrFailed",
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": job.uid}},
            "template": {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": job.uid, "batch.kubernetes.io/job-name": job.name}}, "spec": self.pod_spec(job.load, true)}});
        if load.plan.kind == LoadKind::JobSet {
            spec["backoffLimit"] = json!(0);
        }
        if let Some(deadline) = load.plan.deadline_s {
            spec["activeDeadlineSeconds"] = json!(deadline);
        }
        let more = &self.plan.more;
        if job.load == 0 && load.plan.kind == LoadKind::Job {
            if let Some(secs) = more.ttl_s {
                spec["ttlSecondsAfterFinished"] = json!(secs);
            }
            if more.policy {
                spec["podFailurePolicy"] = json!({"rules": [
                    {"action": "FailJob", "onExitCodes": {"containerName": "trainer", "operator": "In", "values": [crate::control::FATAL]}, "onPodConditions": null},
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]});
                spec["podReplacementPolicy"] = json!("Failed");
            }
        }
        Some(
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec, "status": status}),
        )
    }
}
