//! The zone of Slurm's records.
//!
//! Slurm writes the local time of its controller and names no zone: that is read as UTC. Where a record of the kernel with
//! a zone speaks of the same thing, and does so a whole number of hours (or half or quarter hours) beside it, that is the
//! zone of all of Slurm's records: the kernel killed a process of a job that ended so, or Slurm was told of an Xid that
//! the kernel of that node wrote while a job ran there. A reboot that `slurmctld` notices bears seconds since 1970
//! beside its local time, which says the same of its own log (`time_inferred` is `anchor`). So do a job's beginning and end
//! of which two sources tell, one with a zone: accounting, the daemon of its node as it launches it, and its own log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::zones::{FARTHEST, QUARTER};
use super::{job, job_logs, node_folder};
use crate::evidence::{Clock, Evidence, Row, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// A job ends this long after the kernel killed a process of it at most.
const ENDS: Nanos = 120 * SECOND;

/// And this long, where it may as well have been killed hours before it ended.
const ENDS_AT_ONCE: Nanos = 35 * SECOND;

/// A job's program writes its first line this long after the job has begun at most.
const BEGINS: Nanos = 600 * SECOND;

/// Whoever takes a node out of service for a fault may do so within this long.
const ACTS: Nanos = 900 * SECOND;

/// Clocks of a node and of the controller are this far apart at most.
const CLOCKS: Nanos = 30 * SECOND;

/// The job whose process the kernel kills, by its control group.
static KILLED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"oom-kill:.*task_memcg=\S*?/job_(\d+)/").ok());

/// The job that the daemon of a node launches, or the first step of it.
static LAUNCHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:launch task (?:StepId=)?|Launching batch job )(\d+)(?:\.0)? ").ok()
});

static KERNEL_XID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"NVRM:\s*Xid\s*\([^)]*\):\s*(\d+)\b").ok());

