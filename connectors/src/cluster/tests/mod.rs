mod conforming;
mod connecting;
mod e2e;
mod fake;
mod health;
mod listing;
mod logs;
mod rights;
mod same;
mod selective;
mod watching;

pub(crate) use conforming::conforming;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use fake::{Fake, Reply, Request};
use tempfile::TempDir;

use super::{Cluster, ClusterOptions, Contexts};
use crate::connector::{Clock, FetchRequest, Scope, Window};
use crate::coverage::Coverage;
use crate::event::Event;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND, Stamp};

/// Observations in the order they came.
#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

impl Collected {
    fn events(&self) -> Vec<&Event> {
        let mut events = Vec::new();
        for one in &self.0 {
            if let Observation::Event(event) = one {
                events.push(&**event);
            }
        }
        events
    }

    fn objects(&self) -> Vec<String> {
        let name = |one: &Observation| match one {
            Observation::Object(version) => Some(version.key.name.clone()),
            _ => None,
        };
        self.0.iter().filter_map(name).collect()
    }
}

/// A kubeconfig with a context for each server, the first of them current.
fn kubeconfig(servers: &[(&str, &str)]) -> (TempDir, ClusterOptions) {
    let mut text = "apiVersion: v1\nkind: Config\n".to_owned();
    let first = servers.first().map_or("", |(name, _)| name);
    text.push_str(&format!("current-context: {first:?}\ncontexts:\n"));
    for (name, _) in servers {
        text.push_str(&format!(
            "- name: {name}\n  context: {{cluster: {name}, user: u, namespace: research}}\n"
        ));
    }
    text.push_str("clusters:\n");
    for (name, server) in servers {
        text.push_str(&format!(
            "- name: {name}\n  cluster: {{server: {server:?}}}\n"
        ));
    }
    text.push_str("users:\n- name: u\n  user: {token: abc}\n");
    written(&text)
}

fn written(text: &str) -> (TempDir, ClusterOptions) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    std::fs::write(&file, text).unwrap();
    let options = ClusterOptions {
        selective: true,
        kubeconfig: Some(file),
        contexts: Contexts::Current,
        connect_timeout: Duration::from_secs(5),
        backoff: Duration::from_millis(20),
        ..ClusterOptions::default()
    };
    (dir, options)
}

/// A cluster whose server answers as `handler` says.
async fn cluster(
    handler: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
) -> (Fake, Cluster) {
    cluster_with(handler, |_| {}).await
}

async fn cluster_with(
    handler: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    change: impl FnOnce(&mut ClusterOptions),
) -> (Fake, Cluster) {
    let fake = fake::start(handler);
    let (_dir, mut options) = kubeconfig(&[("lab", &fake.url())]);
    change(&mut options);
    let cluster = Cluster::connect(&options).await.unwrap();
    (fake, cluster)
}

fn now() -> Nanos {
    Stamp::parse("2026-11-21T15:30:00Z").unwrap().lo
}

/// A clock that goes on by a second whenever it is asked.
fn ticking() -> Clock {
    let time = AtomicI64::new(now());
    Arc::new(move || time.fetch_add(SECOND, Ordering::Relaxed))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn fetch_request() -> FetchRequest {
    FetchRequest {
        scope: Scope::default(),
        window: Window::default(),
        now: now(),
        deadline: soon(),
    }
}

async fn fetch(cluster: &Cluster) -> (Collected, Vec<Coverage>) {
    let mut kept = Collected::default();
    let rows = cluster.fetch(&fetch_request(), &mut kept).await;
    (kept, rows)
}

fn row<'a>(rows: &'a [Coverage], resource: &str) -> &'a Coverage {
    let found = rows.iter().find(|row| row.resource == resource);
    found.unwrap_or_else(|| panic!("no row of {resource} in {rows:#?}"))
}

fn detail(row: &Coverage) -> &str {
    row.detail.as_deref().unwrap_or_default()
}
