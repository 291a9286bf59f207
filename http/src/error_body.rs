//! What a server says went wrong, in its own words.

use serde_json::Value;

use whathappened_model::redact::redact;

/// How much of an answer is quoted.
const QUOTED: usize = 240;

/// The words in the body of an error: the message of the shapes that APIs use,
/// else its beginning.
pub fn words(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => {
            let mut found = Vec::new();
            collect(&value, 0, &mut found);
            found.dedup();
            if found.is_empty() {
                beginning(body)
            } else {
                short(&found.join("; "))
            }
        }
        Err(_) => beginning(body),
    }
}

/// Where messages stand: `{"errors": ["…"]}`, `{"errors": [{"title", "detail"}]}`,
/// `{"error": {"code", "message"}}`, `{"error": {"type", "reason"}}`,
/// `{"__type", "message"}`, `{"message"}`, a bare string.
fn collect(value: &Value, depth: usize, found: &mut Vec<String>) {
    const KEYS: [&str; 10] = [
        "error", "errors", "__type", "code", "type", "title", "message", "Message", "reason",
        "detail",
    ];
    if depth > 3 {
        return;
    }
    match value {
        Value::String(text) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
        Value::Array(values) => {
            for value in values.iter().take(3) {
                collect(value, depth + 1, found);
            }
        }
        Value::Object(fields) => {
            for key in KEYS {
                if key == "__type"
                    && let Some(name) = fields.get(key).and_then(Value::as_str)
                {
                    // `com.amazonaws.logs#ThrottlingException`
                    found.push(name.rsplit('#').next().unwrap_or(name).to_owned());
                } else if let Some(value) = fields.get(key) {
                    collect(value, depth + 1, found);
                }
            }
        }
        _ => {}
    }
}

/// The beginning of a body that is no JSON: plain text, or a gateway's page.
pub(super) fn beginning(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4096)]);
    let text = text.trim();
    if text.is_empty() {
        return "an empty response".to_owned();
    }
    if text.starts_with('<') {
        // `<Error><Code>UnauthorizedOperation</Code><Message>…`, as AWS answers.
        if let (Some(code), Some(message)) = (
            between(text, "<Code>", "</Code>"),
            between(text, "<Message>", "</Message>"),
        ) {
            return short(&format!("{code}; {message}"));
        }
        let title = between(text, "<title>", "</title>").or_else(|| between(text, "<h1>", "</h1>"));
        return match title {
            Some(title) => format!("a page titled {:?}", short(title.trim())),
            None => "an HTML page".to_owned(),
        };
    }
    short(text)
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// One line, not long, without secrets.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out: String = line.chars().take(QUOTED).collect();
    if out.len() < line.len() {
        out.push('…');
    }
    redact(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_quoted_in_their_own_words() {
        for (body, words_of_it) in [
            (r#"{"errors":["Forbidden"]}"#, "Forbidden"),
            (
                r#"{"status":"error","code":403,"errors":["Forbidden"]}"#,
                "Forbidden",
            ),
            (
                r#"{"errors":[{"status":"400","title":"Bad Request","detail":"no such index"}]}"#,
                "Bad Request; no such index",
            ),
            (
                r#"{"error":{"code":"InvalidArgument","message":"Invalid id"}}"#,
                "InvalidArgument; Invalid id",
            ),
            (
                r#"{"error":{"root_cause":[],"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}"#,
                "index_not_found_exception; no such index [x]",
            ),
            (
                r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#,
                "ThrottlingException; Rate exceeded",
            ),
            (
                r#"{"__type":"com.amazonaws.logs#ExpiredTokenException","message":"old"}"#,
                "ExpiredTokenException; old",
            ),
            (r#""unexpected open brace""#, "unexpected open brace"),
            ("no org id\n", "no org id"),
            ("", "an empty response"),
            (
                "<html><head><title>502 Bad Gateway</title></head></html>",
                "a page titled \"502 Bad Gateway\"",
            ),
            ("<!doctype html><p>Sign in", "an HTML page"),
            (
                "<?xml version=\"1.0\"?>\n<Response><Errors><Error><Code>AuthFailure</Code><Message>who?</Message></Error></Errors></Response>",
                "AuthFailure; who?",
            ),
            (
                "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>old</Message></Error></ErrorResponse>",
                "ExpiredToken; old",
            ),
            ("{\"data\":[]}", "{\"data\":[]}"),
        ] {
            assert_eq!(words(body.as_bytes()), words_of_it, "{body}");
        }
    }
}
