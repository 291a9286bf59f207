//! Pods: how they ended, and which facts count for that.

use crate::lifecycle::Mode;
use crate::link::links;
use whathappened_model::event::SourceKind;
use whathappened_model::object::ObjectBody;

use super::tale::{Case, Tale, at};

const KUBERNETES: SourceKind = SourceKind::Kubernetes;

/// A pod that was made at eight and ran on gpu-1 from one minute later on.
fn pod(phase: &str, change: impl FnOnce(&mut ObjectBody)) -> Tale {
    let mut tale = Tale::new();
    let mut body = ObjectBody {
        created: Some(at("08:00")),
        started: Some(at("08:01")),
        node: Some("gpu-1".to_owned()),
        phase: Some(phase.to_owned()),
        ..ObjectBody::default()
    };
    change(&mut body);
    tale.object("Pod", "lab", "run-0", "uid-0", body);
    tale
}

impl Tale {
    /// A fact about the pod.
    fn of_pod(
        &mut self,
        fact: &str,
        time: &str,
        fill: impl FnOnce(&mut whathappened_model::event::Event),
    ) {
        self.record_by(KUBERNETES, fact, time, |event| {
            event.object_kind = Some("Pod".to_owned());
            event.object_uid = Some("uid-0".to_owned());
            event.entities.namespace = Some("lab".to_owned());
            event.entities.pod = Some("run-0".to_owned());
            event.entities.pod_uid = Some("uid-0".to_owned());
            fill(event);
        });
    }

    /// Its container ended with a code.
    fn exits(&mut self, time: &str, code: i32, reason: &str) {
        self.of_pod("k8s.container.terminated", time, |event| {
            event.entities.container = Some("main".to_owned());
            event.exit_code = Some(code);
            event.reason = Some(reason.to_owned());
        });
    }

    /// A fault of its machine, in the kernel's log.
    fn fault(&mut self, node: &str, time: &str) {
        self.record_by(SourceKind::NodeLog, "node.log", time, |event| {
            event.entities.node = Some(node.to_owned());
            event.message = Some(
                "kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus."
                    .to_owned(),
            );
        });
    }
}

fn ends(tale: Tale) -> Vec<(&'static str, Mode, whathappened_model::time::Stamp)> {
    tale.end().ends_of("run-0")
}

/// The ways in which facts with a signal count for the pod's ends.
fn ways<'a>(case: &'a Case, signal: &str) -> Vec<&'a str> {
    let found = links(&case.graph, &case.runs, &case.deaths).into_iter();
    let own = found.filter(|link| {
        let fact = &case.graph.facts[link.fact];
        case.graph.name(fact.signal).starts_with(signal)
    });
    own.map(|link| link.via).collect()
}

#[test]
fn what_ends_by_itself_has_exited() {
    let mut tale = pod("Failed", |body| body.ended = Some(at("09:00")));
    tale.exits("09:00", 1, "Error");
    assert_eq!(ends(tale), [("died", Mode::Exited, at("09:00"))]);
}

#[test]
fn what_ends_after_somebody_asked_for_it_was_killed() {
    let mut tale = pod("Failed", |body| {
        body.ended = Some(at("09:01"));
        body.deletion_requested = Some(at("09:00"));
    });
    tale.exits("09:01", 137, "Error");
    assert_eq!(ends(tale), [("died", Mode::Killed, at("09:00"))]);
}

#[test]
fn what_ended_well_is_no_death() {
    let mut tale = pod("Succeeded", |body| body.ended = Some(at("09:00")));
    tale.exits("09:00", 0, "Completed");
    assert_eq!(ends(tale), []);
}

#[test]
fn a_container_that_ends_and_is_held_back_is_in_a_loop() {
    let mut tale = pod("Running", |body| {
        body.waits = vec!["CrashLoopBackOff".to_owned()];
        body.restarts = [("main".to_owned(), 4)].into();
    });
    tale.exits("09:00", 1, "Error");
    let found = ends(tale);
    assert_eq!(found, [("crash_loop", Mode::Exited, at("09:00"))]);
}

#[test]
fn what_was_started_again_went_on() {
    let mut tale = pod("Running", |body| {
        body.restarts = [("main".to_owned(), 1)].into();
    });
    tale.exits("09:00", 1, "Error");
    tale.of_pod("k8s.container.started", "09:01", |event| {
        event.entities.container = Some("main".to_owned());
    });
    // Long after it.
    tale.fault("gpu-9", "12:00");
    assert_eq!(ends(tale), [("restarted", Mode::Exited, at("09:00"))]);
}

#[test]
fn what_no_node_took_was_never_scheduled() {
    let tale = pod("Pending", |body| (body.started, body.node) = (None, None));
    assert_eq!(ends(tale), [("never_scheduled", Mode::None, at("08:00"))]);
}

#[test]
fn a_fault_of_a_machine_counts_for_what_was_on_it_then() {
    let told = |node: &str, time: &str| {
        let mut tale = pod("Failed", |body| body.ended = Some(at("09:00")));
        tale.exits("09:00", 1, "Error");
        tale.fault(node, time);
        let case = tale.end();
        let found: Vec<String> = ways(&case, "gpu.missing")
            .into_iter()
            .map(str::to_owned)
            .collect();
        found
    };
    assert_eq!(told("gpu-1", "08:59"), ["node"]);
    // Another machine; long after its end.
    assert!(told("gpu-2", "08:59").is_empty());
    assert!(told("gpu-1", "10:30").is_empty());
}

#[test]
fn the_time_to_a_death_is_told_before_and_after_it() {
    let mut tale = pod("Failed", |body| body.ended = Some(at("09:00")));
    tale.exits("09:00", 1, "Error");
    tale.fault("gpu-1", "08:58");
    tale.fault("gpu-1", "09:02");
    let case = tale.end();
    let found = links(&case.graph, &case.runs, &case.deaths);
    let mut lags: Vec<f64> = found
        .iter()
        .filter(|link| link.via == "node")
        .map(|link| link.lag_s)
        .collect();
    lags.sort_by(f64::total_cmp);
    // One line means several things.
    lags.dedup();
    // Times are known to the second: what lies between them is less by one.
    assert_eq!(lags, [-119.0, 119.0]);
}
