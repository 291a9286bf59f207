//! The parts of a rule's statement: what it names by WITH, and the branches of its UNION ALL.
//! `DataFusion` writes the former out wherever they are used and runs the latter though nothing
//! that they ask for is there, so each is planned and asked by itself.

use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, Query, SetExpr, SetOperator, SetQuantifier, With};

/// The query that a statement is.
///
/// # Errors
/// When it is none.
pub(super) fn query(statement: Statement) -> Result<Query> {
    if let Statement::Statement(statement) = statement
        && let ast::Statement::Query(query) = *statement
    {
        return Ok(*query);
    }
    plan_err!("a rule is a SELECT")
}

/// How many queries it names by WITH.
pub(super) fn named(query: &Query) -> usize {
    let with = query.with.as_ref();
    with.map_or(0, |with| with.cte_tables.len())
}

/// Takes one of those out, with the ones before it, which it may use, and puts another into its place.
/// What refers to itself, or names queries of its own, stays.
pub(super) fn take_named(query: &mut Query, number: usize, instead: Query) -> Option<Query> {
    let with = query.with.as_mut().filter(|with| !with.recursive)?;
    let before = With {
        with_token: with.with_token.clone(),
        recursive: false,
        cte_tables: with.cte_tables.get(..number)?.to_vec(),
    };
    let place = &mut with.cte_tables.get_mut(number)?.query;
    if place.with.is_some() {
        return None;
    }
    let mut taken = std::mem::replace(&mut **place, instead);
    taken.with = Some(before).filter(|before| !before.cte_tables.is_empty());
    Some(taken)
}

/// The queries whose rows, one after the other, are those of a query.
pub(super) fn branches(query: Query) -> Vec<Query> {
    // Nothing but names and branches: no order, no limit, nothing else that is of the whole.
    let plain = Query {
        with: query.with.clone(),
        body: query.body.clone(),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    };
    if plain != query {
        return vec![query];
    }
    let mut bodies = Vec::new();
    flatten(*query.body, &mut bodies);
    let branch = |body| Query {
        body: Box::new(body),
        ..plain.clone()
    };
    bodies.into_iter().map(branch).collect()
}

fn flatten(body: SetExpr, bodies: &mut Vec<SetExpr>) {
    match body {
        SetExpr::SetOperation {
            left,
            op: SetOperator::Union,
            set_quantifier: SetQuantifier::All,
            right,
        } => {
            flatten(*left, bodies);
            flatten(*right, bodies);
        }
        other => bodies.push(other),
    }
}
