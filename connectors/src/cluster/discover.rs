//! Which training kinds the cluster serves, and in which version.

use std::time::Instant;

use futures::StreamExt as _;
use serde::Deserialize;

use super::client::{self, ApiClient, RequestError};
use super::resource::Resource;
use crate::kind::{is_workload, normal_kind};

/// Everything in one answer, where the server can (1.26 and later).
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

const CAP: usize = 16 << 20;

/// One page of either form; each has its own fields.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Groups {
    /// The aggregated form.
    items: Vec<Group>,
    /// The old form.
    groups: Vec<LegacyGroup>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Group {
    metadata: Name,
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Name {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Version {
    version: String,
    resources: Vec<ServedResource>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ServedResource {
    resource: String,
    response_kind: Kind,
    scope: String,
    verbs: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Kind {
    kind: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LegacyGroup {
    name: String,
    versions: Vec<LegacyVersion>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct LegacyVersion {
    group_version: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LegacyResources {
    resources: Vec<LegacyResource>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LegacyResource {
    name: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<String>,
}

/// What was found, and what could not be asked.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    /// By name.
    pub(super) resources: Vec<Resource>,
    /// Groups that did not answer, and why.
    pub(super) failure: Vec<String>,
}

/// Finds the training kinds.
pub(super) async fn discover(
    wire: &ApiClient,
    concurrency: usize,
    deadline: Instant,
) -> Discovered {
    let answer = wire.get("/apis", Some(AGGREGATED), CAP, deadline).await;
    let groups = match answer.and_then(|body| client::parse::<Groups>(&body)) {
        Ok(groups) => groups,
        Err(failure) => {
            return Discovered {
                resources: Vec::new(),
                failure: vec![format!("/apis: {}", failure.words())],
            };
        }
    };
    let mut found = Discovered::default();
    for group in groups.items {
        for version in group.versions {
            for served in version.resources {
                let kind = served.response_kind.kind;
                let lists = served.verbs.iter().any(|verb| verb == "list");
                found.add(
                    &group.metadata.name,
                    &version.version,
                    &served.resource,
                    &kind,
                    served.scope != "Cluster",
                    lists,
                );
            }
        }
    }
    let old = groups
        .groups
        .into_iter()
        .filter(|group| may_train(&group.name));
    let versions: Vec<(String, String)> = old
        .flat_map(|group| {
            let name = group.name;
            group
                .versions
                .into_iter()
                .map(move |version| (name.clone(), version.group_version))
        })
        .collect();
    let answers: Vec<(String, String, Result<LegacyResources, RequestError>)> =
        futures::stream::iter(versions)
            .map(|(group, version)| async move {
                let path = format!("/apis/{version}");
                let body = wire.get(&path, None, CAP, deadline).await;
                (group, version, body.and_then(|body| client::parse(&body)))
            })
            .buffered(concurrency.max(1))
            .collect()
            .await;
    for (group, group_version, answer) in answers {
        let version = group_version.rsplit('/').next().unwrap_or_default();
        match answer {
            Ok(served) => {
                for one in served.resources {
                    let lists = one.verbs.iter().any(|verb| verb == "list");
                    found.add(&group, version, &one.name, &one.kind, one.namespaced, lists);
                }
            }
            Err(failure) => found
                .failure
                .push(format!("/apis/{group_version}: {}", failure.words())),
        }
    }
    found
        .resources
        .sort_by_key(|resource| (resource.name(), resource.version.clone()));
    found
}

impl Discovered {
    /// Takes a served resource if it is a training kind. The first version of
    /// a group that has it is the one that the server prefers.
    fn add(
        &mut self,
        group: &str,
        version: &str,
        plural: &str,
        kind: &str,
        namespaced: bool,
        lists: bool,
    ) {
        if !lists || plural.contains('/') || !may_train(group) {
            return;
        }
        let group_version = format!("{group}/{version}");
        if !is_workload(&normal_kind(kind, &group_version)) {
            return;
        }
        // A Job of another group is no Job unless it is known to be one.
        if kind == "Job" && !group.ends_with("volcano.sh") {
            return;
        }
        let known = self
            .resources
            .iter()
            .any(|known| known.group == group && known.plural == plural);
        if !known {
            self.resources.push(Resource {
                group: group.to_owned(),
                version: version.to_owned(),
                plural: plural.to_owned(),
                kind: kind.to_owned(),
                namespaced,
            });
        }
    }
}

/// Groups of the API server itself have their kinds built in here.
fn may_train(group: &str) -> bool {
    let own = matches!(
        group,
        "" | "apps" | "batch" | "extensions" | "autoscaling" | "policy"
    ) || group.ends_with(".authentication.k8s.io");
    let served = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "metrics.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    ];
    !own && !served.contains(&group)
}
