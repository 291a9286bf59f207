//! Options of commands whose values are secrets, and what is typed into a command.
//!
//! A command may be told several secrets, so all of its options are looked at; its
//! end is a line's, or the sign that begins the next command.

use std::ops::Range;

use super::pattern::Pattern;
use super::value::{is_path, names_no_secret, starts_inside_word};

/// A command, and the options in which it is told secrets.
pub(super) struct Command {
    /// In lower case.
    pub(super) hints: &'static [&'static str],
    /// From the space before an option on; the first group is the secret.
    pub(super) options: &'static str,
}

/// The words behind a command are no farther away than this.
const LONGEST: usize = 400;

const fn command(hints: &'static [&'static str], options: &'static str) -> Command {
    Command { hints, options }
}

/// An option and its value, which may stand in quotes, in a line or in a list.
macro_rules! option {
    ($flag:literal, $value:literal) => {
        concat!(
            r#"(?:\s|")"#,
            $flag,
            r#"(?:[ \t]+|=|\\*"\s*,\s*\\*"|)\\*["']?"#,
            $value
        )
    };
}

pub(super) const COMMANDS: &[Command] = &[
    command(
        &[
            "snmpwalk",
            "snmpget",
            "snmpset",
            "snmpbulk",
            "snmptable",
            "snmptrap",
            "snmpstatus",
            "snmptest",
            "snmpdf",
            "snmpinform",
            "snmpusm",
        ],
        option!("-[AXc]", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    command(
        &["beeline", "cqlsh", "racadm", "twine upload", "ncftp"],
        option!("(?:-p|--password)", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    command(
        &["mosquitto_"],
        option!("(?:-P|--pw)", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    command(
        &["lftp"],
        option!("(?:-u|--user)", r#"[^\s,"'\\]{1,80},([^\s"'\\]+)"#),
    ),
    // A name, then its password.
    command(
        &[
            "http-basic.",
            "radtest",
            "weka user login",
            "wpa_passphrase",
            "civo apikey save",
            "civo apikey add",
        ],
        concat!(
            r#"^[A-Za-z0-9_-]{0,80}(?:[ \t]|\\*"\s*,\s*\\*")+\\*["']?[^\s"'\\-][^\s"'\\]{0,120}"#,
            r#"(?:["'\s\\,])+([^\s"'\\-][^\s"'\\]{5,200})"#
        ),
    ),
    command(
        &["etcdctl"],
        option!("--user", r#"[^\s:"'\\]{1,80}:([^\s"'\\]+)"#),
    ),
    command(
        &["ipmitool", "ipmi-", "ipmipower"],
        option!(r"(?:-P|-p(?:assword)?\b)", r#"([^\s"'\\-][^\s"'\\]{2,})"#),
    ),
    command(
        &["sqlcmd", "isql ", "osql ", "bcp "],
        option!("-P", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    command(
        &["ssh-keygen"],
        option!("-[NP]", r#"([^\s"'\\-][^"'\\\n]*?)(?:["'\\\s]|$)"#),
    ),
    command(
        &["mongo "],
        option!("(?:-p|--password)", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    command(
        &[
            "http -",
            "https -",
            "http get ",
            "http post ",
            "http put ",
            "http delete ",
            "http patch ",
        ],
        option!("(?:-a|--auth)", r#"[^\s:"'\\]{1,80}:([^\s"'\\]+)"#),
    ),
    command(
        &["curl"],
        option!(
            "(?:-b|--cookie)",
            r#"[^\s"'\\;=]{1,80}=([^"'\\\n]{3,}?)(?:["'\\]|\s-|$)"#
        ),
    ),
    command(
        &["xfreerdp", "wlfreerdp", "mstsc"],
        r#"(?:\s|")/p(?:assword)?:\\*["']?([^\s"'\\]{3,200})"#,
    ),
    command(
        &["put-parameter"],
        option!("--value", r#"([^\s"'\\-][^\s"'\\]*)"#),
    ),
    // What is typed: `sudo -S <<< x`, `chpasswd <<< 'bob:x'`.
    command(
        &["sudo -s", "sudo -ks", "cryptsetup", "vncpasswd"],
        r#"<<<\s*\\*["']?([^\s"'\\$][^\s"'\\]{2,200})"#,
    ),
    command(
        &["chpasswd"],
        r#"<<<\s*\\*["']?[^\s:"'\\]{1,64}:([^\s"'\\$][^\s"'\\]{2,200})"#,
    ),
];

/// Adds the secrets that a command is told.
pub(super) fn options(
    text: &str,
    hint: Range<usize>,
    number: usize,
    patterns: &[Pattern],
    found: &mut Vec<Range<usize>>,
) {
    let Some(pattern) = patterns.get(number) else {
        return;
    };
    if starts_inside_word(text, hint.start) {
        return;
    }
    // What ends a hint may begin the first option.
    let name = text[hint.clone()].trim_end_matches([' ', '-']);
    let from = hint.start + name.len();
    let mut near = (from + LONGEST).min(text.len());
    while !text.is_char_boundary(near) {
        near -= 1;
    }
    let words = &text[from..near];
    let end = words.find(['\n', '|', ';']).unwrap_or(words.len());
    let Some(pattern) = pattern.regex() else {
        found.push(from..from + end);
        return;
    };
    for option in pattern.captures_iter(&words[..end]) {
        let Some(secret) = option.get(1) else {
            continue;
        };
        if !names_no_secret(secret.as_str()) && !is_path(secret.as_str()) {
            found.push(from + secret.start()..from + secret.end());
        }
    }
}
