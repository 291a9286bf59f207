//! A name finds what belongs to it, and little else.

use std::collections::BTreeSet;

use whathappened_core::resolve::Name;

use super::*;

/// Two clusters may call their machines alike.
#[test]
fn a_machine_of_another_cluster_is_not_ours() {
    let (_folder, mut store) = store();
    let clusters = [
        "0aa2b6a4-1111-4c5e-9d3f-000000000001",
        "0aa2b6a4-1111-4c5e-9d3f-000000000002",
    ];
    let mut all = vec![pod("a-0", "exp", "job", START)];
    for (number, cluster) in clusters
        .into_iter()
        .map(Some)
        .chain([None, Some("prod")])
        .enumerate()
    {
        let number = number as u64;
        let mut of_pod = event(10 + number, "a-0", START);
        of_pod.entities.cluster = clusters.first().map(|cluster| (*cluster).to_owned());
        let mut of_node = event(20 + number, "", START);
        of_node.entities.pod = None;
        of_node.entities.pod_uid = None;
        of_node.entities.cluster = cluster.map(str::to_owned);
        all.extend([reported(of_pod), reported(of_node)]);
    }
    import(&mut store, all);
    let snapshot = store.snapshot().unwrap();
    let name = Name::parse("exp");
    let found = snapshot.find(&name).unwrap().unwrap();
    let mut seen: Vec<_> = found
        .facts
        .iter()
        .filter_map(|fact| fact.event.message.clone())
        .collect();
    seen.sort();
    seen.dedup();
    // A name of a cloud's own may be that of either.
    let wanted = [10, 11, 12, 13, 20, 22, 23].map(|number| format!("message {number}"));
    assert_eq!(seen, wanted);
}
use crate::MatchTier;

fn filled() -> (tempfile::TempDir, Store) {
    let (folder, mut store) = store();
    let mut all = Vec::new();
    for experiment in 0..40_i64 {
        let at = START + experiment * DAY / 8;
        let job = format!("run{experiment:02}");
        for rank in 0..4 {
            let name = format!("{job}-worker-{rank}");
            all.push(pod(&name, &format!("exp-{experiment}"), &job, at));
            for n in 0..50 {
                let number = (experiment * 1_000 + rank * 100 + n) as u64;
                all.push(reported(event(number, &name, at + n * SECOND)));
            }
        }
    }
    let mut node = event(999_999, "", START);
    node.entities.pod = None;
    node.entities.pod_uid = None;
    all.push(reported(node));
    import(&mut store, all);
    (folder, store)
}

#[test]
fn a_name_is_found_by_label_owner_pod_and_stem() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot().unwrap();
    for (typed, tier, pods) in [
        ("exp-3", MatchTier::Label("experiment"), 4),
        ("run03", MatchTier::Workload, 4),
        ("job/run03", MatchTier::Workload, 4),
        ("run03-worker-2", MatchTier::Pod, 4),
        ("run03-worker", MatchTier::Stem, 4),
        ("run0*", MatchTier::Workload, 40),
        ("namespace/ml", MatchTier::Namespace, 160),
    ] {
        let found = snapshot.find(&Name::parse(typed)).unwrap().unwrap();
        assert_eq!(found.tier, tier, "{typed}");
        assert_eq!(found.objects.len(), pods, "{typed}");
        let own = found
            .facts
            .iter()
            .filter(|fact| fact.event.entities.pod.is_some());
        assert_eq!(own.count(), pods * 50, "{typed}");
    }
    assert!(snapshot.find(&Name::parse("exp-99")).unwrap().is_none());
    assert!(
        snapshot
            .nearest("rum03")
            .unwrap()
            .contains(&"run03".to_owned())
    );
}

#[test]
fn the_machines_of_a_run_are_looked_at() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot().unwrap();
    let found = snapshot.find(&Name::parse("exp-0")).unwrap().unwrap();
    let of_node = |fact: &&Fact| fact.event.entities.pod.is_none();
    assert_eq!(found.facts.iter().filter(of_node).count(), 1);
}

