//! The kubelet: starts containers, sees them end, stops them.

use crate::control::wedge::{start_failure, stuck};
use crate::control::{make, schedule};
use crate::time::{MIN, SEC};
use crate::train;
use crate::world::{
    ActId, Ask, Client, Ended, Involved, Phase, Relation, Running, Source, Stage, StartFailure,
    Tag, World, claims,
};

/// How a container's process ended.
#[derive(Clone, Debug)]
pub struct Exit {
    /// Exit code.
    pub code: i32,
    /// What the runtime calls it.
    pub reason: &'static str,
    /// What the status says beside it.
    pub message: String,
    /// Why; none for a good end.
    pub act: Option<ActId>,
    /// How it is tied to that.
    pub tie: Relation,
    /// What the status tells.
    pub tags: Vec<Tag>,
}

impl Exit {
    /// An end with a code, of which the status says no more than that.
    #[must_use]
    pub fn code(code: i32, act: ActId, tie: Relation) -> Self {
        Self {
            code,
            reason: "Error",
            message: String::new(),
            act: Some(act),
            tie,
            tags: Vec::new(),
        }
    }

    /// That claims its own cause, as an exit code of 139 does.
    #[must_use]
    pub fn claiming(self) -> Self {
        Self {
            tags: self.act.map(claims).unwrap_or_default(),
            ..self
        }
    }
}

pub(super) fn hears(w: &World, pod: usize) -> Option<usize> {
    let node = w.pods.get(pod)?.node?;
    w.nodes
        .get(node)
        .is_some_and(|node| node.heard && node.up && node.gone.is_none())
        .then_some(node)
}

pub(super) fn client(w: &World, node: usize) -> Client {
    Client::kubelet(w.nodes.get(node).map_or("", |node| node.name.as_str()))
}

/// The kubelet takes a pod that was bound to its node.
pub(super) fn take(w: &mut World, pod: usize) {
    let now = w.now;
    let Some(node) = hears(w, pod) else { return };
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.deletion.is_some() || body.phase.is_over() {
        return;
    }
    body.started = Some(now);
    for (kind, status, reason) in [
        ("PodReadyToStartContainers", "False", ""),
        if body.init.is_some() {
            ("Initialized", "False", "ContainersNotInitialized")
        } else {
            ("Initialized", "True", "")
        },
        ("Ready", "False", "ContainersNotReady"),
        ("ContainersReady", "False", "ContainersNotReady"),
    ] {
        let message = match reason {
            "" => "",
            "ContainersNotInitialized" => "containers with incomplete status: [fetch-data]",
            _ => "containers with unready status: [trainer]",
        };
        body.condition(kind, status, reason, message, now);
    }
    if body.init.is_some() {
        body.container.state = Running::Waiting("PodInitializing".to_owned(), String::new());
    }
    let by = client(w, node);
    w.put_pod(pod, Ask::new(by, "patch", "status"));
    w.soon(150, 900, move |w| begin(w, pod));
}

pub(super) fn begin(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let Some(body) = w.pods.get(pod) else { return };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    if let Some(hindrance) = start_failure(w, pod)
        && !matches!(hindrance.at, Stage::Command(_))
    {
        w.soon(30, 400, move |w| stuck(w, pod, &hindrance, 0));
        return;
    }
    if body.init.as_ref().is_some_and(|init| !init.ready) {
        super::init::run(w, pod);
        return;
    }
    let key = Involved::container(body.key());
    let image = w.image(body.load);
    super::sidecar::start(w, pod);
    let source = Source::Kubelet(node);
    if w.rng.chance(25) {
        let took = w.rng.range(3000, 40_000);
        w.emit_event(
            &source,
            key.clone(),
            "Normal",
            "Pulling",
            format!("Pulling image \"{image}\""),
            &[],
        );
        w.after(took * crate::time::MS, move |w| {
            let secs = took / 1000;
            w.emit_event(&Source::Kubelet(node), key, "Normal", "Pulled",
                format!("Successfully pulled image \"{image}\" in {secs}.{:03}s ({secs}.{:03}s including waiting). Image size: 9876543210 bytes.", took % 1000, took % 1000), &[]);
            run(w, pod);
        });
    } else {
        w.emit_event(
            &source,
            key,
            "Normal",
            "Pulled",
            format!("Container image \"{image}\" already present on machine"),
            &[],
        );
        w.soon(20, 200, move |w| run(w, pod));
    }
}

