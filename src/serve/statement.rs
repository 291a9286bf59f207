//! Runs a statement in a process of its own, which is ended where it takes too
//! much time or memory, or where nobody waits for it any more.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::Service;
use crate::access::Access;
use crate::config::Statements;
use crate::sql::{Form, Job, Report};

/// How often it is looked how much memory a statement holds.
const LOOK: Duration = Duration::from_millis(20);
/// Longest report of what became of a statement.
const LONGEST_REPORT: u64 = 1 << 20;

/// Rows that a statement answered.
#[derive(Debug)]
pub(super) struct Ran {
    /// The rows in the form asked for.
    pub(super) body: Vec<u8>,
    /// How many.
    pub(super) rows: u64,
    /// There were more.
    pub(super) truncated: bool,
}

/// Why a statement was not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halted {
    /// It is wrong, or does more than read.
    #[error("{0}")]
    Refused(String, Vec<String>),
    /// It took too long.
    #[error("the statement took longer than {} s", .0.as_secs())]
    Late(Duration),
    /// It held too much memory.
    #[error("the statement held more than {} MiB of memory", .0 >> 20)]
    Large(u64),
    /// It answered too much in one piece.
    #[error("the statement answered more than {} MiB", .0 >> 20)]
    Long(u64),
    /// It ended the process that ran it.
    #[error("the statement ended the process that ran it ({0})")]
    Broke(String),
    /// Others are being run.
    #[error("too many statements are being run")]
    Busy,
    /// No process could be had.
    #[error("no process could be had for a statement: {0}")]
    Inside(std::io::Error),
}

impl Service {
    /// Runs one statement over what a caller may see.
    pub(super) async fn statement(
        &self,
        access: Access,
        statement: String,
        form: Form,
    ) -> Result<Ran, Halted> {
        let limits = self.config.serve.sql;
        let place = tokio::time::timeout(limits.timeout, self.statements.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(Halted::Busy);
        };
        let job = Job {
            store: self.store.clone(),
            rules: self.config.rules.clone(),
            access,
            statement,
            form,
            max_rows: limits.max_rows,
            max_bytes: limits.max_bytes,
        };
        let job = serde_json::to_vec(&job).map_err(|error| Halted::Inside(error.into()))?;
        let mut child = Command::new(program())
            .arg("statement")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(Halted::Inside)?;
        let memory = child
            .id()
            .map(|id| PathBuf::from(format!("/proc/{id}/status")));
        let told = tokio::select! {
            told = run(&mut child, &job, limits) => told,
            () = held(memory.as_deref(), limits.max_memory) => Err(Halted::Large(limits.max_memory)),
            () = tokio::time::sleep(limits.timeout) => Err(Halted::Late(limits.timeout)),
        };
        if told.is_err() {
            // It may have ended by itself.
            child.kill().await.ok();
        }
        told
    }
}

/// This program: the file may have been replaced since it was started.
pub(crate) fn program() -> PathBuf {
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        return own.to_owned();
    }
    std::env::current_exe().unwrap_or_else(|_| "whathappened".into())
}

async fn run(child: &mut Child, job: &[u8], limits: Statements) -> Result<Ran, Halted> {
    let (Some(mut to), Some(out), Some(report)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Halted::Broke("it has no pipes".to_owned()));
    };
    let give = async move {
        // Who ended already says why in its report.
        to.write_all(job).await.ok();
        drop(to);
    };
    let most = limits.max_bytes.saturating_mul(2);
    let ((), body, report) = tokio::join!(give, read(out, most), read(report, LONGEST_REPORT));
    let body = body.map_err(Halted::Inside)?;
    if body.len() as u64 > most {
        return Err(Halted::Long(limits.max_bytes));
    }
    let report = report.map_err(Halted::Inside)?;
    let status = child.wait().await.map_err(Halted::Inside)?;
    let Some(report) = last_report(&report).filter(|_| status.success()) else {
        return Err(Halted::Broke(status.to_string()));
    };
    match report.error {
        Some(error) => Err(Halted::Refused(error, report.hints)),
        None => Ok(Ran {
            body,
            rows: report.rows,
            truncated: report.truncated,
        }),
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
