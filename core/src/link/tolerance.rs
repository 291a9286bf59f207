//! Taints that a pod stands: they send it nowhere.

use serde_json::Value;

use crate::graph::{EntityGraph, Fact, Task};

/// What a pod tolerates for as long as it likes, of taints that send pods away.
pub(super) struct Tolerance {
    /// Keys of taints; `None` stands for all.
    keys: Vec<Option<String>>,
}

impl Tolerance {
    pub(super) fn of(graph: &EntityGraph, pod: &Task) -> Self {
        let body = graph.template(pod);
        let text = body.and_then(|body| body.tolerations.as_deref());
        let all = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let all = all.as_ref().and_then(Value::as_array);
        let keys = all.into_iter().flatten().filter_map(key).collect();
        Self { keys }
    }

    /// Whether a fact is a taint that the pod stands.
    pub(super) fn covers(&self, graph: &EntityGraph, fact: &Fact) -> bool {
        if self.keys.is_empty() || !graph.name(fact.signal).starts_with("k8s.node.tainted") {
            return false;
        }
        // A request names all taints that are to be there, of which only one is new.
        let row = graph.evidence.rows().get(fact.row);
        let kind = row.map(|row| graph.evidence.symbols.name(row.fact));
        let taint = graph.name(fact.detail);
        kind == Some("k8s.node.taint")
            && self
                .keys
                .iter()
                .any(|key| key.as_deref().is_none_or(|key| key == taint))
    }
}

/// The key of a toleration that has no end and is for taints that send pods away.
fn key(toleration: &Value) -> Option<Option<String>> {
    let text = |name: &str| toleration.get(name).and_then(Value::as_str);
    let effect = text("effect").unwrap_or_default();
    let lasts = toleration
        .get("tolerationSeconds")
        .is_none_or(Value::is_null);
    let is_meant = lasts && (effect.is_empty() || effect == "NoExecute");
    is_meant.then(|| text("key").filter(|key| !key.is_empty()).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::key;

    #[test]
    fn only_tolerations_without_end_that_are_meant_for_it_count() {
        let burn_in = Some(Some("burn-in".to_owned()));
        assert_eq!(
            key(&json!({"key": "burn-in", "operator": "Exists"})),
            burn_in
        );
        let effect = json!({"key": "burn-in", "value": "1", "effect": "NoExecute"});
        assert_eq!(key(&effect), burn_in);
        assert_eq!(key(&json!({"operator": "Exists"})), Some(None));
        let for_a_while =
            json!({"key": "burn-in", "effect": "NoExecute", "tolerationSeconds": 300});
        assert_eq!(key(&for_a_while), None);
        assert_eq!(
            key(&json!({"key": "burn-in", "effect": "NoSchedule"})),
            None
        );
    }
}
