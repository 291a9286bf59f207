//! Ways to change records that exist already.

use std::fmt;

use serde_json::Value;

use super::input::{Input, Source};
use crate::observe::Recorded;
use crate::plan::{Cloud, Cluster, Load, LoadKind, LogForm, More, Observe, Plan, Policy, When};
use crate::rng::Rng;
use crate::time::{HOUR, MIN, SEC, Time};

/// A way to change them.
#[derive(Clone, Debug)]
pub enum Change {
    /// Records in another order.
    Shuffled,
    /// Records twice.
    Doubled,
    /// Without this file.
    Without(String),
    /// This file ends early.
    Cut(String),
    /// This file's times are off by 30 seconds.
    Shifted(String),
    /// Names of machines and workloads are others.
    Renamed,
    /// Beside a healthy cluster of 500 nodes.
    Noise,
    /// Its machines are tainted, drained and broken later.
    Later,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shuffled => f.write_str("shuffled"),
            Self::Doubled => f.write_str("doubled"),
            Self::Without(path) => write!(f, "without {path}"),
            Self::Cut(path) => write!(f, "cut {path}"),
            Self::Shifted(path) => write!(f, "30 s off {path}"),
            Self::Renamed => f.write_str("renamed"),
            Self::Noise => f.write_str("beside a healthy cluster"),
            Self::Later => f.write_str("later deeds"),
        }
    }
}

/// Files of one kind that are left out or cut, at most.
const MOST: usize = 12;

impl Change {
    /// All changes of an input.
    #[must_use]
    pub fn all(input: &Input, rng: &mut Rng) -> Vec<Self> {
        let mut paths: Vec<String> = input
            .files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect();
        rng.shuffle(&mut paths);
        paths.truncate(MOST);
        paths.sort();
        let mut all = vec![
            Self::Shuffled,
            Self::Doubled,
            Self::Renamed,
            Self::Noise,
            Self::Later,
        ];
        for path in paths {
            all.extend([
                Self::Without(path.clone()),
                Self::Cut(path.clone()),
                Self::Shifted(path),
            ]);
        }
        all
    }

    /// Whether there is less to go by afterwards, or a clock to doubt.
    #[must_use]
    pub fn is_less(&self) -> bool {
        matches!(self, Self::Without(_) | Self::Cut(_) | Self::Shifted(_))
    }

    /// The input, changed.
    #[must_use]
    pub fn apply(&self, input: &Input, rng: &mut Rng) -> Input {
        let mut changed = input.clone();
        match self {
            Self::Shuffled => changed
                .files
                .iter_mut()
                .for_each(|file| records(file, |lines| rng.shuffle(lines))),
            Self::Doubled => changed.files.iter_mut().for_each(|file| {
                records(file, |lines| {
                    *lines = lines
                        .iter()
                        .flat_map(|one| [one.clone(), one.clone()])
                        .collect();
                });
            }),
            Self::Without(path) => changed
                .files
                .retain(|file| file.path.display().to_string() != *path),
            Self::Cut(path) => {
                let part = usize::try_from(rng.range(15, 95)).unwrap_or(50);
                on(&mut changed, path, |file| {
                    file.text.truncate(file.text.len() * part / 100);
                });
            }
            Self::Shifted(path) => on(&mut changed, path, |file| {
                file.text = shifted(&String::from_utf8_lossy(&file.text)).into_bytes();
            }),
            Self::Renamed => {
                let names = names(input);
                for file in &mut changed.files {
                    let text = String::from_utf8_lossy(&file.text).into_owned();
                    file.text = rename(&text, &names).into_bytes();
                    file.path = rename(&file.path.display().to_string(), &names).into();
                }
            }
            Self::Noise => changed.files.extend(noise(input)),
            Self::Later => changed.files.extend(later(input)),
        }
        changed
    }

    /// What to ask for afterwards.
    #[must_use]
    pub fn rename(&self, name: &str, input: &Input) -> String {
        match self {
            Self::Renamed => rename(name, &names(input)),
            _ => name.to_owned(),
        }
    }
}

