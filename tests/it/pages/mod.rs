//! The pages of the service, opened in a real browser.

mod accessible;
mod attacks;
mod browser;
mod drawn;
mod filters;
mod fixtures;
mod fleet;
mod growing;
mod hostile;
mod keyboard;
mod login;
mod oidc;
mod printed;
mod real_provider;
mod stranger;
mod timeline;

use serde_json::Value;

pub(crate) use self::stranger::three_clicks;

use self::browser::{Browser, Opened};
use crate::service::Service;

const LAB: &str = "fixtures/lab-cluster/input";

/// What holds of every page: no complaint of the browser, no request elsewhere.
fn judge(opened: &Opened, base: &str, what: &str) {
    assert!(opened.problems.is_empty(), "{what}: {:#?}", opened.problems);
    assert!(!opened.requests.is_empty(), "{what}");
    for request in &opened.requests {
        assert!(request.starts_with(base), "{what} asks {request}");
    }
}

/// Incidents of the service as their ids and titles: it explains some runs with each question, so it is asked until
/// all are.
fn incidents(service: &Service, headers: &[&str]) -> Vec<Value> {
    for _ in 0..100 {
        let told = service.get("/api/v1/incidents?limit=1000", headers);
        let explained = told.head.lines().find_map(|line| {
            let (name, many) = line.split_once(": ")?;
            let many = (name == "x-whathappened-explained").then_some(many)?;
            many.trim().strip_suffix(" runs")?.split_once(" of ")
        });
        let (explained, runs) = explained.unwrap_or_else(|| panic!("{}", told.head));
        if explained == runs {
            return told.json()["items"].as_array().unwrap().clone();
        }
    }
    panic!("not all runs are explained");
}

#[test]
fn every_page_opens_in_a_browser() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let all = incidents(&service, &[]);
    assert!(all.len() > 3, "{all:?}");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut open = |path: &str, says: &[&str]| {
        let opened = browser.open(&format!("{base}{path}"));
        judge(&opened, &base, path);
        let text = browser.text();
        for word in says {
            assert!(text.contains(word), "{path} does not say {word}: {text}");
        }
        let links = browser.eval(
            "[...document.querySelectorAll('a[href]')].map((a) => new URL(a.getAttribute('href'), location.href)).filter((to) => to.origin !== location.origin)",
        );
        assert_eq!(links, serde_json::json!([]), "{path} links elsewhere");
    };
    open(
        "/",
        &["What happened?", "Recent incidents", "Running and pending"],
    );
    open(
        "/x/gpt2-small-7f3",
        &[
            "Evidence",
            "Sources read",
            "Missing data",
            "Link to this incident",
        ],
    );
    for one in all.iter().take(4) {
        let id = one["incident"]["id"].as_str().unwrap();
        let title = one["incident"]["title"].as_str().unwrap();
        open(&format!("/i/{id}"), &[title, "All of"]);
    }
    let node = all
        .iter()
        .find_map(|one| one["incident"]["machines"][0]["node"].as_str())
        .unwrap();
    open(&format!("/node/{node}"), &[node, "Runs on this machine"]);
    open(
        "/fleet?since=90d",
        &[
            "By cause",
            "Time between failures",
            "What was missing most often",
        ],
    );
    open("/sql", &["Examples"]);
    open(
        "/sql?q=SELECT%20date_trunc('day',%20time)%20AS%20day,%20count(*)%20AS%20n%20FROM%20events%20WHERE%20time%20IS%20NOT%20NULL%20GROUP%20BY%201",
        &["link to this statement"],
    );
    open("/sql?q=SELEC", &["SELEC"]);
    // Nothing is passed over in silence: neither a link by the whole word nor an empty editor.
    open("/sql?statement=SELECT%201%20AS%20n", &["1 row"]);
    open("/sql?q=", &["There is no statement to run", "Examples"]);
    open("/sql?q=SELECT%20*%20FROM%20nowhere", &["nowhere"]);
    open(
        "/sql?q=SELECT%201%20AS%20n%20WHERE%20false",
        &["no row answers it"],
    );
    open("/search?q=gpt2-small-7f3", &["Evidence"]);
}

