//! Which task a tracker's files are of.

use std::collections::{BTreeMap, HashMap};

use whathappened_model::table::Table;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::super::node_folder::Machines;
use super::super::workload::owners;
use super::super::{pod_log, vm_log};
use super::{Records, Task, TaskKind, Tracked};
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// Labels that name an experiment.
const LABELS: [&str; 5] = [
    "experiment",
    "experiment-name",
    "experiment_name",
    "run",
    "run-name",
];

/// What the records tell of tasks.
pub(super) struct KnownTasks<'a> {
    symbols: &'a SymbolTable,
    tasks: &'a Table<Task>,
    owner_names: Table<Task, Vec<Symbol>>,
    bearers: pod_log::Bearers,
    instances: HashMap<Symbol, Vec<TaskRow>>,
    machines: Machines,
    /// The files of logs of which nothing else is known.
    logs: BTreeMap<String, TaskRow>,
}

impl<'a> KnownTasks<'a> {
    pub(super) fn of(all: &'a Records<'_>) -> Self {
        let tasks = &all.pods.all;
        let mut logs = BTreeMap::new();
        for (row, task) in all.evidence.rows().iter().zip(&*all.pod_of_row) {
            let of_log = task.filter(|task| {
                let task = tasks.get(*task);
                task.is_some_and(|one| one.kind == TaskKind::Log)
            });
            if let Some(log) = of_log {
                logs.insert(plain(all.symbols.name(row.file())), log);
            }
        }
        let owner_names = tasks.iter().map(|task| {
            let owners = owners(&all.workloads.all, task.owner);
            owners.map(|(_, one)| one.name).collect()
        });
        let instances = vm_log::instances(tasks);
        let of_tasks = tasks.iter().flat_map(Task::machines);
        let machines: Vec<Symbol> = of_tasks
            .chain(instances.keys().copied())
            .filter(|name| name.is_some())
            .collect();
        Self {
            symbols: all.symbols,
            tasks,
            owner_names: owner_names.collect(),
            bearers: pod_log::Bearers::of(all.pods, all.symbols),
            machines: Machines::of(machines, all.symbols),
            instances,
            logs,
        }
    }

    /// The task that a run's files are of, by the surest that they tell.
    pub(super) fn owner(&self, one: &Tracked) -> Option<TaskRow> {
        self.job(one)
            .or_else(|| self.pod_of_host(one))
            .or_else(|| self.task_on_machine(one))
            .or_else(|| self.pod_of_path(one))
            .or_else(|| self.named(one))
            .or_else(|| self.log_beside(one))
    }

