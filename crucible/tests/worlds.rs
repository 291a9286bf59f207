//! Each controller's main path, whole cases, and that they are the same each time.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use whathappened_crucible::case::{add_load, play};
use whathappened_crucible::control::{drain, go_silent, machine_dies, make, scale_down, set_taint};
use whathappened_crucible::observe::{record, write_all};
use whathappened_crucible::plan::{
    Cloud, Cluster, Fault, Load, LoadKind, LogForm, More, Observe, Plan, Planned, draw, is_recent,
};
use whathappened_crucible::time::{MIN, SEC, Time};
use whathappened_crucible::truth::Seen;
use whathappened_crucible::world::{Client, Kind, State, Taint, World};

fn plan(cloud: Cloud) -> Plan {
    Plan {
        seed: 5,
        start: Time::parse("2026-03-01T10:00:00Z").unwrap(),
        cluster: Cluster {
            cloud,
            nodes: 6,
            gpus: 8,
            spot: false,
            grace_s: 40,
            bear_s: 60,
            minor: 34,
        },
        loads: Vec::new(),
        faults: Vec::new(),
        deeds: Vec::new(),
        observe: Observe::all(),
        more: More::default(),
    }
}

fn load(kind: LoadKind) -> Load {
    Load {
        kind,
        namespace: "research".to_owned(),
        name: "moe-8b".to_owned(),
        label: None,
        owner: "alice@lab.example".to_owned(),
        size: 2,
        gpus: 8,
        at: SEC,
        trains: None,
        retries: 0,
        restarts: false,
        nccl_s: 120,
        resets: true,
        obeys: true,
        deadline_s: None,
        priority: None,
        gang: matches!(kind, LoadKind::Job | LoadKind::JobSet),
    }
}

fn world(cloud: Cloud, kind: LoadKind) -> World {
    let mut w = World::new(plan(cloud));
    w.make_nodes();
    let at = add_load(&mut w, load(kind));
    make(&mut w, at);
    run(&mut w, 3 * MIN);
    w
}

fn run(w: &mut World, nanos: i64) {
    let end = w.now.plus(nanos);
    w.run_until(end);
}

fn reasons(w: &World) -> BTreeSet<String> {
    w.api
        .revs
        .iter()
        .filter(|rev| rev.key.kind == Kind::Event)
        .filter_map(|rev| rev.object["reason"].as_str().map(str::to_owned))
        .collect()
}

fn running(w: &World) -> usize {
    w.pods
        .iter()
        .filter(|pod| pod.gone.is_none() && pod.alive)
        .count()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for seed in [3, 77, 1234] {
        let once = || {
            let drawn = draw(seed);
            let recorded = record(&play(&drawn), &drawn.observe);
            recorded
                .files
                .iter()
                .map(|file| (file.path.clone(), file.content().0))
                .collect::<Vec<_>>()
        };
        assert_eq!(once(), once());
    }
}

#[test]
fn worlds_come_to_rest() {
    for seed in 0..250 {
        assert!(!play(&draw(seed)).world.runaway, "seed {seed}");
    }
}

#[test]
fn every_fault_can_be_played_and_is_told_by_some_record() {
    let recent = 20_000_000..20_000_600;
    let drawn: Vec<Plan> = (0..3000).chain(recent).map(draw).collect();
    for &fault in Fault::ALL
        .iter()
        .chain(Fault::MORE)
        .chain(Fault::CLASSES.iter().map(|(fault, _)| fault))
        .chain(Fault::RECENT.iter().map(|(fault, _)| fault))
    {
        // Of what only looks like it, and of who is not there, nothing has to tell.
        if fault.is_look_alike() || Fault::ABSENT.contains(&fault) {
            continue;
        }
        let told =
            drawn
                .iter()
                .filter(|plan| plan.faults.first().is_some_and(|one| one.fault == fault))
                .any(|plan| {
                    let plan = Plan {
                        observe: Observe::all(),
                        deeds: Vec::new(),
                        ..plan.clone()
                    };
                    let recorded = record(&play(&plan), &plan.observe);
                    recorded.truth.runs.first().is_some_and(|run| {
                        run.layers.iter().any(|layer| layer.seen > Seen::Nothing)
                    })
                });
        assert!(told, "{fault:?} is never told of");
    }
}

