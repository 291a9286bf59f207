//! Shows what is longer than the terminal in a pager, as git does.

use std::io::{self, IsTerminal as _, Write};
use std::process::{Command, Stdio};

use crate::cli::OutputArgs;
use crate::error::Error;
use crate::render::{Format, RenderError};

/// What is used where the person names no pager, and how: quit where all fits on one
/// screen, keep colours, leave the text there.
const USUAL: &str = "less";
const USUAL_OPTIONS: &str = "FRX";

/// Writes to a pager where a person reads at a terminal, else straight out.
///
/// # Errors
/// When it cannot be written; a person who has read enough is no error.
pub(super) fn show(
    output: &OutputArgs,
    write: impl FnOnce(&mut dyn Write) -> Result<(), RenderError>,
) -> Result<(), Error> {
    let is_read = io::stdout().is_terminal() && io::stdin().is_terminal();
    if !is_read || output.no_pager || output.format != Format::Table {
        let mut out = io::stdout().lock();
        write(&mut out)?;
        return out.flush().map_err(|error| RenderError::from(error).into());
    }
    let mut text = Vec::new();
    write(&mut text)?;
    let env = |name: &str| std::env::var(name).ok();
    if command(&env).is_some_and(|pager| paged(pager, &text)) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(&text).and_then(|()| out.flush());
    written.map_err(|error| RenderError::from(error).into())
}

/// Whether a pager showed a text: one that is not there did not.
fn paged(mut pager: Command, text: &[u8]) -> bool {
    // Ctrl-C is for the pager; without this it would end us and leave it alone.
    let stored = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    if stored.is_err() {
        return false;
    }
    let Ok(mut child) = pager.stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // Who has read enough closes it.
        let _written = input.write_all(text);
    }
    let ended = child.wait();
    !matches!(
        ended.map(|status| status.code()),
        Ok(Some(126 | 127)) | Err(_)
    )
}

/// The pager that the environment names; none where it names nothing or `cat`.
fn command(env: &dyn Fn(&str) -> Option<String>) -> Option<Command> {
    let named = env("PAGER").unwrap_or_else(|| USUAL.to_owned());
    let named = named.trim();
    if named.is_empty() || named == "cat" {
        return None;
    }
    // A pager may be named with options of its own.
    let mut command = Command::new("sh");
    command.arg("-c").arg(named);
    if env("LESS").is_none() {
        command.env("LESS", USUAL_OPTIONS);
    }
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_pager() {
        let named = |pager: Option<&str>, less: Option<&str>| {
            let env = |name: &str| match name {
                "PAGER" => pager.map(str::to_owned),
                _ => less.map(str::to_owned),
            };
            command(&env).map(|command| format!("{command:?}"))
        };
        assert!(named(None, None).unwrap().contains("\"less\""));
        assert!(named(None, None).unwrap().contains("FRX"));
        assert!(
            named(Some("most -s"), Some("R"))
                .unwrap()
                .contains("most -s")
        );
        assert!(!named(None, Some("R")).unwrap().contains("FRX"));
        assert_eq!(named(Some("cat"), None), None);
        assert_eq!(named(Some(""), None), None);
    }
}
