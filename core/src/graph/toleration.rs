//! What taints a pod puts up with.

use serde_json::Value;

use whathappened_model::object::{ObjectBody, Taint};

/// The tolerations of a pod.
#[derive(Debug)]
pub(super) struct Tolerations(Vec<Value>);

impl Tolerations {
    /// Those that a pod's spec, or a template's, lists.
    pub(super) fn of(pod: &ObjectBody) -> Self {
        let text = pod.tolerations.as_deref();
        let all = text.and_then(|text| serde_json::from_str(text).ok());
        Self(all.unwrap_or_default())
    }

    /// Whether one of them is for a taint.
    pub(super) fn cover(&self, taint: &Taint) -> bool {
        self.0.iter().any(|one| {
            let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
            let any_value = text("operator") == "Exists" || text("value") == taint.value;
            (text("key").is_empty() || text("key") == taint.key && any_value)
                && (text("effect").is_empty() || text("effect") == taint.effect)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toleration_is_of_a_key_and_an_effect() {
        let pod = ObjectBody {
            tolerations: Some(
                r#"[{"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}]"#
                    .to_owned(),
            ),
            ..ObjectBody::default()
        };
        let taint = |value: &str, effect: &str| Taint {
            key: "team".to_owned(),
            value: value.to_owned(),
            effect: effect.to_owned(),
            added: None,
        };
        assert!(Tolerations::of(&pod).cover(&taint("a", "NoSchedule")));
        assert!(!Tolerations::of(&pod).cover(&taint("b", "NoSchedule")));
        assert!(!Tolerations::of(&pod).cover(&taint("a", "NoExecute")));
    }
}
