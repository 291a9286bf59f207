//! Statements only read the case: they write nothing, open no file and change
//! no setting.

use datafusion::prelude::SQLOptions;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{SetExpr, Statement as Ast};

/// Why a statement is refused before it is planned.
pub(super) fn refusal(statement: &Parsed) -> Option<&'static str> {
    match statement {
        Parsed::CreateExternalTable(_) => Some("reads files; give them with --from instead"),
        Parsed::CopyTo(_) => Some("writes files; use --format and redirect the output instead"),
        Parsed::Reset(_) => Some(SETTINGS),
        Parsed::Explain(explain) => refusal(&explain.statement),
        Parsed::Statement(statement) => of_ast(statement),
    }
}

const SETTINGS: &str = "changes settings, which are fixed";
const WRITES: &str = "changes data, and what happened has happened; build on a subquery or WITH instead";

fn of_ast(statement: &Ast) -> Option<&'static str> {
    match statement {
        Ast::Query(query) => match &*query.body {
            SetExpr::Select(select) if select.into.is_some() => Some(WRITES),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => Some(WRITES),
            _ => None,
        },
        Ast::Explain { statement, .. } => of_ast(statement),
        Ast::ExplainTable { .. }
        | Ast::ShowTables { .. }
        | Ast::ShowColumns { .. }
        | Ast::ShowFunctions { .. }
        | Ast::ShowVariable { .. } => None,
        Ast::Set(_) => Some(SETTINGS),
        Ast::Copy { .. } => Some("writes files; use --format and redirect the output instead"),
        _ => Some(WRITES),
    }
}

/// What the planner refuses, should anything pass the check above.
pub(super) fn options() -> SQLOptions {
    SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false)
}
