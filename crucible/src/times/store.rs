//! A collector's store: what was recorded is imported, and asked for without anything else.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::judge::{Answer, Reply};

/// Imports a folder into a store of its own, and asks that.
pub(super) fn ask(tool: &Path, input: &Path, name: &str) -> Reply {
    let folder = input.with_extension("store");
    let reply = import(tool, input, &folder)
        .and_then(|()| question(tool, &folder, name))
        .unwrap_or_else(Reply::Error);
    std::fs::remove_dir_all(&folder).ok();
    reply
}

fn import(tool: &Path, input: &Path, store: &Path) -> Result<(), String> {
    let output = Command::new(tool)
        .args(["import", "-q", "--store"])
        .arg(store)
        .arg(input)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("the tool does not start: {error}"))?;
    // A file that cannot be read leaves 1, and the rest is imported.
    match output.status.code() {
        Some(0 | 1) => Ok(()),
        code => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(format!("import: exit {code:?}: {}", stderr.trim()))
        }
    }
}

fn question(tool: &Path, store: &Path, name: &str) -> Result<Reply, String> {
    let output = Command::new(tool)
        .arg(name)
        .arg("--store")
        .arg(store)
        .args(["--no-fetch", "--format", "json", "-q"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("the tool does not start: {error}"))?;
    serde_json::from_slice::<Answer>(&output.stdout)
        .map(|answer| Reply::Answer(Box::new(answer)))
        .map_err(|_| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("exit {:?}: {}", output.status.code(), stderr.trim())
        })
}
