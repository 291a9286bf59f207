//! Signatures against AWS's published examples, and when credentials are renewed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use serde_json::json;

use super::*;
use crate::connector::Clock;
use crate::http::{Auth, Client, HttpError, HttpOptions, Request};
use crate::time::{SECOND, Stamp};
use whathappened_loopback::{Fake, Reply};

/// A service of which the name in signatures is not that in the environment.
const LOGS: Service = Service::new("logs", "logs", "CLOUDWATCH_LOGS");

/// The time of AWS's examples.
fn at(text: &str) -> Clock {
    let at = Stamp::parse(text).unwrap().lo;
    Arc::new(move || at)
}

/// The keys of AWS's examples; they open nothing.
fn example(token: Option<&str>) -> SharedCredentialsProvider {
    SharedCredentialsProvider::new(Credentials::new(
        "AKIDEXAMPLE",
        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        token.map(str::to_owned),
        None,
        "example",
    ))
}

async fn signed(service: &str, token: Option<&str>, mut request: reqwest::Request) -> String {
    let clock = at("2015-08-30T12:36:00Z");
    let access = AwsAccess::with(example(token), "us-east-1", None, clock);
    let Auth::Custom(signer) = access.signs_for(service).unwrap() else {
        panic!("not signed");
    };
    signer.authorize(&mut request).await.unwrap();
    let header = request.headers()["authorization"].to_str().unwrap();
    header.rsplit_once("Signature=").unwrap().1.to_owned()
}

fn request(method: reqwest::Method, url: &str) -> reqwest::Request {
    reqwest::Request::new(method, url.parse().unwrap())
}

