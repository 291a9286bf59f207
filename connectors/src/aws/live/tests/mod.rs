//! AWS asked live, played by a server that keeps its contract.

mod conforming;
mod e2e;
mod errors;
mod reading;
mod server;

pub(crate) use conforming::conforming;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;

use self::server::FakeAccounts;
use super::options::LiveOptions;
use super::source::{Account, Aws};
use crate::aws_auth::AwsAccess;
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};
use whathappened_loopback::Fake;

/// The present of these tests.
fn now() -> Nanos {
    at("2026-11-21T15:30:00Z")
}

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

/// A server that plays `lab`, and AWS as it is asked there.
struct PlayedServer {
    fake: Fake,
    lab: Arc<Mutex<FakeAccounts>>,
    aws: Aws,
}

fn play(lab: FakeAccounts) -> PlayedServer {
    play_with(lab, |_| {})
}

fn play_with(lab: FakeAccounts, change: impl Fn(&mut LiveOptions)) -> PlayedServer {
    let lab = Arc::new(Mutex::new(lab));
    let played = Arc::clone(&lab);
    let fake = Fake::start(move |requested| played.lock().unwrap().answer(requested));
    let mut options = LiveOptions {
        between_lookups: Duration::ZERO,
        ..LiveOptions::default()
    };
    change(&mut options);
    let accounts = vec![account("default", &fake.url())];
    let aws = Aws::of(options, accounts).unwrap();
    PlayedServer { fake, lab, aws }
}

fn account(label: &str, url: &str) -> Account {
    let keys = Credentials::new(format!("AK{label}"), "secret", None, None, "test");
    let access = AwsAccess::with(
        SharedCredentialsProvider::new(keys),
        "us-east-1",
        Some(url.to_owned()),
        Arc::new(now),
    );
    Account::new(label.to_owned(), access)
}

/// An hour of a run until half past three.
fn fetch_request(nodes: &[(&str, &str)]) -> FetchRequest {
    let window = Window {
        from: Some(at("2026-11-21T14:00:00Z")),
        to: Some(at("2026-11-21T15:10:00Z")),
    };
    let nodes = nodes.iter().map(|(name, uid)| Entity {
        name: (*name).to_owned(),
        uid: Some((*uid).to_owned()).filter(|uid| !uid.is_empty()),
        window,
        ..Entity::default()
    });
    FetchRequest {
        scope: Scope {
            nodes: nodes.collect(),
            experiments: vec!["e1".to_owned()],
            ..Scope::default()
        },
        window,
        now: now(),
        deadline: Instant::now() + Duration::from_secs(30),
    }
}

struct Collected {
    all: Vec<Observation>,
    rows: Vec<Coverage>,
}

impl Collected {
    fn events(&self) -> Vec<&Event> {
        let events = self.all.iter().filter_map(|one| match one {
            Observation::Event(event) => Some(&**event),
            _ => None,
        });
        events.collect()
    }

    /// What is told of a machine: the host event, the call or what the group did.
    fn emitted(&self, id: &str) -> Vec<String> {
        let events = self.events().into_iter();
        let ours = events.filter(|event| event.object_uid.as_deref() == Some(id));
        ours.filter_map(|event| {
            let named = event.attribute("host_event").or(event.attribute("method"));
            Some(named.or(event.reason.as_deref())?.to_owned())
        })
        .collect()
    }

    fn row(&self, resource: &str) -> &Coverage {
        let mut rows = self.rows.iter().filter(|row| row.resource == resource);
        let row = rows.next().unwrap();
        assert!(rows.next().is_none(), "{resource} has several rows");
        row
    }

    fn detail(&self, resource: &str) -> &str {
        self.row(resource).detail.as_deref().unwrap_or_default()
    }

    fn statuses(&self) -> Vec<(&str, Status)> {
        let rows = self.rows.iter();
        rows.map(|row| (row.resource.as_str(), row.status))
            .collect()
    }
}

impl PlayedServer {
    async fn fetch(&self, fetch_request: &FetchRequest) -> Collected {
        let mut all: Vec<Observation> = Vec::new();
        let rows = self.aws.fetch(fetch_request, &mut all).await;
        Collected { all, rows }
    }

    /// How often an action was asked for.
    fn count(&self, action: &str) -> usize {
        self.fake
            .count(|requested| server::action(requested) == action)
    }
}

const DAY: Nanos = 86_400 * SECOND;
