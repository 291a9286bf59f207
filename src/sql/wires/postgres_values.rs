//! Values of parameters as PostgreSQL's clients bind them, and which types they
//! are told to bind.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_pg::datatypes::df::deserialize_parameters_with_server_types;
use arrow_pg::datatypes::{PG_OID_ALIAS_KEY, into_pg_type, pg_type_for_alias_kind};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ParamValues;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};
use pgwire::api::Type;
use pgwire::api::portal::Portal;
use pgwire::api::stmt::StoredStatement;
use pgwire::messages::extendedquery::Bind;
use serde::{Deserialize, Serialize};

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostgresValue {
    /// Its type by PostgreSQL's number, where the client says it.
    pub oid: Option<u32>,
    /// Whether it is in PostgreSQL's binary form; else it is text.
    pub is_binary: bool,
    /// The value; nothing for NULL.
    pub bytes: Option<Vec<u8>>,
}

/// A parameter as the plan knows it.
struct Parameter {
    arrow: Option<DataType>,
    postgres: Type,
}

/// Types of a plan's parameters by PostgreSQL's numbers, in order.
pub(super) fn numbers(plan: &LogicalPlan) -> Result<Vec<u32>> {
    let all = parameters(plan)?;
    // What compares with nothing that has a type is text, which clients can always send.
    let number = |one: Parameter| match one.postgres {
        Type::UNKNOWN => Type::TEXT.oid(),
        known => known.oid(),
    };
    Ok(all.into_iter().map(number).collect())
}

/// The values that a client bound.
pub(super) fn read(plan: &LogicalPlan, values: &[PostgresValue]) -> Result<ParamValues> {
    let wanted = parameters(plan)?;
    if wanted.len() != values.len() {
        return Err(DataFusionError::Plan(format!(
            "the statement has {} parameters, but {} values were bound",
            wanted.len(),
            values.len()
        )));
    }
    let formats = values.iter().map(|value| i16::from(value.is_binary));
    let bytes = values
        .iter()
        .map(|value| value.bytes.clone().map(Into::into));
    let bind = Bind::new(None, None, formats.collect(), bytes.collect(), Vec::new());
    let types = values
        .iter()
        .map(|value| value.oid.and_then(Type::from_oid))
        .map(|kind| kind.filter(|kind| *kind != Type::UNKNOWN));
    let statement = StoredStatement::new(String::new(), (), types.collect());
    let bound = Portal::try_new(&bind, Arc::new(statement)).map_err(failed)?;
    let arrow: Vec<Option<&DataType>> = wanted.iter().map(|one| one.arrow.as_ref()).collect();
    let postgres: Vec<Option<&Type>> = wanted
        .iter()
        .map(|one| match one.postgres {
            Type::UNKNOWN => Some(&Type::TEXT),
            _ => Some(&one.postgres),
        })
        .collect();
    deserialize_parameters_with_server_types(&bound, &arrow, &postgres).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn failed(error: pgwire::error::PgWireError) -> DataFusionError {
    DataFusionError::Plan(format!("a value of a parameter cannot be read: {error}"))
}

/// The parameters of a plan, `$1` first.
fn parameters(plan: &LogicalPlan) -> Result<Vec<Parameter>> {
    let mut arrow = plan.get_parameter_types()?;
    let mut numbered: HashMap<String, Type> = HashMap::new();
    plan.apply_with_subqueries(|node| {
        for expression in node.expressions() {
            expression.apply(|one| {
                look(one, &mut arrow, &mut numbered);
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let mut ordered: Vec<(usize, String, Option<DataType>)> = arrow
        .into_iter()
        .map(|(name, kind)| (place(&name), name, kind))
        .collect();
    ordered.sort_by_key(|(place, ..)| *place);
    let each = ordered.into_iter().map(|(_, name, kind)| {
        let postgres = match (numbered.remove(&name), &kind) {
            (Some(known), _) => known,
            (None, Some(kind)) => into_pg_type(kind).map_err(failed)?,
            (None, None) => Type::UNKNOWN,
        };
        Ok(Parameter {
            arrow: kind,
            postgres,
        })
    });
    each.collect()
}

fn place(name: &str) -> usize {
    name.trim_start_matches('$').parse().unwrap_or(usize::MAX)
}

/// What an expression tells of a parameter: a cast gives it its type, and a column of
/// object numbers, with which it is compared, its kind.
fn look(
    expression: &Expr,
    arrow: &mut HashMap<String, Option<DataType>>,
    numbered: &mut HashMap<String, Type>,
) {
    let (inner, cast) = match expression {
        Expr::Cast(cast) => (cast.expr.as_ref(), Some(cast.field.data_type().clone())),
        other => (other, None),
    };
    let Expr::Placeholder(found) = inner else {
        return;
    };
    let kind = arrow.entry(found.id.clone()).or_default();
    if kind.is_none() {
        *kind = cast;
    }
    if let Some(number) = found.field.as_deref().and_then(number_kind) {
        numbered.insert(found.id.clone(), number);
    }
}

fn number_kind(field: &Field) -> Option<Type> {
    let kind = field.metadata().get(PG_OID_ALIAS_KEY)?;
    let is_number = field.data_type() == &DataType::Int32;
    pg_type_for_alias_kind(kind).filter(|_| is_number)
}
