//! The one way of a statement that came by a wire.

use std::sync::Arc;
use std::time::Instant;

use crate::serve::api::explained_for;
use crate::serve::audit::AuditEntry;
use crate::serve::statement::{StatementError, StatementOutput};
use crate::serve::{Caller, Service};
use crate::sql::{Form, WireStatement};

/// The longest statement, as over HTTP; values of its parameters count.
pub(super) const LONGEST: usize = 1 << 20;

/// A statement whose end is written down, even if nobody waits for it any more.
struct Trail<'a> {
    service: &'a Service,
    face: &'static str,
    caller: &'a str,
    what: &'a str,
    began: Instant,
    is_recorded: bool,
}

impl Trail<'_> {
    fn record(&mut self, outcome: &str, rows: Option<u64>) {
        self.is_recorded = true;
        let asked = AuditEntry {
            caller: self.caller,
            face: self.face,
            what: self.what,
            outcome,
            rows,
            took: self.began.elapsed(),
        };
        self.service.audit.write(&asked, (self.service.clock)());
    }
}

impl Drop for Trail<'_> {
    fn drop(&mut self) {
        if !self.is_recorded {
            self.record("cancelled", None);
        }
    }
}

/// Runs a statement of a caller, who came by `face`, and writes that down.
pub(super) async fn run(
    service: &Arc<Service>,
    face: &'static str,
    caller: &Caller,
    statement: &str,
    wire: WireStatement,
) -> Result<StatementOutput, StatementError> {
    if let Some(why) = service.audit.blocked_by() {
        return Err(StatementError::Refused(
            format!("statements are refused because the audit trail cannot be written: {why}"),
            vec!["the operator must free space on the store's disk".to_owned()],
        ));
    }
    let mut trail = Trail {
        service,
        face,
        caller: &caller.name,
        what: statement,
        began: Instant::now(),
        is_recorded: false,
    };
    if statement.len() > LONGEST {
        trail.record("refused", None);
        return Err(StatementError::Refused(
            format!("a statement may be at most {LONGEST} bytes long"),
            Vec::new(),
        ));
    }
    let describe = wire.describe;
    if !describe {
        explained_for(service, statement).await;
    }
    let mut job = service.job_of(caller.clone(), statement.to_owned(), Form::Arrow);
    job.wire = Some(wire);
    let ran = service.job(&caller.name, job).await;
    match &ran {
        // No row was told; running it is written down when it runs.
        Ok(_) if describe => trail.is_recorded = true,
        Ok(ran) => trail.record("answered", Some(ran.rows)),
        Err(StatementError::Refused(..)) => trail.record("refused", None),
        Err(_) => trail.record("failed", None),
    }
    ran
}

/// Writes down that somebody was not let in.
pub(super) fn turned_away(service: &Service, face: &'static str, caller: &str, why: &str) {
    let asked = AuditEntry {
        caller,
        face,
        what: why,
        outcome: "refused",
        rows: None,
        took: std::time::Duration::ZERO,
    };
    service.audit.write(&asked, (service.clock)());
}
