//! How the client bears what servers and gateways do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use whathappened_loopback::{BodyPart, Fake, Reply};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn client(fake: &Fake) -> Client {
    client_with(fake, |_| {})
}

fn client_with(fake: &Fake, change: impl Fn(&mut HttpOptions)) -> Client {
    let mut options = HttpOptions::new(fake.url());
    change(&mut options);
    Client::new(options).unwrap()
}

/// Answers the first `n` requests with one thing and the rest with `{"ok": true}`.
fn at_first(n: usize, reply: impl Fn() -> Reply + Send + Sync + 'static) -> Fake {
    let requested = AtomicUsize::new(0);
    Fake::start(move |_| {
        if requested.fetch_add(1, Ordering::SeqCst) < n {
            reply()
        } else {
            Reply::Json(200, json!({ "ok": true }))
        }
    })
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for reply in [
        || Reply::Text(503, "busy".to_owned()),
        || Reply::Text(429, "too many outstanding requests".to_owned()),
        || Reply::Stream(vec![BodyPart::Text("{".to_owned()), BodyPart::Cut]),
    ] as [fn() -> Reply; 3]
    {
        let fake = at_first(2, reply);
        let answer: Value = client(&fake)
            .json(&Request::get("x"), soon())
            .await
            .unwrap();
        assert_eq!(answer["ok"], true);
        assert_eq!(fake.requests().len(), 3);
    }
}

