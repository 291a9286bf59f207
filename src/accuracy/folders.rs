//! Where the cases are.

use std::path::{Path, PathBuf};

/// The cases of the folders that were named, and those folders that are not there.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Folders with an `expect.json`, in the order of their names.
    pub cases: Vec<PathBuf>,
    /// What was named and is not there.
    pub absent: Vec<PathBuf>,
}

/// Looks for `expect.json` in each folder, else in the folders inside it.
///
/// # Errors
/// When a folder cannot be listed.
pub fn find(folders: &[PathBuf]) -> std::io::Result<Found> {
    let mut found = Found::default();
    for folder in folders {
        if !folder.is_dir() {
            found.absent.push(folder.clone());
        } else if is_case(folder) {
            found.cases.push(folder.clone());
        } else {
            let mut inside: Vec<PathBuf> = Vec::new();
            for entry in std::fs::read_dir(folder)? {
                inside.push(entry?.path());
            }
            inside.retain(|path| is_case(path));
            inside.sort();
            found.cases.append(&mut inside);
        }
    }
    Ok(found)
}

fn is_case(folder: &Path) -> bool {
    folder.join("expect.json").is_file()
}

/// The folders of a case that hold input.
pub(super) fn inputs(case: &Path) -> Vec<PathBuf> {
    ["input", "loki"].iter().map(|name| case.join(name)).filter(|path| path.is_dir()).collect()
}

/// The name of a case.
pub(super) fn name(case: &Path) -> String {
    case.file_name().map_or_else(|| case.display().to_string(), |name| name.to_string_lossy().into_owned())
}
