//! An API server of Kubernetes made of recorded objects: lists with selectors, pages and metadata
//! alone, reviews of rights, and what goes wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::{Fake, ReceivedRequest, Reply};

/// Kinds whose plural is not their name in lower case with an `s`.
const PLURALS: &[(&str, &str)] = &[("NetworkPolicy", "networkpolicies")];

/// An object, ready to be sent.
#[derive(Debug)]
struct Item {
    namespace: String,
    name: String,
    labels: BTreeMap<String, String>,
    fields: BTreeMap<&'static str, String>,
    whole: String,
    metadata: String,
}

/// All objects of one kind.
#[derive(Debug, Default)]
struct Collection {
    kind: String,
    items: Vec<Item>,
}

/// What the server does not do as it should.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// `pods`, or `pods@ml` for one namespace; `pods@` for the whole cluster alone.
    pub denied: BTreeSet<String>,
    /// Metadata alone is refused with 406.
    pub only_whole: bool,
    /// The Accept header is not understood: whole objects come.
    pub ignores_accept: bool,
    /// Every such continue token has expired, and another one goes on.
    pub expires_every: Option<u32>,
}

/// Objects by their collections' paths in all namespaces: `/api/v1/pods`.
#[derive(Debug, Default)]
pub struct ApiServer {
    collections: BTreeMap<String, Collection>,
    pub faults: Faults,
    continued: AtomicU32,
}

impl ApiServer {
    /// Takes an object in, or those of a list. The latest version of an object counts.
    pub fn add(&mut self, value: Value) {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        if let Some(of) = kind.strip_suffix("List") {
            let version = value["apiVersion"].as_str().unwrap_or("v1").to_owned();
            let items = value["items"].as_array().cloned().unwrap_or_default();
            for mut item in items {
                if item.get("kind").is_none() {
                    item["kind"] = json!(of);
                    item["apiVersion"] = json!(version);
                }
                self.add(item);
            }
            return;
        }
        let version = value["apiVersion"].as_str().unwrap_or("v1").to_owned();
        if kind.is_empty() || value["metadata"]["name"].as_str().is_none() {
            return;
        }
        let root = if version.contains('/') { "apis" } else { "api" };
        let path = format!("/{root}/{version}/{}", plural(&kind));
        let collection = self.collections.entry(path).or_default();
        collection.kind = kind;
        collection.items.push(Item::of(value));
    }

