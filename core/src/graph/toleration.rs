//! What taints a pod puts up with.

use serde_json::Value;

use whathappened_model::object::{ObjectBody, Taint};
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::Task;

/// The taints that the controller of nodes puts on one that is not ready, or does not answer.
const SILENT: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

/// Whether a pod that was gone by a time had not been on its node for as long as it puts up with one that does not answer;
/// `None` where its own spec is not known. No pod is placed on a node that is known not to answer.
#[must_use]
pub fn stands_silence(pod: &Task, at: Stamp) -> Option<bool> {
    let body = pod
        .body
        .as_ref()
        .filter(|body| body.tolerations.is_some())?;
    let all = Tolerations::of(body);
    let since = pod.bound.or(pod.created)?;
    let until = |key: &str| {
        let stands = all.stands(key)?;
        Some(since.lo.saturating_add(stands).saturating_sub(CLOCKS))
    };
    Some(
        SILENT
            .iter()
            .all(|key| until(key).is_some_and(|until| at.hi <= until)),
    )
}

/// The tolerations of a pod.
#[derive(Debug)]
pub(crate) struct Tolerations(Vec<Value>);

impl Tolerations {
    /// Those that a pod's spec, or a template's, lists.
    pub(crate) fn of(pod: &ObjectBody) -> Self {
        let text = pod.tolerations.as_deref();
        let all = text.and_then(|text| serde_json::from_str(text).ok());
        Self(all.unwrap_or_default())
    }

    /// For how long they put up with a taint that sends pods away; `None` where none of them is for it.
    pub(crate) fn stands(&self, key: &str) -> Option<Nanos> {
        let meant = self.0.iter().filter(|one| {
            let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
            let is_named = text("key").is_empty() || text("key") == key;
            is_named && matches!(text("effect"), "" | "NoExecute")
        });
        let seconds = meant.map(|one| {
            let seconds = one.get("tolerationSeconds").and_then(Value::as_i64);
            seconds.map_or(Nanos::MAX, |seconds| seconds.max(0).saturating_mul(SECOND))
        });
        // The shortest of them holds.
        seconds.min()
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

    #[test]
    fn who_was_there_for_less_than_it_tolerates_was_not_sent_away_for_silence() {
        let tolerates = |seconds: i64| {
            let one = |key: &str| serde_json::json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds });
            let mut pod = Task::new(
                crate::graph::TaskKind::Pod,
                crate::symbols::Symbol::NONE,
                crate::symbols::Symbol::NONE,
                crate::symbols::Symbol::NONE,
            );
            pod.bound = Some(Stamp::second(100 * SECOND));
            pod.body = Some(std::sync::Arc::new(ObjectBody {
                tolerations: Some(serde_json::json!(SILENT.map(one)).to_string()),
                ..ObjectBody::default()
            }));
            pod
        };
        let at = |second: Nanos| Stamp::second(second * SECOND);
        assert_eq!(stands_silence(&tolerates(300), at(117)), Some(true));
        assert_eq!(stands_silence(&tolerates(300), at(400)), Some(false));
        assert_eq!(stands_silence(&tolerates(10), at(117)), Some(false));
        let mut unknown = tolerates(300);
        unknown.body = None;
        assert_eq!(stands_silence(&unknown, at(117)), None);
    }

    #[test]
    fn tolerations_that_are_meant_for_it_count_for_as_long_as_they_last() {
        let stands = |one: Value, key: &str| {
            let body = ObjectBody {
                tolerations: Some(serde_json::json!([one]).to_string()),
                ..ObjectBody::default()
            };
            Tolerations::of(&body).stands(key)
        };
        let one = serde_json::json!({"key": "burn-in", "operator": "Exists"});
        assert_eq!(stands(one.clone(), "burn-in"), Some(Nanos::MAX));
        assert_eq!(stands(one, "other"), None);
        let effect = serde_json::json!({"key": "burn-in", "value": "1", "effect": "NoExecute"});
        assert_eq!(stands(effect, "burn-in"), Some(Nanos::MAX));
        let all = serde_json::json!({"operator": "Exists"});
        assert_eq!(stands(all, "burn-in"), Some(Nanos::MAX));
        let for_a_while =
            serde_json::json!({"key": "burn-in", "effect": "NoExecute", "tolerationSeconds": 300});
        assert_eq!(stands(for_a_while, "burn-in"), Some(300 * SECOND));
        let elsewhere = serde_json::json!({"key": "burn-in", "effect": "NoSchedule"});
        assert_eq!(stands(elsewhere, "burn-in"), None);
    }
}
