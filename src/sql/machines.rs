//! Tenures of nodes: on which machine, in which zone and pool.

use whathappened_core::evidence::{Objects, Version};
use whathappened_model::object::ObjectKey;

use super::tenures::{Tenure, TenureEntity, hi, lo};

/// Labels that say where a node is.
const PLACES: [(&str, &str); 7] = [
    ("zone", "topology.kubernetes.io/zone"),
    ("zone", "failure-domain.beta.kubernetes.io/zone"),
    ("node_pool", "cloud.google.com/gke-nodepool"),
    ("node_pool", "eks.amazonaws.com/nodegroup"),
    ("node_pool", "kubernetes.azure.com/agentpool"),
    ("node_pool", "karpenter.sh/nodepool"),
    ("node_pool", "node.kubernetes.io/instance-group"),
];

/// Tenures of all nodes, in order of (name, uid).
pub(super) fn rows(objects: &Objects) -> impl Iterator<Item = Tenure> {
    let nodes = objects.iter().filter(|(key, _)| key.kind == "Node");
    nodes.flat_map(|(key, versions)| of_node(key, versions))
}

fn of_node(key: &ObjectKey, versions: &[Version]) -> Vec<Tenure> {
    let created = versions.iter().find_map(|version| version.body.created);
    let gone = versions
        .iter()
        .find(|version| version.deleted)
        .and_then(|version| version.at);
    let tenure = |parent: TenureEntity, evidence: &str| Tenure {
        child: TenureEntity::new("Node", &key.name, &key.uid),
        parent,
        namespace: String::new(),
        start: lo(created.or_else(|| versions.first()?.at)),
        end: hi(gone),
        evidence: evidence.to_owned(),
    };
    let machine = versions
        .iter()
        .find_map(|version| version.body.provider_id.as_deref());
    let machine = machine.map(|id| {
        tenure(
            TenureEntity::new("instance", &instance(id), id),
            "spec.providerID",
        )
    });
    let mut found: Vec<Tenure> = machine.into_iter().collect();
    for (kind, label) in PLACES {
        let place = versions
            .iter()
            .rev()
            .find_map(|version| version.body.labels.get(label));
        let known = found.iter().any(|tenure| tenure.parent.kind == kind);
        if let Some(place) = place.filter(|_| !known) {
            found.push(tenure(
                TenureEntity::new(kind, place, ""),
                &format!("label {label}"),
            ));
        }
    }
    found
}

/// The machine's name in its provider's id.
fn instance(provider_id: &str) -> String {
    let parts: Vec<&str> = provider_id.rsplit('/').take(3).collect();
    match parts.as_slice() {
        // A machine of an Azure scale set is only a number in it.
        [number, "virtualMachines", set] => format!("{set}_{number}"),
        [name, ..] => (*name).to_owned(),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::instance;

    #[test]
    fn a_provider_id_ends_in_the_machine() {
        for (id, name) in [
            ("gce://project/europe-west4-a/gke-gpu-1", "gke-gpu-1"),
            ("aws:///eu-west-1a/i-0abc", "i-0abc"),
            (
                "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/gpu/virtualMachines/3",
                "gpu_3",
            ),
            ("", ""),
        ] {
            assert_eq!(instance(id), name);
        }
    }
}
