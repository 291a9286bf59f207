//! Runs statements over a case.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
#[cfg(any(feature = "flight", feature = "postgres"))]
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{Expr, LogicalPlan, ScalarUDF};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, col};
use datafusion::sql::parser::{DFParser, Statement as Parsed};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use futures::TryStreamExt as _;

use super::catalog::{Table, all};
use super::events_table::Events;
use super::now::Now;
use super::planned::Planned;
use super::rows::{RowSource, table};
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use super::yielding_joins::YieldingJoins;
use super::{
    collateral, coverage, error, experiments, functions, guard, incidents, links, objects, prompt,
    runs, tenures,
};
use whathappened_core::resolve::Run;
use whathappened_model::coverage::Coverage;
use whathappened_model::time::Nanos;

use crate::case::Case;
use crate::error::Error;

/// Memory that one statement may hold.
pub(super) const MEMORY: usize = 512 << 20;

/// The database that the tables are in.
const CATALOG: &str = "datafusion";

/// Words and signs of a statement, spaces between them too.
const WORDS: usize = 50_000;

/// Parentheses within one another that are taken apart at most.
const NESTED: usize = 40;

/// Selections of one text of statements, each of which is planned, at most.
const SELECTIONS: usize = 500;

/// Runs statements over a case, which they can only read.
pub struct Session {
    pub(super) context: SessionContext,
    over: StatementScope,
    tables: Vec<Table>,
    #[cfg(feature = "distributed")]
    pub(super) ballista: Option<super::Ballista>,
}

/// What statements are run over.
enum StatementScope {
    Case(Arc<SharedCase>),
    Store(Arc<StoredTables>),
    #[cfg(all(feature = "object-store", not(feature = "lake")))]
    Remote,
}

