//! Whether Google Cloud can be used: login, projects, permissions, clock.

use std::time::Instant;

use super::advice::RequestContext;
use super::entries::{self, Page};
use super::inventory;
use super::plan::{ACTIVITY, SYSTEM};
use super::source::Gcp;
use super::{emit, filter};
use crate::connector::{Connector as _, Health, Permission, Skew, Verdict};
use crate::http::{Answer, HttpError, Request};
use crate::time::{Nanos, SECOND};

/// Projects that are looked at.
const MOST: usize = 5;

const DAY: Nanos = 86_400 * SECOND;

/// How long the logs are kept that are read here.
const FAR: Nanos = 400 * DAY;

/// Requests of others, which change nothing.
const PRIVATE: &str = "cloudaudit.googleapis.com/data_access";

/// Asks each project for the oldest system event, one private entry and one
/// instance.
pub(super) async fn check(gcp: &Gcp, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: gcp.name().to_owned(),
        place: gcp.place().to_owned(),
        ..Health::default()
    };
    if let Err(failure) = gcp.login.ready(deadline).await {
        health.unreachable = Some(RequestContext::logs("").emitted(&failure));
        return health;
    }
    let projects = match gcp.named(deadline).await {
        Ok(projects) => projects,
        Err(failure) => {
            health.notes.push(format!(
                "{failure}; machines whose project is known are looked up there"
            ));
            return health;
        }
    };
    for project in projects.iter().take(MOST) {
        of(gcp, project, (now, deadline), &mut health).await;
    }
    if projects.len() > MOST {
        health.notes.push(format!(
            "only the first {MOST} of {} projects were checked",
            projects.len()
        ));
    }
    health
}

async fn of(gcp: &Gcp, project: &str, (now, deadline): (Nanos, Instant), health: &mut Health) {
    let logs = RequestContext::logs(project);
    let start = Instant::now();
    let answer = one(gcp, project, SYSTEM, (now - FAR, now), deadline).await;
    let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
    if let Some(date) = answer.as_ref().ok().and_then(Answer::date) {
        health.skew = Some(Skew {
            by: date + SECOND / 2 - (now + took / 2),
            within: SECOND / 2 + took / 2,
        });
    }
    let page = answer.and_then(|answer| Page::of(&answer));
    let oldest = page
        .as_ref()
        .ok()
        .and_then(|page| emit::time_of(page.entries.first()?));
    if let Some(oldest) = oldest {
        let known = health.reaches_back_to.get_or_insert(oldest);
        *known = oldest.min(*known);
    }
    let shows = format!("what happened to machines and who requested it ({SYSTEM}, {ACTIVITY})");
    health
        .permissions
        .push(permission(&logs, &shows, page.as_ref().err()));
    if let Err(failure) = &page {
        // A server that is not there is told once.
        if failure.code().is_none() && !failure.is_denied() {
            health.unreachable = Some(logs.emitted(failure));
            return;
        }
    } else {
        health
            .permissions
            .push(private(gcp, project, now, deadline).await);
    }
    let instances = inventory::first(&gcp.compute, project, deadline).await;
    health.permissions.push(permission(
        &RequestContext::inventory(project),
        "which machines there are, their numbers and labels, and maintenance that is to come",
        instances.as_ref().err(),
    ));
}

/// The oldest entry of a log.
async fn one(
    gcp: &Gcp,
    project: &str,
    log: &str,
    (from, to): (Nanos, Nanos),
    deadline: Instant,
) -> Result<Answer, HttpError> {
    let filter = filter::all([filter::between(from, to), filter::log(log)]);
    let body = entries::body(&[project.to_owned()], &filter, 1);
    let request = Request::post("v2/entries:list").json(&body)?;
    gcp.logging.send(&request, deadline).await
}

fn permission(
    requested: &RequestContext<'_>,
    shows: &str,
    failure: Option<&HttpError>,
) -> Permission {
    Permission {
        what: format!("{} on project {}", requested.permission, requested.project),
        verdict: match failure {
            None => Verdict::Allowed,
            Some(failure) if failure.is_denied() => Verdict::Denied,
            Some(_) => Verdict::Unknown,
        },
        shows: shows.to_owned(),
        detail: failure.map(|failure| requested.emitted(failure)),
    }
}

/// Entries that one may not see are left out without a word.
async fn private(gcp: &Gcp, project: &str, now: Nanos, deadline: Instant) -> Permission {
    let page = one(gcp, project, PRIVATE, (now - DAY, now), deadline).await;
    let seen = page
        .and_then(|answer| Page::of(&answer))
        .is_ok_and(|page| !page.entries.is_empty());
    Permission {
        what: format!("logging.privateLogEntries.list on project {project}"),
        verdict: if seen { Verdict::Allowed } else { Verdict::Unknown },
        shows: "who read what; not needed for answers".to_owned(),
        detail: (!seen).then(|| {
            "no entries of the last day: Data Access logs are disabled, or you are not allowed to see them (roles/logging.privateLogViewer)"
                .to_owned()
        }),
    }
}
