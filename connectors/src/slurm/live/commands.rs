//! Slurm's command line tools, which are where jobs are submitted and need no
//! daemon beside the controller. They only read.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;
use tokio::time::timeout_at;

use crate::http::HttpError;
use crate::redact::redact;

/// The columns of accounting that are read.
const COLUMNS: &str = "JobID,JobIDRaw,JobName,Cluster,User,Account,Partition,State,ExitCode,Reason,Submit,Start,End,NodeList,ReqMem,MaxRSS,Timelimit";

/// The columns of events of nodes.
const EVENT_COLUMNS: &str = "Cluster,NodeName,TimeStart,TimeEnd,State,Reason,User";

/// The tools.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    /// Their folder; `PATH` where empty.
    pub(super) folder: PathBuf,
}

impl Commands {
    /// Jobs of accounting, by further arguments.
    pub(super) async fn accounted(
        &self,
        arguments: &[String],
        deadline: Instant,
    ) -> Result<Vec<u8>, HttpError> {
        let format = format!("--format={COLUMNS}");
        let mut all = vec!["-P", "-D", "--allusers", &format];
        all.extend(arguments.iter().map(String::as_str));
        self.run("sacct", &all, deadline).await
    }

    /// The controller's jobs, or the one of a number.
    pub(super) async fn queued(
        &self,
        number: Option<&str>,
        deadline: Instant,
    ) -> Result<Vec<u8>, HttpError> {
        let mut all = vec!["-o", "show", "job"];
        all.extend(number);
        self.run("scontrol", &all, deadline).await
    }

    /// The controller's nodes.
    pub(super) async fn nodes(&self, deadline: Instant) -> Result<Vec<u8>, HttpError> {
        self.run("scontrol", &["-o", "show", "node"], deadline)
            .await
    }

    /// What happened to nodes since a time.
    pub(super) async fn node_events(
        &self,
        since: &str,
        deadline: Instant,
    ) -> Result<Vec<u8>, HttpError> {
        let (start, format) = (format!("start={since}"), format!("format={EVENT_COLUMNS}"));
        let all = ["-P", "show", "event", &start, &format];
        self.run("sacctmgr", &all, deadline).await
    }

    /// What version the tools are of.
    pub(super) async fn version(&self, deadline: Instant) -> Result<String, HttpError> {
        let text = self.run("scontrol", &["--version"], deadline).await?;
        Ok(String::from_utf8_lossy(&text).trim().to_owned())
    }

    async fn run(
        &self,
        tool: &str,
        arguments: &[&str],
        deadline: Instant,
    ) -> Result<Vec<u8>, HttpError> {
        let program = if self.folder.as_os_str().is_empty() {
            PathBuf::from(tool)
        } else {
            self.folder.join(tool)
        };
        let running = Command::new(&program)
            .args(arguments)
            // Times in a zone that is known, as they are written by default.
            .env("TZ", "UTC")
            .env("SLURM_TIME_FORMAT", "standard")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let left = deadline.saturating_duration_since(Instant::now());
        let done = timeout_at(deadline.into(), running)
            .await
            .map_err(|_| HttpError::TimedOut(left.max(Duration::from_millis(1))))?
            .map_err(|error| {
                HttpError::BadRequest(format!("{} cannot be run: {error}", program.display()))
            })?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        let stderr = String::from_utf8_lossy(&done.stderr);
        let stderr: String = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let stderr = redact(stderr.get(..240).unwrap_or(&stderr)).into_owned();
        let denied = stderr.contains("ermission denied") || stderr.contains("not authorized");
        Err(if denied {
            HttpError::Credentials(format!("{tool} reports: {stderr}"))
        } else {
            HttpError::Broken(format!("{tool} reports: {stderr}"))
        })
    }
}
