//! What is asked of the logs: a few filters.

use std::collections::BTreeSet;

use super::cloud_logging;
use super::filter;
use super::machines::Machines;
use crate::connector::FetchRequest;
use crate::machine::Machine;
use crate::time::{Nanos, SECOND};

/// What the platform did by itself.
pub(super) const SYSTEM: &str = "cloudaudit.googleapis.com/system_event";
/// What somebody asked for.
pub(super) const ACTIVITY: &str = "cloudaudit.googleapis.com/activity";
/// What GKE's autoscaler decided.
const AUTOSCALER: &str = "container.googleapis.com/cluster-autoscaler-visibility";

/// What is announced days before it happens.
const ANNOUNCEMENTS: [&str; 2] = [
    "compute.instances.upcomingMaintenance",
    "compute.instances.upcomingInfraMaintenance",
];

const DAY: Nanos = 86_400 * SECOND;

/// How long before a window announcements are looked for.
const ANNOUNCED_BEFORE: Nanos = 7 * DAY;

/// How long after a window records may still tell of it.
const REPORTED_AFTER: Nanos = 900 * SECOND;

/// Machines, groups or clusters in one filter.
pub(super) const AT_ONCE: usize = 100;

/// The time that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Nanos,
    pub(super) to: Nanos,
}

impl Span {
    /// The window of a question, a day where it has no start, and what may come late.
    pub(super) fn of(fetch_request: &FetchRequest) -> Self {
        let now = fetch_request.now.saturating_add(SECOND);
        let to = fetch_request.window.to.unwrap_or(now);
        Self {
            from: fetch_request
                .window
                .from
                .unwrap_or(to.min(now).saturating_sub(DAY)),
            to: to.saturating_add(REPORTED_AFTER).min(now),
        }
    }
}

/// The filters that find what concerns the machines, their groups and clusters:
/// what happened in the window comes first, while the budget lasts.
pub(super) fn filters(machines: &Machines, span: Span) -> Vec<String> {
    let mut filters = Vec::new();
    let window = filter::between(span.from, span.to);
    let happened = filter::all([window.clone(), both_logs()]);
    let announced = announced(span);
    let wanted: Vec<&Machine> = machines.wanted.iter().collect();
    let groups: Vec<&String> = machines.groups.iter().collect();
    let clusters: Vec<&String> = machines.clusters.iter().collect();
    if machines.all {
        filters.push(of_everything(&happened));
    }
    for lot in wanted.chunks(AT_ONCE) {
        of_machines(lot, &happened, &mut filters);
    }
    let of_groups = |lot| of_groups(lot, &happened);
    filters.extend(groups.chunks(AT_ONCE).filter_map(of_groups));
    if machines.any_of_gke() && clusters.is_empty() {
        filters.push(of_clusters(&[], &window));
    }
    filters.extend(
        clusters
            .chunks(AT_ONCE)
            .map(|lot| of_clusters(lot, &window)),
    );
    if machines.all {
        filters.push(of_everything(&announced));
    }
    for lot in wanted.chunks(AT_ONCE) {
        of_machines(lot, &announced, &mut filters);
    }
    cloud_logging::filters(machines, span, &mut filters);
    filters
}

fn both_logs() -> String {
    filter::either([filter::log(SYSTEM), filter::log(ACTIVITY)])
}

/// Announcements of the week before the window.
fn announced(span: Span) -> String {
    let methods = filter::is_any("protoPayload.methodName", ANNOUNCEMENTS);
    let from = span.from.saturating_sub(ANNOUNCED_BEFORE);
    let parts = [filter::between(from, span.from), filter::log(SYSTEM)];
    filter::all(parts.into_iter().chain(methods))
}

/// What machines are called at the end of their resource's name.
fn paths(machines: &[&Machine]) -> BTreeSet<String> {
    let path = |one: &&Machine| {
        let name = one.name.as_deref()?;
        Some(match &one.zone {
            Some(zone) => format!("zones/{zone}/instances/{name}"),
            None => format!("instances/{name}"),
        })
    };
    machines.iter().filter_map(path).collect()
}

fn of_machines(machines: &[&Machine], when: &str, filters: &mut Vec<String>) {
    let paths = paths(machines);
    let ends = || paths.iter().map(String::as_str);
    let ids: BTreeSet<&str> = machines
        .iter()
        .filter_map(|one| one.id.as_deref())
        .collect();
    let named = [
        filter::ends_with_any("protoPayload.resourceName", ends()),
        // Calls to a group name the machines that they are about.
        filter::ends_with_any("protoPayload.request.instances", ends()),
        filter::is_any("resource.labels.instance_id", ids),
    ];
    let found = filter::all([when.to_owned(), filter::either(named.into_iter().flatten())]);
    if found.len() <= filter::LONGEST || machines.len() < 2 {
        filters.push(found);
    } else {
        let (first, second) = machines.split_at(machines.len() / 2);
        of_machines(first, when, filters);
        of_machines(second, when, filters);
    }
}

fn of_groups(groups: &[&String], when: &str) -> Option<String> {
    let ends = groups.iter().flat_map(|group| {
        ["instanceGroupManagers", "autoscalers"].map(|kind| format!("{kind}/{group}"))
    });
    let ends: Vec<String> = ends.collect();
    let named =
        filter::ends_with_any("protoPayload.resourceName", ends.iter().map(String::as_str))?;
    Some(filter::all([when.to_owned(), named]))
}

