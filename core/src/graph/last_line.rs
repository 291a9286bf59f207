//! Until when pods wrote, and where: a line without a meaning still shows that its program went on.

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::learn::later;
use super::{Task, TaskKind};
use crate::evidence::{Clock, Evidence};
use crate::graph::PodOfRow;
use crate::symbols::SymbolTable;

/// Takes into account the lines of which no rule knows the meaning.
///
/// Where a pod's log told of a failure, only lines of that same log show that its program
/// survived it: what runs beside it may write for ever.
pub(super) fn note(
    evidence: &Evidence,
    symbols: &SymbolTable,
    pod_of_row: &PodOfRow,
    pods: &mut Table<Task>,
) {
    /// A launcher takes this long to see that its process ended, and to tell of it.
    const LAUNCHER_DELAY: Nanos = 60 * SECOND;
    let lines = symbols.find("log.line");
    for (row, pod) in evidence.rows().iter().zip(pod_of_row) {
        if Some(row.fact) == lines
            && let Some(pod) = pods.get_mut(*pod)
            && let Some((failed, over)) = pod.last_words.zip(pod.logged_over)
        {
            let after = row.time.lo > failed.hi.saturating_add(SECOND);
            pod.spoke_between |= after && row.time.lo < over.lo.saturating_sub(LAUNCHER_DELAY);
        }
        if Some(row.fact) == lines
            && row.node.is_some()
            && let Some(pod) = pods.get_mut(*pod)
            && pod.kind == TaskKind::Pod
            && !pod.node.is_some()
        {
            // What ships logs says of each line on which node it was written.
            pod.node = row.node;
        }
        if Some(row.fact) == lines
            && row.clock == Clock::Neighbour
            && let Some(pod) = pods.get_mut(*pod)
        {
            let is_after = row.file() == pod.words_in && row.line() > pod.words_end;
            pod.wrote_after_words |= is_after && pod.last_words.is_some();
        }
        if row.has_signal || Some(row.fact) != lines {
            continue;
        }
        let Some(pod) = pods.get_mut(*pod) else {
            continue;
        };
        let file = || log_of(symbols.name(row.file()));
        let is_one_log = pod.log_places.contains_key(&row.file());
        if pod.words_in.is_some() && !is_one_log && file() != log_of(symbols.name(pod.words_in)) {
            continue;
        }
        if row.time == Stamp::OPEN {
            let place = pod.place_of_line(row.file(), row.line());
            pod.untimed.last = pod.untimed.last.max(place);
        } else {
            pod.last_line = later(pod.last_line, row.time);
        }
    }
}

/// The log that a file belongs to: the kubelet keeps one file for each start of a container,
/// `…/trainer/0.log`, `…/trainer/1.log`.
fn log_of(file: &str) -> &str {
    match file.rsplit_once('/') {
        Some((folder, name)) if name.starts_with(|first: char| first.is_ascii_digit()) => folder,
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::log_of;

    #[test]
    fn restarts_of_a_container_write_one_log() {
        assert_eq!(log_of("pods/a_b_c/trainer/0.log"), "pods/a_b_c/trainer");
        assert_eq!(log_of("pods/a_b_c/trainer/1.log"), "pods/a_b_c/trainer");
        assert_eq!(log_of("logs/trainer.log"), "logs/trainer.log");
    }
}
