//! The real one, where the environment names it; it is only read, with at most
//! ten requests: `E2E_DATADOG_URL` or `E2E_DATADOG_SITE`, `DD_API_KEY`, `DD_APP_KEY`.

use std::env;
use std::time::SystemTime;

use super::super::Tier;
use super::*;
use crate::log_store::LogStore as _;

#[expect(
    clippy::disallowed_methods,
    reason = "a test of the present asks the clock"
)]
fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Nanos::try_from(since.unwrap().as_nanos()).unwrap()
}

#[tokio::test]
async fn e2e_datadog() {
    let place = env::var("E2E_DATADOG_URL").or_else(|_| env::var("E2E_DATADOG_SITE"));
    let Ok(place) = place else {
        whathappened_loopback::skipped("no E2E_DATADOG_URL or E2E_DATADOG_SITE");
        return;
    };
    let mut options = DatadogOptions::from_env(&|name| match name {
        "DD_HOST" => None,
        "DD_SITE" => Some(place.clone()),
        other => env::var(other).ok(),
    })
    .unwrap();
    options.tiers = Some(vec![Tier::Indexes]);
    options.requests_per_question = 2;
    options.page = 5;
    options.http.tries = 1;
    let store = Datadog::new(options).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let now = now();

    // Three requests.
    let health = store.check(now, deadline).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let span = Span {
        from: now - 60 * MINUTE,
        to: now - 2 * MINUTE,
    };
    // Two: the second page and where it ends.
    let about = LineSubject::Experiment(
        env::var("E2E_DATADOG_EXPERIMENT").unwrap_or_else(|_| "error".to_owned()),
    );
    let query = LineQuery {
        about: about.clone(),
        span,
        only: LineFilter::All,
        newest: true,
        limit: 9,
    };
    let got = store.lines(&query, deadline).await.unwrap();
    println!(
        "{} lines, cut {}, {:?}",
        got.lines.len(),
        got.cut,
        got.partial
    );
    assert!(got.lines.windows(2).all(|two| two[0].stamp <= two[1].stamp));
    assert!(got.lines.iter().all(|line| span.holds(line.stamp.lo)));
    // One, then at most two.
    let counts = store.counts(&about, span, deadline).await.unwrap();
    println!("{counts:?}");
    let mut kept = Collected::default();
    println!(
        "{:#?}",
        store.others(&about, span, deadline, &mut kept).await
    );
    println!("{} events, {} requests", kept.0.len(), store.requests());
    assert!(store.requests() <= 10);
}
