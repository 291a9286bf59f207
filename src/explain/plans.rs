//! Plans of rules, made once a process: planning is most of what a rule costs.
//!
//! A plan knows the tables by their columns alone. The rows are handed over when it
//! runs, so that the same plan serves every question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::sync::OnceCell;

use super::tables;

/// A view's name, and the statement in its file.
macro_rules! view {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../queries/views/", $name, ".sql")),
        )
    };
}

/// The views that rules may select from, by name.
/// One may use those before it.
pub(super) const VIEWS: [(&str, &str); 21] = [
    view!("answering"),
    view!("mechanisms"),
    view!("asked_at_cloud"),
    view!("asked_for"),
    view!("cut_off"),
    view!("ended_by_others"),
    view!("fell_silent"),
    view!("killed_first"),
    view!("missed"),
    view!("not_asked_for"),
    view!("not_evicted"),
    view!("not_made"),
    view!("outwaited"),
    view!("own_reason"),
    view!("reactions"),
    view!("reset_at_cloud"),
    view!("retried"),
    view!("stopped_in_order"),
    view!("torn_down"),
    view!("troubled"),
    view!("waited_out"),
];

/// The views that rules may select from: name, and what the comment in its file says of it.
pub fn views() -> impl Iterator<Item = (&'static str, String)> {
    VIEWS.into_iter().map(|(name, sql)| {
        let comment = sql.lines().map_while(|line| line.strip_prefix("--"));
        let comment: Vec<&str> = comment.map(str::trim).collect();
        (name, comment.join(" "))
    })
}

/// The rows of the tables that rules read.
#[derive(Debug)]
pub(super) struct Rows {
    /// One a death.
    pub(super) deaths: RecordBatch,
    /// One a fact that touches a death.
    pub(super) links: RecordBatch,
}

/// A table without rows of its own.
#[derive(Debug)]
struct Table {
    schema: SchemaRef,
    rows: fn(&Rows) -> &RecordBatch,
}

impl PartitionStream for Table {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = context.session_config().get_extension::<Rows>();
        let batch = rows
            .map(|rows| (self.rows)(&rows).clone())
            .ok_or_else(|| exec_datafusion_err!("a rule ran without its tables"));
        let batches = futures::stream::iter([batch]);
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            batches,
        ))
    }
}

/// The plans that were made so far, by statement.
struct Plans {
    context: SessionContext,
    made: Mutex<HashMap<String, Arc<dyn ExecutionPlan>>>,
}

static PLANS: OnceCell<Plans> = OnceCell::const_new();

impl Plans {
    async fn new() -> Result<Self> {
        // One partition: the tables are small. A filter that a join makes as it runs
        // would be one of a former question.
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_information_schema(false)
            .set_bool("datafusion.optimizer.enable_dynamic_filter_pushdown", false);
        let context = SessionContext::new_with_config(config);
        let table = |schema: SchemaRef, rows| -> Result<_> {
            let part = Arc::new(Table {
                schema: Arc::clone(&schema),
                rows,
            });
            Ok(Arc::new(StreamingTable::try_new(schema, vec![part])?))
        };
        context.register_table(
            "deaths",
            table(tables::deaths_schema(), |rows| &rows.deaths)?,
        )?;
        context.register_table("links", table(tables::links_schema(), |rows| &rows.links)?)?;
        for (name, view) in VIEWS {
            context
                .sql(&format!("CREATE VIEW {name} AS {view}"))
                .await?;
        }
        Ok(Self {
            context,
            made: Mutex::default(),
        })
    }

    async fn plan(&self, sql: &str) -> Result<Arc<dyn ExecutionPlan>> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = made().get(sql) {
            return Ok(Arc::clone(plan));
        }
        let plan = self.context.sql(sql).await?.create_physical_plan().await?;
        made().insert(sql.to_owned(), Arc::clone(&plan));
        Ok(plan)
    }
}

/// The columns that a statement answers with.
///
/// # Errors
/// When it cannot be planned.
pub(super) async fn columns(sql: &str) -> Result<Vec<String>> {
    let plans = PLANS.get_or_try_init(Plans::new).await?;
    let plan = plans.plan(sql).await?;
    let schema = plan.schema();
    let names = schema.fields().iter().map(|field| field.name().clone());
    Ok(names.collect())
}

/// Tables that rules can be asked over.
pub(super) struct RuleTables {
    plans: &'static Plans,
    task: Arc<TaskContext>,
}

impl RuleTables {
    /// Over these rows.
    ///
    /// # Errors
    /// When the tables cannot be made.
    pub(super) async fn over(rows: Rows) -> Result<Self> {
        let plans = PLANS.get_or_try_init(Plans::new).await?;
        let task = TaskContext::from(&*plans.context.state_ref().read());
        let config = task.session_config().clone().with_extension(Arc::new(rows));
        let task = Arc::new(task.with_session_config(config));
        Ok(Self { plans, task })
    }

    /// What a rule's statement answers.
    ///
    /// # Errors
    /// When it cannot be planned, or fails.
    pub(super) async fn answer(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        // A plan remembers what it read, so each question gets its own.
        let plan = reset_plan_states(self.plans.plan(sql).await?)?;
        collect(plan, Arc::clone(&self.task)).await
    }
}
