//! Gives plans to a scheduler, waits for them, fetches their rows, and ends those that nobody
//! waits for any more.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ballista_core::client::BallistaClient;
use ballista_core::extension::SessionConfigHelperExt as _;
use ballista_core::serde::protobuf::get_job_status_result::FlightProxy;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobStatusParams, PartitionLocation,
    execute_query_params, execute_query_result, job_status,
};
use ballista_core::version::insert_version_header;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use futures::{StreamExt as _, TryStreamExt as _};
use tonic::transport::{Channel, Endpoint};

use super::MESSAGE;
use crate::error::Error;
use crate::sql::rows::wrapped;

/// Where schedulers listen where nothing is said.
const PORT: u16 = 50_050;
/// How long a scheduler may take to answer.
const ANSWERS: Duration = Duration::from_secs(10);
/// How often it is asked how far a job is: soon at first, then seldom.
const SOONEST: Duration = Duration::from_millis(5);
const LATEST: Duration = Duration::from_millis(200);
/// How often rows are fetched again after a connection broke, and how long is waited before.
const RETRIES: u8 = 3;
const RETRY_MS: u64 = 500;

/// What Ballista says where the work of an executor that is gone is nobody else's.
const NONE_LEFT: &str = "all executors were lost";

/// The URL of a scheduler.
pub(super) fn address(named: &str) -> Result<String, Error> {
    let wrong = || {
        Error::misused(
            format!("{named} is not the address of a scheduler"),
            "write df://HOST:PORT",
        )
    };
    let rest = named.strip_prefix("df://").ok_or_else(wrong)?;
    let rest = rest.trim_end_matches('/');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
        _ => (rest, PORT),
    };
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || "-._[]:".contains(letter);
    if host.is_empty() || !host.chars().all(is_host) {
        return Err(wrong());
    }
    Ok(format!("http://{host}:{port}"))
}

fn failed(scheduler: &str, why: impl std::fmt::Display) -> Error {
    Error::halted(
        format!("Ballista at {scheduler} did not run the statement: {why}"),
        "look at the logs of its scheduler and executors, or run the statement without Ballista",
    )
}

fn late(timeout: Duration) -> Error {
    Error::halted(
        format!("the statement took longer than {} s", timeout.as_secs()),
        "narrow it with WHERE, or raise the time that a statement may take",
    )
}

fn endpoint(scheduler: &str) -> Result<Endpoint, Error> {
    Ok(Endpoint::from_shared(scheduler.to_owned())
        .map_err(|error| failed(scheduler, error))?
        .connect_timeout(ANSWERS)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(ANSWERS)
        .keep_alive_timeout(ANSWERS))
}

fn over(channel: Channel) -> SchedulerGrpcClient<Channel> {
    SchedulerGrpcClient::new(channel)
        .max_encoding_message_size(MESSAGE)
        .max_decoding_message_size(MESSAGE)
}

/// A client that connects when something is asked, and again when that broke.
pub(super) fn lazily(scheduler: &str) -> Result<SchedulerGrpcClient<Channel>, Error> {
    Ok(over(endpoint(scheduler)?.connect_lazy()))
}

async fn connect(scheduler: &str) -> Result<SchedulerGrpcClient<Channel>, Error> {
    let channel = endpoint(scheduler)?.connect().await.map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        Error::halted(
            format!(
                "Ballista's scheduler at {scheduler} does not answer: {}",
                cause.unwrap_or_else(|| error.to_string())
            ),
            "start one with: whathappened ballista scheduler",
        )
    })?;
    Ok(over(channel))
}

/// Ends a job of a scheduler.
///
/// # Errors
/// When the scheduler does not answer.
pub async fn cancel(scheduler: &str, job: &str) -> Result<(), Error> {
    let scheduler = match scheduler.strip_prefix("df://") {
        Some(_) => address(scheduler)?,
        None => scheduler.to_owned(),
    };
    let ended = async {
        let job_id = job.to_owned();
        let mut client = connect(&scheduler).await?;
        client
            .cancel_job(CancelJobParams { job_id })
            .await
            .map_err(|status| failed(&scheduler, status.message()))
    };
    match tokio::time::timeout(ANSWERS, ended).await {
        Ok(ended) => ended.map(drop),
        Err(_) => Err(failed(&scheduler, "it does not answer")),
    }
}

