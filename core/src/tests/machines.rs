//! Cloud instances, batch jobs and machines: who they were, when, and what counts for whom.

use crate::death::DeathState;
use crate::lifecycle::Mode;
use crate::link::links;
use crate::resolve::{Name, place, resolve};
use whathappened_model::event::SourceKind;
use whathappened_model::object::ObjectBody;

use super::tale::{Tale, at, of_instance};
#[test]
fn an_instance_ends_as_often_as_it_ran() {
    let mut tale = Tale::new();
    tale.host("08:00", "7", "vm", "hostError", "acted");
    // It was moved, so it ran again; moving ends nothing.
    tale.host("09:00", "7", "vm", "migrateOnHostMaintenance", "acted");
    tale.host("10:00", "7", "vm", "terminateOnHostMaintenance", "acted");
    // What is stopped already cannot be stopped; deleting it is tidying up.
    tale.call("10:30", "7", "vm", ("stop", "succeeded"));
    tale.call("11:00", "7", "vm", ("delete", "succeeded"));
    let reported = tale.end();
    assert_eq!(
        reported.ends_of("vm"),
        [
            ("restarted", Mode::Lost, at("08:00")),
            ("died", Mode::Killed, at("10:00"))
        ]
    );
}

#[test]
fn what_failed_or_is_announced_has_not_happened() {
    let mut tale = Tale::new();
    tale.call("08:00", "7", "vm", ("delete", "started"));
    tale.call("08:01", "7", "vm", ("delete", "failed"));
    tale.host("09:00", "7", "vm", "upcomingMaintenance", "announced");
    let reported = tale.end();
    assert_eq!(reported.ends_of("vm"), []);
    let deleted = |fact: &&crate::graph::Fact| {
        reported
            .graph
            .name(fact.signal)
            .starts_with("cloud.instance_deleted")
    };
    assert!(!reported.graph.facts.iter().any(|fact| deleted(&fact)));
}

#[test]
fn an_instance_that_could_not_be_made_never_ran() {
    let mut tale = Tale::new();
    tale.call("08:00", "7", "vm", ("insert", "failed"));
    assert_eq!(
        tale.end().ends_of("vm"),
        [("never_scheduled", Mode::None, at("08:00"))]
    );
}

#[test]
fn what_happened_to_another_instance_of_the_name_counts_for_nobody() {
    let mut tale = Tale::new();
    tale.object("Node", "", "gke-a", "n", ObjectBody::default());
    tale.call("07:00", "1", "gke-a", ("insert", "succeeded"));
    tale.call("09:00", "1", "gke-a", ("delete", "succeeded"));
    tale.call("09:30", "2", "gke-a", ("insert", "succeeded"));
    tale.pod("run-0", "gke-a", "09:40", "10:00");
    // Case within minutes of the pod's end, but of the instance before.
    tale.host("10:00", "1", "gke-a", "hostError", "acted");
    assert_eq!(
        tale.end().counts_for("run-0"),
        ["cloud.instance_created"; 0]
    );
}

#[test]
fn what_happened_to_the_instance_counts_while_the_pod_was_on_it() {
    let mut tale = Tale::new();
    let node = ObjectBody {
        provider_id: Some("aws:///eu-west-1a/i-0123456789abcdef0".to_owned()),
        created: Some(at("06:00")),
        ..ObjectBody::default()
    };
    tale.object("Node", "", "ip-10-0-1-7", "n", node);
    tale.pod("early", "ip-10-0-1-7", "06:10", "06:30");
    tale.pod("run-0", "ip-10-0-1-7", "09:00", "10:01");
    // These records know the instance's id only.
    tale.host("10:00", "i-0123456789abcdef0", "", "hostError", "acted");
    tale.host("10:00", "i-0fedcba9876543210", "", "preempted", "acted");
    let reported = tale.end();
    assert_eq!(reported.counts_for("run-0"), ["cloud.host_error"]);
    assert_eq!(reported.counts_for("early"), [""; 0]);
    // The machine under a node is no run of its own, but can be asked for.
    assert_eq!(reported.ends_of("ip-10-0-1-7"), []);
    for name in [
        "node/ip-10-0-1-7",
        "vm/i-0123456789abcdef0",
        "i-0123456789abcdef0",
    ] {
        let found = place(&reported.graph, &Name::parse(name)).unwrap().unwrap();
        let facts = reported.graph.facts.iter();
        let held = facts
            .filter(|fact| found.holds(&reported.graph, fact))
            .count();
        assert_eq!(held, 1, "{name}");
    }
}

