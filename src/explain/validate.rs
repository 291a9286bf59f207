//! Whether the statements of rules can be planned: who writes one is told when it is
//! loaded, and not when a question first needs it.

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use whathappened_core::resolve::rank_names;

use super::plans;
use super::rule::{Rule, RuleError};

/// The tables that a rule may select from.
fn tables() -> Vec<String> {
    let views = plans::VIEWS.iter().map(|(name, _)| *name);
    let mut tables: Vec<String> = ["deaths", "links"]
        .into_iter()
        .chain(views)
        .map(str::to_owned)
        .collect();
    tables.sort_unstable();
    tables
}

/// The columns that a rule answers with.
const COLUMNS: [&str; 5] = ["death", "cause", "effect", "edge", "role"];

/// Plans the statement of each rule.
///
/// # Errors
/// Names the file and line of the first that cannot be planned, and the nearest name.
pub fn plan<'r>(rules: impl Iterator<Item = &'r Rule>) -> Result<(), RuleError> {
    let rules: Vec<&Rule> = rules.collect();
    if rules.is_empty() {
        return Ok(());
    }
    // On a thread of its own: whoever loads rules may be at work for a runtime, which must
    // not be waited in.
    std::thread::scope(|scope| {
        let planned = scope.spawn(|| futures::executor::block_on(all(&rules)));
        planned
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

async fn all(rules: &[&Rule]) -> Result<(), RuleError> {
    for rule in rules {
        match plans::columns(&rule.sql).await {
            Ok(columns) => shape(rule, &columns)?,
            Err(error) => return Err(flaw(rule, &error)),
        }
    }
    Ok(())
}

/// Refuses a statement that does not answer with the columns of an edge.
fn shape(rule: &Rule, columns: &[String]) -> Result<(), RuleError> {
    let Some(missing) = COLUMNS
        .iter()
        .find(|one| !columns.iter().any(|column| column == *one))
    else {
        return Ok(());
    };
    let others = columns
        .iter()
        .filter(|column| !COLUMNS.contains(&column.as_str()));
    let near = rank_names(missing, others.cloned());
    let near = near.first().map_or_else(String::new, |near| {
        format!("; {near} is close, but it is not the right name")
    });
    Err(RuleError {
        file: rule.file.clone(),
        line: first_line(rule),
        why: format!(
            "the statement does not return a column {missing}{near}; a rule selects {}",
            COLUMNS.join(", ")
        ),
    })
}

/// What is wrong with a statement, where, and what to write instead.
fn flaw(rule: &Rule, error: &DataFusionError) -> RuleError {
    let (line, why) = match error.find_root() {
        DataFusionError::SchemaError(schema, _) => of_column(rule, schema),
        DataFusionError::SQL(parser, _) => {
            let text = parser.to_string().replace("sql parser error: ", "");
            let (why, place) = text.split_once(" at Line: ").unwrap_or((&text, ""));
            let number = place.split(',').next().and_then(|one| one.parse().ok());
            let line = number.map_or_else(|| first_line(rule), |number| in_file(rule, number));
            (line, format!("SQL syntax error: {why}"))
        }
        DataFusionError::Plan(text) => match missing_table(text) {
            Some(name) => {
                let offered = offer(name, &tables(), "the tables are");
                (
                    line_of(rule, name),
                    format!("there is no table {name}{offered}"),
                )
            }
            None => (first_line(rule), short(text)),
        },
        other => (first_line(rule), short(&other.strip_backtrace())),
    };
    RuleError {
        file: rule.file.clone(),
        line,
        why,
    }
}

fn of_column(rule: &Rule, schema: &SchemaError) -> (usize, String) {
    let SchemaError::FieldNotFound {
        field,
        valid_fields,
    } = schema
    else {
        return (first_line(rule), short(&schema.to_string()));
    };
    let known = valid_fields.iter().map(|field| field.name.clone());
    let known: Vec<String> = known.collect();
    let name = &field.name;
    let offered = offer(
        name,
        &known,
        "`whathappened sql '\\d links'` lists those of links:",
    );
    (
        line_of(rule, name),
        format!("there is no column {name}{offered}"),
    )
}

/// The nearest name, else where all are found.
fn offer(word: &str, known: &[String], all: &str) -> String {
    let renamed = super::tables::renamed(word).map(str::to_owned);
    let near = renamed.filter(|name| known.contains(name));
    match near.or_else(|| rank_names(word, known.iter().cloned()).into_iter().next()) {
        Some(near) => format!("; did you mean {near}?"),
        None => format!("; {all} {}", known.join(", ")),
    }
}

/// The name in DataFusion's "table 'datafusion.public.NAME' not found".
fn missing_table(text: &str) -> Option<&str> {
    let name = text.strip_prefix("table '")?.strip_suffix("' not found")?;
    Some(name.strip_prefix("datafusion.public.").unwrap_or(name))
}

/// A message without the list of everything there is that some end with.
fn short(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let reported = lines.take_while(|line| !line.starts_with("Candidate functions"));
    reported.collect::<Vec<_>>().join(" ")
}

/// Lines of the file that are statement, from 1.
fn code(rule: &Rule) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(rule.text.lines());
    lines.filter(|(_, line)| !line.trim_start().starts_with("--"))
}

/// The line of the file where the statement begins.
fn first_line(rule: &Rule) -> usize {
    in_file(rule, 1)
}

/// The line of the file that a line of the statement is.
fn in_file(rule: &Rule, number: usize) -> usize {
    let begun = code(rule).skip_while(|(_, line)| line.trim().is_empty());
    let mut lines = begun.skip(number.saturating_sub(1));
    lines.next().map_or(1, |(line, _)| line)
}

/// The first line of the statement that holds a word.
fn line_of(rule: &Rule, word: &str) -> usize {
    let holds = |line: &str| {
        let code = line.split("--").next().unwrap_or_default();
        let mut words = code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words.any(|one| one.eq_ignore_ascii_case(word))
    };
    let found = code(rule).find(|(_, line)| holds(line));
    found.map_or_else(|| first_line(rule), |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "-- cause: a.b\n-- title: T\n-- rank: 3\n-- level: supported\n-- summary: S\n";
    const SELECT: &str = "SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,\n  -- a claim\n  'guess' AS edge, 'claim' AS role\nFROM links WHERE via = 'pod'";

    fn reported(sql: &str) -> Result<(), String> {
        let rule = Rule::parse("r.sql", &format!("{HEAD}\n{sql}\n")).unwrap();
        plan(std::iter::once(&rule)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_planned_is_told_with_line_and_nearest_name() {
        assert_eq!(reported(SELECT), Ok(()));
        for (wrong, right, said) in [
            (
                "FROM linkss",
                "FROM links",
                "r.sql:10: there is no table linkss; did you mean links?",
            ),
            (
                "viaa = ",
                "via = ",
                "r.sql:10: there is no column viaa; did you mean via?",
            ),
            (
                "AS rol\n",
                "AS role\n",
                "r.sql:7: the statement does not return a column role; rol is close, but it is not the right name",
            ),
            (
                "FROM ties",
                "FROM links",
                "r.sql:10: there is no table ties; did you mean links?",
            ),
            ("FORM links", "FROM links", "r.sql:10: SQL syntax error"),
        ] {
            let error = reported(&SELECT.replace(right, wrong)).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
        let error = reported("SELECT nothing(1) FROM links").unwrap_err();
        assert!(
            error.starts_with("r.sql:7: ") && !error.contains('\n'),
            "{error}"
        );
    }

    #[test]
    fn rules_are_checked_inside_a_runtime_as_well() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async { assert_eq!(reported(SELECT), Ok(())) });
    }
}
