//! The tables and table functions that there are.

use datafusion::arrow::datatypes::SchemaRef;

use crate::explain::tables;

use super::{
    collateral, column, coverage, events, experiments, functions, incidents, objects, runs, tenures,
};

/// A table or table function, for help and completion.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is.
    pub meaning: &'static str,
    /// Its columns; each field's metadata says what it means.
    pub schema: SchemaRef,
    /// Whether it is called with an experiment's name.
    pub is_function: bool,
}

/// Every table and table function there is.
pub(crate) fn all() -> Vec<Table> {
    let table = |name, schema, meaning| Table {
        name,
        meaning,
        schema,
        is_function: false,
    };
    let function = |name, schema, meaning| Table {
        name,
        meaning,
        schema,
        is_function: true,
    };
    vec![
        table(
            "events",
            column::schema(events::COLUMNS),
            "a fact, regardless of which and how many sources reported it",
        ),
        table(
            "objects",
            column::schema(objects::COLUMNS),
            "a version of an object, from when to when",
        ),
        table(
            "tenures",
            column::schema(tenures::COLUMNS),
            "who was where, and of what, and when: experiment, run, attempt, workload, pod, node, instance, zone",
        ),
        table(
            "experiments",
            column::schema(experiments::COLUMNS),
            "all runs of one name in one namespace",
        ),
        table(
            "runs",
            column::schema(runs::COLUMNS),
            "a run: one root object, such as a Job, with all its pods",
        ),
        table(
            "coverage",
            column::schema(coverage::COLUMNS),
            "what a source could and could not show",
        ),
        table(
            "incidents",
            column::schema(incidents::COLUMNS),
            "a root cause and what followed from it",
        ),
        table(
            "collateral",
            column::schema(collateral::COLUMNS),
            "a pod that died because its gang was torn down",
        ),
        table(
            "deaths",
            tables::deaths_schema(),
            "what there is to explain: the end of a pod, an instance or a job, or that it is stuck; of a store only of its last day",
        ),
        table(
            "links",
            tables::links_schema(),
            "a fact that touches a death, with what both are: what cause rules select from; of a store only of its last day",
        ),
        function(
            "timeline",
            column::schema(functions::TIMELINE),
            "what happened to an experiment, in order; repeats are one row",
        ),
        function(
            "why",
            column::schema(functions::WHY),
            "the main incident of an experiment step by step, then what to do",
        ),
    ]
}
