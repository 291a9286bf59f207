//! The small tables that cause rules query: `deaths` and `links`.
//!
//! `links` is one row a fact that touches a death, with what both are, so that
//! most rules are a filter and the rest one self-join on `death`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use whathappened_core::signals::named;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, RecordBatch,
    StringBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use whathappened_core::death::Death;
use whathappened_core::graph::{
    Cordons, EntityGraph, NodeHealth, Task, TaskKind, TaskRow, is_timed, stands_silence,
};
use whathappened_core::link::Link;
use whathappened_core::resolve::{Root, Run};
use whathappened_core::shared_fault::SharedFaults;
use whathappened_core::symbols::Symbol;
use whathappened_model::object::ObjectBody;
use whathappened_model::table::HasRow as _;

use super::standstill::Standstills;

/// A column: its name, its type, and what it means.
type Column = (&'static str, DataType, &'static str);

/// Columns of `deaths`.
pub const DEATHS: &[Column] = &[
    ("death", DataType::Int64, "number of the death"),
    ("run", DataType::Int64, "number of its run"),
    ("attempt", DataType::Int64, "generation of the gang, from 1"),
    ("pod", DataType::Utf8, "the pod's name"),
    (
        "state",
        DataType::Utf8,
        "died, restarted, crash_loop, never_scheduled, never_created, deleted, scaled_to_zero, stuck_starting, not_ready, stalled, slow, slowed, lingering, failing or failed",
    ),
    ("mode", DataType::Utf8, "killed, exited, lost or none"),
    (
        "exit_code",
        DataType::Int32,
        "exit code of the most informative container",
    ),
    (
        "reason",
        DataType::Utf8,
        "what the container's status claims",
    ),
    ("root_kind", DataType::Utf8, "kind of the run's root object"),
    ("node", DataType::Utf8, "the node the pod was on"),
    (
        "gpus",
        DataType::Float64,
        "GPUs that the pod asked for; NULL if its spec is not known, requests nothing at all, or requests none although its program mentions one",
    ),
    (
        "desired",
        DataType::Int64,
        "pods that the run's root asks for; NULL where its object is not known",
    ),
    (
        "created",
        DataType::Int64,
        "when the pod was created, ns; NULL where no record says so",
    ),
    (
        "node_open",
        DataType::Boolean,
        "its node accepted new pods at that time, so it was not being drained; NULL where no record shows",
    ),
    (
        "node_never_closed",
        DataType::Boolean,
        "its node was seen to accept new pods about that time or later, and no record says that it had been cordoned or uncordoned",
    ),
    (
        "node_ready",
        DataType::Boolean,
        "its node was ready before, at and after that time, so it had not fallen silent; NULL where no record shows",
    ),
    (
        "stands_silence",
        DataType::Boolean,
        "it was on its node for less time than it tolerates one that does not answer, so that no taint for that sent it away; NULL where its own spec is not known",
    ),
    (
        "command_timed",
        DataType::Boolean,
        "its container's command has a time limit (timeout); NULL where the command is not known, or is a script that may have one",
    ),
];

