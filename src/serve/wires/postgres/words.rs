//! Commands that clients send beside statements: transactions that there are none of,
//! settings, and cursors.

use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// One statement of a client, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) text: String,
    pub(super) command: Command,
}

/// What a statement asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// It is run over the tables.
    Query,
    /// A transaction begins.
    Begin,
    /// It ends, with this word.
    End(&'static str),
    /// Nothing is done but to say that it was, with these words.
    Done(&'static str),
    /// A setting gets a value.
    Set(String, String),
    /// A setting, or each, gets its first value again.
    Reset(Option<String>),
    /// The value of a setting is told.
    Show(String),
    /// A prepared statement, or each, is forgotten.
    Deallocate(Option<String>),
    /// A cursor of a name is opened over a statement.
    Declare(String, String),
    /// Rows of a cursor are told, or left out; all of them without a number.
    Fetch {
        cursor: String,
        rows: Option<usize>,
        is_returned: bool,
    },
    /// A cursor, or each, is closed.
    Close(Option<String>),
}

impl Prepared {
    /// Takes a text apart at its semicolons.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let Some(words) = tokens(text) else {
            // What is wrong with it is told when it is run.
            return vec![Self {
                text: text.to_owned(),
                command: Command::Query,
            }];
        };
        let parts: Vec<&[Token]> = words
            .split(|word| *word == Token::SemiColon)
            .filter(|part| !spoken(part).is_empty())
            .collect();
        let only = parts.len() == 1;
        parts
            .into_iter()
            .map(|part| Self {
                text: if only {
                    text.trim().trim_end_matches(';').to_owned()
                } else {
                    joined(part)
                },
                command: Command::of(part),
            })
            .collect()
    }
}

/// Words of the longest command that is no statement.
const LONGEST: usize = 64;

/// Words and signs as they are written, so that they can be put together again.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokenizer = Tokenizer::new(&PostgreSqlDialect {}, text).with_unescape(false);
    tokenizer.tokenize().ok()
}

fn spoken(part: &[Token]) -> Vec<&Token> {
    let is_word = |word: &&Token| !matches!(word, Token::Whitespace(_) | Token::EOF);
    part.iter().filter(is_word).collect()
}

fn joined(part: &[Token]) -> String {
    let text: String = part.iter().map(written).collect();
    text.trim().to_owned()
}

/// A word as it can be read again: of texts with escapes only the value is known.
fn written(word: &Token) -> String {
    match word {
        Token::EscapedStringLiteral(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'");
            format!("E'{text}'")
        }
        other => other.to_string(),
    }
}

/// A word's value: a name without its quotes, a text or a number.
fn value(word: &Token) -> String {
    match word {
        Token::Word(word) if word.quote_style.is_some() => word.value.clone(),
        Token::Word(word) => word.value.to_lowercase(),
        Token::SingleQuotedString(text) => text.replace("''", "'"),
        other => other.to_string(),
    }
}

impl Command {
    fn of(part: &[Token]) -> Self {
        // What is longer is a statement, or begins as the command that holds one.
        let words: Vec<&Token> = spoken(part).into_iter().take(LONGEST).collect();
        let upper: Vec<String> = words
            .iter()
            .map(|word| match word {
                Token::Word(word) if word.quote_style.is_none() => word.value.to_uppercase(),
                _ => String::new(),
            })
            .collect();
        let at = |index: usize| upper.get(index).map_or("", String::as_str);
        let name = |index: usize| words.get(index).map(|word| value(word));
        match at(0) {
            "BEGIN" => Self::Begin,
            "START" if at(1) == "TRANSACTION" => Self::Begin,
            "COMMIT" | "END" => Self::End("COMMIT"),
            "ROLLBACK" if upper.iter().any(|word| word == "TO") => Self::Done("ROLLBACK"),
            "ROLLBACK" | "ABORT" => Self::End("ROLLBACK"),
            "SAVEPOINT" => Self::Done("SAVEPOINT"),
            "RELEASE" => Self::Done("RELEASE"),
            "LISTEN" => Self::Done("LISTEN"),
            "UNLISTEN" => Self::Done("UNLISTEN"),
            "DISCARD" => Self::Done("DISCARD ALL"),
            "SET" => Self::set(&words, &upper),
            "RESET" => Self::Reset(name(1).filter(|_| at(1) != "ALL")),
            "SHOW" => Self::show(&words, &upper),
            "DEALLOCATE" => {
                let index = if at(1) == "PREPARE" { 2 } else { 1 };
                Self::Deallocate(name(index).filter(|_| at(index) != "ALL"))
            }
            "DECLARE" => Self::declare(part, name(1)),
            "FETCH" | "MOVE" => Self::fetch(&words, &upper),
            "CLOSE" => Self::Close(name(1).filter(|_| at(1) != "ALL")),
            _ => Self::Query,
        }
    }

