//! Which signals must be there for a statement to answer anything, as its own filters say: where they are
//! not, it need neither be planned nor be run.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::Fields;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::logical_expr::{Distinct, Expr, JoinType, LogicalPlan, Operator};

/// The column that names a link's signal, in `links` and whatever is selected from it.
pub(super) const SIGNAL: &str = "signal";

/// What must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing that is known.
    Nothing,
    /// This signal.
    Signal(String),
    /// A signal that begins so.
    Beginning(String),
    /// All of these.
    All(Vec<Self>),
    /// One of these.
    Any(Vec<Self>),
}

impl Needs {
    /// All of them.
    pub(super) fn all(needs: impl IntoIterator<Item = Self>) -> Self {
        let mut needs: Vec<Self> = needs
            .into_iter()
            .filter(|one| *one != Self::Nothing)
            .collect();
        match needs.len() {
            0 => Self::Nothing,
            1 => needs.remove(0),
            _ => Self::All(needs),
        }
    }

    /// One of them.
    pub(super) fn any(needs: impl IntoIterator<Item = Self>) -> Self {
        let needs: Vec<Self> = needs.into_iter().collect();
        if needs.contains(&Self::Nothing) {
            return Self::Nothing;
        }
        Self::Any(needs)
    }

    /// Whether these signals are enough.
    pub(super) fn are_among(&self, signals: &BTreeSet<&str>) -> bool {
        match self {
            Self::Nothing => true,
            Self::Signal(name) => signals.contains(name.as_str()),
            Self::Beginning(stem) => {
                let next = signals.range(stem.as_str()..).next();
                next.is_some_and(|signal| signal.starts_with(stem))
            }
            Self::All(needs) => needs.iter().all(|one| one.are_among(signals)),
            Self::Any(needs) => needs.iter().any(|one| one.are_among(signals)),
        }
    }
}

