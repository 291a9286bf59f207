//! `whathappened completions`

use clap::CommandFactory as _;

use super::common;
use crate::error::Error;

/// Writes shell completions to standard output
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Writes the completions.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    // The generator panics where it cannot write, which memory always takes.
    let mut text = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut crate::cli::Cli::command(),
        "whathappened",
        &mut text,
    );
    common::print(&String::from_utf8_lossy(&text))
}
