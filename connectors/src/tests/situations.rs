//! The situations, and what holds in each for every source.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use whathappened_loopback::{ReceivedRequest, Reply};

use super::conformance::{Open, Subject};
use crate::coverage::Status;
use crate::time::SECOND;

/// How long a question may take that has nothing to wait for.
const LONG: Duration = Duration::from_secs(30);

/// How long somebody waits for a source that does not answer, and by when it has to be given up.
const SHORT: Duration = Duration::from_millis(1_500);
const GIVEN_UP: Duration = Duration::from_secs(4);

const SOURCES: &[(&str, Open)] = &[
    ("alertmanager", crate::alertmanager::tests::conforming),
    ("aws", crate::aws::live::tests::conforming),
    ("azure", crate::azure::live::tests::conforming),
    ("gcp", crate::gcp::live::tests::conforming),
    ("grafana", crate::grafana::tests::conforming),
    ("kubernetes", crate::cluster::tests::conforming),
    ("prometheus", crate::prometheus::tests::conforming),
    ("slurm", crate::slurm::live::tests::conforming),
];

/// Seconds of some records: of two, of many at times of their own, of many of which several share a
/// second wherever a page may end.
fn apart(count: i64) -> Vec<i64> {
    (0..count).map(|number| 5 + number * 3).collect()
}

fn tied(count: i64) -> Vec<i64> {
    (0..count).map(|number| 5 + number / 7 * 3).collect()
}

/// What an answer for records becomes: by its number, from 0.
type Fault = fn(usize, Reply) -> Reply;

