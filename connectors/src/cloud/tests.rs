//! Records of others, read where they lie.

use std::path::{Path, PathBuf};

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::{SECOND, Stamp};

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn shared(part: &str) -> Option<PathBuf> {
    let path = PathBuf::from("../../shared").join(part);
    if !path.exists() {
        whathappened_loopback::skipped("no ../shared");
        return None;
    }
    Some(path)
}

fn observed(path: &Path) -> (Summary, Vec<Observation>) {
    let mut kept = Collected::default();
    let inputs = [Input::Path(path.to_owned())];
    let summary = read(&inputs, &Options::default(), &mut kept);
    (summary, kept.0)
}

fn events(observations: Vec<Observation>) -> Vec<Event> {
    let events = observations.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    events.collect()
}

/// Files in which there is nothing to explain, and why.
const NOTHING: [(&str, &str); 15] = [
    ("Read_WhenPage", "a page without entries, or of readings"),
    ("InsteadOfArray", "not a log entry"),
    ("no-decision-log", "the autoscaler did nothing"),
    ("result-info-log", "the autoscaler's results have no error"),
    ("upcomingMaintenance-object", "names no instance"),
    ("ec2-duty-event", "a finding of a security scanner"),
    ("DescribeTrails", "lists trails"),
    (".xml", "XML is not read from files"),
    ("activitylog-administrative", "about a network rule"),
    ("spec-activitylogs-list", "about a support ticket"),
    ("index.md", "about the recordings"),
    (
        "health_resource_query-health.DescribeAffectedEntities",
        "health of what is no instance",
    ),
    (
        "containerd_run_pod_sandbox",
        "a line of a healthy machine's runtime",
    ),
    ("kubelet_pod_and", "a line of a healthy machine's kubelet"),
    ("kubelet_only_pod", "a line of a healthy machine's kubelet"),
];

#[test]
fn every_recorded_answer_tells_something_or_is_irrelevant() {
    let mut wrong = Vec::new();
    for part in ["gcp", "gcp-logging", "aws", "azure"] {
        let Some(folder) = shared(&format!("recordings/{part}")) else {
            return;
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let name = file.display().to_string();
            if name.ends_with(".md") || name.ends_with(".txt") {
                continue;
            }
            let (summary, observations) = observed(&file);
            assert_eq!(summary.total.rejected, 0, "{name}: {:?}", summary.rejected);
            let nothing = NOTHING.iter().any(|(part, _)| name.contains(part));
            if observations.is_empty() != nothing {
                wrong.push(name.clone());
            }
            for event in events(observations) {
                assert_ne!(event.time, Stamp::OPEN, "{name}");
                assert!(!event.raw.is_empty(), "{name}");
                if event.fact == "cloud.host_event" && event.object_kind.is_some() {
                    assert!(event.object_uid.is_some(), "{name}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The events of an incident's input whose record holds `evidence`.
fn told_of(incident: &str, evidence: &[&str]) -> Option<Vec<Event>> {
    let (summary, observations) = observed(&shared(&format!("incidents/{incident}/input"))?);
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    let mut events = events(observations);
    events.retain(|event| {
        event.fact.starts_with("cloud.") && evidence.iter().all(|text| event.raw.contains(text))
    });
    assert!(!events.is_empty(), "{incident}");
    Some(events)
}

#[test]
fn host_errors_preemptions_and_maintenance_are_told_with_their_own_time() {
    for (incident, method) in [
        ("gcp-host-error", "compute.instances.hostError"),
        ("gcp-preempted", "compute.instances.preempted"),
        (
            "gcp-terminate-maint",
            "compute.instances.terminateOnHostMaintenance",
        ),
    ] {
        let Some(events) = told_of(incident, &[method]) else {
            return;
        };
        for event in events {
            assert_eq!(event.fact, "cloud.host_event");
            assert_eq!(event.attribute("phase"), Some("acted"));
            assert!(event.object_uid.is_some());
            // The record's own time stands in it, to the second.
            let second = crate::time::rfc3339(event.time.lo.div_euclid(SECOND) * SECOND);
            assert!(event.raw.contains(second.trim_end_matches('Z')), "{second}");
        }
    }
}

#[test]
fn a_failed_delete_is_no_act_and_an_accepted_one_is() {
    let Some(events) = told_of("gcp-delete-by-user", &["v1.compute.instances.delete"]) else {
        return;
    };
    let failed = events
        .iter()
        .filter(|event| event.attribute("outcome") == Some("failed"));
    assert!(failed.clone().count() >= 1);
    assert!(
        failed
            .clone()
            .all(|event| event.reason.as_deref() == Some("NOT_FOUND"))
    );
    assert!(
        events
            .iter()
            .any(|event| event.attribute("outcome") == Some("started"))
    );
}

#[test]
fn a_person_terminated_an_instance_and_a_retirement_is_announced() {
    let Some(events) = told_of(
        "aws-terminate-user",
        &["TerminateInstances", "i-05c30218156bcc246"],
    ) else {
        return;
    };
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].object_uid.as_deref(), Some("i-05c30218156bcc246"));
    assert_eq!(events[0].attribute("identity_type"), Some("IAMUser"));
    assert!(events[0].actor.is_some());
    let Some(events) = told_of("aws-retirement", &["RETIREMENT_SCHEDULED"]) else {
        return;
    };
    assert_eq!(events[0].object_uid.as_deref(), Some("i-00ddbf07ce6372082"));
    assert_eq!(events[0].attribute("phase"), Some("announced"));
    assert_eq!(
        events[0].attribute("not_before"),
        Some("2018-11-01T22:00:00Z")
    );
}

#[test]
fn a_fault_of_the_platform_is_told_of_its_machine() {
    let Some(events) = told_of("azure-platform-fault", &["PlatformInitiated"]) else {
        return;
    };
    assert_eq!(events[0].fact, "cloud.host_event");
    assert_eq!(events[0].reason.as_deref(), Some("PlatformInitiated"));
    assert_eq!(events[0].attribute("phase"), Some("acted"));
    assert_eq!(events[0].object_kind.as_deref(), Some("Instance"));
}
