//! Google Cloud as the contract describes it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use super::TOKEN;
use super::language::finds;
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// What the fake keeps and how it behaves.
#[derive(Default)]
pub(super) struct Cloud {
    pub(super) entries: Vec<Value>,
    /// By project and zone.
    pub(super) instances: Vec<(&'static str, &'static str, Value)>,
    /// Projects whose logs may not be listed.
    pub(super) no_logs: Vec<&'static str>,
    /// Projects whose instances may not be listed.
    pub(super) no_instances: Vec<&'static str>,
    /// Entries on one page at most, whatever is asked for.
    pub(super) page: usize,
    /// Whether an empty page comes before each.
    pub(super) empty_pages: bool,
    /// How many requests are answered 429 first.
    pub(super) quota: AtomicUsize,
    /// Whether one zone does not answer.
    pub(super) zone_down: bool,
    /// Groups by machine.
    pub(super) groups: Vec<(&'static str, &'static str)>,
    /// Searches that have pages to come.
    pub(super) searches: Mutex<Vec<Value>>,
}

impl Cloud {
    pub(super) fn start(self) -> Fake {
        Fake::start(move |requested| self.answer(requested))
    }

    fn answer(&self, requested: &ReceivedRequest) -> Reply {
        if requested.header("authorization") != format!("Bearer {TOKEN}") {
            return error(
                401,
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials. Expected OAuth 2 access token.",
            );
        }
        if requested.path == "/v2/entries:list" {
            return self.list(requested);
        }
        let parts: Vec<&str> = requested.path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            [
                "compute",
                "v1",
                "projects",
                project,
                "aggregated",
                "instances",
            ] => self.aggregated(project, requested),
            [
                "compute",
                "v1",
                "projects",
                project,
                "zones",
                zone,
                "instances",
                name,
                "referrers",
            ] => self.referrers(project, zone, name),
            _ => error(404, "NOT_FOUND", "no such method"),
        }
    }

    fn list(&self, requested: &ReceivedRequest) -> Reply {
        if requested.method != "POST" {
            return error(405, "INVALID_ARGUMENT", "POST it");
        }
        let left = self.quota.load(Ordering::SeqCst);
        if left > 0 {
            self.quota.store(left - 1, Ordering::SeqCst);
            return error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute' of service \
                 'logging.googleapis.com' for consumer 'project_number:45454'.",
            );
        }
        match self.page(&requested.body) {
            Ok(page) => Reply::Json(200, page),
            Err(reply) => reply,
        }
    }

    fn page(&self, body: &Value) -> Result<Value, Reply> {
        let invalid = |why: &str| error(400, "INVALID_ARGUMENT", why);
        let fields = body.as_object().ok_or_else(|| invalid("not JSON"))?;
        let known = [
            "resourceNames",
            "filter",
            "orderBy",
            "pageSize",
            "pageToken",
        ];
        if let Some(other) = fields.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(invalid(&format!(
                "Unknown name {other:?}: Cannot find field."
            )));
        }
        let size = body["pageSize"].as_u64().unwrap_or(50);
        if !(1..=1000).contains(&size) {
            return Err(invalid("page_size must be between 1 and 1000"));
        }
        if body["orderBy"] != "timestamp asc" {
            return Err(invalid("order_by"));
        }
        let names = body["resourceNames"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if names.is_empty() || names.len() > 100 {
            return Err(invalid("between 1 and 100 resource names"));
        }
        let mut projects = Vec::new();
        for name in &names {
            let project = name
                .as_str()
                .and_then(|name| name.strip_prefix("projects/"));
            let project = project.ok_or_else(|| invalid("a resource name is no project's"))?;
            if self.no_logs.contains(&project) {
                return Err(error(
                    403,
                    "PERMISSION_DENIED",
                    "Permission 'logging.logEntries.list' denied on resource (or it may not exist).",
                ));
            }
            projects.push(format!("projects/{project}/"));
        }
        let filter = body["filter"].as_str().unwrap_or_default();
        if !filter.contains("timestamp>=") || !filter.contains("timestamp<") {
            return Err(invalid("this test wants bounds of time in every filter"));
        }
        let mut found = Vec::new();
        for entry in &self.entries {
            let of = entry["logName"].as_str().unwrap_or_default();
            let here = projects.iter().any(|project| of.starts_with(project));
            if finds(filter, entry).map_err(|why| invalid(&why))? && here {
                found.push(entry.clone());
            }
        }
        found.sort_by_key(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            (text("timestamp"), text("insertId"))
        });
        self.cut(body, &found, usize::try_from(size).unwrap())
    }

    /// The page that a token names: its number, and whether it is an empty one.
    fn cut(&self, body: &Value, found: &[Value], size: usize) -> Result<Value, Reply> {
        let mut search = body.clone();
        let token = search.as_object_mut().unwrap().remove("pageToken");
        let mut searches = self.searches.lock().unwrap();
        let (start, empty) = match token {
            None => (0, self.empty_pages && !found.is_empty()),
            Some(token) => {
                let token = token.as_str().unwrap_or_default().to_owned();
                let parts: Vec<usize> = token
                    .split('-')
                    .filter_map(|part| part.parse().ok())
                    .collect();
                let [number, start, empty] = parts.as_slice() else {
                    return Err(error(400, "INVALID_ARGUMENT", "page_token is not valid"));
                };
                if searches.get(*number) != Some(&search) {
                    let why = "page_token doesn't match arguments from the request";
                    return Err(error(400, "INVALID_ARGUMENT", why));
                }
                (*start, *empty == 1)
            }
        };
        let number = searches
            .iter()
            .position(|one| *one == search)
            .unwrap_or_else(|| {
                searches.push(search);
                searches.len() - 1
            });
        if empty {
            return Ok(json!({"nextPageToken": format!("{number}-{start}-0")}));
        }
        let size = size.min(if self.page == 0 { size } else { self.page });
        let end = (start + size).min(found.len());
        let mut page = Map::new();
        if start < end {
            page.insert(
                "entries".to_owned(),
                Value::from(found[start..end].to_vec()),
            );
        }
        if end < found.len() {
            let empty = usize::from(self.empty_pages);
            page.insert(
                "nextPageToken".to_owned(),
                json!(format!("{number}-{end}-{empty}")),
            );
        }
        Ok(Value::Object(page))
    }

    fn aggregated(&self, project: &str, requested: &ReceivedRequest) -> Reply {
        if self.no_instances.contains(&project) {
            return error(
                403,
                "PERMISSION_DENIED",
                &format!("Required 'compute.instances.list' permission for 'projects/{project}'"),
            );
        }
        let most: usize = requested.query("maxResults").parse().unwrap_or(500);
        if !(1..=500).contains(&most) {
            return error(400, "INVALID_ARGUMENT", "maxResults");
        }
        let fields = requested.query("fields");
        if fields.contains("metadata") || !fields.contains("items/*/instances(") {
            return error(
                400,
                "INVALID_ARGUMENT",
                "this test wants no machine's metadata to be asked for",
            );
        }
        // `(name = "a") OR (id = 42)`
        let wanted: Vec<&str> = requested
            .query("filter")
            .split(" OR ")
            .filter(|part| !part.is_empty())
            .map(|part| part.trim_start_matches('(').trim_end_matches(')'))
            .collect();
        let is_wanted = |one: &Value| {
            wanted.is_empty()
                || wanted.iter().any(|part| {
                    *part == format!("name = {}", one["name"])
                        || *part == format!("id = {}", one["id"].as_str().unwrap())
                })
        };
        let found = self
            .instances
            .iter()
            .filter(|(own, _, one)| *own == project && is_wanted(one));
        let found: Vec<_> = found.collect();
        let start: usize = requested.query("pageToken").parse().unwrap_or(0);
        let size = most.min(if self.page == 0 { most } else { self.page });
        let end = (start + size).min(found.len());
        let empty =
            json!({"warning": {"code": "NO_RESULTS_ON_PAGE", "message": "There are no results."}});
        let mut items = json!({"zones/z-empty": empty});
        for (_, zone, one) in &found[start..end] {
            let zone = format!("zones/{zone}");
            if items[&zone].is_null() {
                items[&zone] = json!({"instances": []});
            }
            items[&zone]["instances"]
                .as_array_mut()
                .unwrap()
                .push(one.clone());
        }
        let mut page = json!({"kind": "compute#instanceAggregatedList", "items": items});
        if self.zone_down {
            page["unreachables"] = json!(["zones/z-down"]);
        }
        if end < found.len() {
            page["nextPageToken"] = json!(end.to_string());
        }
        Reply::Json(200, page)
    }

    fn referrers(&self, project: &str, zone: &str, name: &str) -> Reply {
        let place =
            format!("https://www.googleapis.com/compute/v1/projects/{project}/zones/{zone}");
        let of = self.groups.iter().filter(|(machine, _)| *machine == name);
        let items = of.map(|(machine, group)| {
            json!({"kind": "compute#reference", "referenceType": "MEMBER_OF",
                   "referrer": format!("{place}/instanceGroupManagers/{group}"),
                   "target": format!("{place}/instances/{machine}")})
        });
        let items: Vec<Value> = items.collect();
        Reply::Json(
            200,
            json!({"kind": "compute#instanceListReferrers", "items": items}),
        )
    }
}

