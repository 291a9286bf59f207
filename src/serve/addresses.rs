//! Where the pages are: the paths of the service, and the addresses by which people reach it.

use super::Service;
use crate::answer::Answer;
use crate::render::in_address;
use crate::report::Question;

/// The addresses of pages, where the service knows its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses<'a> {
    base: Option<&'a str>,
}

impl Service {
    /// Where its pages are.
    pub(super) fn addresses(&self) -> Addresses<'_> {
        Addresses {
            base: self.config.serve.public_url.as_deref(),
        }
    }
}

impl Addresses<'_> {
    /// The page of an incident.
    pub(super) fn incident(self, id: &str) -> Option<String> {
        Some(format!("{}/i/{}", self.base?, in_address(id)))
    }

    /// The page of an experiment.
    pub(super) fn experiment(self, name: &str) -> Option<String> {
        Some(format!("{}/x/{}", self.base?, in_address(name)))
    }

    /// Writes into an answer where its pages are.
    pub(super) fn mark(self, answer: &mut Answer, question: &Question) {
        answer.page = self.experiment(&question.name).map(|mut page| {
            if let Some(run) = &question.run {
                page.push_str("?run=");
                page.push_str(&in_address(run));
            }
            page
        });
        for incident in &mut answer.incidents {
            incident.page = incident.id.as_deref().and_then(|id| self.incident(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        let addresses = Addresses {
            base: Some("https://w.example.com"),
        };
        assert_eq!(
            addresses.experiment("job/ml/a b<\u{202e}").as_deref(),
            Some("https://w.example.com/x/job%2Fml%2Fa%20b%3C%E2%80%AE")
        );
        assert_eq!(Addresses { base: None }.incident("1"), None);
    }
}