#[test]
fn only_one_seed_in_four_has_a_class() {
    let is_new = |fault: &Fault| {
        Fault::HARMLESS.contains(fault) || Fault::CLASSES.iter().any(|(class, _)| class == fault)
    };
    // One in sixty-four has somebody who is not there.
    let is_old = |seed: &u64| !matches!(seed % 8, 2 | 7) && seed % 64 != 45 && !is_recent(*seed);
    for seed in (0..400).filter(is_old) {
        let plan = draw(seed);
        assert!(!plan.observe.metrics && !plan.faults.iter().any(|one| is_new(&one.fault)));
    }
}

#[test]
fn what_slows_a_gang_down_shows_in_its_steps_and_nowhere_else() {
    let mut drawn = plan(Cloud::Gcp);
    drawn.loads = vec![load(LoadKind::Job)];
    drawn.faults = vec![Planned {
        fault: Fault::SlowSteps,
        load: 0,
        at: 900 * SEC,
    }];
    let case = play(&drawn);
    let run = |observe: &Observe| record(&case, observe).truth.runs[0].clone();
    let told = run(&drawn.observe);
    assert_eq!(
        (told.state.as_str(), told.right()),
        ("stuck", vec!["slow.steps"])
    );
    let untold = run(&Observe {
        logs: LogForm::None,
        ..Observe::all()
    });
    assert!(untold.right().contains(&"none.running"));
}

#[test]
fn seeds_that_are_known_are_drawn_as_they_were() {
    for text in [include_str!("../known.txt"), include_str!("../mended.txt")] {
        let seeds = text
            .lines()
            .filter_map(|line| line.split_whitespace().next()?.parse().ok());
        for seed in seeds {
            assert!(!is_recent(seed) || seed >= 20_000_000, "seed {seed}");
        }
    }
}

/// A fault of the first load, so many seconds after it was made.
fn fault(fault: Fault, at: i64) -> Planned {
    Planned {
        fault,
        load: 0,
        at: at * SEC,
    }
}

#[test]
fn what_befalls_a_run_first_ends_it_and_what_comes_later_does_not() {
    let mut drawn = plan(Cloud::OnPrem);
    drawn.loads = vec![Load {
        resets: false,
        nccl_s: 600,
        ..load(LoadKind::Job)
    }];
    // The second comes while the first one's peers have not noticed yet, or its Job has not given up.
    drawn.faults = vec![fault(Fault::KernelPanic, 300), fault(Fault::Segfault, 330)];
    let case = play(&drawn);
    let run = record(&case, &Observe::all()).truth.runs[0].clone();
    assert_eq!(run.layers[0].causes, ["node.kernel_panic"]);
    assert_eq!(run.later, ["code.segfault"]);
}

#[test]
fn what_uses_up_the_last_try_ended_a_run_as_much_as_what_it_never_got_over() {
    let mut drawn = plan(Cloud::OnPrem);
    drawn.loads = vec![Load {
        retries: 1,
        ..load(LoadKind::JobSet)
    }];
    drawn.faults = vec![fault(Fault::CudaOom, 300), fault(Fault::Segfault, 316)];
    let case = play(&drawn);
    let run = record(&case, &Observe::all()).truth.runs[0].clone();
    assert_eq!(
        (run.state.as_str(), case.world.loads[0].attempt),
        ("failed", 2)
    );
    assert_eq!(run.layers[0].causes, ["code.cuda_oom"]);
    assert_eq!(run.beside, ["code.segfault"], "{run:#?}");
}

#[test]
fn whoever_deletes_a_run_that_is_tried_again_uses_up_no_try_of_it() {
    let mut drawn = plan(Cloud::OnPrem);
    drawn.loads = vec![Load {
        retries: 2,
        ..load(LoadKind::JobSet)
    }];
    drawn.faults = vec![fault(Fault::CudaOom, 300), fault(Fault::JobDeleted, 316)];
    let case = play(&drawn);
    let run = record(&case, &Observe::all()).truth.runs[0].clone();
    assert_eq!(
        (run.state.as_str(), case.world.loads[0].attempt),
        ("deleted", 2)
    );
    assert_eq!(run.layers[0].causes, ["code.cuda_oom"]);
    assert!(run.beside.is_empty(), "{:?}", run.beside);
}

#[test]
fn who_has_no_gpu_loses_none() {
    for seed in (0..2000).chain(30_000_000..30_002_000) {
        let drawn = draw(seed);
        let mut faults = drawn.faults.iter().filter(|one| one.load == 0);
        let needs_one = faults.any(|one| one.fault.is_of_gpus());
        assert!(!needs_one || drawn.loads[0].gpus > 0, "seed {seed}");
    }
}

