//! Why an instance is in the state it is in, as EC2 says afterwards.

use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, Phase, set_message};
use crate::event::Event;
use crate::machine::Machine;
use crate::text_time::{self, ParsedTime};
use crate::time::Stamp;

/// A `StateReason` with the state and the text of the transition.
#[derive(Debug)]
pub(super) struct State<'s> {
    pub(super) code: &'s str,
    pub(super) message: &'s str,
    /// `User initiated (2026-11-21 10:00:00 GMT)`.
    pub(super) transition: &'s str,
    /// `stopped`, `terminated`, …
    pub(super) state: &'s str,
}

impl State<'_> {
    /// When it happened: only the transition's text says.
    pub(super) fn at(&self) -> Option<ParsedTime> {
        let (_, rest) = self.transition.rsplit_once('(')?;
        text_time::text_time(rest.trim_end_matches(')'))
    }

    /// What happened; `None` for a state that needs no reason.
    pub(super) fn emit(&self, machine: &Machine, facts: &FactBuilder<'_>) -> Option<Event> {
        // Nothing says when, but that it happened is worth knowing.
        let at = self.at().unwrap_or(ParsedTime {
            stamp: Stamp::OPEN,
            inferred: Some("none"),
        });
        let terminated = matches!(self.state, "terminated" | "shutting-down");
        let host = |phase, planned| HostEvent {
            name: self.code,
            phase,
            planned: Some(planned),
            event_id: "",
            not_before: None,
            not_after: None,
        };
        let call = |method, outcome, error| Activity {
            method,
            outcome,
            event_id: "",
            actor: None,
            error,
        };
        let mut event = match self.code {
            "Server.SpotInstanceTermination"
            | "Server.SpotInstanceShutdown"
            | "Server.InternalError"
            | "Client.InstanceInitiatedShutdown" => {
                facts.host_event(at, machine, host(Phase::Acted, false))
            }
            "Server.ScheduledStop" => facts.host_event(at, machine, host(Phase::Acted, true)),
            "Client.UserInitiatedShutdown"
            | "Client.UserInitiatedHibernate"
            | "Client.InstanceTerminated" => {
                let method = if terminated {
                    "TerminateInstances"
                } else {
                    "StopInstances"
                };
                facts.activity(at, machine, call(method, Outcome::Succeeded, None))
            }
            code if code.starts_with("Server.") || code.starts_with("Client.") => {
                let what = call("RunInstances", Outcome::Failed, Some(code));
                facts.activity(at, machine, what)
            }
            _ => return None,
        };
        set_message(&mut event, self.message);
        Some(event)
    }
}
