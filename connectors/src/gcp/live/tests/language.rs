//! So much of Cloud Logging's query language as filters here use, strictly: a
//! filter that is not of it is refused, as the real one does.

use regex::RegexBuilder;
use serde_json::Value;

use crate::time::Stamp;

/// Whether a filter finds an entry.
///
/// # Errors
/// Says where the filter is no filter.
pub(super) fn finds(filter: &str, entry: &Value) -> Result<bool, String> {
    if filter.chars().count() > 20_000 {
        return Err("the filter is longer than 20000 characters".to_owned());
    }
    let tokens = tokens(filter)?;
    let mut parser = Parser {
        tokens: &tokens,
        entry,
    };
    let found = parser.either()?;
    if parser.tokens.is_empty() {
        Ok(found)
    } else {
        Err(format!("unparseable filter at {:?}", parser.tokens[0]))
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Op(&'static str),
}

fn tokens(filter: &str) -> Result<Vec<Token>, String> {
    const OPS: [&str; 8] = [">=", "<=", "=~", "=", "<", ">", ":", "("];
    let mut tokens = Vec::new();
    let mut rest = filter.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let (text, after) = quoted(&rest[1..])?;
            tokens.push(Token::Text(text));
            rest = after;
        } else if first == ')' {
            tokens.push(Token::Op(")"));
            rest = &rest[1..];
        } else if let Some(op) = OPS.iter().find(|op| rest.starts_with(**op)) {
            tokens.push(Token::Op(op));
            rest = &rest[op.len()..];
        } else {
            let word = |c: char| c.is_ascii_alphanumeric() || "._-*/".contains(c);
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("unexpected {first:?}"));
            }
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

fn quoted(rest: &str) -> Result<(String, &str), String> {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((text, &rest[at + 1..])),
            '\\' => text.push(chars.next().ok_or("an escape of nothing")?.1),
            c => text.push(c),
        }
    }
    Err("a quote that does not end".to_owned())
}

struct Parser<'t> {
    tokens: &'t [Token],
    entry: &'t Value,
}

impl Parser<'_> {
    fn takes(&mut self, token: &Token) -> bool {
        let is = self.tokens.first() == Some(token);
        if is {
            self.tokens = &self.tokens[1..];
        }
        is
    }

    fn word(&mut self, word: &str) -> bool {
        self.takes(&Token::Word(word.to_owned()))
    }

    fn next(&mut self) -> Result<Token, String> {
        let (first, rest) = self.tokens.split_first().ok_or("the filter ends early")?;
        self.tokens = rest;
        Ok(first.clone())
    }

    fn close(&mut self) -> Result<(), String> {
        match self.takes(&Token::Op(")")) {
            true => Ok(()),
            false => Err("a bracket is not closed".to_owned()),
        }
    }

    fn either(&mut self) -> Result<bool, String> {
        let mut found = self.all()?;
        while self.word("OR") {
            found |= self.all()?;
        }
        Ok(found)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut found = self.one()?;
        while self.word("AND") {
            found &= self.one()?;
        }
        Ok(found)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.takes(&Token::Op("(")) {
            let found = self.either()?;
            self.close()?;
            return Ok(found);
        }
        let Token::Word(field) = self.next()? else {
            return Err("a field is missing".to_owned());
        };
        if field == "log_id" {
            return self.log();
        }
        let mut path: Vec<String> = field.split('.').map(str::to_owned).collect();
        // `labels."a.b/c"`: a key that holds dots stands in quotes.
        if path.last().is_some_and(String::is_empty) {
            let Token::Text(key) = self.next()? else {
                return Err(format!("{field} ends in a dot"));
            };
            path.pop();
            path.push(key);
        }
        let Token::Op(op) = self.next()? else {
            return Err(format!("{field} is compared with nothing"));
        };
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let values = values(self.entry, &path);
        if self.takes(&Token::Op("(")) {
            let mut found = self.compare(op, &values)?;
            while self.word("OR") {
                found |= self.compare(op, &values)?;
            }
            self.close()?;
            return Ok(found);
        }
        self.compare(op, &values)
    }

    fn log(&mut self) -> Result<bool, String> {
        if !self.takes(&Token::Op("(")) {
            return Err("log_id without bracket".to_owned());
        }
        let Token::Text(id) = self.next()? else {
            return Err("log_id of no text".to_owned());
        };
        self.close()?;
        let name = self.entry["logName"].as_str().unwrap_or_default();
        Ok(name.ends_with(&format!("/logs/{}", id.replace('/', "%2F"))))
    }

    fn compare(&mut self, op: &str, values: &[&Value]) -> Result<bool, String> {
        let wanted = match self.next()? {
            Token::Word(word) if word == "*" && op == ":" => return Ok(!values.is_empty()),
            Token::Text(text) => text,
            other => return Err(format!("{other:?} is no value")),
        };
        let texts = values.iter().filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let mut texts = texts;
        let time = |text: &str| Stamp::parse(text).map(|stamp| stamp.lo);
        match op {
            "=" => Ok(texts.any(|text| text.eq_ignore_ascii_case(&wanted))),
            ":" => Ok(texts.any(|text| text.to_lowercase().contains(&wanted.to_lowercase()))),
            "=~" => {
                let pattern = RegexBuilder::new(&wanted).build();
                let pattern = pattern.map_err(|error| error.to_string())?;
                Ok(texts.any(|text| pattern.is_match(&text)))
            }
            ">=" | "<" => {
                let limit = time(&wanted).ok_or("not an RFC 3339 time")?;
                Ok(texts.any(|text| {
                    time(&text).is_some_and(|at| if op == "<" { at < limit } else { at >= limit })
                }))
            }
            other => Err(format!("the operator {other} is not known")),
        }
    }
}

/// All values at a path; lists are looked into.
fn values<'v>(value: &'v Value, path: &[&str]) -> Vec<&'v Value> {
    if let Value::Array(items) = value {
        return items.iter().flat_map(|item| values(item, path)).collect();
    }
    match path.split_first() {
        None => vec![value],
        Some((first, rest)) => {
            let next = value.get(*first);
            next.map(|next| values(next, rest)).unwrap_or_default()
        }
    }
}

#[test]
fn filters_mean_what_the_contract_says() {
    let entry = serde_json::json!({
        "logName": "projects/p/logs/a%2Fb", "timestamp": "2026-11-21T10:00:00.5Z",
        "x": {"y": "Value", "list": ["one", "two"]},
    });
    for (filter, found) in [
        (r#"log_id("a/b")"#, true),
        (r#"x.y="value" AND x.list=("three" OR "two")"#, true),
        (r#"x.z="a" OR x.y:"alu""#, true),
        (r#"x.y=~"^V" AND (x.z:* OR x.y:*)"#, true),
        (r#"timestamp>="2026-11-21T10:00:01Z""#, false),
        (r#"x.list=~"^(o|t).$""#, false),
    ] {
        assert_eq!(finds(filter, &entry), Ok(found), "{filter}");
    }
    for wrong in [
        "",
        "a=",
        "a=b",
        r#"(a="b""#,
        r#"a="b"#,
        r#"a="b" b="c""#,
        "a='b'",
    ] {
        assert!(finds(wrong, &entry).is_err(), "{wrong}");
    }
}
