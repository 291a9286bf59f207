//! The service from outside: it keeps collecting, whatever happens to it or to others.

mod alerts;
mod api_server;
mod kills;
mod service;

use std::io::Write as _;
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use api_server::{ApiServer, UID};
use service::{Service, configure, events, push, sql};

/// A list of audit records of deletions, as an API server pushes it.
fn audit(names: &[String]) -> String {
    let items = names.iter().map(|name| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("a-{name}"),
               "stage": "ResponseComplete", "requestURI": format!("/api/v1/namespaces/research/pods/{name}"), "verb": "delete",
               "user": {"username": "alice"}, "objectRef": {"resource": "pods", "namespace": "research", "name": name, "apiVersion": "v1"},
               "responseStatus": {"code": 200}, "requestReceivedTimestamp": "2026-11-21T15:20:27.123456Z", "stageTimestamp": "2026-11-21T15:20:27.223456Z"})
    });
    json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": items.collect::<Vec<_>>()}).to_string()
}

/// Sends only a head that promises a body, and gives the answer's status and how long it took.
fn promise(address: &str, head: &str) -> (u16, Duration) {
    let begun = std::time::Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let head = format!("{head}Host: localhost\r\nContent-Length: 1000000\r\n\r\nx");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    std::io::Read::read_exact(&mut stream, &mut answer).unwrap();
    let code = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
    (code, begun.elapsed())
}

#[test]
fn who_may_not_push_is_told_before_the_body_comes() {
    let server = ApiServer::start();
    configure(&server);
    let service = Service::start(&server);
    let token = service::TOKEN;
    for (head, code) in [
        ("POST /hooks/generic HTTP/1.1\r\n".to_owned(), 401),
        (
            "POST /hooks/generic HTTP/1.1\r\nAuthorization: Bearer wrong\r\n".to_owned(),
            401,
        ),
        ("POST /hooks/datadog HTTP/1.1\r\n".to_owned(), 404),
        ("POST /hooks/nothing HTTP/1.1\r\n".to_owned(), 404),
        // Who may push and then says nothing more is let go as well.
        (
            format!("POST /hooks/generic HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"),
            408,
        ),
    ] {
        let (reported, took) = promise(&service.address, &head);
        assert_eq!(reported, code, "{head}");
        let most = if code == 408 { 20 } else { 3 };
        assert!(took < Duration::from_secs(most), "{head}: {took:?}");
    }
    // Many of them turn nobody away.
    let head = format!(
        "POST /hooks/generic HTTP/1.1\r\nAuthorization: Bearer {token}\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx"
    );
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        slow.push(stream);
    }
    let good = audit(&["p-9".to_owned()]);
    assert_eq!(service.push("kubernetes-audit", &good).0, 200);
    assert_eq!(service.get("/readyz").0, 200);
    assert_eq!(service.get("/api/v1/experiments").0, 200);
}

/// A connection from one of this machine's own addresses; `None` where it has only one.
fn connected_from(sender: &str, to: &str) -> Option<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().build().unwrap();
    let connected = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{sender}:0").parse().unwrap()).ok()?;
        socket.connect(to.parse().unwrap()).await.ok()
    })?;
    let connected = connected.into_std().unwrap();
    connected.set_nonblocking(false).unwrap();
    Some(connected)
}

