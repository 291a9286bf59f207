//! Files that a kernel makes up when they are read: they are no recording, and some of
//! them never end or wait for something to happen.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Why they are not read.
pub(super) const REFUSED: &str =
    "this is part of a kernel file system and holds no records; name another file or folder";

/// File systems that are made up, wherever they are mounted; `pstore`, where a kernel leaves
/// its last words, is none.
const MADE_UP: [&str; 11] = [
    "proc",
    "sysfs",
    "debugfs",
    "tracefs",
    "cgroup",
    "cgroup2",
    "securityfs",
    "configfs",
    "selinuxfs",
    "bpf",
    "binfmt_misc",
];

/// Whether a path lies in one of the folders that a kernel fills by custom.
pub(super) fn is_its_own(path: &Path) -> bool {
    let holds_records = ["/dev/shm", "/sys/fs/pstore"];
    !holds_records.iter().any(|folder| path.starts_with(folder))
        && ["/proc", "/sys", "/dev"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// Whether a folder is where such a file system is mounted.
pub(super) fn is_mount(path: &Path) -> bool {
    let mounts = mounts();
    mounts
        .iter()
        .any(|mount| mount.file_name() == path.file_name())
        && path.canonicalize().is_ok_and(|path| mounts.contains(&path))
}

/// Whether a regular file of a length is made up.
pub(super) fn makes_up(path: &Path, length: u64) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    is_its_own(&path) || length == 0 && mounts().iter().any(|mount| path.starts_with(mount))
}

/// Where they are mounted; nowhere where the system does not tell.
fn mounts() -> &'static [PathBuf] {
    static MOUNTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    MOUNTS.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        text.lines().filter_map(made_up).collect()
    })
}

/// The place of a mount, if it is made up.
fn made_up(line: &str) -> Option<PathBuf> {
    let (before, after) = line.split_once(" - ")?;
    let kind = after.split(' ').next()?;
    let place = before.split(' ').nth(4)?;
    MADE_UP
        .contains(&kind)
        .then(|| PathBuf::from(place.replace("\\040", " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_up_is_known_by_its_mount() {
        let line = "24 30 0:22 / /host\\040of/proc rw,nosuid shared:13 - proc proc rw";
        assert_eq!(made_up(line), Some(PathBuf::from("/host of/proc")));
        let line = "25 30 8:1 / /data rw - ext4 /dev/sda1 rw";
        assert_eq!(made_up(line), None);
        assert!(is_its_own(Path::new("/proc/kmsg")));
        assert!(is_its_own(Path::new("/dev/zero")) && is_its_own(Path::new("/sys")));
        for not in [
            "/dev/shm/x",
            "/sys/fs/pstore/dmesg-0",
            "/process/x",
            "/devices",
            "/",
        ] {
            assert!(!is_its_own(Path::new(not)), "{not}");
        }
    }
}
