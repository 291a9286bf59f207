//! AWS asked live, played by a server that keeps its contract.

mod e2e;
mod reading;
mod server;
mod trouble;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;

use self::server::Lab;
use super::options::LiveOptions;
use super::source::{Account, Aws};
use crate::aws_auth::AwsAccess;
use crate::connector::{Ask, Connector as _, Entity, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::http::fake::Fake;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};

/// The present of these tests.
fn now() -> Nanos {
    at("2026-11-21T15:30:00Z")
}

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

/// A server that plays `lab`, and AWS as it is asked there.
struct Played {
    fake: Fake,
    lab: Arc<Mutex<Lab>>,
    aws: Aws,
}

fn play(lab: Lab) -> Played {
    play_with(lab, |_| {})
}

fn play_with(lab: Lab, change: impl Fn(&mut LiveOptions)) -> Played {
    let lab = Arc::new(Mutex::new(lab));
    let played = Arc::clone(&lab);
    let fake = Fake::start(move |asked| played.lock().unwrap().answer(asked));
    let mut options = LiveOptions {
        between_lookups: Duration::ZERO,
        ..LiveOptions::default()
    };
    change(&mut options);
    let accounts = vec![account("default", &fake.url())];
    let aws = Aws::of(options, accounts).unwrap();
    Played { fake, lab, aws }
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
fn ask(nodes: &[(&str, &str)]) -> Ask {
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
    Ask {
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

struct Got {
    all: Vec<Observation>,
    rows: Vec<Coverage>,
}

impl Got {
    fn events(&self) -> Vec<&Event> {
        let events = self.all.iter().filter_map(|one| match one {
            Observation::Event(event) => Some(&**event),
            _ => None,
        });
        events.collect()
    }

    /// What is told of a machine: the host event, the call or what the group did.
    fn told(&self, id: &str) -> Vec<String> {
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

impl Played {
    async fn fetch(&self, ask: &Ask) -> Got {
        let mut all: Vec<Observation> = Vec::new();
        let rows = self.aws.fetch(ask, &mut all).await;
        Got { all, rows }
    }

    /// How often an action was asked for.
    fn count(&self, action: &str) -> usize {
        self.fake.count(|asked| server::action(asked) == action)
    }
}

const DAY: Nanos = 86_400 * SECOND;