#[test]
fn one_sender_with_a_hook_s_token_turns_no_other_away() {
    let server = ApiServer::start();
    configure(&server);
    let service = Service::start(&server);
    let head = format!(
        "POST /hooks/kubernetes-audit HTTP/1.1\r\nAuthorization: Bearer {}\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx",
        service::TOKEN
    );
    let mut slow = Vec::new();
    for _ in 0..100 {
        let Some(mut stream) = connected_from("127.0.0.2", &service.address) else {
            return whathappened_loopback::skipped("this machine has no address 127.0.0.2");
        };
        stream.write_all(head.as_bytes()).unwrap();
        slow.push(stream);
    }
    // Those beyond the sender's own places were sent away at once.
    let mut turned_away = 0;
    for stream in &mut slow {
        let pause = Some(Duration::from_millis(50));
        stream.set_read_timeout(pause).unwrap();
        let mut answer = [0; 12];
        let read = std::io::Read::read_exact(stream, &mut answer);
        turned_away += u32::from(read.is_ok() && answer.ends_with(b"503"));
    }
    assert!((36..=68).contains(&turned_away), "{turned_away}");
    let good = audit(&["p-9".to_owned()]);
    let (code, answer) = service.push("kubernetes-audit", &good);
    assert_eq!(code, 200, "{answer}");
}

#[test]
fn one_caller_who_sends_slowly_turns_no_other_away() {
    let server = ApiServer::start();
    let of = |name: char| name.to_string().repeat(32);
    let caller = |name: char| {
        let file = server.path(&format!("token-{name}"));
        std::fs::write(&file, of(name)).unwrap();
        format!(
            "[[serve.caller]]\nname = 'caller-{name}'\ntoken_file = '{file}'\nrights = ['ask', 'sql', 'import']\n"
        )
    };
    let text = format!(
        "[serve.limits]\nat_once = 8\n{}{}",
        caller('a'),
        caller('b')
    );
    std::fs::write(server.path("config.toml"), text).unwrap();
    let service = Service::start(&server);
    let mut slow = Vec::new();
    for path in ["sql", "imports"].into_iter().cycle().take(7) {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nAuthorization: Bearer {}\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nS",
            of('a')
        );
        stream.write_all(head.as_bytes()).unwrap();
        slow.push(stream);
    }
    let ask = |name: char| {
        let mut stream = TcpStream::connect(&service.address).unwrap();
        let head = format!(
            "GET /api/v1/experiments HTTP/1.1\r\nAuthorization: Bearer {}\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            of(name)
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer
    };
    // The slow ones have come by the time that their caller is turned away.
    let refused = (0..100)
        .map(|_| ask('a'))
        .find(|answer| answer.contains(" 503 "));
    let refused = refused.unwrap_or_default();
    assert!(
        refused.contains("too many requests of caller-a are in progress"),
        "{refused}"
    );
    let other = ask('b');
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
}

#[test]
fn a_store_that_lost_its_list_is_told_at_once() {
    let server = ApiServer::start();
    configure(&server);
    let folder = std::path::PathBuf::from(server.path("store")).join("events/day=2026-11-21");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("00000001-0123456789abcdef.parquet"), "PAR1").unwrap();
    let begun = std::time::Instant::now();
    let output = Service::spawn(&server).wait_with_output().unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && reported.contains("missing or empty"),
        "{reported}"
    );
    assert!(reported.contains("whathappened store repair"), "{reported}");
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert!(folder.join("00000001-0123456789abcdef.parquet").exists());
}

fn reported(count: usize) -> impl Fn(&str) -> bool {
    move |metrics| {
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("whathappened_collector_new_facts "));
        line.and_then(|number| number.parse::<f64>().ok())
            .is_some_and(|new| new >= count as f64)
    }
}

