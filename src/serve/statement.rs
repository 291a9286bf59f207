//! Runs a statement in a process of its own, which is ended where it takes too
//! much time or memory, or where nobody waits for it any more.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

#[cfg(feature = "distributed")]
#[path = "statement_jobs.rs"]
mod jobs;

use super::Service;
use super::callers::Caller;
use super::own_places::OwnPlaces;
use crate::config::Statements;
use crate::sql::{Form, Job, Report};

/// How often it is looked how much memory a statement holds.
const LOOK: Duration = Duration::from_millis(20);
/// Longest report of what became of a statement.
const LONGEST_REPORT: u64 = 1 << 20;

/// Rows that a statement answered.
#[derive(Debug)]
pub(super) struct StatementOutput {
    /// The rows in the form asked for.
    pub(super) body: Vec<u8>,
    /// How many.
    pub(super) rows: u64,
    /// There were more.
    pub(super) truncated: bool,
    /// Part of the store is damaged and not in them.
    pub(super) incomplete: bool,
    /// Types of its parameters by PostgreSQL's numbers, where only those were asked for.
    #[cfg(feature = "postgres")]
    pub(super) parameters: Vec<u32>,
}

/// Why a statement was not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum StatementError {
    /// It is wrong, or does more than read.
    #[error("{0}")]
    Refused(String, Vec<String>),
    /// It took too long.
    #[error("the statement took longer than {} s", .0.as_secs())]
    Late(Duration),
    /// It held too much memory.
    #[error("the statement used more than {} MiB of memory", .0 >> 20)]
    Large(u64),
    /// It answered too much in one piece.
    #[error("the result of the statement is larger than {} MiB", .0 >> 20)]
    Long(u64),
    /// It ended the process that ran it.
    #[error("the statement crashed the process that ran it ({0})")]
    Broke(String),
    /// Others are being run.
    #[error("too many statements are running")]
    Busy,
    /// No process could be had.
    #[error("cannot start a process for the statement: {0}")]
    Inside(std::io::Error),
}

/// Statements that run at once. One caller may have half of the places, so that whoever
/// asks much makes only themselves wait.
#[derive(Debug)]
pub(super) struct StatementPlaces {
    all: Semaphore,
    own: OwnPlaces,
}

/// A place of a caller's own and one among all.
type Places<'s> = (OwnedSemaphorePermit, SemaphorePermit<'s>);

impl StatementPlaces {
    pub(super) fn of(at_once: usize) -> Self {
        Self {
            all: Semaphore::new(at_once.max(1)),
            own: OwnPlaces::half_of(at_once),
        }
    }

    /// Waits for a place; `None` where none became free in time.
    async fn places(&self, caller: &str, longest: Duration) -> Option<Places<'_>> {
        let own = self.own.of(caller);
        let both = async {
            let own = own.acquire_owned().await.ok()?;
            Some((own, self.all.acquire().await.ok()?))
        };
        tokio::time::timeout(longest, both).await.ok().flatten()
    }
}

impl StatementError {
    /// What to do about it.
    pub(super) fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Refused(_, hints) => return hints.clone(),
            Self::Inside(_) => return Vec::new(),
            Self::Busy => "try again later",
            Self::Broke(_) => "nest it less deeply",
            Self::Late(_) | Self::Large(_) | Self::Long(_) => {
                "narrow it with LIMIT, or with WHERE, ideally on time, pod or experiment"
            }
        };
        vec![hint.to_owned()]
    }
}

impl Service {
    /// Runs one statement over what a caller may see.
    pub(super) async fn statement(
        &self,
        caller: Caller,
        statement: String,
        form: Form,
    ) -> Result<StatementOutput, StatementError> {
        let name = caller.name.clone();
        self.job(&name, self.job_of(caller, statement, form)).await
    }

    /// A statement with the limits of all of them.
    pub(super) fn job_of(&self, caller: Caller, statement: String, form: Form) -> Job {
        let limits = self.config.serve.sql;
        Job {
            store: self.store.clone(),
            rules: self.config.rules.clone(),
            access: caller.access,
            statement,
            form,
            max_rows: limits.max_rows,
            max_bytes: limits.max_bytes,
            #[cfg(any(feature = "flight", feature = "postgres"))]
            wire: None,
            #[cfg(feature = "distributed")]
            ballista: self
                .config
                .store
                .ballista
                .clone()
                .map(|scheduler| crate::sql::OnBallista {
                    scheduler,
                    timeout: limits.timeout,
                }),
        }
    }

