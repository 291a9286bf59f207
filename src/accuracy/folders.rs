//! Where the cases are.

use std::path::{Path, PathBuf};

use whathappened_model::event::SourceKind;

/// The cases of the folders that were named.
#[derive(Clone, Debug, Default)]
pub struct CaseFolders {
    /// Folders with an `expect.json`, in the order of their names.
    pub cases: Vec<PathBuf>,
    /// What is not run, and why.
    pub skipped: Vec<String>,
}

/// Looks for `expect.json` in each folder, else in the folders inside it.
///
/// # Errors
/// When a folder cannot be listed.
pub fn find(folders: &[PathBuf]) -> std::io::Result<CaseFolders> {
    let mut found = CaseFolders::default();
    for folder in folders {
        if !folder.is_dir() {
            found.skipped.push(format!("no {}", folder.display()));
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
    // A case that stands in two folders counts once.
    let mut seen = Vec::new();
    let mut cases = Vec::new();
    for case in std::mem::take(&mut found.cases) {
        let like = likeness(&case)?;
        if seen.contains(&like) {
            found.skipped.push(format!(
                "{} appears in more than one folder",
                case.display()
            ));
        } else {
            seen.push(like);
            cases.push(case);
        }
    }
    found.cases = cases;
    Ok(found)
}

fn is_case(folder: &Path) -> bool {
    folder.join("expect.json").is_file()
}

/// The folders of a case that hold input.
pub(super) fn inputs(case: &Path) -> Vec<PathBuf> {
    let stores = SourceKind::LOG_STORES.iter().map(|kind| kind.as_str());
    std::iter::once("input")
        .chain(stores)
        .map(|name| case.join(name))
        .filter(|path| path.is_dir())
        .collect()
}

/// The name of a case: its folder and the one around it.
pub(super) fn name(case: &Path) -> String {
    let names: Vec<_> = case
        .components()
        .rev()
        .take(2)
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// What makes two folders the same case: what is expected, and names and sizes of the input.
fn likeness(case: &Path) -> std::io::Result<Vec<String>> {
    let mut found = vec![std::fs::read_to_string(case.join("expect.json"))?];
    let mut left = inputs(case);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else {
                let place = path
                    .strip_prefix(case)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                found.push(format!("{place} {}", entry.metadata()?.len()));
            }
        }
    }
    found.sort();
    Ok(found)
}
