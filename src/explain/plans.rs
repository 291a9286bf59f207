//! Plans of rules, made once a process: planning is most of what a rule costs.
//!
//! A plan knows the tables by their columns alone. The rows are handed over when it
//! runs, so that the same plan serves every question. Each part of a statement (`parts`) has a plan
//! of its own, which is made when a question first has the signals that it needs (`needs`).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{TableReference, exec_datafusion_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Query};
use tokio::sync::OnceCell;

use super::needs::{self, Needs};
use super::{parts, tables};

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
pub(super) const VIEWS: [(&str, &str); 26] = [
    view!("answering"),
    view!("mechanisms"),
    view!("asked_at_cloud"),
    view!("asked_for"),
    view!("cut_off"),
    view!("ended_by_others"),
    view!("fell_silent"),
    view!("killed_first"),
    view!("looked_after"),
    view!("missed"),
    view!("not_asked_for"),
    view!("not_evicted"),
    view!("not_made"),
    view!("outwaited"),
    view!("own_reason"),
    view!("reactions"),
    view!("refused_by_cloud"),
    view!("refused_members"),
    view!("reset_at_cloud"),
    view!("retried"),
    view!("service_oom"),
    view!("stopped_in_order"),
    view!("stuck_in_driver"),
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

/// The rows of the tables that rules read, by table; those that statements make are added as rules ask for them.
#[derive(Debug)]
struct Rows(Mutex<HashMap<String, Vec<RecordBatch>>>);

impl Rows {
    fn of(&self, table: &str) -> Option<Vec<RecordBatch>> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(table).cloned()
    }

    fn put(&self, table: &str, made: Vec<RecordBatch>) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.insert(table.to_owned(), made);
    }
}

/// A table without rows of its own.
#[derive(Debug)]
struct Blank {
    name: String,
    schema: SchemaRef,
}

impl PartitionStream for Blank {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = context.session_config().get_extension::<Rows>();
        let rows = rows.and_then(|rows| rows.of(&self.name));
        let batches = match rows {
            Some(rows) => rows.into_iter().map(Ok).collect(),
            None => vec![Err(exec_datafusion_err!(
                "a rule ran without the table {}",
                self.name
            ))],
        };
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            futures::stream::iter(batches),
        ))
    }
}

/// What a statement answers: a rule, a view, or what either names by WITH.
struct Table {
    schema: SchemaRef,
    branches: Vec<Branch>,
    needs: Needs,
    /// Whether what it calls a signal is one of a link.
    keeps_signals: bool,
}

/// A part of a statement whose rows are rows of the whole.
struct Branch {
    logical: LogicalPlan,
    needs: Needs,
    /// Tables of other statements that it reads.
    reads: Vec<String>,
    keeps_signals: bool,
    plan: OnceCell<Arc<dyn ExecutionPlan>>,
}

/// What was planned so far.
struct Plans {
    context: SessionContext,
    /// To plan with.
    state: SessionState,
    /// By name; those of rules by their statement.
    tables: tokio::sync::Mutex<Tables>,
}

type Tables = HashMap<String, Arc<Table>>;

static PLANS: OnceCell<Plans> = OnceCell::const_new();

impl Plans {
    async fn get() -> Result<&'static Self> {
        // Boxed: planning takes more room than a future should.
        PLANS.get_or_try_init(|| Box::pin(Self::new())).await
    }

    async fn new() -> Result<Self> {
        // One partition: the tables are small. A filter that a join makes as it runs
        // would be one of a former question.
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .with_information_schema(false)
            .set_bool("datafusion.optimizer.enable_dynamic_filter_pushdown", false);
        let context = SessionContext::new_with_config(config);
        let plans = Self {
            state: context.state(),
            context,
            tables: tokio::sync::Mutex::default(),
        };
        plans.register("deaths", tables::deaths_schema())?;
        plans.register("links", tables::links_schema())?;
        let mut tables = plans.tables.lock().await;
        for (name, view) in VIEWS {
            let view = plans.derive(name, view, &mut tables).await?;
            plans.register(name, Arc::clone(&view.schema))?;
            tables.insert(name.to_owned(), view);
        }
        drop(tables);
        Ok(plans)
    }

    fn register(&self, name: &str, schema: SchemaRef) -> Result<()> {
        let blank = Blank {
            name: name.to_owned(),
            schema: Arc::clone(&schema),
        };
        let table = StreamingTable::try_new(schema, vec![Arc::new(blank)])?;
        self.context
            .register_table(TableReference::bare(name), Arc::new(table))?;
        Ok(())
    }

    /// The table that a statement makes.
    async fn table(&self, sql: &str) -> Result<Arc<Table>> {
        let mut tables = self.tables.lock().await;
        if let Some(table) = tables.get(sql) {
            return Ok(Arc::clone(table));
        }
        let number = tables.len();
        let table = Box::pin(self.derive(&number.to_string(), sql, &mut tables)).await?;
        tables.insert(sql.to_owned(), Arc::clone(&table));
        Ok(table)
    }

    async fn derive(&self, name: &str, sql: &str, tables: &mut Tables) -> Result<Arc<Table>> {
        let mut query = self.query(sql)?;
        for number in 0..parts::named(&query) {
            let own = format!("{name}.{number}");
            let all = self.query(&format!("SELECT * FROM \"{own}\""))?;
            if let Some(named) = parts::take_named(&mut query, number, all) {
                let table = self.split(named, tables).await?;
                self.register(&own, Arc::clone(&table.schema))?;
                tables.insert(own, table);
            }
        }
        self.split(query, tables).await
    }

    fn query(&self, sql: &str) -> Result<Query> {
        let dialect = self.state.config_options().sql_parser.dialect;
        parts::query(self.state.sql_to_statement(sql, &dialect)?)
    }

    /// Plans the branches of a statement one by one, where they have the same types.
    async fn split(&self, query: Query, tables: &Tables) -> Result<Arc<Table>> {
        let mut branches = Vec::new();
        for branch in parts::branches(query.clone()) {
            branches.push(self.branch(branch, tables).await?);
        }
        let types = |branch: &Branch| -> Vec<DataType> {
            let fields = branch.logical.schema().fields().iter();
            fields.map(|field| field.data_type().clone()).collect()
        };
        let mut all = branches.iter().map(types);
        let first = all.next();
        if !all.all(|other| Some(&other) == first.as_ref()) {
            branches = vec![self.branch(query, tables).await?];
        }
        Ok(Arc::new(Table::of(branches)))
    }

    async fn branch(&self, query: Query, tables: &Tables) -> Result<Branch> {
        let statement = Box::new(ast::Statement::Query(Box::new(query)));
        let statement = Statement::Statement(statement);
        let logical = self.state.statement_to_plan(statement).await?;
        let mut reads = Vec::new();
        logical.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && tables.contains_key(scan.table_name.table())
            {
                reads.push(scan.table_name.table().to_owned());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let keeps_signals = needs::keeps_signals(&logical)?
            && reads
                .iter()
                .all(|name| tables.get(name).is_none_or(|table| table.keeps_signals));
        let of_table = |name: &str| {
            tables
                .get(name)
                .map_or(Needs::Nothing, |table| table.needs.clone())
        };
        let needs = if keeps_signals {
            needs::of(&logical, &of_table)
        } else {
            Needs::Nothing
        };
        Ok(Branch {
            logical,
            needs,
            reads,
            keeps_signals,
            plan: OnceCell::new(),
        })
    }

    async fn plan(&self, branch: &Branch) -> Result<Arc<dyn ExecutionPlan>> {
        let made = || self.state.create_physical_plan(&branch.logical);
        branch.plan.get_or_try_init(made).await.map(Arc::clone)
    }
}