#[test]
fn of_a_machine_only_the_last_runs_are_read() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot().unwrap();
    let jobs = |found: &crate::ScopedRows| -> BTreeSet<String> {
        let pods = found.objects.iter().map(|one| &one.version);
        pods.map(|pod| pod.body.owners[0].name.clone()).collect()
    };
    let found = snapshot.find_machine("node-1", crate::snapshot::ALWAYS, 3);
    let found = found.unwrap().unwrap();
    assert_eq!(found.tier, MatchTier::Machine);
    let last = ["run37", "run38", "run39"].map(str::to_owned);
    assert_eq!(jobs(&found), BTreeSet::from(last));
    assert_eq!((found.objects.len(), found.left_out), (12, 37 * 4));
    let own = found.facts.iter();
    let own = own.filter(|fact| fact.event.entities.pod.is_some());
    assert_eq!(own.count(), 12 * 50);
    // What happened to the machine itself is there however long ago.
    let of_node = |fact: &Fact| fact.event.entities.pod.is_none();
    assert!(found.facts.iter().any(of_node));
    // The time that is asked about chooses the runs.
    let hour = (START, START + 3_600 * SECOND);
    let found = snapshot.find_machine("node-1", hour, 3).unwrap().unwrap();
    assert_eq!(jobs(&found), BTreeSet::from(["run00".to_owned()]));
    assert_eq!(found.left_out, 0);
    let nobody = snapshot.find_machine("node-2", crate::snapshot::ALWAYS, 3);
    assert!(nobody.unwrap().is_none());
}

#[test]
fn what_is_hot_is_found_like_what_is_in_segments() {
    let (_folder, mut store) = filled();
    store
        .write(
            vec![
                pod("late-worker-0", "late", "late", START),
                reported(event(5_000_000, "late-worker-0", START)),
            ],
            &[],
        )
        .unwrap();
    let snapshot = store.snapshot().unwrap();
    let found = snapshot.find(&Name::parse("late")).unwrap().unwrap();
    let own = found
        .facts
        .iter()
        .filter(|fact| fact.event.entities.pod.is_some());
    assert_eq!((found.objects.len(), own.count()), (1, 1));
}

#[test]
fn what_was_stored_long_ago_goes_and_the_rest_stays() {
    let (_folder, mut store) = filled();
    store.limits.max_age = 2 * DAY;
    // An old recording, imported later.
    let mut bulk = store.bulk(START + 5 * DAY);
    bulk.push(pod("old-worker-0", "old", "old", START - 400 * DAY))
        .unwrap();
    bulk.push(reported(event(
        7_000_000,
        "old-worker-0",
        START - 400 * DAY,
    )))
    .unwrap();
    bulk.flush().unwrap();
    drop(bulk);
    let before = store.status().unwrap();
    let retained = store.retain(START + 6 * DAY).unwrap();
    let after = store.status().unwrap();
    assert!(retained.segments > 0 && retained.rows > 0);
    assert_eq!(
        before.facts + before.versions,
        after.facts + after.versions + retained.rows
    );
    let snapshot = store.snapshot().unwrap();
    assert!(snapshot.find(&Name::parse("old")).unwrap().is_some());
    let gone = snapshot.find(&Name::parse("exp-0")).unwrap();
    assert!(gone.is_none_or(|found| found.objects.is_empty()));
}

#[test]
fn too_much_goes_oldest_first() {
    let (_folder, mut store) = filled();
    let before = store.status().unwrap();
    store.limits.max_bytes = before.segment_bytes / 2;
    store.retain(START + 6 * DAY).unwrap();
    let after = store.status().unwrap();
    assert!(after.segment_bytes <= before.segment_bytes / 2);
    assert!(after.facts > 0 && after.to == before.to && after.from > before.from);
}

