//! The HTTP API: what the command line answers, for programs.

use serde_json::Value;

use crate::service::Service;
use crate::whathappened;

const INPUT: &str = "fixtures/lab-cluster/input";
const LOKI: &str = "fixtures/lab-cluster/loki";

fn lab() -> Service {
    Service::start(&[INPUT, LOKI], "")
}

#[test]
fn an_answer_is_the_command_lines_in_each_form() {
    let service = lab();
    let store = service.folder.path().join("store");
    for (accept, format) in [
        ("application/json", "json"),
        ("text/markdown", "md"),
        ("text/plain", "table"),
        ("text/html, text/markdown;q=0.9", "md"),
        ("*/*", "json"),
    ] {
        let reported = service.get(
            "/api/v1/answers/gpt2-small-7f3",
            &[&format!("accept: {accept}")],
        );
        assert_eq!(reported.status, 200, "{}", reported.text());
        let (code, out, err) = whathappened(&[
            "gpt2-small-7f3",
            "--no-fetch",
            "--store",
            store.to_str().unwrap(),
            "--format",
            format,
            "--width",
            "80",
        ]);
        assert_eq!(code, Some(0), "{err}");
        let mut text = reported.text();
        if format == "json" {
            // A service alone says by which ids it knows the incidents.
            for incident in reported.json()["incidents"].as_array().unwrap() {
                let id = incident["id"].as_str().unwrap();
                let field = format!(",\n      \"id\": \"{id}\"");
                assert!(text.contains(&field), "{text}");
                text = text.replace(&field, "");
            }
        }
        assert_eq!(text, out, "{accept}");
    }
    let refused = service.get("/api/v1/answers/gpt2-small-7f3", &["accept: image/png"]);
    assert_eq!(refused.status, 406);
}

#[test]
fn what_is_wrong_with_a_request_is_told_as_a_problem() {
    let service = lab();
    for (method, path, status, reported) in [
        (
            "GET",
            "/api/v1/answers/gpt2-smal-7f3",
            404,
            "gpt2-small-7f3",
        ),
        (
            "GET",
            "/api/v1/answers/gpt2-small-7f3?since=tomorrow",
            400,
            "tomorrow",
        ),
        (
            "GET",
            "/api/v1/answers/gpt2-small-7f3?sicne=2h",
            400,
            "sicne",
        ),
        ("GET", "/api/v1/answers/gpt2-small-7f3?run=none", 404, "run"),
        ("GET", "/api/v1/answers/%20", 400, "empty"),
        ("GET", "/api/v1/experiments?limit=0", 400, "limit"),
        ("GET", "/api/v1/experiments?cursor=x", 400, "cursor"),
        ("GET", "/api/v1/rules/none.such", 404, "none.such"),
        ("GET", "/api/v1/nodes/none-such", 404, "none-such"),
        ("GET", "/api/v1/nothing", 404, "openapi.json"),
        ("DELETE", "/api/v1/experiments", 405, "openapi.json"),
        ("GET", "/api/v1/sql", 405, "openapi.json"),
        ("POST", "/api/v1/sql", 415, "application/sql"),
    ] {
        let answered = service.ask(method, path, &[], b"");
        assert_eq!(answered.status, status, "{path}: {}", answered.text());
        assert!(answered.head.contains("application/problem+json"), "{path}");
        let problem = answered.json();
        assert_eq!(problem["status"], status, "{path}");
        assert!(
            answered.text().contains(reported),
            "{path}: {}",
            answered.text()
        );
    }
    // A web page of somebody else makes a browser ask, from this very machine.
    for header in ["origin: http://evil.example", "x-forwarded-for: 10.0.0.1"] {
        let refused = service.get("/api/v1/experiments", &[header]);
        assert_eq!(refused.status, 401, "{header}");
    }
}

