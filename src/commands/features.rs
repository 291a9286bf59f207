//! What a build may have or lack, and what was typed that only another build has.

use std::ffi::OsString;

/// Each feature of the program, and whether this build has it.
const FEATURES: [(&str, bool); 5] = [
    ("distributed", cfg!(feature = "distributed")),
    ("flight", cfg!(feature = "flight")),
    ("lake", cfg!(feature = "lake")),
    ("object-store", cfg!(feature = "object-store")),
    ("postgres", cfg!(feature = "postgres")),
];

/// A verb, a word behind it, and the features of which one has it.
type Lacking = (&'static str, &'static str, &'static [&'static str]);

/// What only some builds have. The documentation speaks of all of it.
const ONLY_WITH: [Lacking; 7] = [
    ("collect", "--lake", &["lake"]),
    ("collect", "--flush-every", &["lake"]),
    ("store", "push", &["lake", "object-store"]),
    ("store", "migrate", &["lake"]),
    ("store", "vacuum", &["lake"]),
    ("ballista", "", &["distributed"]),
    ("sql", "--ballista", &["distributed"]),
];

/// The version, with the features of this build.
#[must_use]
pub fn version() -> String {
    let named = |is_built: bool| {
        let names = FEATURES.iter().filter(|(_, has)| *has == is_built);
        let names: Vec<&str> = names.map(|(name, _)| *name).collect();
        match names.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        }
    };
    format!(
        "{}\nfeatures: {}\nnot in this build: {}",
        env!("CARGO_PKG_VERSION"),
        named(true),
        named(false)
    )
}

/// What was typed that this build does not have: what, and the feature to build it with.
#[must_use]
pub fn lacking(words: &[OsString]) -> Option<(String, &'static str)> {
    let words: Vec<&str> = words
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .collect();
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    let has = |feature: &str| FEATURES.iter().any(|(name, has)| *name == feature && *has);
    let (verb, what, features) = ONLY_WITH.iter().find(|(known, what, features)| {
        let is_typed = |word: &&str| word.split('=').next() == Some(*what);
        known == verb
            && (what.is_empty() || words.iter().any(is_typed))
            && !features.iter().any(|one| has(one))
    })?;
    let typed = format!("{verb} {what}");
    Some((typed.trim_end().to_owned(), features.first()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Option<(String, &'static str)> {
        lacking(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    #[cfg(not(any(feature = "lake", feature = "object-store")))]
    fn what_another_build_has_is_named() {
        let lake = |what: &str| Some((what.to_owned(), "lake"));
        assert_eq!(typed("w collect --lake=s3://b/f"), lake("collect --lake"));
        assert_eq!(
            typed("w collect --lake s3://b/f -q"),
            lake("collect --lake")
        );
        assert_eq!(typed("w store push s3://b/f"), lake("store push"));
        assert_eq!(typed("w store migrate a b"), lake("store migrate"));
        assert!(version().contains("not in this build: "));
    }

    #[test]
    fn what_every_build_has_is_not() {
        for words in [
            "w",
            "w push",
            "w store status",
            "w collect --for 5m",
            "w job/push",
        ] {
            assert_eq!(typed(words), None, "{words}");
        }
    }
}
