//! The columns of a table, by name.

/// How a table's cells are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// By a delimiter: `|`, or any other that the caller asked for.
    Delimited(String),
    /// By the width of each column: where each starts and ends.
    Fixed(Vec<(usize, usize)>),
}

/// A table's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    names: Vec<String>,
    cells: Cells,
}

/// Delimiters that people use; the longer first.
const DELIMITERS: [&str; 5] = ["|#", "||", "|", ";", "\t"];

impl Columns {
    /// Of a line that names all of `needed`, compared without case.
    pub(super) fn delimited(line: &str, needed: &[&str]) -> Option<Self> {
        let delimiter = DELIMITERS.iter().find(|mark| line.contains(**mark))?;
        let names = line
            .split(delimiter)
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let columns = Self {
            names,
            cells: Cells::Delimited((*delimiter).to_owned()),
        };
        columns.has(needed).then_some(columns)
    }

    /// Of a head and the rule of dashes below it.
    pub(super) fn fixed(line: &str, rule: &str, needed: &[&str]) -> Option<Self> {
        if !rule.trim().bytes().all(|b| matches!(b, b'-' | b' ')) || !rule.starts_with('-') {
            return None;
        }
        let mut spans = Vec::new();
        let mut start = None;
        for (at, byte) in rule.bytes().chain([b' ']).enumerate() {
            match (byte, start) {
                (b'-', None) => start = Some(at),
                (b' ', Some(from)) => {
                    spans.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        let names = spans
            .iter()
            .map(|span| cut(line, *span).to_ascii_lowercase())
            .collect();
        let columns = Self {
            names,
            cells: Cells::Fixed(spans),
        };
        columns.has(needed).then_some(columns)
    }

    fn has(&self, needed: &[&str]) -> bool {
        needed
            .iter()
            .all(|name| self.names.iter().any(|have| have == name))
    }

    /// A row's cells; `None` where their number is not that of the head.
    pub(super) fn row<'r>(&'r self, line: &'r str) -> Option<Row<'r>> {
        let cells: Vec<&str> = match &self.cells {
            Cells::Delimited(mark) => line.split(mark.as_str()).map(str::trim).collect(),
            Cells::Fixed(spans) => spans.iter().map(|span| cut(line, *span)).collect(),
        };
        // `-p` ends every line with a delimiter, a caller may have cut it off.
        let short = self.names.last().is_some_and(String::is_empty);
        let wanted = self.names.len() - usize::from(short);
        let fits = cells.len() == wanted || cells.len() == self.names.len();
        let ends = cells.len() == self.names.len() + 1 && cells.last() == Some(&"");
        (fits || ends).then_some(Row {
            columns: self,
            cells,
        })
    }

    /// How many delimiters a whole row has.
    pub(super) fn missing(&self, line: &str) -> bool {
        match &self.cells {
            Cells::Delimited(mark) => line.matches(mark.as_str()).count() + 1 < self.names.len(),
            Cells::Fixed(_) => false,
        }
    }
}

fn cut(line: &str, (from, to): (usize, usize)) -> &str {
    line.get(from..to.min(line.len()))
        .unwrap_or_default()
        .trim()
}

/// A row.
#[derive(Debug)]
pub(super) struct Row<'r> {
    columns: &'r Columns,
    cells: Vec<&'r str>,
}

impl Row<'_> {
    /// A cell that says something; of columns of one name the first that does.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.columns
            .names
            .iter()
            .zip(&self.cells)
            .filter(|(have, _)| *have == name)
            .map(|(_, cell)| *cell)
            .find(|cell| {
                !matches!(
                    *cell,
                    "" | "Unknown" | "None" | "N/A" | "(null)" | "none" | "None assigned"
                )
            })
    }
}
