//! Following a cluster: a watch for each resource, renewed for as long as asked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::connect::Inner;
use super::follow::ResourceFollower;
use super::plan::{PlanInput, plan};
use crate::connector::{Batch, Clock, Cursor, Stop};
use crate::coverage::{Coverage, Status};
use crate::time::{Nanos, SECOND};

/// How long learning what there is may take.
const PLANNING: Duration = Duration::from_secs(60);

/// Kinds come and rights change: what there is to follow is learned again.
const PLAN_AGAIN: Duration = Duration::from_secs(600);

/// How often what cannot be followed is said again, so that every hour has its rows.
const REPORT_AGAIN: Nanos = 3_600 * SECOND;

/// The same where it could not be learned in full.
const PLAN_SOON: Duration = Duration::from_secs(30);

/// Follows all that may be followed until `stop`, or until nobody takes it.
pub(super) async fn watch(
    inner: Arc<Inner>,
    cursors: Vec<Cursor>,
    clock: Clock,
    stop: Stop,
    to: mpsc::Sender<Batch>,
) {
    let mut followed = BTreeSet::new();
    let mut emitted: Vec<Coverage> = Vec::new();
    let mut reported_at = Nanos::MIN;
    let mut tasks = JoinSet::new();
    loop {
        let need = PlanInput {
            namespaces: &[],
            verbs: &["list", "watch"],
            now: clock(),
            deadline: Instant::now() + PLANNING,
        };
        let plan = tokio::select! {
            () = stop.cancelled() => break,
            plan = plan(&inner, &need) => plan,
        };
        let failed = plan.rows.iter().any(|row| row.status == Status::Failed);
        // Only the time differs where nothing has changed.
        let again = need.now.abs_diff(reported_at) >= REPORT_AGAIN.unsigned_abs();
        if again {
            reported_at = need.now;
        }
        let rows: Vec<Coverage> = plan
            .rows
            .iter()
            .filter(|row| again || !emitted.iter().any(|known| same(known, row)))
            .cloned()
            .collect();
        emitted = plan.rows;
        if !rows.is_empty() {
            let batch = Batch {
                coverage: rows,
                ..Batch::default()
            };
            if to.send(batch).await.is_err() {
                break;
            }
        }
        for target in plan.targets {
            if followed.insert((target.resource.name(), target.namespace.clone())) {
                let cursor = cursors.iter().find(|cursor| {
                    cursor.place == *inner.id
                        && cursor.resource == target.resource.name()
                        && cursor.namespace == target.namespace.as_deref().unwrap_or_default()
                });
                let follow =
                    ResourceFollower::new(Arc::clone(&inner), target, cursor, &clock, &stop, &to);
                tasks.spawn(follow.run());
            }
        }
        // Who may read nothing yet is given the right to soon, or has mistaken the cluster.
        let again = if failed || followed.is_empty() {
            PLAN_SOON
        } else {
            PLAN_AGAIN
        };
        tokio::select! {
            () = stop.cancelled() => break,
            () = to.closed() => break,
            () = tokio::time::sleep(again) => {}
        }
    }
    // Each sends what it has read and ends.
    if to.is_closed() {
        tasks.abort_all();
    }
    while tasks.join_next().await.is_some() {}
}

fn same(a: &Coverage, b: &Coverage) -> bool {
    let timeless = |row: &Coverage| Coverage {
        asked_to: None,
        ..row.clone()
    };
    timeless(a) == timeless(b)
}
