//! How the prompt behaves while a person types.

use rustyline::completion::Completer;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Highlighter, Hinter, Result};

use super::command::Command;
use super::complete::Completions;

/// Completes names, and lets a statement go on until its semicolon.
#[derive(Helper, Highlighter, Hinter)]
pub(super) struct PromptHelper {
    words: Completions,
}

impl PromptHelper {
    pub(super) fn new(words: Completions) -> Self {
        Self { words }
    }
}

impl Completer for PromptHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> Result<(usize, Vec<String>)> {
        Ok(self.words.complete(line.get(..position).unwrap_or(line)))
    }
}

impl Validator for PromptHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let text = context.input();
        let done = text.trim().is_empty() || Command::parse(text).is_some() || is_complete(text);
        Ok(if done {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

/// Whether a text ends with a semicolon that no quote or comment holds.
fn is_complete(text: &str) -> bool {
    let mut ended = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                ended = false;
                if !letters.any(|inner| inner == letter) {
                    return false;
                }
            }
            '-' if letters.peek() == Some(&'-') => {
                letters.by_ref().find(|inner| *inner == '\n');
            }
            ';' => ended = true,
            blank if blank.is_whitespace() => {}
            _ => ended = false,
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn a_statement_goes_on_until_its_semicolon() {
        for text in [
            "SELECT 1;",
            "SELECT 1 ; ",
            "SELECT ';' ;",
            "SELECT 1; -- done",
            "SELECT 'it''s';",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "",
            "SELECT 1",
            "SELECT ';",
            "SELECT ';'",
            "SELECT 1 -- ;",
            "SELECT 1; SELECT",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }
}
