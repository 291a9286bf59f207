//! What a filter says of words and times, to leave whole segments unopened.
//!
//! It may let through too much, never too little: DataFusion filters again.

use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use whathappened_model::time::Nanos;

/// What rows must be: of each column one of its words, and between two times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sql) struct ScanBounds {
    /// (column, values): all of these must hold.
    pub(in crate::sql) words: Vec<(String, Vec<String>)>,
    /// The earliest time.
    pub(in crate::sql) from: Nanos,
    /// The latest time.
    pub(in crate::sql) to: Nanos,
}

impl ScanBounds {
    /// The bounds of filters that all must hold; `known` says which columns
    /// the segments' filters know.
    pub(in crate::sql) fn of<'a>(
        filters: impl IntoIterator<Item = &'a Expr>,
        known: &[&str],
    ) -> Self {
        let mut bounds = Self {
            words: Vec::new(),
            from: Nanos::MIN,
            to: Nanos::MAX,
        };
        for filter in filters {
            bounds.narrow(filter, known);
        }
        bounds
    }

    fn narrow(&mut self, filter: &Expr, known: &[&str]) {
        if let Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::And,
            right,
        }) = filter
        {
            self.narrow(left, known);
            self.narrow(right, known);
            return;
        }
        if let Expr::Between(between) = filter {
            if !between.negated && is_time(&between.expr) {
                self.from = self.from.max(time(&between.low).unwrap_or(Nanos::MIN));
                self.to = self.to.min(time(&between.high).unwrap_or(Nanos::MAX));
            }
            return;
        }
        if let Some((column, values)) = words(filter, known) {
            self.words.push((column, values));
            return;
        }
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else {
            return;
        };
        let reported = if is_time(left) {
            time(right).map(|at| (at, *op))
        } else if is_time(right) {
            time(left).zip(op.swap())
        } else {
            None
        };
        match reported {
            Some((at, Operator::Eq)) => {
                self.from = self.from.max(at);
                self.to = self.to.min(at);
            }
            Some((at, Operator::Gt | Operator::GtEq)) => self.from = self.from.max(at),
            Some((at, Operator::Lt | Operator::LtEq)) => self.to = self.to.min(at),
            _ => {}
        }
    }
}

/// A column that must have one of some values.
fn words(filter: &Expr, known: &[&str]) -> Option<(String, Vec<String>)> {
    match filter {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => {
            let ((Expr::Column(column), value) | (value, Expr::Column(column))) =
                (&**left, &**right)
            else {
                return None;
            };
            let value = text(value)?;
            known
                .contains(&column.name())
                .then(|| (column.name().to_owned(), vec![value]))
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Or,
            right,
        }) => {
            let (column, mut values) = words(left, known)?;
            let (other, more) = words(right, known)?;
            values.extend(more);
            (column == other).then_some((column, values))
        }
        Expr::InList(InList {
            expr,
            list,
            negated: false,
        }) => {
            let Expr::Column(column) = &**expr else {
                return None;
            };
            let values = list.iter().map(text).collect::<Option<Vec<String>>>()?;
            known
                .contains(&column.name())
                .then(|| (column.name().to_owned(), values))
        }
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
        _ => None,
    }
}

fn is_time(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name() == "time" || column.name() == "time_lo")
}

fn time(expr: &Expr) -> Option<Nanos> {
    match expr {
        Expr::Literal(ScalarValue::TimestampNanosecond(at, _), _) => *at,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};

    use super::*;

    #[test]
    fn what_must_hold_is_told_apart_from_what_may() {
        let known = ["pod", "node"];
        let at = |at: i64| {
            lit(ScalarValue::TimestampNanosecond(
                Some(at),
                Some("UTC".into()),
            ))
        };
        let filter = col("pod")
            .eq(lit("a"))
            .and(col("node").in_list(vec![lit("x"), lit("y")], false))
            .and(col("time").gt_eq(at(5)))
            .and(col("time").lt(at(9)))
            .and(col("message").eq(lit("free")));
        let bounds = ScanBounds::of([&filter], &known);
        assert_eq!((bounds.from, bounds.to), (5, 9));
        assert_eq!(
            bounds.words,
            [
                ("pod".to_owned(), vec!["a".to_owned()]),
                ("node".to_owned(), vec!["x".to_owned(), "y".to_owned()])
            ]
        );
        // Either side alone would leave out too much.
        for open in [
            col("pod").eq(lit("a")).or(col("node").eq(lit("x"))),
            col("pod").not_eq(lit("a")),
            col("node").in_list(vec![lit("x")], true),
        ] {
            assert!(ScanBounds::of([&open], &known).words.is_empty(), "{open}");
        }
    }
}
