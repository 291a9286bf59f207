//! Kubernetes' selectors of labels, as requests carry them: `team=nlp,stage in (a, b),!debug`.

use std::collections::BTreeMap;

/// What a selector asks of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    /// `key=value`, `key==value`, `key in (a,b)`.
    In(String, Vec<String>),
    /// `key!=value`, `key notin (a,b)`: an object without the label fits.
    NotIn(String, Vec<String>),
    /// `key`.
    Exists(String),
    /// `!key`.
    Absent(String),
}

impl Requirement {
    /// Whether it holds for labels; `None` where it asks for one that is not among them.
    fn fits(&self, labels: &BTreeMap<String, String>) -> Option<bool> {
        match self {
            Self::In(key, values) => Some(values.contains(labels.get(key)?)),
            Self::NotIn(key, values) => {
                Some(labels.get(key).is_none_or(|value| !values.contains(value)))
            }
            Self::Exists(key) => labels.contains_key(key).then_some(true),
            Self::Absent(key) => Some(!labels.contains_key(key)),
        }
    }
}

/// A selector of labels; an empty one selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LabelSelector(Vec<Requirement>);

impl LabelSelector {
    /// Reads one; `None` for what is not understood: comparisons of numbers, and no selector.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let terms = terms(text).map(|term| requirement(term.trim()));
        terms.collect::<Option<_>>().map(Self)
    }

    /// Whether all labels of an object fit.
    pub(super) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|one| one.fits(labels).unwrap_or(false))
    }

    /// Whether an object that has these labels, and others that nobody knows, may be selected.
    pub(super) fn may_select(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|one| one.fits(labels).unwrap_or(true))
    }

    /// Whether an object that has these labels is selected, whatever others it has.
    pub(super) fn needs_only(&self, labels: &BTreeMap<String, String>) -> bool {
        let asks_for =
            |one: &Requirement| matches!(one, Requirement::In(..) | Requirement::Exists(_));
        self.0.iter().all(asks_for) && self.selects(labels)
    }
}

/// The parts between commas, of which those in parentheses divide nothing.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    let parts = text.split(move |sign| {
        match sign {
            '(' => is_inside = true,
            ')' => is_inside = false,
            _ => {}
        }
        sign == ',' && !is_inside
    });
    parts.filter(|part| !part.trim().is_empty())
}

fn requirement(term: &str) -> Option<Requirement> {
    if let Some(key) = term.strip_prefix('!') {
        return is_key(key.trim()).then(|| Requirement::Absent(key.trim().to_owned()));
    }
    if let Some((left, values)) = term.strip_suffix(')').and_then(|term| term.split_once('(')) {
        let values = values.split(',').map(|value| value.trim().to_owned());
        let (key, operator) = left.trim().rsplit_once(char::is_whitespace)?;
        let key = Some(key.trim()).filter(|key| is_key(key))?.to_owned();
        return match operator {
            "in" => Some(Requirement::In(key, values.collect())),
            "notin" => Some(Requirement::NotIn(key, values.collect())),
            _ => None,
        };
    }
    let Some((key, value)) = term.split_once('=') else {
        return is_key(term).then(|| Requirement::Exists(term.to_owned()));
    };
    let is_not = key.ends_with('!');
    let key = key.trim_end_matches('!').trim();
    let value = vec![value.strip_prefix('=').unwrap_or(value).trim().to_owned()];
    is_key(key).then(|| match is_not {
        true => Requirement::NotIn(key.to_owned(), value),
        false => Requirement::In(key.to_owned(), value),
    })
}

/// Whether a word can be the key of a label.
fn is_key(word: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || "-_./".contains(sign);
    !word.is_empty() && word.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = pairs.iter();
        own.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn each_operator_selects_as_the_server_does() {
        let own = labels(&[("team", "nlp"), ("lab.example/stage", "train")]);
        for (text, selected) in [
            ("", true),
            ("team=nlp", true),
            ("team==nlp,lab.example/stage=train", true),
            ("team=asr", false),
            ("team!=asr", true),
            ("team != nlp", false),
            ("owner!=bob", true),
            ("team in (nlp, asr)", true),
            ("team in (cv),team=nlp", false),
            ("team notin (asr,cv),lab.example/stage in (train)", true),
            ("team", true),
            ("owner", false),
            ("!owner", true),
            ("!team", false),
        ] {
            let selector = LabelSelector::parse(text).expect(text);
            assert_eq!(selector.selects(&own), selected, "{text}");
        }
    }

    #[test]
    fn of_labels_that_are_known_in_part_only_what_is_asked_for_decides() {
        let known = labels(&[("team", "nlp")]);
        let decides = |text| LabelSelector::parse(text).map(|one| one.needs_only(&known));
        assert_eq!(decides("team in (nlp,asr)"), Some(true));
        assert_eq!(decides("team=nlp,owner!=bob"), Some(false));
        assert_eq!(decides("!owner"), Some(false));
    }

    #[test]
    fn what_is_not_understood_is_no_selector() {
        for text in [
            "gpus>4",
            "team in nlp",
            "a b=c",
            "=x",
            "(a)",
            "team like (x)",
        ] {
            assert_eq!(LabelSelector::parse(text), None, "{text}");
        }
    }
}