#[test]
fn it_collects_answers_probes_and_stops_when_told() {
    let server = ApiServer::start();
    configure(&server);
    server.happen(20);
    server.state.lists.store(true, Ordering::Relaxed);
    let service = Service::start(&server);
    service.wait_for("/metrics", reported(20));
    assert_eq!(service.get("/healthz"), (200, "ok\n".to_owned()));
    let (status, page) = service.get("/");
    assert!(
        status == 200 && page.contains("/api/v1/openapi.json"),
        "{page}"
    );
    let (status, lost) = service.get("/nowhere");
    assert!(
        status == 404 && lost.contains("/api/v1/openapi.json"),
        "{lost}"
    );
    assert_eq!(service.get("/readyz"), (200, "ready\n".to_owned()));
    let (_, metrics) = service.get("/metrics");
    for wanted in [
        "whathappened_collector_lag_seconds{source=\"kubernetes\",place=\"lab\",resource=\"events\"}",
        "whathappened_collector_queue_most 64",
        "whathappened_store_rows{part=\"hot\"}",
        "whathappened_http_requests_total{route=\"/readyz\",method=\"GET\",code=\"200\"} 1",
        "# HELP whathappened_collector_gaps",
    ] {
        assert!(metrics.contains(wanted), "{wanted}: {metrics}");
    }
    // Who may push, and what.
    let good = audit(&["p-1".to_owned(), "p-2".to_owned()]);
    let (code, body) = service.push("kubernetes-audit", &good);
    assert_eq!(code, 200, "{body}");
    assert!(body.contains("\"kept\":2"), "{body}");
    for token in ["", "0123456789abcdef0123456789abcdeF"] {
        let (code, body) = push(&service.address, "kubernetes-audit", &good, token).unwrap();
        assert_eq!(code, 401, "{body}");
        assert!(!body.contains(service::TOKEN), "{body}");
    }
    assert_eq!(service.push("generic", "neither here nor there").0, 400);
    assert_eq!(service.push("generic", &"x".repeat(2 << 20)).0, 413);
    let (code, body) = service.push("datadog", "{}");
    assert_eq!(code, 404);
    assert!(body.contains("[serve.hooks.datadog]"), "{body}");
    assert_eq!(service.push("nothing", "{}").0, 404);
    assert_eq!(service.get("/hooks/generic").0, 405);
    assert_eq!(service.stop(), Some(0));
    assert_eq!(events(&server), (20, 20));
    let rows = sql(
        &server,
        "SELECT pod, actor, cluster FROM events WHERE source_kind = 'kubernetes_audit' ORDER BY pod",
    );
    assert_eq!(
        rows,
        json!([{"pod": "p-1", "actor": "alice", "cluster": "c1"}, {"pod": "p-2", "actor": "alice", "cluster": "c1"}])
    );
}

/// What a body says is written in parts, so that a small one that unpacks to much is never
/// in memory as a whole.
#[test]
fn a_body_of_many_records_is_kept_whole() {
    const MANY: usize = 4_100;
    let server = ApiServer::start();
    configure(&server);
    let service = Service::start(&server);
    let event = |number: usize| {
        json!({
            "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "BackOff",
            "metadata": {"name": format!("m.{number}"), "namespace": "n", "uid": format!("m-{number}")},
            "involvedObject": {"kind": "Pod", "namespace": "n", "name": format!("many-{number}"), "uid": format!("q-{number}")},
            "lastTimestamp": "2026-11-20T10:30:31Z",
        })
    };
    let mut lines: Vec<String> = (0..MANY).map(|number| event(number).to_string()).collect();
    lines.insert(3_000, "{\"neither\":1}".to_owned());
    let (code, body) = service.push("generic", &lines.join("\n"));
    assert_eq!(code, 200, "{body}");
    let reported: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(reported["kept"], MANY, "{body}");
    assert_eq!(reported["records"], MANY + 1, "{body}");
    assert_eq!(service.stop(), Some(0));
    let statement = "SELECT count(*) AS n FROM events WHERE pod LIKE 'many-%'";
    assert_eq!(sql(&server, statement), json!([{"n": MANY}]));
}

