//! With the command line tools.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;

/// Puts a tool into a folder: a shell script.
fn tool(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn open(folder: &Path) -> Slurm {
    let folder = folder.display().to_string();
    let options =
        SlurmOptions::from_env(&|name| (name == "SLURM_COMMANDS").then(|| folder.clone()));
    Slurm::open(options.unwrap()).unwrap()
}

#[tokio::test]
async fn tools_say_the_same_in_utc() {
    let folder = tempfile::tempdir().unwrap();
    tool(
        folder.path(),
        "sacct",
        r#"test "$TZ" = UTC || exit 9
case "$*" in
*--name=train*--starttime*|*--starttime*--name=train*) ;;
*) echo "unexpected: $*" >&2; exit 9;;
esac
echo 'JobID|JobIDRaw|JobName|Cluster|State|ExitCode|Submit|Start|End|NodeList'
echo '7|7|train|lab|NODE_FAIL|0:0|2026-11-21T09:58:20|2026-11-21T10:00:00|2026-11-21T11:00:00|n[1-2]'"#,
    );
    tool(
        folder.path(),
        "scontrol",
        r#"echo 'NodeName=n1 Arch=x86_64 State=DOWN ThreadsPerCore=1 Reason=bad fan [root@2026-11-21T10:59:55]'
echo 'NodeName=n9 Arch=x86_64 State=DOWN ThreadsPerCore=1 Reason=elsewhere [root@2026-11-21T10:59:55]'"#,
    );
    tool(
        folder.path(),
        "sacctmgr",
        r#"echo 'Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User'
echo 'lab|n2|2026-11-20T10:00:00|2026-11-20T11:00:00|DRAIN|memory|alice(7)'
echo 'lab|n9|2026-11-20T10:00:00|2026-11-20T11:00:00|DRAIN|memory|alice(7)'"#,
    );
    let (kept, rows) = fetch(&open(folder.path()), &about("train")).await;
    assert_eq!(
        emitted(&kept),
        [
            ("slurm/lab/7", "NODE_FAIL"),
            ("n1", "DOWN"),
            ("n2", "DRAIN")
        ]
    );
    for one in &kept {
        if let Observation::Event(event) = one {
            assert_eq!(event.attribute("time_inferred"), None, "the zone is known");
        }
    }
    assert!(rows.iter().all(|row| row.status == Status::Complete));
}

#[tokio::test]
async fn what_tools_complain_about_is_said() {
    let folder = tempfile::tempdir().unwrap();
    tool(
        folder.path(),
        "sacct",
        "echo 'Slurm accounting storage is disabled' >&2; exit 1",
    );
    let (kept, rows) = fetch(&open(folder.path()), &about("train")).await;
    assert_eq!(kept, []);
    let (status, words) = said(row(&rows, "accounting"));
    assert_eq!(status, Status::NotConfigured);
    assert!(words.contains("no accounting"), "{words}");
    let (status, words) = said(row(&rows, "queue"));
    assert_eq!(status, Status::Failed);
    assert!(words.contains("scontrol cannot be run"), "{words}");
}
