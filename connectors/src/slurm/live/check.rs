//! Whether Slurm can be asked, and what for.

use std::time::Instant;

use super::cover::{Kind, words};
use super::job_scope::JobScope;
use super::query::{SlurmQuery, Transport};
use super::source::Slurm;
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::http::HttpError;
use crate::time::{Nanos, SECOND};

/// One small request for each kind of thing.
pub(super) async fn check(slurm: &Slurm, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: slurm.options.name.clone(),
        place: slurm.place.to_string(),
        ..Health::default()
    };
    if let Err(failure) = greet(slurm, now, deadline, &mut health).await {
        health.unreachable = Some(words(&failure));
        return health;
    }
    // The jobs of the last minute, whoever's.
    let wanted = JobScope {
        all: true,
        from: now.saturating_sub(60 * SECOND),
        to: now,
        ..JobScope::default()
    };
    let query = SlurmQuery {
        way: &slurm.way,
        wanted: &wanted,
        place: &slurm.place,
        deadline,
    };
    for kind in Kind::ALL {
        let answer = match kind {
            Kind::Accounting => match query.accounted(0).await {
                Ok(None) => Some(Err(HttpError::BadRequest(
                    "slurmdbd is not configured here".to_owned(),
                ))),
                other => Some(other.map(drop)),
            },
            Kind::Queue => Some(query.queued(None).await.map(drop)),
            Kind::Nodes => Some(query.nodes(&wanted.nodes).await.map(drop)),
            Kind::NodeEvents => match query.node_events(&wanted.nodes).await {
                Ok(None) => None,
                other => Some(other.map(drop)),
            },
        };
        let Some(answer) = answer else { continue };
        health.permissions.push(Permission {
            what: format!("read {}", kind.resource()),
            verdict: match &answer {
                Ok(()) => Verdict::Allowed,
                Err(failure) if failure.is_denied() => Verdict::Denied,
                Err(_) => Verdict::Unknown,
            },
            shows: kind.shows().to_owned(),
            detail: answer.err().map(|failure| words(&failure)),
        });
    }
    health
}

/// Who answers, of which version.
async fn greet(
    slurm: &Slurm,
    now: Nanos,
    deadline: Instant,
    health: &mut Health,
) -> Result<(), HttpError> {
    match &slurm.way {
        Transport::Rest(rest) => {
            let versions = rest.versions(deadline).await?;
            let emitted = |version: &Option<String>| version.clone().unwrap_or("none".to_owned());
            let control = emitted(&versions.control);
            let accounting = emitted(&versions.accounting);
            let answer = rest.ping(deadline).await?;
            health.version = Some(format!("API {control}, of accounting {accounting}"));
            health.skew = answer.date().map(|date| Skew {
                by: date + SECOND / 2 - now,
                // `now` is when checking began.
                within: 30 * SECOND,
            });
        }
        Transport::Commands(commands) => health.version = Some(commands.version(deadline).await?),
    }
    Ok(())
}
