//! The lines of a `describe` as the tree that their indentation draws.

use super::super::paste::Line;

/// A line, and the lines that stand further right below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kubectl) struct Item<'t> {
    pub(in crate::kubectl) number: u64,
    /// What stands before the colon; empty for a line without one.
    pub(in crate::kubectl) key: &'t str,
    /// What stands after it, or the whole line.
    pub(in crate::kubectl) value: &'t str,
    /// The whole line without its indentation.
    pub(in crate::kubectl) text: &'t str,
    pub(in crate::kubectl) children: Vec<Self>,
}

/// Deeper lines are taken to be of this depth; no object is nested so.
const MAX_DEPTH: usize = 24;

/// Builds the tree.
pub(in crate::kubectl) fn parse<'t>(lines: &[Line<'t>]) -> Vec<Item<'t>> {
    let mut top: Vec<Item<'t>> = Vec::new();
    // The items that are open, with their indentation.
    let mut open: Vec<(usize, Item<'t>)> = Vec::new();
    let lines: Vec<Line<'t>> = lines
        .iter()
        .filter(|line| !line.is_blank())
        .copied()
        .collect();
    // Lines up to this one belong to the text of the item that is open.
    let mut text_until = 0;
    for (at, line) in lines.iter().enumerate() {
        let indent = line.indent();
        let item = item(line);
        if at < text_until {
            if let Some((_, last)) = open.last_mut() {
                last.children.push(item);
            }
            continue;
        }
        text_until = message_end(&lines, at);
        // A text that was printed with its line breaks goes on at the margin.
        let stray = indent == 0 && !is_field(&item) && !open.is_empty();
        if stray {
            if let Some((_, last)) = open.last_mut() {
                last.children.push(item);
            }
            continue;
        }
        while open.last().is_some_and(|(at, _)| *at >= indent) || open.len() >= MAX_DEPTH {
            close(&mut open, &mut top);
        }
        open.push((indent, item));
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}

/// Where the termination message ends that begins at a line: kubectl prints its further lines as they
/// are, and then goes on with the fields of the container's state.
fn message_end(lines: &[Line<'_>], at: usize) -> usize {
    /// Kubelets cut longer messages.
    const LINES: usize = 4096;
    const AFTER: [&str; 4] = ["Exit Code:", "Signal:", "Started:", "Finished:"];
    let Some(line) = lines
        .get(at)
        .filter(|line| line.words().starts_with("Message:"))
    else {
        return 0;
    };
    let goes_on = |line: &Line<'_>| AFTER.iter().any(|field| line.words().starts_with(field));
    let mut below = lines.iter().skip(at + 1).take(LINES);
    let end = below.position(|below| below.indent() == line.indent() && goes_on(below));
    end.filter(|_| line.indent() > 0)
        .map_or(0, |end| at + 1 + end)
}

fn close<'t>(open: &mut Vec<(usize, Item<'t>)>, top: &mut Vec<Item<'t>>) {
    if let Some((_, item)) = open.pop() {
        match open.last_mut() {
            Some((_, parent)) => parent.children.push(item),
            None => top.push(item),
        }
    }
}

/// Fields of an object begin with a capital and hold no odd characters.
fn is_field(item: &Item<'_>) -> bool {
    item.key.len() < 64
        && item.key.starts_with(|c: char| c.is_ascii_uppercase())
        && item
            .key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '(' | ')'))
}

fn item<'t>(line: &Line<'t>) -> Item<'t> {
    let text = line.words();
    let (key, value) = split(text).unwrap_or(("", text));
    Item {
        number: line.number,
        key,
        value,
        text,
        children: Vec::new(),
    }
}

/// `Key:   value`, `Key:`; a colon inside a word divides nothing.
fn split(text: &str) -> Option<(&str, &str)> {
    if let Some(key) = text.strip_suffix(':').filter(|key| !key.contains(": ")) {
        return Some((key, ""));
    }
    let at = text.find(": ").into_iter().chain(text.find(":\t")).min()?;
    Some((&text[..at], text[at + 1..].trim()))
}

impl<'t> Item<'t> {
    /// The value on the line and, below it, those that go on.
    pub(in crate::kubectl) fn values(&self) -> impl Iterator<Item = &'t str> + '_ {
        std::iter::once(self.value)
            .chain(self.children.iter().map(|child| child.text))
            .filter(|text| !text.is_empty() && *text != "<none>")
    }

    /// How many pods of a job run, have succeeded and failed: `1 Active (1 Ready) / 0 Succeeded / 2 Failed`.
    pub(in crate::kubectl) fn statuses(items: &[Self]) -> Option<[u64; 3]> {
        let text = super::field::value(items, "Pods Statuses")?;
        let counts = text.split('/');
        let counts = counts.map(|part| part.split_whitespace().next()?.parse::<u64>().ok());
        counts.collect::<Option<Vec<u64>>>()?.try_into().ok()
    }

    /// How many of those that run are ready.
    pub(in crate::kubectl) fn ready(items: &[Self]) -> Option<u64> {
        let text = super::field::value(items, "Pods Statuses")?;
        let (_, rest) = text.split('/').next()?.split_once('(')?;
        rest.strip_suffix(')')
            .unwrap_or(rest)
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    }

    /// When a node's kubelet was last heard of.
    pub(in crate::kubectl) fn renewed(items: &[Self]) -> Option<crate::time::Stamp> {
        let lease = super::field::below(items, "Lease");
        super::field::value(lease, "RenewTime").and_then(super::field::stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::paste;

    #[test]
    fn indentation_makes_the_tree() {
        let lines = paste::lines(
            "Name:  a\nLabels:  x=1\n         y=2\nContainers:\n  main:\n    Image:  http://r:5000/i\n    Limits:\n      cpu:  3\nMessage:  first\nsecond: line\nStatus:  Failed\n",
        );
        let items = parse(&lines);
        let keys: Vec<&str> = items.iter().map(|item| item.key).collect();
        assert_eq!(keys, ["Name", "Labels", "Containers", "Message", "Status"]);
        assert_eq!(items[1].values().collect::<Vec<_>>(), ["x=1", "y=2"]);
        let main = &items[2].children[0];
        assert_eq!(
            (main.key, main.children[0].value),
            ("main", "http://r:5000/i")
        );
        assert_eq!(main.children[1].children[0].value, "3");
        assert_eq!(
            items[3].values().collect::<Vec<_>>(),
            ["first", "second: line"]
        );
    }

    #[test]
    fn a_message_of_several_lines_is_one_text() {
        let lines = paste::lines(
            "Name:  a\nContainers:\n  main:\n    State:  Terminated\n      Reason:  Error\n      Message:  Traceback:\n  File \"t.py\", line 4\n    import apex\nModuleNotFoundError: No module named 'apex'\n\n      Exit Code:  1\n    Ready:  False\n",
        );
        let items = parse(&lines);
        let state = &items[1].children[0].children[0];
        let keys: Vec<&str> = state.children.iter().map(|item| item.key).collect();
        assert_eq!(keys, ["Reason", "Message", "Exit Code"]);
        let message: Vec<&str> = state.children[1].values().collect();
        assert_eq!(message.len(), 4);
        assert_eq!(message[3], "ModuleNotFoundError: No module named 'apex'");
        assert_eq!(items[1].children[0].children[1].value, "False");
    }

    #[test]
    fn endless_nesting_ends() {
        let text: String = (0..5_000)
            .map(|n| format!("{}k:\n", " ".repeat(n)))
            .collect();
        assert_eq!(parse(&paste::lines(&text)).len(), 1);
    }
}