/// Operations of clusters and node pools, and what the autoscaler decided; of
/// all clusters where none is known.
fn of_clusters(clusters: &[&String], when: &str) -> String {
    let names = clusters.iter().map(|name| name.as_str());
    let operations = filter::all([
        filter::log(ACTIVITY),
        r#"protoPayload.serviceName="container.googleapis.com""#.to_owned(),
    ]);
    // It says every few seconds that there is nothing to do.
    let emitted = [
        "jsonPayload.decision:*",
        "jsonPayload.resultInfo:*",
        "jsonPayload.noDecisionStatus.noScaleUp:*",
    ];
    let decisions = filter::all([
        filter::log(AUTOSCALER),
        filter::either(emitted.map(str::to_owned)),
    ]);
    let of = filter::is_any("resource.labels.cluster_name", names);
    filter::all(
        [
            when.to_owned(),
            filter::either([format!("({operations})"), format!("({decisions})")]),
        ]
        .into_iter()
        .chain(of),
    )
}

/// What concerns any machine.
fn of_everything(when: &str) -> String {
    let kinds = filter::is_any(
        "resource.type",
        [
            "gce_instance",
            "gce_instance_group_manager",
            "gce_autoscaler",
        ],
    );
    filter::all([when.to_owned()].into_iter().chain(kinds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::{Entity, Scope};
    use crate::time::Stamp;

    fn span() -> Span {
        let at = |text: &str| Stamp::parse(text).unwrap().lo;
        Span {
            from: at("2026-11-21T10:00:00Z"),
            to: at("2026-11-21T12:00:00Z"),
        }
    }

    fn machines(names: impl IntoIterator<Item = String>) -> Machines {
        let entity = |name: String| Entity {
            uid: Some(format!("gce://lab/z-a/{name}")),
            name,
            ..Entity::default()
        };
        Machines::of(&Scope {
            nodes: names.into_iter().map(entity).collect(),
            ..Scope::default()
        })
    }

    #[test]
    fn a_filter_names_machines_by_path_and_number() {
        let mut machines = machines(["gpu-1".to_owned()]);
        let mut found = machines.wanted.first().unwrap().clone();
        found.id = Some("42".to_owned());
        machines.learn(&found);
        let mut filters = filters(&machines, span());
        let emitted = filters.split_off(2);
        let named = concat!(
            r#" AND (protoPayload.resourceName=~"(^|/)(zones/z-a/instances/gpu-1)$""#,
            r#" OR protoPayload.request.instances=~"(^|/)(zones/z-a/instances/gpu-1)$""#,
            r#" OR resource.labels.instance_id="42")"#,
        );
        let happened = concat!(
            r#"timestamp>="2026-11-21T10:00:00Z" AND timestamp<"2026-11-21T12:00:00Z""#,
            r#" AND (log_id("cloudaudit.googleapis.com/system_event") OR log_id("cloudaudit.googleapis.com/activity"))"#,
        );
        let announced = concat!(
            r#"timestamp>="2026-11-14T10:00:00Z" AND timestamp<"2026-11-21T10:00:00Z""#,
            r#" AND log_id("cloudaudit.googleapis.com/system_event")"#,
            r#" AND protoPayload.methodName=("compute.instances.upcomingMaintenance" OR "compute.instances.upcomingInfraMaintenance")"#,
        );
        assert_eq!(
            filters,
            [format!("{happened}{named}"), format!("{announced}{named}")]
        );
        let [lines, failures] = emitted.as_slice() else {
            panic!("{emitted:#?}")
        };
        for part in [
            r#"log_id("serialconsole.googleapis.com/serial_port_1_output")"#,
            r#"labels."compute.googleapis.com/resource_name"="gpu-1""#,
            r#"textPayload=~"(?i)(nvrm: xid|"#,
        ] {
            assert!(lines.contains(part), "{part} in {lines}");
        }
        assert!(!lines.contains("involvedObject"), "no node of GKE: {lines}");
        assert!(failures.contains("servicehealth.googleapis.com/Event"));
        assert!(failures.starts_with(r#"timestamp>="2026-11-20T10:00:00Z""#));
    }

    #[test]
    fn a_thousand_machines_are_asked_for_in_filters_that_are_not_too_long() {
        let name = |n: usize| format!("gke-{}-{n:08x}-a1b2", "x".repeat(45));
        let machines = machines((0..1000).map(name));
        let filters = filters(&machines, span());
        assert!(filters.len() <= 45, "{}", filters.len());
        assert!(filters.iter().all(|one| one.len() <= filter::LONGEST));
        for n in 0..1000 {
            let own = format!("/{}", name(n));
            assert!(filters.iter().any(|one| one.contains(&own)), "{own}");
        }
    }

    #[test]
    fn groups_and_clusters_follow_from_nodes_of_gke() {
        let mut machines = machines(["gke-lab-gpu-1a2b3c4d-x9z8".to_owned()]);
        let of = |machines: &Machines| filters(machines, span())[1..3].join("\n");
        let shown = of(&machines);
        assert!(
            shown.contains(r#"=~"(^|/)(instanceGroupManagers/gke-lab-gpu-1a2b3c4d-grp|autoscalers/gke-lab-gpu-1a2b3c4d-grp)$""#),
            "{shown}"
        );
        assert!(shown.contains("cluster-autoscaler-visibility") && !shown.contains("cluster_name"));
        machines.clusters.insert("lab".to_owned());
        assert!(of(&machines).contains(r#" AND resource.labels.cluster_name="lab""#));
    }
}
