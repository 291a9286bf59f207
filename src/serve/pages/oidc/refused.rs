//! Why somebody is not signed in: in words for them, and for the log.

/// Why nobody is signed in: what they are told, and what is for the log alone.
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) why: String,
}

impl Failure {
    pub(super) fn new(message: &str, why: String) -> Self {
        Self {
            message: message.to_owned(),
            why,
        }
    }

    /// The provider does not say who it is, or with which keys it signs.
    pub(super) fn unknown_provider(why: String) -> Self {
        Self::new("the identity provider could not be asked", why)
    }

    /// Something of the service itself is missing.
    pub(super) fn own(why: String) -> Self {
        Self::new("the service is not set up for it", why)
    }
}

/// Why somebody is not let in.
pub(super) enum Refused {
    /// They are known and may see nothing, or the provider turned them away; they are told why.
    Nobody(String),
    /// Something is wrong; the log says what.
    Failed(Failure),
}

/// That the provider sent somebody back without a code. Its own word for why is one of a few that the standard has.
pub(super) fn refusal(error: &str) -> String {
    let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
    if error.len() <= 40 && error.chars().all(is_word) {
        format!("The sign-in was refused by the identity provider ({error}).")
    } else {
        "The sign-in was refused by the identity provider.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn of_a_refusal_only_a_word_is_shown() {
        assert!(refusal("access_denied").contains("(access_denied)"));
        for wrong in ["<b>", "Call 555-1234", &"a".repeat(41)] {
            assert!(!refusal(wrong).contains(wrong), "{wrong}");
        }
    }
}