/// The jobs that are under way.
#[derive(Debug, Default)]
pub(super) struct Running {
    jobs: Mutex<BTreeSet<String>>,
    notify: Option<fn(&str)>,
}

impl Running {
    pub(super) fn notifying(notify: fn(&str)) -> Self {
        Self {
            jobs: Mutex::default(),
            notify: Some(notify),
        }
    }

    pub(super) fn jobs(&self) -> Vec<String> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.iter().cloned().collect()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<String>)) {
        change(&mut self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A job; where it is let go of before its end, the scheduler is told.
struct JobGuard {
    running: Arc<Running>,
    scheduler: String,
    job: String,
}

impl JobGuard {
    fn begin(running: &Arc<Running>, scheduler: &str, job: &str) -> Self {
        running.change(|jobs| {
            jobs.insert(job.to_owned());
        });
        if let Some(notify) = running.notify {
            notify(job);
        }
        Self {
            running: Arc::clone(running),
            scheduler: scheduler.to_owned(),
            job: job.to_owned(),
        }
    }

    /// It came to its end.
    fn ended(&self) {
        self.running.change(|jobs| {
            jobs.remove(&self.job);
        });
    }
}

impl Drop for JobGuard {
    // It counts as under way until the scheduler was told: whoever ends this process waits for
    // that, and `select!` lets go of a statement before it does what Ctrl-C asks for.
    fn drop(&mut self) {
        let is_running = self.running.jobs().contains(&self.job);
        if let (true, Ok(runtime)) = (is_running, tokio::runtime::Handle::try_current()) {
            let running = Arc::clone(&self.running);
            let (scheduler, job) = (self.scheduler.clone(), self.job.clone());
            runtime.spawn(async move {
                if cancel(&scheduler, &job).await.is_ok() {
                    running.change(|jobs| {
                        jobs.remove(&job);
                    });
                }
            });
        }
    }
}

/// Where rows lie, and through whom they are fetched.
type Done = (Vec<PartitionLocation>, Option<FlightProxy>);

/// A plan that is to be run.
pub(super) struct Submission {
    pub(super) scheduler: String,
    pub(super) plan: Vec<u8>,
    pub(super) schema: SchemaRef,
    pub(super) config: SessionConfig,
    pub(super) session: String,
    pub(super) timeout: Duration,
}

impl Submission {
    /// Runs the plan to its end; the rows come as they are fetched. Nothing where the scheduler
    /// does not understand the plan.
    pub(super) async fn run(
        self,
        running: &Arc<Running>,
    ) -> Result<Option<SendableRecordBatchStream>, Error> {
        let (schema, timeout, scheduler) = (
            Arc::clone(&self.schema),
            self.timeout,
            self.scheduler.clone(),
        );
        // A scheduler that does not answer is given up a little later.
        let done = tokio::time::timeout(timeout + ANSWERS, self.wait(running)).await;
        let Some((parts, proxy)) = done.unwrap_or_else(|_| Err(late(timeout)))? else {
            return Ok(None);
        };
        let rows = parts.into_iter().map(move |part| {
            let fetched = fetch(part, scheduler.clone(), proxy.clone());
            futures::stream::once(fetched).try_flatten()
        });
        let rows = futures::stream::iter(rows).flatten();
        Ok(Some(Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
    }

    async fn wait(self, running: &Arc<Running>) -> Result<Option<Done>, Error> {
        let scheduler = self.scheduler.clone();
        let failed = |why: &dyn std::fmt::Display| failed(&scheduler, why);
        let mut client = connect(&scheduler).await?;
        let mut request = tonic::Request::new(ExecuteQueryParams {
            query: Some(execute_query_params::Query::PhysicalPlan(self.plan)),
            settings: self.config.to_key_value_pairs(),
            operation_id: self.session.clone(),
            session_id: self.session,
        });
        insert_version_header(request.metadata_mut());
        let begun = client
            .execute_query(request)
            .await
            .map_err(|status| failed(&status.message()))?;
        let job = match begun.into_inner().result {
            Some(execute_query_result::Result::Success(begun)) => begun.job_id,
            // Functions of database clients, for example, are known to this process alone.
            Some(execute_query_result::Result::Failure(why)) => {
                tracing::debug!(why = ?why.failure, "Ballista does not understand the plan");
                return Ok(None);
            }
            None => return Err(failed(&"it answered nothing")),
        };
        let guard = JobGuard::begin(running, &scheduler, &job);
        let (begun, mut pause) = (Instant::now(), SOONEST);
        loop {
            if begun.elapsed() > self.timeout {
                guard.ended();
                // It ends by itself at the latest when its time is over.
                let _gone = cancel(&scheduler, &job).await;
                return Err(late(self.timeout));
            }
            let asked = GetJobStatusParams {
                job_id: job.clone(),
            };
            let reply = client
                .get_job_status(asked)
                .await
                .map_err(|status| failed(&status.message()))?
                .into_inner();
            match reply.status.and_then(|reply| reply.status) {
                Some(job_status::Status::Successful(done)) => {
                    guard.ended();
                    return Ok(Some((done.partition_location, reply.flight_proxy)));
                }
                Some(job_status::Status::Failed(why)) => {
                    guard.ended();
                    return Err(match why.error.contains(NONE_LEFT) {
                        true => Error::halted(
                            format!("Ballista at {scheduler}: {NONE_LEFT} while the statement ran"),
                            "start some with: whathappened ballista executor, and run it again",
                        ),
                        false => failed(&why_of(&why.error)),
                    });
                }
                None | Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LATEST);
        }
    }
}

/// What went wrong, without the names of the layers that it went through.
fn why_of(error: &str) -> String {
    let mut why = error;
    for layer in [
        "Job failed due to stage ",
        "DataFusionError(",
        "Execution error: ",
        "External error: ",
        "Arrow error: ",
    ] {
        if let Some(at) = why.rfind(layer) {
            why = &why[at + layer.len()..];
        }
    }
    why.trim_end_matches([')', '"', '\n']).to_owned()
}

/// Rows that lie on an executor: fetched through the scheduler, which everybody reaches.
async fn fetch(
    part: PartitionLocation,
    scheduler: String,
    proxy: Option<FlightProxy>,
) -> DataFusionResult<SendableRecordBatchStream> {
    let layout = part.layout();
    let executor = part.executor_meta.unwrap_or_default();
    let named = format!("{}:{}", executor.host, executor.port);
    let lost = |why: &str| {
        wrapped(Error::halted(
            format!("executor {named} was lost with rows of the statement: {why}"),
            "run the statement again: it uses the executors that are left",
        ))
    };
    let place = part.partition_id.ok_or_else(|| lost("no part"))?;
    let port = u16::try_from(executor.port).map_err(|_| lost("no port"))?;
    let (host, at) = match proxy {
        Some(FlightProxy::Local(true)) => scheduler
            .strip_prefix("http://")
            .and_then(|rest| rest.rsplit_once(':'))
            .and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)))
            .ok_or_else(|| lost("no scheduler"))?,
        _ => (executor.host.clone(), port),
    };
    let mut client =
        BallistaClient::try_new(&host, at, MESSAGE, false, None, RETRIES, RETRY_MS, 0, 0)
            .await
            .map_err(|error| lost(&error.to_string()))?;
    let place = place.into();
    let rows = client.fetch_partition_proxied(
        &executor.id,
        &place,
        part.file_id,
        layout,
        &executor.host,
        port,
        true,
    );
    rows.await.map_err(|error| lost(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for (named, address_of) in [
            ("df://ballista", "http://ballista:50050"),
            ("df://10.0.0.1:6000/", "http://10.0.0.1:6000"),
            ("df://[::1]:7", "http://[::1]:7"),
        ] {
            assert_eq!(address(named).unwrap(), address_of);
        }
        for wrong in [
            "ballista:50050",
            "df://",
            "df://a:b",
            "df://a@b:1",
            "df://a/b:1",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_job_that_is_let_go_of_counts_until_the_scheduler_was_told() {
        let running = Arc::default();
        // Nobody listens there.
        let guard = JobGuard::begin(&running, "http://127.0.0.1:1", "a");
        drop(guard);
        assert_eq!(running.jobs(), ["a"]);
        let guard = JobGuard::begin(&running, "http://127.0.0.1:1", "b");
        guard.ended();
        drop(guard);
        assert_eq!(running.jobs(), ["a"]);
    }

    #[test]
    fn what_went_wrong_is_told_without_its_layers() {
        let told = "Job failed due to stage 1 failed: Task failed: DataFusionError(External error: part of the lake cannot be read: x)";
        assert_eq!(why_of(told), "part of the lake cannot be read: x");
        assert_eq!(why_of("no executors"), "no executors");
    }
}
