//! What a run is the run of.

use super::{Task, TaskRow, WorkloadRow};

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
