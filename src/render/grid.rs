//! A table of cells in a given width.

use comfy_table::{
    Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, TableComponent,
    Width,
};

use super::page::{Page, Spans, Tone, ascii};
use super::style::Style;
use super::text::{escape, width};
use super::wrap::wrap;

/// Spaces between columns.
pub(crate) const GAP: usize = 2;
/// Columns below which a sentence is not squeezed.
const SENTENCE: usize = 20;
/// Columns up to which a name is not broken.
const NAME: usize = 40;

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Text that came from outside, escaped.
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        Self {
            text: escape(text).into_owned(),
            tone,
        }
    }

    pub(crate) fn spans(&self) -> Spans {
        Spans::new().own(self.tone, self.text.clone())
    }
}

/// Rows of cells under column heads.
#[derive(Debug)]
pub(crate) struct Grid {
    heads: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    right: Vec<bool>,
    rigid: Vec<bool>,
}

impl Grid {
    pub(crate) fn new(heads: &[&str]) -> Self {
        let (right, rigid) = (vec![false; heads.len()], vec![false; heads.len()]);
        let heads = heads
            .iter()
            .map(|head| Cell::new(head, Tone::Strong))
            .collect();
        Self {
            heads,
            rows: Vec::new(),
            right,
            rigid,
        }
    }

    /// Which columns are aligned to the right.
    pub(crate) fn right(mut self, right: Vec<bool>) -> Self {
        self.right = right;
        self
    }

    /// Which columns are never squeezed.
    pub(crate) fn rigid(mut self, rigid: Vec<bool>) -> Self {
        self.rigid = rigid;
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Widths of the columns that fill at most `columns`; `None` where even
    /// squeezed columns need more.
    pub(crate) fn fit(&self, columns: usize) -> Option<Vec<usize>> {
        let mut natural = Vec::with_capacity(self.heads.len());
        let mut least = Vec::with_capacity(self.heads.len());
        for (at, head) in self.heads.iter().enumerate() {
            let head = width(&head.text).max(1);
            let cells = || self.rows.iter().filter_map(|row| row.get(at));
            let widest = cells().map(|cell| width(&cell.text)).max().unwrap_or(0);
            natural.push(widest.max(head));
            let sentences = cells().any(|cell| cell.text.contains(' '));
            let word = cells()
                .flat_map(|cell| cell.text.split(' '))
                .map(width)
                .max()
                .unwrap_or(0);
            least.push(match self.rigid.get(at) {
                Some(true) => widest.max(head),
                _ if sentences => word.min(SENTENCE).max(head),
                _ => word.min(NAME).max(head),
            });
        }
        let gaps = GAP * natural.len().saturating_sub(1);
        let mut spare = columns.checked_sub(least.iter().sum::<usize>() + gaps)?;
        let mut order: Vec<usize> = (0..natural.len()).collect();
        order.sort_by_key(|&at| (natural[at] - least[at], at));
        let mut widths = least;
        for (done, &at) in order.iter().enumerate() {
            let more = (natural[at] - widths[at]).min(spare / (order.len() - done));
            widths[at] += more;
            spare -= more;
        }
        Some(widths)
    }

    /// The lines of the table, with its heads or without.
    pub(crate) fn lines(&self, widths: &[usize], style: &Style, with_heads: bool) -> Vec<String> {
        let mut table = Table::new();
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.load_preset(comfy_table::presets::NOTHING);
        if style.color {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let laid = |cells: &[Cell]| -> Vec<comfy_table::Cell> {
            let cells = cells.iter().zip(widths).zip(&self.right);
            cells
                .map(|((cell, width), right)| lay(cell, *width, *right, style))
                .collect()
        };
        if with_heads {
            table.set_style(
                TableComponent::HeaderLines,
                if style.ascii { '-' } else { '─' },
            );
            table.set_header(laid(&self.heads));
        }
        for row in &self.rows {
            table.add_row(laid(row));
        }
        for (at, column) in table.column_iter_mut().enumerate() {
            let after = if at + 1 == widths.len() { 0 } else { GAP };
            let whole = u16::try_from(widths[at] + after).unwrap_or(u16::MAX);
            column.set_padding((0, u16::try_from(after).unwrap_or(0)));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(whole)));
        }
        table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    pub(crate) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

impl Page<'_> {
    /// A table, squeezed as far as it can be.
    pub(crate) fn table(&mut self, grid: &Grid) {
        let columns = self.columns();
        let share = columns / grid.heads.len().max(1);
        let widths = grid.fit(columns);
        let widths =
            widths.unwrap_or_else(|| vec![share.saturating_sub(GAP).max(1); grid.heads.len()]);
        for line in grid.lines(&widths, self.style, true) {
            self.painted(line);
        }
    }

    fn painted(&mut self, line: String) {
        self.raw(Spans::new().say(line));
    }
}

fn lay(cell: &Cell, columns: usize, right: bool, style: &Style) -> comfy_table::Cell {
    let mut text = String::new();
    for (at, line) in wrap(&Spans::new(), &Spans::new().say(&*cell.text), columns)
        .iter()
        .enumerate()
    {
        if at > 0 {
            text.push('\n');
        }
        for span in &line.0 {
            text.push_str(&span.text);
        }
    }
    if style.ascii {
        text = text.chars().map(ascii).collect();
    }
    let laid = comfy_table::Cell::new(text);
    let laid = if right {
        laid.set_alignment(CellAlignment::Right)
    } else {
        laid
    };
    if !style.color {
        return laid;
    }
    match cell.tone {
        Tone::Plain => laid,
        Tone::Dim => laid.add_attribute(Attribute::Dim),
        Tone::Strong => laid.add_attribute(Attribute::Bold),
        Tone::Name => laid.fg(Color::DarkCyan),
        Tone::Good => laid.fg(Color::DarkGreen),
        Tone::Busy => laid.fg(Color::DarkBlue),
        Tone::Warn => laid.fg(Color::DarkYellow),
        Tone::Bad | Tone::Fatal => laid.fg(Color::DarkRed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(&["n", "pod", "message"]).right(vec![true, false, false]);
        for (n, pod, message) in [
            (
                "5",
                "gpt2-small-7f3-1-qp9zc",
                "the node stopped posting its status",
            ),
            ("12", "a", "漢字 \u{1b}[31mred"),
        ] {
            grid.row(
                [n, pod, message]
                    .iter()
                    .map(|text| Cell::new(text, Tone::Plain))
                    .collect(),
            );
        }
        grid
    }

    #[test]
    fn columns_are_squeezed_to_the_width() {
        let grid = grid();
        assert_eq!(grid.fit(200), Some(vec![2, 22, 35]));
        assert_eq!(grid.fit(50), Some(vec![2, 22, 22]));
        assert_eq!(grid.fit(30), None);
        let style = Style::default();
        assert_eq!(
            grid.lines(&[2, 22, 22], &style, true),
            [
                " n  pod                     message",
                "──────────────────────────────────────────────────",
                " 5  gpt2-small-7f3-1-qp9zc  the node stopped",
                "                            posting its status",
                "12  a                       漢字 \\x1b[31mred",
            ]
        );
    }
}
