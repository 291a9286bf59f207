//! One caller's sight of the store: nothing of another namespace leaves it.

use std::collections::BTreeSet;

use whathappened_core::resolve::Name;

use super::*;
use crate::Access;

/// In every text of the other namespace, and nowhere else.
const MARK: &str = "magenta";

fn team_a() -> Access {
    Access {
        namespaces: Some(BTreeSet::from(["team-a".to_owned()])),
        sources: None,
    }
}

fn in_namespace(mut one: Observation, namespace: &str) -> Observation {
    match &mut one {
        Observation::Object(version) => version.key.namespace = namespace.to_owned(),
        Observation::Event(event) => event.entities.namespace = Some(namespace.to_owned()),
        Observation::EventGrew { .. } => {}
    }
    one
}

/// Two namespaces that share a node.
fn shared() -> (tempfile::TempDir, Store) {
    let (folder, mut store) = store();
    let other = format!("{MARK}-job-worker-0");
    let mut node = event(1, "", START);
    node.entities = whathappened_model::event::Entities {
        node: Some("node-1".to_owned()),
        ..Default::default()
    };
    node.object_kind = Some("Node".to_owned());
    node.actor = Some(format!("system:serviceaccount:{MARK}-team:robot"));
    node.signals = vec!["node.not_ready".to_owned()];
    node.message = Some(format!("fan failed, {other} was warm"));
    node.raw = format!("{{\"note\":\"{other}\"}}");
    node.set_attribute("who", Some(other.clone()));
    let mut mentions = event(2, "job-worker-0", START);
    mentions.message = Some(format!("Preempted by {MARK}-team/{other} on node node-1"));
    mentions.set_attribute("other_pod", Some(other.clone()));
    let mut nowhere = event(3, &other, START);
    nowhere.entities.namespace = None;
    let mut said = event(7, "", START);
    said.fact = "log.line".to_owned();
    said.message = Some(format!("{MARK} of no known process"));
    said.entities = whathappened_model::event::Entities {
        node: Some("node-1".to_owned()),
        ..Default::default()
    };
    let mut own_nowhere = event(4, "job-worker-0", START);
    own_nowhere.entities.namespace = None;
    import(
        &mut store,
        vec![
            in_namespace(pod("job-worker-0", "exp", "job", START), "team-a"),
            in_namespace(
                pod(
                    &other,
                    &format!("{MARK}-exp"),
                    &format!("{MARK}-job"),
                    START,
                ),
                &format!("{MARK}-team"),
            ),
            in_namespace(reported(mentions), "team-a"),
            in_namespace(reported(event(5, &other, START)), &format!("{MARK}-team")),
            reported(node),
            reported(nowhere),
            reported(said),
            reported(own_nowhere),
        ],
    );
    (folder, store)
}

/// Everything that leaves the store, as text.
fn all_of(store: &Store, access: &Access) -> String {
    let snapshot = store.snapshot_for(access).unwrap();
    let mut text = String::new();
    let mut rows = Vec::new();
    snapshot
        .everything(
            None,
            &mut |fact| rows.push(format!("{fact:?}")),
            &mut |object| text.push_str(&format!("{object:?}\n")),
        )
        .unwrap();
    text.push_str(&rows.join("\n"));
    text.push_str(&format!("{:?}", snapshot.entities().unwrap()));
    text.push_str(&format!("{:?}", snapshot.hot_facts().unwrap()));
    text.push_str(&format!(
        "{:?}",
        snapshot.roots(Nanos::MIN, Nanos::MAX).unwrap()
    ));
    for typed in [MARK, "exp", "job-worker", "mag", "node-1"] {
        text.push_str(&format!("{:?}", snapshot.nearest(typed).unwrap()));
        for name in [
            typed.to_owned(),
            format!("{MARK}-{typed}"),
            format!("{typed}*"),
        ] {
            text.push_str(&format!(
                "{:?}",
                snapshot.find(&Name::parse(&name)).unwrap()
            ));
        }
    }
    text
}

#[test]
fn nothing_of_another_namespace_leaves_the_store() {
    let (_folder, mut store) = shared();
    assert!(all_of(&store, &Access::default()).contains(MARK));
    let seen = all_of(&store, &team_a());
    let at = seen.find(MARK).unwrap_or(0);
    assert!(
        !seen.contains(MARK),
        "{}",
        &seen[at.saturating_sub(300)..(at + 100).min(seen.len())]
    );
    // What is hot passes the same way.
    let hot = event(6, &format!("{MARK}-job-worker-0"), START);
    store
        .write(
            vec![in_namespace(reported(hot), &format!("{MARK}-team"))],
            &[],
        )
        .unwrap();
    assert!(!all_of(&store, &team_a()).contains(MARK));
}

