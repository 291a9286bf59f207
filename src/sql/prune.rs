//! Which facts a filter cannot let through, told from the rows in memory.
//!
//! A test may let through too much, never too little: DataFusion filters again.

use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use whathappened_core::evidence::Row;
use whathappened_core::symbols::{Symbol, SymbolTable};
use whathappened_model::event::EventId;
use whathappened_model::time::Nanos;

/// What a fact must be to be worth reading.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// Has one of these names in a column.
    Named(NameColumn, Vec<Symbol>),
    /// Has one of these identities.
    Is(Vec<EventId>),
    /// Has a value of a column of times between two instants, both included.
    Between(Clock, Nanos, Nanos),
    /// Passes all of these.
    All(Vec<Self>),
    /// Passes one of these.
    Any(Vec<Self>),
}

/// A column of names.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameColumn {
    Fact,
    Namespace,
    Node,
    Pod,
    PodUid,
    Workload,
}

/// A column of times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    Lo,
    Hi,
}

impl Test {
    /// The test that a filter is, if rows in memory can tell.
    pub(super) fn of(filter: &Expr, symbols: &SymbolTable) -> Option<Self> {
        match filter {
            Expr::BinaryExpr(BinaryExpr {
                left,
                op: Operator::And,
                right,
            }) => {
                // One half is a test as well, only a weaker one.
                let halves: Vec<Self> = [left, right]
                    .into_iter()
                    .filter_map(|half| Self::of(half, symbols))
                    .collect();
                (!halves.is_empty()).then_some(Self::All(halves))
            }
            Expr::BinaryExpr(BinaryExpr {
                left,
                op: Operator::Or,
                right,
            }) => Some(Self::Any(vec![
                Self::of(left, symbols)?,
                Self::of(right, symbols)?,
            ])),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
                (Expr::Column(column), Expr::Literal(value, _)) => {
                    Self::compare(&column.name, *op, value, symbols)
                }
                (Expr::Literal(value, _), Expr::Column(column)) => {
                    Self::compare(&column.name, op.swap()?, value, symbols)
                }
                _ => None,
            },
            Expr::InList(InList {
                expr,
                list,
                negated: false,
            }) => {
                let Expr::Column(column) = &**expr else {
                    return None;
                };
                let one = |value: &Expr| match value {
                    Expr::Literal(value, _) => {
                        Self::compare(&column.name, Operator::Eq, value, symbols)
                    }
                    _ => None,
                };
                list.iter()
                    .map(one)
                    .collect::<Option<Vec<Self>>>()
                    .map(Self::Any)
            }
            _ => None,
        }
    }

    fn compare(
        column: &str,
        op: Operator,
        value: &ScalarValue,
        symbols: &SymbolTable,
    ) -> Option<Self> {
        let clock = match column {
            "time" | "time_lo" => Some(Clock::Lo),
            "time_hi" => Some(Clock::Hi),
            _ => None,
        };
        if let Some(clock) = clock {
            let ScalarValue::TimestampNanosecond(Some(at), _) = value else {
                return None;
            };
            return match op {
                Operator::Eq => Some(Self::Between(clock, *at, *at)),
                Operator::Lt | Operator::LtEq => Some(Self::Between(clock, Nanos::MIN, *at)),
                Operator::Gt | Operator::GtEq => Some(Self::Between(clock, *at, Nanos::MAX)),
                _ => None,
            };
        }
        let text = value.try_as_str()??;
        if op != Operator::Eq {
            return None;
        }
        if column == "id" {
            // What is no id is the id of nothing.
            let id = u128::from_str_radix(text, 16).ok().map(EventId);
            return Some(Self::Is(id.into_iter().collect()));
        }
        let named = match column {
            "fact" => NameColumn::Fact,
            "namespace" => NameColumn::Namespace,
            "node" => NameColumn::Node,
            "pod" => NameColumn::Pod,
            "pod_uid" => NameColumn::PodUid,
            "workload" => NameColumn::Workload,
            _ => return None,
        };
        // A name that was never seen is the name of nothing.
        Some(Self::Named(named, symbols.find(text).into_iter().collect()))
    }

    /// Whether a fact may pass the filter.
    pub(super) fn may_pass(&self, row: &Row) -> bool {
        match self {
            Self::Named(named, wanted) => wanted.contains(&match named {
                NameColumn::Fact => row.fact,
                NameColumn::Namespace => row.namespace,
                NameColumn::Node => row.node,
                NameColumn::Pod => row.pod,
                NameColumn::PodUid => row.pod_uid,
                NameColumn::Workload => row.workload,
            }),
            Self::Is(wanted) => wanted.contains(&row.id),
            Self::Between(Clock::Lo, from, to) => (*from..=*to).contains(&row.time.lo),
            Self::Between(Clock::Hi, from, to) => (*from..=*to).contains(&row.time.hi),
            Self::All(tests) => tests.iter().all(|test| test.may_pass(row)),
            Self::Any(tests) => tests.iter().any(|test| test.may_pass(row)),
        }
    }
}
