//! Tables: a heading of words in capitals, and rows below it.

use super::paste::Line;

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading<'t> {
    names: Vec<&'t str>,
    /// Where each column starts, in characters.
    starts: Vec<usize>,
}

/// Names of columns that hold one word, by which a heading is recognised.
const KNOWN: [&str; 30] = [
    "NAME",
    "NAMESPACE",
    "READY",
    "STATUS",
    "RESTARTS",
    "AGE",
    "LAST SEEN",
    "FIRST SEEN",
    "TYPE",
    "REASON",
    "OBJECT",
    "MESSAGE",
    "KIND",
    "COUNT",
    "SUBOBJECT",
    "SOURCE",
    "ROLES",
    "VERSION",
    "COMPLETIONS",
    "DURATION",
    "UP-TO-DATE",
    "AVAILABLE",
    "DESIRED",
    "CURRENT",
    "VOLUME",
    "CAPACITY",
    "STATE",
    "NODE",
    "IP",
    "LABELS",
];

/// What kube-lineage and `kubectl tree` draw with.
const TREE: [char; 5] = ['│', '├', '└', '─', ' '];

impl<'t> Heading<'t> {
    /// Reads the heading of a table that `kubectl get` or `kubectl events` prints.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (names, starts) = columns(text);
        let capitals = |name: &&str| {
            !name.bytes().any(|b| b.is_ascii_lowercase())
                && name.bytes().any(|b| b.is_ascii_uppercase())
        };
        let known = names.iter().filter(|name| KNOWN.contains(name)).count();
        let named =
            names.contains(&"NAME") || names.contains(&"OBJECT") || names.contains(&"REASON");
        (names.len() > 1
            && known > 1
            && known * 2 >= names.len().min(8)
            && named
            && names.iter().all(capitals))
        .then_some(Self { names, starts })
    }

    /// Reads the heading of the table of events in a `describe`.
    pub(super) fn of_events(text: &'t str) -> Option<Self> {
        let (names, starts) = columns(text);
        (names.contains(&"Reason") && names.contains(&"Message")).then_some(Self { names, starts })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The cells of a row, by column; `None` where it is no row of this table.
    pub(super) fn row(&self, text: &str) -> Option<Row<'t>> {
        let cells = self.by_place(text).or_else(|| self.by_gaps(text))?;
        let cells = self.names.iter().copied().zip(cells);
        // What shows owners and owned draws a tree before the names.
        let own = |(column, cell): (&'t str, String)| match column {
            "NAME" => (column, cell.trim_start_matches(TREE).to_owned()),
            _ => (column, cell),
        };
        Some(Row {
            cells: cells.map(own).collect(),
        })
    }

    /// Columns stand below their names.
    fn by_place(&self, text: &str) -> Option<Vec<String>> {
        let chars: Vec<char> = text.chars().collect();
        let margin = self.starts.first().copied().unwrap_or(0);
        if chars.iter().take(margin).any(|c| *c != ' ') {
            return None;
        }
        let mut cells = Vec::with_capacity(self.starts.len());
        for (index, start) in self.starts.iter().enumerate() {
            let end = self.starts.get(index + 1).copied().unwrap_or(chars.len());
            // A cell that reaches into the next column was squeezed or edited.
            if index > 0
                && *start <= chars.len()
                && *start >= 1
                && chars.get(start - 1).is_some_and(|c| *c != ' ')
            {
                return None;
            }
            let cell: String = chars
                .get(*start..end.min(chars.len()))
                .unwrap_or_default()
                .iter()
                .collect();
            if index > 0 && cell.starts_with(' ') && !cell.trim().is_empty() {
                return None;
            }
            cells.push(cell.trim().to_owned());
        }
        Some(cells)
    }

    /// Columns are what wide gaps divide; the last takes the rest.
    fn by_gaps(&self, text: &str) -> Option<Vec<String>> {
        let parts = divided(text);
        let wanted = self.names.len();
        if parts.len() < wanted {
            return None;
        }
        let mut cells: Vec<String> = parts[..wanted - 1]
            .iter()
            .map(|(_, part)| (*part).to_owned())
            .collect();
        cells.push(text[parts[wanted - 1].0..].trim().to_owned());
        Some(cells)
    }
}

/// A row's cells with their columns' names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row<'t> {
    cells: Vec<(&'t str, String)>,
}

impl Row<'_> {
    /// The cell of a column; nothing where it is empty or says that there is nothing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.cells
            .iter()
            .find(|(column, _)| *column == name)
            .map(|(_, cell)| cell.as_str())
            .filter(|cell| !cell.is_empty() && !matches!(*cell, "<none>" | "<unset>"))
    }
}

/// The parts of a line that two spaces or more, or a tab, divide, and where they start.
pub(super) fn divided(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut gap = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            ' ' | '\t' => {
                gap += if c == '\t' { 2 } else { 1 };
                if gap >= 2
                    && let Some(from) = start.take()
                {
                    parts.push((from, text[from..at].trim_end()));
                }
            }
            _ => {
                gap = 0;
                start.get_or_insert(at);
            }
        }
    }
    if let Some(from) = start {
        parts.push((from, text[from..].trim_end()));
    }
    parts
}

fn columns(text: &str) -> (Vec<&str>, Vec<usize>) {
    divided(text)
        .into_iter()
        .map(|(at, name)| (name, text[..at].chars().count()))
        .unzip()
}

/// Whether a line is the rule below a heading.
pub(super) fn is_rule(line: &Line<'_>) -> bool {
    let text = line.words();
    !text.is_empty() && text.bytes().all(|b| matches!(b, b'-' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_their_names_even_where_some_are_empty() {
        let heading = Heading::parse("NAME      STATUS    VOLUME   CAPACITY   AGE").unwrap();
        let row = heading
            .row("data-0    Pending                       6m58s")
            .unwrap();
        assert_eq!(row.get("NAME"), Some("data-0"));
        assert_eq!(row.get("VOLUME"), None);
        assert_eq!(row.get("AGE"), Some("6m58s"));
    }

    #[test]
    fn rows_that_were_squeezed_are_divided_at_gaps() {
        let heading = Heading::of_events(
            "  Type     Reason        Age                    From            Message",
        )
        .unwrap();
        let row = heading
            .row("  Warning  FailedCreate  2d (x5 over 2m30s)  job-controller  Error  creating")
            .unwrap();
        assert_eq!(row.get("From"), Some("job-controller"));
        assert_eq!(row.get("Message"), Some("Error  creating"));
        assert_eq!(heading.row("not a row"), None);
    }

    #[test]
    fn headings_are_told_from_text() {
        for text in [
            "NAME OF THE GAME",
            "ERROR  SOMETHING BROKE",
            "NAME",
            "",
            "Name  Ready",
        ] {
            assert_eq!(Heading::parse(text), None, "{text}");
        }
        assert!(Heading::parse("LAST SEEN   TYPE   REASON   OBJECT   MESSAGE").is_some());
        assert!(Heading::parse("NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE").is_some());
    }
}