#[test]
fn what_is_ones_own_and_what_happened_to_its_machine_stays() {
    let (_folder, store) = shared();
    let snapshot = store.snapshot_for(&team_a()).unwrap();
    let found = snapshot.find(&Name::parse("exp")).unwrap().unwrap();
    let fact = |number: u64| {
        let id = EventId::of(&["test", &number.to_string()]);
        found.facts.iter().find(|fact| fact.event.id == id)
    };
    let node = &fact(1).unwrap().event;
    assert_eq!(node.signals, ["node.not_ready"]);
    assert_eq!(
        node.message.as_deref(),
        Some("fan failed, [hidden] was warm")
    );
    assert_eq!(
        node.actor.as_deref(),
        Some("system:serviceaccount:[hidden]:[hidden]")
    );
    let preempted = fact(2).unwrap();
    assert!(preempted.redacted);
    assert_eq!(
        preempted.event.message.as_deref(),
        Some("Preempted by [hidden] on node node-1")
    );
    // A record without a namespace is of the one whose pod it names.
    assert!(fact(4).is_some_and(|fact| !fact.redacted));
    assert_eq!(found.objects.len(), 1);
}

#[test]
fn the_name_of_another_hides_no_name_of_ones_own() {
    let (_folder, mut store) = store();
    import(
        &mut store,
        vec![
            in_namespace(pod("a-worker-0", "other", "same", START), "team-a"),
            in_namespace(pod("b-worker-0", "same", "b", START), "team-b"),
        ],
    );
    let typed = Name::parse("same");
    let all = store.snapshot().unwrap();
    assert_eq!(
        all.find(&typed).unwrap().unwrap().tier,
        crate::MatchTier::Label("experiment")
    );
    drop(all);
    let own = store.snapshot_for(&team_a()).unwrap();
    let found = own.find(&typed).unwrap().unwrap();
    assert_eq!(found.tier, crate::MatchTier::Workload);
    assert_eq!(found.objects.len(), 1);
}

#[test]
fn what_a_source_told_is_not_there_for_who_may_not_see_it() {
    let (_folder, mut store) = store();
    let mut audit = event(1, "p", START);
    audit.source_kind = SourceKind::KubernetesAudit;
    audit.actor = Some("alice".to_owned());
    import(
        &mut store,
        vec![reported(audit.clone()), reported(event(2, "p", START))],
    );
    let access = Access {
        namespaces: None,
        sources: Some(BTreeSet::from(["kubernetes".to_owned()])),
    };
    let seen = all_of(&store, &access);
    assert!(seen.contains("message 2") && !seen.contains("alice"));
    // A second witness who may be seen shows that it was, and no more.
    let mut both = event(1, "p", START);
    both.time = Stamp::OPEN;
    import(&mut store, vec![reported(both)]);
    let seen = all_of(&store, &access);
    assert!(!seen.contains("alice") && !seen.contains("KubernetesAudit"));
}