#[test]
fn lines_of_machines_are_taken_over_udp_and_tcp() {
    let server = ApiServer::start();
    configure(&server);
    let service = Service::start(&server);
    let xid = |host: &str, number: u32| {
        format!(
            "<4>1 2026-11-21T15:20:27.{number:03}Z {host} kernel - - - NVRM: Xid (PCI:0000:3b:00): 79, pid={number}, GPU has fallen off the bus."
        )
    };
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for n in 0..5 {
        udp.send_to(xid("gpu-1", n).as_bytes(), &service.syslog)
            .unwrap();
    }
    let mut tcp = TcpStream::connect(&service.syslog).unwrap();
    for n in 0..5 {
        let line = xid("gpu-2", n);
        write!(tcp, "{} {line}", line.len()).unwrap();
        writeln!(tcp, "{}", xid("gpu-3", n)).unwrap();
    }
    drop(tcp);
    service.wait_for("/metrics", reported(15));
    assert_eq!(service.stop(), Some(0));
    let rows = sql(
        &server,
        "SELECT node, count(*) AS n FROM events WHERE fact = 'node.log' GROUP BY node ORDER BY node",
    );
    assert_eq!(
        rows,
        json!([{"node": "gpu-1", "n": 5}, {"node": "gpu-2", "n": 5}, {"node": "gpu-3", "n": 5}])
    );
}

/// A minute of an API server that is down, scaled down.
#[test]
fn an_api_server_that_was_down_is_caught_up_with() {
    let server = ApiServer::start();
    configure(&server);
    // It is not there at the start either.
    server.state.down.store(true, Ordering::Relaxed);
    let service = Service::start(&server);
    std::thread::sleep(Duration::from_millis(1_500));
    server.state.down.store(false, Ordering::Relaxed);
    server.wait_for_watch();
    server.happen(50);
    service.wait_for("/metrics", reported(50));
    server.state.down.store(true, Ordering::Relaxed);
    server.happen(50);
    // Until it failed three times in a row, which is told.
    service.wait_for("/metrics", |text| {
        text.contains(
            "whathappened_collector_up{source=\"kubernetes\",place=\"lab\",resource=\"events\"} 0",
        )
    });
    server.state.down.store(false, Ordering::Relaxed);
    service.wait_for("/metrics", reported(100));
    assert_eq!(service.stop(), Some(0));
    assert_eq!(events(&server), (100, 100));
    let rows = sql(
        &server,
        "SELECT status, detail FROM coverage WHERE resource = 'events' AND source = 'kubernetes' AND detail LIKE '%went on where it was%'",
    );
    assert_eq!(rows[0]["status"], "complete", "{rows}");
    let rows = sql(
        &server,
        "SELECT status FROM coverage WHERE resource = 'cluster' ORDER BY status",
    );
    assert_eq!(
        rows,
        json!([{"status": "complete"}]),
        "not there at the start"
    );
}

#[test]
fn what_the_server_forgot_meanwhile_is_a_gap() {
    let server = ApiServer::start();
    configure(&server);
    let service = Service::start(&server);
    server.wait_for_watch();
    server.happen(10);
    service.wait_for("/metrics", reported(10));
    assert_eq!(service.stop(), Some(0));
    // While nobody was there more happened than its history holds.
    let all = server.happen(30);
    server
        .state
        .forgotten
        .store(100 + all as u64, Ordering::Relaxed);
    server.state.lists.store(true, Ordering::Relaxed);
    let service = Service::start(&server);
    service.wait_for("/metrics", reported(30));
    server.happen(5);
    service.wait_for("/metrics", reported(35));
    assert_eq!(service.stop(), Some(0));
    assert_eq!(events(&server), (45, 45));
    let rows = sql(
        &server,
        "SELECT cluster, status, detail FROM coverage WHERE resource = 'events' AND detail LIKE 'not watched from%'",
    );
    assert_eq!(rows[0]["cluster"], UID, "{rows}");
    // Events are kept for an hour, so that the list had them all.
    assert_eq!(rows[0]["status"], "complete", "{rows}");
}

#[test]
fn a_watch_that_drips_is_read_as_it_comes() {
    let server = ApiServer::start();
    configure(&server);
    server.state.slow.store(true, Ordering::Relaxed);
    let service = Service::start(&server);
    server.wait_for_watch();
    server.happen(100);
    service.wait_for("/metrics", reported(100));
    assert_eq!(service.stop(), Some(0));
    assert_eq!(events(&server), (100, 100));
}
