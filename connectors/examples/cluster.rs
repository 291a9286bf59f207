//! Connects to the clusters of a kubeconfig, checks them, and counts what is there.
//!
//! `cargo run -p whathappened-connectors --example cluster -- [KUBECONFIG [CONTEXT… | all]]`

#![expect(
    clippy::disallowed_macros,
    reason = "for developers: where nothing can be written, it may stop"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use whathappened_connectors::cluster::{ClusterOptions, Contexts, connect, contexts};
use whathappened_model::connector::{FetchRequest, Scope, Window};
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::{Nanos, rfc3339};

#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Sink for Counts {
    fn observe(&mut self, observations: Vec<Observation>) {
        for one in observations {
            let what = match one {
                Observation::Event(event) => event.fact,
                Observation::Object(version) => format!("object {}", version.key.kind),
                Observation::EventGrew { .. } => "an Event grew".to_owned(),
            };
            *self.0.entry(what).or_default() += 1;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "an example is its own main")]
fn now() -> Nanos {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        Nanos::try_from(since.as_nanos()).unwrap_or(Nanos::MAX)
    })
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().map(PathBuf::from);
    let names: Vec<String> = arguments.collect();
    let options = ClusterOptions {
        contexts: match names.as_slice() {
            [] => Contexts::Current,
            [all] if all == "all" => Contexts::All,
            _ => Contexts::Named(names),
        },
        kubeconfig,
        ..ClusterOptions::default()
    };
    for context in contexts(options.kubeconfig.as_deref()).unwrap_or_default() {
        println!("context {} → {}", context.name, context.server);
    }
    let connected = match connect(&options).await {
        Ok(connected) => connected,
        Err(error) => {
            eprintln!("{error}\n  {}", error.hint);
            return;
        }
    };
    for error in &connected.failed {
        println!(
            "\n{}: {error}\n  {}",
            error.context.as_deref().unwrap_or("?"),
            error.hint
        );
    }
    for cluster in &connected.clusters {
        println!(
            "\ncluster {} ({})",
            cluster.id(),
            cluster.contexts().join(", ")
        );
        let deadline = Instant::now() + Duration::from_secs(60);
        let health = cluster.check(now(), deadline).await;
        println!("  version {:?}, skew {:?}", health.version, health.skew);
        println!("  Events back to {:?}", health.reaches_back_to.map(rfc3339));
        for permission in &health.permissions {
            println!("  {:?} {}", permission.verdict, permission.what);
        }
        let begun = Instant::now();
        let mut counts = Counts::default();
        let fetch_request = FetchRequest {
            scope: Scope::default(),
            window: Window::default(),
            now: now(),
            deadline,
        };
        let rows = cluster.fetch(&fetch_request, &mut counts).await;
        println!("  fetched in {:.2} s", begun.elapsed().as_secs_f64());
        for row in rows {
            let detail = row.detail.unwrap_or_default();
            println!(
                "  {} {} {} {detail}",
                row.resource,
                row.status.as_str(),
                row.rows
            );
        }
        for (what, count) in counts.0 {
            println!("  {count:>8} {what}");
        }
    }
}
