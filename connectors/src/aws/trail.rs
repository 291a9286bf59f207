//! `CloudTrail`: who called what, and the service events that stand among the calls.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{GROUP_TAG, machine, tags};
use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::{Event, SourceKind};
use crate::machine::Machine;
use crate::object::ObjectBody;
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;

/// Calls about groups of machines; those about machines name them.
const OF_GROUPS: [&str; 19] = [
    "SetDesiredCapacity",
    "UpdateAutoScalingGroup",
    "DeleteAutoScalingGroup",
    "CreateAutoScalingGroup",
    "StartInstanceRefresh",
    "CreateFleet",
    "ModifyFleet",
    "DeleteFleets",
    "RequestSpotFleet",
    "CancelSpotFleetRequests",
    "CancelSpotInstanceRequests",
    "RequestSpotInstances",
    "UpdateNodegroupConfig",
    "UpdateNodegroupVersion",
    "CreateNodegroup",
    "DeleteNodegroup",
    "UpdateClusterVersion",
    "DeleteCluster",
    "RunInstances",
];

/// Calls that name an instance without doing anything to its life.
const HARMLESS: [&str; 7] = [
    "CreateTags",
    "DeleteTags",
    "UpdateInstanceInformation",
    "AssociateIamInstanceProfile",
    "AssociateAddress",
    "DisassociateAddress",
    "MonitorInstances",
];

/// An answer of `LookupEvents` holds the record as text.
pub(super) fn found(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let text = field::text(record.fields, &["CloudTrailEvent"]).unwrap_or_default();
    let inner: Fields = serde_json::from_str(text).map_err(|error| {
        Rejection::Malformed(format!("a CloudTrailEvent that is not JSON: {error}"))
    })?;
    let fields = &inner;
    decode(ForeignRecord { fields, ..record }, emitted)
}

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let name = field::text(fields, &["eventName"]).unwrap_or_default();
    if field::flag(fields, &["readOnly"])
        || ["Describe", "List", "Get"]
            .iter()
            .any(|word| name.starts_with(word))
    {
        return Err(Rejection::Irrelevant(
            "a call of AWS that changes nothing".to_owned(),
        ));
    }
    let source = field::text(fields, &["eventSource"]).unwrap_or_default();
    let instances = instances(fields);
    let evicted = name == "BidEvictedEvent";
    let of_group = OF_GROUPS.contains(&name);
    if !evicted && !of_group && (instances.is_empty() || HARMLESS.contains(&name)) {
        return Err(Rejection::Irrelevant(format!("a call of {source}: {name}")));
    }
    let Some(at) = field::time(fields, &["eventTime"]) else {
        return Err(Rejection::Malformed(
            "a record of CloudTrail without eventTime".to_owned(),
        ));
    };
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let call = ApiCall {
        fields,
        name,
        at,
        facts: &facts,
    };
    if instances.is_empty() {
        let mut machine = call.machine(None);
        // What was to be made, and was not, bears its name in the request alone.
        let requested = requested_tags(fields);
        machine.name = requested.get("Name").cloned();
        let before = emitted.observations.len();
        call.emit(&machine, emitted);
        if let Some(Observation::Event(event)) = emitted.observations.get_mut(before) {
            event.entities.experiment = field::experiment(&requested);
        }
    }
    for (id, about) in &instances {
        let mut machine = call.machine(Some(id));
        let Some(about) = about.as_object() else {
            call.emit(&machine, emitted);
            continue;
        };
        call.created(about, &mut machine, emitted);
        let before = emitted.observations.len();
        call.emit(&machine, emitted);
        if let Some(Observation::Event(event)) = emitted.observations.get_mut(before) {
            let state = |of: &str| field::text(about, &[of, "name"]);
            let before = state("previousState");
            set_text(event, "previous_state", before);
            // What was in that state already was not brought into it: such calls succeed as often as they are made.
            if before.is_some() && before == state("currentState") {
                set_text(event, "outcome", Some("unchanged"));
            }
            let labels = tags(field::objects(about, &["tagSet", "items"]));
            event.entities.experiment = field::experiment(&labels);
        }
    }
    Ok(())
}

/// The tags that machines were to bear.
fn requested_tags(fields: &Fields) -> BTreeMap<String, String> {
    let of = field::objects(
        fields,
        &["requestParameters", "tagSpecificationSet", "items"],
    );
    let of_machines = of.filter(|one| field::text(one, &["resourceType"]) == Some("instance"));
    of_machines
        .flat_map(|one| tags(field::objects(one, &["tags"])))
        .collect()
}

/// The instances of a record, each with what the answer says of it.
fn instances(fields: &Fields) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    let mut add = |id: &str, about: Value| {
        if !found.iter().any(|(known, _)| known == id) {
            found.push((id.to_owned(), about));
        }
    };
    for part in ["responseElements", "requestParameters"] {
        for item in field::objects(fields, &[part, "instancesSet", "items"]) {
            if let Some(id) = field::text(item, &["instanceId"]) {
                add(id, Value::Object(item.clone()));
            }
        }
        for key in ["instanceId", "resourceId"] {
            let id = field::text(fields, &[part, key]).filter(|id| id.starts_with("i-"));
            if let Some(id) = id {
                add(id, Value::Null);
            }
        }
        for id in field::words(fields, &[part, "instanceIds"]) {
            add(id, Value::Null);
        }
    }
    for id in field::words(fields, &["serviceEventDetails", "instanceIdSet"]) {
        add(id, Value::Null);
    }
    found
}

