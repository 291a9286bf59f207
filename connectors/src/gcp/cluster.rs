//! GKE's own operations: upgrades, repairs, sizes of node pools.

use super::entry::{Entry, principal};
use super::error;
use crate::cloud::fact::{Activity, FactBuilder, Outcome, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::machine::{Cloud, Machine};
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    entry: &Entry<'_>,
    audit: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let full = field::text(audit, &["methodName"]).unwrap_or_default();
    let (rest, verb) = full.rsplit_once('.').unwrap_or(("", full));
    let manager = rest.rsplit('.').next().unwrap_or_default();
    let reads = ["Get", "List", "Check"]
        .iter()
        .any(|word| verb.starts_with(word));
    if reads || entry.log.ends_with("/data_access") {
        return Err(Rejection::Irrelevant(
            "an audit record of a request that changes nothing".to_owned(),
        ));
    }
    let failure = error::of_audit(audit);
    let first = field::flag(entry.record.fields, &["operation", "first"]);
    let last = field::flag(entry.record.fields, &["operation", "last"]);
    let what = Activity {
        method: &format!("{manager}.{verb}"),
        outcome: match (&failure, first && !last) {
            (Some(_), _) => Outcome::Failed,
            (None, true) => Outcome::Started,
            (None, false) => Outcome::Succeeded,
        },
        event_id: entry.event_id(),
        actor: principal(audit),
        error: failure.as_ref().map(|failure| failure.code.as_str()),
    };
    let pool = entry.of_resource("nodepool_name").or_else(|| {
        let (_, pool) = field::text(audit, &["resourceName"])?.split_once("/nodePools/")?;
        pool.split('/').next()
    });
    let pool = pool.or_else(|| {
        let bodies = [
            &["request", "nodePoolId"][..],
            &["request", "update", "desiredNodePoolId"],
        ];
        bodies.iter().find_map(|path| field::text(audit, path))
    });
    let mut machine = Machine::of(Cloud::Gcp);
    machine.group = pool.map(str::to_owned);
    let mut event = facts.activity(entry.time, &machine, what);
    let kind = if pool.is_some() {
        "NodePool"
    } else {
        "Cluster"
    };
    event.object_kind = Some(kind.to_owned());
    entry.place(&mut event);
    let kind = field::text(audit, &["metadata", "operationType"])
        .or_else(|| field::text(audit, &["response", "operationType"]))
        // A request for another version replaces the pool's nodes, whatever else it asks for.
        .or_else(|| {
            let version = field::text(audit, &["request", "nodeVersion"])?;
            (verb == "UpdateNodePool" && !version.is_empty()).then_some("UPGRADE_NODES")
        });
    set_text(&mut event, "operation_type", kind);
    let agent = ["requestMetadata", "callerSuppliedUserAgent"];
    set_text(&mut event, "user_agent", field::text(audit, &agent));
    if let Some(failure) = &failure {
        set_message(&mut event, &failure.text);
    }
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
