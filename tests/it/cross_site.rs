//! Pages of other sites can make a browser ask here: what they make it ask is not answered, whatever the browser
//! says of where it comes from.

use crate::service::{Answered, Service};

const LAB: &str = "fixtures/lab-cluster/input";

/// What a name of a run in the store begins with.
const SECRET: &str = "gpt2-small";

const PATHS: [&str; 11] = [
    "/api/v1/experiments",
    "/api/v1/incidents",
    "/api/v1/coverage",
    "/api/v1/answers/gpt2-small-7f3?fetch=false",
    "/metrics",
    "/",
    "/x/gpt2-small-7f3",
    "/search?q=gpt2",
    "/suggest?q=gpt2",
    "/sql/catalogue",
    "/fleet",
];

/// A page elsewhere: an image or script of this address, a form, a frame, a script that reads, and a name of its
/// own that leads here.
const ELSEWHERE: [&[&str]; 8] = [
    &["sec-fetch-site: cross-site", "sec-fetch-mode: no-cors"],
    &["sec-fetch-site: cross-site", "sec-fetch-mode: cors"],
    &["sec-fetch-site: same-site", "sec-fetch-mode: no-cors"],
    &["sec-fetch-site: cross-site", "sec-fetch-mode: navigate"],
    &["origin: http://evil.example"],
    &["origin: null"],
    &["origin: http://evil.example", "sec-fetch-site: cross-site"],
    &["sec-fetch-site: none", "sec-fetch-site: cross-site"],
];

/// With a page, or with where the only run of a name is.
fn answers(said: &Answered) -> bool {
    matches!(said.status, 200 | 303) && !said.head.contains("location: /login")
}

#[test]
fn what_another_site_makes_a_browser_ask_is_refused() {
    let service = Service::start(&[LAB], "");
    for path in PATHS {
        let own = service.get(path, &[]);
        assert!(answers(&own), "{path}: {}", own.text());
        for headers in ELSEWHERE {
            let said = service.get(path, headers);
            // A link that a person follows is opened once more, by a page of the service.
            let followed = said.status == 200 && said.text().contains("http-equiv=\"refresh\"");
            assert!(
                followed && headers.iter().any(|one| one.ends_with("navigate"))
                    || matches!(said.status, 401 | 403),
                "{path} {headers:?}: {}",
                said.status
            );
            assert!(
                !said.text().contains(SECRET) || followed,
                "{path} {headers:?}"
            );
        }
    }
}

/// A name of somebody else's that leads to this machine.
#[test]
fn who_calls_the_service_by_another_name_is_refused() {
    use std::io::{Read as _, Write as _};
    let service = Service::start(&[LAB], "");
    for path in PATHS {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "",
        ] {
            let mut to = service.connect();
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
            to.write_all(request.as_bytes()).unwrap();
            let mut bytes = Vec::new();
            to.read_to_end(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let status = text.split(' ').nth(1).unwrap_or_default();
            assert!(
                matches!(status, "400" | "401" | "403"),
                "{path} {host}: {text}"
            );
            assert!(!text.contains(SECRET), "{path} {host}");
        }
    }
}

#[test]
fn who_is_signed_in_reads_nothing_for_another_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "token-of-everybody-0001").unwrap();
    let config = format!(
        "[[serve.caller]]\nname = 'all'\ntoken_file = '{}'\n",
        path.display()
    );
    let service = Service::start(&[LAB], &config);
    let own = format!("origin: {}", service.base());
    let form = "content-type: application/x-www-form-urlencoded";
    let signed = service.ask(
        "POST",
        "/login",
        &[form, &own],
        b"token=token-of-everybody-0001&next=%2F",
    );
    assert_eq!(signed.status, 303, "{}", signed.text());
    let cookie = signed
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).unwrap();
    let cookie = format!("cookie: {cookie}");
    for path in PATHS
        .iter()
        .filter(|path| !path.starts_with("/api/") && **path != "/metrics")
    {
        let mine = service.get(path, &[&cookie]);
        assert!(answers(&mine), "{path}: {}", mine.text());
        assert!(answers(&service.get(path, &[&cookie, &own])), "{path}");
        for headers in ELSEWHERE {
            let said = service.get(path, &[&[cookie.as_str()], headers].concat());
            let followed = said.status == 200 && said.text().contains("http-equiv=\"refresh\"");
            assert!(
                followed || said.status == 403,
                "{path} {headers:?}: {}",
                said.status
            );
        }
    }
    // The API knows no cookies.
    for path in PATHS.iter().filter(|path| path.starts_with("/api/")) {
        assert_eq!(service.get(path, &[&cookie]).status, 401, "{path}");
    }
}
