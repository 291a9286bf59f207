//! Which statements hang on what was explained.

/// The tables of a store that show runs as far as they were explained.
const TABLES: [&str; 4] = ["collateral", "experiments", "incidents", "runs"];

/// Whether a text of statements names a table of a store that shows only what was
/// explained. A name in a string counts as well: explaining for nothing harms nobody.
#[must_use]
pub fn rests_on_explaining(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.any(|word| TABLES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::rests_on_explaining;

    #[test]
    fn a_table_is_named_as_a_whole_word() {
        for (text, asks) in [
            ("SELECT cause FROM \"incidents\"", true),
            ("select count(*) from Runs;", true),
            (
                "SELECT * FROM events WHERE message LIKE '%overruns%'",
                false,
            ),
            ("SELECT 1", false),
        ] {
            assert_eq!(rests_on_explaining(text), asks, "{text}");
        }
    }
}
