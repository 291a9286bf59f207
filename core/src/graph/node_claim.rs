//! Karpenter's claims: a record of one names the claim, and the node's object says which claim it was made for.

use std::collections::HashMap;

use whathappened_model::event::Event;

use crate::evidence::Objects;

/// Nodes by the names of the claims that they were made for.
#[derive(Default)]
pub(super) struct NodeClaims(HashMap<String, String>);

impl NodeClaims {
    pub(super) fn of(objects: &Objects) -> Self {
        let nodes = objects.iter().filter(|(key, _)| key.kind == "Node");
        let claims = nodes.flat_map(|(key, versions)| {
            let owners = versions.iter().flat_map(|version| &version.body.owners);
            let claims = owners.filter(|owner| owner.kind == "NodeClaim");
            claims.map(|claim| (claim.name.clone(), key.name.clone()))
        });
        Self(claims.collect())
    }

    /// Names the node of a record that is about a claim.
    pub(super) fn place(&self, event: &mut Event) {
        let claim = event.attribute("node_claim");
        let node = claim.and_then(|claim| self.0.get(claim));
        if event.entities.node.is_none() {
            event.entities.node = node.cloned();
        }
    }
}
