//! XML as AWS answers it: elements and text, without attributes of meaning.

use xmlparser::{ElementEnd, Token, Tokenizer};

/// Elements lie in each other no deeper than this.
const DEEPEST: usize = 64;

/// An element with what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    /// Its name without prefix.
    pub(super) name: String,
    /// Its own text.
    pub(super) text: String,
    /// The elements in it, in order.
    pub(super) children: Vec<Self>,
}

/// Reads a document.
///
/// # Errors
/// Says what is wrong with it. Documents that define entities are refused.
pub(super) fn parse(bytes: &[u8]) -> Result<Element, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    let mut close = |open: &mut Vec<Element>| {
        let Some(done) = open.pop() else { return };
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => root = Some(done),
        }
    };
    for token in Tokenizer::from(text) {
        match token.map_err(|error| error.to_string())? {
            Token::ElementStart { local, .. } => {
                if open.len() >= DEEPEST {
                    return Err(format!("elements lie more than {DEEPEST} deep"));
                }
                open.push(Element {
                    name: local.as_str().to_owned(),
                    ..Element::default()
                });
            }
            Token::ElementEnd { end, .. } => match end {
                ElementEnd::Open => {}
                ElementEnd::Empty => close(&mut open),
                ElementEnd::Close(_, name) => {
                    if open.last().is_none_or(|last| last.name != name.as_str()) {
                        return Err(format!("</{}> closes what is not open", name.as_str()));
                    }
                    close(&mut open);
                }
            },
            Token::Text { text } => {
                if let Some(last) = open.last_mut() {
                    unescape(text.as_str(), &mut last.text);
                }
            }
            Token::Cdata { text, .. } => {
                if let Some(last) = open.last_mut() {
                    last.text.push_str(text.as_str());
                }
            }
            Token::DtdStart { .. } | Token::EntityDeclaration { .. } => {
                return Err("it defines entities".to_owned());
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        return Err("it ends too early".to_owned());
    }
    root.ok_or_else(|| "it is empty".to_owned())
}

/// Adds text with its references resolved; one that is none stays as it is.
fn unescape(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        to.push_str(before);
        let known = after
            .split_once(';')
            .and_then(|(name, behind)| Some((character(name)?, behind)));
        match known {
            Some((character, behind)) => {
                to.push(character);
                rest = behind;
            }
            None => {
                to.push('&');
                rest = after;
            }
        }
    }
    to.push_str(rest);
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_text_and_references_are_read() {
        let root = parse(
            b"<?xml version=\"1.0\"?>\n<a xmlns=\"u\"><b>x &lt;&#65;&#x42; &amp; &bad; y</b><c/><n:d><![CDATA[<e>]]></n:d></a>",
        )
        .unwrap();
        let emitted: Vec<_> = root
            .children
            .iter()
            .map(|child| (child.name.as_str(), child.text.as_str()))
            .collect();
        assert_eq!(root.name, "a");
        assert_eq!(emitted, [("b", "x <AB & &bad; y"), ("c", ""), ("d", "<e>")]);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let deep = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
        for text in [
            "",
            "{}",
            "<a>",
            "<a><b></a></b>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "<!doctype html>\n<html lang=en><title>500</title>",
            deep.as_str(),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"<a>\xff</a>").is_err());
    }
}
