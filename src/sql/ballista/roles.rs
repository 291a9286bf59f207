//! The scheduler and the executors.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ballista_core::RuntimeProducer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::execution::SessionState;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use whathappened_store::Table;

use super::codec::Codec;
use super::ending::Engine;
use super::{MESSAGE, client};
use crate::case::Rules;
use crate::error::Error;
use crate::sql::StoredTables;
use crate::sql::stored::{Lakes, Reading};

/// Seconds after which an executor that says nothing is gone, and its work is another's.
const GONE: u64 = 15;
/// How often executors say that they are there, and how often it is looked, in seconds.
const HEARTBEAT: u64 = 3;
/// How long the rows of a statement wait to be fetched, in seconds.
const RETENTION_S: u64 = 300;
/// How long an executor waits for its scheduler to be there, in seconds.
const PATIENCE: u16 = 120;

/// The scheduler: it deals out work and reads nothing itself.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The name by which executors and clients reach it.
    pub host: String,
}

/// An executor: it reads one lake.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The scheduler, `df://HOST:PORT`.
    pub scheduler: String,
    /// Where others fetch rows.
    pub listen: SocketAddr,
    /// The name by which the scheduler and other executors reach it.
    pub host: String,
    /// Tasks at once.
    pub tasks: usize,
    /// Memory for sorts and joins of all tasks.
    pub memory: u64,
    /// The index of the lake.
    pub index: PathBuf,
    /// What explains records, which reading needs no more than the name of.
    pub rules: Arc<Rules>,
    /// Where rows between two steps lie.
    pub work: PathBuf,
}

fn failed(error: &ballista_core::error::BallistaError) -> Error {
    Error::halted(
        format!("Ballista: {error}"),
        "see: whathappened ballista --help",
    )
}

/// Functions of values as statements know them.
fn state(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let mut context = SessionContext::new_with_config(config);
    datafusion_functions_json::register_all(&mut context)?;
    Ok(context.state())
}

/// What plans find on an executor: room for sorts and joins, and no file of the machine.
fn runtime(work: &Path) -> datafusion::error::Result<Arc<RuntimeEnv>> {
    let runtime = RuntimeEnvBuilder::new()
        .with_temp_file_path(work)
        .build_arc()?;
    let files = ObjectStoreUrl::local_filesystem();
    let _unused = runtime
        .object_store_registry
        .deregister_store(files.as_ref())?;
    Ok(runtime)
}

/// An address before a colon and a port.
fn in_url(listen: SocketAddr) -> String {
    match listen {
        SocketAddr::V4(listen) => listen.ip().to_string(),
        SocketAddr::V6(listen) => format!("[{}]", listen.ip()),
    }
}

/// Message sizes as Ballista wants them.
fn message() -> u32 {
    u32::try_from(MESSAGE).unwrap_or(u32::MAX)
}

impl Scheduler {
    /// Runs until it is ended.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn run(self) -> Result<(), Error> {
        let config = SchedulerConfig {
            external_host: self.host,
            bind_host: in_url(self.listen),
            bind_port: self.listen.port(),
            // Ballista 55 forgets the free places of executors that it hands tasks to, where a job
            // is cancelled or an executor is lost; those that fetch work know their own.
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            finished_job_data_clean_up_interval_seconds: RETENTION_S,
            finished_job_state_clean_up_interval_seconds: RETENTION_S,
            enable_embedded_flight_proxy: true,
            grpc_server_max_decoding_message_size: message(),
            grpc_server_max_encoding_message_size: message(),
            grpc_client_max_message_size: message(),
            executor_timeout_seconds: GONE,
            expire_dead_executor_interval_seconds: HEARTBEAT,
            no_executors_grace_period_seconds: GONE,
            override_session_builder: Some(Arc::new(state)),
            override_physical_codec: Some(Arc::new(Codec::passing())),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config)
            .await
            .map_err(|error| failed(&error))?;
        start_server(cluster, self.listen, Arc::new(config))
            .await
            .map_err(|error| failed(&error))
    }
}

impl Executor {
    /// Runs until it is ended.
    ///
    /// # Errors
    /// When it cannot listen, or its scheduler is not there.
    pub async fn run(self) -> Result<(), Error> {
        let wrong = |why: String| Error::misused(why, "write df://HOST:PORT");
        let scheduler = client::address(&self.scheduler)?;
        let engine = Engine::of(&scheduler)?;
        let scheduler = scheduler.trim_start_matches("http://");
        let (host, port) = scheduler
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)))
            .ok_or_else(|| wrong(format!("{scheduler} is not an address")))?;
        let lake = whathappened_store::lake::of(&self.index).ok_or_else(|| {
            Error::misused(
                "an executor reads a lake",
                "name it with --store, such as s3://bucket/folder",
            )
        })?;
        let lakes = OneLake {
            lake,
            index: self.index,
            rules: self.rules,
            following: Mutex::new(()),
        };
        let work = self.work.clone();
        let runtime: RuntimeProducer = Arc::new(move |_| runtime(&work));
        let functions = BallistaFunctionRegistry::from(&state(SessionConfig::new())?);
        let config = ExecutorProcessConfig {
            bind_host: in_url(self.listen),
            external_host: Some(self.host),
            port: self.listen.port(),
            scheduler_host: host,
            scheduler_port: port,
            scheduler_connect_timeout_seconds: PATIENCE,
            vcores: self.tasks,
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(self.work.display().to_string()),
            job_data_ttl_seconds: 2 * RETENTION_S,
            job_data_clean_up_interval_seconds: RETENTION_S,
            grpc_max_decoding_message_size: message(),
            grpc_max_encoding_message_size: message(),
            executor_heartbeat_interval_seconds: HEARTBEAT,
            memory_pool_size: Some(self.memory),
            override_execution_engine: Some(Arc::new(engine)),
            override_runtime_producer: Some(runtime),
            override_function_registry: Some(Arc::new(functions)),
            override_physical_codec: Some(Arc::new(Codec::reading(Arc::new(lakes)))),
            ..ExecutorProcessConfig::default()
        };
        start_executor_process(Arc::new(config))
            .await
            .map_err(|error| failed(&error))
    }
}

/// The lake that an executor was started for: it reads no other, whatever a plan names.
#[derive(Debug)]
struct OneLake {
    lake: String,
    index: PathBuf,
    rules: Arc<Rules>,
    following: Mutex<()>,
}

impl Lakes for OneLake {
    fn open(&self, reading: &Reading) -> Result<Arc<StoredTables>, Error> {
        if reading.lake.trim_end_matches('/') != self.lake.trim_end_matches('/') {
            return Err(Error::halted(
                format!(
                    "the statement is over {}, and this executor reads {}",
                    reading.lake, self.lake
                ),
                "start executors with the --store that statements name",
            ));
        }
        let stored = || {
            let stored = StoredTables::new(self.index.clone(), Arc::clone(&self.rules));
            stored.seen_by(reading.access.clone())
        };
        let _alone = self
            .following
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = stored().look(|snapshot| {
            Ok([Table::Events, Table::Objects].map(|table| snapshot.lake_version(table)))
        })?;
        if known
            .iter()
            .zip(&reading.versions)
            .any(|(known, wanted)| known < wanted)
        {
            whathappened_store::lake::follow(&self.index)?;
        }
        Ok(Arc::new(stored()))
    }
}
