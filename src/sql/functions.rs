//! The table functions `timeline('<experiment>')` and `why('<experiment>')`.

use std::fmt;
use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::Expr;
use futures::future::BoxFuture;

use super::column::Cell::{Flag, Long, Real, Text, Texts, Time};
use super::column::{Column, instant, long};
use super::rows::{RowSource, table, wrapped};
use crate::answer::{Answer, Edge, TimelineRow};
use crate::error::Error;

/// What can be asked about an experiment: a case or a store.
pub(super) trait AnswerSource: Send + Sync + 'static {
    /// What happened to one experiment.
    fn about(self: Arc<Self>, name: String) -> BoxFuture<'static, Result<Answer, Error>>;
}

/// A table of `R` that asks about one experiment.
pub(super) struct AnswerTable<S: 'static, R: 'static> {
    name: &'static str,
    columns: &'static [Column<R>],
    shared: Arc<S>,
    rows: fn(Answer) -> Vec<R>,
}

impl<S, R> fmt::Debug for AnswerTable<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("About")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<S: AnswerSource, R: Send + 'static> TableFunctionImpl for AnswerTable<S, R> {
    fn call_with_args(&self, args: TableFunctionArgs) -> DataFusionResult<Arc<dyn TableProvider>> {
        let asked = match args.exprs() {
            [Expr::Literal(value, _)] => value.try_as_str().flatten(),
            _ => None,
        };
        let name = self.name;
        let wrong = || {
            wrapped(Error::Usage(format!(
                "{name} takes one name in quotes, as in {name}('llm-pretrain')"
            )))
        };
        let asked = asked.ok_or_else(wrong)?.to_owned();
        let rows = self.rows;
        // Planning cannot wait for an explanation, so the rows do.
        let explain = move |shared: Arc<S>| {
            let answer = shared.about(asked.clone());
            let rows = async move { answer.await.map(rows) };
            Box::pin(rows) as BoxFuture<'static, _>
        };
        table(
            self.columns,
            &self.shared,
            RowSource::Explain(Arc::new(explain)),
        )
    }
}

/// `timeline('<experiment>')`.
pub(super) fn timeline<S: AnswerSource>(shared: &Arc<S>) -> AnswerTable<S, TimelineRow> {
    AnswerTable {
        name: "timeline",
        columns: TIMELINE,
        shared: Arc::clone(shared),
        rows: |answer| answer.timeline,
    }
}

/// `why('<experiment>')`.
pub(super) fn why<S: AnswerSource>(shared: &Arc<S>) -> AnswerTable<S, Step> {
    AnswerTable {
        name: "why",
        columns: WHY,
        shared: Arc::clone(shared),
        rows: steps,
    }
}

/// One step from the cause to what can be done now.
pub(super) struct Step {
    step: usize,
    time: Option<String>,
    role: String,
    edge: Option<Edge>,
    text: String,
    cause: String,
    level: String,
    event_ids: Vec<String>,
}

/// The chain of the main incident, then its advice.
fn steps(answer: Answer) -> Vec<Step> {
    let Some(incident) = answer.incidents.into_iter().next() else {
        return Vec::new();
    };
    let step = |time, role: &str, edge, text, event_ids| Step {
        step: 0,
        time,
        role: role.to_owned(),
        edge,
        text,
        cause: incident.cause.clone(),
        level: incident.level.as_str().to_owned(),
        event_ids,
    };
    let mut steps = vec![step(
        incident.time.clone(),
        "verdict",
        None,
        incident.summary.clone(),
        Vec::new(),
    )];
    for link in incident.chain {
        steps.push(step(
            link.time,
            link.role.as_str(),
            link.edge,
            link.text,
            link.event_ids,
        ));
    }
    for advice in incident.advice {
        steps.push(step(None, "advice", None, advice, Vec::new()));
    }
    for (number, step) in steps.iter_mut().enumerate() {
        step.step = number;
    }
    steps
}

/// Columns of `timeline`, in order.
pub(super) const TIMELINE: &[Column<TimelineRow>] = &[
    Column::new(
        "time",
        Time(|row| instant(Some(&row.time))),
        "when it happened",
    ),
    Column::new(
        "time_hi",
        Time(|row| instant(Some(&row.time_hi))),
        "end of the range of its time, exclusive",
    ),
    Column::new(
        "end",
        Time(|row| instant(row.end.as_deref())),
        "the last repeat, where it repeats or lasts",
    ),
    Column::new(
        "offset_s",
        Real(|row| Some(row.offset_s)),
        "seconds from the start of the run; negative before it",
    ),
    Column::new(
        "lane",
        Text(|row| Some(row.lane.as_str())),
        "pod, container, node, workload, log or other",
    ),
    Column::new(
        "entity",
        Text(|row| Some(&row.entity)),
        "pod, node or workload it is about",
    ),
    Column::new(
        "text",
        Text(|row| Some(&row.text)),
        "what happened, in words",
    ),
    Column::new(
        "actor",
        Text(|row| row.actor.as_deref()),
        "who did it, where known",
    ),
    Column::new(
        "weight",
        Text(|row| Some(row.weight.as_str())),
        "info, warning or error",
    ),
    Column::new(
        "signals",
        Texts(|row| row.signals.clone()),
        "what it means, in the tool's vocabulary",
    ),
    Column::new(
        "seen_by",
        Texts(|row| row.seen_by.clone()),
        "connectors that witnessed it",
    ),
    Column::new(
        "count",
        Long(|row| long(row.count)),
        "how many repeats the line stands for",
    ),
    Column::new(
        "in_chain",
        Flag(|row| Some(row.in_chain)),
        "the chain of an incident holds it",
    ),
    Column::new(
        "event_ids",
        Texts(|row| row.event_ids.clone()),
        "ids of the events",
    ),
];

/// Columns of `why`, in order.
pub(super) const WHY: &[Column<Step>] = &[
    Column::new(
        "step",
        Long(|row| long(row.step)),
        "0 for the verdict, then from the cause on",
    ),
    Column::new(
        "time",
        Time(|row| instant(row.time.as_deref())),
        "the step's own time",
    ),
    Column::new(
        "role",
        Text(|row| Some(&row.role)),
        "verdict, announcement, cause, mechanism, death, stuck, teardown, outcome or advice",
    ),
    Column::new(
        "edge",
        Text(|row| row.edge.map(Edge::as_str)),
        "how it is tied to the step before: asserted (one record names both ends) or inferred",
    ),
    Column::new(
        "text",
        Text(|row| Some(&row.text)),
        "what happened, in words",
    ),
    Column::new(
        "cause",
        Text(|row| Some(&row.cause)),
        "cause id of the incident",
    ),
    Column::new(
        "level",
        Text(|row| Some(&row.level)),
        "how well the incident is proven",
    ),
    Column::new(
        "event_ids",
        Texts(|row| row.event_ids.clone()),
        "ids of the events that say so",
    ),
];
