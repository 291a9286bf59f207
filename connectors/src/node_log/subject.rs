//! Of whom a line speaks, where that is not the machine that wrote it.

use std::sync::LazyLock;

use regex::Regex;

use crate::event::Event;

/// sudo: `alice : TTY=pts/0 ; PWD=/home/alice ; USER=root ; COMMAND=/sbin/reboot`
static SUDO: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*(?<user>[\w.@\\-]+) : .*\bCOMMAND=").ok());

/// MAAS: `[info] gpu-7: Status transition from DEPLOYED to RELEASING`
static MAAS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\[\w+\] (?<node>[\w.-]+): ").ok());

/// kured: `Commanding reboot for node: gpu-7`, `Draining node gpu-7`
static KURED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bnode:? (?<node>[\w.-]+)\s*$").ok());

/// A tool's line that says on which machine it runs.
static HERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:Starting Chef (?:Infra )?(?:Client )?[Rr]un for|Node ID:) (?<node>[\w.-]+)")
        .ok()
});

/// The machine that a tool says it runs on.
pub(super) fn here(text: &str) -> Option<String> {
    Some(HERE.as_ref()?.captures(text)?["node"].to_owned())
}

/// Names the actor, or the node spoken of.
pub(super) fn note(event: &mut Event) {
    let program = event.attribute("program").unwrap_or_default();
    let text = event.message.as_deref().unwrap_or_default();
    let find = |pattern: &'static LazyLock<Option<Regex>>, name: &str| {
        let found = pattern.as_ref()?.captures(text)?;
        Some(found[name].to_owned())
    };
    match program {
        "sudo" => event.actor = find(&SUDO, "user"),
        // Its own log is of one name, and what it writes to the system's of another.
        "unattended-upgrade" | "unattended-upgrades" => {
            event.actor = Some("unattended-upgrades".to_owned());
        }
        "kured" => {
            if let Some(node) = find(&KURED, "node") {
                event.entities.node = Some(node);
            }
        }
        _ if program.starts_with("maas") => {
            if let Some(node) = find(&MAAS, "node") {
                event.entities.node = Some(node);
            }
        }
        _ => {}
    }
}
