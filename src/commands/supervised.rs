//! Statements of the command line under the limits of those of the service: this
//! program again, in a process of its own that is ended where one takes too much.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use crate::error::Error;
use crate::serve::statement::{program, resident};

/// Says to the child that it is one.
const CHILD: &str = "WHATHAPPENED_SUPERVISED";
/// What the child calls itself while a statement runs, and otherwise.
const RUNNING: &str = "wh-statement";
const WAITING: &str = "wh-prompt";
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Time.
    pub(super) timeout: Duration,
    /// Memory, beside what was read before.
    pub(super) memory: u64,
}

/// Whether somebody watches this process.
pub(super) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Whether a process can be watched here.
pub(super) fn is_possible() -> bool {
    std::path::Path::new("/proc/self/status").exists()
}

/// Makes of this process one that is watched: it ends with who watches, and what
/// goes wrong inside the engine is told as an error alone.
pub(super) fn begin() {
    if !is_child() {
        return;
    }
    std::panic::set_hook(Box::new(|_| {}));
    end_with_parent();
}

/// Ends this process soon after the one that started it, however that ended: nobody else would stop it then.
pub(super) fn end_with_parent() {
    #[cfg(unix)]
    std::thread::spawn(|| {
        let parent = std::os::unix::process::parent_id();
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(Duration::from_secs(1));
        }
        std::process::abort();
    });
}

/// While it is held, a statement runs.
pub(super) struct Running;

impl Running {
    pub(super) fn begin() -> Self {
        name(RUNNING);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        name(WAITING);
    }
}

fn name(text: &str) {
    if is_child() {
        // Who cannot be named is not watched, as before.
        let _named = std::fs::write("/proc/self/comm", text);
    }
}

/// Runs this very command in a process of its own.
///
/// # Errors
/// What ended it, or [`Error::Ended`] where it told that itself.
pub(super) async fn run(limits: Limits) -> Result<(), Error> {
    let failed = |error| Error::Io {
        path: "starting a process for the statement".to_owned(),
        error,
    };
    // Caught before there is a child that could hear it alone.
    let interrupted = interrupted().map_err(failed)?;
    let mut child = Command::new(program())
        .args(std::env::args_os().skip(1))
        .env(CHILD, "1")
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let process = child.id().map(|id| PathBuf::from(format!("/proc/{id}")));
    let ended = tokio::select! {
        status = child.wait() => Ok(status.map_err(failed)?),
        why = watch(process, limits) => Err(why),
        () = interrupted => {
            // Ctrl-C is heard by the child as well, which may have work elsewhere to end.
            #[cfg(feature = "distributed")]
            let _ended = tokio::time::timeout(ELSEWHERE, child.wait()).await;
            let _over = child.kill().await;
            return Err(Error::Ended(INTERRUPTED));
        }
    };
    let status = match ended {
        Ok(status) => status,
        Err(why) => {
            // It may have ended by itself.
            let _over = child.kill().await;
            return Err(why);
        }
    };
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Error::Ended(u8::try_from(code).unwrap_or(1))),
        None if is_interrupted(status) => Err(Error::Ended(INTERRUPTED)),
        None => Err(Error::halted(
            format!("the statement crashed the process that ran it ({status})"),
            "nest it less deeply",
        )),
    }
}

/// How long a child may take to end what it has other machines do.
#[cfg(feature = "distributed")]
const ELSEWHERE: Duration = Duration::from_secs(2);

/// The exit code of what Ctrl-C ended.
pub(super) const INTERRUPTED: u8 = 130;

/// Until somebody wants this process to end. Ctrl-C at a terminal is heard by the child as well,
/// which ends or, at its prompt, gives up the statement: that is its own affair.
fn interrupted() -> std::io::Result<impl Future<Output = ()>> {
    let mut caught = signal(SignalKind::interrupt())?;
    Ok(async move {
        while caught.recv().await.is_some() {
            if !std::io::stdin().is_terminal() {
                return;
            }
        }
        std::future::pending::<()>().await;
    })
}

#[cfg(unix)]
fn is_interrupted(status: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(SignalKind::interrupt().as_raw_value())
}

#[cfg(not(unix))]
fn is_interrupted(_: std::process::ExitStatus) -> bool {
    false
}

/// Until a statement takes more than it may.
async fn watch(process: Option<PathBuf>, limits: Limits) -> Error {
    let read = |what: &str| {
        let path = process.as_ref()?.join(what);
        std::fs::read_to_string(path).ok()
    };
    let mut begun: Option<(Instant, u64)> = None;
    loop {
        tokio::time::sleep(LOOK).await;
        let is_running = read("comm").is_some_and(|name| name.trim_end() == RUNNING);
        let held = read("status").as_deref().and_then(resident).unwrap_or(0);
        if !is_running {
            begun = None;
            continue;
        }
        let (since, before) = *begun.get_or_insert_with(|| (Instant::now(), held));
        if since.elapsed() > limits.timeout {
            return Error::halted(
                format!(
                    "the statement took longer than {} s",
                    limits.timeout.as_secs()
                ),
                "narrow it with WHERE, or raise --timeout",
            );
        }
        if held.saturating_sub(before) > limits.memory {
            return Error::halted(
                format!(
                    "the statement used more than {} MiB of memory",
                    limits.memory >> 20
                ),
                "narrow it with WHERE or LIMIT, or raise --max-memory",
            );
        }
    }
}
