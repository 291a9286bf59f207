//! What can be typed.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    accuracy, batch, collect, completions, doctor, experiments, explain, import, init, man, node,
    question, report, rules, serve, sql, statement, store, upcoming,
};

/// Explains what happened to a training run: which pod died first, who or what killed it, the
/// evidence, and which data is missing.
///
/// The name may be a label value (experiment, job-name, …), the name of a Job,
/// JobSet, PyTorchJob or other workload, a pod, the stem of pod names, or kind/[namespace/]name.
/// `*` selects everything.
#[derive(Debug, Parser)]
#[command(
    name = "whathappened",
    version,
    long_version = long_version(),
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Cli {
    /// The command to run, if it is not a question.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The question to answer.
    #[command(flatten)]
    pub question: question::Args,
}

/// What `--version` says, for as long as the program runs.
fn long_version() -> &'static str {
    static TEXT: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(crate::commands::features::version);
    &TEXT
}

/// Exit codes, for `--help`, the manual page and the README.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  the question was answered, whatever the answer is
  1  something failed: a file, a rule, a statement or the store; with `import`, a PATH could
     not be read, and the rest was imported
  2  invalid command line, or nothing could be read or used
  3  no experiment, workload, pod or machine matches the name, or the options exclude everything
  4  `rules test`, `accuracy`, `doctor` or `store` found a problem
  5  `upcoming`: something is announced
  6  `upcoming`: no source of announcements could be read, or a calendar only in part, or no
     record names the machine
 70  a bug in whathappened; please report it";

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
    #[cfg(feature = "distributed")]
    Ballista(crate::commands::ballista::Args),
    Upcoming(upcoming::Args),
    Report(report::Args),
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
    /// The format is detected from the content: kubectl get -o json|yaml, kubectl get, describe,
    /// logs and events as text, watch and NDJSON streams, audit logs,
    /// must-gather, troubleshoot and sonobuoy archives, container logs,
    /// exports of log stores; also inside .gz .zst .tar .zip. No live source is queried then, and
    /// nothing is stored.
    #[arg(long = "from", value_name = "PATH")]
    pub from: Vec<String>,
    #[command(flatten)]
    pub stored: StoreArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Folder with your own rules: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
    /// The longest time to spend reading what --from names, such as 30s or 2h; 10m by default. The answer
    /// and its coverage say what was left unread.
    #[arg(long, value_name = "TIME")]
    pub max_read_time: Option<String>,
    /// Do not report progress or what was read.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What was collected before.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Folder that holds the store.
    #[cfg_attr(
        feature = "lake",
        doc = "\nOr a lake that answers: `s3://bucket/folder`, gs://…, az://…, or its folder."
    )]
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_STORE")]
    pub store: Option<std::path::PathBuf>,
    /// Configuration file; `whathappened init` writes one.
    #[arg(long, value_name = "FILE", env = "WHATHAPPENED_CONFIG")]
    pub config: Option<std::path::PathBuf>,
}

/// Clusters and log stores that are asked.
#[derive(Args, Clone, Debug)]
pub struct LiveArgs {
    /// Answer from the store without querying live sources.
    #[arg(long)]
    pub no_fetch: bool,
    /// Which log lines to read from clusters and log stores.
    #[arg(long, value_name = "WHICH")]
    pub logs: Option<crate::config::LogDepth>,
    /// Context of the kubeconfig, or `all` for all of them; may be given several times.
    #[arg(long = "context", value_name = "CONTEXT")]
    pub contexts: Vec<String>,
    /// Kubeconfig to use instead of `$KUBECONFIG` or `~/.kube/config`.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<std::path::PathBuf>,
    /// Namespace to read if you are not allowed to list the whole cluster; may be given several times.
    #[arg(long = "namespace", short = 'n', value_name = "NAMESPACE")]
    pub namespaces: Vec<String>,
    /// How long to wait for clusters, log stores, metrics and clouds altogether, such as 30s or 2m; 60s by
    /// default. For sql, also how long one statement may take; 5m by default.
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

/// How the answer is written.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Output format: table, json, ndjson, md, html (one page that needs no network), csv (RFC 4180: lines end in CRLF)
    /// or parquet.
    #[arg(long, default_value = "table", value_name = "FORMAT")]
    pub format: crate::render::Format,
    /// Time zone for displayed and typed times: utc, local, an offset such as +02:00, or a name
    /// such as Europe/Berlin.
    #[arg(long, default_value = "utc", value_name = "ZONE")]
    pub tz: crate::render::Tz,
    /// Output width in columns; the terminal's width by default.
    #[arg(long, value_name = "COLUMNS", value_parser = columns)]
    pub width: Option<usize>,
    /// When to use colours: auto, always or never. `NO_COLOR` is respected.
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: clap::ColorChoice,
    /// Do not page the output. By default, output that is longer than the terminal is shown in `$PAGER` or less.
    #[arg(long)]
    pub no_pager: bool,
}

impl OutputArgs {
    /// A time of a list as people read it: in the zone asked for. What programs read stays in UTC.
    #[must_use]
    pub fn shown(&self, time: Option<String>) -> Option<String> {
        use crate::render::{Format, Tz};
        let for_people = matches!(self.format, Format::Table | Format::Md | Format::Html);
        if self.tz == Tz::Utc || !for_people {
            return time;
        }
        time.map(|time| self.tz.rfc3339(&time))
    }
}

/// A width as typed.
fn columns(text: &str) -> Result<usize, &'static str> {
    text.parse()
        .map_err(|_| "write a number of columns, such as 100")
}

/// The formats of verbs that have no rows: `--format` offers no other.
#[must_use]
pub fn table_or_json(format: clap::Arg) -> clap::Arg {
    one_of(format, &["table", "json"])
}

/// The formats of a report.
#[must_use]
pub fn report_formats(format: clap::Arg) -> clap::Arg {
    one_of(format, &["table", "json", "md", "html", "slack"])
}

fn one_of(format: clap::Arg, names: &'static [&'static str]) -> clap::Arg {
    use clap::builder::TypedValueParser as _;
    let names = clap::builder::PossibleValuesParser::new(names);
    format
        .help("Output format")
        .value_parser(names.try_map(|name| match name.as_str() {
            // Only reports have it, so that it is no format that others would read.
            "slack" => Ok(crate::render::Format::Slack),
            name => name.parse::<crate::render::Format>(),
        }))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn a_verb_offers_the_formats_that_it_has() {
        let parse = |line: &str| super::Cli::try_parse_from(line.split(' ')).map(|_| ());
        for verb in ["node x", "upcoming x", "doctor", "accuracy fixtures"] {
            parse(&format!("whathappened {verb} --format json")).unwrap();
            let reported = parse(&format!("whathappened {verb} --format csv")).unwrap_err();
            assert!(
                reported
                    .to_string()
                    .contains("[possible values: table, json]"),
                "{reported}"
            );
        }
        parse("whathappened experiments --format csv").unwrap();
    }

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
