//! What to do about what Google refuses.

use crate::http::Trouble;

/// What was asked, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// `logging`, `compute`.
    pub(super) api: &'a str,
    /// The permission that it takes, and a role that has it.
    pub(super) permission: &'a str,
    pub(super) role: &'a str,
    pub(super) project: &'a str,
}

impl<'a> Asked<'a> {
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
    pub(super) fn told(&self, trouble: &Trouble) -> String {
        match trouble {
            // They say it themselves.
            Trouble::Credentials(words) | Trouble::BadRequest(words) => words.clone(),
            _ => format!("{trouble}; {}", self.advice(trouble)),
        }
    }

    fn advice(&self, trouble: &Trouble) -> String {
        let Self {
            api,
            permission,
            role,
            project,
        } = self;
        let Trouble::Refused { code, message, .. } = trouble else {
            return trouble.hint().to_owned();
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
                "the token may not do this whatever its owner may: it lacks the scope {}; give the machine this scope, \
                 or log in anew",
                if *api == "compute" { "compute.readonly" } else { "logging.read" }
            ),
            403 if says(&["organization's policy", "VPC Service Controls"]) => {
                "a service perimeter keeps this in: ask from inside of it".to_owned()
            }
            403 => format!("missing permission: {permission} on project {project} ({role})"),
            404 => format!("there is no project {project}, or none that you may see"),
            429 => "the read requests of this minute are used up, by others, too: ask again in a minute, or count \
                    them on another project (GOOGLE_CLOUD_QUOTA_PROJECT)"
                .to_owned(),
            _ => trouble.hint().to_owned(),
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
            (404, "Project does not exist: lab", "no project lab"),
            (
                429,
                "Quota exceeded for quota metric 'Read requests'",
                "in a minute",
            ),
        ] {
            let trouble = Trouble::Refused {
                code,
                message: message.to_owned(),
                wait: None,
            };
            let told = Asked::logs("lab").told(&trouble);
            assert!(told.contains(message) && told.contains(words), "{told}");
        }
        let own = Trouble::Credentials("log in".to_owned());
        assert_eq!(Asked::logs("lab").told(&own), "log in");
    }
}
