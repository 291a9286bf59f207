//! `whathappened completions`

use clap::CommandFactory as _;

/// Writes the completions of a shell to standard output
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Writes the completions.
pub fn run(args: &Args) {
    clap_complete::generate(
        args.shell,
        &mut crate::cli::Cli::command(),
        "whathappened",
        &mut std::io::stdout().lock(),
    );
}
