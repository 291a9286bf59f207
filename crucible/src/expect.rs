//! What is right for a case, in the form in which the project's own cases say it.

use serde_json::{Value, json};

use crate::truth::{Run, Truth};

/// `expect.json` of a case.
#[must_use]
pub fn of(truth: &Truth) -> Value {
    let mut experiments = serde_json::Map::new();
    for run in &truth.runs {
        experiments.insert(run.ask(), one(run));
    }
    json!({"recorded_from": format!("the crucible, seed {}", truth.seed), "experiments": experiments})
}

fn one(run: &Run) -> Value {
    let mut right: Vec<&str> = run.right();
    if right.is_empty() {
        right = run.chain().into_iter().collect();
        right.push("unknown");
    }
    let mut value = json!({"cause": right});
    if run.is_broken() {
        if let [only] = run.first.as_slice() {
            value["first_victim"] = json!(only);
        }
        value["story"] = json!(
            run.layers
                .iter()
                .map(|layer| layer.what.as_str())
                .collect::<Vec<_>>()
                .join("; then ")
        );
    }
    value
}
