//! Statements only read the case: they write nothing, open no file and change
//! no setting.

use datafusion::prelude::SQLOptions;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{SetExpr, Statement as Ast};

const FILES: &str = "statements cannot read files; use --from to read them";
const OUTPUT: &str = "statements cannot write files; choose a --format and redirect the output";
const SETTINGS: &str = "settings are fixed, so that a statement gives the same result everywhere";
const WRITES: &str = "the data is read-only";
const TABLES: &str = "the data is read-only; use a subquery or WITH instead of a table of your own";
const OTHER: &str = "only SELECT, WITH, VALUES, EXPLAIN, SHOW and DESCRIBE are supported";

/// Why a statement is refused before it is planned.
pub(super) fn refusal(statement: &Parsed) -> Option<&'static str> {
    match statement {
        Parsed::CreateExternalTable(_) => Some(FILES),
        Parsed::CopyTo(_) => Some(OUTPUT),
        Parsed::Reset(_) => Some(SETTINGS),
        Parsed::Explain(explain) => refusal(&explain.statement),
        Parsed::Statement(statement) => of_ast(statement),
    }
}

fn of_ast(statement: &Ast) -> Option<&'static str> {
    match statement {
        Ast::Query(query) => match &*query.body {
            SetExpr::Select(select) if select.into.is_some() => Some(TABLES),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Some(WRITES)
            }
            _ => None,
        },
        Ast::Explain { statement, .. } => of_ast(statement),
        Ast::ExplainTable { .. }
        | Ast::ShowTables { .. }
        | Ast::ShowColumns { .. }
        | Ast::ShowFunctions { .. }
        | Ast::ShowVariable { .. } => None,
        Ast::Set(_) => Some(SETTINGS),
        Ast::Copy { .. } => Some(OUTPUT),
        Ast::CreateTable(_) | Ast::CreateView(_) => Some(TABLES),
        Ast::Insert(_)
        | Ast::Update(_)
        | Ast::Delete(_)
        | Ast::Merge(_)
        | Ast::Truncate(_)
        | Ast::Drop { .. } => Some(WRITES),
        _ => Some(OTHER),
    }
}

/// Whether a statement lists tables.
pub(super) fn is_listing(statement: &Parsed) -> bool {
    matches!(statement, Parsed::Statement(ast) if matches!(**ast, Ast::ShowTables { .. }))
}

/// What the planner refuses, should anything pass the check above.
pub(super) fn options() -> SQLOptions {
    SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false)
}

/// The words that name what a statement does.
pub(super) fn verb(statement: &Parsed) -> String {
    let statement = match statement {
        Parsed::Explain(explain) => &explain.statement,
        other => other,
    };
    let text = statement.to_string();
    let text = text.strip_prefix("EXPLAIN ").unwrap_or(&text);
    let first = text.split_whitespace().next().unwrap_or_default();
    match first.to_uppercase().as_str() {
        "SELECT" | "WITH" => "SELECT INTO".to_owned(),
        verb => verb.to_owned(),
    }
}
