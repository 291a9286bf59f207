//! What no answer may say, over every case there is: `ARCHITECTURE.md` numbers these.
//!
//! Every case of `fixtures/` and of `../shared/incidents` is asked through `batch`, as it
//! stands and with its files in another order, doubled, and one left out.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Most files of a case of which each is left out in turn.
const MANY: usize = 9;

/// What is asked of one case.
struct Question {
    input: PathBuf,
    name: String,
    /// Causes that would be false blame.
    must_not: Vec<String>,
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn questions() -> Vec<Question> {
    let root = Path::new(".");
    let folders = [root.join("fixtures"), root.join("../shared/incidents")];
    let mut found = Vec::new();
    for folder in folders {
        let Ok(cases) = std::fs::read_dir(&folder) else {
            whathappened_loopback::skipped("no ../shared");
            continue;
        };
        let mut cases: Vec<PathBuf> = cases.map(|case| case.unwrap().path()).collect();
        cases.sort();
        for case in cases {
            let Ok(text) = std::fs::read_to_string(case.join("expect.json")) else {
                continue;
            };
            let expect: Value = serde_json::from_str(&text).unwrap();
            let mut ask = |name: &str, of: &Value| {
                found.push(Question {
                    input: case.join("input"),
                    name: name.to_owned(),
                    must_not: texts(&of["must_not"]),
                });
            };
            match expect["experiments"].as_object() {
                Some(experiments) => {
                    for (name, of) in experiments {
                        ask(name, of);
                    }
                }
                None => match expect["level"].as_str() {
                    Some("record" | "cluster") => ask("*", &expect),
                    _ => ask(expect["object"].as_str().unwrap(), &expect),
                },
            }
        }
    }
    found
}

/// The files of a case, in order of their names.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Asks many questions in one process: the answers, in order.
fn answers(requests: &[(Vec<String>, String)]) -> Vec<Value> {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .arg("batch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = String::new();
    for (number, (from, name)) in requests.iter().enumerate() {
        let request = json!({ "id": number.to_string(), "from": from, "name": name });
        lines.push_str(&format!("{request}\n"));
    }
    let mut stdin = tool.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = tool.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(found.len(), requests.len());
    found
}

fn incidents(reply: &Value) -> &[Value] {
    reply["answer"]["incidents"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn seconds(value: &Value) -> Option<i64> {
    let time = chrono::DateTime::parse_from_rfc3339(value.as_str()?).ok()?;
    Some(time.timestamp())
}

/// What breaks an invariant in one incident.
fn broken(incident: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let chain = incident["chain"].as_array().unwrap();
    let established = text(incident, "level") == "established";
    let death = incident["first_victims"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|victim| seconds(&victim["time_hi"]))
        .max();
    let ended = incident["first_victim"]["how"].as_str().is_some_and(|how| {
        how.starts_with("was ") || how.starts_with("ended ") || how.starts_with("ran past")
    });
    for (number, link) in chain.iter().enumerate() {
        let (role, edge) = (text(link, "role"), text(link, "edge"));
        // 1: five seconds of clocks, and what is reported late by at most a quarter of an hour.
        if let (true, "cause" | "mechanism", Some(time), Some(death)) =
            (ended, role, seconds(&link["time"]), death)
            && time > death + 905
        {
            found.push(format!("{role} {}s after the death", time - death));
        }
        // 8
        if established && matches!(role, "mechanism" | "death") && number > 0 {
            let guessed = matches!(edge, "inferred" | "guess");
            if guessed {
                found.push(format!("established, and the {role} is {edge}"));
            }
        }
    }
    // 9
    if established && text(incident, "cause") == "unknown" {
        found.push("unknown is established".to_owned());
    }
    found
}

/// The verdicts of an answer, without what differs when files are doubled.
fn verdicts(reply: &Value) -> Vec<Value> {
    let keys = [
        "cause",
        "level",
        "actor",
        "role",
        "run_id",
        "time",
        "victims",
        "collateral",
    ];
    incidents(reply)
        .iter()
        .map(|one| keys.iter().map(|key| one[*key].clone()).collect())
        .collect()
}

#[test]
fn no_answer_breaks_an_invariant() {
    let questions = questions();
    let requests: Vec<(Vec<String>, String)> = questions
        .iter()
        .map(|one| (vec![one.input.display().to_string()], one.name.clone()))
        .collect();
    let mut wrong = Vec::new();
    for (question, reply) in questions.iter().zip(answers(&requests)) {
        for incident in incidents(&reply) {
            for why in broken(incident) {
                wrong.push(format!(
                    "{} {}: {}: {why}",
                    question.input.display(),
                    question.name,
                    text(incident, "cause")
                ));
            }
        }
    }
    assert!(questions.len() > 100, "{}", questions.len());
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_order_of_files_and_copies_of_them_change_no_verdict() {
    let questions = questions();
    let mut requests = Vec::new();
    for one in &questions {
        let plain = files(&one.input);
        let mut other: Vec<String> = plain.iter().rev().cloned().collect();
        other.extend(plain.first().cloned());
        requests.push((plain, one.name.clone()));
        requests.push((other, one.name.clone()));
    }
    let replies = answers(&requests);
    for (question, pair) in questions.iter().zip(replies.chunks(2)) {
        assert_eq!(
            verdicts(&pair[0]),
            verdicts(&pair[1]),
            "{} {}",
            question.input.display(),
            question.name
        );
    }
}

#[test]
fn less_evidence_blames_nobody_falsely() {
    let questions = questions();
    let whole: Vec<(Vec<String>, String)> = questions
        .iter()
        .map(|one| (vec![one.input.display().to_string()], one.name.clone()))
        .collect();
    // What is a step on the way of the whole story may lead where its beginning is not seen.
    let steps: Vec<Vec<String>> = answers(&whole)
        .iter()
        .map(|reply| {
            let of = incidents(reply).iter().map(|one| &one["alternatives"]);
            let rest = of.filter_map(Value::as_array).flatten();
            let mut steps: Vec<String> = rest.map(|one| text(one, "cause").to_owned()).collect();
            // A machine whose host failed did stop answering.
            let of_chain = incidents(reply).iter().map(|one| &one["evidence"]);
            let mut records = of_chain.filter_map(Value::as_array).flatten();
            if records.any(|one| texts(&one["signals"]).contains(&"k8s.node.not_ready".to_owned()))
            {
                steps.push("node.not_ready".to_owned());
            }
            steps
        })
        .collect();
    let mut requests = Vec::new();
    let mut of: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for (number, one) in questions.iter().enumerate() {
        let files = files(&one.input);
        // A folder of many files has many of one kind.
        if files.len() > MANY {
            continue;
        }
        for left_out in &files {
            let rest: Vec<String> = files
                .iter()
                .filter(|file| *file != left_out)
                .cloned()
                .collect();
            if !rest.is_empty() {
                of.insert(requests.len(), (number, left_out.clone()));
                requests.push((rest, one.name.clone()));
            }
        }
    }
    let mut blamed = Vec::new();
    for (number, reply) in answers(&requests).iter().enumerate() {
        let (question, left_out) = &of[&number];
        let must_not: Vec<&String> = questions[*question]
            .must_not
            .iter()
            .filter(|cause| !steps[*question].contains(cause))
            .collect();
        for incident in incidents(reply) {
            let established = text(incident, "level") == "established";
            let cause = text(incident, "cause");
            if established
                && must_not.iter().any(|one| *one == cause)
                && !cause.starts_with("none.")
            {
                blamed.push(format!(
                    "{} without {left_out}: {cause}",
                    questions[*question].name
                ));
            }
        }
    }
    assert_eq!(blamed, Vec::<String>::new());
}