/// As people, and what checks nodes, write it.
static TOLD_XID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\bxid(?: error)?[ :#=]*(\d+)\b").ok());

/// A job's life by Slurm's clock.
#[derive(Debug, Default)]
struct Life {
    begin: Option<Nanos>,
    end: Option<Nanos>,
    nodes: BTreeSet<String>,
    /// It ended as one does of which the kernel killed a process.
    was_killed: bool,
}

impl Life {
    fn holds(&self, at: Nanos) -> bool {
        let (Some(begin), Some(end)) = (self.begin, self.end) else {
            return false;
        };
        (begin.saturating_sub(CLOCKS)..=end.saturating_add(CLOCKS)).contains(&at)
    }

    /// Whether its log may have been written from the one time to the other: it begins when the job does.
    fn wrote(&self, begin: Nanos, end: Nanos) -> bool {
        let begins_with = |started: Nanos| begin.saturating_sub(started) <= BEGINS;
        self.holds(begin) && self.holds(end) && self.begin.is_some_and(begins_with)
    }
}

/// What Slurm says by a clock of no zone, and what kernels say by theirs.
#[derive(Debug, Default)]
struct ClockReadings {
    jobs: BTreeMap<String, Life>,
    /// The same of records that name their zone, or count seconds since 1970.
    dated: BTreeMap<String, Life>,
    clusters: BTreeSet<String>,
    /// Nodes with the Xid that they were taken out of service for, and when.
    reasons: Vec<(String, String, Nanos)>,
    /// The last time that the kernel killed a process of a job.
    kills: BTreeMap<String, Nanos>,
    /// Nodes with the Xids that their kernels wrote, and when.
    xids: Vec<(String, String, Nanos)>,
    /// When the daemon of a node first launched a job.
    launches: BTreeMap<String, Nanos>,
    /// When the first and the last line of a job's own log was written, which names its zone.
    logs: BTreeMap<String, (Nanos, Nanos)>,
    /// What has to be added to local times, as logs tell that hold both.
    anchors: BTreeSet<Nanos>,
    files: BTreeSet<Symbol>,
}

impl ClockReadings {
    fn of(evidence: &Evidence, symbols: &SymbolTable) -> Result<Self, SpillError> {
        let mut readings = Self::default();
        let is_slurm = |row: &Row| row.source_kind() == SourceKind::Slurm;
        for (number, row) in evidence.rows().numbered() {
            if !is_slurm(row) || row.time == Stamp::OPEN {
                continue;
            }
            let (_, event) = evidence.body(number)?;
            if event.attribute("time_inferred") == Some("anchor") {
                let offset = event.attributes.get("utc_offset_s");
                let offset = offset.and_then(serde_json::Value::as_i64);
                readings
                    .anchors
                    .extend(offset.map(|offset| offset.saturating_mul(-SECOND)));
            }
            match row.clock {
                Clock::Local => {
                    readings.files.insert(row.file());
                    readings.slurm(&event);
                }
                _ => Self::live(&mut readings.dated, &event),
            }
        }
        for (key, versions) in evidence.objects.iter() {
            if versions.iter().any(|one| job::is_zoneless(&one.body)) {
                readings.clusters.extend(cluster(&key.uid));
                readings
                    .jobs
                    .entry(job::number(&key.uid).to_owned())
                    .or_default();
            }
        }
        if readings.jobs.is_empty() && readings.files.is_empty() {
            return Ok(readings);
        }
        let launch = symbols.find("slurm.launch");
        for (file, written) in outputs(evidence, Clock::Named) {
            if let Some(job) = job_logs::numbered(symbols.name(file)) {
                readings.logs.insert(job.to_owned(), written);
            }
        }
        for (number, row) in evidence.rows().numbered() {
            let is_kernel = row.source_kind() == SourceKind::NodeLog && row.clock == Clock::Named;
            let is_significant = row.has_signal || Some(row.fact) == launch;
            if is_kernel && is_significant && row.time != Stamp::OPEN {
                let (_, event) = evidence.body(number)?;
                let folder = node_folder::folder_of(symbols.name(row.file()));
                readings.kernel(&event, folder.map(node_folder::last_part));
            }
        }
        Ok(readings)
    }

    fn slurm(&mut self, event: &Event) {
        let text = event.message.as_deref().unwrap_or_default();
        if event.fact == "slurm.node" {
            let node = event.entities.node.clone();
            let xid = first(&TOLD_XID, text);
            if let Some((node, xid)) = node.zip(xid) {
                self.reasons.push((first_word(&node), xid, event.time.lo));
            }
            return;
        }
        self.clusters
            .extend(event.object_uid.as_deref().and_then(cluster));
        Self::live(&mut self.jobs, event);
    }

    /// What a record tells of the life of its job.
    fn live(jobs: &mut BTreeMap<String, Life>, event: &Event) {
        let state = event.reason.as_deref().unwrap_or_default();
        let Some(uid) = event.object_uid.as_deref() else {
            return;
        };
        let life = jobs.entry(job::number(uid).to_owned()).or_default();
        let started = event.attribute("started").and_then(Stamp::parse);
        if let Some(started) = started {
            let begin = life.begin.get_or_insert(started.lo);
            *begin = (*begin).min(started.lo);
        }
        let listed = event.attributes.get("nodes").and_then(|all| all.as_array());
        let listed = listed.into_iter().flatten().filter_map(|one| one.as_str());
        let own = event.entities.node.as_deref();
        life.nodes.extend(listed.chain(own).map(first_word));
        if job::goes_on(event) {
            return;
        }
        life.end = life.end.max(Some(event.time.lo));
        life.was_killed |= state == "OUT_OF_MEMORY"
            || event.exit_code == Some(137)
            || event.attribute("step_state") == Some("OUT_OF_MEMORY");
    }

    /// A kernel's log may not say whose it is: the folder that it lies in does.
    fn kernel(&mut self, event: &Event, folder: Option<&str>) {
        let text = event.message.as_deref().unwrap_or_default();
        if let Some(job) = first(&KILLED, text) {
            let last = self.kills.entry(job).or_insert(event.time.lo);
            *last = (*last).max(event.time.lo);
        }
        if let Some(job) = first(&LAUNCHED, text) {
            let first = self.launches.entry(job).or_insert(event.time.lo);
            *first = (*first).min(event.time.lo);
        }
        let node = event.entities.node.as_deref().or(folder);
        if let (Some(xid), Some(node)) = (first(&KERNEL_XID, text), node) {
            self.xids.push((first_word(node), xid, event.time.lo));
        }
    }

    /// What has to be added to Slurm's times, where all that tells it agrees.
    fn zone(&self) -> Option<Nanos> {
        // Each cluster has a controller, and that a clock.
        if self.clusters.len() > 1 {
            return None;
        }
        let kills = self.kills.iter().filter_map(|(job, at)| {
            let life = self.jobs.get(job).filter(|life| life.was_killed)?;
            let end = life.end?;
            let within = |most: Nanos| {
                move |by: Nanos| {
                    let later = end.saturating_add(by).saturating_sub(*at);
                    (-CLOCKS..=most).contains(&later)
                }
            };
            // A job may outlive a process of its own: then only a whole number of hours to the second is no chance.
            if !life.holds(*at) {
                return moved(&[4, 2, 1], within(ENDS));
            }
            match within(ENDS)(0) {
                true => Some(0),
                false => moved(&[4], within(ENDS_AT_ONCE)),
            }
        });
        let reasons = self.reasons.iter().filter_map(|(node, xid, reported)| {
            let of_node = |one: &&(String, String, Nanos)| one.0 == *node && one.1 == *xid;
            let at = self.xids.iter().filter(of_node).map(|(.., at)| *at).max()?;
            let ran = |by: Nanos| {
                let there =
                    |life: &Life| life.nodes.contains(node) && life.holds(at.saturating_sub(by));
                self.jobs.values().any(there)
            };
            // People take their time.
            if reported.saturating_add(CLOCKS) >= at && ran(0) {
                return Some(0);
            }
            moved(&[4], |by| {
                let later = reported.saturating_add(by).saturating_sub(at);
                (-CLOCKS..=ACTS).contains(&later) && ran(by)
            })
        });
        let launches = self.launches.iter().filter_map(|(job, at)| {
            let life = self.jobs.get(job)?;
            let begin = life.begin?;
            let within = |most: Nanos| {
                move |by: Nanos| {
                    let later = at.saturating_sub(begin.saturating_add(by));
                    (-CLOCKS..=most).contains(&later)
                }
            };
            if !life.holds(*at) {
                return moved(&[4, 2], within(BEGINS));
            }
            // A journal that begins later may lack the first start of a job that was started again.
            match within(BEGINS)(0) {
                true => Some(0),
                false => moved(&[4], within(ENDS_AT_ONCE)),
            }
        });
        let logs = self.logs.iter().filter_map(|(job, (begin, end))| {
            let life = self.jobs.get(job)?;
            // Its first lines may be missing.
            if life.holds(*begin) && life.holds(*end) {
                return None;
            }
            moved(&[4, 2], |by| {
                life.wrote(begin.saturating_sub(by), end.saturating_sub(by))
            })
        });
        let accounts = self.jobs.iter().filter_map(|(job, local)| {
            let dated = self.dated.get(job)?;
            let both = local.begin.zip(dated.begin).or(local.end.zip(dated.end));
            let (local, dated) = both?;
            moved(&[4, 2, 1], |by| {
                dated.saturating_sub(local.saturating_add(by)).abs() <= 2 * SECOND
            })
        });
        let by_times = launches.chain(logs).chain(accounts);
        let found: BTreeSet<Nanos> = kills
            .chain(reasons)
            .chain(by_times)
            .chain(self.anchors.clone())
            .collect();
        let only = found.first().filter(|_| found.len() == 1);
        only.copied().filter(|by| *by != 0)
    }
}

impl ClockReadings {
    /// By how much a job's own log has to be moved that was written from the one time to the other: as Slurm's records
    /// where it is of the life of its job by their clock, which is `by` beside UTC; else so that it is of that life. A
    /// container's log may be in UTC where accounting, which names no zone either, is in its cluster's.
    fn zone_of(&self, job: &str, written: (Nanos, Nanos), by: Option<Nanos>) -> Option<Nanos> {
        let (begin, end) = written;
        let local = self.jobs.get(job);
        if by.is_some() && local.is_some_and(|life| life.holds(begin) && life.holds(end)) {
            return by;
        }
        let (life, clock) = match self.dated.get(job) {
            Some(dated) => (dated, 0),
            None => (local?, by.unwrap_or(0)),
        };
        let (begin, end) = (begin.saturating_sub(clock), end.saturating_sub(clock));
        // Its first lines may be missing.
        if life.holds(begin) && life.holds(end) {
            return None;
        }
        let fits = |by: Nanos| life.wrote(begin.saturating_add(by), end.saturating_add(by));
        // Zones that are half an hour beside the full ones are far from UTC: less is a log that goes on after its job.
        let is_zone = |by: &Nanos| by % (4 * QUARTER) == 0 || by.abs() >= 12 * QUARTER;
        moved(&[4, 2], fits).filter(is_zone)
    }
}

/// By how much something has to be moved to fit, where one zone alone does it: most are whole hours from UTC, few of them
/// halves. `units` are in quarters.
fn moved(units: &[Nanos], fits: impl Fn(Nanos) -> bool) -> Option<Nanos> {
    if fits(0) {
        return Some(0);
    }
    let fitting: Vec<Nanos> = (-FARTHEST..=FARTHEST)
        .filter(|quarters| fits(quarters * QUARTER))
        .collect();
    units.iter().find_map(|unit| {
        let mut of_unit = fitting.iter().filter(|quarters| *quarters % unit == 0);
        let quarters = of_unit.next()?;
        Some(of_unit.next().is_none().then_some(quarters * QUARTER))
    })?
}

fn first(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    let found = pattern.as_ref()?.captures(text)?;
    Some(found.get(1)?.as_str().to_owned())
}

/// A machine by the first word of its whole name, as Slurm calls it; an address has none.
fn first_word(name: &str) -> String {
    match name.split_once('.') {
        Some((word, _)) if !word.bytes().all(|byte| byte.is_ascii_digit()) => word.to_owned(),
        _ => name.to_owned(),
    }
}

/// The cluster of an id `slurm/<cluster>/<number>`.
fn cluster(uid: &str) -> Option<String> {
    let (_, rest) = uid.split_once('/')?;
    Some(rest.rsplit_once('/')?.0.to_owned())
}

/// Moves Slurm's records, and the logs of jobs that fit them, to the zone in which they are. Returns by how much, by file.
///
/// # Errors
/// When a record cannot be read again.
pub(super) fn settle(
    evidence: &mut Evidence,
    symbols: &SymbolTable,
) -> Result<BTreeMap<Symbol, Nanos>, SpillError> {
    let mut zones = BTreeMap::new();
    let is_slurm = |row: &Row| row.source_kind() == SourceKind::Slurm;
    if !evidence.rows().iter().any(is_slurm) {
        return Ok(zones);
    }
    let readings = ClockReadings::of(evidence, symbols)?;
    let by = readings.zone();
    for (file, written) in outputs(evidence, Clock::Local) {
        if let Some(number) = job_logs::numbered(symbols.name(file)) {
            zones.extend(readings.zone_of(number, written, by).map(|by| (file, by)));
        }
    }
    let Some(by) = by else {
        return Ok(zones);
    };
    zones.extend(readings.files.iter().map(|file| (*file, by)));
    for (at, body) in evidence.objects.bodies_mut(job::is_zoneless) {
        for time in [at, &mut body.created, &mut body.started, &mut body.ended] {
            *time = time.map(|time| time.shift(by));
        }
    }
    Ok(zones)
}

/// When the first and the last line of each log of a program was written, of the lines by a clock of that kind.
fn outputs(evidence: &Evidence, clock: Clock) -> BTreeMap<Symbol, (Nanos, Nanos)> {
    let mut logs = BTreeMap::new();
    for row in evidence.rows() {
        let is_dated = row.time.lo != Nanos::MIN && row.time.hi != Nanos::MAX;
        if row.clock == clock && is_dated && row.source_kind() == SourceKind::ContainerLog {
            let at = row.time.lo;
            let (begin, end) = logs.entry(row.file()).or_insert((at, at));
            (*begin, *end) = ((*begin).min(at), (*end).max(at));
        }
    }
    logs
}

#[cfg(test)]
mod tests;