#[test]
fn what_a_lake_does_not_have_yet_stays_however_old_and_large() {
    let (_folder, mut store) = filled();
    store.limits.max_age = DAY;
    store.limits.max_bytes = 0;
    let before = store.status().unwrap();
    let late = START + 60 * DAY;
    let retained = store.retain_unflushed(late, "s3://bucket/lake").unwrap();
    assert_eq!(retained.segments, 0);
    assert_eq!(store.status().unwrap().facts, before.facts);
    // The lake took one segment over: that one goes, and one that another lake has does not.
    let live = crate::segment::live(&store.db, crate::record::Table::Events, None).unwrap();
    crate::flushed::remember(&store.db, "s3://bucket/lake", live[0].id).unwrap();
    crate::flushed::remember(&store.db, "s3://bucket/other", live[1].id).unwrap();
    let retained = store.retain_unflushed(late, "s3://bucket/lake").unwrap();
    assert_eq!((retained.segments, retained.rows), (1, live[0].rows));
}

#[test]
fn runs_are_listed_with_their_experiments_and_pods() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot().unwrap();
    let roots = snapshot.roots(Nanos::MIN, Nanos::MAX).unwrap();
    assert_eq!(roots.len(), 40);
    let last = roots.last().unwrap();
    assert_eq!((last.kind.as_str(), last.name.as_str()), ("Job", "run39"));
    assert_eq!((last.experiment.as_deref(), last.pods), (Some("exp-39"), 4));
    let some = snapshot.roots(START + DAY, START + 2 * DAY).unwrap();
    assert!(some.len() < 40 && some.iter().all(|root| root.last >= START + DAY));
}

#[test]
fn a_pod_that_only_events_know_belongs_to_the_job_that_its_name_tells() {
    let (_folder, mut store) = filled();
    let mut orphan = event(1_000_001, "run03-x2k8f", START + DAY);
    orphan.entities.pod_uid = None;
    import(&mut store, vec![reported(orphan)]);
    let roots = store.snapshot().unwrap().roots(i64::MIN, i64::MAX).unwrap();
    assert!(roots.iter().all(|root| root.kind != "Pod"), "{roots:?}");
    let job = roots.iter().find(|root| root.name == "run03").unwrap();
    assert_eq!(job.pods, 5);
}

#[test]
fn a_pod_that_only_events_know_is_found_with_what_made_it() {
    let (_folder, mut store) = filled();
    let mut orphan = event(1_000_001, "run03-x2k8f", START + DAY);
    orphan.entities.pod_uid = None;
    import(&mut store, vec![reported(orphan)]);
    let snapshot = store.snapshot().unwrap();
    let found = snapshot.find(&Name::parse("pod/run03-x2k8f")).unwrap();
    let objects = found.unwrap().objects.into_iter();
    let pods: BTreeSet<String> = objects.map(|object| object.version.key.name).collect();
    let members = (0..4).map(|rank| format!("run03-worker-{rank}"));
    assert!(
        members.into_iter().all(|name| pods.contains(&name)),
        "{pods:?}"
    );
}

#[test]
fn a_namespace_is_found_that_holds_no_pod() {
    let (_folder, mut store) = store();
    let mut held_back = event(1, "", START);
    held_back.entities.pod = None;
    held_back.entities.pod_uid = None;
    held_back.entities.namespace = Some("empty".to_owned());
    held_back.entities.workload_kind = Some("Job".to_owned());
    held_back.entities.workload = Some("hungry".to_owned());
    import(&mut store, vec![reported(held_back)]);
    let snapshot = store.snapshot().unwrap();
    let found = snapshot.find(&Name::parse("empty")).unwrap().unwrap();
    assert_eq!(found.tier, MatchTier::Namespace);
    assert_eq!(found.facts.len(), 1);
}

