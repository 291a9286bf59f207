//! Runs the cause rules over the small tables.

use std::collections::BTreeSet;

use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use whathappened_core::death::Death;
use whathappened_core::graph::EntityGraph;
use whathappened_core::link::Link;
use whathappened_core::resolve::Run;

use super::edge::{Edge, Kind, Role};
use super::plans::RuleTables;
use super::rule::Rule;
use super::tables;

/// A rule's statement that does not run or does not answer as it must.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The statement failed.
    #[error("{file}: the statement fails: {error}")]
    Statement {
        /// The rule's file.
        file: String,
        /// What DataFusion says.
        error: Box<datafusion::error::DataFusionError>,
    },
    /// The statement answers something else than edges.
    #[error(
        "{file}: {why}; a rule selects death, cause (a fact), effect (a fact or NULL), edge (asserted, inferred, guess, context or against) and role (act, fault, claim or state)"
    )]
    Shape {
        /// The rule's file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// The tables could not be made.
    #[error("the tables for the rules could not be made: {0}")]
    Tables(#[from] datafusion::error::DataFusionError),
}

/// Evaluates all rules that may apply.
///
/// # Errors
/// Names the rule whose statement fails.
pub async fn edges(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    links: &[Link],
    rules: &[Rule],
) -> Result<Vec<Edge>, EngineError> {
    let start = std::time::Instant::now();
    let made = |error| {
        EngineError::Tables(datafusion::error::DataFusionError::ArrowError(
            Box::new(error),
            None,
        ))
    };
    let present: BTreeSet<&str> = links
        .iter()
        .filter_map(|link| graph.facts.get(link.fact))
        .map(|fact| graph.name(fact.signal))
        .collect();
    let asked = RuleTables::over(
        tables::deaths(graph, runs, deaths).map_err(made)?,
        tables::links(graph, runs, deaths, links).map_err(made)?,
        &present,
    )
    .await?;
    let (mut found, mut planned) = (Vec::new(), 0);
    for (number, rule) in rules.iter().enumerate() {
        if !rule.may_apply(present.iter().copied()) {
            continue;
        }
        planned += 1;
        let failed = |error| EngineError::Statement {
            file: rule.file.clone(),
            error: Box::new(error),
        };
        let batches = asked.answer(&rule.sql).await.map_err(failed)?;
        for batch in &batches {
            read(batch, number, rule, &mut found)?;
        }
    }
    found.sort_by_key(|edge| {
        (
            edge.death,
            edge.cause,
            edge.effect,
            edge.rule,
            edge.kind,
            edge.role,
        )
    });
    found.dedup();
    tracing::debug!(
        rules.planned = planned,
        deaths = deaths.len(),
        links = links.len(),
        edges = found.len(),
        elapsed_ms = start.elapsed().as_secs_f64() * 1e3,
        "evaluated the cause rules"
    );
    Ok(found)
}

fn read(
    batch: &RecordBatch,
    number: usize,
    rule: &Rule,
    found: &mut Vec<Edge>,
) -> Result<(), EngineError> {
    let shape = |why: String| EngineError::Shape {
        file: rule.file.clone(),
        why,
    };
    let column = |name: &str, kind: &DataType| {
        let column = batch
            .column_by_name(name)
            .ok_or_else(|| shape(format!("the column {name} is missing")))?;
        cast(column, kind)
            .map_err(|error| shape(format!("the column {name} has a wrong type: {error}")))
    };
    let whole = |name: &str| column(name, &DataType::Int64);
    let text = |name: &str| column(name, &DataType::Utf8);
    let (death, cause, effect) = (whole("death")?, whole("cause")?, whole("effect")?);
    let (edge, role) = (text("edge")?, text("role")?);
    let (death, cause, effect) = (
        death.as_primitive::<Int64Type>(),
        cause.as_primitive::<Int64Type>(),
        effect.as_primitive::<Int64Type>(),
    );
    let (edge, role) = (edge.as_string::<i32>(), role.as_string::<i32>());
    for row in 0..batch.num_rows() {
        if death.is_null(row) || cause.is_null(row) {
            continue;
        }
        let number_of = |value: i64| {
            usize::try_from(value).map_err(|_| shape(format!("{value} is not a row of the table")))
        };
        found.push(Edge {
            death: number_of(death.value(row))?,
            cause: number_of(cause.value(row))?,
            effect: if effect.is_null(row) {
                None
            } else {
                Some(number_of(effect.value(row))?)
            },
            kind: Kind::parse(edge.value(row))
                .ok_or_else(|| shape(format!("the edge is {:?}", edge.value(row))))?,
            role: Role::parse(role.value(row))
                .ok_or_else(|| shape(format!("the role is {:?}", role.value(row))))?,
            rule: number,
        });
    }
    Ok(())
}