fn refused(code: u16, words: &str) -> Reply {
    let body = format!(r#"{{"message":"{words}","error":"{words}"}}"#);
    Reply::Full(
        code,
        vec![("Content-Type", "application/json".to_owned())],
        body,
    )
}

fn throttled(seconds: u32) -> Reply {
    let headers = vec![("Retry-After", seconds.to_string())];
    Reply::Full(
        429,
        headers,
        r#"{"message":"too many requests"}"#.to_owned(),
    )
}

fn page_of_a_login() -> Reply {
    let headers = vec![("Content-Type", "text/html".to_owned())];
    Reply::Full(
        200,
        headers,
        "<!doctype html><html><body>Sign in</body></html>".to_owned(),
    )
}

/// Nothing comes of these, however often one tries.
const LASTING: &[(&str, Fault)] = &[
    ("denied", |_, _| refused(403, "forbidden")),
    ("expired token", |_, _| {
        refused(401, "the token has expired")
    }),
    ("throttled for an hour", |_, _| throttled(3_600)),
    ("broken server", |_, _| refused(500, "internal error")),
    ("wrong type", |_, _| page_of_a_login()),
    ("half a body", |_, reply| reply.halved()),
    ("cut connection", |_, reply| reply.broken()),
    ("slow", |_, reply| {
        Reply::Late(Duration::from_secs(8), Box::new(reply))
    }),
];

/// These pass, or come between two pages.
const PASSING: &[(&str, Fault)] = &[
    ("throttled once", |number, reply| {
        if number == 0 { throttled(1) } else { reply }
    }),
    ("broken once", |number, reply| {
        if number == 0 {
            refused(503, "starting")
        } else {
            reply
        }
    }),
    (
        "cut once",
        |number, reply| if number == 0 { reply.broken() } else { reply },
    ),
    ("lost cursor", |number, reply| {
        if number == 1 {
            refused(400, "invalid cursor")
        } else {
            reply
        }
    }),
    ("expired cursor", |number, reply| {
        if number == 1 {
            refused(410, "the cursor has expired")
        } else {
            reply
        }
    }),
    ("denied from the second page on", |number, reply| {
        if number > 0 {
            refused(403, "forbidden")
        } else {
            reply
        }
    }),
    ("cut from the second page on", |number, reply| {
        if number > 0 { reply.broken() } else { reply }
    }),
    ("half bodies from the second page on", |number, reply| {
        if number > 0 { reply.halved() } else { reply }
    }),
    ("slow from the second page on", |number, reply| {
        if number > 0 {
            Reply::Late(Duration::from_secs(8), Box::new(reply))
        } else {
            reply
        }
    }),
];

/// Puts a fault before the server's answers for records.
fn tamper(subject: &Subject, fault: Fault) {
    let (is_data, number) = (subject.is_data, Arc::new(AtomicUsize::new(0)));
    subject
        .server
        .intercept(move |request: &ReceivedRequest, reply| {
            if !is_data(request) {
                return reply;
            }
            fault(number.fetch_add(1, Ordering::SeqCst), reply)
        });
}

/// What is wrong with a source, a line each.
async fn clean(name: &str, open: Open, seconds: &[i64], what: &str) -> Vec<String> {
    let subject = open(seconds.to_vec()).await;
    let found = subject.ask(LONG).await;
    let mut wrong = Vec::new();
    let whole = found.emitted.len() == seconds.len();
    if !whole {
        wrong.push(format!(
            "{} of {} records",
            found.emitted.len(),
            seconds.len()
        ));
    }
    if !found.repeated.is_empty() {
        wrong.push(format!("{} came twice", found.repeated.len()));
    }
    let many = found.emitted.iter().filter(|(_, ids)| ids.len() > 1);
    if let Some((record, ids)) = many.clone().next()
        && many.count() < found.emitted.len()
    {
        wrong.push(format!("record {record} gave {ids:?}"));
    }
    if !seconds.is_empty()
        && (found.is_short() || found.rows.iter().map(|row| row.rows).sum::<u64>() == 0)
    {
        wrong.push(format!("rows {:#?}", found.rows));
    }
    if found.caps() || found.rows.is_empty() {
        wrong.push(format!("rows {:#?}", found.rows));
    }
    wrong
        .into_iter()
        .map(|wrong| format!("{name}, {what}: {wrong}"))
        .collect()
}

async fn lasting(name: &str, open: Open, what: &str, fault: Fault) -> Vec<String> {
    let seconds = apart(12);
    let subject = open(seconds.clone()).await;
    tamper(&subject, fault);
    let found = subject.ask(SHORT).await;
    let mut wrong = Vec::new();
    if !found.emitted.is_empty() {
        wrong.push(format!("{} records of nowhere", found.emitted.len()));
    }
    if !found.caps() {
        wrong.push(format!("no row says so: {:#?}", found.rows));
    }
    let is_said =
        |row: &crate::coverage::Coverage| row.detail.is_some() && row.would_have_shown.is_some();
    if !found
        .rows
        .iter()
        .filter(|row| row.status != Status::Complete)
        .all(is_said)
    {
        wrong.push(format!("a row says not why or what: {:#?}", found.rows));
    }
    if found.took > GIVEN_UP {
        wrong.push(format!("took {:?}", found.took));
    }
    wrong
        .into_iter()
        .map(|wrong| format!("{name}, {what}: {wrong}"))
        .collect()
}

async fn passing(name: &str, open: Open, what: &str, fault: Fault) -> Vec<String> {
    let seconds = tied(40);
    let subject = open(seconds.clone()).await;
    let whole = subject.ask(LONG).await;
    // A new one: what a source keeps of an answer is not to hide the fault.
    let subject = open(seconds.clone()).await;
    tamper(&subject, fault);
    let patience = if what.contains("slow") {
        SHORT
    } else {
        Duration::from_secs(6)
    };
    let found = subject.ask(patience).await;
    let mut wrong = Vec::new();
    let missed = found.missed(&seconds, subject.start);
    if !missed.is_empty() {
        wrong.push(format!(
            "{missed:?} are missing and nobody says so: {:#?}",
            found.rows
        ));
    }
    for (record, ids) in &found.emitted {
        if whole
            .emitted
            .get(record)
            .is_none_or(|known| !ids.is_subset(known))
        {
            wrong.push(format!("record {record} is told as another: {ids:?}"));
        }
    }
    if found.took > patience + GIVEN_UP {
        wrong.push(format!("took {:?}", found.took));
    }
    wrong
        .into_iter()
        .map(|wrong| format!("{name}, {what}: {wrong}"))
        .collect()
}

/// Our clock is hours behind that of the service, or ahead.
async fn another_clock(name: &str, open: Open, what: &str, hours: i64) -> Vec<String> {
    let seconds = apart(12);
    let mut subject = open(seconds.clone()).await;
    subject.request.now += hours * 3_600 * SECOND;
    let found = subject.ask(LONG).await;
    let missed = found.missed(&seconds, subject.start);
    let wrong = (!missed.is_empty()).then(|| {
        format!(
            "{name}, {what}: {missed:?} are missing and nobody says so: {:#?}",
            found.rows
        )
    });
    wrong.into_iter().collect()
}

async fn cancelled(name: &str, open: Open) -> Vec<String> {
    let seconds = apart(40);
    let subject = open(seconds.clone()).await;
    tamper(&subject, |_, reply| {
        Reply::Late(Duration::from_millis(150), Box::new(reply))
    });
    let asking = tokio::time::timeout(Duration::from_millis(220), subject.ask(LONG));
    let ended = asking.await.is_ok();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = subject.server.requests().len();
    tokio::time::sleep(Duration::from_millis(600)).await;
    let after = subject.server.requests().len();
    let mut wrong = Vec::new();
    if after > before && !ended {
        wrong.push(format!(
            "{name}, cancelled: {} requests afterwards",
            after - before
        ));
    }
    subject.server.intercept(|_, reply| reply);
    let found = subject.ask(LONG).await;
    if found.emitted.len() != seconds.len() {
        wrong.push(format!(
            "{name}, cancelled: {} records when asked again",
            found.emitted.len()
        ));
    }
    wrong
}

async fn all(name: &str) -> Vec<String> {
    let mut sources = SOURCES.iter().chain(LOG_STORES);
    let (name, open) = sources.find(|(known, _)| *known == name).unwrap();
    let mut wrong = Vec::new();
    for (what, seconds) in [
        ("empty", Vec::new()),
        ("one page", apart(2)),
        ("many pages", apart(40)),
        ("ties at the edges of pages", tied(40)),
    ] {
        wrong.extend(clean(name, *open, &seconds, what).await);
    }
    for (what, fault) in LASTING {
        wrong.extend(lasting(name, *open, what, *fault).await);
    }
    for (what, fault) in PASSING {
        wrong.extend(passing(name, *open, what, *fault).await);
    }
    for (what, hours) in [("clock behind", -2), ("clock ahead", 2)] {
        wrong.extend(another_clock(name, *open, what, hours).await);
    }
    wrong.extend(cancelled(name, *open).await);
    wrong
}

macro_rules! tests {
    ($($source:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $source() {
                let wrong = all(stringify!($source)).await;
                assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            }
        )*
    };
}

macro_rules! conforms {
    ($($source:ident)*) => {
        tests! { $($source)* }

        #[test]
        fn every_source_is_held_to_it() {
            let tested = [$(stringify!($source)),*];
            let known: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
            assert_eq!(tested[..], known[..]);
        }
    };
}

conforms! {
    alertmanager aws azure gcp grafana kubernetes prometheus slurm
}

macro_rules! log_stores_conform {
    ($($kind:ident = $folder:ident, $code:literal;)*) => {
        const LOG_STORES: &[(&str, Open)] = &[$((stringify!($folder), crate::$folder::tests::conforming)),*];

        tests! { $($folder)* }
    };
}

whathappened_model::log_stores!(log_stores_conform);
