//! Facts in plain words.

use crate::signals::named;
use whathappened_model::event::Event;
use whathappened_model::tracker::is_fact as is_of_tracker;

/// Longest text of one fact; the rest is in its record.
const LONGEST: usize = 400;

/// What a fact says, in one line.
#[must_use]
pub fn describe(event: &Event) -> String {
    let reason = event.reason.as_deref().unwrap_or_default();
    let message = event.message.as_deref().unwrap_or_default().trim();
    let attribute = |key: &str| event.attribute(key).unwrap_or_default();
    let text = match event.fact.as_str() {
        "k8s.event" => joined(reason, message),
        "k8s.container.terminated" => {
            let container = container(event);
            let code = event
                .exit_code
                .map(|code| format!(" with code {code}"))
                .unwrap_or_default();
            let claim = if reason.is_empty() {
                String::new()
            } else {
                format!(" ({reason})")
            };
            joined(&format!("{container} ended{code}{claim}"), message)
        }
        "k8s.container.waiting" => {
            let container = container(event);
            joined(&format!("{container} is waiting: {reason}"), message)
        }
        named::K8S_CONTAINER_STARTED => {
            format!(
                "{}container {} started",
                init(event),
                event.entities.container.as_deref().unwrap_or_default()
            )
        }
        "k8s.lease" => {
            let by = match attribute("holder") {
                "" => String::new(),
                holder => format!(" by {holder}"),
            };
            format!("lease {} was renewed{by}", attribute("lease"))
        }
        named::K8S_WORKLOAD_UNTOUCHED => "no controller has processed it yet".to_owned(),
        named::K8S_POD_UNTAKEN => format!(
            "the kubelet of {} has not taken it on yet",
            event.entities.node.as_deref().unwrap_or("its node")
        ),
        named::K8S_POD_UNSCHEDULED => format!("{} has not processed it yet", attribute("detail")),
        named::K8S_POD_BOUND => format!(
            "bound to node {}",
            event.entities.node.as_deref().unwrap_or("unknown")
        ),
        "k8s.pod.condition" | "k8s.node.condition" | "k8s.workload.condition" => {
            let head = format!("{} is {}", attribute("condition"), attribute("status"));
            joined(
                &if reason.is_empty() {
                    head
                } else {
                    format!("{head} ({reason})")
                },
                message,
            )
        }
        "k8s.pod.status" => joined(&format!("pod status: {reason}"), message),
        "k8s.pod.phase" | "k8s.workload.phase" => joined(&format!("phase {reason}"), message),
        "k8s.pvc.phase" => format!("volume claim is {reason}"),
        named::K8S_POD_DELETION_REQUESTED
        | named::K8S_NAMESPACE_DELETION_REQUESTED
        | "k8s.node.deletion_requested"
        | named::K8S_WORKLOAD_DELETION_REQUESTED => {
            let grace = event
                .attributes
                .get("grace_s")
                .and_then(serde_json::Value::as_i64);
            grace.map_or_else(
                || "deletion requested".to_owned(),
                |grace| format!("deletion requested (grace {grace} s)"),
            )
        }
        named::K8S_POD_DELETED | named::K8S_NODE_DELETED | named::K8S_WORKLOAD_DELETED => {
            "object is gone".to_owned()
        }
        named::K8S_NODE_CORDONED | named::K8S_NODE_UNCORDONED => {
            let act = if event.fact == named::K8S_NODE_CORDONED {
                "cordoned"
            } else {
                "uncordoned"
            };
            match (&event.actor, event.attribute("manager")) {
                (Some(actor), _) => format!("{act} by {actor}"),
                (None, Some(manager)) => format!("{act} (field manager {manager})"),
                (None, None) => act.to_owned(),
            }
        }
        "k8s.node.taint" => {
            let value = event
                .attribute("value")
                .map(|value| format!("={value}"))
                .unwrap_or_default();
            format!(
                "tainted {}{value}:{}",
                attribute("key"),
                attribute("effect")
            )
        }
        "k8s.node.boot_changed" => "rebooted (boot ID changed)".to_owned(),
        "k8s.node.allocatable_dropped" => {
            format!(
                "allocatable {} fell from {} to {}",
                attribute("resource"),
                attribute("from"),
                attribute("to")
            )
        }
        "k8s.node.devices_short" => {
            let has = match attribute("capacity") {
                "" => String::new(),
                has => format!("of its {has} "),
            };
            let (offers, resource) = (attribute("allocatable"), attribute("resource"));
            format!("offers {offers} {has}{resource}")
        }
        "k8s.node.label" | "k8s.node.annotation" => {
            format!("{} = {}", attribute("key"), attribute("value"))
        }
        named::K8S_WORKLOAD_SUSPENDED => "suspended".to_owned(),
        named::K8S_WORKLOAD_RESUMED => "resumed".to_owned(),
        // Of what is not its size only a hash is known.
        named::K8S_WORKLOAD_SPEC_CHANGED => match attribute("fields") {
            "replicas" => "spec changed: replicas".to_owned(),
            "spec,replicas" => "spec changed: replicas and more".to_owned(),
            _ => "spec changed".to_owned(),
        },
        "log.line" | "node.log" => log(event, message),
        "gpu.test" => message.to_owned(),
        fact if is_of_tracker(fact) => message.to_owned(),
        "cloud.host_event" => host_event(event, message),
        "cloud.activity" => activity(event, message),
        "cloud.group_activity" => group_activity(event, message),
        "slurm.job" => job(event, message),
        "slurm.machine" => {
            let keys = ["instance_id", "host_name", "address"];
            let parts: Vec<&str> = keys.into_iter().map(attribute).collect();
            format!("Slurm's node is the machine {}", parts.join(" ").trim())
        }
        "slurm.node" => joined(&format!("Slurm reports {reason}"), message),
        named::ALERT_FIRED => joined(&format!("alert {reason}"), message),
        "alert.silence" => joined("alerts silenced", &by(event, message)),
        "note.annotation" => joined("noted", &by(event, message)),
        fact if fact.starts_with("metric.") => joined("measured", message),
        fact if fact.starts_with("k8s.audit.") => audit(event, fact),
        fact => joined(fact, &joined(reason, message)),
    };
    shortened(&text)
}

