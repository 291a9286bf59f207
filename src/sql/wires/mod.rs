//! Statements of database clients: other words for the same tables, values for
//! parameters, and what a statement would answer before it is run.
//!
//! They run where the API's do, in a process of their own, so that limits, guard and
//! access are one implementation.

#[cfg(feature = "flight")]
mod arrow_values;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_catalog;
#[cfg(feature = "postgres")]
mod postgres_functions;
#[cfg(feature = "postgres")]
mod postgres_values;

use datafusion::common::ParamValues;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::EmptyRecordBatchStream;
use datafusion::sql::parser::Statement as Parsed;
use serde::{Deserialize, Serialize};

use super::job::one;
use super::{Session, StoredTables, guard};
use crate::error::Error;

#[cfg(feature = "postgres")]
pub use self::postgres_values::PostgresValue;

/// Whose words a statement is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// Those of the API.
    #[default]
    Own,
    /// Those of PostgreSQL's clients, with the tables that tell them what there is.
    #[cfg(feature = "postgres")]
    Postgres,
}

/// Values of the parameters of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Values {
    /// None.
    #[default]
    None,
    /// As PostgreSQL's clients write them.
    #[cfg(feature = "postgres")]
    Postgres(Vec<PostgresValue>),
    /// A row in Arrow's stream format.
    #[cfg(feature = "flight")]
    Arrow(Vec<u8>),
}

/// What a database client asks beside a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireStatement {
    /// Whose words it is in.
    pub dialect: Dialect,
    /// Whether only its columns and the types of its parameters are asked for.
    pub describe: bool,
    /// Values of its parameters.
    pub values: Values,
}

/// A statement that runs, or is only described.
pub(super) struct Started {
    /// Its rows; none where it is only described.
    pub(super) rows: SendableRecordBatchStream,
    /// Types of its parameters by PostgreSQL's numbers, where it is only described.
    pub(super) parameters: Vec<u32>,
}

impl WireStatement {
    /// The tables as the dialect knows them.
    pub(super) fn session(&self, stored: StoredTables) -> Result<Session, Error> {
        match self.dialect {
            Dialect::Own => Session::of_store(stored),
            #[cfg(feature = "postgres")]
            Dialect::Postgres => postgres::session(stored),
        }
    }

    /// Plans a statement and runs it with its values.
    pub(super) async fn start(&self, session: &Session, text: &str) -> Result<Started, Error> {
        let parsed = match self.dialect {
            Dialect::Own => one(text)?.0,
            #[cfg(feature = "postgres")]
            Dialect::Postgres => {
                postgres::settle(session, text).await?;
                postgres::parse(text)?
            }
        };
        let started = self.started(session, parsed).await;
        started.map_err(|error| session.failed(error))
    }

    async fn started(&self, session: &Session, parsed: Parsed) -> DataFusionResult<Started> {
        let listing = guard::is_listing(&parsed);
        let plan = session.plan(parsed).await?;
        if self.describe {
            let schema = session.columns_of(plan.clone())?;
            return Ok(Started {
                rows: Box::pin(EmptyRecordBatchStream::new(schema)),
                parameters: self.types(&plan)?,
            });
        }
        let plan = match self.values(&plan)? {
            Some(values) => plan.replace_params_with_values(&values)?,
            None => plan,
        };
        Ok(Started {
            rows: session.execute(plan, listing).await?,
            parameters: Vec::new(),
        })
    }

    fn types(&self, plan: &LogicalPlan) -> DataFusionResult<Vec<u32>> {
        match self.dialect {
            Dialect::Own => {
                let _untyped = plan;
                Ok(Vec::new())
            }
            #[cfg(feature = "postgres")]
            Dialect::Postgres => postgres_values::numbers(plan),
        }
    }

    fn values(&self, plan: &LogicalPlan) -> DataFusionResult<Option<ParamValues>> {
        match &self.values {
            Values::None => {
                let _unused = plan;
                Ok(None)
            }
            #[cfg(feature = "postgres")]
            Values::Postgres(values) => postgres_values::read(plan, values).map(Some),
            #[cfg(feature = "flight")]
            Values::Arrow(row) => arrow_values::read(row).map(Some),
        }
    }
}