impl Table {
    fn of(branches: Vec<Branch>) -> Self {
        let fields = branches.first().into_iter().flat_map(|first| {
            let fields = first.logical.schema().fields().iter();
            fields.map(|field| Field::new(field.name(), field.data_type().clone(), true))
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let keeps_signals = branches.iter().all(|branch| {
            branch.keeps_signals
                && needs::is_alike(schema.fields(), branch.logical.schema().fields())
        });
        Self {
            needs: Needs::any(branches.iter().map(|branch| branch.needs.clone())),
            schema,
            branches,
            keeps_signals,
        }
    }
}

/// The columns that a statement answers with.
///
/// # Errors
/// When it cannot be planned.
pub(super) async fn columns(sql: &str) -> Result<Vec<String>> {
    let plans = Plans::get().await?;
    let table = plans.table(sql).await?;
    for branch in &table.branches {
        plans.plan(branch).await?;
    }
    let names = table
        .schema
        .fields()
        .iter()
        .map(|field| field.name().clone());
    Ok(names.collect())
}

/// Tables that rules can be asked over.
pub(super) struct RuleTables<'q> {
    plans: &'static Plans,
    task: Arc<TaskContext>,
    rows: Arc<Rows>,
    signals: &'q BTreeSet<&'q str>,
}

impl<'q> RuleTables<'q> {
    /// Over these rows of deaths and links, in which these signals are.
    ///
    /// # Errors
    /// When the tables cannot be made.
    pub(super) async fn over(
        deaths: RecordBatch,
        links: RecordBatch,
        signals: &'q BTreeSet<&'q str>,
    ) -> Result<Self> {
        let plans = Plans::get().await?;
        let rows = [("deaths", deaths), ("links", links)];
        let rows = rows.map(|(name, batch)| (name.to_owned(), vec![batch]));
        let rows = Arc::new(Rows(Mutex::new(HashMap::from(rows))));
        let task = TaskContext::from(&plans.state);
        let config = task
            .session_config()
            .clone()
            .with_extension(Arc::clone(&rows));
        let task = Arc::new(task.with_session_config(config));
        Ok(Self {
            plans,
            task,
            rows,
            signals,
        })
    }

    /// What a rule's statement answers.
    ///
    /// # Errors
    /// When it cannot be planned, or fails.
    pub(super) async fn answer(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        self.rows(&*self.plans.table(sql).await?).await
    }

    async fn rows(&self, table: &Table) -> Result<Vec<RecordBatch>> {
        let mut rows = Vec::new();
        for branch in &table.branches {
            if !branch.needs.are_among(self.signals) {
                continue;
            }
            for read in &branch.reads {
                Box::pin(self.fill(read)).await?;
            }
            // A plan remembers what it read, so each question gets its own.
            let plan = reset_plan_states(self.plans.plan(branch).await?)?;
            for batch in collect(plan, Arc::clone(&self.task)).await? {
                let columns = batch.columns().to_vec();
                rows.push(RecordBatch::try_new(Arc::clone(&table.schema), columns)?);
            }
        }
        Ok(rows)
    }

    /// Makes the rows of a table that a statement reads, once a question.
    async fn fill(&self, name: &str) -> Result<()> {
        if self.rows.of(name).is_none() {
            let made = self.rows(&*self.plans.table(name).await?).await?;
            self.rows.put(name, made);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
