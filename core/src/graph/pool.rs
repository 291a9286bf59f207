//! Which machines a node pool or instance group has, by labels, by tags of their
//! instances, and where those are gone by how managed nodes are named.

use whathappened_model::object::ObjectBody;

/// Labels of nodes and instances that name the pool.
const POOL: [&str; 9] = [
    "cloud.google.com/gke-nodepool",
    "goog-k8s-node-pool-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "aks-managed-poolName",
    "eks.amazonaws.com/nodegroup",
    "eks:nodegroup-name",
    "alpha.eksctl.io/nodegroup-name",
    "karpenter.sh/nodepool",
];

/// Labels that name the cluster itself.
const CLUSTER: [&str; 4] = [
    "goog-k8s-cluster-name",
    "alpha.eksctl.io/cluster-name",
    "aws:eks:cluster-name",
    "eks:cluster-name",
];

/// AKS names the group of the nodes, `MC_<group>_<cluster>_<region>`.
const NODE_GROUP: &str = "kubernetes.azure.com/cluster";

/// Tags that name the group of machines that an instance was made by.
const GROUP: [&str; 2] = ["aws:autoscaling:groupName", "group"];

/// Names are cut when they are put into the name of a machine; this much stays.
const LEFT: usize = 8;

/// What a machine is part of; all names in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    pools: Vec<String>,
    /// What calls name that are about the group as a whole: Azure's scale set, the group of EC2 Auto Scaling.
    groups: Vec<String>,
    cluster: Option<String>,
    /// The resource group that AKS keeps the nodes in.
    node_group: Option<String>,
}

impl Membership {
    pub(super) fn of(body: &ObjectBody) -> Self {
        let label = |key: &&str| body.labels.get(*key).map(|text| text.to_lowercase());
        let mut pools: Vec<String> = POOL.iter().chain(&GROUP).filter_map(label).collect();
        pools.sort_unstable();
        pools.dedup();
        Self {
            pools,
            groups: body
                .provider_id
                .as_deref()
                .and_then(scale_set)
                .into_iter()
                .collect(),
            cluster: CLUSTER.iter().find_map(label),
            node_group: label(&NODE_GROUP).filter(|group| group.starts_with("mc_")),
        }
    }

    /// That a record of the group itself speaks of the machine as one of its own.
    pub(super) fn add_group(&mut self, group: &str) {
        let group = group.to_lowercase();
        if let Err(at) = self.groups.binary_search(&group) {
            self.groups.insert(at, group);
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !self.pools.is_empty() || !self.groups.is_empty() || self.cluster.is_some()
    }

    /// Whether the machine called `name` is of a pool of a cluster, both in
    /// lower case. An empty cluster is any; an empty pool is each of the cluster.
    /// `alone` says that nobody speaks of pools of other clusters.
    #[must_use]
    pub fn is_in(&self, name: &str, cluster: &str, pool: &str, alone: bool) -> bool {
        let name = name.to_lowercase();
        let of_cluster = self.is_of(&name, cluster);
        if pool.is_empty() {
            return !cluster.is_empty() && of_cluster == Some(true);
        }
        let of_pool = if self.pools.is_empty() {
            named_in(&name, cluster, pool)
        } else {
            self.pools.iter().any(|one| one == pool)
        };
        let is_of_group =
            self.groups.iter().any(|one| one == pool) || gke_group(&name).as_deref() == Some(pool);
        is_of_group || of_pool && of_cluster.unwrap_or(alone)
    }

    /// Whether it is of a cluster; `None` where nothing tells.
    fn is_of(&self, name: &str, cluster: &str) -> Option<bool> {
        if cluster.is_empty() {
            return Some(true);
        }
        if let Some(own) = &self.cluster {
            return Some(own == cluster);
        }
        if let Some(group) = &self.node_group {
            return Some(group.contains(&format!("_{cluster}_")));
        }
        let stem = gke_stem(name)?;
        let shown = cluster.get(..LEFT.min(cluster.len()))?;
        Some(stem.starts_with(shown))
    }
}

/// The scale set of Azure that a machine's provider id names, in lower case.
fn scale_set(provider_id: &str) -> Option<String> {
    let mut parts = provider_id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case("virtualMachineScaleSets"))?;
    parts.next().map(str::to_lowercase)
}

/// Whether a machine's name shows that it is of the pool.
fn named_in(name: &str, cluster: &str, pool: &str) -> bool {
    if let Some(stem) = gke_stem(name) {
        let cut = |whole: &str, part: &str| {
            whole.starts_with(part) && part.len() >= whole.len().min(LEFT)
        };
        return stem
            .match_indices('-')
            .any(|(at, _)| cut(cluster, &stem[..at]) && cut(pool, &stem[at + 1..]));
    }
    aks_pool(name) == Some(pool)
}

