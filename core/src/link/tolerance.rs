//! Taints that a pod stands: they send it nowhere.

use serde_json::Value;
use whathappened_model::time::{Nanos, SECOND};

use crate::death::Death;
use crate::graph::{EntityGraph, Fact, Task};

/// Clocks are granted as much.
const CLOCKS: Nanos = 5 * SECOND;

/// What a pod tolerates, of taints that send pods away.
pub(super) struct Tolerance {
    all: Vec<Tolerated>,
}

/// One toleration.
#[derive(Debug, PartialEq, Eq)]
struct Tolerated {
    /// The taint's key; `None` stands for all.
    key: Option<String>,
    /// For how long; `None` stands for as long as it likes.
    lasts: Option<Nanos>,
}

impl Tolerance {
    pub(super) fn of(graph: &EntityGraph, pod: &Task) -> Self {
        let body = graph.template(pod);
        let text = body.and_then(|body| body.tolerations.as_deref());
        let all = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let all = all.as_ref().and_then(Value::as_array);
        let all = all.into_iter().flatten().filter_map(tolerated).collect();
        Self { all }
    }

    /// Whether a fact is a taint that the pod still stood when it ended.
    pub(super) fn covers(&self, graph: &EntityGraph, fact: &Fact, death: &Death) -> bool {
        if self.all.is_empty() || !graph.name(fact.signal).starts_with("k8s.node.tainted") {
            return false;
        }
        // A request names all taints that are to be there, of which only one is new.
        let row = graph.evidence.rows().get(fact.row);
        let kind = row.map(|row| graph.evidence.symbols.name(row.fact));
        let taint = graph.name(fact.detail);
        if kind != Some("k8s.node.taint") {
            return false;
        }
        let meant = |one: &&Tolerated| one.key.as_deref().is_none_or(|key| key == taint);
        // The shortest that is meant holds.
        let meant = self.all.iter().filter(meant);
        let lasts = meant.map(|one| one.lasts.unwrap_or(Nanos::MAX)).min();
        let granted = death.time.hi.saturating_add(CLOCKS);
        lasts.is_some_and(|lasts| fact.time.lo.saturating_add(lasts) > granted)
    }
}

/// A toleration that is for taints that send pods away.
fn tolerated(toleration: &Value) -> Option<Tolerated> {
    let text = |name: &str| toleration.get(name).and_then(Value::as_str);
    let effect = text("effect").unwrap_or_default();
    let seconds = toleration.get("tolerationSeconds").and_then(Value::as_i64);
    let is_meant = effect.is_empty() || effect == "NoExecute";
    is_meant.then(|| Tolerated {
        key: text("key").filter(|key| !key.is_empty()).map(str::to_owned),
        lasts: seconds.map(|seconds| seconds.max(0).saturating_mul(SECOND)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tolerations_that_are_meant_for_it_count_for_as_long_as_they_last() {
        let of = |key: Option<&str>, lasts: Option<Nanos>| {
            Some(Tolerated {
                key: key.map(str::to_owned),
                lasts,
            })
        };
        let burn_in = of(Some("burn-in"), None);
        let one = json!({"key": "burn-in", "operator": "Exists"});
        assert_eq!(tolerated(&one), burn_in);
        let effect = json!({"key": "burn-in", "value": "1", "effect": "NoExecute"});
        assert_eq!(tolerated(&effect), burn_in);
        assert_eq!(tolerated(&json!({"operator": "Exists"})), of(None, None));
        let for_a_while =
            json!({"key": "burn-in", "effect": "NoExecute", "tolerationSeconds": 300});
        let lasts = Some(300 * SECOND);
        assert_eq!(tolerated(&for_a_while), of(Some("burn-in"), lasts));
        assert_eq!(
            tolerated(&json!({"key": "burn-in", "effect": "NoSchedule"})),
            None
        );
    }
}