/// Columns of `links`; those of `deaths` first.
pub const LINKS: &[Column] = &[
    ("fact", DataType::Int64, "number of the fact"),
    (
        "record",
        DataType::Int64,
        "number of the record that says so; one that means several things is several facts",
    ),
    ("signal", DataType::Utf8, "what the fact means"),
    (
        "via",
        DataType::Utf8,
        "the entity shared: pod, named, node, workload, claim, cluster, region, zone, pool, queue, service or gang (another member waited for it; of a run that is slow, a machine of another member)",
    ),
    (
        "lag_s",
        DataType::Float64,
        "seconds from the fact to the death; 0 where they overlap, negative after it",
    ),
    (
        "due_s",
        DataType::Float64,
        "seconds from the beginning of what the fact announces to the death, 0 within its window; NULL where it announces nothing",
    ),
    (
        "due_from_s",
        DataType::Float64,
        "seconds from the beginning of what the fact announces to the death, within its window as well; NULL where it announces nothing",
    ),
    (
        "phase",
        DataType::Utf8,
        "how far the act behind the fact has come: announced, started, acted or ended; NULL where it does not say",
    ),
    ("time", DataType::Int64, "the fact's time, ns"),
    (
        "time_hi",
        DataType::Int64,
        "end of the range of that time, exclusive, ns",
    ),
    ("actor", DataType::Utf8, "who did it"),
    (
        "by_operator",
        DataType::Boolean,
        "the actor is a controller that makes workloads and pods as they were asked for, or clears away what is left of them; NULL where none is named",
    ),
    (
        "detail",
        DataType::Utf8,
        "a resource, a taint's key, a condition, an exception",
    ),
    ("code", DataType::Int32, "the fact's own exit code"),
    ("count", DataType::Int64, "how often it was seen"),
    ("source_kind", DataType::Utf8, "the connector"),
    (
        "machine",
        DataType::Utf8,
        "the machine the fact is about; NULL where it is about none",
    ),
    (
        "same_container",
        DataType::Boolean,
        "the fact is about the container that ended, or names no container; false for a sidecar such as a log shipper",
    ),
    (
        "witnesses",
        DataType::Int64,
        "pods and machines that reported the same failure within five minutes; NULL if it is not the failure of a dependency",
    ),
    (
        "shared",
        DataType::Boolean,
        "it was reported by pods of several runs on several nodes, or by three machines: something they share failed",
    ),
    (
        "at_last_step",
        DataType::Boolean,
        "it came as the pod, or its gang, reported the last step, long before the death, and no log of theirs went on; NULL where steps went on, or none are known",
    ),
    (
        "standstill_seen",
        DataType::Boolean,
        "at_last_step, and the log is no part that may end there by itself (a rotated file, a page of a store's answer); no other run had GPUs of the machine, or the one that failed is known to be this run's",
    ),
    (
        "steps_after",
        DataType::Boolean,
        "the pod, or its gang, reported steps well after it; NULL where none are known",
    ),
];