/// What a plan needs; `of_table` says it of the tables that it reads.
pub(super) fn of(plan: &LogicalPlan, of_table: &dyn Fn(&str) -> Needs) -> Needs {
    let of = |plan: &LogicalPlan| of(plan, of_table);
    match plan {
        LogicalPlan::Filter(filter) => {
            Needs::all([of_filter(&filter.predicate, of_table), of(&filter.input)])
        }
        LogicalPlan::Join(join) => {
            let on = || {
                let on = join.filter.as_ref();
                on.map_or(Needs::Nothing, |on| of_filter(on, of_table))
            };
            match join.join_type {
                JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => {
                    Needs::all([of(&join.left), of(&join.right), on()])
                }
                JoinType::Left | JoinType::LeftAnti | JoinType::LeftMark => of(&join.left),
                JoinType::Right | JoinType::RightAnti | JoinType::RightMark => of(&join.right),
                JoinType::Full => Needs::any([of(&join.left), of(&join.right)]),
            }
        }
        LogicalPlan::Union(union) => Needs::any(union.inputs.iter().map(|input| of(input))),
        LogicalPlan::TableScan(scan) => of_table(scan.table_name.table()),
        LogicalPlan::Projection(projection) => of(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => of(&alias.input),
        LogicalPlan::Distinct(Distinct::All(input)) => of(input),
        LogicalPlan::Sort(sort) => of(&sort.input),
        LogicalPlan::Limit(limit) => of(&limit.input),
        // Without groups there is a row of nothing, too.
        LogicalPlan::Aggregate(groups) if !groups.group_expr.is_empty() => of(&groups.input),
        _ => Needs::Nothing,
    }
}

/// What a condition needs to hold.
fn of_filter(condition: &Expr, of_table: &dyn Fn(&str) -> Needs) -> Needs {
    let of_filter = |condition: &Expr| of_filter(condition, of_table);
    match condition {
        Expr::BinaryExpr(both) => match both.op {
            Operator::And => Needs::all([of_filter(&both.left), of_filter(&both.right)]),
            Operator::Or => Needs::any([of_filter(&both.left), of_filter(&both.right)]),
            Operator::Eq if is_signal(&both.left) => is(&both.right),
            _ => Needs::Nothing,
        },
        Expr::InList(list) if is_signal(&list.expr) && !list.negated => {
            Needs::any(list.list.iter().map(is))
        }
        Expr::Like(like)
            if is_signal(&like.expr)
                && !like.negated
                && !like.case_insensitive
                && like.escape_char.is_none() =>
        {
            let stem =
                text(&like.pattern).and_then(|pattern| pattern.split(['%', '_', '\\']).next());
            stem.map_or(Needs::Nothing, |stem| Needs::Beginning(stem.to_owned()))
        }
        Expr::InSubquery(among) if !among.negated => of(&among.subquery.subquery, of_table),
        _ => Needs::Nothing,
    }
}

fn is(value: &Expr) -> Needs {
    text(value).map_or(Needs::Nothing, |name| Needs::Signal(name.to_owned()))
}

fn text(value: &Expr) -> Option<&str> {
    match value {
        Expr::Literal(ScalarValue::Utf8(Some(text)), _) => Some(text),
        _ => None,
    }
}

fn is_signal(column: &Expr) -> bool {
    matches!(column, Expr::Column(column) if column.name == SIGNAL)
}

/// Whether whatever a plan calls a signal is one of the tables that it reads.
///
/// # Errors
/// Never: nothing in it fails.
pub(super) fn keeps_signals(plan: &LogicalPlan) -> Result<bool> {
    let mut keeps = true;
    plan.apply_with_subqueries(|node| {
        keeps &= match node {
            LogicalPlan::Projection(projection) => {
                let names = projection.schema.fields().iter();
                names.zip(&projection.expr).all(|(field, value)| {
                    field.name() != SIGNAL || is_signal(&value.clone().unalias())
                })
            }
            LogicalPlan::Union(union) => {
                let mut inputs = union.inputs.iter();
                inputs.all(|input| is_alike(union.schema.fields(), input.schema().fields()))
            }
            LogicalPlan::Filter(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Subquery(_) => true,
            // Whatever else there may be.
            _ => false,
        };
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(keeps)
}

/// Whether what one calls a signal, the other calls so as well.
pub(super) fn is_alike(one: &Fields, other: &Fields) -> bool {
    let mut both = one.iter().zip(other);
    both.all(|(one, other)| (one.name() == SIGNAL) == (other.name() == SIGNAL))
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::explain::tables;

    async fn plan(sql: &str) -> LogicalPlan {
        let context = SessionContext::new();
        let schema = tables::links_schema();
        let table = datafusion::datasource::MemTable::try_new(schema, vec![vec![]]).unwrap();
        context
            .register_table("links", std::sync::Arc::new(table))
            .unwrap();
        context.state().create_logical_plan(sql).await.unwrap()
    }

    #[tokio::test]
    async fn a_statement_needs_what_its_filters_ask_for() {
        for (sql, enough, too_little) in [
            (
                "SELECT death FROM links WHERE signal = 'a.b' AND via = 'pod'",
                "a.b",
                "a.bc",
            ),
            (
                "SELECT death FROM links WHERE signal IN ('a', 'b')",
                "b",
                "c",
            ),
            (
                "SELECT death FROM links WHERE (signal = 'a' OR signal LIKE 'b.%') AND lag_s > 5",
                "b.x",
                "b",
            ),
            (
                "SELECT death FROM links WHERE signal LIKE 'b_c%'",
                "bxc",
                "xbc",
            ),
            (
                "SELECT l.death FROM links l JOIN links k ON k.death = l.death AND k.signal = 'k' WHERE l.signal = 'l'",
                "k l",
                "l",
            ),
            (
                "SELECT l.death FROM links l LEFT JOIN links k ON k.death = l.death AND k.signal = 'k' WHERE l.signal = 'l'",
                "l",
                "k",
            ),
            (
                "SELECT death FROM links WHERE signal = 'a' AND death IN (SELECT death FROM links WHERE signal = 'b')",
                "a b",
                "a",
            ),
            (
                "SELECT DISTINCT death FROM links WHERE signal = 'a' UNION SELECT death FROM links WHERE signal = 'b'",
                "b",
                "c",
            ),
            (
                "SELECT death FROM (SELECT death, signal AS s, signal FROM links) x WHERE signal = 'a'",
                "a",
                "b",
            ),
            (
                "SELECT death, COUNT(*) FROM links WHERE signal = 'a' GROUP BY death",
                "a",
                "b",
            ),
        ] {
            let plan = plan(sql).await;
            let needs = of(&plan, &|_| Needs::Nothing);
            assert!(keeps_signals(&plan).unwrap(), "{sql}");
            let signals = |words: &'static str| words.split(' ').collect::<BTreeSet<&str>>();
            assert!(needs.are_among(&signals(enough)), "{sql}: {needs:?}");
            assert!(!needs.are_among(&signals(too_little)), "{sql}: {needs:?}");
        }
    }

    #[tokio::test]
    async fn what_may_answer_without_a_signal_needs_none() {
        for sql in [
            "SELECT death FROM links",
            "SELECT death FROM links WHERE signal <> 'a'",
            "SELECT death FROM links WHERE signal NOT IN ('a')",
            "SELECT death FROM links WHERE signal NOT LIKE 'a%'",
            "SELECT death FROM links WHERE signal LIKE '%a'",
            "SELECT death FROM links WHERE signal = 'a' OR via = 'pod'",
            "SELECT death FROM links WHERE death NOT IN (SELECT death FROM links WHERE signal = 'a')",
            "SELECT COUNT(*) FROM links WHERE signal = 'a'",
        ] {
            let needs = of(&plan(sql).await, &|_| Needs::Nothing);
            assert!(
                needs.are_among(&BTreeSet::from(["other"])),
                "{sql}: {needs:?}"
            );
        }
        for sql in [
            "SELECT death FROM (SELECT death, 'a' AS signal FROM links) x WHERE signal = 'a'",
            "SELECT death, signal FROM links UNION ALL SELECT death, via FROM links",
            "SELECT death FROM (SELECT death, via FROM links) x (death, signal) WHERE signal = 'pod'",
        ] {
            assert!(!keeps_signals(&plan(sql).await).unwrap(), "{sql}");
        }
    }
}