#[tokio::test]
async fn signatures_are_those_of_awss_examples() {
    let get = |url: &str| request(reqwest::Method::GET, url);
    let host = "https://example.amazonaws.com";
    for (token, url, signature) in [
        (
            None,
            format!("{host}/"),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            Some("6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"),
            format!("{host}/"),
            "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
        ),
        (
            None,
            format!("{host}/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1"),
            "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
        ),
    ] {
        assert_eq!(
            signed("service", token, get(&url)).await,
            signature,
            "{url}"
        );
    }
    // The example of the general reference: a header beside the usual ones.
    let mut list = get("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08");
    let form = "application/x-www-form-urlencoded; charset=utf-8";
    list.headers_mut()
        .insert("content-type", form.parse().unwrap());
    assert_eq!(
        signed("iam", None, list).await,
        "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

#[tokio::test]
async fn every_try_is_signed_with_what_it_sends() {
    let fake = Fake::start(|_| Reply::Json(200, json!({})));
    let clock = at("2026-11-21T15:30:00Z");
    let access = AwsAccess::with(example(Some("t")), "eu-west-1", Some(fake.url()), clock);
    let mut options = HttpOptions::new(access.url(LOGS).unwrap());
    options.auth = access.signs_for("aoss").unwrap();
    let client = Client::new(options).unwrap();
    let requested = Request::post("").json(&json!({ "a": 1 })).unwrap();
    let soon = Instant::now() + Duration::from_secs(5);
    client.send(&requested, soon).await.unwrap();
    let seen = fake.requests().pop().unwrap();
    assert_eq!(seen.header("x-amz-date"), "20261121T153000Z");
    assert_eq!(seen.header("x-amz-security-token"), "t");
    assert_eq!(seen.header("x-amz-content-sha256").len(), 64);
    let authorization = seen.header("authorization");
    assert!(
        authorization.contains("/20261121/eu-west-1/aoss/aws4_request"),
        "{authorization}"
    );
    assert!(authorization.contains("content-type;host"));
    assert!(!format!("{client:?}").contains("AKIDEXAMPLE"));
}

/// Gives credentials that last an hour, as often as it may.
#[derive(Debug)]
struct Hourly {
    given: AtomicUsize,
    most: usize,
    now: Arc<AtomicI64>,
}

impl ProvideCredentials for Hourly {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        if self.given.fetch_add(1, Ordering::SeqCst) >= self.most {
            let why = "the SSO session has expired";
            return future::ProvideCredentials::ready(Err(CredentialsError::provider_error(why)));
        }
        let now = u64::try_from(self.now.load(Ordering::SeqCst)).unwrap();
        let expiry = UNIX_EPOCH + Duration::from_nanos(now) + Duration::from_secs(3600);
        let given = Credentials::new("AKIDEXAMPLE", "s", None, Some(expiry), "hourly");
        future::ProvideCredentials::ready(Ok(given))
    }
}

#[tokio::test]
async fn credentials_are_kept_until_they_expire() {
    let now = Arc::new(AtomicI64::new(1_795_000_000 * SECOND));
    let hourly = Hourly {
        given: AtomicUsize::new(0),
        most: 2,
        now: Arc::clone(&now),
    };
    let cached = credentials::CachedCredentials::new(
        Some(SharedCredentialsProvider::new(hourly)),
        "profile `dev`".to_owned(),
        Some("dev".to_owned()),
    );
    let time = |now: &AtomicI64| {
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(now.load(Ordering::SeqCst)).unwrap())
    };
    let first = cached.at(time(&now)).await.unwrap();
    now.fetch_add(3_000 * SECOND, Ordering::SeqCst);
    assert_eq!(cached.at(time(&now)).await.unwrap(), first);
    now.fetch_add(400 * SECOND, Ordering::SeqCst);
    let second = cached.at(time(&now)).await.unwrap();
    assert_ne!(second, first);
    // They can no longer be renewed, but are still good for two minutes.
    now.fetch_add(3_480 * SECOND, Ordering::SeqCst);
    assert_eq!(cached.at(time(&now)).await.unwrap(), second);
    now.fetch_add(121 * SECOND, Ordering::SeqCst);
    let failure = cached.at(time(&now)).await.unwrap_err();
    assert!(matches!(failure, HttpError::Credentials(_)));
    let said = failure.to_string();
    for words in [
        "profile `dev`",
        "has expired",
        "aws sso login --profile dev",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[tokio::test]
async fn a_profile_that_is_not_there_is_named() {
    let options = AwsOptions {
        profile: Some("no-such-profile".to_owned()),
        region: Some("eu-west-1".to_owned()),
        ..AwsOptions::default()
    };
    let access = AwsAccess::load(&options, at("2026-11-21T15:30:00Z")).await;
    assert_eq!(access.region(), Ok("eu-west-1"));
    if std::env::var_os("AWS_ACCESS_KEY_ID").is_some() {
        return whathappened_loopback::skipped("the environment has credentials");
    }
    let mut options = HttpOptions::new("http://127.0.0.1:9");
    options.auth = access.signs_for("logs").unwrap();
    let client = Client::new(options).unwrap();
    let soon = Instant::now() + Duration::from_secs(20);
    let failure = client.send(&Request::get(""), soon).await.unwrap_err();
    assert!(failure.is_denied(), "{failure}");
    assert!(failure.to_string().contains("no-such-profile"), "{failure}");
}

#[test]
fn services_are_where_region_and_environment_say() {
    for (region, url) in [
        ("eu-west-1", "https://logs.eu-west-1.amazonaws.com"),
        ("cn-north-1", "https://logs.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "https://logs.us-gov-west-1.amazonaws.com"),
    ] {
        assert_eq!(LOGS.url(region), url);
    }
    let get = |pairs: &'static [(&str, &str)]| {
        move |name: &str| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    };
    let all = get(&[("AWS_ENDPOINT_URL", "http://a"), ("AWS_PROFILE", "dev")]);
    let options = AwsOptions::from_env(LOGS, &all);
    assert_eq!(options.endpoint.as_deref(), Some("http://a"));
    assert_eq!(options.profile.as_deref(), Some("dev"));
    let own = get(&[
        ("AWS_ENDPOINT_URL", "http://a"),
        ("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", "http://b"),
    ]);
    assert_eq!(LOGS.endpoint(&own).as_deref(), Some("http://b"));
}
