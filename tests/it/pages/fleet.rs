//! The report of a store: its figures are those of the statements beside them, and behind each number of
//! incidents are as many.

use serde_json::{Value, json};

use super::LAB;
use super::browser::Browser;
use super::judge;
use crate::service::Service;

/// The report of a service's store in a format, of all time.
fn report(service: &Service, format: &str, config: &str) -> String {
    let at = |name: &str| {
        service
            .folder
            .path()
            .join(name)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let configured = at("report.toml");
    std::fs::write(&configured, config).unwrap();
    let store = at("store");
    let args = [
        "report",
        "--store",
        &store,
        "--config",
        &configured,
        "--no-fetch",
        "-q",
        "--since",
        "90d",
        "--format",
        format,
    ];
    let (code, out, err) = crate::whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    out
}

fn rows(service: &Service, statement: &str) -> Vec<Value> {
    let body = json!({"statement": statement}).to_string();
    let headers = ["content-type: application/json"];
    let told = service.ask("POST", "/api/v1/sql", &headers, body.as_bytes());
    assert_eq!(told.status, 200, "{statement}: {}", told.text());
    told.json().as_array().unwrap().clone()
}

#[test]
fn behind_each_number_are_as_many_incidents() {
    let service = Service::start(&[LAB], "");
    // All are explained by whoever looks at the page, a few each time.
    assert_eq!(service.get("/fleet?since=90d", &[]).status, 200);
    let is_explained = || {
        let head = service.get("/api/v1/incidents?limit=1", &[]).head;
        let told = head
            .lines()
            .find_map(|line| line.strip_prefix("x-whathappened-explained: "));
        let (some, rest) = told.unwrap().split_once(" of ").unwrap();
        rest.starts_with(&format!("{some} "))
    };
    assert!((0..20).any(|_| is_explained()));
    let told: Value = serde_json::from_str(&report(&service, "json", "")).unwrap();
    let mut compared = 0;
    for figure in told["figures"].as_array().unwrap() {
        let columns = figure["columns"].as_array().unwrap();
        let own = rows(&service, figure["sql"].as_str().unwrap());
        let all = figure["rows"].as_array().unwrap();
        for (at, row) in all.iter().enumerate() {
            let pairs = columns.iter().zip(row.as_array().unwrap());
            let named: serde_json::Map<String, Value> = pairs
                .map(|(name, value)| (name.as_str().unwrap().to_owned(), value.clone()))
                .collect();
            let incidents = named["incidents"].clone();
            assert_eq!(own[at], Value::Object(named), "{}", figure["sql"]);
            let list = figure["incidents"][at].as_str().unwrap();
            let behind = rows(&service, list);
            assert_eq!(json!(behind.len()), incidents, "{list}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
    let response = |row: &Value| row["time_to"] == "detect" && row["known"].as_u64() > Some(0);
    let figures = told["figures"].as_array().unwrap();
    let own = figures
        .iter()
        .find(|figure| figure["id"] == "response")
        .unwrap();
    let own = rows(&service, own["sql"].as_str().unwrap());
    assert!(own.iter().any(response), "{own:?}");
}

#[test]
fn a_figure_without_rows_has_its_columns() {
    let args = ["report", "--from", "fixtures/tracker-healthy/input", "-q"];
    let (code, out, err) =
        crate::whathappened(&[&args[..], &["--since", "90d", "--format", "json"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    let figures = told["figures"].as_array().unwrap();
    let is_empty = |figure: &&Value| figure["rows"] == json!([]);
    assert!(figures.iter().any(|figure| is_empty(&figure)), "{told:#}");
    for figure in figures {
        assert_ne!(figure["columns"], json!([]), "{figure:#}");
        assert!(figure["coverage"].is_string(), "{figure:#}");
    }
}

#[test]
fn a_number_leads_to_its_incidents() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    judge(
        &browser.open(&format!("{base}/fleet?since=90d")),
        &base,
        "/fleet",
    );
    let number = "document.querySelector('#causes td[data-label=Incidents] a')";
    let shown = browser.eval(&format!("{number}.textContent"));
    browser.forget();
    browser.eval(&format!("{number}.click()"));
    judge(&browser.loaded("the incidents"), &base, "the incidents");
    let rows = format!("{} row", shown.as_str().unwrap());
    assert!(browser.text().contains(&rows), "{rows}: {}", browser.text());
}

#[test]
fn a_report_is_a_message_for_slack() {
    let service = Service::start(&[LAB], "");
    assert_eq!(service.get("/fleet?since=90d", &[]).status, 200);
    let told = report(
        &service,
        "slack",
        "[serve]\npublic_url = 'https://w.example.com'\n",
    );
    let told: Value = serde_json::from_str(&told).unwrap();
    let blocks = told["blocks"].as_array().unwrap();
    assert!(
        blocks.len() <= 50 && told["text"].as_str().unwrap().contains("Incidents"),
        "{told:#}"
    );
    let text = told.to_string();
    for says in [
        "By cause",
        "Time to detect and to restart",
        "https://w.example.com/fleet?since=7776000s&until=",
        "#causes|Incidents and SQL",
        // A number alone says nothing of what it counts.
        "Pods of the run 1 ",
    ] {
        assert!(text.contains(says), "{says}: {told:#}");
    }
    assert!(!text.contains("did not fit"), "{told:#}");
    let md = report(
        &service,
        "md",
        "[serve]\npublic_url = 'https://w.example.com'\n",
    );
    assert!(md.contains("](<https://w.example.com/sql?q="), "{md}");
    let page = report(&service, "html", "");
    assert!(
        page.contains("each row counts:") && !page.contains("href=\"http"),
        "{page}"
    );
}