/// An error in Google's shape.
pub(super) fn error(code: u16, status: &str, message: &str) -> Reply {
    Reply::Json(
        code,
        json!({"error": {"code": code, "message": message, "status": status}}),
    )
}

/// An audit entry about a machine in zone `z-a`.
pub(super) fn entry(
    project: &str,
    log: &str,
    (id, time): (&str, &str),
    method: &str,
    resource: &str,
) -> Value {
    json!({
        "insertId": id, "timestamp": time, "severity": "INFO",
        "logName": format!("projects/{project}/logs/cloudaudit.googleapis.com%2F{log}"),
        "resource": {"type": "gce_instance",
                     "labels": {"instance_id": "42", "project_id": project, "zone": "z-a"}},
        "operation": {"id": format!("operation-{id}"), "first": true, "last": true},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "serviceName": if method.starts_with("google.container") { "container.googleapis.com" }
                           else { "compute.googleapis.com" },
            "methodName": method,
            "authenticationInfo": {"principalEmail": "ada@example.com"},
            "resourceName": resource,
        },
    })
}

/// A system event of machine `name`; its project is a number there.
pub(super) fn system(project: &str, id: (&str, &str), method: &str, name: &str) -> Value {
    let resource = format!("projects/77/zones/z-a/instances/{name}");
    entry(project, "system_event", id, method, &resource)
}

/// An instance as the inventory has it.
pub(super) fn instance(project: &str, zone: &str, name: &str, id: &str) -> Value {
    json!({
        "kind": "compute#instance", "id": id, "name": name, "status": "RUNNING",
        "selfLink": format!("https://www.googleapis.com/compute/v1/projects/{project}/zones/{zone}/instances/{name}"),
        "creationTimestamp": "2026-11-20T02:00:00.000-08:00", "labels": {"experiment": "e1"},
    })
}
