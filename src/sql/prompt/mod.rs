//! Asks a person for statements: history, completion, several lines.

mod command;
mod complete;
mod lines;

use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

pub(crate) use self::command::type_name;
pub use self::command::{Command, HELP};
pub(super) use self::command::{columns, tables};
use self::complete::Completions;
use self::lines::PromptHelper;
use super::Session;

/// What stands before a line.
const PROMPT: &str = "sql> ";

/// A prompt with its history.
pub struct Prompt {
    editor: Editor<PromptHelper, DefaultHistory>,
    history: Option<PathBuf>,
}

impl std::fmt::Debug for Prompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt")
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

/// What a person did at the prompt.
#[derive(Debug)]
pub enum PromptInput {
    /// Statements, or a command.
    Text(String),
    /// Wants to go.
    End,
}

impl Prompt {
    /// A prompt that completes what a session knows.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new(session: &Session, data_folder: Option<&Path>) -> std::io::Result<Self> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .build();
        let mut editor = Editor::with_config(config).map_err(std::io::Error::other)?;
        editor.set_helper(Some(PromptHelper::new(Completions::of(session))));
        let history = data_folder.map(|folder| folder.join("whathappened").join("history"));
        if let Some(history) = &history {
            // The first time there is none; without one the prompt works as well.
            let _none = editor.load_history(history);
        }
        Ok(Self { editor, history })
    }

    /// Waits for statements that end with a semicolon, or for a command.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub fn ask(&mut self) -> std::io::Result<PromptInput> {
        loop {
            match self.editor.readline(PROMPT) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    self.keep(text.trim());
                    return Ok(PromptInput::Text(text));
                }
                // Ctrl-C clears what was typed.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(PromptInput::End),
                Err(error) => return Err(std::io::Error::other(error)),
            }
        }
    }

    /// Keeps a text at once, so that a killed session loses nothing.
    fn keep(&mut self, text: &str) {
        let is_new = self.editor.add_history_entry(text).unwrap_or(false);
        let Some(history) = self.history.as_ref().filter(|_| is_new) else {
            return;
        };
        let made = history.parent().map_or(Ok(()), std::fs::create_dir_all);
        // A history that cannot be kept must not stop anyone from asking.
        let _kept = made.is_ok() && self.editor.append_history(history).is_ok();
    }
}

/// The user's data folder.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let absolute = folder("XDG_DATA_HOME").filter(|path| path.is_absolute());
    absolute.or_else(|| folder("HOME").map(|home| home.join(".local").join("share")))
}