    /// `SET [SESSION | LOCAL] name { TO | = } value`, and what has words of its own.
    fn set(words: &[&Token], upper: &[String]) -> Self {
        let at = |index: usize| upper.get(index).map_or("", String::as_str);
        let mut from = 1;
        if matches!(at(1), "SESSION" | "LOCAL") && at(2) != "AUTHORIZATION" {
            from = 2;
        }
        match (at(from), at(from + 1)) {
            ("TRANSACTION", _) | ("CHARACTERISTICS", _) => return Self::Done("SET"),
            ("TIME", "ZONE") => {
                let zone = words.get(from + 2).map(|word| value(word));
                return Self::Set("timezone".to_owned(), zone.unwrap_or_default());
            }
            ("NAMES", _) => {
                let names = words.get(from + 1).map(|word| value(word));
                return Self::Set("client_encoding".to_owned(), names.unwrap_or_default());
            }
            _ => {}
        }
        let Some(name) = words.get(from).map(|word| value(word)) else {
            return Self::Query;
        };
        let is_sign = |word: &&&Token| **word == &Token::Eq || at(from + 1) == "TO";
        if words.get(from + 1).filter(is_sign).is_none() {
            return Self::Query;
        }
        let rest = words.get(from + 2..).unwrap_or_default();
        let text: String = rest.iter().map(|word| value(word)).collect();
        Self::Set(name, text)
    }

    /// `SHOW name`; tables and their columns are listed by a statement.
    fn show(words: &[&Token], upper: &[String]) -> Self {
        let at = |index: usize| upper.get(index).map_or("", String::as_str);
        match (at(1), at(2)) {
            ("TRANSACTION", "ISOLATION") => Self::Show("transaction_isolation".to_owned()),
            ("TIME", "ZONE") => Self::Show("timezone".to_owned()),
            ("TABLES" | "COLUMNS" | "FUNCTIONS" | "ALL" | "FULL" | "EXTENDED", _) => Self::Query,
            _ => match words {
                [_, name] => Self::Show(value(name)),
                _ => Self::Query,
            },
        }
    }

    /// `DECLARE name … CURSOR … FOR statement`.
    fn declare(part: &[Token], name: Option<String>) -> Self {
        let is = |token: &Token, wanted: &str| match token {
            Token::Word(word) => {
                word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted)
            }
            _ => false,
        };
        let cursor = part.iter().position(|token| is(token, "CURSOR"));
        let begun = cursor.and_then(|cursor| {
            let rest = part.get(cursor..)?;
            let found = rest.iter().position(|token| is(token, "FOR"))?;
            part.get(cursor + found + 1..)
        });
        match (name, begun) {
            (Some(name), Some(statement)) => Self::Declare(name, joined(statement)),
            _ => Self::Query,
        }
    }

    /// `FETCH [FORWARD] [n | ALL | NEXT] [FROM | IN] name`.
    fn fetch(words: &[&Token], upper: &[String]) -> Self {
        let is_returned = upper.first().is_some_and(|word| word == "FETCH");
        let Some(cursor) = words.get(1..).and_then(<[&Token]>::last) else {
            return Self::Query;
        };
        let mut rows = Some(1);
        let between = 1..words.len().saturating_sub(1);
        for index in between {
            match (
                words.get(index),
                upper.get(index).map_or("", String::as_str),
            ) {
                (_, "ALL") => rows = None,
                (_, "FORWARD" | "NEXT" | "FROM" | "IN") => {}
                (Some(Token::Number(number, _)), _) => match number.parse() {
                    Ok(number) => rows = Some(number),
                    Err(_) => return Self::Query,
                },
                // Nobody goes back.
                _ => return Self::Query,
            }
        }
        Self::Fetch {
            cursor: value(cursor),
            rows,
            is_returned,
        }
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
