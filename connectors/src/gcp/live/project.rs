//! Which project is meant where none is named.

use std::path::Path;
use std::time::{Duration, Instant};

use super::adc::Adc;
use super::options::GcpLogin;
use crate::http::{Client, HttpError, HttpOptions, Request};

/// The metadata server is next door or not there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Finds the project: the service account's, `gcloud`'s, the one that the login
/// is counted on, the machine's.
///
/// # Errors
/// Says how to name one.
pub(super) async fn discover(login: &GcpLogin, deadline: Instant) -> Result<String, HttpError> {
    // What is wrong with the file is told where a token is asked for.
    let adc = Adc::load(login).ok().flatten();
    let written = adc
        .as_ref()
        .and_then(Adc::project)
        .or_else(|| of_gcloud(login))
        .or_else(|| adc.as_ref().and_then(Adc::quota_project));
    if let Some(project) = written {
        return Ok(project);
    }
    of_machine(login, deadline).await.ok_or_else(|| {
        HttpError::BadRequest(
            "no Google Cloud project is configured: set GOOGLE_CLOUD_PROJECT, or run `gcloud config set project`"
                .to_owned(),
        )
    })
}

/// `project` in section `core` of the configuration of `gcloud` that is active.
fn of_gcloud(login: &GcpLogin) -> Option<String> {
    let folder = login.config_dir.as_ref()?;
    let name = match &login.config_name {
        Some(name) => name.clone(),
        None => read(&folder.join("active_config")).unwrap_or_else(|| "default".to_owned()),
    };
    let text = read(&folder.join("configurations").join(format!("config_{name}")))?;
    let mut in_core = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line == "[core]";
        } else if let Some((key, value)) = line.split_once('=')
            && in_core
            && key.trim() == "project"
        {
            return Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        }
    }
    None
}

fn read(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

async fn of_machine(login: &GcpLogin, deadline: Instant) -> Option<String> {
    let mut options = HttpOptions::new(login.metadata.as_ref()?);
    options.request_timeout = PATIENCE;
    options.tries = 1;
    let client = Client::new(options).ok()?;
    let request = Request::get("computeMetadata/v1/project/project-id");
    let request = request.header("Metadata-Flavor", "Google");
    let answer = client.send(&request, deadline).await.ok()?;
    // Whoever answers without this is a gateway that answers everything.
    if answer.header("Metadata-Flavor") != Some("Google") {
        return None;
    }
    let text = std::str::from_utf8(&answer.body).ok()?.trim();
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