fn on(input: &mut Input, path: &str, change: impl Fn(&mut Source)) {
    input
        .files
        .iter_mut()
        .filter(|file| file.path.display().to_string() == path)
        .for_each(change);
}

/// Changes the records of a file: lines of JSON, or the items of a list. Other text has an order.
fn records(file: &mut Source, change: impl FnOnce(&mut Vec<String>)) {
    let text = String::from_utf8_lossy(&file.text).into_owned();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.len() > 1
        && lines
            .iter()
            .all(|line| line.starts_with('{') && serde_json::from_str::<Value>(line).is_ok())
    {
        let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        change(&mut lines);
        file.text = (lines.join("\n") + "\n").into_bytes();
        return;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    for list in ["items", "Records", "value"] {
        if let Some(items) = value[list].as_array() {
            let mut lines: Vec<String> = items.iter().map(Value::to_string).collect();
            change(&mut lines);
            value[list] = lines
                .iter()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .collect();
            file.text = value.to_string().into_bytes();
            return;
        }
    }
}

/// Moves every RFC 3339 time by 30 seconds.
fn shifted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(character) = rest.chars().next() else {
            break;
        };
        if let Some(stamp) = rest.get(..19).filter(|stamp| is_stamp(stamp))
            && let Some(time) = Time::parse(&format!("{stamp}Z"))
        {
            out.push_str(time.plus(30 * SEC).secs().trim_end_matches('Z'));
            at += 19;
            continue;
        }
        out.push(character);
        at += character.len_utf8();
    }
    out
}

fn is_stamp(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    })
}

/// Every object of Kubernetes in the input.
fn objects(input: &Input) -> Vec<Value> {
    let mut found = Vec::new();
    for file in &input.files {
        let text = String::from_utf8_lossy(&file.text);
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            match value["items"].as_array() {
                Some(items) => found.extend(items.iter().cloned()),
                None => found.push(value),
            }
        } else {
            for line in text
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            {
                found.push(if line["object"].is_object() {
                    line["object"].clone()
                } else {
                    line
                });
            }
        }
    }
    found.retain(|object| object["kind"].is_string() && object["metadata"]["name"].is_string());
    found
}

/// Names of machines and workloads, each with another of the same length.
fn names(input: &Input) -> Vec<(String, String)> {
    let mut names: Vec<String> = objects(input)
        .iter()
        .filter(|object| {
            matches!(
                object["kind"].as_str(),
                Some("Node" | "Job" | "JobSet" | "Deployment" | "StatefulSet" | "PyTorchJob")
            )
        })
        .filter_map(|object| object["metadata"]["name"].as_str())
        // A short word stands in other texts as well.
        .filter(|name| name.len() > 5 && name.contains('-'))
        .map(str::to_owned)
        .collect();
    names.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    names.dedup();
    names
        .into_iter()
        .map(|name| (name.clone(), turned(&name)))
        .collect()
}

fn turned(name: &str) -> String {
    name.bytes()
        .map(|byte| {
            char::from(if byte.is_ascii_lowercase() {
                b'a' + (byte - b'a' + 13) % 26
            } else {
                byte
            })
        })
        .collect()
}

