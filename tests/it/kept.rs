//! Answers and pages that are kept: right for as long as the store says the same, and for those who may see them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::leaks::{ALL, MARK, TEAM_A, clean, service_with};
use crate::service::Service;

const LAB: &str = "fixtures/lab-cluster/input";

#[test]
fn what_was_found_for_one_is_shown_to_no_other() {
    let (_folder, service) = service_with("");
    let all = service.get("/api/v1/incidents?limit=1000", &[ALL]).json();
    let ids: Vec<(String, String)> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            (text(&one["experiment"]), text(&one["incident"]["id"]))
        })
        .collect();
    let of = |experiment: &str| {
        let found = ids.iter().find(|(name, _)| name == experiment);
        format!("/i/{}", found.unwrap().1)
    };
    let (own, foreign) = (of("exp"), of(&format!("{MARK}exp")));
    for path in [
        "/x/exp",
        "/x/team-a",
        "/x/train-0",
        "/x/*",
        &own,
        "/api/v1/answers/exp",
        "/api/v1/answers/*",
        "/api/v1/answers/node%2Fshared-node",
    ] {
        let seen = |who: &str| service.get(path, &[who]);
        let (first, restricted) = (seen(ALL), seen(TEAM_A));
        assert_eq!((first.status, restricted.status), (200, 200), "{path}");
        clean(&restricted, path);
        // What was kept of both is what was found for each.
        for _ in 0..2 {
            assert_eq!(seen(TEAM_A).text(), restricted.text(), "{path}");
            assert_eq!(seen(ALL).text(), first.text(), "{path}");
        }
    }
    for path in [format!("/x/{MARK}exp"), foreign] {
        for _ in 0..2 {
            let (all, restricted) = (service.get(&path, &[ALL]), service.get(&path, &[TEAM_A]));
            assert_eq!((all.status, restricted.status), (200, 404), "{path}");
            let foreign = format!("{MARK}train-0");
            assert!(all.text().contains(&foreign), "{path}");
            assert!(!restricted.text().contains(&foreign), "{path}");
        }
    }
}

/// Tells the service that something was said of a pod.
fn tell(service: &Service, pod: &str, said: &str) {
    let event = json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "FailedScheduling",
        "message": said, "metadata": {"name": format!("{pod}.zz"), "namespace": "research", "uid": "ev-zz-1",
            "creationTimestamp": "2026-11-21T15:25:00Z"},
        "source": {"component": "default-scheduler"}, "count": 1,
        "involvedObject": {"kind": "Pod", "namespace": "research", "name": pod},
        "firstTimestamp": "2026-11-21T15:25:00Z", "lastTimestamp": "2026-11-21T15:25:00Z"});
    let body = event.to_string();
    let path = "/api/v1/imports?name=event.json";
    let done = service.ask("POST", path, &[], body.as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
}

#[test]
fn news_is_in_the_next_answer() {
    let service = Service::start(&[LAB], "");
    let paths = ["/x/dota-5v5-scale", "/api/v1/answers/dota-5v5-scale"];
    let read = || paths.map(|path| service.get(path, &[]).text());
    let before = read();
    assert_eq!(read(), before);
    let news = "a word that nobody said before";
    tell(&service, "dota-5v5-scale-0-j8zbz", news);
    for (text, path) in read().iter().zip(paths) {
        assert!(text.contains(news), "{path}: {text}");
    }
}

/// Answers that pages got so far.
fn answered(service: &Service) -> u64 {
    let text = service.get("/metrics", &[]).text();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("whathappened_answers_total{face=\"page\""));
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        .sum()
}

#[test]
fn who_follows_a_run_asks_nothing_until_something_is_told() {
    let service = Service::start(&[LAB], "");
    let page = service.get("/x/dota-5v5-scale", &[]).text();
    let (_, rest) = page.split_once("data-follow=\"").unwrap();
    let path = rest.split_once('"').unwrap().0.to_owned();
    let asked = answered(&service);
    let followers: Vec<_> = (0..3)
        .map(|_| {
            let mut to = service.connect();
            to.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
            let host = service.base().replace("http://", "");
            write!(to, "GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
            to
        })
        .collect();
    // Two looks of each.
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(answered(&service), asked);
    tell(&service, "dota-5v5-scale-0-j8zbz", "news of this run");
    let told = Instant::now();
    for follower in followers {
        let lines: Vec<String> = BufReader::new(follower)
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.starts_with("data:"))
            .collect();
        assert!(
            lines.iter().any(|line| line == "event: changed"),
            "{lines:?}"
        );
    }
    assert!(told.elapsed() < Duration::from_secs(60));
    // All of them were told of one answer, which their pages are now.
    let since = answered(&service) - asked;
    assert!((1..=3).contains(&since), "{since}");
    let again = service.get("/x/dota-5v5-scale", &[]).text();
    assert!(again.contains("news of this run"), "{again}");
}
