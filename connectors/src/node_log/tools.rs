//! Logs of the tools that keep machines up to date or busy: unattended-upgrades,
//! Chef, kured, Slurm's controller, a file system's client. Each line says its time, and not always its machine.

use chrono::NaiveDateTime;

use crate::contract::FileHead;
use crate::logs::clock;
use crate::time::Stamp;

use super::line::{HostLine, LineTime};

/// The part of `text` between `before` and the next `after`.
fn between<'t>(text: &'t str, before: &str, after: char) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

fn line(text: &str, clock_end: Option<(clock::Clock, usize)>, program: &str) -> Option<HostLine> {
    let (clock, end) = clock_end?;
    let rest = text.get(end..)?.trim_start_matches([']', ' ']);
    let (level, message) = rest.split_once([' ', ':'])?;
    let known = [
        "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL",
    ];
    known.contains(&level).then(|| HostLine {
        program: Some(program.to_owned()),
        severity: Some(level.to_owned()),
        ..HostLine::new(LineTime::Clock(clock), message.trim_start())
    })
}

/// `2026-11-21 06:04:49,671 WARNING Found /var/run/reboot-required, rebooting`
pub(super) fn upgrades(text: &str) -> Result<Option<HostLine>, String> {
    if !text.starts_with("20") {
        return Ok(None);
    }
    Ok(line(text, clock::leading(text), "unattended-upgrades"))
}

/// Whether it begins as that log: its own words, for the form is Python's.
pub(super) fn is_upgrades(head: &FileHead<'_>) -> bool {
    const WORDS: [&str; 6] = [
        "nattended-upgrades",
        "nattended upgrades script",
        "Initial blacklist",
        "Packages that will be upgraded",
        "Found /var/run/reboot-required",
        "All upgrades installed",
    ];
    of_tool(head, &WORDS, &|text| {
        upgrades(text).ok().flatten().is_some()
    })
}

/// `[2026-11-21T16:40:51+00:00] INFO: Starting Chef Run for gpu-7`, and its last
/// line, which has no time.
pub(super) fn chef(text: &str) -> Result<Option<HostLine>, String> {
    let text = text.trim_start();
    if text.starts_with('[') {
        return Ok(line(text, clock::leading(text), "chef-client"));
    }
    let finished = text.starts_with("Chef Client ") || text.starts_with("Chef Infra Client ");
    Ok(finished.then(|| HostLine {
        program: Some("chef-client".to_owned()),
        ..HostLine::new(LineTime::Absent, text)
    }))
}

/// Whether it begins as Chef's log.
pub(super) fn is_chef(head: &FileHead<'_>) -> bool {
    const WORDS: [&str; 4] = ["*** Chef ", "Chef Run", "Chef Infra Client", "Chef Client"];
    of_tool(head, &WORDS, &|text| chef(text).ok().flatten().is_some())
}

/// `time="2026-11-21T15:20:27Z" level=info msg="Commanding reboot for node: gpu-7"`
pub(super) fn kured(text: &str) -> Result<Option<HostLine>, String> {
    let text = crate::logs::unwrapped(text);
    let parsed = between(&text, "time=\"", '"')
        .and_then(clock::leading)
        .map(|(clock, _)| {
            let message = between(&text, "msg=\"", '"').unwrap_or_default();
            let level = text.split_once("level=").map(|(_, rest)| rest);
            HostLine {
                program: Some("kured".to_owned()),
                severity: level
                    .and_then(|rest| rest.split(' ').next())
                    .map(str::to_owned),
                ..HostLine::new(LineTime::Clock(clock), message)
            }
        });
    Ok(parsed)
}

/// Whether it begins as kured's log.
pub(super) fn is_kured(head: &FileHead<'_>) -> bool {
    const WORDS: [&str; 4] = [
        "Kubernetes Reboot Daemon",
        "msg=\"Commanding reboot for node",
        "weave.works/kured",
        "kured.dev",
    ];
    of_tool(head, &WORDS, &|text| kured(text).ok().flatten().is_some())
}

/// `[2026-11-21T16:40:51.213] error: Nodes n1 not responding`, as Slurm's daemons
/// write into files of their own.
pub(super) fn slurm(text: &str) -> Result<Option<HostLine>, String> {
    let rest = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let Some((time, message)) = rest else {
        return Ok(None);
    };
    // No zone: that tells it from other logs with brackets.
    let ends_in_digit = time.ends_with(|c: char| c.is_ascii_digit());
    let whole = clock::leading(time).filter(|(_, end)| *end == time.len() && ends_in_digit);
    Ok(whole.map(|(clock, _)| HostLine {
        program: Some("slurmctld".to_owned()),
        ..HostLine::new(LineTime::Clock(clock), message)
    }))
}

/// Whether it begins as such a log.
pub(super) fn is_slurm(head: &FileHead<'_>) -> bool {
    // All of them with the sign that parts the time from the text.
    const WORDS: [&str; 22] = [
        "] Launching batch job ",
        ".batch] error: ",
        ".extern] error: ",
        "] launch task StepId=",
        ".batch] done with job",
        ".extern] done with job",
        "] error: Nodes ",
        "] Node ",
        "] Killing JobId=",
        "] requeue job JobId=",
        "] Time limit exhausted for JobId=",
        "] preempted JobId=",
        "] drain_nodes: node ",
        "] node_did_resp ",
        "] slurmctld version",
        "] slurmd version",
        "] sched: Allocate JobId=",
        "] sched/backfill: ",
        "] _job_complete: JobId=",
        "] _slurm_rpc_",
        "] update_node: node ",
        "] validate_node_specs: ",
    ];
    of_tool(head, &WORDS, &|text| slurm(text).ok().flatten().is_some())
}

