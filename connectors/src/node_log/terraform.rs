//! What Terraform (and `OpenTofu`) did to machines and groups of them, as facts
//! `cloud.activity` of the actor `terraform`: what `-json` prints, which has
//! times, and what is printed for people, which has none unless a build system
//! put one before each line.
//!
//! The method is `terraform.` and the action: `delete`, `create`, `update`. The
//! attribute `resource` is Terraform's own name of the thing.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

use crate::cloud::fact::{Activity, FactBuilder, Outcome, set_message, set_text};
use crate::cloud::field;
use crate::contract::{FileHead, ForeignOutput, ForeignRecord, FormatOutput, TextReader, numbered};
use crate::event::{Event, Origin, SourceKind};
use crate::logs::LogSource;
use crate::logs::clock::{self, Clock};
use crate::machine::{Cloud, Machine};
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;
use crate::time::Stamp;

/// Types of resources that are one machine.
const MACHINES: &[&str] = &[
    "aws_instance",
    "google_compute_instance",
    "google_compute_instance_from_template",
    "azurerm_linux_virtual_machine",
    "azurerm_virtual_machine",
    "azurerm_windows_virtual_machine",
    "openstack_compute_instance_v2",
];

/// Types of resources that are many machines, and the kind of object each is.
const GROUPS: &[(&str, &str)] = &[
    ("aws_autoscaling_group", "InstanceGroup"),
    ("aws_eks_node_group", "NodePool"),
    ("azurerm_kubernetes_cluster_node_pool", "NodePool"),
    ("azurerm_linux_virtual_machine_scale_set", "InstanceGroup"),
    (
        "azurerm_orchestrated_virtual_machine_scale_set",
        "InstanceGroup",
    ),
    ("google_compute_instance_group_manager", "InstanceGroup"),
    (
        "google_compute_region_instance_group_manager",
        "InstanceGroup",
    ),
    ("google_container_node_pool", "NodePool"),
];

/// A thing that was done to a resource.
#[derive(Clone, Copy, Debug)]
struct ResourceAction<'t> {
    /// `module.gpu.aws_instance.node[3]`
    resource: &'t str,
    /// `aws_instance`
    kind: &'t str,
    action: &'t str,
    outcome: Outcome,
    /// The cloud's name of it; empty where it is not told.
    id: &'t str,
    message: &'t str,
}

/// The fact; `None` where it is about no machine.
fn emit(facts: &FactBuilder<'_>, did: ResourceAction<'_>, at: ParsedTime) -> Option<Event> {
    let method = format!("terraform.{}", did.action);
    let group = GROUPS.iter().find(|(kind, _)| *kind == did.kind);
    if group.is_none() && !MACHINES.contains(&did.kind) {
        return None;
    }
    let machine = match group {
        Some(_) => None,
        None if did.kind.starts_with("openstack_") => {
            Machine::parse_provider_id(&format!("openstack:///{}", did.id))
        }
        None => Machine::parse_provider_id(did.id),
    };
    let activity = Activity {
        method: &method,
        outcome: did.outcome,
        event_id: &format!("{} {}", did.resource, did.id),
        actor: Some("terraform"),
        error: None,
    };
    let machine = machine.unwrap_or_else(|| Machine::of(cloud(did.kind)));
    let mut event = facts.activity(at, &machine, activity);
    event.object_kind = Some(group.map_or("Instance", |(_, kind)| kind).to_owned());
    if group.is_some() {
        // `projects/p/locations/l/clusters/c/nodePools/gpu`, `cluster:gpu`, `gpu`
        let name = did.id.rsplit(['/', ':']).next();
        set_text(&mut event, "group", name);
    }
    set_text(&mut event, "resource", Some(did.resource));
    set_message(&mut event, did.message);
    Some(event)
}

fn cloud(kind: &str) -> Cloud {
    match kind.split('_').next() {
        Some("google") => Cloud::Gcp,
        Some("azurerm") => Cloud::Azure,
        Some("openstack") => Cloud::OpenStack,
        _ => Cloud::Aws,
    }
}

/// Whether it is a line of `-json`.
pub(super) fn is_record(fields: &Map<String, Value>) -> bool {
    let module = field::text(fields, &["@module"]);
    module == Some("terraform.ui") || module == Some("tofu.ui")
}