    fn task(&self, number: TaskRow) -> Option<&'a Task> {
        self.tasks.get(number)
    }

    /// The only task of these.
    fn only(&self, mut found: impl Iterator<Item = TaskRow>) -> Option<TaskRow> {
        let (one, other) = (found.next()?, found.next());
        other.is_none().then_some(one)
    }

    fn all(&self, kind: TaskKind) -> impl Iterator<Item = (TaskRow, &'a Task)> {
        let all = self.tasks.numbered();
        all.filter(move |(_, task)| task.kind == kind)
    }

    /// Whether a task was there when the run made its steps, as far as both are known.
    fn was_there(&self, task: &Task, one: &Tracked) -> bool {
        let Some((first, last)) = one.steps else {
            return true;
        };
        let begin = task.begin().unwrap_or(Nanos::MIN);
        let gone = task.gone.map_or(Nanos::MAX, |gone| gone.hi);
        let is_over = matches!(task.phase.as_deref(), Some("Failed" | "Succeeded"));
        let exits = task.exits.iter().filter(|exit| is_over && !exit.init);
        let over = exits.map(|exit| exit.time.hi).max().unwrap_or(Nanos::MAX);
        let end = gone.min(over).saturating_add(CLOCKS);
        begin.saturating_sub(CLOCKS) <= first && last <= end
    }

    fn job(&self, one: &Tracked) -> Option<TaskRow> {
        let number = one.job.as_deref()?;
        let is_it = |task: &Task| {
            let id = self.symbols.name(task.uid);
            self.symbols.name(task.name) == number || id.rsplit('/').next() == Some(number)
        };
        let jobs = self.all(TaskKind::Job).filter(|(_, task)| is_it(task));
        self.only(jobs.map(|(number, _)| number))
    }

    /// A pod's host is called as the pod is, or as its job wants: the name without what was appended to it.
    fn pod_of_host(&self, one: &Tracked) -> Option<TaskRow> {
        /// The kubelet cuts longer names off.
        const LONGEST: usize = 63;
        let is_of = |pod: &Task, host: &str| {
            let name = self.symbols.name(pod.name);
            let rest = name.strip_prefix(host);
            rest.is_some_and(|rest| rest.is_empty() || host.len() == LONGEST || is_appended(rest))
        };
        let pods = || {
            self.all(TaskKind::Pod)
                .filter(move |(_, pod)| self.was_there(pod, one))
        };
        one.hosts.iter().find_map(|host| {
            let whole = pods().filter(|(_, pod)| self.symbols.name(pod.name) == host);
            let whole = self.only(whole.map(|(number, _)| number));
            whole.or_else(|| {
                let part = pods().filter(|(_, pod)| is_of(pod, host));
                self.only(part.map(|(number, _)| number))
            })
        })
    }

    /// The instance, or the only batch job on a machine then. Of pods, a machine has many.
    fn task_on_machine(&self, one: &Tracked) -> Option<TaskRow> {
        one.hosts.iter().find_map(|host| {
            let machine = self.machines.of_folder(&format!("{host}/-"))?;
            let there = |number: &TaskRow| {
                self.task(*number)
                    .is_some_and(|task| self.was_there(task, one))
            };
            let instances = self.instances.get(&machine).into_iter().flatten().copied();
            self.only(instances.filter(there)).or_else(|| {
                let jobs = self.all(TaskKind::Job).filter(|(_, task)| {
                    task.machines().any(|name| name == machine) && self.ran_then(task, one)
                });
                self.only(jobs.map(|(number, _)| number))
            })
        })
    }

    /// Whether steps were made while a task ran.
    fn ran_then(&self, task: &Task, one: &Tracked) -> bool {
        let Some((first, last)) = one.steps else {
            return false;
        };
        let begin = task.started.or(task.created).map_or(Nanos::MAX, |at| at.lo);
        let end = task.ended.map_or(Nanos::MAX, |at| at.hi);
        begin.saturating_sub(CLOCKS) <= first && last <= end.saturating_add(CLOCKS)
    }

    fn pod_of_path(&self, one: &Tracked) -> Option<TaskRow> {
        let path = self.symbols.name(one.file?);
        let named = self.bearers.of_path(path, self.symbols);
        let there = named
            .iter()
            .filter_map(|bearer| bearer.task)
            .filter(|number| {
                self.task(*number)
                    .is_some_and(|task| self.was_there(task, one))
            });
        self.only(there)
    }

    /// The pod of a workload, or of an experiment, that is called as the run is. Of several the one of rank 0 writes.
    fn named(&self, one: &Tracked) -> Option<TaskRow> {
        let called = |name: &str| one.names.iter().any(|known| known == name);
        let is_of = |number: TaskRow, pod: &Task| {
            let owners = self.owner_names.get(number).into_iter().flatten();
            let mut owners = owners.map(|name| self.symbols.name(*name));
            let mut labels = pod.body.iter().flat_map(|body| {
                LABELS
                    .iter()
                    .filter_map(move |label| body.labels.get(*label))
            });
            owners.any(called)
                || labels.any(|label| called(label))
                || called(self.symbols.name(pod.name))
        };
        let pods = self.all(TaskKind::Pod);
        let there: Vec<(TaskRow, &Task)> = pods
            .filter(|(number, pod)| is_of(*number, pod) && self.was_there(pod, one))
            .collect();
        let alone = self.only(there.iter().map(|(number, _)| *number));
        alone.or_else(|| {
            let first = there.iter().filter(|(_, pod)| pod.rank == Some(0));
            self.only(first.map(|(number, _)| *number))
        })
    }

    /// The only log in the folder of the run's files, or in the nearest folder around it that has any.
    fn log_beside(&self, one: &Tracked) -> Option<TaskRow> {
        let mut folder = Some(plain(&one.folder));
        while let Some(here) = folder {
            let within = |path: &str| {
                let rest = path.strip_prefix(here.as_str());
                here.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let mut tasks: Vec<TaskRow> = self
                .logs
                .iter()
                .filter(|(path, _)| within(path))
                .map(|(_, task)| *task)
                .collect();
            tasks.sort_unstable();
            tasks.dedup();
            if !tasks.is_empty() {
                let alone = self.only(tasks.iter().copied());
                let rank_0 = |number: &&TaskRow| {
                    self.task(**number).is_some_and(|task| task.rank == Some(0))
                };
                let found = alone.or_else(|| self.only(tasks.iter().filter(rank_0).copied()));
                return found.filter(|number| self.wrote_then(*number, one));
            }
            folder = match here.rsplit_once('/') {
                Some((above, _)) => Some(above.to_owned()),
                None if here.is_empty() => None,
                None => Some(String::new()),
            };
        }
        None
    }

    /// Whether a log was written while the steps were made; one without times may have been.
    fn wrote_then(&self, number: TaskRow, one: &Tracked) -> bool {
        /// A log may end, or begin, well before a tracker's last step.
        const APART: Nanos = 3_600 * SECOND;
        let log = self.task(number).and_then(|task| task.seen);
        let (Some((from, to)), Some((first, last))) = (log, one.steps) else {
            return true;
        };
        from <= last.saturating_add(APART) && first <= to.saturating_add(APART)
    }
}

/// What a controller appends to the name that it gives a pod's host.
fn is_appended(rest: &str) -> bool {
    let random = rest.strip_prefix('-');
    random.is_some_and(|random| {
        random.len() == 5
            && random
                .bytes()
                .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
    })
}

fn plain(path: &str) -> String {
    path.replace(['!', '\\'], "/")
}
