//! `whathappened rules`: the rules that verdicts come from, in the open.

mod list;
mod own;
mod show;
mod test;

use std::path::PathBuf;

use self::own::Own;
pub use self::test::{Report, Wrong, check};
use crate::cli::OutputArgs;
use crate::config::Config;
use crate::error::Error;

/// Lists, prints and tests the rules
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Where more rules come from.
#[derive(clap::Args, Clone, Debug)]
pub struct FolderArgs {
    /// Folder with rules of your own: *.sql for causes, with *.yaml examples beside them, *.toml for signals.
    ///
    /// The configuration's `rules` where it is not given.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<PathBuf>,
    /// Configuration file; `whathappened init` writes one.
    #[arg(long, value_name = "FILE", env = "WHATHAPPENED_CONFIG")]
    pub config: Option<PathBuf>,
}

impl FolderArgs {
    /// The folder that is given, else the configured one.
    fn folder(&self) -> Result<Option<PathBuf>, Error> {
        match &self.rules {
            Some(folder) => Ok(Some(folder.clone())),
            None => Ok(Config::load(self.config.as_deref())?.rules),
        }
    }
}

/// What can be done with rules.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Verb {
    /// All causes, furthest upstream first
    List {
        /// All signals instead: what records can mean.
        #[arg(long)]
        signals: bool,
        /// Rules of your own.
        #[command(flatten)]
        folder: FolderArgs,
        /// How the list is written.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// The text of one rule and its examples
    Show {
        /// A cause (sched.preempted), a signal (k8s.pod.preempted) or a file.
        #[arg(value_name = "NAME")]
        name: String,
        /// Rules of your own.
        #[command(flatten)]
        folder: FolderArgs,
    },
    /// Runs every example of every rule
    Test {
        /// Only these causes, signals or files.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Rules of your own.
        #[command(flatten)]
        folder: FolderArgs,
    },
}

/// Does what was asked.
///
/// # Errors
/// A rule that cannot be used, a name that no rule bears, an example that does
/// not come out as written.
pub async fn run(args: &Args) -> Result<(), Error> {
    match &args.verb {
        Verb::List {
            signals,
            folder,
            output,
        } => list::run(&Own::read(folder.folder()?.as_deref())?, *signals, output),
        Verb::Show { name, folder } => show::run(&Own::read(folder.folder()?.as_deref())?, name),
        Verb::Test { names, folder } => {
            test::run(&Own::read(folder.folder()?.as_deref())?, names).await
        }
    }
}
