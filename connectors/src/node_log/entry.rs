//! A line of a machine's log that stood in a record of a log store: the record
//! says when it was and whose, the line what.

use super::line::{self, LineTime};
use super::nvidia::Gpus;
use super::{filter, memory_group, subject};
use crate::event::Event;
use crate::redact::redact;
use crate::slurm;

/// Takes the line apart that is an event's message: what a serial port or the
/// journal put before the text, which program spoke, which GPU or pod is meant.
/// Gives the facts that it is: none where it means nothing. `program` is who
/// spoke, where the record says it.
pub(crate) fn emit(mut event: Event, program: Option<&str>) -> Vec<Event> {
    let text = event.message.clone().unwrap_or_default();
    event.set_attribute("program", program);
    if program.is_none()
        && let Some(parsed) = line::parse(&text)
    {
        event.message = Some(redact(&parsed.message).into_owned());
        event.severity = parsed.severity.or(event.severity);
        event.set_attribute("program", parsed.program);
        event.set_attribute("program_pid", parsed.pid);
        event.set_attribute("facility", parsed.facility);
        if let LineTime::Uptime { nanos, .. } = parsed.when {
            event.set_attribute("uptime_s", Some(nanos / crate::time::SECOND));
        }
    }
    let message = event.message.as_deref().unwrap_or_default();
    let program = event.attribute("program");
    if !filter::may_be_evidence(message) && !slurm::says(program) {
        return Vec::new();
    }
    let of_kernel = program == Some("kernel");
    if of_kernel {
        let moment = Some(event.time.lo);
        Gpus::default().note(&mut event, moment);
    }
    memory_group::note(&mut event, of_kernel);
    subject::note(&mut event);
    if slurm::says(event.attribute("program")) {
        return slurm::daemon(&event);
    }
    vec![event]
}
