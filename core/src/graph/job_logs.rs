//! Which logs are a batch job's: by a line that names it, or by the file's name.

use std::collections::{HashMap, HashSet};

use whathappened_model::event::Event;
use whathappened_model::table::Table;

use super::identity::{Pods, Workloads};
use super::job::{KIND, known};
use super::lone_log::Lines;
use super::{Task, TaskKind};
use crate::evidence::{Evidence, SpillError};
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// Jobs by the file that only they wrote: a launcher names its job once, and
/// every line of its log is the job's.
#[derive(Debug, Default)]
pub(super) struct Logs {
    job_of: HashMap<Symbol, Option<TaskRow>>,
}

impl Logs {
    /// A line of a file names a job.
    pub(super) fn names(&mut self, symbols: &SymbolTable, file: Symbol, job: TaskRow) {
        if own_output(symbols.name(file)).is_none() {
            self.job_of
                .entry(file)
                .and_modify(|known| *known = known.filter(|known| *known == job))
                .or_insert(Some(job));
        }
    }

    /// A file that bears a job's number in its name, as `slurm-93002.out` does, is that job's log.
    pub(super) fn by_name(
        &mut self,
        evidence: &Evidence,
        symbols: &SymbolTable,
        pods: &Table<Task>,
    ) {
        let mut jobs: HashMap<&str, Option<TaskRow>> = HashMap::new();
        for (number, one) in pods.numbered() {
            if one.kind == TaskKind::Job {
                let name = symbols.name(one.name);
                jobs.entry(name)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(number));
            }
        }
        if jobs.is_empty() {
            return;
        }
        let lines = symbols.find("log.line");
        let mut seen = HashSet::new();
        for row in evidence.rows() {
            let is_line = Some(row.fact) == lines;
            if !is_line || row.pod.is_some() || !seen.insert(row.file()) {
                continue;
            }
            if self.job_of.contains_key(&row.file()) {
                continue;
            }
            let job = numbered(symbols.name(row.file()));
            let job = job.and_then(|number| jobs.get(number).copied().flatten());
            if let Some(job) = job {
                self.job_of.insert(row.file(), Some(job));
            }
        }
    }

    /// Gives every line that is of nobody yet to the job that wrote its file.
    ///
    /// # Errors
    /// When the evidence cannot be read back.
    pub(super) fn claim(&self, all: &mut Lines<'_>) -> Result<(), SpillError> {
        all.give(|row, _| self.job_of.get(&row.file()).copied().flatten())
    }
}

/// The job whose output Slurm writes to a file of this name where nobody chose another:
/// `slurm-93002.out`.
fn own_output(file: &str) -> Option<&str> {
    let name = file.rsplit(['/', '\\', '!']).next()?;
    let number = name.strip_prefix("slurm-")?.strip_suffix(".out")?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    number.split('_').all(digits).then_some(number)
}

/// Takes away what a line of one job's output says of another job: whoever wrote it there, it
/// tells nothing of the job. Tasks of an array have a number beside that of their file.
pub(super) fn forget_others(event: &mut Event) {
    let about = event.attribute("slurm_job");
    let Some(about) = about.filter(|about| !about.contains(['_', '+'])) else {
        return;
    };
    let own = own_output(&event.origin.file).filter(|own| !own.contains('_'));
    if event.fact == "log.line" && own.is_some_and(|own| own != about) {
        event.signals.clear();
        event.attributes.remove("slurm_job");
    }
}

/// The jobs that wrote files which only their output is called like, made where they are new.
pub(super) fn of_outputs(
    evidence: &Evidence,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) -> Logs {
    let mut logs = Logs::default();
    let lines = symbols.find("log.line");
    let mut seen = HashSet::new();
    for row in evidence.rows() {
        let of_job = Some(row.fact) == lines && !row.pod.is_some() && !row.instance.is_some();
        if !of_job || !seen.insert(row.file()) {
            continue;
        }
        let Some(number) = own_output(symbols.name(row.file())).map(str::to_owned) else {
            continue;
        };
        let id = pods.jobs.id(&format!("slurm/{number}")).to_owned();
        let (kind, uid) = (symbols.number(KIND), symbols.number(&id));
        let name = symbols.number(&number);
        let root = workloads.of(kind, uid, Symbol::NONE, name, row.time);
        let job = known(&id, Some(root), symbols, pods);
        if let Some(one) = pods.all.get_mut(job) {
            one.see(row.time.lo, row.last());
        }
        logs.job_of.insert(row.file(), Some(job));
    }
    logs
}

/// The number at the end of an output file's name: `93002` of `slurm-93002.out`, `93002_4` of
/// `pretrain-93002_4.err`.
pub(super) fn numbered(file: &str) -> Option<&str> {
    let name = file.rsplit(['/', '\\', '!']).next()?;
    let stem = ["out", "err", "log"]
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))?;
    let (_, number) = stem.rsplit_once(['-', '.'])?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    number.split('_').all(digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_file_bears_its_job_s_number() {
        assert_eq!(numbered("jobs/slurm-93002.out"), Some("93002"));
        assert_eq!(numbered("pretrain-93002_4.err"), Some("93002_4"));
        assert_eq!(numbered("x!llama.93002.log"), Some("93002"));
        for other in [
            "train.log",
            "slurm-.out",
            "run-7b.out",
            "pods.json",
            "slurmctld.log",
        ] {
            assert_eq!(numbered(other), None, "{other}");
        }
    }
}
