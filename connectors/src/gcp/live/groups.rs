//! Which managed groups machines are of, where their names do not say.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Map, Value};

use super::api::Api;
use super::machines::{Machines, base_name};
use crate::cloud::field;
use crate::http::{HttpError, Request};
use crate::machine::Machine;

/// Groups that are looked for; each takes a request.
const MOST: usize = 8;

/// Asks for the group of one machine of each name's beginning: those of one
/// group begin alike. Only machines that exist can be asked about. Says what
/// could not be learned.
pub(super) async fn learn(api: &Api, machines: &mut Machines, deadline: Instant) -> Option<String> {
    let mut alike: BTreeMap<[String; 3], &Machine> = BTreeMap::new();
    for machine in &machines.wanted {
        // Only what the inventory found has a number, a zone and a name.
        let (Some(project), Some(zone), Some(name), Some(_)) =
            (&machine.account, &machine.zone, &machine.name, &machine.id)
        else {
            continue;
        };
        let of_gke = name.starts_with("gke-") || name.starts_with("gk3-");
        if let Some(base) = base_name(name).filter(|_| !of_gke) {
            let key = [project.clone(), zone.clone(), base.to_owned()];
            alike.entry(key).or_insert(machine);
        }
    }
    let left = alike.len().saturating_sub(MOST);
    let mut groups = Vec::new();
    let mut failed = None;
    for ([project, zone, _], machine) in alike.into_iter().take(MOST) {
        let name = machine.name.as_deref().unwrap_or_default();
        match of(api, project.as_str(), zone.as_str(), name, deadline).await {
            Ok(found) => groups.extend(found),
            Err(failure) => {
                failed = Some(format!(
                    "machine groups could not be read: {failure} (permission compute.instances.listReferrers on project {project})"
                ));
                break;
            }
        }
    }
    machines.groups.extend(groups);
    failed.or_else(|| (left > 0).then(|| format!("{left} machine groups were not looked up")))
}

/// The groups that refer to a machine.
async fn of(
    api: &Api,
    project: &str,
    zone: &str,
    name: &str,
    deadline: Instant,
) -> Result<Vec<String>, HttpError> {
    let path = format!("projects/{project}/zones/{zone}/instances/{name}/referrers");
    let answer = match api.send(&Request::get(&path), deadline).await {
        Ok(answer) => answer,
        // It ended meanwhile.
        Err(failure) if failure.code() == Some(404) => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let body: Map<String, Value> = answer.json()?;
    let referrers = field::objects(&body, &["items"])
        .filter(|item| field::text(item, &["referenceType"]) == Some("MEMBER_OF"))
        .filter_map(|item| field::text(item, &["referrer"]));
    // A managed group is a group and its manager, both of one name.
    let group = |link: &str| {
        let parts: Vec<&str> = link.split('/').collect();
        match parts.as_slice() {
            [.., "instanceGroupManagers" | "instanceGroups", name] => Some((*name).to_owned()),
            _ => None,
        }
    };
    Ok(referrers
        .filter_map(group)
        .filter(|name| super::filter::is_name(name))
        .collect())
}