#[test]
fn a_node_is_found_to_be_silent_once_and_that_does_not_tell_of_a_reboot() {
    let mut drawn = plan(Cloud::OnPrem);
    drawn.loads = vec![load(LoadKind::Job)];
    drawn.faults = vec![fault(Fault::Reboot, 300)];
    let run = record(&play(&drawn), &Observe::all()).truth.runs[0].clone();
    let causes: Vec<_> = run.layers.iter().map(|layer| &layer.causes).collect();
    assert_eq!(
        causes,
        [&vec!["node.reboot"], &vec!["node.not_ready", "node.reboot"]]
    );

    let mut w = world(Cloud::OnPrem, LoadKind::Job);
    let node = w.pods[0].node.unwrap();
    let act = w.act("nobody hears of it", &["node.not_ready"], None);
    go_silent(&mut w, node, act);
    self::run(&mut w, 30 * SEC);
    machine_dies(&mut w, node, act);
    self::run(&mut w, 2 * MIN);
    let silent = w.nodes[node].taints.iter();
    assert_eq!(
        silent
            .filter(|one| one.key.ends_with("unreachable"))
            .count(),
        2
    );
}

#[test]
fn what_is_made_while_nobody_schedules_waits_for_that() {
    let mut w = World::new(plan(Cloud::OnPrem));
    w.make_nodes();
    let act = w.act("the scheduler is down", &["dep.control_plane"], None);
    w.down.scheduler = Some(act);
    let again = add_load(&mut w, load(LoadKind::Job));
    make(&mut w, again);
    run(&mut w, 3 * MIN);
    assert_eq!((w.loads[again].blocked, running(&w)), (Some(act), 0));
}

#[test]
fn a_rank_that_is_slow_says_so_beside_the_others() {
    for seed in 20_000_000..20_000_400 {
        let drawn = draw(seed);
        let is_slow = |one: &Planned| one.fault == Fault::SlowRank;
        if !drawn.faults.first().is_some_and(is_slow) {
            continue;
        }
        let case = play(&drawn);
        let (mut own, mut compared) = (0, 0);
        for line in &case.world.logs {
            own += usize::from(line.text.contains("allreduce_wait_ms"));
            compared +=
                usize::from(line.text.contains("MxRtt/Rnk") || line.text.contains("Score="));
        }
        let timers = case.world.loads[0].pace.timers;
        assert_eq!(timers.is_some(), own + compared > 0, "seed {seed}");
    }
}

#[test]
fn a_gang_of_which_some_are_refused_never_trains() {
    let mut seen = 0;
    for seed in (20_000_000..20_000_400).step_by(2) {
        let drawn = draw(seed);
        if drawn
            .faults
            .first()
            .is_none_or(|one| one.fault != Fault::MembersRefused)
        {
            continue;
        }
        let case = play(&drawn);
        let load = &case.world.loads[0];
        let made = case.world.pods.iter().filter(|pod| pod.load == 0).count();
        seen += usize::from(made > 0);
        assert!(load.training.is_none() && load.step == 0, "seed {seed}");
    }
    assert!(seen > 2);
}

#[test]
fn a_gang_is_torn_down_when_one_is_evicted() {
    let mut w = world(Cloud::Gcp, LoadKind::Job);
    assert_eq!(running(&w), 2);
    let node = w.pods[0].node.unwrap();
    let act = w.deed("drain", &["ops.node_drained"], &["bob@lab.example"], None);
    drain(&mut w, node, &Client::person("bob@lab.example"), act);
    run(&mut w, MIN);
    assert_eq!((w.loads[0].state, running(&w)), (State::Failed, 0));
    let told = reasons(&w);
    for reason in [
        "NodeNotSchedulable",
        "Killing",
        "SuccessfulDelete",
        "BackoffLimitExceeded",
    ] {
        assert!(told.contains(reason), "{reason}");
    }
}

#[test]
fn a_job_set_makes_its_gang_anew() {
    let mut w = World::new(plan(Cloud::Gcp));
    w.make_nodes();
    let at = add_load(
        &mut w,
        Load {
            retries: 1,
            ..load(LoadKind::JobSet)
        },
    );
    make(&mut w, at);
    run(&mut w, 3 * MIN);
    let node = w.pods[0].node.unwrap();
    let act = w.deed("drain", &["ops.node_drained"], &["bob@lab.example"], None);
    drain(&mut w, node, &Client::person("bob@lab.example"), act);
    run(&mut w, 3 * MIN);
    assert_eq!(
        (w.loads[0].attempt, running(&w), w.loads[0].state),
        (2, 2, State::Running)
    );
    assert!(reasons(&w).contains("Restarting"));
}

