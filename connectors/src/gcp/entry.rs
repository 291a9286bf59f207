//! What every log entry has.

use crate::cloud::field::{self, Fields};
use crate::contract::ForeignRecord;
use crate::event::Event;
use crate::machine::{Cloud, Machine};
use crate::observation::Rejection;
use crate::text_time::ParsedTime;

/// A log entry's common parts.
#[derive(Debug)]
pub(super) struct Entry<'r> {
    pub(super) record: ForeignRecord<'r>,
    /// The log's id with its slashes: `cloudaudit.googleapis.com/activity`.
    pub(super) log: String,
    pub(super) time: ParsedTime,
    /// `gce_instance`, `k8s_container`, …
    pub(super) resource: &'r str,
}

impl<'r> Entry<'r> {
    pub(super) fn read(record: ForeignRecord<'r>) -> Result<Self, Rejection> {
        let fields = record.fields;
        let time = field::time(fields, &["timestamp"])
            .or_else(|| field::time(fields, &["receiveTimestamp"]))
            .ok_or_else(|| {
                Rejection::Malformed("a log entry without a timestamp that can be read".to_owned())
            })?;
        let name = field::text(fields, &["logName"]).unwrap_or_default();
        let log = name.rsplit_once("/logs/").map_or(name, |(_, log)| log);
        Ok(Self {
            record,
            log: log.replace("%2F", "/").replace("%2f", "/"),
            time,
            resource: field::text(fields, &["resource", "type"]).unwrap_or_default(),
        })
    }

    pub(super) fn text(&self, path: &[&str]) -> Option<&'r str> {
        field::text(self.record.fields, path)
    }

    pub(super) fn object(&self, key: &str) -> Option<&'r Fields> {
        field::object(self.record.fields, &[key])
    }

    /// Whether a container of a pod wrote it.
    pub(super) fn is_of_container(&self) -> bool {
        self.resource == "k8s_container"
    }

    /// A label of the monitored resource.
    pub(super) fn of_resource(&self, label: &str) -> Option<&'r str> {
        self.text(&["resource", "labels", label])
    }

    /// The zone, region or cluster location.
    pub(super) fn location(&self) -> Option<&'r str> {
        ["zone", "location", "region"]
            .iter()
            .find_map(|label| self.of_resource(label))
    }

    /// The project, as the resource's labels or the log's name say.
    pub(super) fn project(&self) -> Option<&'r str> {
        self.of_resource("project_id").or_else(|| {
            let name = self.text(&["logName"])?;
            name.strip_prefix("projects/")?.split('/').next()
        })
    }

    /// The machine that the entry is about, by its labels and by `resource_name`,
    /// as audit records have it.
    pub(super) fn machine(&self, resource_name: Option<&str>) -> Machine {
        let mut machine = resource_name
            .and_then(Machine::gce)
            .unwrap_or_else(|| Machine::of(Cloud::Gcp));
        let owned = |text: Option<&str>| text.map(str::to_owned);
        if self.resource == "gce_instance" {
            machine.id = owned(self.of_resource("instance_id")).or(machine.id);
            machine.name = machine.name.or(owned(
                self.text(&["labels", "compute.googleapis.com/resource_name"]),
            ));
        }
        // The label has the project's id where the name may have its number.
        machine.account = owned(self.project()).or(machine.account);
        machine.zone = owned(self.location()).or(machine.zone);
        machine
    }

    /// The operation's id, else what is unique to the entry.
    pub(super) fn event_id(&self) -> &'r str {
        self.text(&["operation", "id"])
            .or_else(|| self.text(&["insertId"]))
            .unwrap_or_default()
    }

    /// Sets severity, project, cluster and place of an event.
    pub(super) fn place(&self, event: &mut Event) {
        event.severity = self.text(&["severity"]).map(str::to_owned);
        event.entities.cluster = self.of_resource("cluster_name").map(str::to_owned);
        let zone = self.location().map(str::to_owned);
        event.entities.zone = event.entities.zone.take().or(zone);
        if !event.attributes.contains_key("account") {
            event.set_attribute("account", self.project());
        }
    }
}

/// Who made a request, as its audit record says: by an address, or, of an identity that is not Google's, as the last part of
/// `principal://…/subject/NAME` or `user:NAME`.
pub(super) fn principal(audit: &Fields) -> Option<&str> {
    let of = |key| field::text(audit, &["authenticationInfo", key]).filter(|who| !who.is_empty());
    of("principalEmail").or_else(|| {
        let subject = of("principalSubject")?;
        let name = subject.split_once("/subject/").map(|(_, name)| name);
        let typed = ["user:", "serviceAccount:"];
        let bare = typed.iter().find_map(|kind| subject.strip_prefix(kind));
        Some(name.or(bare).unwrap_or(subject))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_made_a_request_may_be_no_identity_of_googles() {
        let named = |key: &str, who: &str| {
            let record = serde_json::json!({ "authenticationInfo": { key: who } });
            let fields = record.as_object().unwrap().clone();
            principal(&fields).unwrap_or_default().to_owned()
        };
        assert_eq!(
            named("principalEmail", "dora@lab.example"),
            "dora@lab.example"
        );
        let pool = "principal://iam.googleapis.com/locations/global/workforcePools/lab/subject/dora@lab.example";
        assert_eq!(named("principalSubject", pool), "dora@lab.example");
        assert_eq!(
            named("principalSubject", "user:dora@lab.example"),
            "dora@lab.example"
        );
    }
}
