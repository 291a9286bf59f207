//! What to do about what Google refuses.

use crate::http::HttpError;

/// What was asked, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestContext<'a> {
    /// `logging`, `compute`.
    pub(super) api: &'a str,
    /// The permission that it takes, and a role that has it.
    pub(super) permission: &'a str,
    pub(super) role: &'a str,
    pub(super) project: &'a str,
}

impl<'a> RequestContext<'a> {
    pub(super) fn logs(project: &'a str) -> Self {
        Self {
            api: "logging",
            permission: "logging.logEntries.list",
            role: "roles/logging.viewer",
            project,
        }
    }

    pub(super) fn inventory(project: &'a str) -> Self {
        Self {
            api: "compute",
            permission: "compute.instances.list",
            role: "roles/compute.viewer",
            project,
        }
    }

    /// What is wrong and what to do about it, in one line.
    pub(super) fn emitted(&self, failure: &HttpError) -> String {
        match failure {
            // They say it themselves.
            HttpError::Credentials(words) | HttpError::BadRequest(words) => words.clone(),
            _ => format!("{failure}; {}", self.advice(failure)),
        }
    }

    fn advice(&self, failure: &HttpError) -> String {
        let Self {
            api,
            permission,
            role,
            project,
        } = self;
        let HttpError::Refused { code, message, .. } = failure else {
            return failure.hint().to_owned();
        };
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        match code {
            401 => "the token is not accepted or has expired: run `gcloud auth application-default login`, or give \
                    a new token"
                .to_owned(),
            403 if says(&["has not been used in project", "it is disabled"]) => {
                format!("the API is off: `gcloud services enable {api}.googleapis.com --project {project}`")
            }
            403 if says(&["requires a quota project", "serviceusage.services.use"]) => {
                "name a project to count requests on in which you may use services: set \
                 GOOGLE_CLOUD_QUOTA_PROJECT, or `gcloud auth application-default set-quota-project`"
                    .to_owned()
            }
            403 if says(&["insufficient authentication scopes"]) => format!(
                "the token lacks the scope {}, whatever its owner is allowed to do; give the \
                 machine this scope, or log in again",
                if *api == "compute" { "compute.readonly" } else { "logging.read" }
            ),
            403 if says(&["organization's policy", "VPC Service Controls"]) => {
                "a service perimeter blocks this: run it from inside the perimeter".to_owned()
            }
            403 => format!("missing permission: {permission} on project {project} ({role})"),
            404 => format!("the project {project} does not exist, or you are not allowed to see it"),
            429 => "the read quota of this minute is used up, possibly by others: try again in a \
                    minute, or use another quota project (GOOGLE_CLOUD_QUOTA_PROJECT)"
                .to_owned(),
            _ => failure.hint().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_says_what_to_do() {
        for (code, message, words) in [
            (
                401,
                "Request had invalid authentication credentials.",
                "gcloud auth application-default login",
            ),
            (
                403,
                "Permission 'logging.logEntries.list' denied on resource (or it may not exist).",
                "roles/logging.viewer",
            ),
            (
                403,
                "Cloud Logging API has not been used in project 7 before or it is disabled.",
                "gcloud services enable logging.googleapis.com --project lab",
            ),
            (
                403,
                "The logging.googleapis.com API requires a quota project, which is not set by default.",
                "set-quota-project",
            ),
            (
                403,
                "Request had insufficient authentication scopes.",
                "logging.read",
            ),
            (
                403,
                "Request is prohibited by organization's policy.",
                "perimeter",
            ),
            (
                404,
                "Project does not exist: lab",
                "the project lab does not exist",
            ),
            (
                429,
                "Quota exceeded for quota metric 'Read requests'",
                "in a minute",
            ),
        ] {
            let failure = HttpError::Refused {
                code,
                message: message.to_owned(),
                wait: None,
            };
            let emitted = RequestContext::logs("lab").emitted(&failure);
            assert!(
                emitted.contains(message) && emitted.contains(words),
                "{emitted}"
            );
        }
        let own = HttpError::Credentials("log in".to_owned());
        assert_eq!(RequestContext::logs("lab").emitted(&own), "log in");
    }
}
