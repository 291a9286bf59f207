//! Leases: when those who run a cluster, and the kubelets of its nodes, were last heard of.
//!
//! A scheduler and a controller manager renew the one of their name every two seconds (`LeaderElection.RetryPeriod`), an API server
//! its own and a kubelet that of its node every ten (`staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go`).

use serde_json::Value;

use super::decode::Context;
use super::{field, meta};
use crate::observation::{Observation, Rejection};

/// Where the kubelets' leases are, by the names of their nodes.
const OF_NODES: &str = "kube-node-lease";

/// Those who run a cluster.
const RUNNERS: [&str; 2] = ["kube-controller-manager", "kube-scheduler"];

/// A fact of the last renewal. Leases of anybody else tell of nothing that runs pods.
pub(super) fn decode(
    lease: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key("Lease", lease)?;
    let of_node = key.namespace == OF_NODES;
    let counts = of_node
        || key.namespace == "kube-system"
            && (RUNNERS.contains(&key.name.as_str()) || key.name.starts_with("apiserver-"));
    let renewed = field::time(lease, &["spec", "renewTime"]);
    let Some(renewed) = renewed.filter(|_| counts && !context.deleted) else {
        return Err(Rejection::Irrelevant("an object of kind Lease".to_owned()));
    };
    let spec = lease.get("spec").cloned().unwrap_or_default();
    let mut event = meta::fact("k8s.lease", &key, &["renewed"], renewed, &spec, context);
    event.entities.workload = None;
    event.entities.workload_kind = None;
    event.entities.node = of_node.then(|| key.name.clone());
    event.set_attribute("lease", Some(format!("{}/{}", key.namespace, key.name)));
    event.set_attribute("holder", field::owned(lease, &["spec", "holderIdentity"]));
    let lasts = field::int(lease, &["spec", "leaseDurationSeconds"]);
    event.set_attribute("lasts_s", lasts.map(|lasts| lasts.to_string()));
    out.push(Observation::Event(Box::new(event)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::decode as decode_record;
    use crate::event::Origin;
    use crate::observation::Observation;
    use crate::time::rfc3339;

    fn told(namespace: &str, name: &str) -> Option<(String, Option<String>)> {
        let json = format!(
            r#"{{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {{"name": "{name}", "namespace": "{namespace}"}},
            "spec": {{"holderIdentity": "cp-1", "leaseDurationSeconds": 15, "renewTime": "2026-12-01T07:50:00.000000Z"}}}}"#
        );
        let origin = Origin {
            file: "x".into(),
            line: 1,
        };
        let mut out = Vec::new();
        decode_record(json.as_bytes(), None, &origin, &mut out).ok()?;
        match out.as_slice() {
            [Observation::Event(event)] => {
                assert_eq!(event.attribute("lasts_s"), Some("15"));
                Some((rfc3339(event.time.lo), event.entities.node.clone()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_runs_a_cluster_and_its_nodes_were_last_heard_of_when_they_renewed_their_leases() {
        let at = "2026-12-01T07:50:00Z".to_owned();
        assert_eq!(
            told("kube-system", "kube-scheduler"),
            Some((at.clone(), None))
        );
        assert_eq!(
            told("kube-node-lease", "gpu-a1"),
            Some((at, Some("gpu-a1".to_owned())))
        );
        assert_eq!(told("lab", "my-operator"), None);
        assert_eq!(told("kube-system", "my-operator"), None);
    }
}
