//! A container beside the program's own, started before it and stopped after it. It crashes now
//! and then and is started again, which hurts nobody.

use super::kubelet::{client, hears};
use crate::time::Time;
use crate::world::{Ask, Ended, LogLine, Running, World};

/// It starts with its pod.
pub(super) fn start(w: &mut World, pod: usize) {
    let is_due = w
        .pods
        .get(pod)
        .and_then(|pod| pod.sidecar.as_ref())
        .is_some_and(|sidecar| !matches!(sidecar.state, Running::Since(_)));
    if !is_due {
        return;
    }
    let (now, id) = (w.now, w.rng.hex(64));
    let Some(sidecar) = w.pods.get_mut(pod).and_then(|pod| pod.sidecar.as_mut()) else {
        return;
    };
    sidecar.id = id;
    sidecar.state = Running::Since(now);
    sidecar.ready = true;
    say(
        w,
        pod,
        "[info] [fluent bit] version=4.0.3, commit=3c1d0e1, pid=1",
    );
    // It crashes seldom once it has.
    let times = w
        .pods
        .get(pod)
        .and_then(|pod| pod.sidecar.as_ref())
        .map_or(0, |sidecar| sidecar.restarts);
    let lag = if times == 0 {
        w.rng.secs(60, 1500)
    } else {
        w.rng.secs(3600, 14_400)
    };
    w.after(lag, move |w| crash(w, pod));
}

fn say(w: &mut World, pod: usize, text: &str) {
    let restart = w
        .pods
        .get(pod)
        .and_then(|pod| pod.sidecar.as_ref())
        .map_or(0, |sidecar| sidecar.restarts);
    w.logs.push(LogLine {
        time: w.now,
        pod,
        container: "log-shipper",
        restart,
        error: true,
        text: text.to_owned(),
        tags: Vec::new(),
    });
}

fn end(now: Time, state: &Running, code: i32) -> Ended {
    Ended {
        code,
        reason: if code == 0 { "Completed" } else { "Error" }.to_owned(),
        message: String::new(),
        started: match state {
            Running::Since(time) => Some(*time),
            _ => None,
        },
        finished: now,
    }
}

/// It crashes by a fault of its own.
fn crash(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let lives = w
        .pods
        .get(pod)
        .is_some_and(|pod| pod.alive && !pod.stopping);
    if !lives {
        return;
    }
    for text in [
        "[error] [output:es:es.0] HTTP status=500 URI=/_bulk, could not flush chunk",
        "[engine] caught signal (SIGSEGV)",
    ] {
        say(w, pod, text);
    }
    let now = w.now;
    if let Some(sidecar) = w.pods.get_mut(pod).and_then(|pod| pod.sidecar.as_mut()) {
        sidecar.last = Some(end(now, &sidecar.state, 139));
        sidecar.restarts += 1;
        sidecar.state = Running::Waiting("PodInitializing".to_owned(), String::new());
    }
    start(w, pod);
    w.put_pod(pod, Ask::new(client(w, node), "patch", "status"));
}

/// It is stopped once the program has ended.
pub(super) fn stop(w: &mut World, pod: usize) {
    let now = w.now;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    // Whether it minds the signal is its own affair.
    let code = if body.pid % 2 == 0 { 0 } else { 143 };
    if let Some(sidecar) = body.sidecar.as_mut() {
        sidecar.state = Running::Ended(end(now, &sidecar.state, code));
        sidecar.ready = false;
    }
}