/// One statement that can be run.
#[derive(Clone, Debug)]
pub struct Statement(pub(super) Parsed);

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("tables", &self.tables)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Tables over a case.
    ///
    /// # Errors
    /// When DataFusion cannot be set up.
    pub fn new(case: Arc<Case>) -> Result<Self, Error> {
        let now = case.graph.now;
        let shared = Arc::new(SharedCase::new(case));
        let session = Self::over(StatementScope::Case(Arc::clone(&shared)), now, CATALOG)?;
        session.register(&shared)?;
        Ok(session)
    }

    /// Tables over a store, which is read as far as a statement needs it.
    ///
    /// # Errors
    /// When DataFusion cannot be set up, or there is no store.
    pub fn of_store(stored: StoredTables) -> Result<Self, Error> {
        Self::of_store_in(CATALOG, stored)
    }

    /// The same with another name of the database that the tables are in.
    ///
    /// # Errors
    /// As [`Session::of_store`].
    pub(super) fn of_store_in(catalog: &str, stored: StoredTables) -> Result<Self, Error> {
        let now = stored.latest()?;
        let stored = Arc::new(stored);
        let over = StatementScope::Store(Arc::clone(&stored));
        let session = Self::over(over, now, catalog)?;
        let links = links::all(Arc::<StoredTables>::clone(&stored))?;
        for (name, provider) in super::stored::tables(&stored)?.into_iter().chain(links) {
            session.context.register_table(name, provider)?;
        }
        session
            .context
            .register_udtf("timeline", Arc::new(functions::timeline(&stored)));
        session
            .context
            .register_udtf("why", Arc::new(functions::why(&stored)));
        Ok(session)
    }

    /// The table `events` over a store that lies on an object store.
    ///
    /// # Errors
    /// When there is none.
    #[cfg(all(feature = "object-store", not(feature = "lake")))]
    pub async fn of_remote(remote: crate::remote::Remote) -> Result<Self, Error> {
        use super::stored::remote::RemoteTables;

        let manifest = remote.manifest().await?;
        let latest = manifest.segments.iter().map(|listed| listed.time_to).max();
        let store = Arc::clone(&remote.store);
        let elsewhere = Arc::new(RemoteTables::new(remote, manifest));
        let mut session = Self::over(StatementScope::Remote, latest, CATALOG)?;
        let base = elsewhere.base()?;
        session.context.register_object_store(base.as_ref(), store);
        session.context.register_table(
            "events",
            Arc::new(Planned(super::stored::EventsOf::new(elsewhere))),
        )?;
        session.tables.retain(|table| table.name == "events");
        Ok(session)
    }

    fn over(over: StatementScope, now: Option<Nanos>, catalog: &str) -> Result<Self, Error> {
        let mut context = context(catalog)?;
        datafusion_functions_json::register_all(&mut context)?;
        context.register_udf(ScalarUDF::from(Now::new(now)));
        Ok(Self {
            context,
            over,
            tables: all(),
            #[cfg(feature = "distributed")]
            ballista: None,
        })
    }

    fn register(&self, shared: &Arc<SharedCase>) -> DataFusionResult<()> {
        let tables: [(&str, Arc<dyn TableProvider>); 8] = [
            ("events", Arc::new(Planned(Events::new(shared)))),
            (
                "objects",
                table(objects::COLUMNS, shared, RowSource::Read(objects::rows))?,
            ),
            (
                "tenures",
                table(tenures::COLUMNS, shared, RowSource::Read(tenures::rows))?,
            ),
            (
                "experiments",
                table(experiments::COLUMNS, shared, experiments::rows())?,
            ),
            ("runs", table(runs::COLUMNS, shared, runs::explained())?),
            (
                "coverage",
                table(coverage::COLUMNS, shared, RowSource::Read(coverage::rows))?,
            ),
            (
                "incidents",
                table(incidents::COLUMNS, shared, incidents::rows())?,
            ),
            (
                "collateral",
                table(collateral::COLUMNS, shared, collateral::rows())?,
            ),
        ];
        for (name, provider) in tables
            .into_iter()
            .chain(links::all(Arc::<SharedCase>::clone(shared))?)
        {
            self.context.register_table(name, provider)?;
        }
        self.context
            .register_udtf("timeline", Arc::new(functions::timeline(shared)));
        self.context
            .register_udtf("why", Arc::new(functions::why(shared)));
        Ok(())
    }

    /// Tables and table functions, for help and completion.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The tables and table functions as rows.
    ///
    /// # Errors
    /// Never for columns of one length, which these are.
    pub fn table_rows(&self) -> Result<RecordBatch, Error> {
        Ok(prompt::tables(self).map_err(DataFusionError::from)?)
    }

    /// The columns of a table as rows, with what they mean.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn column_rows(&self, name: &str) -> Result<RecordBatch, Error> {
        let table = self
            .tables
            .iter()
            .find(|table| table.name == name.to_lowercase());
        let table = table.ok_or_else(|| error::no_table(name, &self.tables))?;
        Ok(prompt::columns(table).map_err(DataFusionError::from)?)
    }

    /// Names of all functions that work on values, in order.
    #[must_use]
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let scalar = state.scalar_functions().keys();
        let mut names: Vec<String> = scalar
            .chain(state.aggregate_functions().keys())
            .chain(state.window_functions().keys())
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The damaged segments that statements came upon: what was in them is in no answer.
    #[must_use]
    pub fn damage(&self) -> Vec<Coverage> {
        match &self.over {
            StatementScope::Store(stored) => stored.damage(),
            _ => Vec::new(),
        }
    }

    /// Names that `timeline` and `why` take, in order.
    #[must_use]
    pub fn experiments(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.over {
            StatementScope::Case(shared) => {
                let case = &shared.case;
                let name = |run: &Run| run.experiment(&case.graph).0;
                case.runs.iter().map(name).collect()
            }
            StatementScope::Store(stored) => stored.experiments().unwrap_or_default(),
            #[cfg(all(feature = "object-store", not(feature = "lake")))]
            StatementScope::Remote => Vec::new(),
        };
        names.sort();
        names.dedup();
        names
    }

    /// Takes a text of statements apart at its semicolons.
    ///
    /// # Errors
    /// When a statement is no SQL.
    pub fn parse(text: &str) -> Result<Vec<Statement>, Error> {
        let words = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize();
        let words = words.unwrap_or_default();
        let nested = nesting(&words);
        // The parser tries each parenthesis in several ways, one within the other.
        if nested > NESTED {
            return Err(Error::Usage(format!(
                "the statement nests parentheses {nested} deep; at most {NESTED} levels are supported"
            )));
        }
        let selections = words.iter().filter(|word| is_select(word)).count();
        if selections > SELECTIONS {
            return Err(Error::Usage(format!(
                "the statement contains SELECT {selections} times; at most {SELECTIONS} are supported"
            )));
        }
        let words = words.len();
        // Each may nest one deeper, and planning goes as deep.
        if words > WORDS {
            return Err(Error::Usage(format!(
                "the statement has {words} words and symbols; at most {WORDS} are supported"
            )));
        }
        // In PostgreSQL's dialect `->>` binds closer than `=` and LIKE, and `end` is a
        // column's name; DataFusion's own knows a few words more, such as EXCLUDE.
        let parsed = DFParser::parse_sql_with_dialect(text, &PostgreSqlDialect {});
        let parsed = parsed.or_else(|error| DFParser::parse_sql(text).map_err(|_| error))?;
        Ok(parsed.into_iter().map(Statement).collect())
    }

    /// Starts a statement; its rows come as they are read.
    ///
    /// # Errors
    /// When it does more than read, or names what is not there.
    pub async fn run(&self, statement: Statement) -> Result<SendableRecordBatchStream, Error> {
        self.start(statement)
            .await
            .map_err(|error| error::ours(error, &self.tables))
    }

    async fn start(
        &self,
        Statement(parsed): Statement,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        let listing = guard::is_listing(&parsed);
        let plan = self.plan(parsed).await?;
        self.execute(plan, listing).await
    }

    /// What a statement would do; nothing but reading is planned.
    pub(super) async fn plan(&self, parsed: Parsed) -> DataFusionResult<LogicalPlan> {
        if let Some(why) = guard::refusal(&parsed) {
            return Err(DataFusionError::Plan(format!(
                "{} is not allowed: {why}",
                guard::verb(&parsed)
            )));
        }
        let plan = self.context.state().statement_to_plan(parsed).await?;
        guard::options().verify_plan(&plan)?;
        Ok(plan)
    }

    /// The columns that a plan would answer.
    #[cfg(any(feature = "flight", feature = "postgres"))]
    pub(super) fn columns_of(&self, plan: LogicalPlan) -> DataFusionResult<SchemaRef> {
        let frame = readable(DataFrame::new(self.context.state(), plan))?;
        Ok(Arc::clone(frame.schema().inner()))
    }

    /// Runs a plan; a listing of tables is sorted.
    pub(super) async fn execute(
        &self,
        plan: LogicalPlan,
        listing: bool,
    ) -> DataFusionResult<SendableRecordBatchStream> {
        let frame = self.context.execute_logical_plan(plan).await?;
        // The catalog lists its tables in an order of its own.
        let frame = if listing {
            frame.sort_by(vec![col("table_schema"), col("table_name")])?
        } else {
            frame
        };
        let frame = readable(frame)?;
        #[cfg(feature = "distributed")]
        if let Some(ballista) = &self.ballista
            && let Some(rows) = ballista
                .run(self.context.state(), frame.logical_plan())
                .await?
        {
            return Ok(rows);
        }
        frame.execute_stream().await
    }

    /// All rows of one statement; without any there is one batch of none, which has the columns.
    ///
    /// # Errors
    /// When it cannot be run to its end.
    pub async fn query(&self, text: &str) -> Result<Vec<RecordBatch>, Error> {
        let mut rows = Vec::new();
        for statement in Self::parse(text)? {
            let stream = self.run(statement).await?;
            let schema = stream.schema();
            rows = stream
                .try_collect()
                .await
                .map_err(|error| self.failed(error))?;
            if rows.is_empty() {
                rows.push(RecordBatch::new_empty(schema));
            }
        }
        Ok(rows)
    }

    /// Reads some columns of a table once, for all statements from now on.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(super) async fn hold(&self, name: &str, columns: &str) -> Result<(), Error> {
        let rows = self.query(&format!("SELECT {columns} FROM {name}")).await?;
        let Some(schema) = rows.first().map(RecordBatch::schema) else {
            return Ok(());
        };
        let held = || {
            let table = MemTable::try_new(schema, vec![rows])?;
            self.context.deregister_table(name)?;
            self.context.register_table(name, Arc::new(table))
        };
        held().map_err(|error| self.failed(error))?;
        Ok(())
    }

    /// What a stream of rows failed with.
    #[must_use]
    pub fn failed(&self, error: DataFusionError) -> Error {
        error::ours(error, &self.tables)
    }
}