#[test]
fn maintenance_counts_while_it_is_due_however_early_it_was_announced() {
    let mut tale = Tale::new();
    for (pod, from, to) in [("before", "08:00", "09:00"), ("within", "08:30", "11:30")] {
        tale.pod(pod, "gke-a", from, to);
    }
    tale.record("cloud.host_event", "00:00", |event| {
        of_instance(event, "7", "gke-a");
        event.set_attribute("host_event", Some("compute.instances.upcomingMaintenance"));
        event.set_attribute("phase", Some("announced"));
        event.set_attribute("not_before", Some("2026-03-01T11:00:00Z"));
        event.set_attribute("not_after", Some("2026-03-01T12:00:00Z"));
    });
    let reported = tale.end();
    let due: Vec<(&str, Option<f64>)> = links(&reported.graph, &reported.runs, &reported.deaths)
        .iter()
        .filter(|link| link.via == "node")
        .map(|link| (reported.name(&reported.deaths[link.death]), link.due_s))
        .collect();
    assert_eq!(due, [("before", Some(-7199.0)), ("within", Some(0.0))]);
}

#[test]
fn instances_of_one_label_are_one_run() {
    let mut tale = Tale::new();
    for (id, name) in [("1", "w0"), ("2", "w1")] {
        let labels = [("experiment".to_owned(), "ppo-9".to_owned())];
        let body = ObjectBody {
            labels: labels.into(),
            created: Some(at("08:00")),
            ..ObjectBody::default()
        };
        tale.object("Instance", "lab", name, id, body);
    }
    tale.host("10:00", "2", "w1", "preempted", "acted");
    let reported = tale.end();
    let matched = resolve(&reported.graph, &reported.runs, &Name::parse("ppo-9"));
    assert_eq!(
        (matched.how.as_str(), matched.runs.len()),
        ("label experiment", 1)
    );
    let run = &reported.runs[matched.runs[0]];
    assert_eq!(
        (run.names(&reported.graph).1, run.pods.len()),
        ("Experiment", 2)
    );
    assert_eq!(
        reported.ends_of("w1"),
        [("died", Mode::Killed, at("10:00"))]
    );
    assert_eq!(reported.ends_of("w0"), []);
}

#[test]
fn what_wrote_nothing_since_an_end_ended_then() {
    let tale = |again: bool| {
        let mut tale = Tale::new();
        for (line, time) in [("first", "09:58"), ("last", "09:59"), ("again", "10:05")] {
            if line == "again" && !again {
                continue;
            }
            tale.record("log.line", time, |event| {
                of_instance(event, "7", "vm");
                event.message = Some(line.to_owned());
            });
        }
        tale.host("10:00", "7", "vm", "hostError", "acted");
        tale.host("10:01", "7", "vm", "automaticRestart", "acted");
        tale.call("10:20", "7", "vm", ("stop", "succeeded"));
        tale.end().ends_of("vm")
    };
    assert_eq!(tale(false), [("died", Mode::Lost, at("10:00"))]);
    let both = [
        ("restarted", Mode::Lost, at("10:00")),
        ("died", Mode::Killed, at("10:20")),
    ];
    assert_eq!(tale(true), both);
}

#[test]
fn work_that_was_done_is_not_lost_with_its_machine() {
    let mut tale = Tale::new();
    tale.call("08:00", "7", "vm", ("insert", "succeeded"));
    tale.record("log.line", "09:00", |event| {
        event.entities.node = Some("vm".to_owned());
        event.message = Some("Training completed".to_owned());
        event.signals = vec!["log.training_done".to_owned()];
    });
    tale.call("09:10", "7", "vm", ("delete", "succeeded"));
    assert_eq!(tale.end().ends_of("vm"), []);
}

#[test]
fn a_job_and_its_log_are_one_and_its_nodes_count() {
    let mut tale = Tale::new();
    tale.record("slurm.job", "10:00", |event| {
        event.reason = Some("NODE_FAIL".to_owned());
        event.object_kind = Some("SlurmJob".to_owned());
        event.object_uid = Some("slurm/lab/42".to_owned());
        event.entities.workload_kind = Some("SlurmJob".to_owned());
        event.entities.workload = Some("llama".to_owned());
        event.set_attribute("started", Some("2026-03-01T08:00:00Z"));
        event.set_attribute("nodes", Some(vec!["n1".to_owned(), "n2".to_owned()]));
    });
    tale.record("log.line", "09:59", |event| {
        event.set_attribute("slurm_job", Some("42"));
        event.message = Some("Traceback".to_owned());
        event.signals = vec!["log.traceback".to_owned()];
    });
    for (node, time) in [("n2", "09:58"), ("n3", "09:58"), ("n1", "07:00")] {
        tale.record("slurm.node", time, |event| {
            event.entities.node = Some(node.to_owned());
            event.reason = Some("DOWN".to_owned());
        });
    }
    let reported = tale.end();
    assert_eq!(reported.ends_of("42"), [("died", Mode::Lost, at("10:00"))]);
    assert_eq!(reported.counts_for("42"), ["slurm.node.down"]);
    for name in ["job/42", "42", "llama", "job/llama"] {
        let matched = resolve(&reported.graph, &reported.runs, &Name::parse(name));
        assert_eq!(matched.runs.len(), 1, "{name}");
    }
}