    /// Puts objects into the order in which etcd has them, each once.
    pub fn sort(&mut self) {
        for collection in self.collections.values_mut() {
            let key = |item: &Item| (item.namespace.clone(), item.name.clone());
            collection.items.sort_by_key(key);
            collection.items.reverse();
            collection.items.dedup_by_key(|item| key(item));
            collection.items.reverse();
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.collections.values().map(|one| one.items.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Serves them.
    pub fn start(mut self) -> Fake {
        self.sort();
        Fake::start(move |request| self.answer(request))
    }

    pub fn answer(&self, request: &ReceivedRequest) -> Reply {
        match request.path.as_str() {
            "/version" => {
                return Reply::Json(
                    200,
                    json!({"major": "1", "minor": "33", "gitVersion": "v1.33.0"}),
                );
            }
            "/api/v1/namespaces/kube-system" => {
                return Reply::Json(
                    200,
                    json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system", "uid": "6b0f6a6e-0000-4000-8000-000000000001"}}),
                );
            }
            "/apis" => return self.groups(),
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => {
                return self.review(&request.body);
            }
            path if path.ends_with("/log") => return Reply::Text(200, String::new()),
            _ => {}
        }
        let (path, namespace) = split(&request.path);
        let plural = path.rsplit('/').next().unwrap_or_default();
        if self.is_denied(plural, namespace) {
            let message =
                format!("{plural} is forbidden: User \"me\" cannot list resource \"{plural}\"");
            return failure(403, "Forbidden", &message, None);
        }
        match self.collections.get(&path) {
            Some(collection) => self.list(collection, namespace, request),
            None if known(&path) => self.list(&Collection::default(), namespace, request),
            None => failure(
                404,
                "NotFound",
                "the server could not find the requested resource",
                None,
            ),
        }
    }

    fn is_denied(&self, plural: &str, namespace: Option<&str>) -> bool {
        let denied = &self.faults.denied;
        denied.contains(plural)
            || denied.contains(&format!("{plural}@{}", namespace.unwrap_or_default()))
    }

    fn review(&self, body: &Value) -> Reply {
        let of = &body["spec"]["resourceAttributes"];
        let text = |key: &str| of[key].as_str().unwrap_or_default();
        let namespace = Some(text("namespace")).filter(|name| !name.is_empty());
        let allowed = !self.is_denied(text("resource"), namespace);
        Reply::Json(
            201,
            json!({"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}}),
        )
    }

    /// The aggregated discovery of custom kinds.
    fn groups(&self) -> Reply {
        let mut groups: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (path, collection) in &self.collections {
            let parts: Vec<&str> = path.split('/').collect();
            if let ["", "apis", group, version, plural] = parts.as_slice() {
                groups.entry(group).or_default().push(json!({
                    "version": version,
                    "resources": [{"resource": plural, "responseKind": {"kind": collection.kind}, "scope": "Namespaced", "verbs": ["get", "list", "watch"]}],
                }));
            }
        }
        let items: Vec<Value> = groups
            .into_iter()
            .map(|(group, versions)| json!({"metadata": {"name": group}, "versions": versions}))
            .collect();
        Reply::Json(
            200,
            json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}),
        )
    }

    fn list(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
        request: &ReceivedRequest,
    ) -> Reply {
        let partial = request
            .header("accept")
            .contains("as=PartialObjectMetadataList");
        if partial && self.faults.only_whole {
            return failure(
                406,
                "NotAcceptable",
                "only the following media types are accepted: application/json",
                None,
            );
        }
        let partial = partial && !self.faults.ignores_accept;
        let token = request.query("continue");
        if let Some(every) = self.faults.expires_every
            && !token.is_empty()
            && !token.ends_with('+')
            && self
                .continued
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(every)
        {
            return failure(
                410,
                "Expired",
                "The provided continue parameter is too old",
                Some(&format!("{token}+")),
            );
        }
        let from: usize = token.trim_end_matches('+').parse().unwrap_or(0);
        let limit: usize = request.query("limit").parse().unwrap_or(usize::MAX);
        let labels = terms(request.query("labelSelector"));
        let fields = terms(request.query("fieldSelector"));
        let mut body = String::new();
        let (mut number, mut next) = (0, String::new());
        // The token is the place of the next item among all, as a key is in etcd.
        for (place, item) in collection.items.iter().enumerate().skip(from) {
            if namespace.is_some_and(|wanted| wanted != item.namespace)
                || !item.is(&labels, &fields)
            {
                continue;
            }
            if number == limit {
                next = place.to_string();
                break;
            }
            if number > 0 {
                body.push(',');
            }
            body.push_str(if partial { &item.metadata } else { &item.whole });
            number += 1;
        }
        let (kind, version) = match partial {
            true => ("PartialObjectMetadata", "meta.k8s.io/v1"),
            false if collection.kind.is_empty() => ("", "v1"),
            false => (collection.kind.as_str(), "v1"),
        };
        let mut whole = String::with_capacity(body.len() + 200);
        // Nothing is written but to memory.
        let _written = write!(
            whole,
            r#"{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{"resourceVersion":"100000","continue":"{next}"}},"items":[{body}]}}"#
        );
        Reply::Full(
            200,
            vec![("Content-Type", "application/json".to_owned())],
            whole,
        )
    }
}

impl Item {
    fn of(mut value: Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let metadata = &value["metadata"];
        let labels = metadata["labels"].as_object();
        let labels = labels.into_iter().flatten();
        let labels = labels.filter_map(|(key, value)| Some((key.clone(), text(value)?)));
        let about = match value.get("involvedObject") {
            Some(about) => about,
            None => &value["regarding"],
        };
        let fields = [
            ("metadata.name", &metadata["name"]),
            ("metadata.namespace", &metadata["namespace"]),
            ("kind", &about["kind"]),
            ("name", &about["name"]),
            ("namespace", &about["namespace"]),
            ("uid", &about["uid"]),
            ("reason", &value["reason"]),
            ("type", &value["type"]),
            ("spec.nodeName", &value["spec"]["nodeName"]),
            ("status.phase", &value["status"]["phase"]),
        ];
        let fields = fields.into_iter();
        let fields = fields.filter_map(|(key, value)| Some((key, text(value)?)));
        let partial = json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
        });
        let (labels, fields) = (labels.collect(), fields.collect());
        let namespace = text(&metadata["namespace"]).unwrap_or_default();
        let name = text(&metadata["name"]).unwrap_or_default();
        if let Value::Object(keys) = &mut value {
            // Served lists leave out what the list itself says.
            keys.remove("kind");
            keys.remove("apiVersion");
        }
        Self {
            namespace,
            name,
            labels,
            fields,
            whole: value.to_string(),
            metadata: partial.to_string(),
        }
    }

    fn is(&self, labels: &[(String, String)], fields: &[(String, String)]) -> bool {
        let has_label = |(key, value): &(String, String)| self.labels.get(key) == Some(value);
        let has_field = |(key, value): &(String, String)| {
            let own = self.fields.get(key.as_str()).map_or("", String::as_str);
            own == value
        };
        labels.iter().all(has_label) && fields.iter().all(has_field)
    }
}

/// The terms of a selector: `a=b,c=d`.
fn terms(selector: &str) -> Vec<(String, String)> {
    let terms = selector.split(',').filter_map(|term| term.split_once('='));
    terms
        .map(|(key, value)| {
            let key = ["involvedObject.", "regarding."]
                .iter()
                .find_map(|of| key.strip_prefix(of))
                .unwrap_or(key);
            (key.to_owned(), value.trim_start_matches('=').to_owned())
        })
        .collect()
}

fn plural(kind: &str) -> String {
    let known = PLURALS.iter().find(|(one, _)| *one == kind);
    known.map_or_else(
        || format!("{}s", kind.to_lowercase()),
        |(_, plural)| (*plural).to_owned(),
    )
}

/// The path in all namespaces, and the namespace.
fn split(path: &str) -> (String, Option<&str>) {
    let Some((before, rest)) = path.split_once("/namespaces/") else {
        return (path.to_owned(), None);
    };
    match rest.split_once('/') {
        Some((namespace, plural)) => (format!("{before}/{plural}"), Some(namespace)),
        None => (path.to_owned(), None),
    }
}

/// Collections that every cluster has, if only empty.
fn known(path: &str) -> bool {
    path.starts_with("/api/v1/")
        || path.starts_with("/apis/batch/v1/")
        || path.starts_with("/apis/apps/v1/")
        || path == "/apis/events.k8s.io/v1/events"
}

fn failure(code: u16, reason: &str, message: &str, next: Option<&str>) -> Reply {
    Reply::Json(
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, "metadata": {"continue": next}}),
    )
}