/// All pages of a list.
fn pages(service: &Service, path: &str, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut cursor = String::new();
    loop {
        let reported = service.get(&format!("{path}?limit={limit}{cursor}"), &[]);
        assert_eq!(reported.status, 200, "{}", reported.text());
        let page = reported.json();
        let here = page["items"].as_array().unwrap();
        assert!(here.len() <= limit);
        items.extend(here.iter().cloned());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

#[test]
fn lists_come_in_pages_that_tell_each_item_once() {
    let service = lab();
    for (path, few) in [
        ("/api/v1/experiments", 3),
        ("/api/v1/rules", 7),
        ("/api/v1/timelines/gpt2-small-7f3", 5),
    ] {
        let whole = pages(&service, path, 1_000);
        assert!(whole.len() > few, "{path}: {}", whole.len());
        assert_eq!(pages(&service, path, few), whole, "{path}");
    }
    let answer = service.get("/api/v1/answers/gpt2-small-7f3", &[]).json();
    let lines = pages(&service, "/api/v1/timelines/gpt2-small-7f3", 100);
    assert_eq!(lines.len(), answer["timeline"].as_array().unwrap().len());
}

#[test]
fn rows_come_in_the_form_asked_for_and_say_what_is_left_out() {
    let service = Service::start(&[INPUT], "[serve.sql]\nmax_rows = 3\n");
    let statement = b"SELECT name, kind FROM objects ORDER BY name, kind";
    let json = service.sql(statement, &[]);
    assert_eq!(json.status, 200, "{}", json.text());
    assert_eq!(json.json().as_array().unwrap().len(), 3);
    assert!(
        json.head.contains("whathappened-truncated: true"),
        "{}",
        json.head
    );
    assert!(json.head.contains("whathappened-rows: 3"), "{}", json.head);
    let lines = service.sql(statement, &["accept: application/x-ndjson"]);
    assert_eq!(lines.text().lines().count(), 3);
    let table = service.sql(statement, &["accept: text/csv"]);
    assert!(table.text().starts_with("name,kind"), "{}", table.text());
    let arrow = service.sql(statement, &["accept: application/vnd.apache.arrow.stream"]);
    assert_eq!(arrow.body.get(..4), Some([0xff; 4].as_slice()));
    assert_eq!(service.sql(statement, &["accept: image/png"]).status, 406);
    let body = br#"{"statement": "SELECT 1 AS one"}"#;
    let sent = service.ask(
        "POST",
        "/api/v1/sql",
        &["content-type: application/json"],
        body,
    );
    assert_eq!(sent.json()[0]["one"], 1);
    assert!(sent.head.contains("whathappened-truncated: false"));
    let wrong = service.sql(b"SELECT mesage FROM events", &[]);
    assert!(
        wrong.text().contains("did you mean message"),
        "{}",
        wrong.text()
    );
}

/// A quarter more than the limit passed, and in one row.
#[test]
fn no_answer_is_longer_than_the_limit() {
    let service = Service::start(&[INPUT], "[serve.sql]\nmax_bytes = '1MiB'\n");
    for (accept, form) in [
        ("accept: text/csv", "csv"),
        ("accept: application/json", "json"),
        ("accept: application/vnd.apache.arrow.stream", "arrow"),
    ] {
        let one = |letters: u32| format!("SELECT repeat('x', {letters}) AS r");
        let fits = service.sql(one(1_000_000).as_bytes(), &[accept]);
        assert_eq!(fits.status, 200, "{form}: {}", fits.text());
        assert!(fits.body.len() > 1_000_000, "{form}");
        for letters in [1_048_576, 1_250_000, 4_000_000] {
            let refused = service.sql(one(letters).as_bytes(), &[accept]);
            assert!(refused.status >= 400, "{form}: {letters} letters");
        }
        // A batch of Arrow's shares the texts of all its rows.
        if form == "arrow" {
            continue;
        }
        let many = b"SELECT repeat('x', 900) AS r FROM generate_series(1, 5000)";
        let cut = service.sql(many, &[accept]);
        assert_eq!(cut.status, 200, "{form}: {}", cut.text());
        assert!(cut.head.contains("whathappened-truncated: true"), "{form}");
        assert!(
            (900_000..=1 << 20).contains(&cut.body.len()),
            "{form}: {}",
            cut.body.len()
        );
    }
}

/// Over a store that nobody had asked anything, `incidents` was empty without a word.
#[test]
fn incidents_are_explained_before_a_statement_shows_them() {
    let service = lab();
    let reported = service.sql(
        b"SELECT cause FROM incidents WHERE name = 'gpt2-small-7f3'",
        &[],
    );
    assert_eq!(reported.status, 200, "{}", reported.text());
    assert_eq!(
        reported.json()[0]["cause"],
        "node.not_ready",
        "{}",
        reported.text()
    );
    assert!(
        reported
            .head
            .contains("x-whathappened-explained: 8 of 8 runs"),
        "{}",
        reported.head
    );
    let other = service.sql(b"SELECT count(*) FROM events", &[]);
    assert!(!other.head.contains("explained"), "{}", other.head);
}

#[test]
fn an_upload_is_imported_once_and_says_what_became_of_it() {
    let service = Service::start(&[], "[serve]\nmax_upload = '1MB'\n");
    assert_eq!(service.get("/api/v1/answers/train", &[]).status, 404);
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "train-0", "namespace": "ml", "uid": "u", "creationTimestamp": "2026-11-20T10:00:00Z"},
        "spec": {"containers": []}, "status": {"phase": "Failed"}}, {"kind": 7}]});
    let body = pod.to_string();
    let path = "/api/v1/imports?name=../dump.json";
    let first = service.ask("POST", path, &[], body.as_bytes());
    assert_eq!(first.status, 200, "{}", first.text());
    let reported = first.json();
    assert!(reported["new"].as_u64().unwrap() > 0, "{reported}");
    assert_eq!(reported["state"], "done");
    let again = service.ask(
        "POST",
        path,
        &["accept: application/x-ndjson"],
        body.as_bytes(),
    );
    let last: Value = serde_json::from_str(again.text().lines().last().unwrap()).unwrap();
    assert_eq!(last["new"], 0, "{last}");
    assert_eq!(service.get("/api/v1/answers/train-0", &[]).status, 200);
    // Its origin is the name that was given, not where it lay.
    let origins = service
        .sql(b"SELECT DISTINCT origin FROM objects", &[])
        .text();
    assert!(
        origins.contains("dump.json:") && !origins.contains('/'),
        "{origins}"
    );
    assert_eq!(reported["form"], "JSON list", "{reported}");
    // What `import` takes for nothing is no import.
    let noise: Vec<u8> = (0..3_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for nothing in [noise.as_slice(), b"{\"foo\":1}"] {
        let refused = service.ask("POST", path, &[], nothing);
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(
            refused.text().contains("nothing could be "),
            "{}",
            refused.text()
        );
    }
    let large = vec![b' '; 2 << 20];
    assert_eq!(service.ask("POST", path, &[], &large).status, 413);
    let left = std::fs::read_dir(service.folder.path().join("store")).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with("upload-")),
        "{left:?}"
    );
}

#[test]
fn the_document_says_what_there_is() {
    let service = Service::start(&[INPUT], "");
    let served = service.get("/api/v1/openapi.json", &[]).json();
    let kept = std::fs::read_to_string("docs/openapi.json").unwrap();
    assert_eq!(served, serde_json::from_str::<Value>(&kept).unwrap());
    assert_eq!(served["openapi"], "3.1.0");
    for path in served["paths"].as_object().unwrap().keys() {
        let path = path
            .replace("{name}", "none-such")
            .replace("{cause}", "none.such");
        let reported = service.get(&path, &[]);
        assert!(
            matches!(reported.status, 200 | 404 | 405),
            "{path}: {}",
            reported.text()
        );
    }
}
