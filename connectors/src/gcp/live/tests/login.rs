//! Credentials of each kind, by fake token endpoints; which project is meant.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::super::project::discover;
use super::server::{Cloud, error};
use super::*;
use crate::coverage::Status;
use whathappened_loopback::Reply;

/// Where a token of a service account is asked for.
const IMPERSONATE: &str =
    "/v1/projects/-/serviceAccounts/robot@lab.iam.gserviceaccount.com:generateAccessToken";

/// Gives tokens, and answers everything else with nothing.
fn issuer(token: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Fake {
    Fake::start(move |requested| match requested.path.as_str() {
        "/v2/entries:list" => Reply::Json(200, json!({})),
        path if path.contains("/aggregated/") => {
            Reply::Json(200, json!({"kind": "compute#instanceAggregatedList"}))
        }
        path => token(path, &requested.body),
    })
}

fn granted(token: &str) -> Reply {
    let body = json!({"access_token": token, "expires_in": 3599, "token_type": "Bearer", "issued_token_type": "t"});
    Reply::Json(200, body)
}

/// Options with a file of credentials.
fn with_file(fake: &Fake, folder: &Path, json: &Value) -> GcpOptions {
    let path = folder.join("credentials.json");
    std::fs::write(&path, json.to_string()).unwrap();
    let mut options = options(fake);
    options.login.access_token = None;
    options.login.credentials_file = Some(path);
    options
}

fn user(fake: &Fake) -> Value {
    json!({"type": "authorized_user", "client_id": "c", "client_secret": "hidden-1", "refresh_token": "hidden-2",
           "quota_project_id": "payer", "token_uri": format!("{}/token", fake.url())})
}

async fn ask_of(options: GcpOptions) -> Vec<Coverage> {
    fetch(&open(options), &about(vec![node("lab", "gpu-1")]))
        .await
        .1
}

/// The tokens that questions came with, in order, each once.
fn used(fake: &Fake) -> Vec<String> {
    let requested = fake.requests();
    let calls = requested
        .iter()
        .filter(|requested| requested.path == "/v2/entries:list");
    let mut used: Vec<String> = calls
        .map(|requested| requested.header("authorization").to_owned())
        .collect();
    used.dedup();
    used
}

#[tokio::test]
async fn a_users_login_is_renewed_once_and_counted_on_the_quota_project() {
    let fake = issuer(|_, body| {
        assert_eq!(body["grant_type"], "refresh_token");
        assert_eq!(body["refresh_token"], "hidden-2");
        granted("of-user")
    });
    let folder = tempfile::tempdir().unwrap();
    let options = with_file(&fake, folder.path(), &user(&fake));
    let gcp = open(options);
    let fetch_request = about(vec![node("lab", "gpu-1")]);
    for _ in 0..2 {
        let (_, rows) = fetch(&gcp, &fetch_request).await;
        assert_eq!(
            row(&rows, "activity", "lab").status,
            Status::Complete,
            "{rows:#?}"
        );
    }
    assert_eq!(used(&fake), ["Bearer of-user"]);
    assert_eq!(fake.count(|requested| requested.path == "/token"), 1);
    let requested = fake.requests();
    let call = requested
        .iter()
        .find(|requested| requested.path == "/v2/entries:list")
        .unwrap();
    assert_eq!(call.header("x-goog-user-project"), "payer");
    assert!(!format!("{gcp:?}").contains("hidden"));
}

#[tokio::test]
async fn a_login_that_ran_out_says_how_to_log_in_and_is_read_anew_after() {
    let refused = AtomicUsize::new(0);
    let fake = issuer(
        move |_, body| match refused.fetch_add(1, Ordering::SeqCst) {
            0 => {
                assert_eq!(body["refresh_token"], "hidden-2");
                let why = json!({"error": "invalid_grant", "error_description": "Token has been expired or revoked."});
                Reply::Json(400, why)
            }
            _ => granted("new"),
        },
    );
    let folder = tempfile::tempdir().unwrap();
    let gcp = open(with_file(&fake, folder.path(), &user(&fake)));
    let fetch_request = about(vec![node("lab", "gpu-1")]);
    let (_, rows) = fetch(&gcp, &fetch_request).await;
    let denied = row(&rows, "activity", "lab");
    assert_eq!(denied.status, Status::Denied);
    for words in [
        "invalid_grant: Token has been expired or revoked.",
        "`gcloud auth application-default login`",
    ] {
        assert!(said(denied).contains(words), "{denied:?}");
    }
    assert!(!said(denied).contains("hidden"));
    assert_eq!(used(&fake), Vec::<String>::new());
    // Somebody logs in while we run.
    let (_, rows) = fetch(&gcp, &fetch_request).await;
    assert_eq!(row(&rows, "activity", "lab").status, Status::Complete);
}

#[tokio::test]
async fn a_network_that_is_down_is_no_reason_to_log_in_again() {
    let fake = issuer(|path, _| match path {
        "/token" => Reply::Hang,
        other => panic!("{other}"),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut down = user(&fake);
    down["token_uri"] = json!("http://127.0.0.1:9/token");
    let rows = ask_of(with_file(&fake, folder.path(), &down)).await;
    assert_eq!(rows[0].status, Status::Failed);
    assert!(
        said(&rows[0]).contains("Google did not issue a token"),
        "{rows:?}"
    );
    assert!(!said(&rows[0]).contains("login"), "{rows:?}");

    let gcp = open(with_file(&fake, folder.path(), &user(&fake)));
    let mut fetch_request = about(vec![node("lab", "gpu-1")]);
    fetch_request.deadline = Instant::now() + Duration::from_millis(300);
    let (_, rows) = fetch(&gcp, &fetch_request).await;
    assert!(Instant::now() < fetch_request.deadline + Duration::from_secs(2));
    assert_eq!(rows[0].status, Status::Failed, "{rows:?}");
}

#[tokio::test]
async fn a_token_that_is_no_longer_taken_is_renewed() {
    let given = AtomicUsize::new(0);
    let fake = Fake::start(move |requested| {
        if requested.path == "/token" {
            return granted(&format!("t{}", given.fetch_add(1, Ordering::SeqCst)));
        }
        if requested.header("authorization") != "Bearer t1" {
            return error(
                401,
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials.",
            );
        }
        Reply::Json(
            200,
            json!({"entries": [], "kind": "compute#instanceAggregatedList"}),
        )
    });
    let folder = tempfile::tempdir().unwrap();
    let rows = ask_of(with_file(&fake, folder.path(), &user(&fake))).await;
    for resource in ["activity", "instances"] {
        assert_eq!(
            row(&rows, resource, "lab").status,
            Status::Complete,
            "{rows:#?}"
        );
    }
}

#[tokio::test]
async fn federation_and_impersonation_exchange_tokens() {
    let fake = issuer(|path, _| match path {
        "/sts" => granted("federated"),
        "/token" => granted("of-user"),
        IMPERSONATE => Reply::Json(
            200,
            json!({"accessToken": "of-robot", "expireTime": "2099-01-01T00:00:00Z"}),
        ),
        other => panic!("{other}"),
    });
    let folder = tempfile::tempdir().unwrap();
    let subject = folder.path().join("subject");
    std::fs::write(&subject, "subject-token").unwrap();
    let federated = json!({
        "type": "external_account", "audience": "//iam.googleapis.com/projects/7/locations/global/workloadIdentityPools/p/providers/q",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": format!("{}/sts", fake.url()), "credential_source": {"file": subject},
    });
    let rows = ask_of(with_file(&fake, folder.path(), &federated)).await;
    assert_eq!(
        row(&rows, "activity", "lab").status,
        Status::Complete,
        "{rows:#?}"
    );
    let impersonated = json!({
        "type": "impersonated_service_account", "source_credentials": user(&fake), "delegates": [],
        "service_account_impersonation_url": format!("{}{IMPERSONATE}", fake.url()),
    });
    let rows = ask_of(with_file(&fake, folder.path(), &impersonated)).await;
    assert_eq!(
        row(&rows, "activity", "lab").status,
        Status::Complete,
        "{rows:#?}"
    );
    assert_eq!(used(&fake), ["Bearer federated", "Bearer of-robot"]);
    let requested = fake.requests();
    let exchange = requested
        .iter()
        .find(|requested| requested.path == "/sts")
        .unwrap();
    assert_eq!(exchange.query("subject_token"), "subject-token");
    assert!(exchange.query("scope").contains("auth/logging.read"));
    let generate = requested
        .iter()
        .find(|requested| requested.path == IMPERSONATE)
        .unwrap();
    assert!(
        generate.body["scope"]
            .to_string()
            .contains("auth/logging.read")
    );
}

#[tokio::test]
async fn a_machine_asks_its_metadata_server_for_token_and_project() {
    let fake = issuer(|path, _| match path {
        "/computeMetadata/v1/instance/service-accounts/default/token" => granted("of-machine"),
        "/computeMetadata/v1/project/project-id" => Reply::Full(
            200,
            vec![("Metadata-Flavor", "Google".to_owned())],
            "lab-7\n".to_owned(),
        ),
        other => panic!("{other}"),
    });
    let mut options = options(&fake);
    options.login.access_token = None;
    options.login.metadata = Some(fake.url());
    let (_, rows) = fetch(&open(options), &about(Vec::new())).await;
    assert_eq!(
        row(&rows, "activity", "lab-7").status,
        Status::Complete,
        "{rows:#?}"
    );
    assert!(used(&fake).iter().all(|one| one == "Bearer of-machine"));
    let metadata = fake.count(|requested| {
        requested.path.starts_with("/computeMetadata")
            && requested.header("metadata-flavor") == "Google"
    });
    assert_eq!(metadata, 2);
}

#[tokio::test]
async fn without_credentials_it_says_how_to_get_some() {
    let fake = Cloud::default().start();
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&fake);
    options.login.access_token = None;
    options.login.config_dir = Some(folder.path().to_owned());
    let mut nowhere = options.clone();
    nowhere.login.metadata = Some("http://127.0.0.1:9".to_owned());
    for options in [options.clone(), nowhere] {
        let rows = ask_of(options).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].status, Status::Denied);
        for words in [
            "GOOGLE_APPLICATION_CREDENTIALS",
            "gcloud auth application-default login",
        ] {
            assert!(said(&rows[0]).contains(words), "{rows:?}");
        }
    }
    for (text, words) in [
        ("{", "not JSON"),
        ("{}", "no `type`"),
        (
            r#"{"type": "external_account_authorized_user"}"#,
            "gcloud auth print-access-token",
        ),
        (r#"{"type": "service_account"}"#, "cannot be used"),
    ] {
        let path = folder.path().join("application_default_credentials.json");
        std::fs::write(&path, text).unwrap();
        let rows = ask_of(options.clone()).await;
        assert_eq!(rows[0].status, Status::Denied, "{text}");
        assert!(said(&rows[0]).contains(words), "{rows:?}");
    }
    options.login.credentials_file = Some(folder.path().join("none"));
    let rows = ask_of(options).await;
    assert!(
        said(&rows[0]).contains("GOOGLE_APPLICATION_CREDENTIALS names"),
        "{rows:?}"
    );
    assert!(fake.requests().is_empty());
}

/// A key that signs nothing else, of this test's own making.
fn key() -> Option<String> {
    let made = Command::new("openssl")
        .args([
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:2048",
        ])
        .output()
        .ok()?;
    let text = String::from_utf8(made.stdout).ok()?;
    (made.status.success() && text.contains("PRIVATE")).then_some(text)
}

#[tokio::test]
async fn a_service_account_signs_its_tokens_itself() {
    let fake = issuer(|path, _| panic!("{path}"));
    let folder = tempfile::tempdir().unwrap();
    let file = |key: &str| {
        json!({"type": "service_account", "project_id": "robots", "private_key_id": "k1", "private_key": key,
               "client_email": "robot@robots.iam.gserviceaccount.com"})
    };
    // The provider of signatures is there although nothing else made it.
    let rows = ask_of(with_file(&fake, folder.path(), &file("no key"))).await;
    assert_eq!(rows[0].status, Status::Denied);
    assert!(said(&rows[0]).contains("service account key"), "{rows:?}");
    let Some(key) = key() else {
        return whathappened_loopback::skipped("no openssl");
    };
    let options = with_file(&fake, folder.path(), &file(&key));
    let login = options.login.clone();
    let rows = ask_of(options).await;
    assert_eq!(
        row(&rows, "activity", "lab").status,
        Status::Complete,
        "{rows:#?}"
    );
    let used = used(&fake);
    let token = used[0].strip_prefix("Bearer ").unwrap();
    assert_eq!(token.split('.').count(), 3, "a signed token");
    assert_eq!(discover(&login, soon()).await.unwrap(), "robots");
}

#[tokio::test]
async fn the_project_is_that_of_gcloud_where_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Cloud::default().start();
    let mut options = options(&fake);
    options.login.config_dir = Some(folder.path().to_owned());
    let failure = discover(&options.login, soon()).await.unwrap_err();
    assert!(failure.to_string().contains("GOOGLE_CLOUD_PROJECT"));
    let (_, rows) = fetch(&open(options.clone()), &about(Vec::new())).await;
    assert_eq!(rows[0].status, Status::NotConfigured);

    std::fs::write(
        folder.path().join("application_default_credentials.json"),
        user(&fake).to_string(),
    )
    .unwrap();
    assert_eq!(discover(&options.login, soon()).await.unwrap(), "payer");
    let configurations = folder.path().join("configurations");
    std::fs::create_dir(&configurations).unwrap();
    std::fs::write(folder.path().join("active_config"), "work\n").unwrap();
    std::fs::write(
        configurations.join("config_work"),
        "[compute]\nproject = wrong\n\n[core]\naccount = ada@example.com\nproject = lab-9\n",
    )
    .unwrap();
    assert_eq!(discover(&options.login, soon()).await.unwrap(), "lab-9");
    options.login.config_name = Some("other".to_owned());
    assert_eq!(discover(&options.login, soon()).await.unwrap(), "payer");
}

#[tokio::test]
async fn a_token_file_is_read_for_each_question_and_cannot_impersonate() {
    let fake = Cloud::default().start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "old").unwrap();
    let mut options = options(&fake);
    options.login.access_token = None;
    options.login.access_token_file = Some(path.clone());
    options.quota_project = Some("payer".to_owned());
    let gcp = open(options.clone());
    let fetch_request = about(vec![node("lab", "gpu-1")]);
    let (_, rows) = fetch(&gcp, &fetch_request).await;
    assert_eq!(row(&rows, "activity", "lab").status, Status::Denied);
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    let (_, rows) = fetch(&gcp, &fetch_request).await;
    assert_eq!(row(&rows, "activity", "lab").status, Status::Complete);
    assert!(
        fake.requests()
            .iter()
            .all(|requested| requested.header("x-goog-user-project") == "payer")
    );
    options.login.impersonate = Some("robot@lab.iam.gserviceaccount.com".to_owned());
    let rows = ask_of(options).await;
    assert!(
        said(&rows[0]).contains("--impersonate-service-account"),
        "{rows:?}"
    );
}
