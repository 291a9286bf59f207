//! The real one, where the environment names a subscription; it is only read:
//! `E2E_AZURE_SUBSCRIPTION`, and whatever `az` or Azure's variables give.

use std::env;
use std::time::SystemTime;

use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "a test of the present asks the clock"
)]
fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Nanos::try_from(since.unwrap().as_nanos()).unwrap()
}

#[tokio::test]
async fn e2e_azure() {
    let Ok(subscription) = env::var("E2E_AZURE_SUBSCRIPTION") else {
        whathappened_loopback::skipped("no E2E_AZURE_SUBSCRIPTION");
        return;
    };
    let mut options = AzureOptions::from_env(&|name| env::var(name).ok()).unwrap();
    options.subscriptions = vec![subscription];
    options.max_pages = 2;
    let azure = Azure::open(options, Arc::new(now)).unwrap();
    let health = azure.check(now(), soon()).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let present = now();
    let fetch_request = FetchRequest {
        scope: Scope::default(),
        window: Window {
            from: Some(present - 24 * HOUR),
            to: Some(present),
        },
        now: present,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let (events, kept, rows) = fetched(&azure, &fetch_request).await;
    println!(
        "{} events, {} observations, {rows:#?}",
        events.len(),
        kept.len()
    );
    assert!(rows.iter().all(|row| row.source == "azure"));
    assert!(events.iter().all(|event| event.time.lo <= present));
}