/// The container is created and started.
fn run(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let now = w.now;
    let id = w.rng.hex(64);
    let start_fails = start_failure(w, pod);
    let minor = w.plan.cluster.minor;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    body.container.id = id;
    let key = Involved::container(body.key());
    let (created, started) = if minor >= 33 {
        ("Container created", "Container started")
    } else {
        ("Created container trainer", "Started container trainer")
    };
    w.emit_event(
        &Source::Kubelet(node),
        key.clone(),
        "Normal",
        "Created",
        created,
        &[],
    );
    if let Some(StartFailure {
        at: Stage::Command(code),
        message,
        act,
        ..
    }) = start_fails
    {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Warning",
            "Failed",
            format!("Error: {message}"),
            &crate::world::names(act),
        );
        let reason = if code == 128 {
            "StartError"
        } else {
            "ContainerCannotRun"
        };
        let tags = crate::world::names(act);
        exit(
            w,
            pod,
            &Exit {
                code,
                reason,
                message,
                act: Some(act),
                tie: Relation::Victim,
                tags,
            },
        );
        return;
    }
    w.emit_event(
        &Source::Kubelet(node),
        key,
        "Normal",
        "Started",
        started,
        &[],
    );
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    body.alive = true;
    body.phase = Phase::Running;
    body.container.state = Running::Since(now);
    body.container.ready = true;
    for kind in ["PodReadyToStartContainers", "Ready", "ContainersReady"] {
        body.condition(kind, "True", "", "", now);
    }
    w.soon(100, 900, move |w| {
        if let Some(node) = hears(w, pod)
            && w.pods.get(pod).is_some_and(|pod| pod.alive)
        {
            let by = client(w, node);
            w.put_pod(pod, Ask::new(by, "patch", "status"));
            if let Some(job) = w.pods.get(pod).and_then(|pod| pod.job) {
                super::job::due(w, job, 900, 1100);
            } else {
                make::settle(w, pod);
            }
        }
    });
    train::started(w, pod);
}

/// The process of a container ended.
pub fn exit(w: &mut World, pod: usize, exit: &Exit) {
    let now = w.now;
    let Some(body) = w.pods.get(pod) else { return };
    if body.phase.is_over() || body.gone.is_some() {
        return;
    }
    let restarts = restarts_in_place(w, pod, exit.code);
    let alive = body.alive;
    let (started, load) = (
        match body.container.state {
            Running::Since(time) => Some(time),
            _ => None,
        },
        body.load,
    );
    let stopping = body.stopping;
    let mut tags = exit.tags.clone();
    if let Some(act) = exit.act
        && let Some(death) = w.die(pod, act, exit.tie, !restarts)
    {
        tags.extend(crate::world::names(death));
    }
    if let Some(body) = w.pods.get_mut(pod) {
        body.alive = false;
        body.container.ready = false;
    }
    let end = Ended {
        code: exit.code,
        reason: exit.reason.to_owned(),
        message: exit.message.clone(),
        started: started.or(Some(now)),
        finished: now,
    };
    w.soon(100, 1100, move |w| report(w, pod, end, restarts, &tags));
    if alive && exit.code != 0 && !stopping {
        train::peer_lost(w, load, pod);
    }
}