/// `gke-cluster-pool-1a2b3c4d-grp`, which made `gke-cluster-pool-1a2b3c4d-x1y2`.
fn gke_group(name: &str) -> Option<String> {
    gke_stem(name)?;
    let (group, _) = name.rsplit_once('-')?;
    Some(format!("{group}-grp"))
}

/// `cluster-pool` of `gke-cluster-pool-1a2b3c4d-x1y2`, both perhaps cut short.
fn gke_stem(name: &str) -> Option<&str> {
    let rest = name
        .strip_prefix("gke-")
        .or_else(|| name.strip_prefix("gk3-"))?;
    let (rest, end) = rest.rsplit_once('-')?;
    let (stem, hash) = rest.rsplit_once('-')?;
    let hashed = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hashed && end.len() == 4).then_some(stem)
}

/// `gpu` of `aks-gpu-12345678-vmss00000a`.
fn aks_pool(name: &str) -> Option<&str> {
    let mut parts = name.strip_prefix("aks-")?.split('-');
    let (pool, number, set) = (parts.next()?, parts.next()?, parts.next()?);
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (numbered && set.starts_with("vmss")).then_some(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_set_is_named_by_the_provider_id() {
        let node = Membership::of(&ObjectBody {
            provider_id: Some(
                "azure:///subscriptions/0/resourceGroups/mc/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss/virtualMachines/0"
                    .to_owned(),
            ),
            ..ObjectBody::default()
        });
        let is_in = |pool| node.is_in("aks-gpu-1-vmss000000", "", pool, true);
        assert!(is_in("aks-gpu-1-vmss"));
        assert!(is_in("gpu"), "by its name as well");
        assert!(!is_in("aks-cpu-2-vmss"));
    }

    fn labelled(labels: &[(&str, &str)]) -> Membership {
        Membership::of(&ObjectBody {
            labels: labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..ObjectBody::default()
        })
    }

    #[test]
    fn a_pool_has_its_machines_by_label_and_by_name() {
        let gke = labelled(&[("cloud.google.com/gke-nodepool", "gpu")]);
        let node = "gke-lab-gpu-1a2b3c4d-x1y2";
        assert!(gke.is_in(node, "lab", "gpu", false));
        assert!(!gke.is_in(node, "lab", "cpu", true));
        assert!(!gke.is_in(node, "prod", "gpu", true), "another cluster's");
        let bare = Membership::default();
        assert!(bare.is_in(node, "lab", "gpu", false));
        assert!(!bare.is_in(node, "lab", "gpu-2", true));
        assert!(bare.is_in(
            "gke-training-cluster-e-default-pool-1a2b3c4d-x1y2",
            "training-cluster-europe",
            "default-pool",
            false
        ));
        assert!(bare.is_in("aks-gpu-12345678-vmss00000a", "lab", "gpu", true));
        assert!(!bare.is_in("aks-gpu-12345678-vmss00000a", "lab", "gpu", false));
        assert!(!bare.is_in("ip-10-0-0-1.ec2.internal", "lab", "gpu", true));
    }

    #[test]
    fn a_pool_of_another_cluster_is_another_pool() {
        let aks = labelled(&[
            ("kubernetes.azure.com/agentpool", "gpu"),
            ("kubernetes.azure.com/cluster", "MC_rg_lab_uksouth"),
        ]);
        let node = "aks-gpu-12345678-vmss00000a";
        assert!(aks.is_in(node, "lab", "gpu", false));
        assert!(!aks.is_in(node, "prod", "gpu", true));
        let eks = labelled(&[("eks.amazonaws.com/nodegroup", "gpu")]);
        assert!(eks.is_in("ip-10-0-0-1", "lab", "gpu", true));
        assert!(!eks.is_in("ip-10-0-0-1", "lab", "gpu", false));
        let tagged = labelled(&[("eks:nodegroup-name", "gpu"), ("eks:cluster-name", "lab")]);
        assert!(tagged.is_in("i-1", "lab", "gpu", false));
        assert!(tagged.is_in("i-1", "lab", "", false));
        assert!(!tagged.is_in("i-1", "prod", "", true));
        let scaled = labelled(&[("aws:autoscaling:groupName", "trainers")]);
        assert!(scaled.is_in("i-1", "", "trainers", false));
    }
}