#[test]
fn names_are_suggested_and_completed() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&format!("{base}/"));
    browser.eval("document.getElementById('q').focus()");
    browser.write("gpt2");
    browser.until("document.querySelectorAll('#suggestions li').length > 0");
    browser.forget();
    browser.press("ArrowDown");
    browser.press("Enter");
    let opened = browser.loaded("a suggestion");
    judge(&opened, &base, "a suggestion");
    browser.until("location.pathname.startsWith('/x/')");
    browser.open(&format!("{base}/sql"));
    browser.eval("document.getElementById('statement').focus()");
    browser.write("SELECT gpu_ho");
    browser.write(" FROM incidents");
    browser.eval("document.getElementById('statement').setSelectionRange(13, 13)");
    browser.eval("document.getElementById('statement').dispatchEvent(new Event('input'))");
    browser
        .until("document.querySelector('#completions li code')?.textContent === 'gpu_hours_lost'");
    browser.press("Tab");
    let statement = browser.eval("document.getElementById('statement').value");
    assert_eq!(statement, "SELECT gpu_hours_lost FROM incidents");
    judge(&browser.seen(), &base, "the editor");
}

#[test]
fn a_report_equals_its_statements() {
    let args = [
        "report", "--from", LAB, "-q", "--since", "90d", "--format", "json",
    ];
    let (code, out, err) = crate::whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let figures = report["figures"].as_array().unwrap();
    assert!(figures.len() >= 9);
    for figure in figures {
        let sql = figure["sql"].as_str().unwrap();
        let (code, out, err) =
            crate::whathappened(&["sql", sql, "--from", LAB, "-q", "--format", "json"]);
        assert_eq!(code, Some(0), "{sql}: {err}");
        let rows: Vec<Value> = serde_json::from_str(&out).unwrap();
        let columns = figure["columns"].as_array().unwrap();
        let told: Vec<Value> = figure["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let pairs = columns.iter().zip(row.as_array().unwrap());
                pairs
                    .map(|(name, value)| (name.as_str().unwrap().to_owned(), value.clone()))
                    .collect()
            })
            .collect();
        assert_eq!(Value::from(told), Value::from(rows), "{sql}");
    }
    assert!(figures[0]["rows"][0][0].as_u64().unwrap() > 3, "{report}");
    for (format, says) in [
        ("table", "By cause"),
        ("md", "```sql"),
        ("html", "<h2>By cause</h2>"),
    ] {
        let args = [
            "report", "--from", LAB, "-q", "--since", "90d", "--format", format,
        ];
        let (code, out, err) = crate::whathappened(&args);
        assert_eq!(code, Some(0), "{err}");
        assert!(out.contains(says), "{format}: {out}");
    }
}

#[test]
fn answers_say_where_their_pages_are() {
    let service = Service::start(&[LAB], "[serve]\npublic_url = 'https://w.example.com/'\n");
    let told = service.get("/api/v1/answers/gpt2-small-7f3", &[]).json();
    assert_eq!(told["page"], "https://w.example.com/x/gpt2-small-7f3");
    let id = told["incidents"][0]["id"].as_str().unwrap();
    let page = format!("https://w.example.com/i/{id}");
    assert_eq!(told["incidents"][0]["page"], Value::from(page.as_str()));
    let md = service.get("/api/v1/answers/gpt2-small-7f3", &["accept: text/markdown"]);
    assert!(md.text().contains(&format!("(<{page}>)")), "{}", md.text());
    let listed = incidents(&service, &[]);
    assert!(
        listed
            .iter()
            .any(|one| one["incident"]["page"] == page.as_str()),
        "{listed:?}"
    );
    let own = service.get(&format!("/i/{id}"), &[]);
    assert_eq!(own.status, 200, "{}", own.text());
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
    ] {
        assert!(own.head.contains(header), "{}", own.head);
    }
}
