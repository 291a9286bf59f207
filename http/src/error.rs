//! Why an answer was not obtained.

use std::time::Duration;

use whathappened_model::coverage::Status;

/// Why an answer was not obtained. Displays as one sentence without full stop;
/// never holds a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The server says no.
    #[error("the server returned {code}: {message}")]
    Refused {
        /// The HTTP status.
        code: u16,
        /// Its own words.
        message: String,
        /// How long it asks us to wait.
        wait: Option<Duration>,
    },
    /// The answer is larger than we take.
    #[error("the response is larger than {0} bytes")]
    TooLarge(usize),
    /// It took too long.
    #[error("no response {}", allowed(.0))]
    TimedOut(Duration),
    /// The connection broke, or never came about.
    #[error("the connection failed: {0}")]
    Broken(String),
    /// Nobody listens there.
    #[error("the connection to {address} failed: {why}")]
    Unreachable {
        /// The server, without a user, a path or a question.
        address: String,
        /// What the system says.
        why: String,
    },
    /// No secure connection.
    #[error("cannot establish a secure connection: {0}")]
    Tls(String),
    /// Not what this API answers: a login page, another server.
    #[error("the response is not from this API: {0}")]
    Garbage(String),
    /// We have nothing to prove who we are with.
    #[error("{0}")]
    Credentials(String),
    /// The options do not make sense.
    #[error("{0}")]
    BadRequest(String),
    /// As much as may be asked was asked.
    #[error("the budget of {0} requests is used up")]
    BudgetSpent(u64),
}

/// How long was waited; a request that was sent when the time was all but over says nothing of the server.
fn allowed(time: &Duration) -> String {
    match time.as_secs_f64() {
        ..0.05 => "in the time allowed".to_owned(),
        seconds => format!("within {seconds:.1} s"),
    }
}

impl HttpError {
    /// The HTTP status, where there is one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The HTTP status that others would have answered: AWS says 400 to all that
    /// a client does wrong (some of its services 403 to an expired token), and
    /// what it is in the error's name.
    #[must_use]
    pub fn meant(&self) -> Option<u16> {
        const NAMES: [(u16, &[&str]); 3] = [
            (429, &["Throttl", "TooManyRequests", "RequestLimitExceeded"]),
            (
                401,
                &[
                    "ExpiredToken",
                    "UnrecognizedClient",
                    "InvalidSignature",
                    "InvalidClientTokenId",
                    "IncompleteSignature",
                    "MissingAuthentication",
                    "SignatureDoesNotMatch",
                    "RequestExpired",
                ],
            ),
            (
                403,
                &[
                    "AccessDenied",
                    "UnauthorizedOperation",
                    "OptInRequired",
                    "SubscriptionRequired",
                ],
            ),
        ];
        let Self::Refused { code, message, .. } = self else {
            return None;
        };
        let named = NAMES.iter().find(|(_, names)| {
            let mut names = names.iter();
            matches!(*code, 400 | 403) && names.any(|name| message.starts_with(name))
        });
        Some(named.map_or(*code, |(code, _)| *code))
    }

    /// Whether the same request may succeed in a moment. Where nobody listens, waiting a second helps
    /// nobody who waits for the answer.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Broken(_))
            || matches!(self.meant(), Some(408 | 425 | 429 | 500 | 502 | 503))
    }

    /// Whether less might be answered where this much was not.
    #[must_use]
    pub fn is_too_much(&self) -> bool {
        matches!(self, Self::TooLarge(_) | Self::TimedOut(_))
            || matches!(self.meant(), Some(413 | 429 | 503 | 504))
    }

    /// Whether we are not allowed to, or not known.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.meant(), Some(401 | 403 | 407)) || matches!(self, Self::Credentials(_))
    }

    /// What it means for what was to be obtained.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            _ if self.is_denied() => Status::Denied,
            Self::BudgetSpent(_) => Status::Sampled,
            _ => Status::Failed,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Credentials(_) => {
                "check the credentials: they are missing, wrong or have expired"
            }
            Self::Refused { .. } => match self.meant() {
                Some(401) => "check the credentials: they are missing, wrong or have expired",
                Some(403) => "request permission to read",
                Some(404) => "check the address and its path prefix",
                Some(429) => "it is busy; try again later",
                _ => "see the server's own logs",
            },
            Self::TooLarge(_) | Self::TimedOut(_) => "request less data, or allow more time",
            Self::Broken(_) | Self::Unreachable { .. } => {
                "check the address, the network and the VPN"
            }
            Self::Tls(_) => "check the address and the CA certificate",
            Self::Garbage(_) => "check that the address is that of the API and not of a web page",
            Self::BadRequest(_) => "check the configuration",
            Self::BudgetSpent(_) => "raise the budget in the configuration",
        }
    }
}