#[test]
fn a_machine_that_another_zone_had_was_not_refused() {
    let mut tale = Tale::new();
    // Two are wanted, the first zone has none, the second one, a third has one of them.
    for (time, id, name, zone) in [
        ("10:00", "1", "box-a-0", "z-a"),
        ("10:01", "2", "box-a-1", "z-a"),
        ("10:05", "5", "box-b-1", "z-b"),
    ] {
        tale.record("cloud.activity", time, |event| {
            of_instance(event, id, name);
            event.entities.zone = Some(zone.to_owned());
            event.reason = Some("ZONE_RESOURCE_POOL_EXHAUSTED".to_owned());
            event.entities.experiment = Some("llama".to_owned());
            event.set_attribute("method", Some("compute.instances.insert"));
            event.set_attribute("outcome", Some("failed"));
            event.set_attribute("event_id", Some(format!("insert-{id}")));
        });
    }
    tale.record("cloud.activity", "10:10", |event| {
        of_instance(event, "3", "box-c-0");
        event.entities.experiment = Some("llama".to_owned());
        event.set_attribute("method", Some("compute.instances.insert"));
        event.set_attribute("outcome", Some("succeeded"));
        event.set_attribute("event_id", Some("insert-3"));
    });
    // One of another name got nothing at all.
    tale.record("cloud.activity", "10:20", |event| {
        of_instance(event, "4", "alone");
        event.reason = Some("ZONE_RESOURCE_POOL_EXHAUSTED".to_owned());
        event.set_attribute("method", Some("compute.instances.insert"));
        event.set_attribute("outcome", Some("failed"));
        event.set_attribute("event_id", Some("insert-4"));
    });
    let reported = tale.end();
    let names: Vec<&str> = reported
        .deaths
        .iter()
        .map(|death| {
            reported
                .graph
                .name(reported.graph.pods.get(death.pod).unwrap().name)
        })
        .collect();
    assert_eq!(
        names,
        ["box-a-0", "alone"],
        "one machine too few, and one that is not there"
    );
    assert!(
        reported
            .deaths
            .iter()
            .all(|death| death.state == DeathState::NeverScheduled)
    );
}

#[test]
fn what_names_no_machine_counts_where_it_was_and_while_it_lasted() {
    let mut tale = Tale::new();
    for (node, zone, pool) in [
        ("ip-1", "us-west-2a", "gpu"),
        ("ip-2", "us-west-2b", "cpu"),
        ("ip-3", "us-east-1a", "gpu"),
    ] {
        let labels = [
            ("topology.kubernetes.io/zone", zone),
            ("eks.amazonaws.com/nodegroup", pool),
        ];
        let body = ObjectBody {
            created: Some(at("06:00")),
            labels: labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            ..ObjectBody::default()
        };
        tale.object("Node", "", node, &format!("uid-{node}"), body);
        tale.pod(&format!("on-{node}"), node, "07:00", "10:00");
    }
    let outage = |tale: &mut Tale, id: &str, places: &str, from: &str, to: &str| {
        for (time, phase) in [(from, "started"), (to, "ended")] {
            tale.record("cloud.host_event", time, |event| {
                event.source_kind = SourceKind::Azure;
                event.set_attribute("host_event", Some("Incident"));
                event.set_attribute("phase", Some(phase));
                event.set_attribute("event_id", Some(id));
                event.set_attribute("places", Some(places));
                event.set_attribute("service", Some("Virtual Machines"));
            });
        }
    };
    outage(&mut tale, "of the zone", "us-west-2a", "09:50", "11:00");
    outage(
        &mut tale,
        "of the region",
        "us-east-1 us-west-2",
        "09:50",
        "11:00",
    );
    outage(&mut tale, "over", "us-west-2", "07:30", "08:00");
    outage(&mut tale, "later", "us-west-2", "10:30", "11:00");
    tale.record("cloud.activity", "09:40", |event| {
        event.object_kind = Some("NodePool".to_owned());
        event.entities.cluster = Some("lab".to_owned());
        event.set_attribute("group", Some("gpu"));
        event.set_attribute("method", Some("UpdateNodegroupVersion"));
        event.set_attribute("outcome", Some("succeeded"));
    });
    let reported = tale.end();
    let all = links(&reported.graph, &reported.runs, &reported.deaths);
    let of = |pod: &str| {
        let wide = all
            .iter()
            .filter(|link| ["region", "zone", "pool"].contains(&link.via))
            .filter(|link| reported.name(&reported.deaths[link.death]) == pod)
            .map(|link| {
                let fact = &reported.graph.facts[link.fact];
                (
                    link.via,
                    reported.graph.name(fact.signal),
                    reported.graph.name(fact.operation),
                )
            });
        let mut wide: Vec<_> = wide
            .filter(|(_, signal, _)| matches!(*signal, "cloud.service_outage" | "upgrade.started"))
            .map(|(via, _, operation)| (via, operation))
            .collect();
        wide.sort_unstable();
        wide
    };
    let region = ("region", "of the region");
    assert_eq!(
        of("on-ip-1"),
        [("pool", ""), region, ("zone", "of the zone")]
    );
    assert_eq!(of("on-ip-2"), [region]);
    assert_eq!(of("on-ip-3"), [("pool", ""), region]);
}
