//! Ends the work of jobs that nobody waits for any more, on the executors.
//!
//! Executors fetch their work, and Ballista 55 tells them nothing of jobs that were cancelled;
//! it also writes the rows of a task in a task of its own, which nothing can abort. So an
//! executor asks the scheduler about the jobs that it works for, and every node of a plan looks
//! before each batch whether its job is over. Then its stream fails, and with it all above it.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use ballista_core::JobId;
use ballista_core::config::BALLISTA_JOB_NAME;
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{GetJobStatusParams, GetJobStatusResult, job_status};
use ballista_executor::execution_engine::{
    DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor,
};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use datafusion::prelude::SessionConfig;
use futures::Stream;
use tonic::transport::Channel;

use super::client;
use crate::error::Error;
use crate::sql::deadline::{after, is_over};

/// How often the scheduler is asked about a job.
const ASKED: Duration = Duration::from_millis(250);
/// How long it may take to answer, before it is asked again.
const ANSWERS: Duration = Duration::from_secs(5);
/// How much later than its time work ends by itself: whoever waits ends it first, and says why.
const GRACE: Duration = Duration::from_secs(2);
/// How often in a row a scheduler has to say that it knows no such job.
const UNKNOWN: u8 = 2;
/// What the name of a job says.
const UNTIL: &str = "until ";

/// The settings of a statement, with the time after which nobody waits for it.
pub(super) fn with_deadline(config: SessionConfig, timeout: Duration) -> SessionConfig {
    let until = after(timeout);
    config.with_ballista_job_name(&format!("{UNTIL}{until}"))
}

fn deadline(config: &SessionConfig) -> Option<u64> {
    let entries = config.options().entries();
    let name = entries.into_iter().find(|e| e.key == BALLISTA_JOB_NAME)?;
    name.value?.strip_prefix(UNTIL)?.parse().ok()
}

/// Whether a job is over, for all that works for it on this executor.
#[derive(Debug, Default)]
struct Ending(AtomicBool);

impl Ending {
    fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ballista's own engine, of plans that can be ended.
pub(super) struct Engine {
    theirs: DefaultExecutionEngine,
    scheduler: SchedulerGrpcClient<Channel>,
    jobs: Mutex<BTreeMap<String, Weak<Ending>>>,
}

impl Engine {
    /// For an executor of a scheduler. It connects once there is a job.
    pub(super) fn of(scheduler: &str) -> std::result::Result<Self, Error> {
        Ok(Self {
            theirs: DefaultExecutionEngine::new(),
            scheduler: client::lazily(scheduler)?,
            jobs: Mutex::default(),
        })
    }

    /// What tells whether a job is over.
    fn ending(&self, job: &JobId, until: Option<u64>) -> Arc<Ending> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = jobs.get(job.as_str()).and_then(Weak::upgrade) {
            return known;
        }
        jobs.retain(|_, ending| ending.strong_count() > 0);
        let ending = Arc::new(Ending::default());
        jobs.insert(job.as_str().to_owned(), Arc::downgrade(&ending));
        let (scheduler, job) = (self.scheduler.clone(), job.as_str().to_owned());
        tokio::spawn(watch(scheduler, job, until, Arc::downgrade(&ending)));
        ending
    }
}

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let plan = watched(plan, &self.ending(&job_id, deadline(config)))?;
        self.theirs.create_query_stage_exec(
            job_id,
            stage_id,
            task_id,
            global_output_partition_ids,
            plan,
            work_dir,
            config,
        )
    }
}

/// Asks about a job until it is over, or nothing works for it here any more.
async fn watch(
    mut scheduler: SchedulerGrpcClient<Channel>,
    job: String,
    until: Option<u64>,
    ending: Weak<Ending>,
) {
    let mut unknown = 0;
    while ending.strong_count() > 0 {
        let is_late = until.is_some_and(|until| is_over(until, GRACE));
        let asked = GetJobStatusParams {
            job_id: job.clone(),
        };
        // A scheduler that does not answer may be back soon.
        let reply = tokio::time::timeout(ANSWERS, scheduler.get_job_status(asked)).await;
        let reply = reply.ok().and_then(std::result::Result::ok);
        let is_running = reply.is_none_or(|reply| runs(reply.into_inner(), &mut unknown));
        if (is_late || !is_running)
            && let Some(ending) = ending.upgrade()
        {
            tracing::info!(job, is_late, "a job is over, and its work here ends");
            return ending.end();
        }
        tokio::time::sleep(ASKED).await;
    }
}

/// Whether a job still needs what executors do for it.
fn runs(reply: GetJobStatusResult, unknown: &mut u8) -> bool {
    match reply.status.and_then(|reply| reply.status) {
        Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {
            *unknown = 0;
            true
        }
        Some(job_status::Status::Failed(_) | job_status::Status::Successful(_)) => false,
        None => {
            *unknown += 1;
            *unknown < UNKNOWN
        }
    }
}

/// The plan whose nodes look whether their job is over.
fn watched(plan: Arc<dyn ExecutionPlan>, ending: &Arc<Ending>) -> Result<Arc<dyn ExecutionPlan>> {
    let watch = |inner: Arc<dyn ExecutionPlan>| {
        let ending = Arc::clone(ending);
        Ok(Transformed::yes(
            Arc::new(Watched { inner, ending }) as Arc<dyn ExecutionPlan>
        ))
    };
    plan.transform_up(watch).data()
}

