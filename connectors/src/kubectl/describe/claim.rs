//! A claim for a volume.

use serde_json::{Value, json};

use super::field;
use super::tree::Item;

/// The claim that `items` show.
pub(super) fn json(items: &[Item<'_>]) -> Value {
    let mut spec = json!({});
    field::set(
        &mut spec,
        "storageClassName",
        field::value(items, "StorageClass").map(Value::from),
    );
    field::set(
        &mut spec,
        "volumeName",
        field::value(items, "Volume").map(Value::from),
    );
    // A claim that is being deleted says so after its phase.
    let phase = field::value(items, "Status").and_then(|text| text.split_whitespace().next());
    let mut status = json!({});
    field::set(
        &mut status,
        "phase",
        phase.filter(|word| *word != "Terminating").map(Value::from),
    );
    json!({ "spec": spec, "status": status })
}