#[tokio::test]
async fn what_lasts_is_not_and_is_told_in_the_servers_words() {
    for code in [400, 401, 403, 404, 504] {
        let fake = at_first(9, move || Reply::Text(code, "no org id\n".to_owned()));
        let failure = client(&fake)
            .send(&Request::get("x"), soon())
            .await
            .unwrap_err();
        assert_eq!(failure.code(), Some(code));
        assert_eq!(
            failure.to_string(),
            format!("the server returned {code}: no org id")
        );
        assert_eq!(fake.requests().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn what_aws_means_by_400_is_in_the_errors_name() {
    let error = |name: &str| Reply::Json(400, json!({ "__type": name, "message": "m" }));
    let fake = at_first(1, move || error("ThrottlingException"));
    client(&fake)
        .send(&Request::post(""), soon())
        .await
        .unwrap();
    assert_eq!(fake.requests().len(), 2);
    let fake = at_first(9, move || error("ExpiredTokenException"));
    let failure = client(&fake)
        .send(&Request::post(""), soon())
        .await
        .unwrap_err();
    assert!(failure.is_denied() && failure.hint().contains("expired"));
    assert_eq!((failure.code(), failure.meant()), (Some(400), Some(401)));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_server_is_given_the_time_it_asks_for() {
    for headers in [
        vec![("Retry-After", "1".to_owned())],
        vec![
            ("X-RateLimit-Remaining", "0".to_owned()),
            ("X-RateLimit-Reset", "1".to_owned()),
        ],
        vec![("Retry-After", "Sat, 21 Nov 2026 15:30:01 GMT".to_owned())],
    ] {
        let fake = at_first(1, move || Reply::Full(429, headers.clone(), String::new()));
        let start = Instant::now();
        client(&fake)
            .send(&Request::get("x"), soon())
            .await
            .unwrap();
        assert!(start.elapsed() >= Duration::from_secs(1));
    }
    // More than there is time for is not waited for.
    let fake = at_first(1, || {
        Reply::Full(429, vec![("Retry-After", "3600".to_owned())], String::new())
    });
    let start = Instant::now();
    let failure = client(&fake)
        .send(&Request::get("x"), soon())
        .await
        .unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(
        matches!(failure, HttpError::Refused { code: 429, wait: Some(wait), .. } if wait.as_secs() == 3600)
    );
}

#[tokio::test]
async fn what_must_not_be_repeated_is_not() {
    let fake = at_first(1, || Reply::Text(503, String::new()));
    let request = Request::post("x").once();
    client(&fake).send(&request, soon()).await.unwrap_err();
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn what_must_be_done_once_is_sent_again_where_nothing_was_done() {
    let request = Request::post("x").done_once();
    let fake = at_first(1, || Reply::Text(429, String::new()));
    client(&fake).send(&request, soon()).await.unwrap();
    assert_eq!(fake.requests().len(), 2);
    let fake = at_first(1, || Reply::Text(503, String::new()));
    client(&fake).send(&request, soon()).await.unwrap_err();
    assert_eq!(fake.requests().len(), 1);
    let fake = at_first(0, || Reply::Text(500, String::new()));
    let request = Request::post("x").bytes("text/markdown", b"# x".to_vec());
    client(&fake).send(&request, soon()).await.unwrap();
    assert_eq!(fake.requests()[0].raw, b"# x");
    assert_eq!(fake.requests()[0].header("content-type"), "text/markdown");
}

#[tokio::test]
async fn a_deadline_and_a_size_are_kept() {
    let fake = Fake::start(|_| Reply::Hang);
    let start = Instant::now();
    let deadline = start + Duration::from_millis(300);
    let failure = client(&fake)
        .send(&Request::get("x"), deadline)
        .await
        .unwrap_err();
    assert!(matches!(failure, HttpError::TimedOut(_)), "{failure}");
    assert!(start.elapsed() < Duration::from_secs(3));

    let slow = || Box::new(Reply::Json(200, json!({})));
    let fake = Fake::start(move |_| Reply::Late(Duration::from_millis(50), slow()));
    client(&fake)
        .send(&Request::get("x"), soon())
        .await
        .unwrap();

    let fake = Fake::start(|_| Reply::Text(200, "x".repeat(5000)));
    let client = client_with(&fake, |options| options.max_body = 1000);
    let failure = client.send(&Request::get("x"), soon()).await.unwrap_err();
    assert_eq!(failure, HttpError::TooLarge(1000));
    assert!(failure.is_too_much());
}

#[tokio::test]
async fn no_more_at_once_than_allowed() {
    let (now, most) = (
        AtomicUsize::new(0),
        std::sync::Arc::new(AtomicUsize::new(0)),
    );
    let seen = std::sync::Arc::clone(&most);
    let fake = Fake::start(move |_| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(60));
        now.fetch_sub(1, Ordering::SeqCst);
        Reply::Json(200, json!({}))
    });
    let client = client_with(&fake, |options| options.concurrency = 2);
    let request = Request::get("x");
    let all = (0..8).map(|_| client.send(&request, soon()));
    for answer in futures::future::join_all(all).await {
        answer.unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
    assert_eq!(client.sent(), 8);
}

#[tokio::test]
async fn prefixes_parameters_and_credentials_arrive() {
    let fake = Fake::start(|_| Reply::Json(200, json!({})));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "from-a-file\n").unwrap();
    for (auth, header) in [
        (Auth::Basic("me".into(), "pw".into()), "Basic bWU6cHc="),
        (Auth::Bearer("t0ken".into()), "Bearer t0ken"),
        (
            Auth::BearerFile(file.path().to_owned()),
            "Bearer from-a-file",
        ),
    ] {
        let client = client_with(&fake, |options| {
            options.base_url.push_str("/prefix");
            options.auth = auth.clone();
            options.headers = vec![("X-Scope-OrgID".to_owned(), "a|b".into())];
        });
        let request = Request::get("/loki/api").query("query", "{a=\"b\"} |= \"x+y\"");
        client.send(&request, soon()).await.unwrap();
        let requested = fake.requests().pop().unwrap();
        assert_eq!(requested.path, "/prefix/loki/api");
        assert_eq!(requested.query("query"), "{a=\"b\"} |= \"x+y\"");
        assert_eq!(requested.header("authorization"), header);
        assert_eq!(requested.header("x-scope-orgid"), "a|b");
    }
    let client = client(&fake);
    let form = Request::post("f").form(&[("match[]", "{a=\"1\"}"), ("match[]", "{b=\"2\"}")]);
    client.send(&form, soon()).await.unwrap();
    let requested = fake.requests().pop().unwrap();
    assert_eq!(
        (requested.method.as_str(), requested.pairs.len()),
        ("POST", 2)
    );
}

#[tokio::test]
async fn secrets_reach_no_message() {
    let secret = "hunter2hunter2";
    let fake = Fake::start(|_| {
        Reply::Full(
            302,
            vec![(
                "Location",
                "https://login/x?state=hunter2hunter2".to_owned(),
            )],
            String::new(),
        )
    });
    let client = client_with(&fake, |options| options.auth = Auth::Bearer(secret.into()));
    let failure = client.send(&Request::get("x"), soon()).await.unwrap_err();
    assert!(failure.to_string().contains("https://login/x"), "{failure}");
    assert!(!format!("{failure:?} {client:?}").contains(secret));

    let with_user = HttpOptions::new(format!("http://me:{secret}@h"));
    let failure = Client::new(with_user).unwrap_err();
    assert!(!failure.to_string().contains(secret), "{failure}");
    let bad_header = HttpOptions {
        headers: vec![("X-Key".to_owned(), format!("{secret}\n").into())],
        ..HttpOptions::new("http://h")
    };
    let failure = Client::new(bad_header).unwrap_err().to_string();
    assert!(
        failure.contains("X-Key") && !failure.contains(secret),
        "{failure}"
    );
}

#[tokio::test]
async fn what_is_wrong_with_the_options_is_told() {
    let of = |change: fn(&mut HttpOptions)| {
        let mut options = HttpOptions::new("https://h");
        change(&mut options);
        Client::new(options).unwrap_err().to_string()
    };
    for (failure, words) in [
        (of(|o| "loki:3100".clone_into(&mut o.base_url)), "http://"),
        (of(|o| "".clone_into(&mut o.base_url)), "is not a URL"),
        (
            of(|o| o.ca_file = Some("/no/such.pem".into())),
            "/no/such.pem",
        ),
        (of(|o| o.proxy = Some("::".to_owned())), "proxy"),
    ] {
        assert!(failure.contains(words), "{failure}");
    }
    let nobody = Client::new(HttpOptions::new("http://127.0.0.1:1")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let failure = nobody.send(&Request::get("x"), deadline).await.unwrap_err();
    assert!(failure.to_string().contains("refused"), "{failure}");
}

#[tokio::test]
async fn where_nobody_listens_is_asked_once_and_named() {
    let nobody = Client::new(HttpOptions::new("http://127.0.0.1:1/loki")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let failure = nobody.send(&Request::get("x"), deadline).await.unwrap_err();
    let told = failure.to_string();
    assert!(
        told.starts_with("the connection to http://127.0.0.1:1 failed: "),
        "{told}"
    );
    assert_eq!(nobody.sent(), 1);
}

#[tokio::test]
async fn pages_for_browsers_are_no_answers() {
    let fake = Fake::start(|_| {
        Reply::Text(
            200,
            "<html><head><title>Sign in</title></head></html>".to_owned(),
        )
    });
    let failure = client(&fake)
        .json::<Value>(&Request::get("x"), soon())
        .await
        .unwrap_err();
    assert!(
        matches!(&failure, HttpError::Garbage(why) if why.contains("Sign in")),
        "{failure}"
    );
}
