//! A real Slurm on this machine, where its packages are: jobs end in several
//! ways, and what its tools, logs and REST daemon say of them is asked.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::whathappened;

const TOOLS: [&str; 4] = ["slurmctld", "slurmd", "slurmrestd", "scontrol"];

/// Slurm, with its jobs done; ends with this.
struct Slurm {
    folder: tempfile::TempDir,
    child: Child,
}

impl Slurm {
    /// `None`, with the reason printed, where there is none to be started.
    fn start() -> Option<Self> {
        let has = |tool: &&str| {
            let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
            folders.iter().any(|at| Path::new(at).join(tool).exists())
        };
        let Some(root) = Command::new("id").arg("-u").output().ok() else {
            whathappened_loopback::skipped("no id");
            return None;
        };
        if !TOOLS.iter().all(has) || root.stdout.trim_ascii() != b"0" {
            whathappened_loopback::skipped(
                "needs root, slurmctld, slurmd, slurm-client and slurmrestd",
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("tests/slurm/run")
            .arg(folder.path())
            .arg("--stay")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().and_then(Result::ok);
        assert_eq!(first.as_deref(), Some("ready"), "tests/slurm/run says why");
        Some(Self { folder, child })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// What the files in the folder `said` tell of a job.
    fn told_by_files(&self, name: &str, files: &[&str]) -> Value {
        let paths: Vec<String> = files
            .iter()
            .map(|file| self.path(&format!("said/{file}")))
            .collect();
        let mut args = vec![name, "--format", "json"];
        for path in &paths {
            args.extend(["--from", path]);
        }
        answer(&args)
    }

    /// What its REST daemon tells.
    fn live(&self, name: &str) -> Value {
        let config = self.path("config.toml");
        let text = format!(
            "[kubernetes]\nenabled = false\n[slurm]\nurl = \"unix:{}\"\n",
            self.path("rest.sock")
        );
        std::fs::write(&config, text).unwrap();
        let store = self.path("store");
        let about = ["--config", config.as_str(), "--store", store.as_str()];
        answer(&[&[name, "--format", "json"], &about[..]].concat())
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // The end of its input is what it waits for; then it ends its daemons.
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

fn answer(args: &[&str]) -> Value {
    let (code, out, err) = whathappened(args);
    assert_eq!(code, Some(0), "{args:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// Cause, level and actor of the first incident.
fn verdict(answer: &Value) -> (&str, &str, &str) {
    let incident = answer.pointer("/incidents/0").unwrap_or(&Value::Null);
    let text = |key: &str| incident.pointer(key).and_then(Value::as_str);
    (
        text("/cause").unwrap_or("none"),
        text("/level").unwrap_or("none"),
        text("/actor/name").unwrap_or(""),
    )
}

#[test]
fn a_real_slurm_is_told_alike_by_files_and_live() {
    let Some(slurm) = Slurm::start() else { return };
    let log = "slurmctld.log";
    for (name, cause, files) in [
        ("fails", "code.exception", &["jobs.txt"][..]),
        ("fails", "code.exception", &["completed.txt"]),
        ("cancelled", "ops.manual_delete", &["jobs.txt", log]),
        ("lost", "ops.manual_delete", &["jobs.txt", "nodes.txt"]),
        ("lost", "ops.manual_delete", &["jobs.txt", log]),
        ("preempted", "sched.preempted", &["jobs.txt", log]),
        ("waits", "sched.unschedulable_capacity", &["jobs.txt"]),
    ] {
        let answer = slurm.told_by_files(name, files);
        let (found, level, _) = verdict(&answer);
        assert_eq!(found, cause, "{name} from {files:?} ({level}): {answer:#}");
    }
    for (name, cause) in [
        ("fails", "code.exception"),
        ("lost", "ops.manual_delete"),
        ("waits", "sched.unschedulable_capacity"),
    ] {
        let answer = slurm.live(name);
        assert_eq!(verdict(&answer).0, cause, "{name} live: {answer:#}");
    }
    let lost = slurm.live("lost");
    assert_eq!(verdict(&lost), ("ops.manual_delete", "supported", "root"));
    // This Slurm has no accounting: that is said.
    let coverage = lost["coverage"].as_array().unwrap();
    let row = coverage
        .iter()
        .find(|row| row["resource"] == "accounting")
        .unwrap();
    assert_eq!(row["status"], "not_configured");
}
