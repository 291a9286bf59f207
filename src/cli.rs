//! What can be typed.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    accuracy, batch, collect, completions, doctor, experiments, explain, import, init, man, node,
    question, rules, serve, sql, statement, store, upcoming,
};

/// Says what happened to a training run: which pod died first, who or what
/// killed it, the evidence, and what could not be seen.
///
/// The name may be a label value (experiment, job-name, …), the name of a Job,
/// JobSet, PyTorchJob or other workload, a pod, the stem of pod names, or
/// kind/[namespace/]name. `*` asks about everything.
#[derive(Debug, Parser)]
#[command(
    name = "whathappened",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Cli {
    /// What to do, where it is not a question.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The question.
    #[command(flatten)]
    pub question: question::Args,
}

/// Exit codes, for `--help`, the manual page and the README.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  answered (whatever the answer is)
  1  something failed: a file, a rule, a statement, the store; of `import`: a PATH could
     not be read, and the rest is kept
  2  the command line is wrong, or nothing could be read
  3  no experiment, workload, pod or machine matches the name, or the options leave nothing
  4  `rules test`, `accuracy`, `doctor` or `store` found something wrong
  5  `upcoming`: something is announced
  6  `upcoming`: no source that announces anything could be read
 70  the program itself is broken; please report it";

/// Everything that is not a question.
#[derive(Debug, Subcommand)]
pub enum Command {
    Experiments(experiments::Args),
    Sql(sql::Args),
    Import(import::Args),
    Collect(collect::Args),
    Serve(serve::Args),
    Node(node::Args),
    #[command(hide = true)]
    Statement(statement::Args),
    Upcoming(upcoming::Args),
    Explain(explain::Args),
    Store(store::Args),
    Doctor(doctor::Args),
    Init(init::Args),
    Rules(rules::Args),
    Accuracy(accuracy::Args),
    Batch(batch::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Where records come from: what `--from` names, else the store, after the
/// clusters of the kubeconfig and the configured log stores were asked.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// File, folder or archive to read, `-` for standard input; may be given several times.
    ///
    /// Recognised by content: kubectl get -o json|yaml, kubectl get, describe,
    /// logs and events as text, watch and NDJSON streams, audit logs,
    /// must-gather, troubleshoot and sonobuoy archives, container logs, Loki
    /// query_range answers; also inside .gz .zst .tar .zip. Nothing else is
    /// asked then, and nothing is kept.
    #[arg(long = "from", value_name = "PATH")]
    pub from: Vec<String>,
    #[command(flatten)]
    pub kept: KeptArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Folder with rules of your own: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// Say nothing about progress and what was read.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What was collected before.
#[derive(Args, Clone, Debug)]
pub struct KeptArgs {
    /// Folder of the store.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_STORE")]
    pub store: Option<std::path::PathBuf>,
    /// Configuration file; `whathappened init` writes one.
    #[arg(long, value_name = "FILE", env = "WHATHAPPENED_CONFIG")]
    pub config: Option<std::path::PathBuf>,
}

/// Clusters and log stores that are asked.
#[derive(Args, Clone, Debug)]
pub struct LiveArgs {
    /// Ask nobody; only what is stored.
    #[arg(long)]
    pub no_fetch: bool,
    /// How much to read of logs, from clusters and log stores.
    ///
    /// usual: what surrounds deaths, first and last lines of pods, and lines that
    /// tell something; all: everything, up to a limit; none: nothing.
    #[arg(long, value_name = "WHICH")]
    pub logs: Option<crate::config::Wanted>,
    /// Context of the kubeconfig, `all` for every one; may be given several times.
    #[arg(long = "context", value_name = "CONTEXT")]
    pub contexts: Vec<String>,
    /// Kubeconfig to use instead of `$KUBECONFIG` or `~/.kube/config`.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<std::path::PathBuf>,
    /// Namespace to look into where the whole cluster may not be listed; may be given several times.
    #[arg(long = "namespace", short = 'n', value_name = "NAMESPACE")]
    pub namespaces: Vec<String>,
    /// How long to wait for clusters, such as 30s or 2m; with sql also how long one
    /// statement may take, 5m where nothing is said.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

/// How the answer is written.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// table, json, ndjson, md, csv (RFC 4180: lines end in CRLF) or parquet.
    #[arg(long, default_value = "table", value_name = "FORMAT")]
    pub format: crate::render::Format,
    /// Zone that times are shown and read in: utc, local, an offset such as +02:00,
    /// or a name such as Europe/Berlin.
    #[arg(long, default_value = "utc", value_name = "ZONE")]
    pub tz: crate::render::Tz,
    /// Columns to fill; the terminal's width by default.
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
    /// Colours: auto, always or never. `NO_COLOR` is respected.
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: clap::ColorChoice,
    /// Write straight to the terminal; else `$PAGER`, or less, shows what is longer than it.
    #[arg(long)]
    pub no_pager: bool,
}

/// The formats of verbs that have no rows: `--format` offers no other.
#[must_use]
pub fn table_or_json(format: clap::Arg) -> clap::Arg {
    use clap::builder::TypedValueParser as _;
    let names = clap::builder::PossibleValuesParser::new(["table", "json"]);
    format
        .help("How it is written")
        .value_parser(names.try_map(|name| name.parse::<crate::render::Format>()))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn a_verb_offers_the_formats_that_it_has() {
        let parse = |line: &str| super::Cli::try_parse_from(line.split(' ')).map(|_| ());
        for verb in ["node x", "upcoming x", "doctor", "accuracy fixtures"] {
            parse(&format!("whathappened {verb} --format json")).unwrap();
            let told = parse(&format!("whathappened {verb} --format csv")).unwrap_err();
            assert!(
                told.to_string().contains("[possible values: table, json]"),
                "{told}"
            );
        }
        parse("whathappened experiments --format csv").unwrap();
    }

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
