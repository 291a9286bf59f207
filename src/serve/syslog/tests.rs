//! Who is waited for, and how long.

use std::net::Ipv4Addr;
use std::time::Instant;

use tokio::io::AsyncWriteExt as _;

use super::*;

/// As the two times of the service, only shorter.
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(3);

/// How long a connection stayed that was sent a text, and then another one again and
/// again; and what was received on it.
async fn stayed(first: &str, again: &str, places: usize) -> (Duration, Vec<String>) {
    let (mut client, server) = tokio::io::duplex(64 << 10);
    let (to, mut from) = mpsc::channel(WAITING);
    let places = Arc::new(Semaphore::new(places));
    let begun = Instant::now();
    let task = tokio::spawn(async move {
        let patience = Patience {
            idle: LONG,
            unfinished: SHORT,
            places: &places,
        };
        let sender = Ipv4Addr::LOCALHOST.into();
        connection(server, sender, to, Stop::new(), &patience).await;
    });
    // It may be closed already.
    let _closed = client.write_all(first.as_bytes()).await;
    while !task.is_finished() && begun.elapsed() < LONG * 4 {
        tokio::time::sleep(SHORT / 20).await;
        let _closed = client.write_all(again.as_bytes()).await;
    }
    let time = begun.elapsed();
    drop(client);
    let mut messages = Vec::new();
    while let Some((_, message)) = from.recv().await {
        messages.push(message);
    }
    (time, messages)
}

#[tokio::test]
async fn who_sends_no_whole_line_is_closed_soon() {
    for (first, again) in [
        ("", ""),
        ("<1>a", ""),
        ("<1>a", "b"),
        ("", "b"),
        ("9999 <1>a", "b"),
    ] {
        let (time, _) = stayed(first, again, CONNECTIONS).await;
        assert!(
            time >= SHORT && time < LONG,
            "{first:?} {again:?}: {time:?}"
        );
    }
}

#[tokio::test]
async fn a_machine_that_spoke_may_be_silent_while_there_is_room() {
    let (time, messages) = stayed("<1>a\n", "", CONNECTIONS).await;
    assert_eq!(messages, ["<1>a"]);
    assert!(time >= LONG && time < LONG * 4, "{time:?}");
    let (time, _) = stayed("<1>a\n", "", 2).await;
    assert!(time < LONG, "{time:?}");
}

#[tokio::test]
async fn a_line_that_does_not_end_closes_its_connection() {
    let much = "x".repeat(300 << 10);
    let (_, messages) = stayed("<1>", &much, CONNECTIONS).await;
    assert_eq!(messages.len(), 1);
}
