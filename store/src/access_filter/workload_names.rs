//! Names of others' workloads and experiments in texts of the caller's own. They are
//! often words that people use for other things as well, so one is hidden where it
//! stands whole, and one that says little only behind what it is.

use std::ops::Range;

use super::mention_words::KINDS;
use super::public_names::{self, is_generic};

/// Letters that Kubernetes makes the ends of names of.
const RANDOM: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Whether a name, in lower case, tells whose it is wherever it stands: one of several
/// words, of which one at least is not one that everybody uses.
pub(super) fn is_distinctive(name: &str) -> bool {
    let parts = || name.split(|letter: char| !letter.is_alphanumeric());
    let is_distinctive = |part: &str| {
        let letters = part.chars().filter(|letter| letter.is_alphabetic());
        letters.count() > 2 && !public_names::is_ordinary(part) && !is_generic(part)
    };
    parts().filter(|part| !part.is_empty()).count() > 1 && parts().any(is_distinctive)
}

/// Whether a name stands for itself at a place of a text in lower case: nothing goes on
/// before it, and behind it at most what its pods are numbered by.
pub(super) fn stands(lower: &str, place: &Range<usize>) -> bool {
    let (before, behind) = (
        lower.get(..place.start).unwrap_or_default(),
        lower.get(place.end..).unwrap_or_default(),
    );
    is_begin(before) && is_end(behind)
}

fn is_begin(before: &str) -> bool {
    let Some(before) = before.strip_suffix('-') else {
        return true;
    };
    // A queue's entry is called by the kind and the name: `job-train-1a2b3`.
    let begin = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let kind = before.get(begin.map_or(0, |at| at + 1)..);
    kind.is_none_or(|kind| kind.is_empty() || KINDS.contains(&kind) || kind == "pvc")
}

fn is_end(behind: &str) -> bool {
    let end = behind.find(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let more = behind
        .get(..end.unwrap_or(behind.len()))
        .unwrap_or_default();
    let Some(last) = more.trim_end_matches('-').rsplit('-').next() else {
        return true;
    };
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
    let is_random = last.len() == 5 && last.bytes().all(|byte| RANDOM.contains(&byte));
    // A queue's entry ends in part of a hash.
    let is_hash = last.len() == 5
        && last.bytes().all(|byte| byte.is_ascii_hexdigit())
        && last.bytes().any(|byte| byte.is_ascii_digit());
    is_number || is_random || is_hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_several_words_tells_unless_everybody_uses_them() {
        for name in ["walrus-train", "llama-7b", "ml.walrus", "walrus_0"] {
            assert!(is_distinctive(name), "{name}");
        }
        for name in [
            "walrus",
            "worker-0",
            "train-1",
            "data-train",
            "a-b",
            "7-8",
            "",
        ] {
            assert!(!is_distinctive(name), "{name}");
        }
    }

    #[test]
    fn a_name_stands_alone_or_before_numbers() {
        let name = "walrus-train";
        for (text, is_there) in [
            ("walrus-train", true),
            ("job walrus-train.", true),
            ("walrus-train-0", true),
            ("walrus-train-worker-12/x", true),
            ("walrus-train-x2k9p failed", true),
            ("job-walrus-train-1", true),
            ("walrus-train.quokka", true),
            ("walrus-train-eval", false),
            ("big-walrus-train", false),
            ("walrus-train-hf-v2", false),
        ] {
            let at = text.find(name).unwrap();
            assert_eq!(stands(text, &(at..at + name.len())), is_there, "{text}");
        }
    }
}
