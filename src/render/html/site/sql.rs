//! Statements: an editor, and the rows that one answers.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, SchemaRef, TimeUnit};
use maud::{Markup, html};

use super::super::super::cells::{columns, is_number};
use super::super::super::text::{clip, escape, in_address};
use super::super::super::wording;
use super::frame::Frame;
use super::plot::{self, Series};

/// Rows that are shown; the service may have answered more.
const SHOWN: usize = 1_000;
/// Characters of one cell.
const CELL: usize = 2_000;
/// Lines of one plot, and bars.
const LINES: usize = 5;
const BARS: usize = 60;

/// What the page of statements shows.
#[derive(Clone, Debug, Default)]
pub struct SqlPage {
    /// The statement.
    pub statement: String,
    /// The rows, where it was run.
    pub rows: Option<SqlRows>,
    /// Why there are none.
    pub failure: Option<SqlFailure>,
}

/// What a statement answered.
#[derive(Clone, Debug)]
pub struct SqlRows {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// How many there are.
    pub rows: u64,
    /// There were more.
    pub truncated: bool,
    /// Part of the store is damaged and not in them.
    pub incomplete: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// How many runs were explained, where the statement depends on it.
    pub explained: Option<String>,
}

/// Why a statement was not answered.
#[derive(Clone, Debug, Default)]
pub struct SqlFailure {
    /// What is wrong.
    pub detail: String,
    /// What to do.
    pub hints: Vec<String>,
}

/// Statements to begin with.
const EXAMPLES: [(&str, &str); 5] = [
    (
        "Recent incidents",
        "SELECT time, experiment, title, level, gpu_hours_lost FROM incidents ORDER BY time DESC LIMIT 50",
    ),
    (
        "GPU-hours lost by cause",
        "SELECT cause, count(*) AS incidents, sum(gpu_hours_lost) AS gpu_hours\nFROM incidents GROUP BY cause ORDER BY gpu_hours DESC NULLS LAST, cause",
    ),
    (
        "Incidents by day",
        "SELECT date_trunc('day', time) AS day, count(*) AS incidents FROM incidents WHERE time IS NOT NULL GROUP BY 1 ORDER BY 1",
    ),
    (
        "Who deleted or cordoned what",
        "SELECT time, actor, fact, coalesce(pod, workload, node) AS what\nFROM events WHERE fact LIKE 'k8s.audit.%' AND actor NOT LIKE 'system:%' ORDER BY time DESC LIMIT 100",
    ),
    (
        "Missing data",
        "SELECT source, resource, status, detail, would_have_shown FROM coverage WHERE status <> 'complete'",
    ),
];

/// The page.
#[must_use]
pub fn sql(frame: &Frame, shown: &SqlPage) -> String {
    let page = html! {
        main.sql {
            h1 { "SQL" }
            form #editor method="get" action="/sql" {
                label.hidden-label for="statement" { "Statement" }
                div.editor {
                    textarea #statement name="q" rows="8" spellcheck="false" autocapitalize="off" autocomplete="off"
                        required placeholder="SELECT experiment, cause, level, time FROM incidents"
                        aria-describedby="editor-help" { (shown.statement) }
                    ul #completions role="listbox" aria-label="Completions" hidden {}
                }
                p.buttons {
                    button.primary type="submit" { "Run" }
                    span #editor-help.dim { "Read-only. " span.needs-script hidden { "Ctrl+Enter runs it; Ctrl+Space completes names." } }
                }
            }
            @if let Some(failure) = &shown.failure { (failed(failure)) }
            @if let Some(rows) = &shown.rows { (answered(shown, rows)) } @else { (examples()) }
            details #tables.needs-script hidden { summary { "Tables and columns" } div #catalogue {} }
        }
    };
    frame.around("SQL", &["sql"], &page)
}

fn examples() -> Markup {
    html! {
        section {
            h2 { "Examples" }
            ul.names { @for (title, statement) in EXAMPLES { li { a href={ "/sql?q=" (in_address(statement)) } { (title) } } } }
        }
    }
}

fn failed(failure: &SqlFailure) -> Markup {
    html! {
        div.note role="alert" {
            p { bdi { (escape(&failure.detail)) } }
            @for hint in &failure.hints { p.dim { bdi { (escape(hint)) } } }
        }
    }
}

