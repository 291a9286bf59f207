//! Containers that end as they were meant to, to be started again: with an exit code for which a rule of their own asks that
//! (`restartPolicyRules`). That is no end of anything.

use whathappened_model::table::Table;

use super::{Exit, Task};
use crate::symbols::SymbolTable;

/// Forgets the ends that pods' own rules ask another start for.
pub(super) fn forget(symbols: &SymbolTable, pods: &mut Table<Task>) {
    for pod in pods {
        let Some(body) = pod.body.clone() else {
            continue;
        };
        let containers = body.containers.iter();
        let asks: Vec<_> = containers
            .filter(|one| !one.restarts_on.is_empty())
            .collect();
        if asks.is_empty() {
            continue;
        }
        let counts = |exit: &Exit| {
            let mut own = asks
                .iter()
                .filter(|one| one.name == symbols.name(exit.container));
            let code = exit.exit_code.map(i64::from);
            !own.any(|one| code.is_some_and(|code| one.restarts_on.contains(&code)))
        };
        pod.exits.retain(counts);
        pod.restarted.retain(counts);
    }
}
