//! A word that a reader of files does not know, told with the nearest that it does.

use whathappened_core::resolve::rank_names;

/// What serde says of a file, with the nearest of the names it would have taken instead of
/// all of them. What it says of other troubles, and of the place, stays as it is.
#[must_use]
pub fn misspelt(message: &str) -> String {
    let reported = || {
        let rest = message.strip_prefix("unknown field `")?;
        let (word, rest) = rest.split_once('`')?;
        let (known, place) = match rest.rfind(" at line ") {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        // JSON's reader puts each name in quotes, YAML's does not.
        let known = known.trim_start_matches(", expected ");
        let known = known.trim_start_matches("one of ");
        let names = known.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let known: Vec<String> = names
            .filter(|name| !matches!(*name, "" | "or"))
            .map(str::to_owned)
            .collect();
        let near = rank_names(word, known.iter().cloned());
        let offered = match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the fields are {}", known.join(", ")),
        };
        Some(format!("there is no field `{word}`{place}; {offered}"))
    };
    reported().unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::misspelt;

    #[test]
    fn the_nearest_name_is_offered_and_the_place_kept() {
        for (message, reported) in [
            (
                "unknown field `whyy`, expected one of `name`, `why`, `ask` at line 4 column 5",
                "there is no field `whyy` at line 4 column 5; did you mean `why`?",
            ),
            (
                "unknown field `zz`, expected `fires` or `silent`",
                "there is no field `zz`; the fields are fires, silent",
            ),
            (
                "unknown field `whyy`, expected one of name, why, ask at line 4, column 5",
                "there is no field `whyy` at line 4, column 5; did you mean `why`?",
            ),
            (
                "missing field `ask` at line 3",
                "missing field `ask` at line 3",
            ),
        ] {
            assert_eq!(misspelt(message), reported);
        }
    }
}