fn rename(text: &str, names: &[(String, String)]) -> String {
    names
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The latest time that stands in the input.
fn newest(input: &Input) -> Option<Time> {
    let mut newest = None;
    for file in &input.files {
        let text = String::from_utf8_lossy(&file.text);
        let bytes = text.as_bytes();
        for at in 0..bytes.len().saturating_sub(19) {
            if bytes.get(at + 10) == Some(&b'T')
                && let Some(stamp) = text.get(at..at + 19).filter(|stamp| is_stamp(stamp))
            {
                newest = newest.max(Time::parse(&format!("{stamp}Z")));
            }
        }
    }
    newest
}

/// What a healthy cluster of 500 nodes wrote in the same hour.
fn noise(input: &Input) -> Vec<Source> {
    let Some(end) = newest(input) else {
        return Vec::new();
    };
    let load = |at: usize| Load {
        kind: if at.is_multiple_of(3) {
            LoadKind::Deployment
        } else {
            LoadKind::Job
        },
        namespace: "healthy".to_owned(),
        name: format!("steady-{at}"),
        label: None,
        owner: "grace@lab.example".to_owned(),
        size: 4,
        gpus: 8,
        at: 10 * SEC,
        trains: at.is_multiple_of(2).then_some(20 * MIN),
        retries: 0,
        restarts: false,
        nccl_s: 600,
        resets: true,
        obeys: true,
        deadline_s: None,
        priority: None,
        gang: !at.is_multiple_of(3),
    };
    let observe = Observe {
        when: When::JustAfter,
        watches: false,
        audit: Policy::None,
        logs: LogForm::None,
        ..Observe::all()
    };
    let plan = Plan {
        seed: 500,
        start: end.plus(-HOUR),
        cluster: Cluster {
            cloud: Cloud::OnPrem,
            nodes: 500,
            gpus: 8,
            spot: false,
            grace_s: 40,
            bear_s: 300,
            minor: 34,
        },
        loads: (0..24).map(load).collect(),
        faults: Vec::new(),
        deeds: Vec::new(),
        observe,
        more: More::default(),
    };
    let mut case = crate::case::play(&plan);
    case.now = case.now.min(end);
    let Recorded { files, .. } = crate::observe::record(&case, &plan.observe);
    files
        .into_iter()
        .map(|file| Source {
            path: format!("input/healthy/{}", file.path).into(),
            text: file.content().0.into_bytes(),
        })
        .collect()
}

/// Each machine is tainted, and a GPU of it breaks, half an hour after everything.
fn later(input: &Input) -> Vec<Source> {
    let Some(end) = newest(input) else {
        return Vec::new();
    };
    let mut nodes: Vec<Value> = objects(input)
        .into_iter()
        .filter(|object| object["kind"] == "Node")
        .collect();
    nodes.sort_by_key(|node| node["metadata"]["name"].as_str().unwrap_or("").to_owned());
    nodes.dedup_by_key(|node| node["metadata"]["name"].as_str().unwrap_or("").to_owned());
    let time = end.plus(30 * MIN);
    let mut lines = Vec::new();
    let mut files = Vec::new();
    for mut node in nodes.into_iter().take(20) {
        let name = node["metadata"]["name"].as_str().unwrap_or("").to_owned();
        node["metadata"]["resourceVersion"] = Value::from("99999999");
        node["spec"]["taints"] = serde_json::json!([{"key": "lab.example/quarantine", "value": "later", "effect": "NoExecute", "timeAdded": time.secs()}]);
        lines.push(serde_json::json!({"type": "MODIFIED", "object": node}).to_string());
        let text = format!(
            "{} {name} kernel: [812345.123456] NVRM: Xid (PCI:0000:18:00): 79, pid=4711, name=nvidia-smi, GPU has fallen off the bus.\n",
            time.plus(5 * MIN).format("%Y-%m-%dT%H:%M:%S%.6f%:z", 0)
        );
        files.push(Source {
            path: format!("input/later/nodes/{name}/syslog").into(),
            text: text.into_bytes(),
        });
    }
    if !lines.is_empty() {
        files.push(Source {
            path: "input/later/watch-nodes.ndjson".into(),
            text: (lines.join("\n") + "\n").into_bytes(),
        });
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_and_nothing_else() {
        assert_eq!(
            shifted("a 2026-01-01T00:00:45.5Z ü 12:00"),
            "a 2026-01-01T00:01:15.5Z ü 12:00"
        );
    }

    #[test]
    fn lists_and_lines_are_changed_and_text_is_not() {
        let change = |text: &str| {
            let mut file = Source {
                path: "x".into(),
                text: text.as_bytes().to_vec(),
            };
            records(&mut file, |lines| lines.reverse());
            String::from_utf8(file.text).unwrap()
        };
        assert_eq!(change("{\"a\":1}\n{\"a\":2}\n"), "{\"a\":2}\n{\"a\":1}\n");
        assert_eq!(change("{\"items\":[1,2]}"), "{\"items\":[2,1]}");
        assert_eq!(change("one\ntwo\n"), "one\ntwo\n");
    }
}