/// A context without files: no table factories and formats, nothing spilled to disk.
fn context(catalog: &str) -> DataFusionResult<SessionContext> {
    // One partition, so that the same statement gives its rows in the same order.
    let mut config = SessionConfig::new()
        .with_target_partitions(1)
        .with_default_catalog_and_schema(catalog, "public")
        .with_information_schema(true);
    // Of a store's segments only the pages are decoded that a filter lets through.
    let parquet = &mut config.options_mut().execution.parquet;
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    let no_disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(MEMORY)))
        .with_disk_manager_builder(no_disk)
        .build_arc()?;
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_physical_optimizer_rule(Arc::new(YieldingJoins));
    *state.table_factories() = None;
    *state.file_formats() = None;
    Ok(SessionContext::new_with_state(state.build()))
}

/// JSON of no fixed type becomes text, which every format can show.
fn readable(frame: DataFrame) -> DataFusionResult<DataFrame> {
    let is_union = |kind: &DataType| matches!(kind, DataType::Union(..));
    let schema: Schema = frame.schema().as_arrow().clone();
    if !schema
        .fields()
        .iter()
        .any(|field| is_union(field.data_type()))
    {
        return Ok(frame);
    }
    let columns: Vec<Expr> = frame
        .schema()
        .columns()
        .into_iter()
        .zip(schema.fields())
        .map(|(column, field)| {
            let value = Expr::Column(column);
            if is_union(field.data_type()) {
                datafusion_functions_json::udfs::json_union_to_text_udf()
                    .call(vec![value])
                    .alias(field.name())
            } else {
                value
            }
        })
        .collect();
    frame.select(columns)
}

fn is_select(word: &Token) -> bool {
    matches!(word, Token::Word(word) if word.keyword == Keyword::SELECT)
}

/// How deep the parentheses of a text of statements are.
fn nesting(words: &[Token]) -> usize {
    let (mut deep, mut deepest) = (0_usize, 0);
    for word in words {
        match word {
            Token::LParen => deep += 1,
            Token::RParen => deep = deep.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(deep);
    }
    deepest
}
