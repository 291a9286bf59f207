//! `whathappened ballista`

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::Arc;

use super::{common, settings};
use crate::case::Rules;
use crate::cli::StoreArgs;
use crate::config::parse_size;
use crate::error::Error;
use crate::sql::{Executor, Scheduler};

/// Runs statements over a lake on several machines: one scheduler, any number of executors
///
/// Neither asks who calls: whoever reaches their ports reads the lake. Let only the service and
/// each other reach them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// What this process is.
    #[command(subcommand)]
    pub role: Role,
}

/// Scheduler or executor.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Role {
    /// Deals out the work; `--ballista` and `[store] ballista` name it.
    Scheduler(SchedulerArgs),
    /// Reads the lake and does the work.
    Executor(ExecutorArgs),
}

/// The scheduler.
#[derive(clap::Args, Clone, Debug)]
pub struct SchedulerArgs {
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50050")]
    pub listen: String,
    /// Name or address by which others reach it; that of --listen by default.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
}

/// An executor.
#[derive(clap::Args, Clone, Debug)]
pub struct ExecutorArgs {
    /// The scheduler, df://HOST:PORT.
    #[arg(long, value_name = "URL", default_value = "df://127.0.0.1:50050")]
    pub scheduler: String,
    /// Address to listen on, for whoever fetches rows.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50051")]
    pub listen: String,
    /// Name or address by which others reach it; that of --listen by default.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Tasks at once; as many as there are processors by default.
    #[arg(long, value_name = "COUNT")]
    pub tasks: Option<usize>,
    /// Memory for sorts and joins of each task, such as 512MiB; more goes to disk.
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub max_memory: String,
    /// Folder for rows between two steps of a statement; a temporary one by default.
    #[arg(long, value_name = "FOLDER")]
    pub work: Option<PathBuf>,
    #[command(flatten)]
    pub stored: StoreArgs,
}

/// Runs until it is ended.
///
/// # Errors
/// When it cannot listen, or there is no lake.
pub async fn run(args: &Args) -> Result<(), Error> {
    match &args.role {
        Role::Scheduler(args) => {
            let listen = address(&args.listen)?;
            let host = host(args.host.as_deref(), listen)?;
            note!("Ballista's scheduler on {listen}");
            Scheduler { listen, host }.run().await
        }
        Role::Executor(args) => executor(args).await,
    }
}

async fn executor(args: &ExecutorArgs) -> Result<(), Error> {
    let config = settings::of_store(&args.stored)?;
    if config.store.index_of.is_none() {
        return Err(Error::misused(
            "an executor reads a lake",
            "name it with --store, such as s3://bucket/folder",
        ));
    }
    let listen = address(&args.listen)?;
    let memory = parse_size(&args.max_memory).filter(|size| *size > 0);
    let memory = memory.ok_or_else(|| {
        Error::misused(
            format!("--max-memory {} is not valid", args.max_memory),
            "write a value such as 512MiB or 4GiB",
        )
    })?;
    let tasks = match args.tasks {
        Some(tasks) => tasks.max(1),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let failed = |error| Error::Io {
        path: "the folder for rows between two steps".to_owned(),
        error,
    };
    let temporary = tempfile::tempdir().map_err(failed)?;
    let work = match &args.work {
        Some(work) => work.clone(),
        None => temporary.path().to_owned(),
    };
    note!("An executor of {} on {listen}", args.scheduler);
    let executor = Executor {
        scheduler: args.scheduler.clone(),
        listen,
        host: host(args.host.as_deref(), listen)?,
        tasks,
        memory: memory.saturating_mul(tasks as u64),
        index: config.store_path()?,
        rules: Arc::new(Rules::load(&common::own_rules(config.rules.as_deref())?)?),
        work,
    };
    executor.run().await
}

/// The name by which others reach this process.
fn host(named: Option<&str>, listen: SocketAddr) -> Result<String, Error> {
    match (named, listen) {
        (Some(named), _) => Ok(named.to_owned()),
        (None, _) if listen.ip().is_unspecified() => Err(Error::misused(
            format!("--listen {listen} does not say how others reach this process"),
            "name it with --host",
        )),
        (None, SocketAddr::V4(_)) => Ok(listen.ip().to_string()),
        (None, SocketAddr::V6(_)) => Ok(format!("[{}]", listen.ip())),
    }
}

fn address(named: &str) -> Result<SocketAddr, Error> {
    let found = named.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        Error::misused(
            format!("--listen {named} is not an address"),
            "write HOST:PORT, such as 0.0.0.0:50050",
        )
    })
}
