//! `whathappened rules`: the rules that verdicts come from, in the open.

mod columns;
mod list;
mod new;
mod show;
mod test;
mod user_rules;

use std::path::PathBuf;

pub use self::test::{FailedExample, Report, check};
use self::user_rules::UserRules;
use crate::cli::OutputArgs;
use crate::config::Config;
use crate::error::Error;

/// Lists, prints, tests and starts rules
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The action to perform.
    #[command(subcommand)]
    pub verb: RulesCommand,
}

/// Where more rules come from.
#[derive(clap::Args, Clone, Debug)]
pub struct FolderArgs {
    /// Folder with your own rules: *.sql for causes, with *.yaml examples beside them, *.toml for signals.
    ///
    /// By default the `rules` folder of the configuration.
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
pub enum RulesCommand {
    /// Lists all causes, furthest upstream first
    List {
        /// List all signals instead: what records can mean.
        #[arg(long)]
        signals: bool,
        /// Your own rules.
        #[command(flatten)]
        folder: FolderArgs,
        /// Output format.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Prints one rule and its examples
    Show {
        /// A cause (sched.preempted), a signal (k8s.pod.preempted) or a file.
        #[arg(value_name = "NAME")]
        name: String,
        /// Your own rules.
        #[command(flatten)]
        folder: FolderArgs,
    },
    /// Prints the tables that rules read, and the placeholders of their summaries
    Columns {
        /// Output format.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Writes the two files of a new rule, with comments, into your folder of rules
    New {
        /// The cause: two words with a dot between, as in lab.repair.
        #[arg(value_name = "CAUSE")]
        cause: String,
        /// Your own rules.
        #[command(flatten)]
        folder: FolderArgs,
    },
    /// Runs the examples of rules: those of your own folder, else of every rule
    Test {
        /// Only test these causes, signals or files.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Also test the built-in rules, which takes minutes, where there is a folder of your own.
        #[arg(long)]
        all: bool,
        /// Your own rules.
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
        RulesCommand::List {
            signals,
            folder,
            output,
        } => list::run(
            &UserRules::read(folder.folder()?.as_deref())?,
            *signals,
            output,
        ),
        RulesCommand::Show { name, folder } => {
            show::run(&UserRules::read(folder.folder()?.as_deref())?, name)
        }
        RulesCommand::Columns { output } => columns::run(output),
        RulesCommand::New { cause, folder } => {
            let folder = folder.folder()?;
            // The first rule makes the folder.
            let known = folder.as_deref().filter(|folder| folder.exists());
            new::run(&UserRules::read(known)?, folder.as_deref(), cause)
        }
        RulesCommand::Test { names, all, folder } => {
            let own = UserRules::read(folder.folder()?.as_deref())?;
            let names = match names.is_empty() && !all {
                true => own.files(),
                false => names.clone(),
            };
            test::run(&own, &names).await
        }
    }
}
