//! Signing in with a token of the API, and what a restricted reader sees.

use super::browser::Browser;
use super::{LAB, judge};
use crate::service::Service;

/// Two readers: one of a namespace alone, one of everything.
pub(super) fn service(folder: &tempfile::TempDir) -> Service {
    let token = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let config = format!(
        "[[serve.caller]]\nname = 'team'\ntoken_file = '{}'\nnamespaces = ['no-such-namespace']\nrights = ['ask']\n\
         [[serve.caller]]\nname = 'all'\ntoken_file = '{}'\n",
        token("team", "token-of-the-team-0001"),
        token("all", "token-of-everybody-0001"),
    );
    Service::start(&[LAB], &config)
}

fn sign_in(service: &Service, token: &str, headers: &[&str]) -> crate::service::Answered {
    let kind = ["content-type: application/x-www-form-urlencoded"];
    let body = format!("token={token}&next=%2Ffleet");
    service.ask(
        "POST",
        "/login",
        &[&kind, headers].concat(),
        body.as_bytes(),
    )
}

#[test]
fn only_a_token_opens_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(&folder);
    let own = format!("origin: {}", service.base());
    for path in [
        "/",
        "/x/gpt2-small-7f3",
        "/i/1",
        "/node/n",
        "/fleet",
        "/sql",
        "/search?q=a",
    ] {
        let told = service.get(path, &[]);
        assert_eq!(told.status, 303, "{path}: {}", told.text());
        assert!(
            told.head.contains("location: /login?next="),
            "{}",
            told.head
        );
    }
    assert_eq!(service.get("/suggest?q=g", &[]).status, 401);
    assert_eq!(
        service.get("/x/a", &["cookie: whathappened=0000"]).status,
        303
    );
    assert_eq!(
        service
            .get("/x/a", &["authorization: Bearer wrong-wrong-wrong-wrong"])
            .status,
        401
    );
    // A link on a page elsewhere is opened once more by a page of the service.
    let elsewhere = ["sec-fetch-site: cross-site", "sec-fetch-mode: navigate"];
    let told = service.get("/i/1?a=%22%3E%3Cb", &elsewhere);
    assert!(
        told.status == 200
            && told.text().contains("0; url=/i/1?a=%22%3E%3Cb")
            && told.text().contains("rel=\"icon\""),
        "{}",
        told.text()
    );
    assert_eq!(
        service
            .get(
                "/suggest?q=g",
                &["sec-fetch-site: cross-site", "sec-fetch-mode: cors"]
            )
            .status,
        403
    );

    let wrong = sign_in(&service, "token-of-everybody-0002", &[&own]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("The token is not valid") && !wrong.head.contains("set-cookie"));
    for origin in [&[][..], &["origin: http://evil.example"], &["origin: null"]] {
        let forged = sign_in(&service, "token-of-everybody-0001", origin);
        assert_eq!(forged.status, 403, "{origin:?}");
        assert!(!forged.head.contains("set-cookie"), "{}", forged.head);
    }
    let right = sign_in(&service, "token-of-everybody-0001", &[&own]);
    assert_eq!(right.status, 303, "{}", right.text());
    assert!(
        right.head.contains("location: /fleet") && right.head.contains("httponly; samesite=strict"),
        "{}",
        right.head
    );
    assert!(!right.head.contains("token-of"), "{}", right.head);
    let secure = sign_in(
        &service,
        "token-of-everybody-0001",
        &[&own, "x-forwarded-proto: https"],
    );
    assert!(
        secure.head.contains("__host-whathappened=") && secure.head.contains("; secure"),
        "{}",
        secure.head
    );
    let cookie = right
        .head
        .split("set-cookie: ")
        .nth(1)
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    let cookie = format!("cookie: {cookie}");
    assert_eq!(service.get("/fleet", &[&cookie]).status, 200);
    // A session is for pages: programs bring their token.
    assert_eq!(service.get("/api/v1/experiments", &[&cookie]).status, 401);
    assert_eq!(service.ask("POST", "/logout", &[&cookie], b"").status, 403);
    assert_eq!(
        service.ask("POST", "/logout", &[&cookie, &own], b"").status,
        303
    );
    assert_eq!(service.get("/fleet", &[&cookie]).status, 303);
    let trail = std::fs::read_to_string(service.folder.path().join("store/audit.ndjson")).unwrap();
    assert!(
        trail.contains("\"face\":\"page\"") && !trail.contains("token-of-"),
        "{trail}"
    );
}

#[test]
fn a_person_signs_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(&folder);
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let opened = browser.open(&format!("{base}/x/gpt2-small-7f3"));
    judge(&opened, &base, "/login");
    assert!(browser.text().contains("Sign in"));
    let enter = |browser: &mut Browser, token: &str| {
        browser.eval("document.getElementById('token').focus()");
        browser.forget();
        browser.write(token);
        browser.eval("document.querySelector('.login form').requestSubmit()");
        browser.loaded("signing in")
    };
    enter(&mut browser, "wrong-wrong-wrong-wrong");
    assert!(
        browser.text().contains("The token is not valid"),
        "{}",
        browser.text()
    );
    let opened = enter(&mut browser, "token-of-everybody-0001");
    judge(&opened, &base, "/x/gpt2-small-7f3");
    browser.until("location.pathname === '/x/gpt2-small-7f3'");
    assert!(browser.text().contains("Sources read") && browser.text().contains("Sign out"));
    assert_eq!(
        browser.eval("document.cookie"),
        "",
        "scripts cannot read it"
    );

    // From another site a browser brings no cookie, and still the page opens.
    let elsewhere = base.replace("127.0.0.1", "localhost");
    browser.open(&format!("{elsewhere}/login"));
    browser.forget();
    browser.eval(&format!("{{ const a = document.createElement('a'); a.href = '{base}/fleet'; document.body.append(a); a.click(); }}"));
    // A page of the same address comes first, which asks for this one again from the site itself.
    browser.until("location.pathname === '/fleet' && document.body.innerText.includes('By cause')");
    assert!(browser.text().contains("By cause"), "{}", browser.text());

    browser.forget();
    browser.eval("document.querySelector('form.leave').requestSubmit()");
    browser.loaded("signing out");
    browser.open(&format!("{base}/fleet"));
    assert!(browser.text().contains("Sign in"));

    // Who may see nothing of it is told as of a name that nobody has.
    let opened = enter(&mut browser, "token-of-the-team-0001");
    judge(&opened, &base, "/fleet");
    browser.open(&format!("{base}/x/gpt2-small-7f3"));
    assert!(!browser.text().contains("Evidence"), "{}", browser.text());
    browser.open(&format!("{base}/"));
    assert!(!browser.text().contains("gpt2"), "{}", browser.text());
    browser.open(&format!("{base}/sql?q=SELECT%201"));
    assert!(
        browser.text().contains("is not allowed"),
        "{}",
        browser.text()
    );
}
