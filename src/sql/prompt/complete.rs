//! What Tab offers.

use crate::sql::Session;

/// Words of statements.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CROSS",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "RIGHT",
    "SELECT",
    "SHOW",
    "TABLES",
    "THEN",
    "TIMESTAMP",
    "TRUE",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Everything that can be completed.
pub(super) struct Completions {
    tables: Vec<(String, Vec<String>)>,
    table_functions: Vec<String>,
    functions: Vec<String>,
    experiments: Vec<String>,
}

impl Completions {
    pub(super) fn of(session: &Session) -> Self {
        let columns = |table: &super::super::Table| {
            let names = table
                .schema
                .fields()
                .iter()
                .map(|field| field.name().clone());
            (table.name.to_owned(), names.collect())
        };
        let functions = session.tables().iter().filter(|table| table.is_function);
        Self {
            tables: session.tables().iter().map(columns).collect(),
            table_functions: functions.map(|table| table.name.to_owned()).collect(),
            functions: session.functions(),
            experiments: session.experiments(),
        }
    }

    /// Where the word before the cursor starts, and what it may become.
    pub(super) fn complete(&self, before: &str) -> (usize, Vec<String>) {
        if let Some(start) = self.experiment_starts(before) {
            let typed = before.get(start..).unwrap_or_default();
            let found = self
                .experiments
                .iter()
                .filter(|name| name.starts_with(typed));
            return (start, found.map(|name| format!("{name}')")).collect());
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let start = before.len()
            - before
                .chars()
                .rev()
                .take_while(|letter| is_word(*letter))
                .map(char::len_utf8)
                .sum::<usize>();
        let (head, typed) = before.split_at(start);
        let mut found: Vec<String> = self
            .candidates(head)
            .into_iter()
            .filter(|word| begins(word, typed))
            .collect();
        found.sort();
        found.dedup();
        // As typed: lower-case keywords for lower-case typing.
        if typed.chars().any(char::is_lowercase) {
            for word in found
                .iter_mut()
                .filter(|word| KEYWORDS.contains(&word.as_str()))
            {
                *word = word.to_lowercase();
            }
        }
        (start, found)
    }

    /// Where the name starts, inside `timeline('` or `why('`.
    fn experiment_starts(&self, before: &str) -> Option<usize> {
        let quote = before.rfind('\'')?;
        let call = before
            .get(..quote)?
            .trim_end()
            .strip_suffix('(')?
            .trim_end();
        let is_ours = |name: &String| call.to_lowercase().ends_with(name.as_str());
        self.table_functions
            .iter()
            .any(is_ours)
            .then_some(quote + 1)
    }

    /// Tables after FROM, JOIN and \d; elsewhere everything, of columns those of the tables named.
    fn candidates(&self, head: &str) -> Vec<String> {
        let last = head
            .split_whitespace()
            .next_back()
            .unwrap_or_default()
            .to_uppercase();
        let table_names = || {
            self.tables.iter().map(|(name, _)| {
                if self.table_functions.contains(name) {
                    format!("{name}('")
                } else {
                    name.clone()
                }
            })
        };
        if last == "\\D" {
            return self.tables.iter().map(|(name, _)| name.clone()).collect();
        }
        if matches!(last.as_str(), "FROM" | "JOIN" | "DESCRIBE") {
            return table_names().collect();
        }
        let named = |name: &str| {
            head.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| word == name)
        };
        let any_named = self.tables.iter().any(|(name, _)| named(name));
        let columns = self
            .tables
            .iter()
            .filter(|(name, _)| !any_named || named(name))
            .flat_map(|(_, columns)| columns.iter().cloned());
        let keywords = KEYWORDS.iter().map(|word| (*word).to_owned());
        let functions = self.functions.iter().map(|name| format!("{name}("));
        keywords
            .chain(columns)
            .chain(functions)
            .chain(table_names())
            .collect()
    }
}

fn begins(word: &str, typed: &str) -> bool {
    word.get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

#[cfg(test)]
mod tests {
    use super::Completions;

    fn words() -> Completions {
        let table = |name: &str, columns: &[&str]| {
            (
                name.to_owned(),
                columns.iter().map(|name| (*name).to_owned()).collect(),
            )
        };
        Completions {
            tables: vec![
                table("events", &["pod", "pod_uid"]),
                table("incidents", &["pods"]),
                table("why", &["step"]),
            ],
            table_functions: vec!["why".to_owned()],
            functions: vec!["power".to_owned()],
            experiments: vec!["llm-a".to_owned(), "vision".to_owned()],
        }
    }

    #[test]
    fn tab_offers_what_fits_there() {
        let of = |text: &str| words().complete(text).1;
        assert_eq!(of("SELECT po"), ["pod", "pod_uid", "pods", "power("]);
        assert_eq!(
            of("SELECT * FROM events WHERE po"),
            ["pod", "pod_uid", "power("]
        );
        assert_eq!(of("SELECT * FROM e"), ["events"]);
        assert_eq!(of("select * from w"), ["why('"]);
        assert_eq!(of("SELECT * FROM why('l"), ["llm-a')"]);
        assert_eq!(of("\\d i"), ["incidents"]);
        assert_eq!(of("sel"), ["select"]);
        assert_eq!(words().complete("SELECT po").0, 7);
    }
}
