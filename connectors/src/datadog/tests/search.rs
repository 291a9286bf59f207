//! The part of Datadog's search syntax that is asked in, and what it finds.

use serde_json::Value;

/// What is searched.
pub(super) struct Record<'r> {
    pub(super) host: &'r str,
    pub(super) message: &'r str,
    pub(super) tags: &'r [String],
    pub(super) attributes: &'r Value,
}

enum Query {
    Or(Vec<Self>),
    And(Vec<Self>),
    Not(Box<Self>),
    Is(String, Pattern),
    Says(Pattern),
}

/// Characters, and whether each is a wildcard.
enum Pattern {
    Exact(String),
    Wild(Vec<(char, bool)>),
}

/// Whether a query finds a record; the error is in words.
pub(super) fn finds(query: &str, record: &Record<'_>) -> Result<bool, String> {
    let mut parser = Parser {
        rest: query.chars().collect(),
        at: 0,
    };
    let parsed = parser.or()?;
    parser.space();
    if parser.at < parser.rest.len() {
        return Err(format!("unexpected {:?}", parser.rest[parser.at]));
    }
    Ok(parsed.finds(record))
}

struct Parser {
    rest: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest[self.at..].starts_with(&word.chars().collect::<Vec<_>>());
        let after = self.rest.get(self.at + word.len());
        if found && matches!(after, None | Some(' ' | '(')) {
            self.at += word.len();
            return true;
        }
        false
    }

    fn or(&mut self) -> Result<Query, String> {
        let mut ways = vec![self.and()?];
        while self.word("OR") {
            ways.push(self.and()?);
        }
        Ok(Query::Or(ways))
    }

    fn and(&mut self) -> Result<Query, String> {
        let mut all = Vec::new();
        loop {
            self.space();
            if matches!(self.peek(), None | Some(')')) {
                break;
            }
            let before = self.at;
            if self.word("OR") {
                self.at = before;
                break;
            }
            self.word("AND");
            all.push(self.one(None)?);
        }
        if all.is_empty() {
            return Err("nothing to search for".to_owned());
        }
        Ok(Query::And(all))
    }

    fn one(&mut self, key: Option<&str>) -> Result<Query, String> {
        self.space();
        match self.peek() {
            Some('-') if key.is_none() => {
                self.at += 1;
                Ok(Query::Not(Box::new(self.one(None)?)))
            }
            Some('(') => {
                self.at += 1;
                let inner = match key {
                    None => self.or()?,
                    Some(key) => {
                        let mut ways = vec![self.one(Some(key))?];
                        while self.word("OR") {
                            ways.push(self.one(Some(key))?);
                        }
                        Query::Or(ways)
                    }
                };
                self.space();
                if self.peek() != Some(')') {
                    return Err("an open parenthesis".to_owned());
                }
                self.at += 1;
                Ok(inner)
            }
            Some('"') => Ok(leaf(key, self.quoted()?)),
            Some('@') if key.is_none() => {
                self.at += 1;
                self.bare(key, "@")
            }
            Some(_) => self.bare(key, ""),
            None => Err("nothing after an operator".to_owned()),
        }
    }

    fn quoted(&mut self) -> Result<Pattern, String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek().ok_or("an open quote")? {
                '"' => break,
                '\\' => {
                    self.at += 1;
                    text.push(self.peek().ok_or("an open escape")?);
                }
                c => text.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(Pattern::Exact(text))
    }

    fn bare(&mut self, key: Option<&str>, prefix: &str) -> Result<Query, String> {
        let mut found: Vec<(char, bool)> = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                ' ' | ')' => break,
                ':' if key.is_none() => {
                    self.at += 1;
                    let name: String = found.iter().map(|(c, _)| *c).collect();
                    return self.one(Some(&format!("{prefix}{name}")));
                }
                '\\' => {
                    self.at += 1;
                    found.push((self.peek().ok_or("an open escape")?, false));
                }
                '*' | '?' => found.push((c, true)),
                // What is special must be escaped, or it means something else.
                '=' | '-' | '!' | '&' | '|' | '>' | '<' | '(' | '{' | '}' | '[' | ']' | '"'
                | ':' | '#' | '+' | '^' | '~' | '“' | '”' => {
                    return Err(format!("unescaped {c:?}"));
                }
                c => found.push((c, false)),
            }
            self.at += 1;
        }
        Ok(leaf(key, Pattern::Wild(found)))
    }
}

fn leaf(key: Option<&str>, pattern: Pattern) -> Query {
    match key {
        Some(key) => Query::Is(key.to_owned(), pattern),
        None => Query::Says(pattern),
    }
}

impl Query {
    fn finds(&self, record: &Record<'_>) -> bool {
        match self {
            Self::Or(ways) => ways.iter().any(|way| way.finds(record)),
            Self::And(all) => all.iter().all(|one| one.finds(record)),
            Self::Not(inner) => !inner.finds(record),
            Self::Is(key, pattern) => {
                if let Some(path) = key.strip_prefix('@') {
                    let pointer = format!("/{}", path.replace('.', "/"));
                    let value = record.attributes.pointer(&pointer).and_then(Value::as_str);
                    return value.is_some_and(|value| pattern.is(value));
                }
                if key == "host" {
                    return pattern.is(record.host);
                }
                let mut tags = record.tags.iter().filter_map(|tag| tag.split_once(':'));
                tags.any(|(name, value)| name == key && pattern.is(value))
            }
            Self::Says(pattern) => {
                let words = words(record.message);
                match pattern {
                    Pattern::Wild(found) if found.len() == 1 && found[0].1 => true,
                    Pattern::Wild(_) => words.iter().any(|word| pattern.is(word)),
                    Pattern::Exact(text) => {
                        let wanted = self::words(text);
                        !wanted.is_empty() && words.windows(wanted.len()).any(|part| part == wanted)
                    }
                }
            }
        }
    }
}

/// Special characters are not searchable: they only end words.
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

impl Pattern {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Wild(found) => fits(found, &text.chars().collect::<Vec<_>>()),
        }
    }
}

fn fits(pattern: &[(char, bool)], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((('*', true), rest)) => (0..=text.len()).any(|n| fits(rest, &text[n..])),
        Some((('?', true), rest)) => !text.is_empty() && fits(rest, &text[1..]),
        Some(((c, _), rest)) => text.first() == Some(c) && fits(rest, &text[1..]),
    }
}

#[test]
fn the_fake_searches_as_datadog_does() {
    let tags = ["pod_name:a-1".to_owned(), "kube_namespace:n".to_owned()];
    let record = Record {
        host: "Gpu-7-prod",
        message: "CUDA error: out of memory (OOMKilled)",
        tags: &tags,
        attributes: &serde_json::json!({"run": {"id": "X 1"}}),
    };
    for (query, found) in [
        ("*", true),
        ("pod_name:a\\-1", true),
        ("pod_name:\"a-*\"", false),
        ("pod_name:a\\-*", true),
        ("pod_name:(b OR a\\-1) kube_namespace:n", true),
        ("-pod_name:* OR kube_namespace:m", false),
        ("host:(Gpu\\-7 OR Gpu\\-7\\-*)", true),
        ("host:gpu\\-7\\-*", false),
        ("@run.id:\"X 1\"", true),
        ("*kill*", true),
        ("kill", false),
        ("\"out of memory\" AND *cuda*", true),
        ("\"of out\"", false),
    ] {
        assert_eq!(finds(query, &record), Ok(found), "{query}");
    }
    for broken in ["pod_name:a-1", "(a", "\"a", "a OR", ""] {
        assert!(finds(broken, &record).is_err(), "{broken}");
    }
}
