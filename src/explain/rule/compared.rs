//! Signals that a rule's statement compares with, so that misspelt ones are found.

use super::Rule;

impl Rule {
    /// Signals that the statement compares with, each with its line in the file; one that
    /// is matched by LIKE ends with a star.
    #[must_use]
    pub fn compared(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        // A list may go on over several lines.
        let mut in_list = false;
        for (number, line) in (1..).zip(self.text.lines()) {
            let code = line.split("--").next().unwrap_or_default();
            let mut rest = code;
            loop {
                if !in_list {
                    let Some((compared, after)) = after_signal(rest) else {
                        break;
                    };
                    rest = after;
                    in_list = compared == Comparison::List;
                    if let (Some((name, after)), false) = (literal(rest), in_list) {
                        let name = match (compared, name.split_once('%')) {
                            (Comparison::Like, Some((stem, _))) => format!("{stem}*"),
                            _ => name.to_owned(),
                        };
                        found.push((number, name));
                        rest = after;
                    }
                    continue;
                }
                let (end, next) = (rest.find(')'), rest.find('\''));
                if let Some(end) = end.filter(|end| next.is_none_or(|next| *end < next)) {
                    in_list = false;
                    rest = &rest[end..];
                } else if let Some((name, after)) = literal(rest) {
                    found.push((number, name.to_owned()));
                    rest = after;
                } else {
                    break;
                }
            }
        }
        found
    }
}

/// In which way a signal is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Like,
    List,
}

/// What stands behind the next comparison of a column `signal`.
fn after_signal(code: &str) -> Option<(Comparison, &str)> {
    let mut rest = code;
    loop {
        let at = rest.find("signal")?;
        let is_inside =
            rest[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        rest = &rest[at + "signal".len()..];
        if is_inside {
            continue;
        }
        let after = rest.trim_start();
        let word = |word: &str| {
            let head = after.get(..word.len())?;
            head.eq_ignore_ascii_case(word)
                .then(|| &after[word.len()..])
        };
        for (operator, compared) in [
            ("=", Comparison::Equal),
            ("<>", Comparison::Equal),
            ("!=", Comparison::Equal),
            ("not like ", Comparison::Like),
            ("like ", Comparison::Like),
            ("not in (", Comparison::List),
            ("in (", Comparison::List),
        ] {
            if let Some(after) = word(operator) {
                return Some((compared, after));
            }
        }
    }
}

/// The next text in quotes, and what stands behind it.
fn literal(code: &str) -> Option<(&str, &str)> {
    code.split_once('\'')?.1.split_once('\'')
}

#[cfg(test)]
mod tests {
    use super::super::tests::GOOD;
    use super::*;

    #[test]
    fn signals_are_found_where_a_statement_compares_them() {
        let sql = "SELECT 'guess' AS edge FROM links t\nWHERE t.signal = 'a.b' AND (signal LIKE 'c.d%' OR via = 'pod') -- signal = 'x.x'\n  AND t.signal IN ('e.f',\n    'g.h') AND cause_signal = 'i.j' AND signal NOT IN ('k.l')";
        let text = GOOD.replace("SELECT 1", sql);
        let rule = Rule::parse("r.sql", &text).unwrap();
        let reported = [
            (8, "a.b"),
            (8, "c.d*"),
            (9, "e.f"),
            (10, "g.h"),
            (10, "k.l"),
        ];
        let reported: Vec<(usize, String)> =
            reported.map(|(line, name)| (line, name.to_owned())).into();
        assert_eq!(rule.compared(), reported);
    }
}
