//! What a run is the run of.

use whathappened_model::table::Table;

use super::{Task, TaskRow, Workload, WorkloadRow};
use crate::symbols::{Symbol, SymbolTable};

/// What a run is the run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// A workload on top of its owner chain.
    Workload(WorkloadRow),
    /// A pod or cloud instance that nobody owns.
    Pod(TaskRow),
}

impl Root {
    /// The workload, where it is one.
    #[must_use]
    pub fn workload(self) -> Option<WorkloadRow> {
        match self {
            Self::Workload(root) => Some(root),
            Self::Pod(_) => None,
        }
    }

    /// That of a task: the workload on top of its owners, else the task itself.
    #[must_use]
    pub fn of(number: TaskRow, task: &Task) -> Self {
        task.root.map_or(Self::Pod(number), Self::Workload)
    }
}

/// The workloads on top of others.
pub(super) struct Tops<'a> {
    workloads: &'a Table<Workload>,
    /// What makes runs and is none.
    cron: Option<Symbol>,
}

impl<'a> Tops<'a> {
    pub(super) fn of(workloads: &'a Table<Workload>, symbols: &SymbolTable) -> Self {
        let cron = symbols.find("CronJob");
        Self { workloads, cron }
    }

    /// The workload on top of the owner chain of a task.
    pub(super) fn top(&self, task: &Task) -> Option<WorkloadRow> {
        let above = |number: &WorkloadRow| {
            let owner = self.workloads.get(*number)?.owner?;
            (Some(self.workloads.get(owner)?.kind) != self.cron).then_some(owner)
        };
        // Owner chains are short; a cycle in hostile input must still end.
        std::iter::successors(task.owner, above).take(17).last()
    }
}
