//! Containers that run before the program's own.

use super::kubelet::{backoff_text, begin, client, hears};
use super::{make, schedule};
use crate::time::{MIN, SEC};
use crate::world::{
    Ask, Ended, Involved, LogLine, Phase, Relation, Running, Source, Tag, World, names,
};

/// Runs the init container of a pod.
pub(super) fn run(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let (now, id) = (w.now, w.rng.hex(64));
    let minor = w.plan.cluster.minor;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    let (load, key) = (body.load, Involved::init(body.key()));
    let Some(init) = body.init.as_mut() else {
        return;
    };
    init.id = id;
    init.state = Running::Since(now);
    let (created, started) = if minor >= 33 {
        ("Container created", "Container started")
    } else {
        (
            "Created container fetch-data",
            "Started container fetch-data",
        )
    };
    let pulled = "Container image \"registry.lab.example/fetch:2.1\" already present on machine";
    for (reason, text) in [
        ("Pulled", pulled),
        ("Created", created),
        ("Started", started),
    ] {
        w.emit_event(
            &Source::Kubelet(node),
            key.clone(),
            "Normal",
            reason,
            text,
            &[],
        );
    }
    w.put_pod(pod, Ask::new(client(w, node), "patch", "status"));
    say(w, pod, "fetching s3://datasets/tokens-v7 to /data", &[]);
    let fails = w.loads.get(load).and_then(|load| load.init_fails);
    w.soon(2000, 20_000, move |w| match fails {
        Some(why) => fail(w, pod, why),
        None => succeed(w, pod),
    });
}

fn say(w: &mut World, pod: usize, text: &str, tags: &[Tag]) {
    let restart = w
        .pods
        .get(pod)
        .and_then(|pod| pod.init.as_ref())
        .map_or(0, |init| init.restarts);
    for (at, line) in text.lines().enumerate() {
        w.logs.push(LogLine {
            time: w.now.plus(i64::try_from(at).unwrap_or(0) * 18_000),
            pod,
            container: "fetch-data",
            restart,
            error: !tags.is_empty(),
            text: line.to_owned(),
            tags: tags.to_vec(),
        });
    }
}

fn succeed(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let now = w.now;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    if let Some(init) = body.init.as_mut() {
        let end = ended(now, &init.state, 0);
        init.state = Running::Ended(end);
        init.ready = true;
    }
    body.condition("Initialized", "True", "", "", now);
    say(w, pod, "done", &[]);
    w.put_pod(pod, Ask::new(client(w, node), "patch", "status"));
    w.soon(300, 1500, move |w| begin(w, pod));
}

fn ended(now: crate::time::Time, state: &Running, code: i32) -> Ended {
    let started = match state {
        Running::Since(time) => Some(*time),
        _ => None,
    };
    Ended {
        code,
        reason: if code == 0 { "Completed" } else { "Error" }.to_owned(),
        message: String::new(),
        started,
        finished: now,
    }
}

fn fail(w: &mut World, pod: usize, why: (i32, &'static str, crate::world::ActId)) {
    let (code, text, act) = why;
    let Some(node) = hears(w, pod) else { return };
    let now = w.now;
    let Some(body) = w.pods.get(pod) else { return };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    let load = body.load;
    let restarts = w.pod_spec(load, body.job.is_some())["restartPolicy"] != "Never";
    say(w, pod, text, &names(act));
    let mut tags = crate::world::claims(act);
    if let Some(death) = w.die(pod, act, Relation::Victim, !restarts) {
        tags.extend(names(death));
    }
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    let (key, name) = (
        Involved::init(body.key()),
        format!("{}_{}({})", body.name, body.namespace, body.uid),
    );
    let mut times = 0;
    if let Some(init) = body.init.as_mut() {
        let end = ended(now, &init.state, code);
        times = init.restarts;
        init.state = Running::Ended(end.clone());
        if restarts && times > 0 {
            init.last = Some(end);
            let wait = backoff_text(wait(times));
            init.state = Running::Waiting(
                "CrashLoopBackOff".to_owned(),
                format!("back-off {wait} restarting failed container=fetch-data pod={name}"),
            );
        }
    }
    if !restarts {
        body.phase = Phase::Failed;
        for kind in ["Ready", "ContainersReady"] {
            body.condition(kind, "False", "PodFailed", "", now);
        }
    }
    w.put_pod(
        pod,
        Ask::new(client(w, node), "patch", "status").with_tags(&tags),
    );
    if !restarts {
        make::settle(w, pod);
        w.soon(200, 1500, schedule);
        return;
    }
    if times > 0 {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Warning",
            "BackOff",
            format!("Back-off restarting failed container fetch-data in pod {name}"),
            &tags,
        );
    }
    let lag = if times > 0 { wait(times) } else { SEC };
    w.after(lag, move |w| again(w, pod));
}

fn wait(times: u32) -> i64 {
    (10 * SEC)
        .saturating_mul(1 << (times.max(1) - 1).min(5))
        .min(5 * MIN)
}

fn again(w: &mut World, pod: usize) {
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.stopping || body.phase.is_over() || body.deletion.is_some() {
        return;
    }
    body.death = None;
    if let Some(init) = body.init.as_mut() {
        if let Running::Ended(end) = &init.state {
            init.last = Some(end.clone());
        }
        init.restarts += 1;
    }
    run(w, pod);
}
