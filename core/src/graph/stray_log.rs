//! A log that names no pod, beside pods of one workload: `kubectl_logs.txt`, saved with the description of its Job. It is one
//! of theirs, most likely the last one's, which is what somebody looks at; that is a guess, and whatever is found in it too.

use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

use super::identity::Pods;
use super::lone_log::Lines;
use super::parent;
use super::task::TaskKind;
use crate::evidence::SpillError;
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// Gives lines of files that are called logs, and are nobody's, to the last pod, where all pods bear names of one stem.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let Some(pod) = last_of_one_stem(all.pods, all.symbols) else {
        return Ok(());
    };
    let mut files: Vec<Symbol> = Vec::new();
    all.give(|row, symbols| {
        let names_place = row.node.is_some() || row.host.is_some() || row.instance.is_some();
        let of_file = row.source_kind() == SourceKind::ContainerLog;
        if names_place || row.experiment.is_some() || row.pod.is_some() || !of_file {
            return None;
        }
        if !files.contains(&row.file()) {
            if !is_called_log(symbols.name(row.file())) {
                return None;
            }
            files.push(row.file());
        }
        Some(pod)
    })?;
    if let Some(one) = all.pods.all.get_mut(pod) {
        one.stray_logs.extend(files);
    }
    Ok(())
}

/// The last pod that began, where all that are known are called alike but for their last words.
fn last_of_one_stem(pods: &Pods, symbols: &SymbolTable) -> Option<TaskRow> {
    let mut stem: Option<&str> = None;
    let mut last: Option<(Nanos, &str, TaskRow)> = None;
    for (number, pod) in pods.all.numbered() {
        let name = symbols.name(pod.name);
        let own = parent::drawn(name)?;
        if pod.kind != TaskKind::Pod || stem.is_some_and(|stem| stem != own) {
            return None;
        }
        stem = Some(own);
        last = last.max(Some((pod.begin().unwrap_or(Nanos::MIN), name, number)));
    }
    last.map(|(.., number)| number)
}

/// Whether a file's name says that it holds what `kubectl logs` printed.
fn is_called_log(path: &str) -> bool {
    let file = path.rsplit(['/', '\\', '!']).next().unwrap_or_default();
    let words = || file.split(|sign: char| !sign.is_ascii_alphanumeric());
    let first = words().next().unwrap_or_default();
    matches!(
        first,
        "log" | "logs" | "kubectl" | "oc" | "pod" | "previous" | "current"
    ) && words().any(|word| matches!(word, "log" | "logs"))
}

#[cfg(test)]
mod tests {
    use super::is_called_log;

    #[test]
    fn a_log_is_known_by_its_name() {
        for file in ["kubectl_logs.txt", "a/previous_logs.txt", "logs.txt"] {
            assert!(is_called_log(file), "{file}");
        }
        for file in ["train.log", "kubectl_describe.txt", "catalogue.txt"] {
            assert!(!is_called_log(file), "{file}");
        }
    }
}
