//! `instances.aggregatedList`: the machines of a project that exist now.

use std::time::Instant;

use serde_json::{Map, Value};

use super::api::Api;
use super::cover::InventoryTally;
use super::emit::Emitter;
use super::entries::Stop;
use super::machines::Machines;
use crate::cloud::field;
use crate::http::{HttpError, Request};
use crate::machine::{Cloud, Machine};
use crate::observation::Observation;

/// The most that one page may have.
const PAGE: usize = 500;

/// Pages that are read of a project.
const PAGES: usize = 10;

/// Machines in one filter, which stands in the address.
const AT_ONCE: usize = 30;

/// What is asked for of each: a machine's metadata holds keys and start scripts.
const FIELDS: &str = "kind,nextPageToken,unreachables,items/*/warning/code,\
    items/*/instances(kind,id,name,selfLink,zone,machineType,status,labels,creationTimestamp,\
    lastStartTimestamp,lastStopTimestamp,scheduling,resourceStatus)";

/// Reads what there is of the machines in a project. Those that are found are
/// learned by `machines`, and told.
pub(super) async fn read(
    api: &Api,
    project: &str,
    machines: &mut Machines,
    deadline: Instant,
    (emitter, out): (&mut Emitter, &mut Vec<Observation>),
) -> InventoryTally {
    let mut came = InventoryTally::default();
    let wanted: Vec<Machine> = machines.within(project).into_iter().cloned().collect();
    let mut filters: Vec<Option<String>> = wanted
        .chunks(AT_ONCE)
        .map(|lot| Some(filter(lot)))
        .collect();
    if machines.all {
        filters.push(None);
    }
    let mut found = Vec::new();
    for filter in &filters {
        let stop = pages(api, project, filter.as_deref(), deadline, |page| {
            came.unreachable.extend(page.unreachable);
            found.extend(page.instances);
        })
        .await;
        if let Some(stop) = stop {
            came.stop = Some(stop);
            break;
        }
    }
    let mut there = Vec::new();
    for instance in found {
        let machine = machine(&instance);
        // A namesake in another zone is found, too.
        if !machines.wants(&machine) || there.contains(&machine) {
            continue;
        }
        came.rows += 1;
        let labels = field::texts(&instance, &["labels"]);
        machines
            .clusters
            .extend(labels.get("goog-k8s-cluster-name").cloned());
        emitter.record(&Value::Object(instance), out);
        machines.learn(&machine);
        there.push(machine);
    }
    let missing = |one: &&Machine| {
        one.account.is_some()
            && !there
                .iter()
                .any(|found| found.name == one.name || found.id == one.id)
    };
    came.gone = wanted.iter().filter(missing).count();
    came
}

/// `(name = "a") OR (id = 42)`.
fn filter(machines: &[Machine]) -> String {
    let one = |machine: &Machine| match (&machine.name, &machine.id) {
        (Some(name), _) => Some(format!("(name = \"{name}\")")),
        (None, Some(id)) => Some(format!("(id = {id})")),
        (None, None) => None,
    };
    let parts: Vec<String> = machines.iter().filter_map(one).collect();
    parts.join(" OR ")
}

/// The machine that an instance is, as its link says.
fn machine(instance: &Map<String, Value>) -> Machine {
    let link = field::text(instance, &["selfLink"]);
    let mut machine = link
        .and_then(Machine::gce)
        .unwrap_or_else(|| Machine::of(Cloud::Gcp));
    machine.name = field::owned(instance, &["name"]).or(machine.name);
    machine.id = field::at(instance, &["id"]).and_then(field::scalar);
    machine
}

/// A page of the inventory.
struct Page {
    instances: Vec<Map<String, Value>>,
    unreachable: Vec<String>,
    next: Option<String>,
}

impl Page {
    fn of(mut body: Map<String, Value>) -> Result<Self, HttpError> {
        if field::text(&body, &["kind"]) != Some("compute#instanceAggregatedList") {
            return Err(HttpError::Garbage("not a list of instances".to_owned()));
        }
        let mut unreachable: Vec<String> = field::words(&body, &["unreachables"])
            .map(last_part)
            .collect();
        let next = field::owned(&body, &["nextPageToken"]);
        let mut instances = Vec::new();
        let items = match body.remove("items") {
            Some(Value::Object(items)) => items,
            _ => Map::new(),
        };
        for (zone, mut item) in items {
            if item.pointer("/warning/code").and_then(Value::as_str) == Some("UNREACHABLE") {
                unreachable.push(last_part(&zone));
            }
            if let Some(Value::Array(found)) = item.get_mut("instances").map(Value::take) {
                instances.extend(found.into_iter().filter_map(|one| match one {
                    Value::Object(one) => Some(one),
                    _ => None,
                }));
            }
        }
        Ok(Self {
            instances,
            unreachable,
            next,
        })
    }
}

/// `z-a` of `zones/z-a`.
fn last_part(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The first page of a project's inventory, as small as it may be.
pub(super) async fn first(api: &Api, project: &str, deadline: Instant) -> Result<(), HttpError> {
    let answer = api
        .send(&request(project, None).query("maxResults", "1"), deadline)
        .await?;
    Page::of(answer.json()?).map(|_| ())
}

fn request(project: &str, filter: Option<&str>) -> Request {
    let path = format!("projects/{project}/aggregated/instances");
    let request = Request::get(&path)
        .query("fields", FIELDS)
        // One zone that is down must not hide the others.
        .query("returnPartialSuccess", "true");
    match filter {
        Some(filter) => request.query("filter", filter),
        None => request,
    }
}

async fn pages(
    api: &Api,
    project: &str,
    filter: Option<&str>,
    deadline: Instant,
    mut take: impl FnMut(Page),
) -> Option<Stop> {
    let mut next: Option<String> = None;
    for _ in 0..PAGES {
        if Instant::now() >= deadline {
            return Some(Stop::Deadline);
        }
        let mut request = request(project, filter).query("maxResults", PAGE.to_string());
        if let Some(token) = &next {
            request = request.query("pageToken", token);
        }
        let page = match api.send(&request, deadline).await {
            Ok(answer) => answer.json().and_then(Page::of),
            Err(failure) => Err(failure),
        };
        match page {
            Ok(page) => {
                next.clone_from(&page.next);
                take(page);
            }
            Err(failure) => return Some(Stop::Http(failure)),
        }
        // No token, no further page.
        next.as_ref()?;
    }
    Some(Stop::Budget)
}