/// Whether a container that ends like this starts again where it is.
pub(super) fn restarts_in_place(w: &World, pod: usize, code: i32) -> bool {
    let Some(body) = w.pods.get(pod) else {
        return false;
    };
    let Some(load) = w.loads.get(body.load) else {
        return false;
    };
    let policy_always = body
        .owner
        .as_ref()
        .is_some_and(|owner| matches!(owner.kind, "ReplicaSet" | "StatefulSet"));
    body.deletion.is_none() && (policy_always || (load.plan.restarts && code != 0))
}

/// The kubelet writes how a container ended, and starts it again where it should.
pub(super) fn report(w: &mut World, pod: usize, end: Ended, restarts: bool, tags: &[Tag]) {
    let Some(node) = hears(w, pod) else {
        // It will be said once the kubelet is heard again.
        let up = w
            .pods
            .get(pod)
            .and_then(|pod| pod.node)
            .and_then(|node| w.nodes.get(node))
            .is_some_and(|node| node.up);
        if let Some(body) = w.pods.get_mut(pod).filter(|_| up) {
            body.unreported = Some(end);
        }
        return;
    };
    let now = w.now;
    let by = client(w, node);
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.phase.is_over() {
        return;
    }
    let good = end.code == 0;
    if !restarts {
        super::sidecar::stop(w, pod);
    }
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    body.container.ready = false;
    if restarts {
        let times = body.container.restarts;
        body.condition(
            "Ready",
            "False",
            "ContainersNotReady",
            "containers with unready status: [trainer]",
            now,
        );
        body.condition(
            "ContainersReady",
            "False",
            "ContainersNotReady",
            "containers with unready status: [trainer]",
            now,
        );
        body.container.state = Running::Ended(end.clone());
        let (key, name) = (
            body.key(),
            format!("{}_{}({})", body.name, body.namespace, body.uid),
        );
        w.put_pod(pod, Ask::new(by.clone(), "patch", "status").with_tags(tags));
        if times == 0 {
            w.soon(300, 1500, move |w| again(w, pod));
        } else {
            let wait = (10 * SEC)
                .saturating_mul(1 << (times - 1).min(5))
                .min(5 * MIN);
            let body = w.pods.get_mut(pod);
            if let Some(body) = body {
                body.container.last = Some(end);
                body.container.state = Running::Waiting(
                    "CrashLoopBackOff".to_owned(),
                    format!(
                        "back-off {} restarting failed container=trainer pod={name}",
                        backoff_text(wait)
                    ),
                );
            }
            w.emit_event(
                &Source::Kubelet(node),
                Involved::container(key),
                "Warning",
                "BackOff",
                format!("Back-off restarting failed container trainer in pod {name}"),
                tags,
            );
            w.put_pod(pod, Ask::new(by, "patch", "status").with_tags(tags));
            w.after(wait, move |w| again(w, pod));
        }
        return;
    }
    body.phase = if good {
        Phase::Succeeded
    } else {
        Phase::Failed
    };
    let why = if good { "PodCompleted" } else { "PodFailed" };
    body.condition("PodReadyToStartContainers", "False", "", "", now);
    body.condition("Ready", "False", why, "", now);
    body.condition("ContainersReady", "False", why, "", now);
    body.container.state = Running::Ended(end);
    let deleted = body.deletion.is_some();
    w.put_pod(pod, Ask::new(by, "patch", "status").with_tags(tags));
    if deleted {
        w.soon(50, 600, move |w| super::stop::release(w, pod));
    }
    make::settle(w, pod);
    w.soon(200, 1500, schedule);
}

pub(super) fn backoff_text(nanos: i64) -> String {
    let secs = nanos / SEC;
    if secs < 60 {
        format!("{secs}s")
    } else {
        format!("{}m{}s", secs / 60, secs % 60)
    }
}

fn again(w: &mut World, pod: usize) {
    let Some(_) = hears(w, pod) else { return };
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    if let Running::Ended(end) = &body.container.state {
        body.container.last = Some(end.clone());
    }
    body.container.restarts += 1;
    body.death = None;
    begin(w, pod);
}
