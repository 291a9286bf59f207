//! The bundled cluster: eight experiments, one recording.

use serde_json::Value;

use crate::whathappened;

const INPUT: &str = "fixtures/lab-cluster/input";
const LOKI: &str = "fixtures/lab-cluster/loki";

/// The answer as JSON, and its bytes.
pub(crate) fn ask(name: &str, from: &[&str]) -> (Value, String) {
    let mut args = vec![name, "--quiet", "--format", "json"];
    for path in from {
        args.extend(["--from", path]);
    }
    let (code, out, err) = whathappened(&args);
    assert_eq!(code, Some(0), "{name}: {err}");
    (serde_json::from_str(&out).unwrap(), out)
}

fn expected() -> Value {
    let text = std::fs::read_to_string("fixtures/lab-cluster/expect.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["experiments"].clone()
}

fn names(value: &Value) -> Vec<String> {
    let mut names: Vec<String> = value
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| item["pod"].as_str().or(item.as_str()).unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Everything that `expect.json` says of an experiment.
fn judge(name: &str, wanted: &Value, from: &[&str]) {
    let (answer, _) = ask(name, from);
    let main = &answer["incidents"][0];
    let one_of = |list: &Value, got: &Value| list.as_array().unwrap().contains(got);
    assert!(
        one_of(&wanted["cause"], &main["cause"]),
        "{name}: {}",
        main["cause"]
    );
    if wanted["actor"].is_array() {
        assert!(
            one_of(&wanted["actor"], &main["actor"]["name"]),
            "{name}: {}",
            main["actor"]
        );
    }
    if wanted["first_victim"].is_string() {
        assert_eq!(
            main["first_victim"]["pod"], wanted["first_victim"],
            "{name}"
        );
    }
    for group in ["victims", "collateral"] {
        if wanted[group].is_array() {
            assert_eq!(
                names(&main[group]),
                names(&wanted[group]),
                "{name}: {group}"
            );
        }
    }
    if let Some(preemptor) = wanted["preemptor"].as_str() {
        assert!(
            main["summary"].as_str().unwrap().contains(preemptor),
            "{name}"
        );
    }
    for incident in answer["incidents"].as_array().unwrap() {
        let blamed = wanted["must_not"]
            .as_array()
            .is_some_and(|list| list.contains(&incident["cause"]));
        assert!(!blamed, "{name}: {}", incident["cause"]);
    }
}

#[test]
fn every_experiment_gets_its_cause_victims_and_actor() {
    for (name, wanted) in expected().as_object().unwrap() {
        judge(name, wanted, &[INPUT, LOKI]);
    }
}

#[test]
fn the_audit_log_alone_is_enough() {
    let audit = format!("{INPUT}/audit.log.gz");
    for (name, wanted) in expected().as_object().unwrap() {
        judge(name, wanted, &[&audit]);
    }
}

#[test]
fn without_the_audit_log_the_unseen_is_called_unseen() {
    let files: Vec<String> = std::fs::read_dir(INPUT)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| !path.contains("audit"))
        .collect();
    let mut from: Vec<&str> = files.iter().map(String::as_str).collect();
    from.push(LOKI);
    for (name, wanted) in expected().as_object().unwrap() {
        let (answer, _) = ask(name, &from);
        let main = &answer["incidents"][0];
        assert!(
            wanted["cause"].as_array().unwrap().contains(&main["cause"]),
            "{name}: {}",
            main["cause"]
        );
        let missing = answer["coverage"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["resource"] == "audit")
            .unwrap();
        assert_eq!(missing["status"], "not_configured");
        assert!(
            missing["would_have_shown"]
                .as_str()
                .unwrap()
                .contains("who deleted")
        );
    }
    let level = |name: &str, from: &[&str]| {
        ask(name, from).0["incidents"][0]["level"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (name, with, without) in [
        ("atari-dqn-42", "established", "supported"),
        ("rlhf-prod-eval", "established", "hypothesis"),
    ] {
        assert_eq!(level(name, &[INPUT, LOKI]), with);
        assert_eq!(level(name, &from), without);
        let (answer, _) = ask(name, &from);
        assert_eq!(answer["incidents"][0]["actor"], Value::Null, "{name}");
        assert_eq!(answer["incidents"][0]["actor_unseen"], true, "{name}");
    }
}

#[test]
fn the_same_input_in_any_order_or_twice_gives_the_same_bytes() {
    let mut files: Vec<String> = [INPUT, LOKI]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    files.sort();
    let forward: Vec<&str> = files.iter().map(String::as_str).collect();
    let backward: Vec<&str> = forward.iter().rev().copied().collect();
    let twice: Vec<&str> = forward.iter().chain(&forward).copied().collect();
    for name in ["gpt2-small-7f3", "imagenet-resnet-88", "*"] {
        let (_, first) = ask(name, &forward);
        for _ in 0..3 {
            assert_eq!(ask(name, &forward).1, first, "{name}");
        }
        assert_eq!(ask(name, &backward).1, first, "{name}: another order");
        assert_eq!(ask(name, &twice).1, first, "{name}: twice");
    }
}

#[test]
fn the_traceback_is_in_the_answer() {
    let (answer, _) = ask("sparse-transformer-9", &[INPUT, LOKI]);
    let summary = answer["incidents"][0]["summary"].as_str().unwrap();
    assert!(
        summary.contains("ValueError") && summary.contains("train.py:287"),
        "{summary}"
    );
}

#[test]
fn a_truncated_audit_log_lowers_what_it_could_overturn() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(INPUT).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        if path.ends_with("audit.log.gz") {
            bytes.truncate(60_000);
        }
        std::fs::write(folder.path().join(path.file_name().unwrap()), bytes).unwrap();
    }
    let (answer, _) = ask("atari-dqn-42", &[folder.path().to_str().unwrap()]);
    let main = &answer["incidents"][0];
    assert_eq!(
        (&main["cause"], &main["level"]),
        (&"ops.node_drained".into(), &"supported".into())
    );
    let truncated: Vec<&Value> = answer["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["status"] == "truncated")
        .collect();
    assert_eq!(truncated.len(), 1);
    assert_eq!(truncated[0]["source"], "kubernetes_audit");
}

#[test]
fn who_deletes_by_force_what_a_silent_machine_had_is_a_hypothesis_at_most() {
    let input = "fixtures/lab-silent-then-forced/input";
    let (answer, text) = ask("lost-forced", &[input]);
    let main = &answer["incidents"][0];
    assert!(
        main["level"] != "established" && main["level"] != "supported",
        "{}",
        main["summary"]
    );
    assert!(!text.contains("there is no sign of a fault"));
}