/// Decodes a line of `-json`.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let text = |path: &[&str]| field::text(fields, path).unwrap_or_default();
    let kind = text(&["type"]);
    let outcome = match kind {
        "apply_start" => Outcome::Started,
        "apply_complete" => Outcome::Succeeded,
        "apply_errored" => Outcome::Failed,
        other => return Err(Rejection::Irrelevant(format!("Terraform: {other}"))),
    };
    let at = field::time(fields, &["@timestamp"]).ok_or_else(|| {
        Rejection::Malformed("a line of Terraform whose @timestamp is none".to_owned())
    })?;
    let did = ResourceAction {
        resource: text(&["hook", "resource", "addr"]),
        kind: text(&["hook", "resource", "resource_type"]),
        action: text(&["hook", "action"]),
        outcome,
        id: text(&["hook", "id_value"]),
        message: text(&["@message"]),
    };
    let facts = FactBuilder::new(SourceKind::NodeLog, &record);
    let event = emit(&facts, did, at)
        .ok_or_else(|| Rejection::Irrelevant(format!("Terraform: {}", did.kind)))?;
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}

/// `module.gpu.aws_instance.node[3]: Destroying... [id=i-0123456789abcdef0]`
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?<resource>(?:module\.[\w-]+(?:\[[^\]]*\])?\.)*(?<kind>[a-z][a-z0-9]*_[a-z0-9_]+)\.[\w-]+(?:\[[^\]]*\])?)",
        r"(?: \(deposed object [0-9a-f]+\))?: ",
        r"(?<what>Destroying|Destruction complete|Creating|Creation complete|Modifying|Modifications complete)",
        r"(?:\.\.\.| after [^\[]*?)(?: \[id=(?<id>[^\]]+)\])?\s*$",
    ))
    .ok()
});

/// `# aws_instance.gpu[3] must be replaced`
static PLAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*# (?<resource>\S+) (?:must be|will be) (?<what>replaced|destroyed)").ok()
});

/// Colours, which a terminal's copy has.
static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b\[[0-9;]*m").ok());

fn plain(text: &str) -> String {
    COLOUR.as_ref().map_or_else(
        || text.to_owned(),
        |colour| colour.replace_all(text, "").into_owned(),
    )
}

/// The time that a build system put first, and the line.
fn timed(text: &str) -> (Option<Clock>, &str) {
    match clock::leading(text) {
        Some((clock @ (Clock::Full(_) | Clock::NoZone(_)), end)) => (
            Some(clock),
            text.get(end..).unwrap_or_default().trim_start(),
        ),
        _ => (None, text.trim_start()),
    }
}

/// Whether it begins as what is printed for people.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    const WORDS: [&str; 4] = [
        ": Destroying...",
        ": Creating...",
        ": Modifying...",
        ": Refreshing state...",
    ];
    WORDS.iter().any(|word| head.text.contains(word))
        && head.lines(2_000).any(|line| {
            let line = plain(line);
            let (_, line) = timed(&line);
            LINE.as_ref().is_some_and(|pattern| pattern.is_match(line))
        })
}

/// What is printed for people, line by line.
pub(super) struct PlanOutput {
    file: Arc<str>,
    /// What the plan said of a resource.
    planned: HashMap<String, String>,
    /// The ids of what is being destroyed: its end does not say them.
    ids: HashMap<String, String>,
}

/// Resources kept in mind.
const MAX_RESOURCES: usize = 20_000;

impl PlanOutput {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            planned: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    fn line(&mut self, raw: &str, number: u64) -> Option<Event> {
        let text = plain(raw);
        let (clock, text) = timed(&text);
        if let Some(plan) = PLAN.as_ref().and_then(|plan| plan.captures(text)) {
            if self.planned.len() < MAX_RESOURCES {
                self.planned
                    .insert(plan["resource"].to_owned(), plan["what"].to_owned());
            }
            return None;
        }
        let found = LINE.as_ref()?.captures(text)?;
        let resource = &found["resource"];
        let (action, outcome) = match &found["what"] {
            "Destroying" => ("delete", Outcome::Started),
            "Destruction complete" => ("delete", Outcome::Succeeded),
            "Creating" => ("create", Outcome::Started),
            "Creation complete" => ("create", Outcome::Succeeded),
            "Modifying" => ("update", Outcome::Started),
            _ => ("update", Outcome::Succeeded),
        };
        let id = found.name("id").map(|id| id.as_str().to_owned());
        if let Some(id) = id.as_ref().filter(|_| action == "delete")
            && self.ids.len() < MAX_RESOURCES
        {
            self.ids.insert(resource.to_owned(), id.clone());
        }
        let id = id.or_else(|| match (action, outcome) {
            ("delete", Outcome::Succeeded) => self.ids.remove(resource),
            _ => None,
        });
        let did = ResourceAction {
            resource,
            kind: &found["kind"],
            action,
            outcome,
            id: id.as_deref().unwrap_or_default(),
            message: text,
        };
        let (stamp, inferred) = match clock {
            Some(Clock::Full(stamp)) => (stamp, None),
            Some(Clock::NoZone(stamp)) => (stamp, Some("zone")),
            _ => (Stamp::OPEN, Some("none")),
        };
        let origin = Origin {
            file: Arc::clone(&self.file),
            line: number,
        };
        let facts = FactBuilder::of_text(SourceKind::NodeLog, &origin, raw);
        let mut event = emit(&facts, did, ParsedTime { stamp, inferred })?;
        set_text(
            &mut event,
            "planned_as",
            self.planned.get(resource).map(String::as_str),
        );
        Some(event)
    }
}

