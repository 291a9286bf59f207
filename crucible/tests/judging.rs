//! A wrong answer is caught, and a failing case is made smaller.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use whathappened_crucible::judge::{Answer, Reply, Verdict, check, judge};
use whathappened_crucible::plan::{Fault, draw};
use whathappened_crucible::run::{Options, run};
use whathappened_crucible::shrink::shrink;
use whathappened_crucible::time::{SEC, Time};
use whathappened_crucible::truth::{Layer, Run, Seen, Truth};

const DIED: &str = "2026-03-01T10:00:00Z";

fn drained() -> Run {
    let died = Time::parse(DIED).unwrap();
    Run {
        kind: "Job".to_owned(),
        namespace: "research".to_owned(),
        name: "moe-8b".to_owned(),
        uid: "u-1".to_owned(),
        state: "failed".to_owned(),
        layers: vec![
            Layer {
                what: "the pool is upgraded".to_owned(),
                time: died.plus(-60 * SEC),
                causes: vec!["ops.node_upgrade".to_owned()],
                seen: Seen::Named,
                told_by: Vec::new(),
                act: None,
            },
            Layer {
                what: "the node is drained".to_owned(),
                time: died,
                causes: vec!["ops.node_drained".to_owned()],
                seen: Seen::Named,
                told_by: Vec::new(),
                act: None,
            },
        ],
        actors: vec!["carol@lab.example".to_owned()],
        actor_written: true,
        first: vec!["moe-8b-0-aaaaa".to_owned()],
        victims: vec!["moe-8b-0-aaaaa".to_owned()],
        collateral: vec!["moe-8b-1-bbbbb".to_owned()],
        died: Some(died),
        death_seen: Seen::Named,
        seen: true,
        uids: vec!["u-1".to_owned(), "p-0".to_owned()],
        ended: vec![("moe-8b-0-aaaaa".to_owned(), died)],
        ..Run::blank()
    }
}

fn answer(main: &Value) -> Answer {
    let mut incident = json!({"run_id": "u-1", "role": "main", "first_victim": {"pod": "moe-8b-0-aaaaa", "time": DIED, "time_hi": DIED},
        "victims": [{"pod": "moe-8b-0-aaaaa", "time": DIED}], "collateral": [{"pod": "moe-8b-1-bbbbb", "time": DIED}]});
    for (name, value) in main.as_object().unwrap() {
        incident[name.as_str()] = value.clone();
    }
    serde_json::from_value(json!({"runs": [], "incidents": [incident]})).unwrap()
}

fn verdict(main: &Value) -> Verdict {
    judge(&drained(), &Reply::Answer(Box::new(answer(main)))).verdict
}

fn letters(main: &Value) -> String {
    let truth = Truth {
        seed: 1,
        now: Time(0),
        fault: String::new(),
        observers: String::new(),
        runs: vec![drained()],
        bystanders: 0,
    };
    check(&truth, &drained(), &answer(main), 0)
        .iter()
        .map(|one| one.which)
        .collect()
}

#[test]
fn causes_are_judged_by_the_true_chain() {
    assert_eq!(
        verdict(&json!({"cause": "ops.node_upgrade", "level": "established"})),
        Verdict::Right
    );
    assert_eq!(
        verdict(&json!({"cause": "ops.node_drained", "level": "established"})),
        Verdict::Downstream
    );
    assert_eq!(
        verdict(&json!({"cause": "hw.gpu", "level": "supported"})),
        Verdict::FalseBlame
    );
    assert_eq!(
        verdict(&json!({"cause": "hw.gpu", "level": "hypothesis"})),
        Verdict::Wrong
    );
    assert_eq!(
        verdict(&json!({"cause": "unknown", "level": "unknown"})),
        Verdict::Unknown
    );
    assert_eq!(
        verdict(&json!({"cause": "none.running", "level": "established"})),
        Verdict::FalseFine
    );
}

#[test]
fn what_an_earlier_run_ended_of_is_no_answer_about_the_one_that_was_asked_for() {
    let of = |id: &str| json!({"cause": "hw.gpu", "level": "supported", "role": "earlier", "run_id": id});
    let run = Run {
        before: vec!["hw.gpu".to_owned()],
        ..drained()
    };
    let reply = Reply::Answer(Box::new(answer(&of("u-0"))));
    assert_eq!(judge(&run, &reply).verdict, Verdict::NoAnswer);
    assert_eq!(letters(&of("u-0")), "");
    // What no earlier run ended of is blamed falsely, and the run's own end is no earlier one's.
    assert_eq!(verdict(&of("u-0")), Verdict::FalseBlame);
    assert_eq!(verdict(&of("u-1")), Verdict::FalseBlame);
}

#[test]
fn details_are_judged_where_the_cause_is_right() {
    let right = judge(
        &drained(),
        &Reply::Answer(Box::new(answer(
            &json!({"cause": "ops.node_upgrade", "level": "supported", "actor": {"name": "carol@lab.example"}}),
        ))),
    );
    assert_eq!(
        (right.first, right.victims, right.collateral, right.actor),
        (Some(true), Some(true), Some(true), Some(true))
    );
    let wrong = judge(
        &drained(),
        &Reply::Answer(Box::new(answer(
            &json!({"cause": "ops.node_upgrade", "level": "supported", "first_victim": {"pod": "moe-8b-1-bbbbb"}, "victims": []}),
        ))),
    );
    assert_eq!(
        (wrong.first, wrong.victims, wrong.actor),
        (Some(false), Some(false), Some(false))
    );
}

