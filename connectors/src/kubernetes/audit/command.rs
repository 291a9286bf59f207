//! Commands: objects by which Volcano is asked to abort, restart or resume a job, once each.

use super::act::AuditAct;
use crate::event::Event;
use crate::kind;
use crate::kubernetes::field;

/// Their kind.
pub(super) const KIND: &str = "Command";

/// The actions that are asked for so (`pkg/apis/bus/v1alpha1/actions.go`).
const ACTIONS: [&str; 6] = [
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
];

/// What a command asks for, and of which object.
pub(super) struct Command {
    action: String,
    kind: String,
    name: String,
    uid: Option<String>,
}

/// Whether an object is a command.
pub(super) fn is_one(kind: &str, group: &str) -> bool {
    kind == KIND && group == "bus.volcano.sh"
}

impl AuditAct<'_> {
    /// What the request's body says; of one that is not kept, what its name does: `vcctl` names it after job and action.
    pub(super) fn commanded(&self) -> Option<Command> {
        let body = |path: &[&str]| field::text(self.record.get("requestObject")?, path);
        if let (Some(action), Some(name)) = (body(&["action"]), body(&["target", "name"])) {
            let group = body(&["target", "apiVersion"]).unwrap_or_default();
            return Some(Command {
                action: action.to_owned(),
                kind: kind::normal_kind(body(&["target", "kind"])?, group),
                name: name.to_owned(),
                uid: body(&["target", "uid"]).map(str::to_owned),
            });
        }
        let (stem, _drawn) = field::text(self.record, &["objectRef", "name"])?.rsplit_once('-')?;
        let (job, word) = stem.rsplit_once('-')?;
        let action = ACTIONS
            .iter()
            .find(|action| action.eq_ignore_ascii_case(word))?;
        Some(Command {
            action: (*action).to_owned(),
            kind: "VolcanoJob".to_owned(),
            name: job.to_owned(),
            uid: None,
        })
    }

    /// A command is a request about what it names.
    pub(super) fn redirect(&self, event: &mut Event) {
        if self.kind != KIND {
            return;
        }
        let Some(command) = self.commanded() else {
            return;
        };
        event.object_kind = Some(command.kind.clone());
        event.object_uid = command.uid;
        event.entities.workload_kind = Some(command.kind);
        event.entities.workload = Some(command.name);
        event.set_attribute("action", Some(command.action));
    }
}