/// What a caller's own Events say of namespaces of others, known and unknown.
#[test]
fn ones_own_texts_name_no_namespace_of_others() {
    let (_folder, mut store) = store();
    let texts = [
        "preempted by pod zebra-0 in namespace zebrateam",
        "evicted for namespace zebrateam's quota",
        "could not reach zebra-0.zebrateam.svc.cluster.local",
        "/var/log/pods/zebrateam_zebra-0_41b7/t/0.log full",
        "ZEBRATEAM and Zebrateam hold ClusterQueue zebrateam-queue",
        "system:serviceaccount:ghostns:ghost-robot cannot get it in namespace \"ghostns\"",
        "GET /api/v1/namespaces/ghostns/pods/ghostpod-7",
        "zebra-0.ghostsvc.zebrateam.svc is gone from namespace kube-system",
    ];
    let mut rows = vec![
        in_namespace(pod("mine-0", "exp", "job", START), "team-a"),
        in_namespace(pod("zebra-0", "zebra", "zebra", START), "zebrateam"),
    ];
    for (number, text) in texts.iter().enumerate() {
        let mut one = event(number as u64, "mine-0", START);
        one.message = Some((*text).to_owned());
        one.raw =
            serde_json::json!({"message": text, "data": {"namespace": "ghostns"}}).to_string();
        one.set_attribute("detail", Some((*text).to_owned()));
        one.set_attribute("other_namespace", Some("ghostns".to_owned()));
        one.set_attribute("other_pod", Some("ghostpod-7".to_owned()));
        one.set_attribute("target_namespace", Some("ghostns".to_owned()));
        rows.push(in_namespace(reported(one), "team-a"));
    }
    import(&mut store, rows);
    let seen = all_of(&store, &team_a()).to_ascii_lowercase();
    assert!(seen.contains("mine-0") && seen.contains("kube-system"));
    for word in ["zebra", "ghost"] {
        let at = seen.find(word).unwrap_or(0);
        assert!(
            !seen.contains(word),
            "{}",
            &seen[at.saturating_sub(200)..(at + 100).min(seen.len())]
        );
    }
    // What an answer says of the caller's own passes the same way.
    let snapshot = store.snapshot_for(&team_a()).unwrap();
    let mut said = serde_json::json!({"say": texts, "namespace": "ghostns"});
    snapshot.redact_own(&mut said);
    let said = said.to_string().to_ascii_lowercase();
    assert!(!said.contains("zebra") && !said.contains("ghost"), "{said}");
}

const OTHER: &str = "quokka-lab";
const POD: &str = "narwhal-7";
const JOB: &str = "walrus-train";

/// Ways to write names of others, `{o}` a namespace, `{p}` a pod and `{j}` a job in it.
const NOTATIONS: [&str; 58] = [
    "in %2Fnamespaces%2F{o}%2Fpods%2F{p}",
    "in %252Fnamespaces%252F{o}%252Fpods%252F{p}",
    "{o}%2F{p}%2fquokka%2Dlab",
    "ns {U}",
    "'{o}' [{o}] ({p}) <{p}> {p}. {p},{p}",
    "{o}:{p} {o}--{p} {o}+{p}",
    "{o}\t{p}",
    "{o}\\n{p} \\\\t{p} \\r\\n{o}",
    "{o}\n{p}",
    "{us} and narwhal_7",
    "{o}-db.example.com",
    "https://{o}.apps.example/x",
    "{o}@example.com",
    "cn={o},ou=x",
    "/{o}/{p}/",
    "{p}-main {p}_main",
    "{o}_{p}_main",
    "pod={p}&ns={o}",
    "\x1b[1m{o}\x1b[0m",
    "\x1b[1;31mpod\x1b[0m \x1b[32m{p}\x1b[0m in \x1b]0;x\x07{o}",
    "\\u001b[1m{o}\\u001b[0m \\x1b[1m{p}",
    "\\033[1m{o}\\033[0m \\e[0m{p}",
    "quokka-\u{200b}lab quokka\u{2011}lab",
    "quokka\\u002dlab \\u006earwhal-7",
    "quokka\x1b[0m-lab",
    "pvc-{o}-{p}",
    "s3://bucket/{o}/{p}.ckpt",
    "user {o}-bot",
    "job {j}",
    "{j}-0 and {j}-worker-3 and {j}-x2k9p",
    "{j}.{o}",
    "JobSet {j} preempted",
    "job-{j}-1a2b3 queued",
    "model {p}.pt",
    "image registry/{o}/x:1",
    "node had {p}; cpu",
    "Preempted by pod {p} on node n",
    "preempted by {j}",
    "preempted by pangolin",
    "JobSet pangolin failed, job/pangolin, job \"pangolin\"",
    "experiment seacow-run-9 ended",
    "namespace:{o}",
    "namespace={o}",
    "ns/{o}",
    "system:serviceaccount:{o}:default",
    "&quot;{o}&quot; namespace=&quot;{o}&quot;",
    "&#47;{o}&#x2f;{p}",
    "exceeded quota: mantarayquota in namespace {o}",
    "resourcequotas \"mantarayquota\" of namespace {o}",
    "uid-{p} and uid-{j}",
    "kubectl%20-n%20{o}%20logs%20{p}",
    "{\"namespace\":\"{o}\",\"name\":\"{p}\"}",
    "{\\\"namespace\\\":\\\"{o}\\\",\\\"job\\\":\\\"{j}\\\"}",
    "\u{ff51}uokka-lab",
    "[31m{o}[0m",
    "%1B[31m{p}%1B[0m",
    "^[[31m{o}",
    "{U}%2F{p}",
];

