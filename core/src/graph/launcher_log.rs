//! A launcher's own output beside the folder in which it kept those of its processes (`torchrun --log-dir`): it tells of that
//! gang, and is no run of its own.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::log_gang::{ATTEMPT, Member, Namesakes};
use super::lone_log::Lines;
use super::node_folder::folder_of;
use crate::evidence::SpillError;
use crate::graph::TaskRow;
use crate::signals::named;
use crate::symbols::Symbol;

/// It notices the end of a process, and has stopped the others, within this long.
const NOTICES: Nanos = 120 * SECOND;

/// Adds to each gang whose logs lie as torchrun lays them the one log above them in which a launcher reports the end of one of
/// its ranks, at the time of these.
///
/// # Errors
/// When a record cannot be read back.
pub(super) fn add(
    all: &Lines<'_>,
    files: &BTreeMap<TaskRow, Symbol>,
    gangs: &mut BTreeMap<(Symbol, String), Namesakes>,
) -> Result<(), SpillError> {
    let mut blamed: BTreeMap<TaskRow, BTreeSet<i32>> = BTreeMap::new();
    for fact in &*all.facts {
        if let Some(pod) = fact.pod
            && all.symbols.name(fact.signal) == named::LAUNCHER_ROOT_CAUSE
        {
            let (_, event) = all.evidence.body(fact.row)?;
            let rank = event.attribute("failed_rank");
            let rank: Option<i32> = rank.and_then(|rank| rank.parse().ok());
            blamed.entry(pod).or_default().extend(rank);
        }
    }
    let seen = |task: TaskRow| all.pods.all.get(task)?.seen;
    let started_all = |(launcher, ranks): &(&TaskRow, &BTreeSet<i32>), gang: &Namesakes| {
        let Some((path, (first, last))) = files.get(*launcher).zip(seen(**launcher)) else {
            return false;
        };
        let folder = folder_of(all.symbols.name(*path)).unwrap_or_default();
        let is_above = |member: &Member| {
            let path = files.get(&member.task).map(|path| all.symbols.name(*path));
            path.is_some_and(|path| is_below(path, folder))
        };
        let is_then = |member: &Member| {
            member.seen.is_none_or(|(begin, end)| {
                first <= begin.saturating_add(CLOCKS) && end <= last.saturating_add(NOTICES)
            })
        };
        let is_there = |rank: &i32| gang.members.iter().any(|one| one.number == Some(*rank));
        !ranks.is_empty()
            && ranks.iter().all(is_there)
            && gang.members.iter().all(|one| is_above(one) && is_then(one))
    };
    let mut found = Vec::new();
    for (key, gang) in &*gangs {
        let mut launchers = blamed.iter().filter(|one| started_all(one, gang));
        // Of two, nobody knows which started these.
        if let (Some((launcher, _)), None) = (launchers.next(), launchers.next()) {
            found.push((key.clone(), *launcher));
        }
    }
    for (key, launcher) in found {
        if let Some(gang) = gangs.get_mut(&key) {
            gang.members.push(Member {
                task: launcher,
                ranks: BTreeSet::new(),
                number: None,
                seen: seen(launcher),
                steps: BTreeMap::new(),
                misses: false,
            });
        }
    }
    Ok(())
}

/// Whether a path is that of the log of a launcher's process, somewhere below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    let separators = ['/', '\\', '!'];
    let rest = match folder {
        "" => Some(path),
        folder => path
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix(separators)),
    };
    rest.is_some_and(|rest| {
        let mut parts = rest.rsplit(separators).skip(1);
        let number = parts.next().unwrap_or_default();
        let attempt = parts.next().and_then(|part| part.strip_prefix(ATTEMPT));
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
        is_number(number) && attempt.is_some_and(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_launcher_keeps_the_logs_of_its_ranks_by_attempt_and_number() {
        for (path, folder, expected) in [
            ("in/rd/attempt_0/2/stderr.log", "in", true),
            ("in/rd/none_x7/attempt_0/2/stderr.log", "in/rd", true),
            ("rd/attempt_1/0/stdout.log", "", true),
            ("in/rd/attempt_0/2/stderr.log", "in/r", false),
            ("in/rd/attempt_0/2/stderr.log", "out", false),
            ("in/rd/rank_2/stderr.log", "in", false),
            ("in/rd/attempt_x/2/stderr.log", "in", false),
        ] {
            assert_eq!(is_below(path, folder), expected, "{path} {folder}");
        }
    }
}
