//! Commands that ended processes: of a program whose log says which process it is, one that names others tells nothing.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::{EntityGraph, TaskKind};
use crate::evidence::SpillError;
use crate::graph::TaskRow;
use crate::signals::named;
use crate::symbols::Symbol;

/// Lines of a log in which it says at its beginning which process writes it.
const FIRST_LINES: usize = 200;

/// How a program says which process it is.
static OWN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\bpid\b[=: ]{1,2}(\d{2,})\b").ok());

/// Sets apart the commands that ended processes of which none is a program's whose log says which it is.
///
/// # Errors
/// When a record cannot be read again.
pub(super) fn set_apart(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let mut commands: Vec<(usize, Symbol, Vec<String>)> = Vec::new();
    for (place, fact) in graph.facts.iter().enumerate() {
        if graph.name(fact.signal) == named::NODE_KILL_REQUESTED && fact.node.is_some() {
            let event = graph.evidence.event(fact.row)?;
            let pids = named_pids(event.message.as_deref().unwrap_or_default());
            commands.push((place, fact.node, pids));
        }
    }
    commands.retain(|(.., pids)| !pids.is_empty());
    if commands.is_empty() {
        return Ok(());
    }
    // Which task's log says so, by machine and number of the process.
    let mut own: HashMap<Symbol, HashMap<String, HashSet<Symbol>>> = HashMap::new();
    let mut read: HashMap<TaskRow, usize> = HashMap::new();
    for (number, pod) in graph.pod_of_row.numbered() {
        let (Some(pod), Some(task)) = (*pod, graph.pods.get(*pod)) else {
            continue;
        };
        if !matches!(task.kind, TaskKind::Log | TaskKind::Instance) {
            continue;
        }
        let lines = read.entry(pod).or_default();
        *lines += 1;
        if *lines > FIRST_LINES {
            continue;
        }
        let event = graph.evidence.event(number)?;
        let text = event
            .message
            .as_deref()
            .filter(|_| event.fact == "log.line");
        let found = OWN.as_ref().zip(text);
        let found = found.and_then(|(pattern, text)| pattern.captures(text));
        let pid = found.and_then(|found| Some(found.get(1)?.as_str().to_owned()));
        let known = own.entry(task.node).or_default();
        if let Some(pid) = pid {
            known.entry(pid).or_default().insert(task.name);
        }
    }
    for (place, node, pids) in commands {
        let Some(known) = own.get(&node).filter(|known| !known.is_empty()) else {
            continue;
        };
        let mut of_tasks = pids.iter().filter_map(|pid| known.get(pid)).flatten();
        let holder = match (of_tasks.next(), of_tasks.next()) {
            (None, _) => graph
                .evidence
                .symbols
                .number(&format!("pid {}", pids.join(" "))),
            // It is about that program, and no other beside it.
            (Some(task), None) => *task,
            _ => continue,
        };
        if let Some(fact) = graph.facts.get_mut(place) {
            fact.holder = holder;
        }
    }
    Ok(())
}

/// The processes that a command of `kill` names.
fn named_pids(line: &str) -> Vec<String> {
    let Some((_, command)) = line.split_once("COMMAND=") else {
        return Vec::new();
    };
    let mut words = command.split_whitespace();
    let is_kill = words
        .next()
        .is_some_and(|word| word.ends_with("/kill") || word == "kill");
    let mut after = "";
    let mut found = Vec::new();
    let mut options_end = false;
    for word in words.filter(|_| is_kill) {
        // A number below zero is that of a group of processes, which bears the number of its first one.
        let of_group = word.strip_prefix('-').filter(|_| options_end);
        let number = of_group.unwrap_or(word);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !matches!(after, "-s" | "-n" | "--signal") {
            found.push(number.to_owned());
        }
        options_end |= word == "--";
        after = word;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_processes() {
        let of = |command: &str| named_pids(&format!("carol : USER=root ; COMMAND={command}"));
        assert_eq!(of("/usr/bin/kill -9 4711 4712"), ["4711", "4712"]);
        assert_eq!(of("/usr/bin/kill -s 9 4711"), ["4711"]);
        assert_eq!(of("/usr/bin/kill -9 -- -4711"), ["4711"]);
        assert_eq!(of("/usr/bin/pkill -f train.py"), [""; 0]);
    }

    #[test]
    fn a_log_says_which_process_writes_it() {
        let own = |line: &str| {
            let found = OWN.as_ref().and_then(|pattern| pattern.captures(line));
            found.map(|found| found[1].to_owned())
        };
        assert_eq!(own("starting rank=0 pid=4711").as_deref(), Some("4711"));
        assert_eq!(own("Launcher PID: 52 of 8").as_deref(), Some("52"));
        assert_eq!(own("rapid=4711"), None);
    }
}
