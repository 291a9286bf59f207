//! Against what is really there: moto, or an account. Only read.
//!
//! `E2E_AWS_ENDPOINT_URL=http://127.0.0.1:5000` asks a moto server in which
//! `E2E_AWS_INSTANCE` is stopped, if it is named; `E2E_AWS_PROFILE=dev` asks an account.

use std::time::{Duration, Instant};

use super::*;

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        whathappened_loopback::skipped(&format!("{name} is not set"));
    }
    value
}

fn present() -> Nanos {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Nanos::try_from(since.as_nanos()).unwrap()
}

async fn requested(aws: &Aws, mut question: FetchRequest) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let health = aws.check(present(), deadline).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    question.now = present();
    question.window = Window {
        from: Some(present() - DAY),
        to: None,
    };
    question.deadline = deadline;
    let mut all: Vec<Observation> = Vec::new();
    let rows = aws.fetch(&question, &mut all).await;
    for row in &rows {
        println!(
            "{} {:?} {}: {:?}",
            row.resource, row.status, row.rows, row.detail
        );
    }
    println!("{} observations", all.len());
    assert_eq!(rows.len(), 6);
    if let Some(id) = question.scope.instances.first() {
        let emitted = all.iter().any(|one| match one {
            Observation::Event(event) => {
                event.object_uid == id.uid && event.attribute("method") == Some("StopInstances")
            }
            _ => false,
        });
        assert!(emitted, "{id:?} is not told to be stopped");
    }
}

#[tokio::test]
async fn e2e_moto() {
    let Some(url) = variable("E2E_AWS_ENDPOINT_URL") else {
        return;
    };
    let keys = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
    let access = AwsAccess::with(
        SharedCredentialsProvider::new(keys),
        "us-west-2",
        Some(url),
        Arc::new(present),
    );
    let account = Account::new("moto".to_owned(), access);
    let aws = Aws::of(LiveOptions::default(), vec![account]).unwrap();
    let mut question = fetch_request(&[]);
    question.scope = Scope::default();
    requested(&aws, question.clone()).await;
    let Some(id) = variable("E2E_AWS_INSTANCE") else {
        return;
    };
    question.scope.instances = vec![Entity {
        name: id.clone(),
        uid: Some(id),
        ..Entity::default()
    }];
    requested(&aws, question).await;
}

#[tokio::test]
async fn e2e_account() {
    let Some(profile) = variable("E2E_AWS_PROFILE") else {
        return;
    };
    let options = LiveOptions::from_env(&|name| match name {
        "AWS_PROFILE" => Some(profile.clone()),
        other => std::env::var(other).ok(),
    });
    let aws = Aws::open(options, Arc::new(present)).await.unwrap();
    let mut question = fetch_request(&[]);
    question.scope = Scope::default();
    requested(&aws, question).await;
}
