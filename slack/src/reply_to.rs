//! Addresses that Slack hands out with a request.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

/// An address that is not Slack's, so that nothing is sent there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the response URL does not belong to Slack")]
pub struct NotSlack;

/// A `response_url`: whoever has it can post, so that it is shown nowhere.
/// Good for five messages within 30 minutes.
#[derive(Clone)]
pub struct ReplyTo(SecretString);

impl ReplyTo {
    /// How often it may be used.
    pub const USES: u32 = 5;

    /// How long it may be used, in seconds.
    pub const KEEP_S: i64 = 30 * 60;

    /// The address as it stood in a request. It is looked at when it is used.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self(SecretString::from(address.into()))
    }

    /// Origin and path, if the address is Slack's own: `hooks.slack.com`, or the
    /// origin of the Web API that is in use. Requests are signed, and still an
    /// address in them is not followed anywhere else.
    pub(crate) fn place(&self, api: &Url) -> Result<(String, String), NotSlack> {
        let url = Url::parse(self.0.expose_secret()).map_err(|_| NotSlack)?;
        let hosts = ["hooks.slack.com", "hooks.slack-gov.com"];
        ours(&url, api, |host| hosts.contains(&host))
    }
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyTo(…)")
    }
}

/// Origin and path with query of an address of Slack's, by its host.
pub(crate) fn ours(
    url: &Url,
    api: &Url,
    is_slack: impl Fn(&str) -> bool,
) -> Result<(String, String), NotSlack> {
    let host = url.host_str().ok_or(NotSlack)?;
    let official = url.scheme() == "https" && url.port().is_none() && is_slack(host);
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || !(official || url.origin() == api.origin()) {
        return Err(NotSlack);
    }
    let mut path = url.path().trim_start_matches('/').to_owned();
    if let Some(query) = url.query() {
        path = format!("{path}?{query}");
    }
    Ok((url.origin().ascii_serialization(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slack_is_answered() {
        let api = Url::parse("https://slack.com/api/").unwrap();
        let place = |address: &str| ReplyTo::new(address).place(&api);
        assert_eq!(
            place("https://hooks.slack.com/commands/T1/2/x?a=b").unwrap(),
            (
                "https://hooks.slack.com".to_owned(),
                "commands/T1/2/x?a=b".to_owned()
            )
        );
        for other in [
            "http://hooks.slack.com/commands/T1",
            "https://hooks.slack.com.evil.example/x",
            "https://hooks.slack.com@evil.example/x",
            "https://user@hooks.slack.com/x",
            "https://hooks.slack.com:8443/x",
            "https://evil.example/hooks.slack.com",
            "http://169.254.169.254/latest/meta-data",
            "file:///etc/passwd",
            "hooks.slack.com/x",
            "",
        ] {
            assert_eq!(place(other), Err(NotSlack), "{other}");
        }
        // A server that plays Slack plays all of it.
        let fake = Url::parse("http://127.0.0.1:4000/api/").unwrap();
        let place = |address: &str| ReplyTo::new(address).place(&fake);
        assert!(place("http://127.0.0.1:4000/respond").is_ok());
        assert!(place("http://127.0.0.1:4001/respond").is_err());
    }

    #[test]
    fn the_address_is_not_shown() {
        let shown = format!("{:?}", ReplyTo::new("https://hooks.slack.com/secret"));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
