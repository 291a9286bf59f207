//! Against a real Prometheus, started here on samples that `promtool` made.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::emit::NOON;
use super::source::{fetch_request, requested};
use crate::connector::Connector as _;
use crate::coverage::Status;
use crate::http::Endpoint;
use crate::prometheus::{Prometheus, PrometheusOptions};
use crate::time::SECOND;

/// A server that is stopped when the test is over.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

/// A program's path, where it is there.
pub(crate) fn program(names: &[&str]) -> Option<String> {
    let found = names.iter().find(|name| {
        let tried = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        tried.is_ok()
    });
    found.map(|name| (*name).to_owned())
}

/// A port that nobody has.
pub(crate) fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server and waits until it says that it is ready.
pub(crate) fn serve(mut command: Command, ready: &str) -> Server {
    let mut child = command
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap());
    let (to, from) = std::sync::mpsc::channel();
    let wanted = ready.to_owned();
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            if line.contains(&wanted) {
                // The test may be over.
                let _gone = to.send(());
            }
        }
    });
    let server = Server(child);
    from.recv_timeout(Duration::from_secs(60))
        .expect("it did not get ready");
    server
}

/// One series in `OpenMetrics`' text form, one sample each step.
fn text(out: &mut String, series: &str, step: i64, values: &[&str]) {
    for (number, value) in values.iter().enumerate() {
        let at = NOON + step * i64::try_from(number).unwrap();
        writeln!(out, "{series} {value} {at}.500").unwrap();
    }
}

#[tokio::test]
async fn a_real_prometheus_tells_what_it_has_kept() {
    let (Some(server), Some(tool)) = (program(&["prometheus"]), program(&["promtool"])) else {
        whathappened_loopback::skipped("no prometheus");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut metrics = String::new();
    let half: Vec<&str> = ["0"; 20].into_iter().chain(["79"; 20]).collect();
    metrics.push_str("# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n");
    text(
        &mut metrics,
        r#"DCGM_FI_DEV_XID_ERRORS{Hostname="gpu-1",UUID="GPU-3",gpu="3",instance="10.0.0.5:9400"}"#,
        30,
        &half,
    );
    metrics.push_str("# TYPE up gauge\n");
    text(
        &mut metrics,
        r#"up{job="node",instance="gpu-1:9100"}"#,
        30,
        &["1"; 40],
    );
    metrics.push_str("# TYPE container_memory_working_set_bytes gauge\n");
    text(
        &mut metrics,
        r#"container_memory_working_set_bytes{namespace="lab",pod="run-0",container="main"}"#,
        15,
        &["9.9e9"; 40],
    );
    metrics.push_str("# TYPE kube_pod_container_resource_limits gauge\n");
    text(
        &mut metrics,
        r#"kube_pod_container_resource_limits{namespace="lab",pod="run-0",container="main",resource="memory"}"#,
        30,
        &["1e10"; 20],
    );
    metrics.push_str("# TYPE odd gauge\n");
    text(
        &mut metrics,
        r#"odd{node="gpu-1"}"#,
        30,
        &["NaN", "+Inf", "-Inf"],
    );
    metrics.push_str("# EOF\n");
    let input = folder.path().join("metrics.txt");
    std::fs::write(&input, metrics).unwrap();
    let data = folder.path().join("data");
    let made = Command::new(tool)
        .args(["tsdb", "create-blocks-from", "openmetrics"])
        .args([&input, &data])
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let config = folder.path().join("prometheus.yml");
    std::fs::write(&config, "scrape_configs: []\n").unwrap();
    let port = port();
    let mut command = Command::new(server);
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", data.display()))
        .arg("--storage.tsdb.retention.time=100y")
        .arg("--web.route-prefix=/prometheus")
        .arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let _server = serve(command, "Server is ready to receive web requests");
    let source = Prometheus::new(&PrometheusOptions {
        name: "prometheus".to_owned(),
        reach: Endpoint {
            url: Some(format!("http://127.0.0.1:{port}/prometheus")),
            ..Endpoint::default()
        },
        grafana_url: None,
        datasource_uid: None,
        grafana_token: None,
    })
    .unwrap();
    let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &["run-0"])).await;
    let facts: Vec<&str> = events.iter().map(|one| one.fact.as_str()).collect();
    assert_eq!(
        facts,
        ["metric.gpu.xid", "metric.container.memory"],
        "{events:#?}"
    );
    let xid = &events[0];
    assert_eq!(xid.attribute("xid"), Some("79"));
    // Between the last scrape that showed none and the first that showed it.
    assert_eq!(xid.time.lo, (NOON + 570 - 30) * SECOND + SECOND / 2);
    assert_eq!(xid.time.hi, (NOON + 601) * SECOND + SECOND / 2);
    assert_eq!(events[1].attribute("level"), Some("near"));
    assert!(
        rows.iter().all(|row| row.status == Status::Complete),
        "{rows:#?}"
    );
    // A death long before anything was kept.
    let mut before = fetch_request(&["gpu-1"], &[]);
    before.scope.nodes[0].moments = vec![(NOON - 90 * 86_400) * SECOND];
    let (events, rows) = requested(&source, &before).await;
    assert!(events.is_empty());
    assert_eq!(rows[1].status, Status::Expired, "{rows:#?}");
    let deadline = Instant::now() + Duration::from_secs(20);
    let health = source.check((NOON + 600) * SECOND, deadline).await;
    assert_eq!(health.unreachable, None);
    assert!(health.version.is_some());
}
