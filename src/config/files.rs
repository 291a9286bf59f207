//! Files that a configuration names.

use std::path::Path;

use super::error::ConfigError;

/// Fields that name a file which is read as it is.
const FIELDS: [&str; 9] = [
    "token_file",
    "secret_file",
    "bearer_token_file",
    "ca_cert",
    "ca_cert_path",
    "client_cert_path",
    "client_key_path",
    "kubeconfig",
    "rules",
];

/// Those that cannot be read, in order of their lines, and whether only the service reads them.
pub(super) fn unreadable(text: &str) -> Vec<(bool, ConfigError)> {
    let mut flaws = Vec::new();
    let mut section = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with('[') {
            line.trim_matches(['[', ']', ' ']).clone_into(&mut section);
            continue;
        }
        // Each line is a field of its own where nobody writes tables on one line.
        let Ok(table) = line.parse::<toml::Table>() else {
            continue;
        };
        for (field, value) in &table {
            let path = value.as_str().filter(|_| FIELDS.contains(&field.as_str()));
            let Some(path) = path else {
                continue;
            };
            let Err(error) = std::fs::metadata(Path::new(path)) else {
                continue;
            };
            let place = match section.as_str() {
                "" => String::new(),
                section => format!(" of [{section}]"),
            };
            let why = format!("{field} = {path:?}{place} cannot be read: {error}");
            let is_served = section == "serve" || section.starts_with("serve.");
            let flaw = ConfigError::at(text, number, why);
            flaws.push((
                is_served,
                flaw.with_hint("create the file, or name another one"),
            ));
        }
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_told_with_line_and_field() {
        let text = "# mine\n[loki]\nbearer_token_file = '/nonexistent/a'\n[[serve.caller]]\nname = 'a'\ntoken_file = \"/nonexistent/b\"\n[serve.hooks.generic]\ntoken_file = '/dev/null'\n";
        let all: Vec<(bool, String)> = unreadable(text)
            .into_iter()
            .map(|(is_served, flaw)| (is_served, flaw.to_string()))
            .collect();
        let [(false, one), (true, other)] = &all[..] else {
            panic!("{all:?}");
        };
        let reported = "line 3: bearer_token_file = \"/nonexistent/a\" of [loki]";
        assert!(one.starts_with(reported), "{one}");
        assert!(other.starts_with("line 6: token_file"), "{other}");
    }
}
