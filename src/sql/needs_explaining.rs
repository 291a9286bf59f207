//! Which statements hang on what was explained.

/// The tables of a store that show runs as far as they were explained.
const TABLES: [&str; 4] = ["collateral", "experiments", "incidents", "runs"];

/// Whether a text of statements names a table of a store that shows only what was
/// explained. A name in a string counts as well: explaining for nothing harms nobody.
#[must_use]
pub fn rests_on_explaining(text: &str) -> bool {
    !named(text, &TABLES).is_empty()
}

/// The tables of a store that show its last day whole, and little or nothing of what came before.
const OF_LAST_DAY: [&str; 3] = ["deaths", "links", "tenures"];

/// What a text of statements has to know of such tables, where it names one: `from` is when
/// the store's last day began.
#[must_use]
pub fn note_on_last_day(text: &str, from: &str) -> Option<String> {
    let tables = named(text, &OF_LAST_DAY);
    let (of_rules, tenures): (Vec<&str>, Vec<&str>) =
        tables.into_iter().partition(|table| *table != "tenures");
    let mut notes = Vec::new();
    if !of_rules.is_empty() {
        let verb = if of_rules.len() == 1 {
            "covers"
        } else {
            "cover"
        };
        notes.push(format!(
            "{} {verb} the last day of the store, from {from}; why('NAME') and timeline('NAME') also cover older runs.",
            of_rules.join(" and ")
        ));
    }
    if !tenures.is_empty() {
        notes.push(format!(
            "tenures is complete from {from}; of what came before it has owners, nodes and experiments, without attempts, ends and zones."
        ));
    }
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// Which of some tables a text of statements names, in their order.
fn named<'a>(text: &str, tables: &[&'a str]) -> Vec<&'a str> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .collect();
    let tables = tables.iter().copied();
    tables.filter(|table| words.contains(table)).collect()
}

#[cfg(test)]
mod tests {
    use super::{note_on_last_day, rests_on_explaining};

    #[test]
    fn what_covers_the_last_day_says_so() {
        let note = |text| note_on_last_day(text, "2026-11-20T15:00:00Z");
        assert_eq!(note("SELECT * FROM events"), None);
        let of_rules = note("SELECT * FROM deaths JOIN links USING (death)").unwrap();
        assert!(of_rules.starts_with("deaths and links cover the last day"));
        assert!(note("TABLE links").unwrap().starts_with("links covers"));
        assert!(note("TABLE tenures").unwrap().contains("without attempts"));
    }

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
