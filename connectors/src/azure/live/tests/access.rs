//! Who we are, and what is said where nobody knows us.

use serde_json::json;

use super::super::login::LoginMethod;
use super::manager::{FakeManager, error};
use super::*;
use crate::coverage::Status;
use crate::http::HttpError;
use whathappened_loopback::Reply;

/// What is said where no token is given.
async fn refused(outside: &Fake, change: impl Fn(&mut AzureOptions)) -> String {
    let fake = FakeManager::default().start();
    let azure = azure_with(&fake, outside, change);
    let failure = azure.arm.tokens.way(soon()).await.unwrap_err();
    assert!(failure.is_denied(), "{failure}");
    assert!(!failure.to_string().contains("hunter2"), "{failure}");
    let (_, kept, rows) = fetched(&azure, &fetch_request(vec![of_set(3)])).await;
    assert!(kept.is_empty());
    assert_eq!(row(&rows, "activity").status, Status::Denied);
    assert_eq!(detail(row(&rows, "activity")), failure.to_string());
    assert_eq!(fake.requests().len(), 0);
    failure.to_string()
}

fn cli_only(options: &mut AzureOptions) {
    options.client_secret = None;
    options.client = None;
}

#[tokio::test]
async fn a_secret_gives_a_token_once_and_says_what_it_is_for() {
    let (fake, outside) = (FakeManager::default().start(), outside::login());
    let azure = azure_with(&fake, &outside, |options| {
        "https://login.microsoftonline.us".clone_into(&mut options.cloud.authority);
        "https://management.core.usgovcloudapi.net".clone_into(&mut options.cloud.audience);
    });
    for _ in 0..2 {
        fetched(&azure, &fetch_request(vec![of_set(3)])).await;
    }
    let requested = outside.requests();
    assert_eq!(requested.len(), 1);
    assert_eq!(
        requested[0].header("x-meant-for"),
        "https://login.microsoftonline.us"
    );
    assert_eq!(requested[0].path, "/t-1/oauth2/v2.0/token");
    assert_eq!(requested[0].query("grant_type"), "client_credentials");
    assert_eq!(
        requested[0].query("scope"),
        "https://management.core.usgovcloudapi.net/.default"
    );
    assert!(
        fake.requests()
            .iter()
            .all(|one| one.header("authorization") == "Bearer token-1")
    );
    assert!(!format!("{azure:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires_and_when_it_is_refused() {
    // The library reckons the end by the machine's clock, ours by the test's.
    let outside = Fake::start(|requested| {
        let n = if requested.query("scope").is_empty() {
            0
        } else {
            1
        };
        Reply::Json(
            200,
            json!({"token_type": "Bearer", "expires_in": n, "access_token": "token-1"}),
        )
    });
    let fake = FakeManager::default().start();
    let future: Clock = Arc::new(|| i64::MAX / 2);
    let options = azure(&fake, &outside).options;
    let login = Login::through(&options, outside::through(&outside), outside::az(1, "", ""));
    let azure = Azure::with(options, login, future).unwrap();
    for _ in 0..2 {
        azure.arm.tokens.way(soon()).await.unwrap();
    }
    assert_eq!(outside.requests().len(), 2);

    let outside = outside::login();
    let fake = FakeManager {
        expired: vec!["token-1"],
        ..FakeManager::default()
    }
    .start();
    let azure = super::azure(&fake, &outside);
    azure
        .arm
        .get("subscriptions?api-version=2022-12-01", soon())
        .await
        .unwrap();
    let tokens: Vec<String> = fake
        .requests()
        .iter()
        .map(|one| one.header("authorization").to_owned())
        .collect();
    assert_eq!(tokens, ["Bearer token-1", "Bearer token-2"]);
}

#[tokio::test]
async fn an_expired_login_is_told_with_what_to_do() {
    let fake = FakeManager {
        expired: vec!["token-1", "token-2"],
        ..FakeManager::default()
    }
    .start();
    let azure = azure(&fake, &outside::login());
    let failure = azure
        .arm
        .get("subscriptions?api-version=2022-12-01", soon())
        .await
        .unwrap_err();
    let emitted = super::super::error_messages::of_request(&failure, "x");
    assert!(
        emitted.contains("ExpiredAuthenticationToken") && emitted.contains("`az login`"),
        "{emitted}"
    );
}

#[tokio::test]
async fn each_way_says_what_is_wrong_with_it() {
    let wrong_secret = Fake::start(|_| {
        Reply::Json(
            401,
            json!({"error": "invalid_client", "error_codes": [7_000_215],
                "error_description": "AADSTS7000215: Invalid client secret provided. Trace ID: x Correlation ID: y"}),
        )
    });
    let emitted = refused(&wrong_secret, |_| {}).await;
    assert!(
        emitted.contains("from the client secret: AADSTS7000215"),
        "{emitted}"
    );
    assert!(
        emitted.contains("make a new secret") && !emitted.contains("Trace ID"),
        "{emitted}"
    );
    let emitted = refused(&wrong_secret, |options| options.tenant = None).await;
    assert!(emitted.contains("AZURE_TENANT_ID is not set"), "{emitted}");

    let emitted = refused(&wrong_secret, |options| {
        options.client_secret = None;
        options.federated_token_file = Some("/no/such/token".into());
    })
    .await;
    assert!(
        emitted.contains("from the workload identity") && emitted.contains("/no/such/token"),
        "{emitted}"
    );

    let no_identity = Fake::start(|_| error(400, "invalid_request", "Identity not found"));
    let emitted = refused(&no_identity, cli_only).await;
    for words in [
        "from the managed identity: The requested identity has not been assigned",
        "from the Azure CLI: Please run 'az login'",
        "; run `az login`",
    ] {
        assert!(emitted.contains(words), "{emitted}");
    }
}

#[tokio::test]
async fn workload_and_managed_identities_and_az_give_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "eyJ-a-service-account").unwrap();
    let (fake, outside) = (FakeManager::default().start(), outside::login());
    let azure = azure_with(&fake, &outside, |options| {
        options.client_secret = None;
        options.federated_token_file = Some(file.clone());
    });
    assert_eq!(
        azure.arm.tokens.way(soon()).await,
        Ok(LoginMethod::WorkloadIdentity)
    );
    let requested = outside.requests().remove(0);
    assert_eq!(requested.query("client_assertion"), "eyJ-a-service-account");
    assert!(
        requested
            .query("client_assertion_type")
            .ends_with("jwt-bearer")
    );

    // Numbers are text there.
    let metadata = Fake::start(|requested| {
        assert_eq!(requested.header("metadata"), "true");
        assert_eq!(requested.query("resource"), "https://management.azure.com");
        assert_eq!(requested.query("client_id"), "c-1");
        Reply::Json(
            200,
            json!({"access_token": "token-1", "expires_on": "32503680000", "expires_in": "3599", "token_type": "Bearer", "resource": "x"}),
        )
    });
    let azure = azure_with(&fake, &metadata, |options| options.client_secret = None);
    assert_eq!(
        azure.arm.tokens.way(soon()).await,
        Ok(LoginMethod::ManagedIdentity)
    );

    let none = Fake::start(|_| error(400, "invalid_request", "Identity not found"));
    let mut options = azure_with(&fake, &none, cli_only).options;
    options.ways = LoginMethod::named("dev").unwrap();
    let said =
        json!({"accessToken": "token-1", "expires_on": 32_503_680_000_i64, "tokenType": "Bearer"});
    let az = outside::az(0, &said.to_string(), "");
    let login = Login::through(&options, outside::through(&none), az);
    let azure = Azure::with(options, login, clock()).unwrap();
    assert_eq!(
        azure.arm.tokens.way(soon()).await,
        Ok(LoginMethod::AzureCli)
    );
    assert_eq!(none.requests().len(), 0);
}