fn answered(page: &SqlPage, rows: &SqlRows) -> Markup {
    html! {
        section aria-labelledby="rows-title" {
            h2 #rows-title { (wording::count(usize::try_from(rows.rows).unwrap_or(usize::MAX), "row")) }
            p.dim {
                "In " (rows.took_ms) " ms"
                @if rows.truncated { "; there are more, which were left out" }
                @if rows.incomplete { "; damaged parts of the store are missing: " a href="/sql?q=SELECT+source,+resource,+status,+detail+FROM+coverage+WHERE+status+=+'failed'" { "which" } }
                @if let Some(explained) = &rows.explained { " · " (escape(explained)) " are explained" @if !is_all(explained) { "; run it again for more" } }
                " · " a href={ "/sql?q=" (in_address(&page.statement)) } { "link to this statement" }
            }
            @if rows.rows > 0 { (plotted(rows)) (table(rows)) } @else { p { "The statement ran, and no row answers it." } }
        }
    }
}

/// Whether `8 of 8 runs` are all.
fn is_all(explained: &str) -> bool {
    let mut words = explained.split(' ');
    let first = words.next();
    first.is_some() && first == words.nth(1)
}

fn table(rows: &SqlRows) -> Markup {
    let numbers: Vec<bool> = rows
        .schema
        .fields()
        .iter()
        .map(|field| is_number(field.data_type()))
        .collect();
    let mut lines = Vec::new();
    for batch in &rows.batches {
        let Ok(columns) = columns(batch) else {
            continue;
        };
        for row in 0..batch.num_rows() {
            if lines.len() >= SHOWN {
                break;
            }
            lines.push(html! {
                tr {
                    @for (column, is_number) in columns.iter().zip(&numbers) {
                        td class=[is_number.then_some("number")] {
                            @match column.text(row) {
                                Ok(Some(text)) => { bdi { (escape(&clip(&text, CELL))) } }
                                _ => { em.dim { "NULL" } }
                            }
                        }
                    }
                }
            });
        }
    }
    html! {
        div.scroll tabindex="0" role="group" aria-label="Rows" {
            table.plain.rows-of-sql {
                thead { tr { @for (field, is_number) in rows.schema.fields().iter().zip(&numbers) {
                    th scope="col" class=[is_number.then_some("number")] { bdi { (escape(field.name())) } }
                } } }
                tbody { @for line in &lines { (line) } }
            }
        }
        @if rows.rows > lines.len() as u64 {
            p.dim { "The first " (wording::grouped(lines.len() as u64)) " rows are shown." }
        }
    }
}

/// Values over time where there is a column of times and one of numbers; bars where there is
/// one of names.
fn plotted(rows: &SqlRows) -> Markup {
    let fields = rows.schema.fields();
    let kind =
        |wanted: fn(&DataType) -> bool| fields.iter().position(|field| wanted(field.data_type()));
    let numbers: Vec<usize> = (0..fields.len())
        .filter(|at| is_number(fields[*at].data_type()))
        .collect();
    if numbers.is_empty() {
        return html! {};
    }
    if let Some(time) = kind(is_time) {
        let series = numbers.iter().take(LINES).map(|at| {
            let mut points = pairs(rows, time, *at);
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series {
                name: fields[*at].name().clone(),
                points,
            }
        });
        let drawn = plot::lines(&series.collect::<Vec<_>>());
        let needed: Vec<usize> = std::iter::once(time)
            .chain(numbers.iter().copied().take(LINES))
            .collect();
        return with_undrawn(&drawn, undrawn(rows, &needed));
    }
    let name = kind(|kind| {
        matches!(
            kind,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
    });
    match (name, numbers.first()) {
        (Some(name), Some(value)) => {
            let bars = bars(rows, name, *value);
            if bars.len() > BARS {
                return html! {};
            }
            let label = format!("{} by {}", fields[*value].name(), fields[name].name());
            with_undrawn(&plot::columns(&bars, &label), undrawn(rows, &[*value]))
        }
        _ => html! {},
    }
}

/// A plot, and how many rows are not in it: what is NULL is not nothing.
fn with_undrawn(drawn: &Markup, undrawn: usize) -> Markup {
    let has_note = undrawn > 0 && !drawn.0.is_empty();
    html! {
        (drawn)
        @if has_note {
            p.dim { (wording::count(undrawn, "row")) " with NULL in place of a value " @if undrawn == 1 { "is" } @else { "are" } " not drawn." }
        }
    }
}

/// Rows in which one of some columns is NULL.
fn undrawn(rows: &SqlRows, columns: &[usize]) -> usize {
    let of_batch = |batch: &RecordBatch| {
        let is_null = |row: &usize| {
            let mut columns = columns.iter().filter_map(|at| batch.columns().get(*at));
            columns.any(|column| column.is_null(*row))
        };
        (0..batch.num_rows()).filter(is_null).count()
    };
    rows.batches.iter().map(of_batch).sum()
}

fn is_time(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64
    )
}