#[test]
fn a_stateful_set_uses_its_names_again() {
    let mut w = world(Cloud::Gcp, LoadKind::StatefulSet);
    let (name, uid, node) = (
        w.pods[0].name.clone(),
        w.pods[0].uid.clone(),
        w.pods[0].node.unwrap(),
    );
    let act = w.deed("drain", &["ops.node_drained"], &["bob@lab.example"], None);
    drain(&mut w, node, &Client::person("bob@lab.example"), act);
    run(&mut w, 2 * MIN);
    let again = w
        .pods
        .iter()
        .find(|pod| pod.name == name && pod.gone.is_none())
        .unwrap();
    assert!(again.uid != uid && again.node != Some(node));
}

#[test]
fn a_silent_node_is_tainted_and_its_pods_deleted_after_what_they_bear() {
    let mut w = world(Cloud::OnPrem, LoadKind::Deployment);
    let node = w.pods[0].node.unwrap();
    let since = w.now;
    let act = w.act("silent", &["node.not_ready"], None);
    machine_dies(&mut w, node, act);
    run(&mut w, 4 * MIN);
    let at = |reason: &str| {
        w.api
            .revs
            .iter()
            .find(|rev| rev.object["reason"] == reason)
            .map(|rev| rev.time.since(since) / SEC)
    };
    let (quiet, deleted) = (
        at("NodeNotReady").unwrap(),
        at("TaintManagerEviction").unwrap(),
    );
    assert!((30..=46).contains(&quiet), "{quiet}");
    assert!((60..=61).contains(&(deleted - quiet)));
    // Another pod takes its place, and the dead one stays with a deletion time.
    assert_eq!(running(&w), 2);
    assert!(w.pods[0].deletion.is_some() && w.pods[0].gone.is_none());
}

#[test]
fn a_taint_drives_out_at_once_and_leaves_what_is_over() {
    let mut w = world(Cloud::OnPrem, LoadKind::Job);
    let node = w.pods[0].node.unwrap();
    let by = Client::person("bob@lab.example");
    let act = w.deed("taint", &["ops.node_drained"], &["bob@lab.example"], None);
    set_taint(
        &mut w,
        node,
        Taint {
            key: "lab.example/x".to_owned(),
            value: None,
            effect: "NoExecute",
            added: None,
            by: None,
        },
        &by,
        act,
    );
    run(&mut w, MIN);
    assert_eq!(w.loads[0].state, State::Failed);
    let deaths = w.deaths.len();
    let again = w.deed("taint", &["ops.node_drained"], &["bob@lab.example"], None);
    set_taint(
        &mut w,
        node,
        Taint {
            key: "lab.example/y".to_owned(),
            value: None,
            effect: "NoExecute",
            added: None,
            by: None,
        },
        &by,
        again,
    );
    run(&mut w, MIN);
    assert_eq!(w.deaths.len(), deaths, "what is over does not die again");
}

#[test]
fn the_autoscaler_taints_evicts_and_removes() {
    let mut w = world(Cloud::Gcp, LoadKind::Job);
    let node = w.pods[0].node.unwrap();
    let act = w.deed(
        "scale down",
        &["ops.scale_down"],
        &["cluster-autoscaler"],
        None,
    );
    scale_down(&mut w, node, act);
    run(&mut w, 6 * MIN);
    assert!(w.nodes[node].gone.is_some());
    assert!(
        w.cloud
            .iter()
            .any(|one| one.body["protoPayload"]["methodName"] == "v1.compute.instances.delete")
    );
    assert!(
        ["ScaleDown", "DeletingNode", "RemovingNode"]
            .iter()
            .all(|reason| reasons(&w).contains(*reason))
    );
}

#[test]
fn no_file_takes_the_place_of_another() {
    for seed in (0..300).chain(20_000_000..20_000_100) {
        let drawn = draw(seed);
        let files = record(&play(&drawn), &drawn.observe).files;
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), files.len(), "seed {seed}");
    }
}

#[test]
fn a_cut_file_tells_only_what_is_whole() {
    let mut drawn = plan(Cloud::Gcp);
    drawn.loads = vec![load(LoadKind::Job)];
    drawn.faults = vec![Planned {
        fault: Fault::Drained,
        load: 0,
        at: 200 * SEC,
    }];
    let mut recorded = record(&play(&drawn), &drawn.observe);
    let file = recorded
        .files
        .iter_mut()
        .find(|file| file.path == "events.json")
        .unwrap();
    let whole = file.whole().flat_map(|record| &record.tags).count();
    file.cut_at = Some(40);
    assert!(whole > 0 && file.whole().flat_map(|record| &record.tags).count() == 0);
    let folder = tempfile::tempdir().unwrap();
    write_all(&recorded.files, folder.path()).unwrap();
    assert_eq!(
        std::fs::metadata(folder.path().join("events.json"))
            .unwrap()
            .len(),
        40
    );
}