#[tokio::test]
async fn a_login_service_that_is_not_there_is_told() {
    let mut options = azure(&FakeManager::default().start(), &outside::login()).options;
    "https://127.0.0.1:9".clone_into(&mut options.cloud.authority);
    let azure = Azure::open(options, clock()).unwrap();
    let emitted = azure.arm.tokens.way(soon()).await.unwrap_err().to_string();
    for words in [
        "from the client secret: the connection failed: ",
        "refused",
        "check the network",
    ] {
        assert!(emitted.contains(words), "{emitted}");
    }
    assert!(!emitted.contains("hunter2"), "{emitted}");
}

#[test]
fn options_come_from_azures_own_variables() {
    let variables = [
        ("AZURE_SUBSCRIPTION_ID", "S-1, s-2"),
        ("AZURE_TENANT_ID", "t"),
        ("AZURE_CLIENT_ID", " "),
        ("AZURE_AUTHORITY_HOST", "https://login.chinacloudapi.cn/"),
        ("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential"),
        ("AZURE_SCHEDULED_EVENTS", "true"),
    ];
    let get = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let options = AzureOptions::from_env(&get).unwrap();
    assert_eq!(options.subscriptions, ["s-1", "s-2"]);
    assert_eq!(options.client, None);
    assert_eq!(options.http.base_url, "https://management.chinacloudapi.cn");
    assert_eq!(options.ways, [LoginMethod::ManagedIdentity]);
    assert_eq!(
        options.scheduled_events.as_deref(),
        Some(super::super::SCHEDULED_EVENTS)
    );
    let none = AzureOptions::from_env(&|_| None).unwrap();
    assert!(none.scheduled_events.is_none() && none.ways.is_empty());
    assert!(matches!(
        LoginMethod::named("magic"),
        Err(HttpError::BadRequest(why)) if why.contains("AzureCliCredential")
    ));
}
