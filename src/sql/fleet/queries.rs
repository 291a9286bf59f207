//! The statements of the figures, each with its title and definition in its first lines.

/// A statement and what stands above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) definition: &'static str,
    pub(super) coverage: Option<&'static str>,
    /// Which incidents a row counts, as a condition with the row's own values in braces.
    pub(super) incidents: Option<&'static str>,
    /// Columns that may be drawn, the one that says most first.
    pub(super) chart: Vec<String>,
    pub(super) sql: &'static str,
}

/// All statements by name, in the order of the report.
pub(super) const QUERIES: [(&str, &str); 10] = [
    ("sum", include_str!("../../../queries/fleet/sum.sql")),
    ("causes", include_str!("../../../queries/fleet/causes.sql")),
    ("days", include_str!("../../../queries/fleet/days.sql")),
    ("owners", include_str!("../../../queries/fleet/owners.sql")),
    ("pools", include_str!("../../../queries/fleet/pools.sql")),
    (
        "between-failures",
        include_str!("../../../queries/fleet/between_failures.sql"),
    ),
    (
        "response",
        include_str!("../../../queries/fleet/response.sql"),
    ),
    (
        "machines",
        include_str!("../../../queries/fleet/machines.sql"),
    ),
    ("levels", include_str!("../../../queries/fleet/levels.sql")),
    (
        "missing",
        include_str!("../../../queries/fleet/missing.sql"),
    ),
];

impl Query {
    /// Takes a file apart: lines of `-- key: value`, then the statement.
    pub(super) fn parse((id, text): (&'static str, &'static str)) -> Self {
        let mut query = Self {
            id,
            ..Self::default()
        };
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            let Some((key, value)) = line
                .strip_prefix("-- ")
                .and_then(|line| line.split_once(": "))
            else {
                break;
            };
            match key {
                "title" => query.title = value,
                "definition" => query.definition = value,
                "coverage" => query.coverage = Some(value),
                "incidents" => query.incidents = Some(value),
                "chart" => query.chart = value.split(", ").map(str::to_owned).collect(),
                _ => break,
            }
            rest = after;
        }
        query.sql = rest.trim();
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_says_what_it_counts_and_when() {
        for query in QUERIES.map(Query::parse) {
            assert!(
                !query.title.is_empty()
                    && query.definition.ends_with('.')
                    && query.coverage.is_some_and(|told| told.ends_with('.'))
                    && query.incidents.is_some(),
                "{query:?}"
            );
            assert!(
                query.sql.contains("{from}") && query.sql.contains("{to}"),
                "{query:?}"
            );
            assert!(!query.sql.contains("-- "), "{query:?}");
        }
    }
}