/// What is the caller's own, or nobody's, beside names of others.
const OWN: [&str; 15] = [
    "mine-0 of job job in team-a",
    "walrus-train-eval-0 of walrus-train-eval is mine",
    "JobSet walrus-train-eval failed, job/walrus-train-eval",
    "narwhal-7-shadow and narwhal-7-shadow-0 are mine",
    "quokka-lab-mirror is mine, %2Fpods%2Fquokka-lab-mirror",
    "exceeded quota: team-quota, requested: pods=1, used: pods=4",
    "models/big-walrus-train and walrus-train-hf-v2",
    "the worker-0 of train failed at step 7 of training",
    "\x1b[1mmine-0\x1b[0m\\tteam-a\\n%2Fpods%2Fmine-0",
    "a pangolin, a walrus, a quokka and a narwhal",
    "job worker failed, and train-1 went on",
    "C:\\new\\table 50% of [3] &amp; more",
    "shared-name-1 is a pod of both",
    "node gke-narwhal-7-a100 is narwhal-7-shadow's",
    "epoch 3: 100%|##########| 12/12 [00:07<00:00]",
];

#[test]
fn names_of_others_are_hidden_however_they_are_written_and_ones_own_are_not() {
    let (_folder, mut store) = store();
    let written = |form: &str| {
        form.replace("{o}", OTHER)
            .replace("{p}", POD)
            .replace("{j}", JOB)
            .replace("{U}", &OTHER.to_uppercase())
            .replace("{us}", "quokka_lab")
    };
    let texts: Vec<String> = NOTATIONS
        .iter()
        .chain(&OWN)
        .map(|form| written(form))
        .collect();
    let mut rows = Vec::new();
    for (name, experiment, job) in [
        (POD, "seacow-run-9", JOB),
        ("walrus-p", JOB, "pangolin"),
        ("shared-name-1", "worker", "train-1"),
    ] {
        rows.push(in_namespace(pod(name, experiment, job, START), OTHER));
    }
    for (name, experiment, job) in [
        ("mine-0", "exp", "job"),
        ("walrus-train-eval-0", "exp", "walrus-train-eval"),
        ("narwhal-7-shadow-0", "exp", "narwhal-7-shadow"),
        ("quokka-lab-mirror", "exp", "job"),
        ("shared-name-1", "exp", "job"),
    ] {
        let mut own = pod(name, experiment, job, START);
        if let Observation::Object(version) = &mut own {
            version.body.node = Some("gke-narwhal-7-a100".to_owned());
            version.key.uid = format!("uid-own-{name}");
        }
        rows.push(in_namespace(own, "team-a"));
    }
    for (number, text) in texts.iter().enumerate() {
        let mut one = event(number as u64, "mine-0", START);
        one.entities.pod_uid = Some("uid-own-mine-0".to_owned());
        one.message = Some(text.clone());
        one.raw = serde_json::json!({"message": text}).to_string();
        one.set_attribute("detail", Some(text.clone()));
        rows.push(in_namespace(reported(one), "team-a"));
    }
    import(&mut store, rows);
    let snapshot = store.snapshot_for(&team_a()).unwrap();
    let mut seen = Vec::new();
    snapshot
        .everything(None, &mut |fact| seen.push(fact), &mut |_| {})
        .unwrap();
    assert_eq!(seen.len(), texts.len());
    let fact = |number: usize| {
        let id = EventId::of(&["test", &number.to_string()]);
        seen.iter().find(|fact| fact.event.id == id).unwrap()
    };
    for (number, text) in texts.iter().enumerate() {
        let event = &fact(number).event;
        let message = event.message.as_ref().unwrap();
        let kept: serde_json::Value = serde_json::from_str(&event.raw).unwrap();
        if number >= NOTATIONS.len() {
            assert_eq!(message, text);
            assert_eq!(kept["message"], text.as_str(), "{text}");
            assert_eq!(event.attribute("detail"), Some(text.as_str()));
            continue;
        }
        for read in [
            message.as_str(),
            &event.raw,
            event.attribute("detail").unwrap(),
        ] {
            let lower = read.to_lowercase();
            for word in [
                "quokka", "narwhal", "arwhal", "walrus", "pangolin", "seacow", "manta", "uokka",
            ] {
                assert!(!lower.contains(word), "{text:?}: {read:?}");
            }
        }
    }
}