fn schema(columns: &[&[Column]]) -> SchemaRef {
    let fields: Vec<Field> = columns
        .iter()
        .copied()
        .flatten()
        .map(|(name, kind, meaning)| {
            let meaning = [("description".to_owned(), (*meaning).to_owned())];
            Field::new(*name, kind.clone(), true).with_metadata(meaning.into())
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The columns of `deaths`, with what they mean.
#[must_use]
pub fn deaths_schema() -> SchemaRef {
    schema(&[DEATHS])
}

/// The columns of `links`, with what they mean.
#[must_use]
pub fn links_schema() -> SchemaRef {
    schema(&[DEATHS, LINKS])
}

/// The columns that a death fills in both tables.
#[derive(Default)]
struct DeathColumns {
    death: Int64Builder,
    run: Int64Builder,
    attempt: Int64Builder,
    pod: StringBuilder,
    state: StringBuilder,
    mode: StringBuilder,
    exit_code: Int32Builder,
    reason: StringBuilder,
    root_kind: StringBuilder,
    node: StringBuilder,
    gpus: Float64Builder,
    wanted: Int64Builder,
    begun: Int64Builder,
    node_open: BooleanBuilder,
    node_never_closed: BooleanBuilder,
    node_ready: BooleanBuilder,
    stands_silence: BooleanBuilder,
    command_timed: BooleanBuilder,
    cordons: Cordons,
    health: NodeHealth,
    /// What was found of `stands_silence` and of `command_timed`, by death: a death has many links, and its spec is read once.
    stood: HashMap<usize, Option<bool>>,
    timed: HashMap<usize, Option<bool>>,
    /// Pods whose programs speak of a GPU.
    devices: HashSet<TaskRow>,
}

/// What a table or column is called now that rules may still name as it was called before.
#[must_use]
pub fn renamed(name: &str) -> Option<&'static str> {
    match name {
        "ties" => Some("links"),
        "wanted" => Some("desired"),
        "begun" => Some("created"),
        _ => None,
    }
}

fn long(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl DeathColumns {
    fn new(graph: &EntityGraph) -> Self {
        let facts = graph.facts.iter();
        let devices = facts
            .filter(|fact| graph.name(fact.signal).starts_with("log.cuda_"))
            .filter_map(|fact| fact.pod)
            .collect();
        Self {
            devices,
            cordons: Cordons::of(graph),
            health: NodeHealth::of(graph),
            ..Self::default()
        }
    }

    fn push(&mut self, graph: &EntityGraph, runs: &[Run], number: usize, death: &Death) {
        let pod = graph.pods.get(death.pod);
        let kind = runs.get(death.run).map(|run| run.names(graph).1);
        let symbols = &graph.evidence.symbols;
        self.death.append_value(long(number));
        self.run.append_value(long(death.run));
        self.attempt.append_value(i64::from(death.attempt));
        self.pod.append_option(pod.map(|pod| graph.name(pod.name)));
        self.state.append_value(death.state.as_str());
        self.mode.append_value(death.mode.as_str());
        self.exit_code.append_option(death.exit_code);
        self.reason.append_option(symbols.some(death.reason));
        self.root_kind.append_option(kind);
        self.node
            .append_option(pod.and_then(|pod| symbols.some(pod.node)));
        let asked = pod.filter(|pod| {
            let body = pod.body.as_ref();
            // Who asks for nothing at all may use whatever its machine has.
            let asks = |body: &Arc<ObjectBody>| {
                let mut containers = body.containers.iter();
                containers.any(|one| !(one.limits.is_empty() && one.requests.is_empty()))
            };
            pod.kind == TaskKind::Pod && body.is_some_and(asks)
        });
        let asked = asked.and_then(|pod| graph.gpus(pod));
        // A device may come to a pod by a claim, by the runtime's class or unasked.
        let reported = |gpus: &f64| *gpus > 0.0 || !self.devices.has(death.pod);
        self.gpus.append_option(asked.filter(reported));
        // Of kinds that do not say how many pods they want, how many of whatever they count is the nearest.
        let wanted = runs.get(death.run).and_then(|run| match run.root {
            Root::Workload(root) => {
                let body = graph.workloads.get(root)?.body.as_ref()?;
                graph.pods_wanted(root).or(body.replicas)
            }
            Root::Pod(_) => None,
        });
        self.wanted.append_option(wanted);
        self.begun.append_option(pod.and_then(Task::known_begin));
        let open = pod.and_then(|pod| self.cordons.was_open(pod.node, death.time));
        self.node_open.append_option(open);
        let never_closed = |pod: &Task| self.cordons.was_never_closed(pod.node, death.time);
        self.node_never_closed
            .append_value(pod.is_some_and(never_closed));
        let ready = pod.and_then(|pod| self.health.was_ready(pod.node, death.time));
        self.node_ready.append_option(ready);
        let stands = || pod.and_then(|pod| stands_silence(pod, death.time));
        let stands = self.stood.entry(number).or_insert_with(stands);
        self.stands_silence.append_option(*stands);
        let timed = || pod.and_then(|pod| is_timed(graph, pod, graph.name(death.container)));
        let timed = self.timed.entry(number).or_insert_with(timed);
        self.command_timed.append_option(*timed);
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.death.finish()),
            Arc::new(self.run.finish()),
            Arc::new(self.attempt.finish()),
            Arc::new(self.pod.finish()),
            Arc::new(self.state.finish()),
            Arc::new(self.mode.finish()),
            Arc::new(self.exit_code.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.root_kind.finish()),
            Arc::new(self.node.finish()),
            Arc::new(self.gpus.finish()),
            Arc::new(self.wanted.finish()),
            Arc::new(self.begun.finish()),
            Arc::new(self.node_open.finish()),
            Arc::new(self.node_never_closed.finish()),
            Arc::new(self.node_ready.finish()),
            Arc::new(self.stands_silence.finish()),
            Arc::new(self.command_timed.finish()),
        ]
    }
}

/// The table of deaths.
///
/// # Errors
/// Never for columns of one length, which these are.
pub fn deaths(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
) -> Result<RecordBatch, ArrowError> {
    let mut columns = DeathColumns::new(graph);
    for (number, death) in deaths.iter().enumerate() {
        columns.push(graph, runs, number, death);
    }
    RecordBatch::try_new(schema(&[DEATHS]), columns.finish())
}

/// Containers that say of themselves that they are log shippers, with their pods.
fn shippers(graph: &EntityGraph) -> HashSet<(Option<TaskRow>, Symbol)> {
    let signal = graph.evidence.symbols.find(named::LOG_SHIPPER);
    let reported = graph
        .facts
        .iter()
        .filter(|fact| Some(fact.signal) == signal);
    reported.map(|fact| (fact.pod, fact.container)).collect()
}

/// The table of links.
///
/// # Errors
/// Never for columns of one length, which these are.
pub fn links(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    links: &[Link],
) -> Result<RecordBatch, ArrowError> {
    let symbols = &graph.evidence.symbols;
    let mut columns = DeathColumns::new(graph);
    let (mut fact, mut record, mut time, mut time_hi, mut count) = (
        Int64Builder::new(),
        Int64Builder::new(),
        Int64Builder::new(),
        Int64Builder::new(),
        Int64Builder::new(),
    );
    let (mut signal, mut via, mut actor) = (
        StringBuilder::new(),
        StringBuilder::new(),
        StringBuilder::new(),
    );
    let (mut detail, mut source_kind, mut machine) = (
        StringBuilder::new(),
        StringBuilder::new(),
        StringBuilder::new(),
    );
    let (mut lag_s, mut due_s) = (Float64Builder::new(), Float64Builder::new());
    let (mut due_from_s, mut phase) = (Float64Builder::new(), StringBuilder::new());
    let (mut code, mut same) = (Int32Builder::new(), BooleanBuilder::new());
    let (mut witnesses, mut shared) = (Int64Builder::new(), BooleanBuilder::new());
    let (mut at_last_step, mut seen_still) = (BooleanBuilder::new(), BooleanBuilder::new());
    let (mut steps_after, mut by_operator) = (BooleanBuilder::new(), BooleanBuilder::new());
    let mut standstills = Standstills::of(graph, runs);
    let faults = SharedFaults::of(graph, runs).counts();
    let shippers = shippers(graph);
    for link in links {
        let (Some(death), Some(one)) = (deaths.get(link.death), graph.facts.get(link.fact)) else {
            continue;
        };
        columns.push(graph, runs, link.death, death);
        fact.append_value(long(link.fact));
        record.append_value(long(one.row.index()));
        signal.append_value(symbols.name(one.signal));
        via.append_value(link.via);
        lag_s.append_value(link.lag_s);
        due_s.append_option(link.due_s);
        due_from_s.append_option(link.due_from_s);
        phase.append_option(one.phase.word());
        time.append_value(one.time.lo);
        time_hi.append_value(one.time.hi);
        actor.append_option(symbols.some(one.actor));
        by_operator.append_option(symbols.some(one.actor).map(|_| graph.is_by_operator(one)));
        detail.append_option(symbols.some(one.detail));
        code.append_option(one.exit_code);
        count.append_value(i64::try_from(one.count).unwrap_or(i64::MAX));
        source_kind.append_value(one.source_kind.as_str());
        machine.append_option(symbols.some(one.node));
        let of_shipper = one.container.is_some() && shippers.contains(&(one.pod, one.container));
        same.append_value(
            !of_shipper
                && (!one.container.is_some()
                    || !death.container.is_some()
                    || one.container == death.container),
        );
        let seen = faults.of(graph, one);
        witnesses.append_option(seen.map(|seen| long(seen.witnesses)));
        shared.append_value(seen.is_some_and(|seen| seen.is_shared));
        let still = standstills.since(one, death);
        at_last_step.append_option(still.map(|still| still.began));
        seen_still.append_option(still.map(|still| still.is_seen));
        steps_after.append_option(standstills.went_on_after(one, death));
    }
    let mut arrays = columns.finish();
    arrays.extend::<[ArrayRef; 23]>([
        Arc::new(fact.finish()),
        Arc::new(record.finish()),
        Arc::new(signal.finish()),
        Arc::new(via.finish()),
        Arc::new(lag_s.finish()),
        Arc::new(due_s.finish()),
        Arc::new(due_from_s.finish()),
        Arc::new(phase.finish()),
        Arc::new(time.finish()),
        Arc::new(time_hi.finish()),
        Arc::new(actor.finish()),
        Arc::new(by_operator.finish()),
        Arc::new(detail.finish()),
        Arc::new(code.finish()),
        Arc::new(count.finish()),
        Arc::new(source_kind.finish()),
        Arc::new(machine.finish()),
        Arc::new(same.finish()),
        Arc::new(witnesses.finish()),
        Arc::new(shared.finish()),
        Arc::new(at_last_step.finish()),
        Arc::new(seen_still.finish()),
        Arc::new(steps_after.finish()),
    ]);
    RecordBatch::try_new(schema(&[DEATHS, LINKS]), arrays)
}
