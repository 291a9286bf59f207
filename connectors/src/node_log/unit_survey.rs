//! Whose journal some lines are: of one service (`journalctl -u train`), or of a machine on which many speak.

use std::collections::{BTreeMap, BTreeSet};

use super::line::HostLine;
use super::service::{self, Speaker};

/// Lines that are looked at.
pub(super) const LINES: usize = 2_000;

/// Programs of one service at most: a shell, what it starts, and what that starts.
const OF_ONE: usize = 4;

/// Whose lines are a program's log, and of which service it is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Programs {
    /// Who speaks in it.
    names: BTreeSet<String>,
    /// The service, where that is known.
    pub(super) unit: Option<String>,
}

impl Programs {
    /// Whether a line is of the program's log.
    pub(super) fn hold(&self, speaker: Speaker<'_>) -> bool {
        let Speaker::Program(name, unit) = speaker else {
            return false;
        };
        // Of many that are called alike the line says whose it is.
        let is_other = unit.is_some() && self.unit.is_some() && unit != self.unit.as_deref();
        self.names.contains(name) && !is_other
    }
}

/// What is known of one program.
#[derive(Debug, Default)]
struct ProgramTraits {
    trains: bool,
    breaks: bool,
    units: BTreeSet<String>,
}

/// Looks at lines; `file` is the name of their file without its ending. `None` where they are no program's.
pub(super) fn programs<'l>(
    lines: impl Iterator<Item = &'l HostLine>,
    file: &str,
) -> Option<Programs> {
    let mut seen: BTreeMap<(String, Option<String>), ProgramTraits> = BTreeMap::new();
    let mut named: BTreeSet<String> = BTreeSet::new();
    let mut is_machines = false;
    for line in lines {
        match Speaker::of(line) {
            Speaker::Systemd => named.extend(service::unit_of(&line.message).map(str::to_owned)),
            Speaker::Machine => is_machines |= !goes_with_services(line),
            Speaker::Program(name, unit) => {
                let key = (name.to_owned(), unit.map(str::to_owned));
                let one = seen.entry(key).or_default();
                one.trains |= service::trains(&line.message);
                one.breaks |= service::breaks(&line.message);
                one.units.extend(unit.map(str::to_owned));
            }
        }
    }
    let explicit: BTreeSet<&String> = seen.keys().filter_map(|(_, unit)| unit.as_ref()).collect();
    let is_own = !is_machines && seen.len() <= OF_ONE && explicit.len() <= 1 && named.len() <= 1;
    let is_program = |name: &str, one: &ProgramTraits| {
        one.trains || is_own && (one.breaks || service::may_train(name))
    };
    // What a shell says beside the program that it starts is of the same log.
    let any = seen.iter().any(|((name, _), one)| is_program(name, one));
    let chosen: Vec<&(String, Option<String>)> = seen
        .iter()
        .filter(|((name, _), one)| is_program(name, one) || is_own && any)
        .map(|(key, _)| key)
        .collect();
    let units: BTreeSet<&String> = chosen
        .iter()
        .filter_map(|(_, unit)| unit.as_ref())
        .collect();
    let unit = match (units.len(), named.len()) {
        (1, _) => units.first().map(|unit| (*unit).clone()),
        (0, 1) => named.first().cloned(),
        (0, _) => named.get(file).cloned(),
        // Two services that train in one file: nobody knows which one is meant.
        _ => return None,
    };
    // In the journal of a machine only a service that is named counts.
    if chosen.is_empty() || unit.is_none() && !is_own {
        return None;
    }
    let names = chosen.into_iter().map(|(name, _)| name.clone()).collect();
    Some(Programs { names, unit })
}

/// The kernel, who asks for services to be stopped, and what belongs to systemd may stand in a service's journal, where somebody
/// asked for them as well.
fn goes_with_services(line: &HostLine) -> bool {
    let program = line.program.as_deref().unwrap_or("kernel");
    matches!(program, "kernel" | "sudo" | "su") || program.starts_with("systemd-")
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::*;

    fn of(text: &str, file: &str) -> Option<(String, Option<String>)> {
        let lines: Vec<HostLine> = text.lines().filter_map(line::parse).collect();
        let found = programs(lines.iter(), file)?;
        Some((Vec::from_iter(found.names).join(" "), found.unit))
    }

    #[test]
    fn the_journal_of_a_service_is_told_from_that_of_a_machine() {
        let own = "Nov 28 10:00:00 n1 systemd[1]: Started train.service - T.\n\
                   Nov 28 10:00:01 n1 run.sh[8]: begins\n\
                   Nov 28 10:00:01 n1 python3[9]: step 1 loss 2.0\n";
        let named =
            |names: &str, unit: Option<&str>| Some((names.to_owned(), unit.map(str::to_owned)));
        assert_eq!(of(own, "x"), named("python3 run.sh", Some("train")));
        // Without a word of systemd the file's name has to do.
        let bare = "Nov 28 10:00:01 n1 python3[9]: step 1 loss 2.0\n";
        assert_eq!(of(bare, "x"), named("python3", None));
        // A service of something else.
        let web = "Nov 28 10:00:00 n1 systemd[1]: Started nginx.service - N.\nNov 28 10:00:01 n1 nginx[9]: ready\n";
        assert_eq!(of(web, "nginx"), None);
        // A machine's journal in which nothing says whose the steps are.
        let machine = format!(
            "{bare}Nov 28 10:00:02 n1 CRON[3]: (root) CMD (x)\nNov 28 10:00:02 n1 sshd[4]: x\n"
        );
        assert_eq!(of(&machine, "journal"), None);
        let said = "Sat 2026-11-28 10:00:01 UTC n1 train.service[9]: step 1 loss 2.0\n\
                    Sat 2026-11-28 10:00:01 UTC n1 cron.service[3]: (root) CMD (x)\n\
                    Sat 2026-11-28 10:00:02 UTC n1 ssh.service[4]: x\n";
        assert_eq!(of(said, "journal"), named("train.service", Some("train")));
        let two = "Sat 2026-11-28 10:00:01 UTC n1 train@1.service[9]: step 1 loss 2.0\n\
                   Sat 2026-11-28 10:00:01 UTC n1 train@2.service[8]: step 1 loss 2.0\n";
        assert_eq!(of(two, "journal"), None);
    }
}
