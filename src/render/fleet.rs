//! What was lost in a window, in the formats that it has.

use std::io;

use serde_json::Value;

use crate::answer::{Figure, FleetReport};

use super::clock::Clock;
use super::error::RenderError;
use super::format::Format;
use super::grid::{Cell, Grid};
use super::page::{Page, Spans, Tone};
use super::style::Style;
use super::text::in_address;
use super::{html, json, md, slack, wording};

/// Writes the report: as a table, as JSON for programs, in Markdown, as a page in HTML or as a message for Slack.
///
/// # Errors
/// When the output refuses the bytes.
pub fn fleet(
    report: &FleetReport,
    format: Format,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    match format {
        Format::Json => json::document(report, out)?,
        Format::Html => out.write_all(html::fleet(report).as_bytes())?,
        Format::Md => md::fleet(report, style, out)?,
        Format::Slack => json::document(&slack::fleet(report, style), out)?,
        _ => table(report, style, out)?,
    }
    out.flush()?;
    Ok(())
}

/// Between which times, and how much of it is explained.
pub(super) fn window(report: &FleetReport, clock: Clock) -> String {
    format!(
        "{} to {} · {} of {} runs are explained · rules {}",
        clock.full(&report.from),
        clock.full(&report.to),
        wording::grouped(report.explained),
        wording::grouped(report.runs),
        report.ruleset
    )
}

/// Where a statement opens in the editor of a service.
pub(super) fn statement(site: &str, sql: &str) -> String {
    format!("{site}/sql?q={}", in_address(sql))
}

/// A value as people read it; nothing for one that is not known.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "unknown".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => wording::grouped(whole),
            (None, Some(part)) => fraction(part),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A value of a column, as people read it. Hours are rounded when they are counted: what is left of a few seconds is
/// little, and not nothing.
pub(super) fn of_column(column: &str, one: &Value) -> String {
    let is_little = |part: f64| (0.0..0.005).contains(&part);
    let is_hours = column.split('_').any(|word| word == "hours");
    if let ("missing", Value::String(line)) = (column, one) {
        return wording::missing_evidence(line);
    }
    match one.as_f64() {
        Some(part) if is_hours && one.is_f64() && is_little(part) => "<0.01".to_owned(),
        _ => value(one),
    }
}

/// A number with as many decimals as say something: half a minute is not 0.0 hours, and nobody reads
/// the tenths of fifteen thousand.
fn fraction(part: f64) -> String {
    match part.abs() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be in range"
        )]
        big if (1_000.0..1e15).contains(&big) && part > 0.0 => wording::grouped(big.round() as u64),
        small if small > 0.0 && small < 10.0 => without_zeros(&format!("{part:.2}")),
        _ => without_zeros(&format!("{part:.1}")),
    }
}

/// Without the zeros that say nothing.
fn without_zeros(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a column holds numbers.
pub(super) fn is_number(figure: &Figure, at: usize) -> bool {
    let values = figure.rows.iter().filter_map(|row| row.get(at));
    let mut known = values.filter(|value| !value.is_null());
    known.next().is_some_and(Value::is_number)
}

/// A column's name in words.
pub(super) fn heading(column: &str) -> String {
    if column == "percentile_90_seconds" {
        return "90th percentile seconds".to_owned();
    }
    let words = column.replace('_', " ").replace("gpu hours", "GPU-hours");
    let words = words.replace("gpu", "GPU");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn table(report: &FleetReport, style: &Style, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let mut page = Page::new(style);
    page.hang(
        Spans::new(),
        Spans::new().data(Tone::Dim, &window(report, Clock(style.tz))),
    );
    for note in &report.notes {
        page.hang(
            Spans::new().own(Tone::Dim, "Note  "),
            Spans::new().data(Tone::Warn, note),
        );
    }
    for figure in &report.figures {
        page.section(figure.title, Spans::new());
        let about = |text: &str| Spans::new().own(Tone::Dim, text.to_owned());
        page.prose(Spans::new().say("  "), about(figure.definition));
        if let Some(coverage) = &figure.coverage {
            page.prose(Spans::new().say("  "), about(coverage));
        }
        if figure.rows.is_empty() {
            page.prose(
                Spans::new().say("  "),
                Spans::new().say("Nothing in this window."),
            );
            continue;
        }
        let heads: Vec<String> = figure.columns.iter().map(|name| heading(name)).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let right = (0..heads.len()).map(|at| is_number(figure, at)).collect();
        let mut grid = Grid::new(&heads).right(right);
        for row in &figure.rows {
            let cells = row.iter().zip(&figure.columns);
            grid.row(
                cells
                    .map(|(one, column)| Cell::new(&of_column(column, one), Tone::Plain))
                    .collect(),
            );
        }
        page.table(&grid);
    }
    page.gap();
    page.prose(
        Spans::new(),
        Spans::new().own(
            Tone::Dim,
            "The SQL of each figure is in --format json, md and html.",
        ),
    );
    page.write(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{of_column, value};

    #[test]
    fn a_few_seconds_are_not_no_hours() {
        assert_eq!(of_column("hours_between_failures", &json!(0.0)), "<0.01");
        assert_eq!(of_column("gpu_hours_lost", &json!(0.003)), "<0.01");
        assert_eq!(of_column("gpu_hours_lost", &json!(0.29)), "0.29");
        assert_eq!(of_column("incidents", &json!(0)), "0");
        assert_eq!(of_column("percent", &json!(0.0)), "0");
        // In the words of the answers, not of the rules.
        let missing = json!("kernel: which process the kernel killed");
        let told = "machine logs: which process the kernel killed";
        assert_eq!(of_column("missing", &missing), told);
    }

    #[test]
    fn what_is_little_is_not_nothing() {
        let shown = [
            json!(0.0),
            json!(0.01),
            json!(0.3),
            json!(33.3),
            json!(15_144.9),
            json!(-2.5),
        ];
        let shown: Vec<String> = shown.iter().map(value).collect();
        assert_eq!(shown, ["0", "0.01", "0.3", "33.3", "15,145", "-2.5"]);
    }
}