/// What somebody said, and who.
fn by(event: &Event, message: &str) -> String {
    match &event.actor {
        Some(actor) => format!("{message} (by {actor})"),
        None => message.to_owned(),
    }
}

/// Which container; what was printed in a table does not name it.
fn container(event: &Event) -> String {
    let name = event.entities.container.as_deref().unwrap_or_default();
    match (name, init(event)) {
        ("", "") => "a container".to_owned(),
        ("", _) => "an init container".to_owned(),
        (name, init) => format!("{init}container {name}"),
    }
}

fn init(event: &Event) -> &'static str {
    if event.attribute("init").is_some() {
        "init "
    } else {
        ""
    }
}

/// What a message says beyond the name of the event that it begins with.
fn without<'a>(message: &'a str, name: &str) -> &'a str {
    match message.strip_prefix(name).filter(|_| !name.is_empty()) {
        // The rest of a longer word is none.
        Some(rest) if rest.chars().next().is_none_or(|one| !one.is_alphanumeric()) => {
            rest.trim_start_matches([':', '.', '-', ' ', '\n', '\r'])
        }
        _ => message,
    }
}

fn joined(head: &str, tail: &str) -> String {
    match (head.is_empty(), tail.is_empty()) {
        (_, true) => head.to_owned(),
        (true, false) => tail.to_owned(),
        (false, false) => format!("{head}: {tail}"),
    }
}

/// A traceback says its exception and its place; other lines say themselves.
fn log(event: &Event, message: &str) -> String {
    let Some(exception) = event.attribute("exception") else {
        // That there is a traceback is not what went wrong.
        if message.starts_with("Traceback (most recent call last)") {
            let place = event.attribute("location");
            let place = place.map_or_else(String::new, |place| format!(" (at {place})"));
            return format!("an exception that its log does not name{place}");
        }
        return message.to_owned();
    };
    let what = joined(
        exception,
        event.attribute("exception_message").unwrap_or_default(),
    );
    match event.attribute("location") {
        Some(place) => format!("{what} (at {place})"),
        None => what,
    }
}

/// What the platform did or announces, by its own name for it.
fn host_event(event: &Event, message: &str) -> String {
    if let Some(check) = event.attribute("check") {
        let result = event.reason.as_deref().unwrap_or("failed");
        return joined(&format!("status check {check}: {result}"), message);
    }
    let attribute = |key: &str| event.attribute(key).unwrap_or_default();
    let due = match (event.attribute("not_before"), event.attribute("not_after")) {
        (Some(from), Some(to)) if from != to => format!(" for {from} to {to}"),
        (Some(from), _) => format!(" for {from}"),
        _ => String::new(),
    };
    let phase = match attribute("phase") {
        "announced" => format!(" announced{due}"),
        "started" => " has started".to_owned(),
        "ended" => " has ended".to_owned(),
        _ => String::new(),
    };
    let why = event
        .reason
        .as_deref()
        .map_or(String::new(), |why| format!(" ({why})"));
    let name = attribute("host_event");
    let mut more = without(message, name);
    if event.reason.as_deref() == Some(more) {
        more = "";
    }
    joined(&format!("{name}{phase}{why}"), more)
}

/// Who asked the cloud for what, and whether it was done.
fn activity(event: &Event, message: &str) -> String {
    let who = event.actor.as_deref().unwrap_or("an unnamed principal");
    let outcome = match (event.attribute("outcome"), event.reason.as_deref()) {
        (Some("failed"), Some(why)) => format!(", which failed ({why})"),
        (Some("failed"), None) => ", which failed".to_owned(),
        (Some("unchanged"), _) => ", which changed nothing: it was so already".to_owned(),
        _ => String::new(),
    };
    let method = event.attribute("method").unwrap_or("something");
    joined(&format!("{who} called {method}{outcome}"), message)
}

