//! What was lost in a window, for an issue or a chat.

use std::io;

use crate::answer::FleetReport;

use super::super::clock::Clock;
use super::super::error::RenderError;
use super::super::fleet::{heading, is_number, of_column, statement, window};
use super::super::style::Style;
use super::escape::escape;

/// Writes the figures as tables, each with its statement folded away.
pub(crate) fn fleet(
    report: &FleetReport,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    writeln!(
        out,
        "## Report\n\n{}\n",
        escape(&window(report, Clock(style.tz)))
    )?;
    for note in &report.notes {
        writeln!(out, "> {}\n", escape(note))?;
    }
    for figure in &report.figures {
        writeln!(
            out,
            "### {}\n\n{}\n",
            figure.title,
            escape(figure.definition)
        )?;
        if let Some(coverage) = &figure.coverage {
            writeln!(out, "{}\n", escape(coverage))?;
        }
        if figure.rows.is_empty() {
            writeln!(out, "Nothing in this window.\n")?;
        } else {
            let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
            let heads = figure.columns.iter().map(|name| escape(&heading(name)));
            writeln!(out, "{}", line(heads.collect()))?;
            let rule = (0..figure.columns.len())
                .map(|at| if is_number(figure, at) { "--:" } else { "---" }.to_owned());
            writeln!(out, "{}", line(rule.collect()))?;
            for (number, row) in figure.rows.iter().enumerate() {
                let list = figure.incidents.get(number);
                let link = || Some(statement(report.site.as_deref()?, list?));
                let cells = row.iter().zip(&figure.columns).map(|(one, column)| {
                    let text = escape(&of_column(column, one));
                    match link().filter(|_| column == "incidents") {
                        Some(link) => format!("[{text}](<{link}>)"),
                        None => text,
                    }
                });
                writeln!(out, "{}", line(cells.collect()))?;
            }
            writeln!(out)?;
        }
        if let Some(site) = &report.site {
            writeln!(
                out,
                "[Open in the editor](<{}>)\n",
                statement(site, &figure.sql)
            )?;
        }
        writeln!(
            out,
            "<details><summary>SQL</summary>\n\n```sql\n{}\n```\n</details>\n",
            figure.sql
        )?;
    }
    Ok(())
}