/// A node that is in every way the one within, but for its streams: Ballista looks for nodes by
/// their kind, and counts them.
#[derive(Debug)]
struct Watched {
    inner: Arc<dyn ExecutionPlan>,
    ending: Arc<Ending>,
}

impl DisplayAs for Watched {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_as(kind, f)
    }
}

impl ExecutionPlan for Watched {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        Some(&*self.inner)
    }

    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.inner.maintains_input_order()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inner.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.inner.apply_expressions(visit)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            inner: Arc::clone(&self.inner).replace_children(children, options)?,
            ending: Arc::clone(&self.ending),
        }))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, anew)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.inner.metrics()
    }

    fn fetch(&self) -> Option<usize> {
        self.inner.fetch()
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.inner.execute(partition, context)?;
        Ok(Box::pin(Rows {
            schema: rows.schema(),
            rows: Some(rows),
            ending: Arc::clone(&self.ending),
        }))
    }
}

/// Rows until a job is over.
struct Rows {
    schema: SchemaRef,
    rows: Option<SendableRecordBatchStream>,
    ending: Arc<Ending>,
}

impl Stream for Rows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ending.is_over() && self.rows.take().is_some() {
            let why = "no client waits for this statement any longer".to_owned();
            return Poll::Ready(Some(Err(DataFusionError::Execution(why))));
        }
        match &mut self.rows {
            Some(rows) => rows.as_mut().poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

impl RecordBatchStream for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests {
    use ballista_core::serde::protobuf::{FailedJob, JobStatus, RunningJob};
    use datafusion::arrow::array::Int32Array;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
    use datafusion::physical_plan::joins::CrossJoinExec;
    use futures::StreamExt as _;

    use super::*;

    /// Many batches, of which the plan makes a batch for each row.
    fn join() -> Arc<dyn ExecutionPlan> {
        let table = |name: &str, rows: i32| {
            let schema = Schema::new(vec![Field::new(name, DataType::Int32, false)]);
            let column = Arc::new(Int32Array::from_iter_values(0..rows));
            let rows = RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap();
            let schema = rows.schema();
            MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None).unwrap()
        };
        let join = CrossJoinExec::new(table("a", 500), table("b", 10));
        Arc::new(CoalescePartitionsExec::new(Arc::new(join)))
    }

    #[tokio::test]
    async fn a_plan_ends_in_the_middle_when_its_job_is_over() {
        let ending = Arc::new(Ending::default());
        let plan = watched(join(), &ending).unwrap();
        let mut rows = plan.execute(0, Arc::default()).unwrap();
        assert!(rows.next().await.unwrap().is_ok());
        ending.end();
        // What is missing is never taken for the end of the rows.
        let reply = rows.next().await.unwrap().unwrap_err();
        assert!(reply.to_string().contains("no client waits"), "{reply}");
        assert!(rows.next().await.is_none());
    }

    #[tokio::test]
    async fn a_node_below_one_that_reads_all_of_it_ends_too() {
        let ending = Arc::new(Ending::default());
        let plan = watched(join(), &ending).unwrap();
        let below = Arc::clone(plan.children()[0]);
        let mut rows = below.execute(0, Arc::default()).unwrap();
        ending.end();
        assert!(rows.next().await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_watched_plan_is_the_plan() {
        let plan = join();
        let watched = watched(Arc::clone(&plan), &Arc::default()).unwrap();
        let shown = |plan: &dyn ExecutionPlan| {
            datafusion::physical_plan::displayable(plan)
                .indent(true)
                .to_string()
        };
        assert_eq!(shown(&*plan), shown(&*watched));
        assert!(watched.is::<CoalescePartitionsExec>());
        assert!(watched.children()[0].is::<CrossJoinExec>());
        let count = |rows: Vec<RecordBatch>| rows.iter().map(RecordBatch::num_rows).sum::<usize>();
        let all = datafusion::physical_plan::collect(watched, Arc::default());
        assert_eq!(count(all.await.unwrap()), 5_000);
    }

    #[test]
    fn a_job_that_is_not_known_twice_is_over() {
        let reply = |status| GetJobStatusResult {
            status: Some(JobStatus {
                status,
                ..JobStatus::default()
            }),
            flight_proxy: None,
        };
        let mut unknown = 0;
        let running = || reply(Some(job_status::Status::Running(RunningJob::default())));
        assert!(runs(running(), &mut unknown));
        assert!(runs(reply(None), &mut unknown));
        assert!(runs(running(), &mut unknown));
        assert!(runs(reply(None), &mut unknown));
        assert!(!runs(reply(None), &mut unknown));
        let failed = job_status::Status::Failed(FailedJob::default());
        assert!(!runs(reply(Some(failed)), &mut unknown));
    }

    #[test]
    fn the_time_of_a_statement_is_in_its_settings() {
        let config = with_deadline(SessionConfig::new(), Duration::from_secs(60));
        let until = deadline(&config).unwrap();
        assert!(!is_over(until - 50_000, Duration::ZERO), "{until}");
        assert!(is_over(until - 61_000, Duration::ZERO), "{until}");
        assert_eq!(deadline(&SessionConfig::new()), None);
    }
}