#[test]
fn deeds_after_the_end_change_no_death() {
    for seed in 0..60 {
        let mut drawn = draw(seed);
        drawn.faults = vec![Planned {
            fault: Fault::Exception,
            load: 0,
            at: 200 * SEC,
        }];
        drawn.deeds.clear();
        let before = record(&play(&drawn), &Observe::all());
        let Some(run) = before
            .truth
            .runs
            .first()
            .filter(|run| run.state == "failed")
        else {
            continue;
        };
        let cause: Vec<_> = run
            .layers
            .iter()
            .map(|layer| layer.causes.clone())
            .collect();
        drawn.deeds = vec![
            whathappened_crucible::plan::Aftermath::TaintNode,
            whathappened_crucible::plan::Aftermath::RebootNode,
        ];
        let after = record(&play(&drawn), &Observe::all());
        let again: Vec<_> = after.truth.runs[0]
            .layers
            .iter()
            .map(|layer| layer.causes.clone())
            .collect();
        assert_eq!(cause, again, "seed {seed}");
    }
}

fn finished(more: More) -> World {
    let mut drawn = plan(Cloud::Gcp);
    drawn.more = more;
    let mut w = World::new(drawn);
    w.make_nodes();
    let at = add_load(
        &mut w,
        Load {
            trains: Some(120 * SEC),
            ..load(LoadKind::Job)
        },
    );
    make(&mut w, at);
    run(&mut w, 10 * MIN);
    w
}

#[test]
fn a_finished_job_is_cleared_away_in_time() {
    let w = finished(More {
        ttl_s: Some(100),
        ..More::default()
    });
    assert_eq!(w.loads[0].state, State::Completed);
    assert!(w.api.live.keys().all(|key| key.kind != Kind::Job));
    let by = w.api.calls.iter().find(|call| {
        call.verb == "delete" && call.key.kind == Kind::Job && call.key.name == "moe-8b"
    });
    let by = &by.unwrap().by.name;
    assert_eq!(
        by,
        "system:serviceaccount:kube-system:ttl-after-finished-controller"
    );
}

#[test]
fn an_init_container_runs_first() {
    let w = finished(More {
        init: true,
        ..More::default()
    });
    assert_eq!(w.loads[0].state, State::Completed);
    let pod = w.pod_json(0);
    let init = &pod["status"]["initContainerStatuses"][0];
    assert_eq!(
        (
            init["ready"].as_bool(),
            init["state"]["terminated"]["exitCode"].as_i64()
        ),
        (Some(true), Some(0))
    );
}

#[test]
fn googles_audit_log_names_what_was_done() {
    let plan = Plan {
        more: More {
            gke: true,
            ..More::default()
        },
        loads: vec![load(LoadKind::Job)],
        ..plan(Cloud::Gcp)
    };
    let recorded = record(&play(&plan), &plan.observe);
    let file = recorded
        .files
        .iter()
        .find(|file| file.path == "k8s-audit.jsonl")
        .unwrap();
    let made = file
        .records
        .iter()
        .map(|record| serde_json::from_str::<serde_json::Value>(&record.text).unwrap())
        .find(|entry| entry["protoPayload"]["methodName"] == "io.k8s.batch.v1.jobs.create")
        .unwrap();
    assert_eq!(
        made["protoPayload"]["authenticationInfo"]["principalEmail"],
        "alice@lab.example"
    );
}

#[test]
fn the_training_operator_ends_what_still_runs() {
    let mut w = world(Cloud::Gcp, LoadKind::PyTorchJob);
    assert_eq!(
        (w.pods[0].name.as_str(), running(&w)),
        ("moe-8b-master-0", 2)
    );
    let node = w.pods[1].node.unwrap();
    let act = w.deed("drain", &["ops.node_drained"], &["bob@lab.example"], None);
    drain(&mut w, node, &Client::person("bob@lab.example"), act);
    run(&mut w, 2 * MIN);
    assert_eq!((w.loads[0].state, running(&w)), (State::Failed, 0));
    assert!(reasons(&w).contains("PyTorchJobFailed"));
}