struct ApiCall<'c> {
    fields: &'c Fields,
    name: &'c str,
    at: ParsedTime,
    facts: &'c FactBuilder<'c>,
}

impl ApiCall<'_> {
    fn text(&self, path: &[&str]) -> Option<&str> {
        field::text(self.fields, path)
    }

    fn machine(&self, id: Option<&str>) -> Machine {
        let account = self
            .text(&["recipientAccountId"])
            .or_else(|| self.text(&["userIdentity", "accountId"]));
        let mut machine = machine(id, account);
        let group = self
            .text(&["requestParameters", "autoScalingGroupName"])
            .or_else(|| self.text(&["requestParameters", "nodegroupName"]));
        machine.group = group.map(str::to_owned);
        machine
    }

    /// What `RunInstances` answers shows the new machine.
    fn created(&self, about: &Fields, machine: &mut Machine, emitted: &mut ForeignOutput) {
        machine.name = field::owned(about, &["privateDnsName"]);
        machine.zone = field::owned(about, &["placement", "availabilityZone"]);
        let labels = tags(field::objects(about, &["tagSet", "items"]));
        machine.group = labels.get(GROUP_TAG).cloned().or(machine.group.take());
        if self.name != "RunInstances" {
            return;
        }
        let created = field::time(about, &["launchTime"]).map_or(self.at.stamp, |at| at.stamp);
        let body = ObjectBody {
            api_version: "ec2/2016-11-15".to_owned(),
            labels,
            created: Some(created),
            started: Some(created),
            phase: field::owned(about, &["instanceState", "name"]),
            ..ObjectBody::default()
        };
        let version = self.facts.instance(machine, Some(self.at.stamp), body);
        emitted.observations.push(version);
    }

    fn emit(&self, machine: &Machine, emitted: &mut ForeignOutput) {
        let event_id = self.text(&["eventID"]).unwrap_or_default();
        let mut event = if self.name == "BidEvictedEvent" {
            let what = HostEvent {
                name: self.name,
                phase: Phase::Acted,
                planned: Some(false),
                event_id,
                not_before: None,
                not_after: None,
            };
            self.facts.host_event(self.at, machine, what)
        } else {
            let error = self.text(&["errorCode"]);
            let actor = self.actor();
            let what = Activity {
                method: self.name,
                outcome: if error.is_some() {
                    Outcome::Failed
                } else {
                    Outcome::Succeeded
                },
                event_id,
                actor: actor.as_deref(),
                error,
            };
            self.facts.activity(self.at, machine, what)
        };
        if let Some(pool) = self.text(&["requestParameters", "nodegroupName"]) {
            event.object_kind = Some("NodePool".to_owned());
            event.set_attribute("group", Some(pool));
            // The path of EKS's calls has the cluster as `name`.
            let cluster = ["name", "clusterName"]
                .iter()
                .find_map(|key| self.text(&["requestParameters", key]));
            event.entities.cluster = cluster.map(str::to_owned);
        } else if event.object_kind.is_none() && machine.group.is_some() {
            event.object_kind = Some("InstanceGroup".to_owned());
        }
        self.rest(&mut event);
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }

    fn rest(&self, event: &mut Event) {
        set_message(event, self.text(&["errorMessage"]).unwrap_or_default());
        set_text(event, "region", self.text(&["awsRegion"]));
        set_text(event, "service", self.text(&["eventSource"]));
        set_text(event, "user_agent", self.text(&["userAgent"]));
        set_text(event, "identity_type", self.text(&["userIdentity", "type"]));
        set_text(
            event,
            "invoked_by",
            self.text(&["userIdentity", "invokedBy"]),
        );
        set_text(event, "principal", self.text(&["userIdentity", "arn"]));
        let size = field::int(self.fields, &["requestParameters", "desiredCapacity"]);
        event.set_attribute("size", size.map(|size| size.to_string()));
    }

    /// A user's name, `role/session`, or the service that called.
    fn actor(&self) -> Option<String> {
        let identity = |key: &str| self.text(&["userIdentity", key]);
        let kind = identity("type").unwrap_or_default();
        // A service that acts in the name of a user carries out what that user asked of it.
        let own = identity("userName").filter(|_| kind == "IAMUser");
        let service = identity("invokedBy").filter(|by| *by != "AWS Internal");
        if let Some(service) = service.filter(|_| own.is_none()) {
            return Some(service.to_owned());
        }
        if kind == "Root" {
            return Some("root".to_owned());
        }
        let session = identity("arn").and_then(|arn| {
            let (_, session) = arn.split_once(":assumed-role/")?;
            Some(session)
        });
        session
            .or_else(|| identity("userName"))
            .or_else(|| identity("arn"))
            .or_else(|| identity("principalId"))
            .map(str::to_owned)
    }
}
