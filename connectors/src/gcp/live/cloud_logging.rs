//! What others wrote into Cloud Logging about machines: GKE's Events and audit
//! log, lines of kernels and of serial ports, and Google's own notices of troubles.
//!
//! A cluster forgets its Events after an hour, the log keeps them for 30 days;
//! and a serial port is the only place where a dead machine's last words are.

use super::filter::{self, is_name};
use super::machines::Machines;
use super::plan::{ACTIVITY, AT_ONCE, Span};
use crate::machine::Machine;
use crate::node_log;
use crate::time::{Nanos, SECOND};

/// A machine's first serial port.
const SERIAL: &str = "serialconsole.googleapis.com/serial_port_1_output";

/// How long before the window a trouble may have been told of that lasted into it.
const LASTING: Nanos = 86_400 * SECOND;

/// What the telling lines hold, as one pattern.
fn evidence_pattern() -> String {
    let words = node_log::asked();
    let words: Vec<String> = words.iter().map(|word| regex::escape(&word.part)).collect();
    format!("(?i)({})", words.join("|"))
}

/// A name that entries are looked for by.
#[derive(Clone, Copy, Debug)]
enum SearchName<'n> {
    Machine(&'n Machine),
    Pod(&'n str),
}

/// The filters.
pub(super) fn filters(machines: &Machines, span: Span, found: &mut Vec<String>) {
    let window = filter::between(span.from, span.to);
    // There may be a thousand of them, and what happened to the first ones is what counts.
    let pods = machines.pods.iter().filter(|_| machines.any_of_gke());
    let names: Vec<SearchName<'_>> = (machines.hurt.iter().take(AT_ONCE).map(SearchName::Machine))
        .chain(pods.take(AT_ONCE).map(|name| SearchName::Pod(name)))
        .collect();
    if !names.is_empty() {
        about(&names, &window, machines.any_of_gke(), found);
    }
    let notices = filter::between(span.from.saturating_sub(LASTING), span.to);
    found.push(filter::all([
        notices,
        r#"resource.type="servicehealth.googleapis.com/Event""#.to_owned(),
        r#"jsonPayload.category="INCIDENT""#.to_owned(),
    ]));
}

/// Of too many names for one filter each half has one.
fn about(names: &[SearchName<'_>], window: &str, of_gke: bool, found: &mut Vec<String>) {
    let mut emitted = vec![lines(names)];
    if of_gke {
        emitted.extend([events(names), audit(names)]);
    }
    let emitted: Vec<String> = emitted.into_iter().flatten().collect();
    if emitted.is_empty() {
        return;
    }
    let one = filter::all([window.to_owned(), filter::either(emitted)]);
    if one.len() <= filter::LONGEST || names.len() < 2 {
        found.push(one);
    } else {
        let (first, second) = names.split_at(names.len() / 2);
        about(first, window, of_gke, found);
        about(second, window, of_gke, found);
    }
}

fn machine_names<'n>(names: &'n [SearchName<'n>]) -> impl Iterator<Item = &'n str> + Clone {
    names.iter().filter_map(|name| match name {
        SearchName::Machine(machine) => machine.name.as_deref().filter(|name| is_name(name)),
        SearchName::Pod(_) => None,
    })
}

fn pod_names<'n>(names: &'n [SearchName<'n>]) -> impl Iterator<Item = &'n str> + Clone {
    names.iter().filter_map(|name| match name {
        SearchName::Pod(name) => Some(*name),
        SearchName::Machine(_) => None,
    })
}

/// Lines of the machines' serial ports, kernels and node agents that may mean something.
fn lines(names: &[SearchName<'_>]) -> Option<String> {
    let ids = names.iter().filter_map(|name| match name {
        SearchName::Machine(machine) => machine.id.as_deref(),
        SearchName::Pod(_) => None,
    });
    let of = [
        filter::is_any(
            r#"labels."compute.googleapis.com/resource_name""#,
            machine_names(names),
        ),
        filter::is_any("resource.labels.node_name", machine_names(names)),
        filter::is_any("resource.labels.instance_id", ids),
    ];
    let of: Vec<String> = of.into_iter().flatten().collect();
    if of.is_empty() {
        return None;
    }
    let logs = [SERIAL, "syslog", "kern"].map(filter::log);
    let node = r#"resource.type="k8s_node""#.to_owned();
    let texts = ["textPayload", "jsonPayload.MESSAGE"]
        .map(|field| format!("{field}=~{}", filter::quoted(&evidence_pattern())));
    let all = filter::all([
        filter::either(logs.into_iter().chain([node])),
        filter::either(of),
        filter::either(texts),
    ]);
    Some(format!("({all})"))
}

/// Events about the nodes and pods.
fn events(names: &[SearchName<'_>]) -> Option<String> {
    let all = machine_names(names).chain(pod_names(names));
    let of = filter::is_any("jsonPayload.involvedObject.name", all)?;
    Some(format!("({})", filter::all([filter::log("events"), of])))
}

/// Who changed the nodes and pods, by GKE's audit log.
fn audit(names: &[SearchName<'_>]) -> Option<String> {
    let one = |kind: &str, names: Vec<String>, below: &str| {
        (!names.is_empty()).then(|| format!("{kind}/({}){below}", names.join("|")))
    };
    let escaped = |name: &str| regex::escape(name);
    let parts = [
        one("nodes", machine_names(names).map(escaped).collect(), ""),
        one(
            "pods",
            pod_names(names).map(escaped).collect(),
            "(/[a-z]+)?",
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    let pattern = format!("(^|/)({})$", parts.join("|"));
    let all = filter::all([
        filter::log(ACTIVITY),
        r#"protoPayload.serviceName="k8s.io""#.to_owned(),
        format!("protoPayload.resourceName=~{}", filter::quoted(&pattern)),
    ]);
    Some(format!("({all})"))
}