    /// Runs a job of a caller, once there is a place for it.
    pub(super) async fn job(
        &self,
        caller: &str,
        job: Job,
    ) -> Result<StatementOutput, StatementError> {
        let limits = self.config.serve.sql;
        let places = self.statements.places(caller, limits.timeout).await;
        let Some(_places) = places else {
            return Err(StatementError::Busy);
        };
        let access = access_to_lake(&job.store);
        let messages = ChildMessages::default();
        #[cfg(feature = "distributed")]
        let mut jobs = jobs::Guard::new(job.ballista.as_ref(), &messages);
        let job = serde_json::to_vec(&job).map_err(|error| StatementError::Inside(error.into()))?;
        let mut child = Command::new(program())
            .arg("statement")
            .env_clear()
            .envs(access)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(StatementError::Inside)?;
        let memory = child
            .id()
            .map(|id| PathBuf::from(format!("/proc/{id}/status")));
        let reported = tokio::select! {
            reported = run(&mut child, &job, limits, &messages) => reported,
            () = held(memory.as_deref(), limits.max_memory) => Err(StatementError::Large(limits.max_memory)),
            () = tokio::time::sleep(limits.timeout) => Err(StatementError::Late(limits.timeout)),
        };
        if reported.is_err() {
            // It may have ended by itself.
            child.kill().await.ok();
        }
        #[cfg(feature = "distributed")]
        if reported.is_ok() {
            jobs.are_over();
        }
        reported
    }
}

/// What names in the environment begin with that lead to an object store.
const OF_OBJECT_STORES: &[&str] = &[
    "AWS_",
    "AZURE_",
    "GOOGLE_",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IDENTITY_",
    "MSI_",
    "NO_PROXY",
    "SSL_CERT_",
];

/// What a statement over a lake has of the environment: it reads the lake by itself.
fn access_to_lake(store: &Path) -> Vec<(OsString, OsString)> {
    if !whathappened_store::lake::is_index(store) {
        return Vec::new();
    }
    let leads = |name: &OsString| {
        let name = name.to_string_lossy().to_uppercase();
        OF_OBJECT_STORES.iter().any(|of| name.starts_with(of))
    };
    std::env::vars_os()
        .filter(|(name, _)| leads(name))
        .collect()
}

/// This program: the file may have been replaced since it was started.
pub(crate) fn program() -> PathBuf {
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        return own.to_owned();
    }
    std::env::current_exe().unwrap_or_else(|_| "whathappened".into())
}

async fn run(
    child: &mut Child,
    job: &[u8],
    limits: Statements,
    messages: &ChildMessages,
) -> Result<StatementOutput, StatementError> {
    let (Some(mut to), Some(out), Some(report)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(StatementError::Broke("it has no pipes".to_owned()));
    };
    let give = async move {
        // Who ended already says why in its report.
        to.write_all(job).await.ok();
        drop(to);
    };
    // The child stops by itself; what it writes is not believed to be no more.
    let most = limits.max_bytes;
    let ((), body, report) =
        tokio::join!(give, read(out, most), messages.read(report, LONGEST_REPORT));
    let body = body.map_err(StatementError::Inside)?;
    if body.len() as u64 > most {
        return Err(StatementError::Long(limits.max_bytes));
    }
    let report = report.map_err(StatementError::Inside)?;
    let status = child.wait().await.map_err(StatementError::Inside)?;
    let Some(report) = last_report(&report).filter(|_| status.success()) else {
        return Err(StatementError::Broke(status.to_string()));
    };
    match report.error {
        Some(error) => Err(StatementError::Refused(error, report.hints)),
        None => Ok(StatementOutput {
            body,
            rows: report.rows,
            truncated: report.truncated,
            incomplete: report.incomplete,
            #[cfg(feature = "postgres")]
            parameters: report.parameters,
        }),
    }
}

/// What a child says of itself, known while it still runs.
#[derive(Clone, Debug, Default)]
pub(super) struct ChildMessages(Arc<Mutex<Vec<u8>>>);

impl ChildMessages {
    async fn read(&self, mut pipe: impl AsyncRead + Unpin, most: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = [0; 4_096];
        loop {
            let count = pipe.read(&mut bytes).await?;
            let mut messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if count == 0 || messages.len() as u64 > most {
                return Ok(messages.clone());
            }
            messages.extend_from_slice(bytes.get(..count).unwrap_or_default());
        }
    }
}

/// All of a pipe, or somewhat more than `most` of it.
async fn read(pipe: impl AsyncRead + Unpin, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .await?;
    Ok(bytes)
}

/// The report may stand behind what a library wrote.
fn last_report(text: &[u8]) -> Option<Report> {
    let text = String::from_utf8_lossy(text);
    let begin = text.rfind("{\"rows\":")?;
    serde_json::from_str(text.get(begin..)?).ok()
}

/// Until a process holds more memory than it may.
async fn held(status: Option<&Path>, most: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let text = status.and_then(|path| std::fs::read_to_string(path).ok());
        if text
            .as_deref()
            .and_then(resident)
            .is_some_and(|held| held > most)
        {
            return;
        }
    }
}

/// Bytes that a process holds, by what the system says of it.
pub(crate) fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes.saturating_mul(1_024))
}