#[test]
fn broken_invariants_are_found() {
    let late = json!([{"role": "cause", "time": "2026-03-01T10:43:00Z", "text": "taint"}]);
    assert_eq!(
        letters(&json!({"cause": "ops.node_upgrade", "level": "supported", "chain": late})),
        "a"
    );
    assert_eq!(
        letters(
            &json!({"cause": "ops.node_upgrade", "level": "supported", "victims": [{"pod": "moe-8b-0-aaaaa", "time": "2026-03-01T10:43:00Z"}]})
        ),
        "b"
    );
    let hop = json!([{"role": "cause"}, {"role": "death", "edge": "inferred"}]);
    assert_eq!(
        letters(&json!({"cause": "ops.node_upgrade", "level": "established", "chain": hop})),
        "c"
    );
    assert_eq!(
        letters(&json!({"cause": "ops.node_upgrade", "level": "supported", "run_id": "u-9"})),
        "d"
    );
    assert_eq!(
        letters(&json!({"cause": "none.completed", "level": "established"})),
        "h"
    );
    let fine = json!([{"role": "cause", "time": "2026-03-01T09:59:00Z"}, {"role": "mechanism", "time": DIED, "edge": "asserted"}, {"role": "death", "time": DIED, "edge": "asserted"}]);
    assert_eq!(
        letters(&json!({"cause": "ops.node_upgrade", "level": "established", "chain": fine})),
        ""
    );
}

/// A tool that always says the same.
fn liar(folder: &Path) -> PathBuf {
    let path = folder.join("liar");
    let incident = json!({"incidents": [{"cause": "hw.thermal", "level": "established"}]});
    std::fs::write(
        &path,
        format!("#!/bin/sh\n[ \"$1\" = batch ] && exit 1\necho '{incident}'\n"),
    )
    .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_liar_is_caught_and_its_case_made_small() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        tool: liar(folder.path()),
        seeds: (20..32).collect(),
        jobs: 2,
        one_shot: true,
        keep: None,
        scratch: folder.path().join("scratch"),
        perturb: false,
        times: false,
    };
    let rows = run(&options);
    assert!(
        rows.iter()
            .any(|row| row.judged.verdict == Verdict::FalseBlame)
    );
    assert!(rows.is_sorted_by_key(|row| row.seed));
    let seed = (165..500)
        .find(|&seed| {
            draw(seed)
                .faults
                .first()
                .is_some_and(|one| one.fault == Fault::Exception)
        })
        .unwrap();
    let to = folder.path().join("small");
    let story = shrink(&draw(seed), &options, &to).unwrap();
    assert!(story.contains("hw.thermal"));
    let left: Vec<_> = std::fs::read_dir(to.join("input")).unwrap().collect();
    assert!(
        (1..=2).contains(&left.len()),
        "what tells of the cause is enough for a liar"
    );
    assert!(to.join("expect.json").is_file() && to.join("truth.json").is_file());
}

#[test]
fn the_return_of_a_machine_is_a_witness_of_its_loss_only() {
    let back = json!({"cause": "node.reboot", "level": "supported", "chain": [
        {"time": "2026-03-01T10:05:00Z", "role": "cause", "text": "Rebooted: Node n-1 has been rebooted, boot id: 1", "edge": null}]});
    // This run was drained: its machine went down later.
    assert_eq!(letters(&back), "a");
    let mut lost = drained();
    lost.layers.push(Layer {
        what: "the node stopped responding".to_owned(),
        time: Time::parse(DIED).unwrap(),
        causes: vec!["node.reboot".to_owned()],
        seen: Seen::Named,
        told_by: Vec::new(),
        act: None,
    });
    let truth = Truth {
        seed: 1,
        now: Time(0),
        fault: String::new(),
        observers: String::new(),
        runs: vec![lost.clone()],
        bystanders: 0,
    };
    assert_eq!(check(&truth, &lost, &answer(&back), 0), Vec::new());
}

/// A tool that says something else each time.
fn turncoat(folder: &Path) -> PathBuf {
    let path = folder.join("turncoat");
    let said = |cause: &str| json!({"incidents": [{"cause": cause, "level": "supported"}]});
    let (one, other) = (said("hw.thermal"), said("hw.disk"));
    let flag = folder.join("flag");
    let flag = flag.display();
    std::fs::write(
        &path,
        format!(
            "#!/bin/sh\n[ \"$1\" = batch ] && exit 1\n[ \"$1\" = import ] && exit 0\nif [ -e {flag} ]; then rm {flag}; echo '{one}'; else touch {flag}; echo '{other}'; fi\n"
        ),
    )
    .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn who_names_another_cause_each_time_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        tool: turncoat(folder.path()),
        seeds: (20..40).collect(),
        jobs: 1,
        one_shot: true,
        keep: None,
        scratch: folder.path().join("scratch"),
        perturb: false,
        times: true,
    };
    let rows = run(&options);
    let times: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row.variant.as_str()).collect();
    assert_eq!(
        times.into_iter().collect::<Vec<_>>(),
        [
            "during",
            "events-gone",
            "from-a-store",
            "just-after",
            "later-deeds"
        ]
    );
    let caught = |letter| {
        let broken = rows.iter().flat_map(|row| &row.broken);
        broken.filter(|one| one.which == letter).count()
    };
    assert!(
        caught('i') > 5 && caught('k') > 0,
        "{} {}",
        caught('i'),
        caught('k')
    );
    let honest = run(&Options {
        tool: liar(folder.path()),
        ..options
    });
    let broken = honest.iter().flat_map(|row| &row.broken);
    assert_eq!(
        broken
            .filter(|one| matches!(one.which, 'i' | 'j' | 'k'))
            .count(),
        0
    );
}
