//! Statements over a lake on Ballista: a scheduler deals the parts of a plan out to executors,
//! which read the lake by themselves.
//!
//! A statement is planned here, with the tables and rules of every other statement. What reads
//! `events` or `objects` is sent (see `stored/spread.rs`); rows of the other tables, which are
//! few, are made here and sent along. What reads neither, and the few plans that cannot be
//! sent, runs where it was planned.

mod client;
mod codec;
mod ending;
mod roles;

use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::SessionConfigExt as _;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::streaming::StreamingTableExec;
use datafusion::physical_plan::{ExecutionPlan, collect, replace_children_if_necessary};
use datafusion_proto::physical_plan::AsExecutionPlan as _;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::future::BoxFuture;

use self::client::Submission;
pub use self::client::cancel;
use self::codec::Codec;
pub use self::roles::{Executor, Scheduler};
use super::{Session, StoredTables};
use crate::error::Error;

/// Parts of a scan, and of what is repartitioned; more than one statement's share of most
/// clusters, so that executors that are free take the next one.
const PARTS: usize = 16;
/// Rows of small tables that are sent along, at most; with more a statement runs here.
const SENT: usize = 64 << 20;
/// The largest message between scheduler, executors and clients.
const MESSAGE: usize = 128 << 20;

/// Where statements are run, and for how long.
#[derive(Clone, Debug)]
pub struct Ballista {
    scheduler: String,
    timeout: Duration,
    running: Arc<client::Running>,
}

impl Ballista {
    /// A scheduler, by `df://HOST:PORT`.
    ///
    /// # Errors
    /// When the address is none.
    pub fn at(scheduler: &str, timeout: Duration) -> std::result::Result<Self, Error> {
        Ok(Self {
            scheduler: client::address(scheduler)?,
            timeout,
            running: Arc::default(),
        })
    }

    /// How long a statement may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Calls `notify` with the scheduler's name of each job.
    #[must_use]
    pub fn notifying(self, notify: fn(&str)) -> Self {
        let running = Arc::new(client::Running::notifying(notify));
        Self { running, ..self }
    }

    /// Ends the jobs that are under way.
    pub async fn cancel(&self) {
        for job in self.running.jobs() {
            // It ends by itself at the latest when its time is over.
            let _gone = cancel(&self.scheduler, &job).await;
        }
    }

    /// Runs a plan; nothing where it is better run here.
    pub(super) async fn run(
        &self,
        state: SessionState,
        plan: &LogicalPlan,
    ) -> Result<Option<SendableRecordBatchStream>> {
        if !reads_large_tables(plan)? {
            return Ok(None);
        }
        let config = state.config().clone().with_target_partitions(PARTS);
        let config = config
            .upgrade_for_ballista()
            .with_ballista_grpc_client_max_message_size(MESSAGE);
        let config = ending::with_deadline(config, self.timeout);
        let state = SessionStateBuilder::new_from_existing(state)
            .with_config(config)
            .build();
        let planned = state.create_physical_plan(plan).await?;
        let mut left = SENT;
        let Some(planned) = with_rows(planned, state.task_ctx(), &mut left).await? else {
            return Ok(None);
        };
        let schema = planned.schema();
        let written = PhysicalPlanNode::try_from_physical_plan(planned, &Codec::passing());
        let written = match written {
            Ok(written) => written,
            // Recursive queries, for example.
            Err(error) => {
                tracing::debug!(%error, "the plan cannot be sent to Ballista");
                return Ok(None);
            }
        };
        let mut bytes = Vec::new();
        written.try_encode(&mut bytes)?;
        let submission = Submission {
            scheduler: self.scheduler.clone(),
            plan: bytes,
            schema,
            config: state.config().clone(),
            session: state.session_id().to_owned(),
            timeout: self.timeout,
        };
        let rows = submission.run(&self.running).await;
        rows.map_err(super::rows::wrapped)
    }
}

impl Session {
    /// The same, where Ballista runs what reads much.
    ///
    /// # Errors
    /// As [`Session::of_store`], or when the store is no lake.
    pub fn on_ballista(
        stored: StoredTables,
        ballista: Ballista,
    ) -> std::result::Result<Self, Error> {
        let session = Self::of_store(stored.spread(ballista.timeout())?)?;
        Ok(session.run_on(Some(ballista)))
    }

    /// What runs statements that read much.
    #[must_use]
    pub fn ballista(&self) -> Option<&Ballista> {
        self.ballista.as_ref()
    }

    /// Runs on Ballista what reads much of tables that are spread.
    pub(super) fn run_on(mut self, ballista: Option<Ballista>) -> Self {
        self.ballista = ballista;
        self
    }
}

/// Whether a plan reads a table that is worth several machines. What only tells about a plan
/// tells about one that is run here.
fn reads_large_tables(plan: &LogicalPlan) -> Result<bool> {
    let mut reads = false;
    if matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) {
        return Ok(false);
    }
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let name = &scan.table_name;
            reads |= matches!(name.schema(), None | Some("public"))
                && matches!(name.table(), "events" | "objects");
        }
        Ok(match reads {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(reads)
}

/// The plan with the rows of tables that only this machine has; nothing where they are too many.
fn with_rows<'a>(
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    left: &'a mut usize,
) -> BoxFuture<'a, Result<Option<Arc<dyn ExecutionPlan>>>> {
    Box::pin(async move {
        if plan.is::<StreamingTableExec>() {
            let schema = plan.schema();
            let rows = collect(plan, context).await?;
            let bytes = rows.iter().map(RecordBatch::get_array_memory_size).sum();
            let Some(rest) = left.checked_sub(bytes) else {
                return Ok(None);
            };
            *left = rest;
            let rows = MemorySourceConfig::try_new_exec(&[rows], schema, None)?;
            return Ok(Some(rows as Arc<dyn ExecutionPlan>));
        }
        let mut children = Vec::new();
        for child in plan.children() {
            let child = with_rows(Arc::clone(child), Arc::clone(&context), left).await?;
            let Some(child) = child else {
                return Ok(None);
            };
            children.push(child);
        }
        replace_children_if_necessary(plan, children).map(Some)
    })
}
