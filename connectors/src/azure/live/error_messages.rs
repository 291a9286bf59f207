//! What Azure's errors mean, and what to do about them.

use std::error::Error as _;

use super::login::LoginMethod;
use crate::http::HttpError;
use crate::redact::redact;

/// How much is quoted of an error of the library.
const QUOTED: usize = 300;

/// How a login that could not be reached is told.
const BROKEN: &str = "the connection failed";

/// What the library says where a connection failed again and again.
const GAVE_UP: &str = "retry policy expired";

/// An error of Azure's library in one line, without its links and boilerplate.
pub(super) fn of_library(error: &azure_core::Error) -> String {
    let text = error.to_string();
    if !text.contains(GAVE_UP) {
        return one_line(&text);
    }
    // What broke stands innermost.
    let mut inner = text;
    let mut next = error.source();
    while let Some(cause) = next {
        inner = cause.to_string();
        next = cause.source();
    }
    format!("{BROKEN}: {}", one_line(&inner))
}

fn one_line(text: &str) -> String {
    let text = text.split("To troubleshoot, visit").next().unwrap_or(text);
    let text = match text.split_once("authentication failed.") {
        Some((name, rest)) if name.trim().ends_with("Credential") => rest,
        _ => text,
    };
    // What follows are ids of one request.
    let text = text.split("Trace ID:").next().unwrap_or(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(QUOTED).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    redact(short.trim_end_matches(['.', ' '])).into_owned()
}

/// Which ways failed, why, and what to do.
pub(super) fn no_token(failed: &[(LoginMethod, String)]) -> String {
    let emitted: Vec<String> = failed
        .iter()
        .map(|(way, why)| format!("{}: {why}", way.words()))
        .collect();
    let mut advice: Vec<&str> = Vec::new();
    for (way, why) in failed {
        let one = advise(*way, why);
        if !advice.contains(&one) {
            advice.push(one);
        }
    }
    // Where several ways were tried, the last is the one a person can take.
    let advice = advice
        .last()
        .copied()
        .unwrap_or("AZURE_TOKEN_CREDENTIALS asks for a way whose variables are not set");
    format!(
        "no Azure token from {}; {advice}",
        if emitted.is_empty() {
            "any way".to_owned()
        } else {
            emitted.join("; from ")
        }
    )
}

fn advise(way: LoginMethod, why: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    match way {
        _ if has(&["AADSTS7000222", "AADSTS7000215"]) => {
            "make a new secret for the application and set AZURE_CLIENT_SECRET"
        }
        _ if has(&["AADSTS700016", "AADSTS90002", "AADSTS900023"]) => {
            "check AZURE_CLIENT_ID and AZURE_TENANT_ID"
        }
        _ if has(&[
            "AADSTS70021",
            "AADSTS700211",
            "AADSTS700212",
            "AADSTS700213",
        ]) =>
        {
            "the identity needs a federated credential for this cluster's issuer and service account"
        }
        _ if has(&["AADSTS700024", "AADSTS50013"]) => {
            "the service account's token is old or of another cluster: restart the pod"
        }
        LoginMethod::ClientSecret | LoginMethod::WorkloadIdentity
            if has(&[BROKEN, "no response "]) =>
        {
            "check the network, the proxy and AZURE_AUTHORITY_HOST"
        }
        LoginMethod::ClientSecret => "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
        LoginMethod::WorkloadIdentity => {
            "label the pod `azure.workload.identity/use: \"true\"`, which sets AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE"
        }
        LoginMethod::ManagedIdentity if has(&["has not been assigned", "Identity not found"]) => {
            "give this machine an identity, or name one that it has in AZURE_CLIENT_ID"
        }
        LoginMethod::ManagedIdentity => "run on a machine of Azure that has an identity",
        LoginMethod::AzureCli if has(&["not found"]) => {
            "install the Azure CLI and run `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
        }
        LoginMethod::AzureCli => "run `az login`",
    }
}

/// What went wrong with a request and what to do about it; `needs` is the
/// permission that it takes.
pub(super) fn of_request(failure: &HttpError, needs: &str) -> String {
    let HttpError::Refused {
        code,
        message,
        wait,
    } = failure
    else {
        return match failure {
            // It says itself what to do.
            HttpError::Credentials(_) => failure.to_string(),
            _ => format!("{failure}; {}", failure.hint()),
        };
    };
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let advice = if has(&["InvalidAuthenticationTokenTenant"]) {
        "the subscription is in another tenant: set AZURE_TENANT_ID to it, or run `az login --tenant`"
            .to_owned()
    } else if has(&["SubscriptionNotFound", "InvalidSubscriptionId"]) {
        "check AZURE_SUBSCRIPTION_ID, and that this login may see it (`az account list`)".to_owned()
    } else if has(&[
        "MissingSubscriptionRegistration",
        "SubscriptionNotRegistered",
    ]) {
        let provider = needs.split('/').next().unwrap_or(needs);
        format!(
            "the subscription is not registered for it yet: `az provider register --namespace {provider}`"
        )
    } else if *code == 401 {
        "the token has expired or is not for this cloud: run `az login` again, or check the identity"
            .to_owned()
    } else if *code == 403 {
        let role = if needs.starts_with("Microsoft.Insights/") {
            "the role Monitoring Reader or Reader"
        } else {
            "the role Reader"
        };
        format!("needs {needs}: {role} on the subscription has it")
    } else if *code == 429 {
        match wait {
            Some(wait) => format!(
                "the subscription's request quota is used up: try again in {} s",
                wait.as_secs_f64().ceil()
            ),
            None => "the subscription's request quota is used up: try again later".to_owned(),
        }
    } else {
        failure.hint().to_owned()
    };
    format!("{failure}; {advice}")
}