/// What is read ahead for many runs is what each would read by itself.
#[test]
fn what_is_read_ahead_is_what_is_found_without() {
    let (_folder, mut store) = filled();
    let roots = store
        .snapshot()
        .unwrap()
        .roots(Nanos::MIN, Nanos::MAX)
        .unwrap();
    assert_eq!(roots.len(), 40);
    let found = |store: &Store, root: &crate::Root| {
        let rows = store
            .snapshot()
            .unwrap()
            .find(&root.as_name())
            .unwrap()
            .unwrap();
        let mut facts: Vec<_> = rows.facts.iter().map(|fact| format!("{fact:?}")).collect();
        let mut objects: Vec<_> = rows.objects.iter().map(|one| format!("{one:?}")).collect();
        facts.sort();
        objects.sort();
        (facts, objects, rows.window)
    };
    let alone: Vec<_> = roots.iter().map(|root| found(&store, root)).collect();
    assert!(
        alone
            .iter()
            .all(|(facts, objects, _)| facts.len() >= 200 && objects.len() >= 4)
    );
    for some in [1, 7, 40] {
        for part in roots.chunks(some) {
            store.read_ahead(&part.iter().collect::<Vec<_>>()).unwrap();
        }
        let ahead: Vec<_> = roots.iter().map(|root| found(&store, root)).collect();
        assert!(ahead == alone, "{some} runs together");
    }
    // What comes later is seen: only segments are kept in memory, and they do not change.
    let later = event(
        5_000_000,
        "run03-worker-0",
        START + 3 * DAY / 8 + 60 * SECOND,
    );
    import(&mut store, [reported(later)]);
    let (facts, ..) = found(&store, &roots[3]);
    assert_eq!(facts.len(), alone[3].0.len() + 1);
    store.forget_places();
    assert_eq!(found(&store, &roots[3]).0, facts);
}

/// A damaged segment is told of each time, also where what is read is kept in memory.
#[test]
fn damage_is_told_again_while_places_are_kept() {
    let (_folder, mut store) = filled();
    let roots = store
        .snapshot()
        .unwrap()
        .roots(Nanos::MIN, Nanos::MAX)
        .unwrap();
    let root = &roots[3];
    for segment in damage::segments(store.root()) {
        if segment.to_string_lossy().contains("events") {
            std::fs::write(&segment, b"PAR1").unwrap();
        }
    }
    store.read_ahead(&[root]).unwrap();
    for _ in 0..2 {
        let snapshot = store.snapshot().unwrap();
        let found = snapshot.find(&root.as_name()).unwrap().unwrap();
        assert!(found.facts.is_empty());
        assert!(!snapshot.coverage_of(Vec::new()).is_empty());
    }
}

#[test]
fn machines_are_found_beside_pods() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Limits::default()).unwrap();
    let node = |number: u64| {
        let mut made = pod(&format!("node-{number}"), "x", "job", START);
        if let Observation::Object(one) = &mut made {
            one.key.kind = "Node".to_owned();
            one.key.namespace = String::new();
        }
        made
    };
    let pods = (0..3_000).map(|n| pod(&format!("p-{n}"), "x", "job", START));
    import(&mut store, pods.chain((0..5).map(node)));
    store.write(vec![node(5)], &[]).unwrap();
    let found = |kinds: &[&str]| {
        let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let mut found: Vec<String> = Vec::new();
        let snapshot = store.snapshot().unwrap();
        snapshot
            .objects_named(Some(&kinds), None, &mut |one| {
                found.push(one.version.key.kind);
            })
            .unwrap();
        let of = |kind: &str| found.iter().filter(|one| *one == kind).count();
        (of("Node"), of("Pod"))
    };
    assert_eq!(found(&["Node"]), (6, 0));
    assert_eq!(found(&["Node", "Instance"]), (6, 0));
    assert_eq!(found(&["Pod"]), (0, 3_000));
    assert_eq!(found(&["Node", "Pod"]), (6, 3_000));
}
