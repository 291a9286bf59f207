//! `whathappened rules list`

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::user_rules::UserRules;
use crate::case::Rules;
use crate::cli::OutputArgs;
use crate::commands::common;
use crate::error::Error;
use crate::render::{self, Format};

pub(super) fn run(own: &UserRules, signals: bool, output: &OutputArgs) -> Result<(), Error> {
    let rules = own.load()?;
    let batch = if signals {
        signal_rows(&rules)
    } else {
        cause_rows(&rules, output.format)
    };
    let batch = batch.map_err(datafusion::error::DataFusionError::from)?;
    let style = common::style(output);
    render::rows(
        &batch.schema(),
        &[batch],
        output.format,
        &style,
        &mut std::io::stdout().lock(),
    )?;
    Ok(())
}

type Rows = Result<RecordBatch, datafusion::arrow::error::ArrowError>;

/// Furthest upstream first: of two causes as well proven, the upper one wins.
fn cause_rows(rules: &Rules, format: Format) -> Rows {
    let mut causes: Vec<_> = rules.causes.iter().collect();
    causes.sort_by_key(|rule| (std::cmp::Reverse(rule.rank), &rule.cause));
    let text = |of: &dyn Fn(&crate::explain::Rule) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            causes.iter().map(|rule| of(rule)),
        ))
    };
    let ranks: Int64Array = causes.iter().map(|rule| Some(rule.rank)).collect();
    let mut columns = vec![
        ("cause", text(&|rule| rule.cause.clone())),
        ("title", text(&|rule| rule.title.clone())),
        ("rank", Arc::new(ranks)),
        ("level", text(&|rule| rule.level.as_str().to_owned())),
    ];
    // A list of signals fits no screen; `rules show` has it for people.
    if format != Format::Table {
        columns.push(("needs", text(&|rule| rule.needs.join(", "))));
    }
    RecordBatch::try_from_iter(columns)
}

fn signal_rows(rules: &Rules) -> Rows {
    let signals: Vec<_> = rules.signals.signals().collect();
    let text = |of: &dyn Fn(&whathappened_core::signals::SignalInfo) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            signals.iter().map(|signal| of(signal)),
        ))
    };
    RecordBatch::try_from_iter([
        ("signal", text(&|signal| signal.name.clone())),
        ("title", text(&|signal| signal.heading())),
        ("captures", text(&|signal| signal.captures.join(", "))),
        ("file", text(&|signal| signal.file.clone())),
    ])
}