/// What a group or autoscaler did, and why.
fn group_activity(event: &Event, message: &str) -> String {
    let who = event.actor.as_deref().unwrap_or("a group of machines");
    let what = event.reason.as_deref().unwrap_or("activity");
    joined(&format!("{who}: {what}"), message)
}

/// How a batch job ended.
fn job(event: &Event, message: &str) -> String {
    let state = event.reason.as_deref().unwrap_or("an unknown state");
    let by = event.actor.as_deref().map(|by| format!(" by {by}"));
    let code = event
        .exit_code
        .filter(|code| *code != 0)
        .map(|code| format!(", exit code {code}"));
    let step = event.attribute("step_state").zip(event.attribute("step"));
    let step = step.map(|(state, step)| format!("; its step {step} with state {state}"));
    let parts = [by.clone(), code, step]
        .into_iter()
        .flatten()
        .collect::<String>();
    let text = match state {
        "PENDING" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => "the job is waiting".to_owned(),
        "RUNNING" => "the job started".to_owned(),
        "KILL_REQUESTED" => format!(
            "Slurm was asked{} to cancel or signal the job",
            by.as_deref().unwrap_or_default()
        ),
        "DEPENDENCY_FAILED" => "Slurm cancelled the job".to_owned(),
        state => format!("the job ended with state {state}{parts}"),
    };
    joined(&text, message)
}

fn audit(event: &Event, fact: &str) -> String {
    let attribute = |key: &str| event.attribute(key).unwrap_or_default();
    let who = event.actor.as_deref().unwrap_or("an unnamed user");
    let through = event.attribute("impersonated_by");
    let assumed = event.attribute("acting_as");
    let who = match (through, assumed) {
        (Some(proxy), _) => format!("{who} (through {proxy})"),
        (None, Some(assumed)) => format!("{who} (acting as {assumed})"),
        (None, None) => who.to_owned(),
    };
    let names = &event.entities;
    let kind = event.object_kind.as_deref().unwrap_or("object");
    let name = names
        .pod
        .as_deref()
        .or(names.workload.as_deref())
        .or(names.node.as_deref())
        .unwrap_or("(unnamed)");
    let node = names.node.as_deref().unwrap_or("unknown");
    // What is done to it, as somebody tries to do it and as it was done.
    let (tries, did) = match fact.strip_prefix("k8s.audit.").unwrap_or(fact) {
        "evict" => ("evict", "evicted".to_owned()),
        "bind" => ("bind", "bound".to_owned()),
        "deletecollection" => ("delete", "deleted (as part of a collection)".to_owned()),
        _ if event.attribute("taints").is_some() => {
            ("change the taints of", "changed the taints of".to_owned())
        }
        "report" => ("report the state of", "reported the state of".to_owned()),
        _ if event.attribute("subresource") == Some("status") => ("mark", "marked".to_owned()),
        "patch" => ("patch", "patched".to_owned()),
        "command" => (
            "command",
            format!("gave the command {} to", attribute("action")),
        ),
        "exec" => {
            let command = attribute("command");
            return format!("{who} ran a command in {kind} {name}: {command}");
        }
        "untrack" => (
            "remove the finalizer of",
            "removed the finalizer of".to_owned(),
        ),
        verb => (verb, format!("{verb}d")),
    };
    let to = match tries {
        "bind" => format!(" to node {node}"),
        "mark" => " for disruption".to_owned(),
        _ => String::new(),
    };
    let tool = attribute("user_agent")
        .split(['/', ' '])
        .next()
        .unwrap_or_default();
    let with = match tool {
        "" => String::new(),
        _ if tries == "bind" => String::new(),
        tool => format!(" with {tool}"),
    };
    let refused = event
        .attribute("code")
        .filter(|code| !code.starts_with('2'));
    if refused.is_none() && tries == "delete" && name == "(unnamed)" {
        let with_labels = event.attribute("label_selector");
        let with_labels = with_labels.map(|labels| format!(" with the labels {labels}"));
        let labels = with_labels.unwrap_or_default();
        return format!("{who} deleted every {kind}{labels}{with}");
    }
    let Some(code) = refused else {
        return format!("{who} {did} {kind} {name}{to}{with}");
    };
    // A member that may not be made has no name; whose it would have been is known.
    let object = match event.attribute("refused") {
        Some(member) => format!("a {member} of {kind} {name}"),
        None => format!("{kind} {name}"),
    };
    let text = format!("{who} tried to {tries} {object}{to}{with} and was refused (HTTP {code})");
    joined(&text, event.message.as_deref().unwrap_or_default().trim())
}

/// One line, not too long, cut between characters.
fn shortened(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_begins_with_the_name_of_its_event_does_not_say_it_twice() {
        let name = "EC2 Spot Instance Interruption Warning";
        assert_eq!(without(&format!("{name}: terminate"), name), "terminate");
        assert_eq!(
            without(&format!("{name}\nThe host failed"), name),
            "The host failed"
        );
        assert_eq!(without(name, name), "");
        assert_eq!(
            without(&format!("{name}s were sent"), name),
            format!("{name}s were sent")
        );
        assert_eq!(without("something else", ""), "something else");
    }
}
