//! YAML to the JSON it means, within a budget.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

/// Parses a YAML document to the JSON it means: times stay text. Aliases that
/// multiply, and nesting without end, are refused by the parser's budget.
///
/// # Errors
/// Says in one line what is wrong, without showing the text, which may be secret.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    read(text).map_err(|why| format!("not YAML: {why}"))
}

/// Reads a YAML document of known form; what is wrong is told with its line.
///
/// # Errors
/// Says in one line what is wrong, without showing the text, which may be secret.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut budget = serde_saphyr::Budget::default();
    // An item of a list is small; a whole list in one document is not.
    budget.max_nodes = 8_000_000;
    budget.max_events = 16_000_000;
    budget.max_depth = 128;
    budget.max_aliases = 10_000;
    budget.max_recorded_anchor_bytes = 4 << 20;
    budget.max_documents = 1;
    let options = serde_saphyr::options! {
        budget: Some(budget),
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // A snippet in the message would show what may be secret.
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| first_line(&error.to_string()).to_owned())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stay_text_and_numbers_numbers() {
        let value =
            parse("at: 2026-11-21T15:20:15Z\nn: 137\nq: \"137\"\nb: |\n  x\n  y\n").unwrap();
        assert_eq!(value["at"], "2026-11-21T15:20:15Z");
        assert_eq!(value["n"], 137);
        assert_eq!(value["q"], "137");
        assert_eq!(value["b"], "x\ny\n");
    }

    #[test]
    fn alias_bombs_are_refused() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..10 {
            let refs = vec![format!("*a{}", n - 1); 10].join(",");
            bomb.push_str(&format!("a{n}: &a{n} [{refs}]\n"));
        }
        assert!(parse(&bomb).unwrap_err().starts_with("not YAML"));
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