/// The values of a column as numbers; times in milliseconds.
fn numbers(array: &ArrayRef) -> Option<ArrayRef> {
    let array = if is_time(array.data_type()) {
        let millis = cast(array, &DataType::Timestamp(TimeUnit::Millisecond, None)).ok()?;
        cast(&millis, &DataType::Int64).ok()?
    } else {
        ArrayRef::clone(array)
    };
    cast(&array, &DataType::Float64).ok()
}

fn pairs(rows: &SqlRows, x: usize, y: usize) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for batch in &rows.batches {
        let (Some(xs), Some(ys)) = (numbers(batch.column(x)), numbers(batch.column(y))) else {
            continue;
        };
        let (xs, ys) = (
            xs.as_primitive::<Float64Type>(),
            ys.as_primitive::<Float64Type>(),
        );
        let whole = (0..batch.num_rows()).filter(|row| xs.is_valid(*row) && ys.is_valid(*row));
        found.extend(whole.map(|row| (xs.value(row), ys.value(row))));
    }
    found.retain(|(_, value)| value.is_finite());
    found
}

fn bars(rows: &SqlRows, name: usize, value: usize) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for batch in &rows.batches {
        let (Ok(columns), Some(values)) = (columns(batch), numbers(batch.column(value))) else {
            continue;
        };
        let values = values.as_primitive::<Float64Type>();
        for row in (0..batch.num_rows()).filter(|row| values.is_valid(*row)) {
            let text = columns
                .get(name)
                .and_then(|column| column.text(row).ok().flatten());
            let name = text.unwrap_or_else(|| "NULL".to_owned());
            found.push((name, values.value(row)));
        }
    }
    found
}

#[cfg(test)]
mod sql_tests {
    use super::*;
    use datafusion::arrow::array::{Float64Array, StringArray, TimestampNanosecondArray};
    use datafusion::arrow::datatypes::{Field, Schema};
    use std::sync::Arc;

    fn page(first: ArrayRef) -> String {
        let schema = Arc::new(Schema::new(vec![
            Field::new("<b>a", first.data_type().clone(), true),
            Field::new("n", DataType::Float64, true),
        ]));
        let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![first, numbers]).unwrap();
        let rows = SqlRows {
            schema,
            batches: vec![batch],
            rows: 3,
            truncated: false,
            incomplete: false,
            took_ms: 1,
            explained: None,
        };
        sql(
            &Frame::default(),
            &SqlPage {
                statement: "</textarea><script>1</script>".to_owned(),
                rows: Some(rows),
                failure: None,
            },
        )
    }

    #[test]
    fn rows_are_a_table_and_a_plot() {
        let text = page(Arc::new(TimestampNanosecondArray::from(vec![
            0,
            1_000_000_000,
            3_600_000_000_000,
        ])));
        assert!(
            text.contains("<polyline") && text.contains("<em class=\"dim\">NULL</em>"),
            "{text}"
        );
        assert!(text.contains("1\u{a0}row with NULL in place of a value is not drawn."));
        let text = page(Arc::new(StringArray::from(vec![
            Some("a"),
            Some("b"),
            None,
        ])));
        assert!(text.contains("NULL: 3"), "a name that is NULL has a name");
        let text = page(Arc::new(StringArray::from(vec!["<i>x", "y", "z"])));
        assert!(
            text.contains("class=\"column\"") && !text.contains("<i>x") && !text.contains("<b>a"),
            "{text}"
        );
        assert!(!text.contains("<script>1"), "{text}");
    }
}