impl TextReader for PlanOutput {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            found.records += 1;
            match self.line(&text, number) {
                Some(event) => found.observations.push(Observation::Event(Box::new(event))),
                None => found.irrelevant += 1,
            }
        }
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_bytes;
    use crate::time::{Stamp, rfc3339};

    #[test]
    fn its_json_says_who_destroyed_which_machine_and_when() {
        let line = |time: &str, kind: &str, resource: &str, id: &str| {
            serde_json::json!({"@level": "info", "@message": format!("{resource}.gpu[3]: x"), "@module": "terraform.ui",
                "@timestamp": time, "type": kind, "hook": {"action": "delete", "id_key": "id", "id_value": id,
                "resource": {"addr": format!("{resource}.gpu[3]"), "resource_type": resource, "resource_name": "gpu"}}})
            .to_string()
        };
        let text = [
            "{\"@level\":\"info\",\"@message\":\"Terraform 1.9.5\",\"@module\":\"terraform.ui\",\"@timestamp\":\"2026-11-21T15:20:00.000000Z\",\"terraform\":\"1.9.5\",\"type\":\"version\",\"ui\":\"1.2\"}".to_owned(),
            line("2026-11-21T15:20:27.123456Z", "apply_start", "aws_instance", "i-0123456789abcdef0"),
            line("2026-11-21T15:20:28Z", "apply_start", "google_compute_instance", "projects/lab/zones/us-central1-a/instances/gpu-7"),
            line("2026-11-21T15:20:29Z", "apply_start", "google_container_node_pool", "projects/lab/locations/l/clusters/c/nodePools/gpu"),
            line("2026-11-21T15:20:30Z", "apply_start", "aws_s3_bucket", "b"),
            String::new(),
        ];
        let (_, events) = read_bytes(text.join("\n").as_bytes());
        assert_eq!(events.len(), 3);
        assert_eq!(
            events[0].entities.instance.as_deref(),
            Some("i-0123456789abcdef0")
        );
        assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T15:20:27.123456Z");
        assert_eq!(events[0].actor.as_deref(), Some("terraform"));
        assert_eq!(events[0].attribute("method"), Some("terraform.delete"));
        assert_eq!(events[1].entities.node.as_deref(), Some("gpu-7"));
        assert_eq!(events[2].object_kind.as_deref(), Some("NodePool"));
        assert_eq!(events[2].attribute("group"), Some("gpu"));
    }

    #[test]
    fn what_it_prints_for_people_has_no_times_of_its_own() {
        let text = "Terraform will perform the following actions:\n\n  # aws_instance.gpu[3] must be replaced\n-/+ resource \"aws_instance\" \"gpu\" {\n\u{1b}[0m\u{1b}[1maws_instance.gpu[3]: Destroying... [id=i-0123456789abcdef0]\u{1b}[0m\u{1b}[0m\naws_instance.gpu[3]: Still destroying... [id=i-0123456789abcdef0, 10s elapsed]\naws_instance.gpu[3]: Destruction complete after 41s\naws_s3_bucket.b: Destroying... [id=b]\n";
        let (_, events) = read_bytes(text.as_bytes());
        assert_eq!(events.len(), 2);
        for event in &events {
            assert_eq!(
                event.entities.instance.as_deref(),
                Some("i-0123456789abcdef0")
            );
            assert_eq!(event.time, Stamp::OPEN);
            assert_eq!(event.attribute("time_inferred"), Some("none"));
            assert_eq!(event.attribute("planned_as"), Some("replaced"));
        }
        assert_eq!(events[1].attribute("outcome"), Some("succeeded"));
        let of_ci = "2026-11-21T15:20:27.1234567Z module.gpu[\"a\"].aws_instance.node: Destroying... [id=i-0123456789abcdef0]\n";
        let (_, events) = read_bytes(of_ci.as_bytes());
        assert_eq!(
            events[0].attribute("resource"),
            Some("module.gpu[\"a\"].aws_instance.node")
        );
        assert!(events[0].time != Stamp::OPEN);
    }
}
