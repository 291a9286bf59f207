//! What a failed statement says: short, in one line, with what to type instead.

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

use super::catalog::Table;
use super::session::MEMORY;
use crate::error::Error;

/// Names offered for one that is not there.
const OFFERED: usize = 3;
/// Letters of a message: a value that is quoted may have a hundred million.
const LONGEST: usize = 2_000;

/// What DataFusion says, in one line.
#[must_use]
pub fn say(error: &DataFusionError) -> String {
    let text = match error.find_root() {
        DataFusionError::Plan(text)
        | DataFusionError::Execution(text)
        | DataFusionError::NotImplemented(text)
        | DataFusionError::Configuration(text) => text.clone(),
        DataFusionError::SQL(parser, _) => parser
            .to_string()
            .replace("sql parser error: ", "SQL syntax error: "),
        DataFusionError::SchemaError(schema, _) => of_schema(schema),
        DataFusionError::ResourcesExhausted(_) => {
            format!(
                "the statement needs more than the {} MiB of memory it may use",
                MEMORY >> 20
            )
        }
        DataFusionError::External(error) => error.to_string(),
        DataFusionError::ArrowError(error, _) => error.to_string(),
        other => other.strip_backtrace(),
    };
    // What a statement asks for may be quoted, and a value of a row as well.
    let text = one_line(&text);
    let redacted = whathappened_model::redact::redact(&text);
    crate::render::clip(&redacted, LONGEST).into_owned()
}

/// What helps, where that is known and what DataFusion says does not tell it.
#[must_use]
pub fn hint(error: &DataFusionError) -> Option<&'static str> {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => {
            Some("narrow it with WHERE, or LIMIT what it sorts and joins")
        }
        _ => None,
    }
}

/// Without the lists of everything there is that some messages end with.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let reported = lines.take_while(|line| {
        !line.starts_with("Candidate functions") && !line.starts_with("Valid fields")
    });
    reported.collect::<Vec<_>>().join(" ")
}

fn of_schema(error: &SchemaError) -> String {
    let SchemaError::FieldNotFound {
        field,
        valid_fields,
    } = error
    else {
        return error.to_string();
    };
    let known = valid_fields.iter().map(|field| field.name.as_str());
    format!(
        "there is no column {:?}{}",
        field.name,
        offer(&field.name, known)
    )
}

/// The nearest names, as the end of a sentence.
fn offer<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    let typed = typed.to_lowercase();
    let mut ranked: Vec<(u64, &str)> = known
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let inside = lower.contains(&typed) || typed.contains(&lower);
            let likeness = strsim::jaro_winkler(&typed, &lower) + if inside { 0.5 } else { 0.0 };
            // Whole thousandths, so that the order does not hang on the last bit.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 1500"
            )]
            let rank = (likeness * 1_000.0) as u64;
            (rank >= 800).then_some((1_500 - rank, name))
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    let names: Vec<&str> = ranked
        .into_iter()
        .take(OFFERED)
        .map(|(_, name)| name)
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", names.join(", "))
    }
}

/// The error of this program that DataFusion carried, or what it says itself.
pub(super) fn ours(error: DataFusionError, tables: &[Table]) -> Error {
    if let DataFusionError::External(inner) = error {
        return match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => DataFusionError::External(other).into(),
        };
    }
    if let DataFusionError::Plan(text) = error.find_root()
        && let Some(name) = missing_table(text)
    {
        return no_table(name, tables);
    }
    error.into()
}

/// The name in DataFusion's "table 'DATABASE.public.NAME' not found".
fn missing_table(text: &str) -> Option<&str> {
    let name = text.strip_prefix("table '")?.strip_suffix("' not found")?;
    let own = ["datafusion.public.", "whathappened.public."];
    let own = own.iter().find_map(|own| name.strip_prefix(own));
    Some(own.unwrap_or(name))
}

/// Says that a table is not there, and what is.
pub(super) fn no_table(name: &str, tables: &[Table]) -> Error {
    if tables
        .iter()
        .any(|table| table.is_function && table.name == name)
    {
        let called = format!("{name:?} is a function of an experiment: write {name}('EXPERIMENT')");
        return DataFusionError::Plan(called).into();
    }
    let all: Vec<&str> = tables.iter().map(|table| table.name).collect();
    let like_a_path = name.contains(['/', '.', '\\']);
    let renamed = crate::explain::tables::renamed(name).filter(|name| all.contains(name));
    let offered = if let Some(renamed) = renamed {
        format!("; did you mean {renamed}?")
    } else if like_a_path {
        "; statements cannot read files; use --from to read them".to_owned()
    } else {
        offer(name, all.iter().copied())
    };
    let offered = if offered.is_empty() {
        format!("; there are {}", all.join(", "))
    } else {
        offered
    };
    DataFusionError::Plan(format!("there is no table {name:?}{offered}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_near_are_offered() {
        let known = ["pod", "pod_uid", "node", "message"];
        assert_eq!(
            offer("pods", known.into_iter()),
            "; did you mean pod, pod_uid?"
        );
        assert_eq!(
            offer("mesage", known.into_iter()),
            "; did you mean message?"
        );
        assert_eq!(offer("zzz", known.into_iter()), "");
    }

    #[test]
    fn a_value_in_a_message_does_not_make_it_endless() {
        let value = "é".repeat(1_000_000);
        let said = say(&DataFusionError::Execution(format!(
            "cannot read '{value}' as a time"
        )));
        assert!(said.chars().count() < LONGEST + 50, "{}", said.len());
        assert!(said.starts_with("cannot read 'éé") && said.ends_with(" more characters)"));
        let short = DataFusionError::Execution("cannot read 'x' as a time".to_owned());
        assert_eq!(say(&short), "cannot read 'x' as a time");
    }

    #[test]
    fn lists_of_everything_are_left_out() {
        assert_eq!(
            one_line("No function.\n  Did you mean x?\n\nCandidate functions:\n a\n b"),
            "No function. Did you mean x?"
        );
    }
}
