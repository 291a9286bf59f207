//! A record of the Activity Log, in any of the forms that it is handed out in.

use std::borrow::Cow;

use serde_json::Value;

use super::{administrative, autoscale, health};
use crate::cloud::fact::{FactBuilder, Outcome};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::{Event, SourceKind};
use crate::kubernetes;
use crate::observation::Rejection;
use crate::text_time::{self, ParsedTime};

const OPERATION: [&str; 2] = ["operationName", "OperationNameValue"];
const TIME: [&str; 3] = ["eventTimestamp", "time", "TimeGenerated"];

/// The value of the first of `keys` that is there, in any mix of cases; of
/// `{value, localizedValue}` the value.
fn pick<'a>(fields: &'a Fields, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| {
        let value = fields.get(*key).or_else(|| {
            let same = |(name, _): &(&String, &Value)| name.eq_ignore_ascii_case(key);
            fields.iter().find(same).map(|(_, value)| value)
        })?;
        let value = value.get("value").unwrap_or(value);
        (!value.is_null()).then_some(value)
    })
}

fn word<'a>(fields: &'a Fields, keys: &[&str]) -> &'a str {
    pick(fields, keys)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Whether it is such a record: an operation of a provider, with a time.
pub(super) fn is_activity(fields: &Fields) -> bool {
    let operation = word(fields, &OPERATION).to_ascii_lowercase();
    let known = operation.starts_with("microsoft.") || is_audit(fields);
    known && pick(fields, &TIME).is_some()
}

/// AKS hands out the audit log of the cluster as a category of its own.
fn is_audit(fields: &Fields) -> bool {
    word(fields, &["category"]).starts_with("kube-audit")
        && field::at(fields, &["properties", "log"]).is_some()
}

/// A record with its parts under one name each.
#[derive(Debug)]
pub(super) struct Activity<'a> {
    pub(super) fields: &'a Fields,
    pub(super) at: ParsedTime,
    /// In lower case: the forms differ.
    pub(super) operation: String,
    /// The last word of a health event's operation and the like, in lower case.
    pub(super) status: String,
    pub(super) resource_id: Cow<'a, str>,
    pub(super) properties: Cow<'a, Fields>,
    /// The same over all records of one operation.
    pub(super) event_id: &'a str,
}

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    if is_audit(fields) {
        return audit(record, emitted);
    }
    let at = pick(fields, &TIME)
        .and_then(text_time::read)
        .ok_or_else(|| {
            Rejection::Malformed("an activity of Azure without a time that can be read".to_owned())
        })?;
    let activity = Activity {
        fields,
        at,
        operation: word(fields, &OPERATION).to_ascii_lowercase(),
        status: word(fields, &["status", "resultType", "ActivityStatusValue"]).to_ascii_lowercase(),
        resource_id: resource_id(fields),
        properties: properties(fields),
        event_id: word(fields, &["correlationId", "operationId", "eventDataId"]),
    };
    let facts = FactBuilder::new(SourceKind::Azure, &record);
    let category = word(fields, &["category", "CategoryValue"]).to_ascii_lowercase();
    let operation = activity.operation.as_str();
    if category == "resourcehealth" || operation.starts_with("microsoft.resourcehealth/") {
        health::of_resource(&activity, &facts, emitted)
    } else if category == "servicehealth" || operation.starts_with("microsoft.servicehealth/") {
        health::of_service(&activity, &facts, emitted)
    } else if category == "autoscale" || operation.starts_with("microsoft.insights/autoscale") {
        autoscale::decode(&activity, &facts, emitted)
    } else {
        administrative::decode(&activity, &facts, emitted)
    }
}

/// The line of the audit log, as the API server of the cluster wrote it.
fn audit(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let log = field::at(record.fields, &["properties", "log"]);
    let text = match log {
        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Some(other) => Cow::Owned(other.to_string()),
        None => Cow::Borrowed(""),
    };
    kubernetes::decode(
        text.as_bytes(),
        None,
        record.origin,
        &mut emitted.observations,
    )
}

/// The resource; where only the event's own id is there, it starts with it.
fn resource_id(fields: &Fields) -> Cow<'_, str> {
    let named = word(fields, &["resourceId", "_ResourceId", "resourceUri"]);
    if !named.is_empty() {
        return Cow::Borrowed(named);
    }
    let id = word(fields, &["id"]);
    Cow::Borrowed(
        id.split_once("/events/")
            .map_or(id, |(resource, _)| resource),
    )
}

/// An object, or its text.
fn properties(fields: &Fields) -> Cow<'_, Fields> {
    match pick(fields, &["properties", "Properties_d"]) {
        Some(Value::Object(properties)) => Cow::Borrowed(properties),
        Some(Value::String(text)) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
        _ => Cow::Owned(Fields::new()),
    }
}

impl Activity<'_> {
    /// A text of the record, by the first of these keys.
    pub(super) fn text(&self, keys: &[&str]) -> &str {
        word(self.fields, keys)
    }

    /// A text of the properties, by the first of these keys.
    pub(super) fn property(&self, keys: &[&str]) -> &str {
        word(&self.properties, keys)
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.status.as_str() {
            "succeeded" | "success" => Outcome::Succeeded,
            status if status.starts_with("fail") => Outcome::Failed,
            _ => Outcome::Started,
        }
    }

    /// Who called: a mail address; of an application the resource whose identity it
    /// has (`managedClusters/lab`), else its id, which is the same in all tenants,
    /// else the id that this tenant knows it by.
    pub(super) fn caller(&self) -> Option<&str> {
        const UPN: &str = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn";
        let named = self.text(&["caller"]);
        let claim = |key| self.claim(key);
        if !named.contains('@') && claim(UPN).is_none() {
            let own = claim("xms_mirid").and_then(last_two);
            if let Some(app) = own.or_else(|| claim("appid")) {
                return Some(app);
            }
        }
        Some(named)
            .filter(|named| !named.is_empty())
            .or_else(|| claim(UPN))
            .or_else(|| claim("name"))
            .or_else(|| claim("appid"))
    }

    /// What the caller's token says.
    pub(super) fn claim(&self, key: &str) -> Option<&str> {
        field::text(self.fields, &["claims", key])
            .or_else(|| field::text(self.fields, &["identity", "claims", key]))
    }

    /// The subscription, in lower case.
    pub(super) fn subscription(&self) -> Option<String> {
        let mut parts = self.resource_id.trim_start_matches('/').split('/');
        let first = parts.next().unwrap_or_default();
        let id = parts
            .next()
            .filter(|_| first.eq_ignore_ascii_case("subscriptions"));
        id.map(str::to_ascii_lowercase)
            .or_else(|| Some(self.text(&["subscriptionId"]).to_ascii_lowercase()))
            .filter(|id| !id.is_empty())
    }

    /// Sets what every record has.
    pub(super) fn place(&self, event: &mut Event) {
        let level = self.text(&["level"]);
        event.severity = (!level.is_empty()).then(|| level.to_owned());
        if !event.attributes.contains_key("account") {
            event.set_attribute("account", self.subscription());
        }
    }
}

/// Kind and name of a resource, of its id.
fn last_two(resource_id: &str) -> Option<&str> {
    let (rest, _) = resource_id.rsplit_once('/')?;
    let start = rest.rfind('/')?;
    resource_id.get(start + 1..)
}

/// The part of a resource id after `kind`, in any mix of cases.
pub(super) fn part<'a>(resource_id: &'a str, kind: &str) -> Option<&'a str> {
    let mut parts = resource_id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(kind))?;
    parts.next().filter(|part| !part.is_empty())
}
