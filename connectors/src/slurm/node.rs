//! A node's state, whoever told it, to a fact.

use std::sync::Arc;

use crate::event::{Event, EventId, Origin, SourceKind};
use crate::redact::redact;
use crate::time::{SECOND, Stamp};

/// What was said of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeReport {
    pub(super) node: String,
    /// `DOWN`, `DRAIN`, … of several the one that matters.
    pub(super) state: String,
    pub(super) why: Option<String>,
    pub(super) by: Option<String>,
    pub(super) time: Option<Stamp>,
}

/// Of `DOWN*+DRAIN`, `drained*`, `idle`: the one that keeps jobs away, and
/// whether the node does not answer.
pub(super) fn state(text: &str) -> (String, bool) {
    let silent = text.contains('*') || text.to_ascii_uppercase().contains("NOT_RESPONDING");
    let words: Vec<String> = text
        .split('+')
        .map(|word| {
            word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .to_ascii_uppercase()
        })
        .collect();
    let has = |starts: &str| words.iter().any(|word| word.starts_with(starts));
    let main = if has("DOWN") {
        "DOWN"
    } else if has("FAIL") {
        "FAIL"
    } else if has("DRAIN") || has("DRNG") || has("DRAINED") {
        "DRAIN"
    } else if has("REBOOT") {
        "REBOOT"
    } else if has("MAINT") {
        "MAINT"
    } else {
        words.first().map_or("UNKNOWN", String::as_str)
    };
    (main.to_owned(), silent)
}

/// Whether jobs cannot use a node in this state.
pub(super) fn is_away(state: &str) -> bool {
    matches!(state, "DOWN" | "FAIL" | "DRAIN" | "REBOOT" | "MAINT")
}

impl NodeReport {
    /// The fact.
    pub(super) fn emit(self, file: &Arc<str>, line: u64, raw: &str) -> Event {
        let stamp = self.time.unwrap_or(Stamp::OPEN);
        let second = stamp.lo.div_euclid(SECOND).to_string();
        let why = self.why.as_deref().unwrap_or_default();
        let id = EventId::of(&["slurm.node", &self.node, &self.state, why, &second]);
        let mut event = Event::new(id, "slurm.node", stamp, SourceKind::Slurm);
        event.reason = Some(self.state);
        event.message = self.why.map(|why| redact(&why).into_owned());
        event.actor = self.by;
        read_from(event, self.node, file, line, raw)
    }
}

/// A fact of a node, with where it was read.
fn read_from(mut event: Event, node: String, file: &Arc<str>, line: u64, raw: &str) -> Event {
    event.entities.node = Some(node);
    event.raw = redact(raw).into_owned();
    event.origin = Origin {
        file: Arc::clone(file),
        line,
    };
    event
}

/// What Slurm says of a node's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeField {
    InstanceId,
    HostName,
    Address,
}

/// Which machine a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeMachine {
    node: String,
    /// The cloud's id of it.
    instance_id: Option<String>,
    /// What it calls itself.
    host_name: Option<String>,
    address: Option<String>,
}

impl NodeMachine {
    /// What is told of it, where that is more than the node's own name.
    pub(super) fn of(node: String, field: impl Fn(NodeField) -> Option<String>) -> Option<Self> {
        let other = |which| field(which).filter(|value| *value != node);
        let (instance_id, host_name, address) = (
            other(NodeField::InstanceId),
            other(NodeField::HostName),
            other(NodeField::Address),
        );
        let is_known = instance_id.is_some() || host_name.is_some() || address.is_some();
        is_known.then_some(Self {
            node,
            instance_id,
            host_name,
            address,
        })
    }

    /// The fact, which is of no time.
    pub(super) fn emit(self, file: &Arc<str>, line: u64, raw: &str) -> Event {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let id = EventId::of(&[
            "slurm.machine",
            &self.node,
            &text(&self.instance_id),
            &text(&self.host_name),
            &text(&self.address),
        ]);
        let mut event = Event::new(id, "slurm.machine", Stamp::OPEN, SourceKind::Slurm);
        event.set_attribute("instance_id", self.instance_id);
        event.set_attribute("host_name", self.host_name);
        event.set_attribute("address", self.address);
        read_from(event, self.node, file, line, raw)
    }
}

/// `Not responding [slurm@2026-11-21T15:20:27]`: why, who, when.
pub(super) fn reason(text: &str) -> (String, Option<String>, Option<Stamp>) {
    let stamped = text
        .rsplit_once('[')
        .and_then(|(why, rest)| Some((why, rest.strip_suffix(']')?.split_once('@')?)));
    match stamped {
        Some((why, (user, time))) => (
            why.trim().to_owned(),
            Some(user.to_owned()),
            super::times::stamp(time),
        ),
        None => (text.trim().to_owned(), None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_states_the_one_that_matters_counts() {
        for (text, want, silent) in [
            ("DOWN*+DRAIN", "DOWN", true),
            ("drained*", "DRAIN", true),
            ("drng", "DRAIN", false),
            ("IDLE+DRAIN", "DRAIN", false),
            ("mixed-", "MIXED", false),
            ("ALLOCATED", "ALLOCATED", false),
            ("IDLE+REBOOT_REQUESTED", "REBOOT", false),
        ] {
            assert_eq!(state(text), (want.to_owned(), silent), "{text}");
        }
        let (why, by, time) = reason("Not responding [slurm@2026-11-21T15:20:27]");
        assert_eq!(
            (why.as_str(), by.as_deref()),
            ("Not responding", Some("slurm"))
        );
        assert_eq!(time, Stamp::parse("2026-11-21T15:20:27Z"));
    }
}
