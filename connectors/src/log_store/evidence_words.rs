//! What lines that may tell something hold.

use super::contract::LineSubject;
use crate::{logs, node_log};

/// Words of lines that may be evidence. A store asks for them as well as it can:
/// it may give more lines, never fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvidenceWords {
    /// Parts of lines; one of them is in each telling line.
    pub parts: &'static [&'static str],
    /// The parts count in any case; else as they are written.
    pub any_case: bool,
    /// For stores that know only whole words: words in sequence, in lower case and
    /// without what stands between them. `None` where the parts are such words.
    pub phrases: Option<&'static [&'static str]>,
}

impl EvidenceWords {
    /// Whether a text holds one of the parts.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        if self.any_case {
            let lower = text.to_ascii_lowercase();
            return self.parts.iter().any(|part| lower.contains(part));
        }
        self.parts.iter().any(|part| text.contains(part))
    }
}

impl LineSubject {
    /// What telling lines of these hold: machines say other things than programs.
    #[must_use]
    pub fn evidence(&self) -> EvidenceWords {
        match self {
            Self::Nodes(_) => EvidenceWords {
                parts: node_log::words(),
                any_case: false,
                phrases: Some(node_log::PHRASES),
            },
            Self::Pods(_) | Self::Experiment(_) => EvidenceWords {
                parts: logs::TELLING,
                any_case: true,
                phrases: None,
            },
        }
    }
}
