//! A real service, or moto playing it; only read. `CLOUDWATCH_LOG_GROUPS` names
//! the groups, `E2E_POD` a pod with lines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cloudwatch::{CloudWatch, CloudWatchOptions};
use crate::log_store::{LineFilter, LineQuery, LineSubject, LogStore as _, PodRef, Span};
use crate::time::{Nanos, SECOND};

#[tokio::test]
async fn e2e_a_real_service_answers() {
    let Ok(url) = std::env::var("E2E_CLOUDWATCH_URL") else {
        return whathappened_loopback::skipped("E2E_CLOUDWATCH_URL is not set");
    };
    let mut options = CloudWatchOptions::from_env(&|name| std::env::var(name).ok());
    options.aws.endpoint = Some(url);
    let now = std::env::var("E2E_NOW")
        .ok()
        .and_then(|now| now.parse().ok());
    let now: Nanos = now.unwrap_or(0) * SECOND;
    let store = CloudWatch::open(options, Arc::new(move || now))
        .await
        .unwrap();
    let soon = Instant::now() + Duration::from_secs(60);
    let health = store.check(now, soon).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let pod = std::env::var("E2E_POD").unwrap_or("w-0".to_owned());
    for (only, newest) in [
        (LineFilter::All, false),
        (LineFilter::All, true),
        (LineFilter::Significant, false),
    ] {
        let requested = LineQuery {
            about: LineSubject::Pods(vec![PodRef {
                namespace: None,
                name: pod.clone(),
            }]),
            span: Span {
                from: now - 86_400 * SECOND,
                to: now + SECOND,
            },
            only,
            newest,
            limit: 10_000,
        };
        let got = store.lines(&requested, soon).await.unwrap();
        let (lines, partial) = (got.lines.len(), got.partial);
        println!(
            "{only:?} newest {newest}: {lines} lines, cut {}, {partial:?}",
            got.cut
        );
        println!("{:?}", got.lines.first());
        assert!(
            got.lines
                .windows(2)
                .all(|pair| pair[0].stamp <= pair[1].stamp)
        );
    }
}
