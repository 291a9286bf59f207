//! Speaks to the tool: one process for many questions, or one each.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::answer::Answer;

/// What is said of a question at which the tool's process ended.
pub const ENDED: &str = "the tool's process ended";

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Folders to read.
    pub from: Vec<PathBuf>,
    /// What is asked for.
    pub name: String,
}

/// What the tool says.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer.
    Answer(Box<Answer>),
    /// It could not answer.
    Error(String),
}

/// The tool.
#[derive(Debug)]
pub struct Tool {
    path: PathBuf,
    process: Option<Process>,
    one_shot: bool,
    asked: u64,
}

#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Whether the tool has `batch`.
fn has_batch(path: &Path) -> bool {
    Command::new(path)
        .args(["batch", "--help"])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

impl Tool {
    /// The tool at a path.
    #[must_use]
    pub fn new(path: &Path, one_shot: bool) -> Self {
        Self {
            path: path.to_owned(),
            process: None,
            one_shot: one_shot || !has_batch(path),
            asked: 0,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks one question.
    pub fn ask(&mut self, question: &Question) -> Reply {
        let output = if self.one_shot {
            self.alone(question)
        } else {
            self.batch(question)
        };
        match output {
            Ok(value) => match serde_json::from_value::<Answer>(value) {
                Ok(answer) => Reply::Answer(Box::new(answer)),
                Err(error) => Reply::Error(format!("the answer has another shape: {error}")),
            },
            Err(error) => Reply::Error(error),
        }
    }

    fn alone(&self, question: &Question) -> Result<Value, String> {
        let mut command = Command::new(&self.path);
        command.arg(&question.name);
        for from in &question.from {
            command.arg("--from").arg(from);
        }
        let output = command
            .args(["--format", "json", "-q"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("the tool does not start: {error}"))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("exit {:?}: {}", output.status.code(), stderr.trim())
        })
    }

    fn batch(&mut self, question: &Question) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked.to_string();
        if self.process.is_none() {
            self.process = Some(start(&self.path)?);
        }
        let Some(process) = &mut self.process else {
            return Err("no process".to_owned());
        };
        let line = json!({"id": id, "from": question.from, "name": question.name, "at": null});
        let mut reply = String::new();
        let done = writeln!(process.input, "{line}")
            .and_then(|()| process.input.flush())
            .and_then(|()| process.output.read_line(&mut reply));
        match done {
            Ok(read) if read > 0 => {}
            _ => {
                // It died: the next question gets a new one.
                self.process = None;
                return Err(ENDED.to_owned());
            }
        }
        let mut value: Value =
            serde_json::from_str(&reply).map_err(|error| format!("no JSON: {error}"))?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            return Err(error
                .as_str()
                .map_or_else(|| error.to_string(), str::to_owned));
        }
        Ok(value["answer"].take())
    }
}

fn start(path: &Path) -> Result<Process, String> {
    let mut child = Command::new(path)
        .arg("batch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the tool does not start: {error}"))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Process {
            child,
            input,
            output: BufReader::new(output),
        }),
        _ => Err("the tool has no pipes".to_owned()),
    }
}
