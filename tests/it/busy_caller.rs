//! One caller's heavy statements make no other caller wait.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::service::Service;

const LAB: &str = "fixtures/lab-cluster/input";

/// Two callers, with the limits that a service has by default.
fn service() -> Service {
    let tokens = tempfile::tempdir().unwrap();
    let config: String = ["heavy", "light"]
        .iter()
        .map(|name| {
            let path = tokens.path().join(name);
            std::fs::write(&path, format!("token-of-{name}-0000001")).unwrap();
            let path = path.display();
            format!("[[serve.caller]]\nname = '{name}'\ntoken_file = '{path}'\n")
        })
        .collect();
    Service::start(&[LAB], &config)
}

fn token(name: &str) -> String {
    format!("authorization: Bearer token-of-{name}-0000001")
}

/// What the light caller waits for: a statement, a list and an answer.
fn light(service: &Service) -> [Duration; 3] {
    let token = token("light");
    let timed = |ask: &dyn Fn() -> u16| {
        let begun = Instant::now();
        let status = ask();
        assert_eq!(status, 200);
        begun.elapsed()
    };
    let get = |path: &str| service.get(path, &[&token]).status;
    [
        timed(&|| service.sql(b"SELECT count(*) FROM runs", &[&token]).status),
        timed(&|| get("/api/v1/experiments")),
        timed(&|| get("/api/v1/answers/gpt2-small-7f3?fetch=false")),
    ]
}

#[test]
fn heavy_statements_of_one_caller_make_no_other_wait() {
    let service = service();
    // What is explained once is kept: that is not measured.
    light(&service);
    let alone = light(&service);
    // Statements of all kinds of weight, more than there are places, none of which ends soon.
    let series = "generate_series(1, 9223372036854775807)";
    let heavy = [
        format!("SELECT count(*) FROM {series}"),
        format!("SELECT max(a.value * b.value) FROM {series} a, {series} b"),
        format!("SELECT value FROM {series} ORDER BY value DESC LIMIT 1"),
        "SELECT count(*) FROM events a, events b, events c, events d".to_owned(),
    ];
    let mut running = Vec::new();
    for statement in heavy.iter().cycle().take(16) {
        let mut to = service.connect();
        let head = format!(
            "POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\n{}\r\ncontent-type: application/sql\r\ncontent-length: {}\r\n\r\n",
            token("heavy"),
            statement.len()
        );
        to.write_all(head.as_bytes()).unwrap();
        to.write_all(statement.as_bytes()).unwrap();
        running.push(to);
    }
    std::thread::sleep(Duration::from_secs(1));
    for _ in 0..3 {
        let beside = light(&service);
        for (number, (alone, beside)) in alone.iter().zip(beside).enumerate() {
            // Processors are shared, places are not.
            let most = *alone * 6 + Duration::from_secs(1);
            assert!(
                beside < most,
                "{number}: {alone:?} alone, {beside:?} beside"
            );
        }
    }
    drop(running);
}

/// A service that was killed could end no statement any more: one went on for hours.
#[test]
fn a_statement_ends_with_its_service() {
    let service = service();
    let statement = "SELECT count(*) FROM generate_series(1, 9223372036854775807)";
    let mut to = service.connect();
    write!(
        to,
        "POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\n{}\r\ncontent-type: application/sql\r\ncontent-length: {}\r\n\r\n{statement}",
        token("heavy"),
        statement.len()
    )
    .unwrap();
    let begun = Instant::now();
    let patience = Duration::from_secs(20);
    let mut started = service.children();
    while started.is_empty() && begun.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(20));
        started = service.children();
    }
    assert!(
        !started.is_empty(),
        "the statement is run in a process of its own"
    );
    drop(service);
    let runs = |id: &u32| std::path::Path::new(&format!("/proc/{id}/exe")).exists();
    let killed = Instant::now();
    while started.iter().any(runs) {
        assert!(killed.elapsed() < patience, "{started:?} still runs");
        std::thread::sleep(Duration::from_millis(50));
    }
}