/// `[Nov 21 2026 15:20:27] [ERROR] [tid 2187] detected NVSwitch fatal error …`
pub(super) fn fabric_manager(text: &str) -> Result<Option<HostLine>, String> {
    let read = || {
        let (time, rest) = text.strip_prefix('[')?.split_once("] [")?;
        let time = NaiveDateTime::parse_from_str(time, "%b %d %Y %H:%M:%S").ok()?;
        let (level, rest) = rest.split_once("] ")?;
        let message = match rest.strip_prefix("[tid ") {
            Some(rest) => rest.split_once("] ")?.1,
            None => rest,
        };
        // It names no zone.
        let time = Stamp::second(time.and_utc().timestamp_nanos_opt()?);
        Some(HostLine {
            program: Some("nv-fabricmanager".to_owned()),
            severity: Some(level.to_owned()),
            ..HostLine::new(LineTime::Clock(clock::Clock::NoZone(time)), message)
        })
    };
    Ok(read())
}

/// Whether it begins as the fabric manager's log.
pub(super) fn is_fabric_manager(head: &FileHead<'_>) -> bool {
    of_tool(head, &["Fabric Manager", "NVSwitch", "NVLink"], &|text| {
        fabric_manager(text).ok().flatten().is_some()
    })
}

/// `2026-11-20_10:04:58.301+0000: [N] This node (10.0.0.1 (gpu-1)) was expelled from cluster …`, as Storage Scale (GPFS) writes
/// into `mmfs.log.latest`.
pub(super) fn storage_scale(text: &str) -> Result<Option<HostLine>, String> {
    let read = || {
        let (clock, end) = clock::leading(text)?;
        let (level, message) = text.get(end..)?.strip_prefix(": [")?.split_once("] ")?;
        (level.len() == 1).then(|| HostLine {
            program: Some("mmfs".to_owned()),
            severity: Some(level.to_owned()),
            ..HostLine::new(LineTime::Clock(clock), message)
        })
    };
    Ok(read())
}

/// Whether it begins as that log: its own words, for others may write the same form.
pub(super) fn is_storage_scale(head: &FileHead<'_>) -> bool {
    const WORDS: [&str; 6] = [
        "isk lease",
        "mmfsd",
        "luster",
        "File system ",
        "NSD",
        "Storage Scale",
    ];
    of_tool(head, &WORDS, &|text| {
        storage_scale(text).ok().flatten().is_some()
    })
}

fn of_tool(head: &FileHead<'_>, words: &[&str], is: &dyn Fn(&str) -> bool) -> bool {
    if !words.iter().any(|word| head.text.contains(word)) {
        return false;
    }
    let (mut all, mut of_tool) = (0_u32, 0_u32);
    for text in head.lines(200) {
        all += 1;
        of_tool += u32::from(is(text));
    }
    of_tool * 2 >= all && of_tool > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> FileHead<'_> {
        FileHead {
            bytes: text.as_bytes(),
            text,
        }
    }

    #[test]
    fn tools_are_told_from_programs_that_log_alike() {
        let text = "2026-11-21 06:00:00,100 INFO Starting unattended upgrades script\n2026-11-21 06:04:49,671 WARNING Found /var/run/reboot-required, rebooting\n";
        assert!(is_upgrades(&head(text)));
        let read = upgrades(text.lines().nth(1).unwrap()).unwrap().unwrap();
        assert_eq!(read.message, "Found /var/run/reboot-required, rebooting");
        assert!(!is_upgrades(&head("2026-11-21 06:00:00,100 INFO step 1\n")));
        let text = "[2026-11-21T16:40:51+00:00] INFO: Starting Chef Run for gpu-7\nChef Client finished, 2/9 resources updated in 4 seconds\n";
        assert!(is_chef(&head(text)));
        assert_eq!(
            chef(text.lines().next().unwrap()).unwrap().unwrap().message,
            "Starting Chef Run for gpu-7"
        );
        assert!(!is_chef(&head(
            "[2026-11-21T16:40:51+00:00] INFO: step 1\n"
        )));
        let text =
            "time=\"2026-11-21T15:20:27Z\" level=info msg=\"Kubernetes Reboot Daemon: 1.15\"\n";
        assert!(is_kured(&head(text)));
        let text = "[2026-11-21T16:40:51.213] sched: Allocate JobId=7 NodeList=n1 #CPUs=1 Partition=main\n";
        assert!(is_slurm(&head(text)) && !is_chef(&head(text)));
        assert!(!is_slurm(&head(
            "[2026-11-21T16:40:51+00:00] INFO: step 1\n"
        )));
        let text = "[Nov 21 2026 15:20:27] [ERROR] [tid 2187] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61\n";
        assert!(is_fabric_manager(&head(text)));
        let read = fabric_manager(text.trim_end()).unwrap().unwrap();
        let at = Stamp::parse("2026-11-21T15:20:27Z").unwrap();
        assert_eq!(read.when, LineTime::Clock(clock::Clock::NoZone(at)));
        assert!(
            read.message
                .starts_with("detected NVSwitch fatal error 20034")
        );
        assert!(!is_fabric_manager(&head(
            "[2026-11-21 15:20:27] [INFO] NVLink up\n"
        )));
        let text = "2026-11-20_10:04:58.301+0000: [N] Disk lease period expired 0.010 seconds ago in cluster lab. Attempting to reacquire the lease.\n";
        assert!(is_storage_scale(&head(text)));
        let read = storage_scale(text.trim_end()).unwrap().unwrap();
        let at = Stamp::parse("2026-11-20T10:04:58.301Z").unwrap();
        assert_eq!(read.when, LineTime::Clock(clock::Clock::Full(at)));
        assert!(!is_kured(&head(
            "time=\"2026-11-21T15:20:27Z\" level=info msg=\"step 1\"\n"
        )));
    }
}
